/* Sums by name in one streaming pass.
 *
 * Every worker adds into a table of its own, indexed by plane and metadata index, so the loop takes no lock and hashes
 * no name.  Names are looked at once, at the end, when the tables are put together.  The escape of the caller's arena
 * is set aside while other arenas are held.
 */
#include "xspace/aggregate.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/thread.h"
#include "xspace/load.h"
#include "xspace/record.h"

/* All fields start at 0, as fresh memory does; hence the shortest duration is kept as its distance from INT64_MAX. */
typedef struct {
  uint64_t count;
  int64_t total_ps, below_max_ps, max_ps;
} name_sum;

typedef struct {
  const xp_segment *segment;
  size_t first_row; /* of the plane */
} work_item;

typedef struct {
  xp_arena *arenas[XP_MOST_WORKERS];
  name_sum *tables[XP_MOST_WORKERS];
  size_t rows;
  work_item *items;
  size_t item_count;
  atomic_bool failed;
} aggregation;

static inline void add(name_sum *row, int64_t dur)
{
  dur = dur < 0 ? 0 : dur; /* as the columns have it */
  int64_t below_max = INT64_MAX - dur;
  row->count++;
  row->total_ps = xp_add_saturating(row->total_ps, dur);
  row->below_max_ps = below_max > row->below_max_ps ? below_max : row->below_max_ps;
  row->max_ps = dur > row->max_ps ? dur : row->max_ps;
}

/* Any field of a line.  Returns the byte behind it.  Scanning has checked the records of the line, but not the fields
 * of events: a damaged event counts with what could be read of it. */
static const uint8_t *slow_field(const uint8_t *p, const uint8_t *end, const xp_id_table *ids, name_sum *rows)
{
  xp_wire_reader reader = xp_wire_open(xp_str_from((const char *)p, (size_t)(end - p)));
  xp_wire_field f;
  if (!xp_wire_next(&reader, &f)) {
    return end;
  }
  if (f.number == 4 && f.type == XP_WIRE_BYTES) {
    xp_record r;
    const uint8_t *bad;
    xp_record_slow(f.bytes, &r, &bad);
    add(&rows[xp_id_get(ids, r.id) & XP_EVENT_META_MASK], r.dur_ps);
  }
  return reader.pos;
}

XP_ALWAYS_INLINE void sum_records(const xp_segment *s, name_sum *rows, bool pext)
{
  const xp_str message = s->line->message;
  const xp_id_table *ids = &s->line->plane->tables->events;
  const uint8_t *start = (const uint8_t *)message.ptr, *end = start + message.len;
  const uint8_t *p = start + s->from, *stop = start + s->end;
  while (p < stop) {
    xp_record r;
    if (__builtin_expect(end - p >= XP_FAST_BYTES && xp_record_fast(p, &r, pext), 1)) {
      add(&rows[xp_id_get(ids, r.id) & XP_EVENT_META_MASK], r.dur_ps);
      p = r.end;
    } else {
      p = slow_field(p, end, ids, rows);
    }
  }
}

XP_TARGET_RECENT static void sum_records_recent(const xp_segment *s, name_sum *rows)
{
  sum_records(s, rows, true);
}

static void sum_segment(const xp_segment *s, name_sum *rows)
{
  if (xp_cpu_is_recent()) {
    sum_records_recent(s, rows);
  } else {
    sum_records(s, rows, false);
  }
}

static void sum_item(void *context, size_t item, int worker)
{
  aggregation *a = context;
  if (a->arenas[worker] == NULL) {
    a->arenas[worker] = xp_arena_create();
    if (a->arenas[worker] != NULL) {
      a->tables[worker] = xp_arena_array(a->arenas[worker], a->rows, sizeof(name_sum));
    }
  }
  if (a->tables[worker] == NULL) {
    atomic_store(&a->failed, true);
    return;
  }
  sum_segment(a->items[item].segment, a->tables[worker] + a->items[item].first_row);
}

/* Calls visit for every plane with the number of its first row. */
typedef void (*plane_visitor)(aggregation *a, const xp_plane *plane, size_t first_row, void *context);

static void each_plane(aggregation *a, const xp_capture *capture, plane_visitor visit, void *context)
{
  size_t row = 0;
  for (size_t h = 0; h < capture->host_count; h++) {
    for (size_t i = 0; i < capture->hosts[h].plane_count; i++) {
      const xp_plane *plane = &capture->hosts[h].planes[i];
      visit(a, plane, row, context);
      row += plane->event_meta_count;
    }
  }
  a->rows = row;
}

