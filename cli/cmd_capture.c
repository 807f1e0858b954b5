/* capture: asks running programs for a capture, and says for each how it went and what to do next. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "json/writer.h"
#include "report/fields.h"
#include "report/format.h"
#include "report/text.h"
#include "terminal.h"
#include "xlaprof/capture.h"

enum { MOST_TARGETS = 1024 };

/* How an outcome is called in JSON, and its exit status. */
static const struct {
  const char *name;
  int status;
} outcomes[] = {
    [XP_CAPTURE_SAVED] = {"saved", 0},
    [XP_CAPTURE_SAVED_THERE] = {"saved_on_server", 0},
    [XP_CAPTURE_EMPTY] = {"empty", 10},
    [XP_CAPTURE_NO_ADDRESS] = {"no_address", 6},
    [XP_CAPTURE_NO_LISTENER] = {"no_listener", 4},
    [XP_CAPTURE_NO_PROFILER] = {"no_profiler", 7},
    [XP_CAPTURE_BUSY] = {"busy", 8},
    [XP_CAPTURE_SERVER_ERROR] = {"server_error", 9},
    [XP_CAPTURE_LOST] = {"lost", 4},
    [XP_CAPTURE_DISK] = {"disk", 3},
    [XP_CAPTURE_CANCELLED] = {"cancelled", 130},
};

/* ---- arguments */

/* "a:1,b:2" in place; false if there are too many, or an empty one. */
static bool split_targets(char *text, const char *targets[MOST_TARGETS], size_t *count)
{
  *count = 0;
  for (char *next = text; next != NULL;) {
    char *comma = strchr(next, ',');
    if (*count == MOST_TARGETS || next[0] == '\0' || next == comma) {
      return false;
    }
    targets[(*count)++] = next;
    if (comma != NULL) {
      *comma++ = '\0';
    }
    next = comma;
  }
  return true;
}

static xp_capture_options capture_options(const options *o)
{
  xp_capture_options c = XP_CAPTURE_OPTIONS_INIT;
  c.duration_ms = o->has_duration ? o->duration_ms : c.duration_ms;
  c.attempts = o->has_attempts ? (uint32_t)o->attempts : c.attempts;
  c.host_tracer_level = o->has_host_level ? (uint32_t)o->host_level : c.host_tracer_level;
  c.device_tracer_level = o->has_device_level ? (uint32_t)o->device_level : c.device_tracer_level;
  c.python_tracer_level = o->has_python_level ? (int32_t)o->python_level : c.python_tracer_level;
  c.timeout_ms = o->has_timeout ? o->timeout_s * 1000 : c.timeout_ms;
  c.interval_ms = o->has_interval ? o->interval_s * 1000 : c.interval_ms;
  c.delay_ms = o->delay_ms;
  c.save_on_server = o->save_on_server;
  c.session_id = o->session_id;
  c.advanced = o->advanced;
  return c;
}

/* ---- while it runs */

static volatile int cancelled;

static void cancel(int signal_number)
{
  (void)signal_number;
  cancelled = 1;
}

static void tell(void *context, const char *message)
{
  (void)context;
  complain("", xp_str_c(message));
}

/* For a person who waits; a pipe needs no such line. */
static void announce(const xp_capture_options *c, const char *names)
{
  if (isatty(STDERR_FILENO)) {
    char text[512];
    snprintf(text, sizeof text, "Tracing %.300s for %.1f s; Ctrl-C gives up", names, (double)c->duration_ms / 1e3);
    complain("", xp_str_c(text));
  }
}

static void watch_signals(void)
{
  struct sigaction action = {.sa_handler = cancel};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
}

/* ---- the result */

