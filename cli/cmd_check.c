/* check: the names of a step are on the device, and the predicted gaps are the gaps that were found. */
#include "base/file.h"
#include "commands.h"
#include "report/check.h"
#include "terminal.h"

static const double USUAL_FLOOR = 2; /* percent of the step's period */

typedef struct {
  const options *o;
  xp_arena *arena;
  xp_file file; /* of predictions */
  xp_check_options check;
  bool ok;
} job;

static xp_status read_expected(job *j, xp_error *err)
{
  xp_expected_gap *rows = NULL;
  if (j->o->expect == NULL) {
    return XP_OK;
  }
  xp_status status = xp_file_open(j->o->expect, &j->file, err);
  if (status == XP_OK) {
    status = xp_expected_gaps_read(j->file.bytes, j->o->expect, j->arena, &rows, &j->check.expected_count, err);
  }
  j->check.expected = rows;
  j->check.has_expected = status == XP_OK;
  return status;
}

static xp_status check_and_write(job *j, const xp_capture *capture, xp_error *err)
{
  xp_reading *reading = NULL;
  xp_check check;
  const xp_analyze_options analyze = {
      .input_regex = j->o->input, .device = j->o->device, .progress = terminal_progress()};
  xp_status status = xp_analyze(capture, &analyze, &reading, err);
  if (status != XP_OK) {
    return status;
  }
  terminal_progress_end();
  status = xp_check_reading(reading, &j->check, j->arena, &check, err);
  if (status == XP_OK) {
    const xp_output output = terminal_output(j->o);
    j->ok = check.names.ok && check.gaps.ok;
    status = xp_check_write(&check, reading, j->o->expect, &output, err);
  }
  xp_reading_free(reading);
  return status;
}

static int run_on_capture(job *j)
{
  int status;
  xp_error err = {0};
  xp_capture *capture = load_capture(j->o, false, &status);
  if (capture == NULL) {
    return status;
  }
  status = check_and_write(j, capture, &err) == XP_OK ? 0 : say(&err);
  status = finish_capture(capture, status);
  xp_capture_free(capture);
  return status == 0 || status == 5 ? (j->ok ? status : 1) : status;
}

int run_check(const options *o)
{
  xp_error err = {0};
  job j = {.o = o, .arena = xp_arena_create()};
  j.check = (xp_check_options){.step = xp_str_trim(xp_str_c(o->step)),
                               .scopes = xp_str_c(o->scopes),
                               .floor_percent = o->has_floor ? o->floor_percent : USUAL_FLOOR};
  xp_status status = j.arena != NULL ? read_expected(&j, &err) : xp_fail(&err, XP_ERR_MEMORY, "Memory ran out");
  int result = status == XP_OK ? run_on_capture(&j) : say(&err);
  xp_file_close(&j.file);
  xp_arena_destroy(j.arena);
  return result;
}
