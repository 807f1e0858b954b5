/* counters: of a capture, of a metrics report, or of a program that runs. */
#include <stdlib.h>
#include <sys/stat.h>

#include "commands.h"
#include "metrics_file.h"
#include "rpc/grpc_client.h"
#include "terminal.h"
#include "xlaprof/capture.h"

enum { TIMEOUT_MS = 10000 };

static int write_report(const options *o, metrics_file *metrics, xp_status status, xp_error *err)
{
  xp_output output = terminal_output(o);
  if (status == XP_OK) {
    status = xp_metrics_write(&metrics->report, &output, err);
  }
  metrics_file_close(metrics);
  return status == XP_OK ? 0 : say(err);
}

/* HOST:PORT, and no file of that name. */
static bool is_program(const char *path)
{
  struct stat s;
  xp_grpc_target target;
  return stat(path, &s) != 0 && strchr(path, '/') == NULL &&
         xp_grpc_target_parse(xp_str_c(path), &target, NULL) == XP_OK;
}

static int ask_program(const options *o)
{
  xp_error err = {0};
  metrics_file metrics = {0};
  char *text = NULL;
  xp_status status = xp_capture_metrics(o->path, TIMEOUT_MS, &text, &err);
  if (status == XP_OK && text[0] == '\0') {
    status = xp_fail(&err, XP_ERR_EMPTY, "%s has counted nothing so far", o->path);
  }
  if (status == XP_OK) {
    status = metrics_file_take(&metrics, text, o->path, &err);
  }
  int result = write_report(o, &metrics, status, &err);
  free(text);
  return result;
}

int run_counters(const options *o)
{
  xp_error err = {0};
  metrics_file metrics = {0};
  if (is_program(o->path)) {
    return ask_program(o);
  }
  if (!metrics_file_probe(o->path)) {
    return run_reading(o);
  }
  xp_status status = metrics_file_read(&metrics, o->path, &err);
  return write_report(o, &metrics, status, &err);
}
