/* A recorded thread whose line no plugin wrote to goes into the capture as it is read: its events are made when
 * somebody reads them.  Where a plugin wrote events of the same thread (it shares the thread's id), the two are sorted
 * into one line in memory.  Only the ranges of NVTX stay on lines of their own.
 *
 * Upstream: post_process_single_host_xplane.cc.  Lines are sorted by name, as there.
 */
#include "session/host_plane.h"

#include <stdlib.h>

#include "json/utf8.h"
#include "session/host_events.h"
#include "session/plane_merge.h"

#define RANGES "/host:NVTX-CUPTI"

bool xp_is_host_plane(xp_str name)
{
  static const char *const names[] = {"/host:CPU",           "/host:TPU-runtime", "/host:CUPTI",
                                      "/host:python-tracer", "/host:ROCTRACER",   RANGES};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (xp_str_is(name, names[i])) {
      return true;
    }
  }
  return false;
}

/* A line of the new plane: of the merge, or a recorded thread. */
typedef struct {
  xp_str name;
  int64_t id;
  xp_merged_line *merged;
  xp_host_line *events;
} plane_line;

typedef struct {
  xp_rope body;
  xp_plane_merge merge;
  xp_host_names *names;
  const xp_recording *recording;
  plane_line *lines;
  size_t line_count;
} plane;

static int by_name(const void *a, const void *b)
{
  const plane_line *x = a, *y = b;
  int order = xp_str_cmp(x->name, y->name);
  return order != 0 ? order : (x->id > y->id) - (x->id < y->id);
}

/* ---- recorded threads */

typedef struct {
  plane *plane;
  xp_merged_line *line;
} visitor;

static void add_recorded(void *context, int64_t start_ps, int64_t dur_ps, xp_str message)
{
  visitor *v = context;
  xp_merged_lines_add(&v->plane->merge.lines, v->line, start_ps, dur_ps, message);
}

static xp_merged_line *merged_line_of(plane *p, int64_t tid)
{
  for (size_t i = 0; i < p->merge.lines.count; i++) {
    if (p->merge.lines.lines[i].id == tid) {
      return &p->merge.lines.lines[i];
    }
  }
  return NULL;
}

static void add_thread(plane *p, size_t index)
{
  const xp_recorded_thread *thread = &p->recording->threads[index];
  xp_host_line *events = xp_arena_alloc(p->body.arena, sizeof *events);
  xp_str name = xp_utf8_clean(xp_str_c(thread->name), p->body.arena);
  if (events == NULL || name.ptr == NULL || !xp_host_line_measure(p->names, index, events)) {
    p->body.failed = true;
    return;
  }
  xp_merged_line *line = merged_line_of(p, thread->tid);
  if (line == NULL) {
    p->lines[p->line_count++] = (plane_line){name, thread->tid, NULL, events};
    return;
  }
  visitor v = {p, line};
  line->name = line->name.len > 0 ? line->name : name;
  line->display_name = line->display_name.len > 0 ? line->display_name : name;
  line->base_ns = 0;
  p->body.failed |= !xp_host_line_each(events, add_recorded, &v);
}

static void write_recorded(plane *p, const plane_line *line)
{
  xp_wire_writer head = {0}, tail = {0};
  xp_rope message;
  xp_rope_init(&message, p->body.arena);
  xp_wire_put_varint(&head, 1, (uint64_t)line->id);
  xp_wire_put_bytes(&head, 2, line->name);
  xp_rope_records(&message, &head);
  xp_host_line_append(line->events, &message);
  xp_wire_put_bytes(&tail, 11, line->name); /* as merged lines have it upstream */
  xp_rope_records(&message, &tail);
  xp_rope_nest(&p->body, 3, &message);
}

/* ---- the plane */

static void write_lines(plane *p)
{
  for (size_t i = 0; i < p->merge.lines.count; i++) {
    xp_merged_line *line = &p->merge.lines.lines[i];
    p->lines[p->line_count++] = (plane_line){line->name, line->id, line, NULL};
  }
  if (p->line_count > 0) {
    qsort(p->lines, p->line_count, sizeof *p->lines, by_name);
  }
  for (size_t i = 0; i < p->line_count; i++) {
    if (p->lines[i].merged != NULL) {
      xp_merged_line_write(&p->merge.lines, p->lines[i].merged, &p->body);
    } else {
      write_recorded(p, &p->lines[i]);
    }
  }
}

