/* The only place that asks what kind of file stdout and stderr are. */
#define _GNU_SOURCE
#include "terminal.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "report/text.h"

enum { LEAST_WIDTH = 40, MOST_WIDTH = 10000 }; /* what --width takes */

static size_t within_limits(int64_t columns)
{
  return columns < LEAST_WIDTH ? LEAST_WIDTH : columns > MOST_WIDTH ? MOST_WIDTH : (size_t)columns;
}

/* Columns: --width, else those of the terminal, else $COLUMNS on a terminal that does not tell, else 80. */
static size_t find_width(const options *o)
{
  struct winsize size;
  if (o->width > 0) {
    return (size_t)o->width;
  }
  if (!isatty(STDOUT_FILENO)) {
    return 80;
  }
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    return within_limits(size.ws_col);
  }
  const char *columns = getenv("COLUMNS");
  int64_t n;
  return columns != NULL && xp_str_to_int64(xp_str_c(columns), &n) && n > 0 ? within_limits(n) : 80;
}

static bool wants_colour(const options *o)
{
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  if (o->no_color || (no_color != NULL && no_color[0] != '\0') || (term != NULL && strcmp(term, "dumb") == 0)) {
    return false;
  }
  return isatty(STDOUT_FILENO);
}

xp_output terminal_output(const options *o)
{
  static char buffer[1 << 18];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  xp_output output = {
      .out = stdout,
      .form = o->json  ? XP_FORM_JSON
              : o->csv ? XP_FORM_CSV
                       : XP_FORM_TEXT,
      .width = find_width(o),
      .colour = wants_colour(o),
      .top = !o->has_top   ? 0
             : o->top == 0 ? SIZE_MAX
                           : (size_t)o->top,
      .ops_by = o->by,
      .path = o->path,
  };
  return output;
}

int terminal_finish(int status)
{
  errno = 0;
  bool failed = fflush(stdout) != 0;
  if (!failed && !ferror(stdout)) {
    return status;
  }
  if (errno == EPIPE) {
    return status;
  }
  fprintf(stderr, "xlaprof: The result could not be written: %s. Free some space or write it elsewhere.\n",
          errno != 0 ? strerror(errno) : "the output failed");
  return 3;
}

/* The end of a line that may be a sentence already. */
static const char *line_end(xp_str text)
{
  return xp_str_ends(text, ".") || xp_str_ends(text, "?") ? "\n" : ".\n";
}

void complain(const char *prefix, xp_str text)
{
  fprintf(stderr, "xlaprof: %s", prefix);
  xp_text_write(stderr, text);
  fputs(line_end(text), stderr);
}

void complain_of_file(xp_str path, xp_str problem)
{
  fputs("xlaprof: warning: ", stderr);
  xp_text_write(stderr, path);
  fputs(": ", stderr);
  xp_text_write(stderr, problem);
  fputs(line_end(problem), stderr);
}

/* ---- progress */

typedef struct {
  int64_t begin_ns, last_ns;
  bool shown;
} progress_state;

static progress_state state;

/* Nothing in the first second; then at most ten lines a second, each over the one before. */
static void report_progress(void *context, const char *what, uint64_t done, uint64_t total)
{
  progress_state *s = context;
  int64_t now = xp_monotonic_ns();
  if (now - s->begin_ns < 1000000000 || now - s->last_ns < 100000000) {
    return;
  }
  s->last_ns = now;
  s->shown = true;
  if (total > 0) {
    fprintf(stderr, "\r\033[Kxlaprof: %s, %d %% ", what, (int)(100.0 * (double)done / (double)total));
  } else {
    fprintf(stderr, "\r\033[Kxlaprof: %s ", what);
  }
  fflush(stderr);
}

const xp_progress *terminal_progress(void)
{
  static xp_progress progress = {report_progress, &state};
  state.begin_ns = xp_monotonic_ns();
  return isatty(STDERR_FILENO) ? &progress : NULL;
}

void terminal_progress_end(void)
{
  if (state.shown) {
    fputs("\r\033[K", stderr);
  }
  state.shown = false;
}

/* ---- a mapped file that is taken away */

/* Only what a signal handler may call.  Several threads may get here at once: the first writes and ends all. */
static void end_for_lost_file(int number)
{
  static const char text[] = "xlaprof: The file changed or could not be read while it was mapped. "
                             "Read a copy of it that no program writes.\n";
  static atomic_flag told = ATOMIC_FLAG_INIT;
  (void)number;
  while (atomic_flag_test_and_set(&told)) {
    pause();
  }
  ssize_t written = state.shown ? write(STDERR_FILENO, "\r\033[K", 4) : 0;
  written = write(STDERR_FILENO, text, sizeof text - 1);
  (void)written; /* nobody is left to tell */
  _exit(3);
}

void terminal_watch_files(void)
{
  struct sigaction action = {.sa_handler = end_for_lost_file};
  sigemptyset(&action.sa_mask);
  sigaction(SIGBUS, &action, NULL);
}
