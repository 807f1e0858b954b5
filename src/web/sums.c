/* What ran in a span of time, by name: a pass over the items of the rows that were asked for.
 *
 * Events of one plane share their names by number, so that each name is looked up once and not for each event. */
#include <stdlib.h>

#include "report/fields.h"
#include "web/handlers.h"
#include "web/kinds.h"

enum { ROWS = 100, MOST_ROWS_SHOWN = 1000 };

typedef struct {
  xp_str name;
  uint64_t count;
  int64_t total_ps, min_ps, max_ps;
  uint32_t track, longest;
} sum_row;

typedef struct {
  const xp_viewer *viewer;
  xp_times span;
  const xp_row_ref *refs;
  size_t ref_count, limit;
  xp_arena *arena;
  const xp_plane *plane; /* of the row at hand */
  uint32_t *row_of_meta; /* by event metadata of this plane; XP_NONE: not met yet */
  xp_intern names;
  sum_row *rows;
  size_t capacity;
  uint64_t total;
} sums;

static uint32_t row_of_name(sums *s, xp_str name)
{
  size_t before = s->names.count;
  uint32_t row = xp_intern_add(&s->names, name);
  s->rows = xp_arena_grow(s->arena, s->rows, before, &s->capacity, sizeof *s->rows);
  if (s->names.count > before) {
    s->rows[row] = (sum_row){.name = name, .min_ps = INT64_MAX, .max_ps = -1};
  }
  return row;
}

static void begin_plane(sums *s, const xp_plane *plane)
{
  if (plane != s->plane) {
    s->plane = plane;
    s->row_of_meta = xp_arena_array(s->arena, plane->event_meta_count, sizeof *s->row_of_meta);
    memset(s->row_of_meta, 0xff, plane->event_meta_count * sizeof *s->row_of_meta);
  }
}

static uint32_t row_of_item(sums *s, const xp_track *track, uint32_t item)
{
  if (track->line == NULL) {
    return row_of_name(s, xp_item_label(&s->viewer->tracks, track, item, s->arena));
  }
  uint32_t *row = &s->row_of_meta[track->line->meta[item] & XP_EVENT_META_MASK];
  if (*row == XP_NONE) {
    *row = row_of_name(s, xp_event_name(track->line, item));
  }
  return *row;
}

static void add_item(sums *s, uint32_t track, uint32_t item, xp_times t)
{
  int64_t start = t.start_ps > s->span.start_ps ? t.start_ps : s->span.start_ps;
  int64_t end = t.end_ps < s->span.end_ps ? t.end_ps : s->span.end_ps;
  uint32_t number = row_of_item(s, &s->viewer->tracks.tracks[track], item); /* may move the rows */
  sum_row *row = &s->rows[number];
  row->count++;
  xp_sum_add(&row->total_ps, end - start);
  row->min_ps = end - start < row->min_ps ? end - start : row->min_ps;
  if (end - start > row->max_ps) {
    row->max_ps = end - start;
    row->track = track;
    row->longest = item;
  }
  s->total++;
}

/* The first of a row that ends after the span begins. */
static uint32_t first_in_span(const sums *s, const xp_track *track, const xp_row *row)
{
  uint32_t low = 0, high = row->count;
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (xp_item_times(track, xp_row_item(row, mid)).end_ps <= s->span.start_ps) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

static void add_row(sums *s, xp_row_ref ref)
{
  const xp_track *track = &s->viewer->tracks.tracks[ref.track];
  const xp_row *row = &track->rows[ref.row];
  if (track->line != NULL) {
    begin_plane(s, track->line->plane);
  }
  for (uint32_t i = first_in_span(s, track, row); i < row->count; i++) {
    uint32_t item = xp_row_item(row, i);
    xp_times t = xp_item_times(track, item);
    if (t.start_ps >= s->span.end_ps) {
      break;
    }
    add_item(s, ref.track, item, t);
  }
}

static int by_total(const void *a, const void *b)
{
  const sum_row *x = a, *y = b;
  if (x->total_ps != y->total_ps) {
    return x->total_ps > y->total_ps ? -1 : 1;
  }
  return xp_str_cmp(x->name, y->name);
}

static void row_json(xp_json *json, const xp_viewer *v, const sum_row *row)
{
  xp_json_object_line(json);
  xp_json_key(json, "name");
  xp_json_str(json, row->name);
  xp_field_uint(json, "count", row->count);
  xp_field_int(json, "total_ps", row->total_ps);
  xp_field_int(json, "mean_ps", (int64_t)((double)row->total_ps / (double)row->count + 0.5));
  xp_field_int(json, "min_ps", row->min_ps);
  xp_field_int(json, "max_ps", row->max_ps);
  xp_field_place(json, "longest", v, row->track, row->longest);
  xp_json_object_end(json);
}

static void sums_json(void *context, xp_json *json, const xp_view *view)
{
  sums *s = context;
  s->arena = view->printer->arena;
  xp_intern_init(&s->names, s->arena);
  for (size_t i = 0; i < s->ref_count; i++) {
    add_row(s, s->refs[i]);
  }
  if (s->names.count > 1) {
    qsort(s->rows, s->names.count, sizeof *s->rows, by_total);
  }
  xp_field_uint(json, "total", s->total);
  xp_field_uint(json, "names", s->names.count);
  xp_json_key(json, "rows");
  xp_json_array(json);
  for (size_t i = 0; i < s->names.count && i < s->limit; i++) {
    row_json(json, s->viewer, &s->rows[i]);
  }
  xp_json_array_end(json);
}

void xp_web_sums(xp_viewer *viewer, const xp_query *query, xp_reply *reply)
{
  xp_row_ref refs[XP_MOST_ROWS_ASKED];
  sums s = {.viewer = viewer, .refs = refs};
  int64_t limit = ROWS;
  if (xp_param_span(query, &s.span, reply) && xp_param_int_or(query, "limit", 0, MOST_ROWS_SHOWN, &limit, reply) &&
      xp_param_rows(viewer, query, refs, &s.ref_count, reply)) {
    s.limit = (size_t)limit;
    xp_reply_json(reply, viewer, "xlaprof.view.sums/1", sums_json, &s);
  }
}
