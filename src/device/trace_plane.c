/* A plane a device, with the lines and stats that a TPU's plane has: Steps, XLA Modules, XLA Ops; and Framework Name
 * Scope and Framework Ops, which XProf derives for planes of TPUs and GPUs only.
 *
 * What does not change from one execution to the next (the text of the instruction, names, costs) is written once, with
 * the metadata of the event.
 */
#include "device/trace_plane.h"

#include <stdio.h>

#include "base/map.h"
#include "device/category.h"
#include "device/trace_scopes.h"
#include "hlo/text.h"
#include "xspace/write.h"

enum { LINE_STEPS = 1, LINE_MODULES, LINE_OPS, LINE_SCOPES, LINE_FRAMEWORK };

/* Ids of stat names in a plane. */
typedef struct {
  int64_t tf_op, category, program_id, flops, bytes, source, module, run_id, consumer_type, consumer, step_num;
} stat_ids;

typedef struct {
  const xp_dev_trace *trace;
  int ordinal;
  xp_arena *arena; /* of this plane's tables */
  xp_plane_writer *plane;
  xp_clock_scale scale;
  stat_ids stat;
  xp_map op_ids; /* (program, step) -> event metadata */
  xp_dev_scopes scopes;
} builder;

static const xp_str no_text = {NULL, 0};

static bool is_here(const builder *b, const xp_dev_trace_event *event)
{
  return xp_dev_trace_run_at(b->trace, event->run)->ordinal == b->ordinal;
}

static int64_t start_of(const builder *b, const xp_dev_trace_event *event)
{
  return xp_clock_ps(&b->scale, event->start);
}

static int64_t end_of(const builder *b, const xp_dev_trace_event *event)
{
  return xp_clock_ps(&b->scale, event->end);
}

static void begin_line(builder *b, int64_t id, const char *name)
{
  xp_plane_writer_line(b->plane, id, xp_str_c(name), b->trace->started_unix_ns);
}

/* ---------------------------------------------------------------- steps and modules */

/* Executions of one step that follow each other, from the first one's start to the last one's end. */
typedef struct {
  int64_t number; /* -1: none */
  uint64_t id;
  int64_t start, end;
} step_span;

static void write_step(builder *b, const step_span *step, bool *has_line)
{
  if (step->number < 0) {
    return;
  }
  if (!*has_line) {
    begin_line(b, LINE_STEPS, "Steps");
    *has_line = true;
  }
  char name[24];
  snprintf(name, sizeof name, "%lld", (long long)step->number);
  xp_plane_writer_add(b->plane, xp_plane_writer_event(b->plane, xp_str_c(name), no_text), step->start,
                      step->end - step->start);
  xp_plane_writer_int(b->plane, b->stat.step_num, step->number);
}

static void write_steps(builder *b)
{
  step_span step = {.number = -1};
  bool has_line = false;
  for (size_t i = 0; i < b->trace->event_count; i++) {
    const xp_dev_trace_event *event = xp_dev_trace_event_at(b->trace, i);
    if (event->plan_step != XP_DEV_WHOLE_RUN || !is_here(b, event)) {
      continue;
    }
    const xp_dev_trace_run *run = xp_dev_trace_run_at(b->trace, event->run);
    if (run->step != step.number || run->step_id != step.id) {
      write_step(b, &step, &has_line);
      step = (step_span){.number = run->step, .id = run->step_id, .start = start_of(b, event)};
    }
    step.end = end_of(b, event);
  }
  write_step(b, &step, &has_line);
}

static xp_str module_title(xp_arena *arena, const xp_abi_executable *program)
{
  return xp_arena_format(arena, "%.*s(%lld)", XP_STR_ARG(program->name), (long long)program->program_id);
}

static void write_modules(builder *b)
{
  begin_line(b, LINE_MODULES, "XLA Modules");
  for (size_t i = 0; i < b->trace->event_count; i++) {
    const xp_dev_trace_event *event = xp_dev_trace_event_at(b->trace, i);
    if (event->plan_step != XP_DEV_WHOLE_RUN || !is_here(b, event)) {
      continue;
    }
    const xp_dev_trace_run *run = xp_dev_trace_run_at(b->trace, event->run);
    int64_t id = xp_plane_writer_event(b->plane, module_title(b->arena, run->program), no_text);
    if (xp_plane_writer_meta_is_bare(b->plane, id)) {
      xp_plane_writer_meta_uint(b->plane, id, b->stat.program_id, (uint64_t)run->program->program_id);
    }
    xp_plane_writer_add(b->plane, id, start_of(b, event), end_of(b, event) - start_of(b, event));
    xp_plane_writer_int(b->plane, b->stat.run_id, run->run_id);
    if (run->flow >= 0) { /* the launch on the host carries the same number as a producer */
      xp_plane_writer_int(b->plane, b->stat.consumer_type, 14);
      xp_plane_writer_uint(b->plane, b->stat.consumer, (uint64_t)run->flow);
    }
  }
}

