/* The planes of the host and of one family of devices are shown.  When there are too many events the earliest stay:
 * their latest start is found first; of those that start just then, as many stay as have room.
 */
#include "session/trace_choice.h"

#include <stdlib.h>

/* ---- which planes */

static const char *device_family(const xp_capture *capture)
{
  static const char *const families[] = {"/device:GPU:", "/device:TPU:", "/device:CUSTOM:"};
  for (size_t f = 0; f < 3; f++) {
    for (size_t h = 0; h < capture->host_count; h++) {
      for (size_t p = 0; p < capture->hosts[h].plane_count; p++) {
        if (xp_str_starts(capture->hosts[h].planes[p].name, families[f])) {
          return families[f];
        }
      }
    }
  }
  return NULL;
}

bool xp_trace_is_host(const xp_plane *plane)
{
  return xp_str_is(plane->name, "/host:CPU");
}

static bool is_shown(const xp_trace_choice *c, const xp_plane *plane)
{
  return xp_trace_is_host(plane) || (c->family != NULL && xp_str_starts(plane->name, c->family));
}

bool xp_trace_shows_line(const xp_line *line)
{
  return !xp_str_is(line->name, "Async XLA Ops");
}

/* Events that only programs read (xplane_schema.cc, IsInternalEvent). */
bool xp_trace_shows_event(const xp_line *line, size_t i)
{
  static const char *const internal[] = {"MemoryAllocation",
                                         "MemoryDeallocation",
                                         "PrefetchProduce",
                                         "PrefetchConsume",
                                         "ParallelInterleaveProduce",
                                         "ParallelInterleaveConsume",
                                         "ParallelInterleaveInitializedInput",
                                         "ParallelMapProduce",
                                         "ParallelMapConsume",
                                         "MapAndBatchProduce",
                                         "MapAndBatchConsume",
                                         "ParseExampleProduce",
                                         "ParseExampleConsume"};
  xp_str name = xp_event_name(line, i);
  bool may_be = name.len > 14 && (name.ptr[0] == 'M' || name.ptr[0] == 'P');
  for (size_t k = 0; may_be && k < sizeof internal / sizeof *internal; k++) {
    if (xp_str_is(name, internal[k])) {
      return false;
    }
  }
  return true;
}

void xp_trace_each_plane(const xp_trace_choice *c, void (*visit)(void *context, const xp_plane *plane), void *context)
{
  for (size_t h = 0; h < c->capture->host_count; h++) {
    for (size_t p = 0; p < c->capture->hosts[h].plane_count; p++) {
      if (is_shown(c, &c->capture->hosts[h].planes[p])) {
        visit(context, &c->capture->hosts[h].planes[p]);
      }
    }
  }
}

/* ---- the earliest events */

static void count_events(void *count, const xp_plane *plane)
{
  for (size_t k = 0; k < plane->line_count; k++) {
    const xp_line *line = &plane->lines[k];
    for (size_t i = 0; xp_trace_shows_line(line) && i < line->count; i++) {
      *(uint64_t *)count += xp_trace_shows_event(line, i);
    }
  }
}

typedef struct {
  int64_t *starts;
  size_t count;
} start_list;

static void take_starts(void *context, const xp_plane *plane)
{
  start_list *list = context;
  for (size_t k = 0; k < plane->line_count; k++) {
    const xp_line *line = &plane->lines[k];
    for (size_t i = 0; xp_trace_shows_line(line) && i < line->count; i++) {
      if (xp_trace_shows_event(line, i)) {
        list->starts[list->count++] = line->start_ps[i];
      }
    }
  }
}

static int by_value(const void *a, const void *b)
{
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

bool xp_trace_choose(xp_trace_choice *c, const xp_capture *capture, uint64_t most)
{
  uint64_t count = 0;
  *c = (xp_trace_choice){.capture = capture, .family = device_family(capture), .last_ps = INT64_MAX};
  xp_trace_each_plane(c, count_events, &count);
  if (count <= most) {
    return true;
  }
  start_list list = {.starts = malloc((size_t)count * sizeof *list.starts)};
  if (list.starts == NULL) {
    return false;
  }
  xp_trace_each_plane(c, take_starts, &list);
  qsort(list.starts, list.count, sizeof *list.starts, by_value);
  c->last_ps = list.starts[most - 1];
  for (size_t i = (size_t)most; i > 0 && list.starts[i - 1] == c->last_ps; i--) {
    c->ties++;
  }
  free(list.starts);
  return true;
}

bool xp_trace_keeps(xp_trace_choice *c, int64_t start_ps)
{
  if (start_ps != c->last_ps || c->last_ps == INT64_MAX) {
    return start_ps <= c->last_ps;
  }
  bool has_room = c->ties > 0;
  c->ties -= has_room;
  return has_room;
}