static void write_json(const xp_capture_result *results, size_t count)
{
  xp_json json;
  xp_json_begin(&json, stdout);
  xp_json_object(&json);
  xp_field_text(&json, "schema", "xlaprof.capture/1");
  xp_json_key(&json, "hosts");
  xp_json_array(&json);
  for (size_t i = 0; i < count; i++) {
    const xp_capture_result *r = &results[i];
    xp_json_object(&json);
    xp_field_text(&json, "target", r->target);
    xp_field_text(&json, "outcome", outcomes[r->outcome].name);
    xp_json_key(&json, "bytes");
    xp_json_uint(&json, r->bytes);
    xp_json_key(&json, "tries");
    xp_json_uint(&json, r->tries);
    xp_field_text(&json, "path", r->path);
    xp_field_text(&json, "message", r->message);
    xp_json_object_end(&json);
  }
  xp_json_array_end(&json);
  xp_json_object_end(&json);
  xp_json_finish(&json);
}

static bool is_saved(const xp_capture_result *r)
{
  return r->outcome == XP_CAPTURE_SAVED || r->outcome == XP_CAPTURE_SAVED_THERE;
}

static bool is_plain(xp_str word)
{
  bool is = word.len > 0;
  for (size_t i = 0; i < word.len && is; i++) {
    unsigned char c = (unsigned char)word.ptr[i];
    is = c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
         strchr("_./:=@%+,-", c) != NULL;
  }
  return is;
}

/* A word of a command line: quoted if a shell would see more in it. */
static void write_word(xp_str word)
{
  if (is_plain(word)) {
    xp_text_write(stdout, word);
    return;
  }
  putchar('\'');
  for (size_t at = 0; at < word.len;) {
    size_t quote = xp_str_find(word, '\'', at);
    xp_text_write(stdout, xp_str_from(word.ptr + at, quote - at));
    if (quote < word.len) {
      fputs("'\\''", stdout);
    }
    at = quote + 1;
  }
  putchar('\'');
}

static void write_text(const xp_capture_result *results, size_t count)
{
  const char *path = NULL;
  for (size_t i = 0; i < count; i++) {
    const xp_capture_result *r = &results[i];
    if (r->outcome == XP_CAPTURE_SAVED) {
      path = r->path;
      printf("%s: captured\n  ", r->target);
      xp_text_write(stdout, xp_str_c(r->path));
      printf("\n");
    } else if (is_saved(r)) {
      printf("%s: captured, and saved on the disk of that machine\n  ", r->target);
      xp_text_write(stdout, xp_str_c(r->path));
      printf("\n");
    } else {
      fflush(stdout);
      complain("", xp_str_c(r->message != NULL ? r->message : outcomes[r->outcome].name));
    }
  }
  if (path != NULL) {
    const char *slash = strrchr(path, '/');
    xp_str read = count > 1 && slash != NULL ? xp_str_from(path, (size_t)(slash - path)) : xp_str_c(path);
    printf("\nRead it with\n  xlaprof report ");
    write_word(read);
    printf("\n");
  }
}

/* That of the first failure; 5 if others were captured. */
static int exit_status_of(const xp_capture_result *results, size_t count)
{
  size_t saved = 0;
  int status = 0;
  for (size_t i = 0; i < count; i++) {
    saved += is_saved(&results[i]);
    status = status == 0 ? outcomes[results[i].outcome].status : status;
  }
  return status != 0 && saved > 0 ? 5 : status;
}

static int run(const options *o, char *names)
{
  static const char *targets[MOST_TARGETS];
  xp_error err = {0};
  size_t count;
  xp_capture_result *results = NULL;
  if (!split_targets(names, targets, &count)) {
    complain("", xp_str_c("The list of programs has an empty part, or more than 1024: write HOST:PORT,HOST:PORT"));
    return 2;
  }
  xp_capture_options c = capture_options(o);
  c.tell = tell;
  c.cancel = &cancelled;
  watch_signals();
  announce(&c, o->path);
  xp_capture_run(targets, count, o->logdir, &c, &results, &err);
  if (results == NULL) {
    return say(&err);
  }
  if (o->json) {
    write_json(results, count);
  } else {
    write_text(results, count);
  }
  int status = exit_status_of(results, count);
  xp_capture_results_free(results, count);
  return status;
}

int run_capture(const options *o)
{
  char *names = strdup(o->path);
  if (names == NULL) {
    complain("", xp_str_c("Memory ran out"));
    return 3;
  }
  int status = run(o, names);
  free(names);
  return status;
}