/* Lines of ranges stand beside those of their threads. */
static bool is_apart(xp_str message)
{
  return xp_str_is(xp_plane_message_name(message), RANGES);
}

static void add_planes(plane *p, const xp_str *planes, size_t count, bool *damaged, bool apart)
{
  for (size_t i = 0; i < count; i++) {
    if (is_apart(planes[i]) == apart) {
      damaged[i] = !xp_plane_merge_add(&p->merge, planes[i]);
    }
  }
}

static void keep_apart(plane *p, size_t threads)
{
  int64_t *ids = xp_arena_array(p->body.arena, threads, sizeof *ids);
  for (size_t i = 0; ids != NULL && i < threads; i++) {
    ids[i] = p->recording->threads[i].tid;
  }
  p->body.failed |= ids == NULL;
  xp_merged_lines_keep_apart(&p->merge.lines, ids, ids != NULL ? threads : 0);
}

/* All planes first, then the recorded threads, which may join lines of theirs. */
static void collect(plane *p, const xp_str *planes, size_t count, bool *damaged)
{
  size_t threads = p->recording != NULL ? p->recording->thread_count : 0;
  add_planes(p, planes, count, damaged, false);
  keep_apart(p, threads);
  add_planes(p, planes, count, damaged, true);
  p->lines = xp_arena_array(p->body.arena, threads + p->merge.lines.count, sizeof *p->lines);
  p->body.failed |= p->lines == NULL || p->merge.failed || p->merge.lines.failed;
  for (size_t i = 0; i < threads && !p->body.failed; i++) {
    if (p->recording->threads[i].count > 0) {
      add_thread(p, i);
    }
  }
}

static void write_plane(plane *p, xp_rope *space, xp_str name, const xp_str *planes, size_t count, bool *damaged)
{
  xp_wire_writer head = {0}, tables = {0};
  xp_wire_put_bytes(&head, 2, name);
  xp_rope_records(&p->body, &head);
  collect(p, planes, count, damaged);
  if (!p->body.failed) {
    write_lines(p);
  }
  xp_plane_merge_stats(&p->merge);
  if (p->recording != NULL && p->recording->dropped > 0) {
    xp_plane_writer_uint(p->merge.tables, xp_plane_writer_stat(p->merge.tables, xp_str_c("dropped_events")),
                         p->recording->dropped);
  }
  p->body.failed |= !xp_plane_writer_tables(p->merge.tables, &tables) || p->merge.failed || p->merge.lines.failed;
  xp_rope_records(&p->body, &tables);
  xp_rope_nest(space, 1, &p->body);
}

static void append(xp_rope *space, xp_str name, const xp_recording *recording, const xp_str *planes, size_t plane_count,
                   bool *damaged, const xp_plane_frame *frame)
{
  plane p = {.recording = recording,
             .merge = {.arena = space->arena, .lines = {.arena = space->arena}, .frame = *frame}};
  p.merge.tables = xp_plane_writer_create(name, 0);
  p.names = xp_arena_alloc(space->arena, sizeof *p.names);
  xp_rope_init(&p.body, space->arena);
  if (p.merge.tables == NULL || p.names == NULL) {
    space->failed = true;
    xp_plane_writer_free(p.merge.tables);
    return;
  }
  if (recording != NULL) {
    int64_t base_ns = recording->start_unix_ns - frame->start_unix_ns;
    xp_host_names_init(p.names, recording, base_ns > 0 ? base_ns * 1000 : 0, p.merge.tables, space->arena);
  }
  write_plane(&p, space, name, planes, plane_count, damaged);
  xp_plane_writer_free(p.merge.tables);
  p.names->tables = NULL;
}

void xp_host_plane_append(xp_rope *space, const xp_recording *recording, const xp_str *planes, size_t plane_count,
                          bool *damaged, const xp_plane_frame *frame)
{
  append(space, xp_str_c("/host:CPU"), recording, planes, plane_count, damaged, frame);
}

void xp_merged_plane_append(xp_rope *space, xp_str name, const xp_str *planes, size_t plane_count, bool *damaged,
                            const xp_plane_frame *frame)
{
  append(space, name, NULL, planes, plane_count, damaged, frame);
}
