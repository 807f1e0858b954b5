/* Fuzz target: the whole reading of a capture, everything that can be asked of it, and what must hold for it. */
#include "analyze/check.h"

#include <stdlib.h>

static volatile uint64_t sink; /* keeps reads from being optimised away */

static void require(bool holds)
{
  if (!holds) {
    abort();
  }
}

static void touch(xp_str s)
{
  for (size_t i = 0; i < s.len; i++) {
    sink += (uint8_t)s.ptr[i];
  }
}

/* The parts of a gap add up to it, longest first. */
static void check_parts(const xp_gap *gap, const xp_gap_details *details)
{
  int64_t sum = 0;
  for (size_t i = 0; i < details->part_count; i++) {
    const xp_part *p = &details->parts[i];
    require(p->ps > 0 && (i == 0 || p->ps <= details->parts[i - 1].ps));
    sum += p->ps;
    touch(p->scope);
    touch(p->event);
    touch(p->detail);
  }
  require(sum == gap->dur_ps);
}

static void check_evidence(const xp_gap_details *details)
{
  for (size_t i = 0; i < details->evidence_count; i++) {
    touch(details->evidence[i].event);
    touch(details->evidence[i].thread);
    touch(details->evidence[i].frame);
  }
}

/* Gaps stand in the order of devices and times, and do not overlap. */
static void check_gaps(xp_reading *r, xp_arena *arena)
{
  for (size_t i = 0; i < r->gap_count; i++) {
    const xp_gap *gap = &r->gaps[i], *before = i > 0 ? gap - 1 : NULL;
    require(gap->device < r->device_count && gap->dur_ps > 0);
    require(gap->step == XP_NONE || gap->step < r->step_count);
    if (before != NULL && before->device == gap->device) {
      require(before->start_ps <= gap->start_ps && before->dur_ps <= gap->start_ps - before->start_ps);
    }
    xp_gap_details details;
    xp_error err;
    require(xp_gap_explain(r, gap, arena, &details, &err) == XP_OK);
    check_parts(gap, &details);
    check_evidence(&details);
    touch(gap->scope);
    touch(gap->trigger_scope);
    xp_arena_clear(arena);
  }
}

static void check_devices(const xp_reading *r)
{
  for (size_t i = 0; i < r->device_count; i++) {
    const xp_device *d = &r->devices[i];
    require(d->busy_ps >= 0 && d->copy_ps >= 0 && d->idle_ps >= 0 && d->short_ps >= 0 && d->collective_wait_ps >= 0);
    require(!d->has_window || d->window_ps[1] - d->window_ps[0] == d->busy_ps + d->copy_ps + d->idle_ps);
    touch(d->name);
    touch(d->model);
  }
}

static void check_steps(const xp_reading *r)
{
  for (size_t i = 0; i < r->step_count; i++) {
    const xp_step *s = &r->steps[i];
    require(i == 0 || r->steps[i - 1].start_ps <= s->start_ps);
    require(s->busy_ps >= 0 && s->device_start_ps <= s->device_end_ps);
    touch(s->name);
  }
  for (size_t i = 0; i < r->summary_count; i++) {
    touch(r->summaries[i].name);
  }
}

static void check_names(const xp_reading *r)
{
  const xp_names *n = &r->names;
  require(n->named_ps + n->unnamed_ps == n->device_ps);
  for (size_t i = 0; i < n->scope_count; i++) {
    touch(n->scopes[i].scope);
  }
  for (size_t i = 0; i < n->host_only_count; i++) {
    touch(n->host_only[i]);
  }
  for (size_t i = 0; i < n->device_only_count; i++) {
    touch(n->device_only[i]);
  }
}

static void check_ops(xp_reading *r)
{
  for (xp_ops_by by = XP_OPS_BY_OP; by <= XP_OPS_BY_SOURCE; by++) {
    xp_op_row *rows;
    size_t count;
    xp_error err;
    require(xp_reading_ops(r, by, &rows, &count, &err) == XP_OK);
    for (size_t i = 0; i < count; i++) {
      require(i == 0 || rows[i].self_ps <= rows[i - 1].self_ps);
      touch(rows[i].key);
    }
  }
}

/* What the checks count can be no more than what there is. */
static void check_checks(const xp_reading *r, xp_arena *arena)
{
  static const xp_expected_gap any[] = {{.max_ps = INT64_MAX}, {.has_scope = true, .has_trigger = true, .max_ps = 9}};
  const xp_check_options options = {.step = xp_str_from("train", 5),
                                    .scopes = xp_str_from("fwd,a/b", 7),
                                    .expected = any,
                                    .expected_count = 2,
                                    .has_expected = true,
                                    .floor_percent = 2};
  xp_check check;
  xp_error err;
  require(xp_check_reading(r, &options, arena, &check, &err) == XP_OK);
  require(check.names.scoped <= check.names.instructions && check.names.step.instructions <= check.names.instructions);
  require(check.gaps.unexpected_count == 0 && check.gaps.rows[0].found <= r->gap_count && check.gaps.floor_ps >= 0);
  for (size_t i = 0; i < check.names.scope_count; i++) {
    require(check.names.scopes[i].instructions <= check.names.instructions);
    touch(check.names.scopes[i].name);
    touch(check.names.scopes[i].op_name);
  }
}

static void check_texts(const xp_reading *r)
{
  touch(r->verdict);
  touch(r->step_reason);
  for (size_t i = 0; i < r->cause_count; i++) {
    touch(r->causes[i].scope);
  }
  for (size_t i = 0; i < r->advice_count; i++) {
    touch(r->advice[i].text);
    touch(r->advice[i].evidence);
  }
  for (size_t i = 0; i < r->warning_count; i++) {
    touch(r->warnings[i]);
  }
  for (size_t i = 0; i < r->counters.by_scope_count; i++) {
    touch(r->counters.by_scope[i].scope);
  }
  for (size_t i = 0; i < r->counters.cut_count; i++) {
    touch(r->counters.cuts[i].scope);
  }
}

static void read_with(const xp_capture *capture, const xp_analyze_options *options)
{
  xp_arena *arena = xp_arena_create();
  xp_reading *reading = NULL;
  xp_error err;
  require(arena != NULL && xp_analyze(capture, options, &reading, &err) == XP_OK);
  check_devices(reading);
  check_gaps(reading, arena);
  check_steps(reading);
  check_checks(reading, arena);
  check_names(reading);
  check_ops(reading);
  check_texts(reading);
  xp_reading_free(reading);
  xp_arena_destroy(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  xp_load_options load = {.threads = 1};
  xp_capture *capture;
  xp_error err;
  if (xp_capture_load_memory(xp_str_from((const char *)data, size), "fuzz", &load, &capture, &err) != XP_OK) {
    return 0;
  }
  read_with(capture, NULL);
  read_with(capture, &(xp_analyze_options){.min_gap_ps = 1, .raw_names = true, .input_regex = "fetch.*"});
  xp_capture_free(capture);
  return 0;
}