/* ---------------------------------------------------------------- operations */

static uint64_t rounded(double count)
{
  return count <= 0 ? 0 : count >= 0x1p63 ? (uint64_t)1 << 63 : (uint64_t)(count + 0.5);
}

static void write_meta(builder *b, int64_t id, const xp_abi_executable *program, const xp_dev_step_info *step)
{
  const xp_hlo_meta *meta = &step->instruction->meta;
  xp_plane_writer *plane = b->plane;
  if (meta->op_name.len > 0) { /* readers split it at the colon into name and type */
    xp_plane_writer_meta_text(plane, id, b->stat.tf_op, xp_arena_format(b->arena, "%.*s:", XP_STR_ARG(meta->op_name)));
  }
  xp_plane_writer_meta_text(plane, id, b->stat.category, xp_dev_category(step->instruction));
  xp_plane_writer_meta_uint(plane, id, b->stat.program_id, (uint64_t)program->program_id);
  xp_plane_writer_meta_uint(plane, id, b->stat.flops, rounded(step->flops));
  xp_plane_writer_meta_uint(plane, id, b->stat.bytes, rounded(step->bytes));
  if (meta->source_file.len > 0) {
    xp_plane_writer_meta_text(
        plane, id, b->stat.source,
        xp_arena_format(b->arena, "%.*s:%d", XP_STR_ARG(meta->source_file), (int)meta->source_line));
  }
  xp_plane_writer_meta_text(plane, id, b->stat.module, program->name);
}

/* The event metadata of a step of a program, made at its first event: two programs may have instructions of the same
 * text, so the key has the program, too. */
static int64_t op_id(builder *b, const xp_abi_executable *program, uint32_t plan_step, const xp_dev_step_info *step)
{
  uint64_t number = (uint64_t)program->program_id << 32 | plan_step;
  uint32_t known = xp_map_get(&b->op_ids, number);
  if (known != XP_NONE) {
    return known;
  }
  char key[32];
  int length = snprintf(key, sizeof key, "program step %llx", (unsigned long long)number);
  xp_str text = xp_hlo_instruction_text(b->arena, program->module, xp_hlo_entry(program->module), step->instruction);
  int64_t id = xp_plane_writer_event_of(b->plane, xp_str_from(key, (size_t)length), text, step->instruction->name);
  write_meta(b, id, program, step);
  uint32_t *entry = xp_map_entry(&b->op_ids, number);
  if (entry == NULL) {
    b->scopes.failed = true;
  } else {
    *entry = (uint32_t)id;
  }
  return id;
}

static void write_op(builder *b, const xp_dev_trace_event *event)
{
  const xp_dev_trace_run *run = xp_dev_trace_run_at(b->trace, event->run);
  xp_dev_step_info step = xp_dev_plan_step(run->program->plan, event->plan_step);
  int64_t start = start_of(b, event), end = end_of(b, event);
  xp_plane_writer_add(b->plane, op_id(b, run->program, event->plan_step, &step), start, end - start);
  xp_plane_writer_int(b->plane, b->stat.run_id, run->run_id);
  xp_dev_scopes_add(&b->scopes, step.instruction->meta.op_name, event->run, start, end);
}

static void write_ops(builder *b)
{
  begin_line(b, LINE_OPS, "XLA Ops");
  for (size_t i = 0; i < b->trace->event_count; i++) {
    const xp_dev_trace_event *event = xp_dev_trace_event_at(b->trace, i);
    if (event->plan_step != XP_DEV_WHOLE_RUN && is_here(b, event)) {
      write_op(b, event);
    }
  }
}

static void write_scope_line(builder *b, int64_t id, const char *name, const xp_dev_scope_line *line, bool are_ops)
{
  if (line->count == 0) {
    return;
  }
  begin_line(b, id, name);
  for (size_t i = 0; i < line->count; i++) {
    const xp_dev_scope_event *event = &line->events[i];
    xp_str full = are_ops ? xp_arena_format(b->arena, "%.*s:", XP_STR_ARG(event->name)) : event->name;
    int64_t meta = xp_plane_writer_event(b->plane, full, are_ops ? event->display : no_text);
    xp_plane_writer_add(b->plane, meta, event->start_ps, event->end_ps - event->start_ps);
  }
}

/* ---------------------------------------------------------------- planes */

static int64_t stat(builder *b, const char *name)
{
  return xp_plane_writer_stat(b->plane, xp_str_c(name));
}