typedef struct {
  bool (*wanted)(void *context, const xp_line *line);
  void *context;
  xp_arena *arena;
  size_t room;
} line_filter;

static void collect_items(aggregation *a, const xp_plane *plane, size_t first_row, void *context)
{
  line_filter *filter = context;
  for (size_t k = 0; k < plane->line_count; k++) {
    const xp_line *line = &plane->lines[k];
    if (line->count == 0 || (filter->wanted != NULL && !filter->wanted(filter->context, line))) {
      continue;
    }
    for (size_t i = 0; i < line->segment_count; i++) {
      a->items = xp_arena_grow(filter->arena, a->items, a->item_count, &filter->room, sizeof *a->items);
      if (a->items == NULL) {
        atomic_store(&a->failed, true);
        return;
      }
      a->items[a->item_count++] = (work_item){&line->segments[i], first_row};
    }
  }
}

/* ---- by name */

typedef struct {
  xp_intern names;
  xp_name_total *rows;
  size_t room;
  xp_arena *arena;
} result;

static void add_total(name_sum *to, const name_sum *from)
{
  to->count += from->count;
  to->total_ps = xp_add_saturating(to->total_ps, from->total_ps);
  to->below_max_ps = from->below_max_ps > to->below_max_ps ? from->below_max_ps : to->below_max_ps;
  to->max_ps = from->max_ps > to->max_ps ? from->max_ps : to->max_ps;
}

static void add_row(aggregation *a, result *r, xp_str name, const name_sum *sum)
{
  size_t before = r->names.count;
  uint32_t number = xp_intern_add(&r->names, name);
  xp_name_total *rows = xp_arena_grow(r->arena, r->rows, before, &r->room, sizeof *rows);
  if (number == XP_NONE || rows == NULL) {
    atomic_store(&a->failed, true);
    return;
  }
  r->rows = rows;
  xp_name_total *row = &rows[number];
  int64_t shortest = INT64_MAX - sum->below_max_ps;
  if (number == before) {
    *row = (xp_name_total){.name = name, .min_ps = shortest};
  }
  row->count += sum->count;
  row->total_ps = xp_add_saturating(row->total_ps, sum->total_ps);
  row->min_ps = shortest < row->min_ps ? shortest : row->min_ps;
  row->max_ps = sum->max_ps > row->max_ps ? sum->max_ps : row->max_ps;
}

static void put_together(aggregation *a, const xp_plane *plane, size_t first_row, void *context)
{
  for (size_t i = 0; i < plane->event_meta_count && !atomic_load(&a->failed); i++) {
    name_sum sum = {0};
    for (int worker = 0; worker < XP_MOST_WORKERS; worker++) {
      if (a->tables[worker] != NULL) {
        add_total(&sum, &a->tables[worker][first_row + i]);
      }
    }
    if (sum.count > 0) {
      add_row(a, context, plane->event_meta[i].name, &sum);
    }
  }
}

static int by_total(const void *a, const void *b)
{
  const xp_name_total *x = a, *y = b;
  int order = (x->total_ps < y->total_ps) - (x->total_ps > y->total_ps);
  return order != 0 ? order : xp_str_cmp(x->name, y->name);
}

void xp_aggregate_by_name(const xp_capture *capture, bool (*wanted)(void *context, const xp_line *line), void *context,
                          int threads, xp_arena *arena, xp_name_total **rows, size_t *count)
{
  jmp_buf *escape = xp_arena_set_escape(arena, NULL);
  aggregation a = {.rows = 0};
  atomic_init(&a.failed, false);
  line_filter filter = {wanted, context, arena, 0};
  each_plane(&a, capture, collect_items, &filter);
  if (!atomic_load(&a.failed)) {
    xp_parallel(a.item_count, threads, sum_item, &a);
  }
  result r = {.arena = arena};
  xp_intern_init(&r.names, arena);
  if (!atomic_load(&a.failed)) {
    each_plane(&a, capture, put_together, &r);
  }
  for (int worker = 0; worker < XP_MOST_WORKERS; worker++) {
    xp_arena_destroy(a.arenas[worker]);
  }
  xp_arena_set_escape(arena, escape);
  bool failed = atomic_load(&a.failed);
  *rows = failed ? xp_arena_array(arena, SIZE_MAX, 2) : r.rows; /* escapes */
  *count = failed ? 0 : r.names.count;
  if (*count > 0) {
    qsort(*rows, *count, sizeof **rows, by_total);
  }
}
