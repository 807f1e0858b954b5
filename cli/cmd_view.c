/* `xlaprof view`: serves the page at once, reads the capture meanwhile, and ends with Ctrl-C.
 *
 * SIGINT and SIGTERM are blocked in all threads and waited for here.  The second one ends the program in any case. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands.h"
#include "metrics_file.h"
#include "terminal.h"
#include "web/server.h"

enum { EARLY_MS = 20 };

static const xp_metrics_report *find_metrics(void *context, const xp_capture *capture)
{
  metrics_file *metrics = context;
  if (!metrics->found) {
    metrics_file_find(metrics, capture);
  }
  return metrics->found ? &metrics->report : NULL;
}

/* Starts the browser, which outlives this program; its messages go where ours go. */
static void open_browser(const char *address)
{
  extern char **environ;
  char *words[] = {"xdg-open", (char *)(uintptr_t)address, NULL};
  posix_spawnattr_t attributes;
  sigset_t none;
  pid_t child;
  sigemptyset(&none);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  int problem = posix_spawnp(&child, words[0], NULL, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  if (problem != 0) {
    complain("warning: ",
             xp_str_c("xdg-open could not be started (Debian package xdg-utils); open the address above in "
                      "a browser"));
  }
}

static void block_signals(sigset_t *signals)
{
  sigemptyset(signals);
  sigaddset(signals, SIGINT);
  sigaddset(signals, SIGTERM);
  sigaddset(signals, SIGHUP);
  pthread_sigmask(SIG_BLOCK, signals, NULL);
  signal(SIGCHLD, SIG_IGN); /* the browser's exit is nobody's business */
}

typedef enum { ENDED_EARLY, FAILED, READY } outcome;

/* Waits until the capture is ready, opening it failed, or a signal comes. */
static outcome wait_for_capture(const xp_viewer *viewer, const sigset_t *signals)
{
  const struct timespec moment = {0, 20000000};
  while (!xp_viewer_at(viewer, XP_VIEW_READY)) {
    if (atomic_load(&viewer->state) == XP_VIEW_FAILED) {
      return FAILED;
    }
    if (sigtimedwait(signals, NULL, &moment) > 0) {
      return ENDED_EARLY;
    }
  }
  return READY;
}

/* Returns the exit status once a signal came. */
static int wait_for_end(const xp_viewer *viewer, const sigset_t *signals)
{
  int number;
  outcome reached = wait_for_capture(viewer, signals);
  if (reached == FAILED) {
    return say(&viewer->error);
  }
  /* What is missing of the capture is told as soon as it is known. */
  int status = xp_viewer_at(viewer, XP_VIEW_READY) ? finish_capture(viewer->capture, 0) : 0;
  if (reached == READY) {
    sigwait(signals, &number);
  }
  return status;
}

static int serve(const options *o, xp_viewer *viewer, const sigset_t *signals)
{
  xp_error err = {0};
  xp_web_server *server = NULL;
  const xp_web_options web = {.port = (uint16_t)o->port, .assets = o->assets};
  if (xp_web_server_start(viewer, &web, &server, &err) != XP_OK) {
    return say(&err);
  }
  /* A path that cannot be read is known at once, and needs no address. */
  if (xp_viewer_wait(viewer, XP_VIEW_ANALYSING, EARLY_MS) != XP_VIEW_FAILED) {
    printf("%s\n", xp_web_server_address(server));
    fflush(stdout);
    fputs("Open this address in a browser; Ctrl-C ends.\n", stderr);
    if (o->open) {
      open_browser(xp_web_server_address(server));
    }
  }
  int status = wait_for_end(viewer, signals);
  pthread_sigmask(SIG_UNBLOCK, signals, NULL);
  xp_web_server_stop(server);
  return status;
}

int run_view(const options *o)
{
  xp_error err = {0};
  xp_viewer *viewer = NULL;
  metrics_file metrics = {0};
  sigset_t signals;
  if (o->metrics != NULL && metrics_file_read(&metrics, o->metrics, &err) != XP_OK) {
    return say(&err);
  }
  const xp_viewer_options how = {.path = o->path,
                                 .run = o->run,
                                 .host = o->host,
                                 .version = XP_VERSION,
                                 .threads = (int)o->threads,
                                 .min_gap_ps = o->min_gap_ps,
                                 .input_regex = o->input,
                                 .find_metrics = find_metrics,
                                 .context = &metrics};
  block_signals(&signals);
  if (xp_viewer_open(&how, &viewer, &err) != XP_OK) {
    metrics_file_close(&metrics);
    return say(&err);
  }
  int status = serve(o, viewer, &signals);
  if (atomic_load(&viewer->state) < XP_VIEW_READY) {
    xp_viewer_abandon(viewer); /* still reading, and nobody waits for it */
    _exit(terminal_finish(status));
  }
  xp_viewer_close(viewer);
  metrics_file_close(&metrics);
  return status;
}