static bool open_plane(builder *b)
{
  char name[48];
  snprintf(name, sizeof name, "/device:CUSTOM:xlaprof:%d", b->ordinal);
  b->arena = xp_arena_create();
  b->plane = xp_plane_writer_create(xp_str_c(name), b->ordinal);
  if (b->arena == NULL || b->plane == NULL) {
    return false;
  }
  b->scopes = (xp_dev_scopes){.arena = b->arena};
  xp_map_init(&b->op_ids, b->arena);
  b->stat = (stat_ids){.tf_op = stat(b, "tf_op"),
                       .category = stat(b, "hlo_category"),
                       .program_id = stat(b, "program_id"),
                       .flops = stat(b, "flops"),
                       .bytes = stat(b, "bytes_accessed"),
                       .source = stat(b, "source"),
                       .module = stat(b, "hlo_module"),
                       .run_id = stat(b, "run_id"),
                       .consumer_type = stat(b, "_ct"),
                       .consumer = stat(b, "_c"),
                       .step_num = stat(b, "step_num")};
  xp_plane_writer_text(b->plane, stat(b, "device_type_string"), xp_str_c(XP_DEV_KIND));
  if (b->trace->dropped > 0) {
    xp_plane_writer_uint(b->plane, stat(b, "dropped_events"), b->trace->dropped);
  }
  return true;
}

static bool write_device(const xp_dev_trace *trace, int ordinal, xp_wire_writer *space)
{
  builder b = {.trace = trace, .ordinal = ordinal, .scale = xp_clock_scale_between(trace->started, trace->stopped)};
  bool is_good = open_plane(&b);
  if (is_good) {
    write_steps(&b);
    write_modules(&b);
    write_ops(&b);
    write_scope_line(&b, LINE_SCOPES, "Framework Name Scope", &b.scopes.scopes, false);
    write_scope_line(&b, LINE_FRAMEWORK, "Framework Ops", &b.scopes.ops, true);
    is_good = !b.scopes.failed;
  }
  if (is_good) {
    is_good = xp_plane_writer_finish(b.plane, space);
  } else {
    xp_plane_writer_free(b.plane);
  }
  xp_arena_destroy(b.arena);
  return is_good;
}

/* One entry a program: its HloProto, of which the module is the first field. */
static bool write_program(xp_plane_writer *plane, xp_arena *arena, const xp_abi_executable *program)
{
  int64_t id = xp_plane_writer_event(plane, module_title(arena, program), program->name);
  if (!xp_plane_writer_meta_is_bare(plane, id)) {
    return true;
  }
  xp_wire_writer proto = {0};
  xp_wire_put_bytes(&proto, 1, program->message);
  xp_plane_writer_meta_bytes(plane, id, xp_plane_writer_stat(plane, xp_str_c("Hlo Proto")),
                             xp_str_from((const char *)proto.data, proto.len));
  xp_plane_writer_meta_uint(plane, id, xp_plane_writer_stat(plane, xp_str_c("program_id")),
                            (uint64_t)program->program_id);
  bool is_good = !proto.failed;
  xp_wire_writer_free(&proto);
  return is_good;
}

static bool write_programs(const xp_dev_trace *trace, xp_wire_writer *space)
{
  xp_arena *arena = xp_arena_create();
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("/host:metadata"), 0);
  bool is_good = arena != NULL && plane != NULL;
  for (size_t i = 0; i < trace->run_count && is_good; i++) {
    is_good = write_program(plane, arena, xp_dev_trace_run_at(trace, i)->program);
  }
  if (is_good) {
    is_good = xp_plane_writer_finish(plane, space);
  } else {
    xp_plane_writer_free(plane);
  }
  xp_arena_destroy(arena);
  return is_good;
}

bool xp_dev_trace_write(const xp_dev_trace *trace, bool with_programs, xp_wire_writer *space)
{
  enum { XSPACE_WARNINGS = 3 };
  int last = -1;
  for (size_t i = 0; i < trace->run_count; i++) {
    last = xp_dev_trace_run_at(trace, i)->ordinal > last ? xp_dev_trace_run_at(trace, i)->ordinal : last;
  }
  for (int ordinal = 0; ordinal <= last; ordinal++) {
    bool has_run = false;
    for (size_t i = 0; i < trace->run_count && !has_run; i++) {
      has_run = xp_dev_trace_run_at(trace, i)->ordinal == ordinal;
    }
    if (has_run && !write_device(trace, ordinal, space)) {
      return false;
    }
  }
  if (with_programs && trace->run_count > 0 && !write_programs(trace, space)) {
    return false;
  }
  if (trace->dropped > 0) {
    char text[160];
    int length = snprintf(text, sizeof text, "The embedded device dropped %llu events, its room was full; %zu are here",
                          (unsigned long long)trace->dropped, trace->event_count);
    xp_wire_put_bytes(space, XSPACE_WARNINGS, xp_str_from(text, (size_t)length));
  }
  return !space->failed;
}
