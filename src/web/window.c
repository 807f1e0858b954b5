/* What one screen needs: the blocks of each row that was asked for, as columns.
 *
 * Places are in pixels from the left edge and cut at both edges, so that 32 bits are exact enough for drawing however
 * far an event reaches.
 */
#include <stdlib.h>

#include "json/utf8.h"
#include "web/frame.h"
#include "web/handlers.h"
#include "web/kinds.h"
#include "web/search.h"

enum { MAGIC = 0x57505856, NAMED_PIXELS = 12, NAME_BYTES = 120, MOST_WIDTH = 8192, HEADER_BYTES = 40, COLUMNS = 7 };

enum { STYLE_LEFT = 1 << 16, STYLE_RIGHT = 1 << 17, STYLE_MERGED = 1 << 18, STYLE_MATCH = 1 << 19 };

typedef struct {
  float x, width, busy;
  uint32_t count, item, name, style;
} shape;

typedef struct {
  const xp_viewer *viewer;
  xp_arena *arena;
  xp_reply *reply;
  xp_times span;
  double pixel_ps;
  const xp_search *match; /* NULL: none */
  const xp_row_ref *rows;
  size_t row_count;
  uint32_t *first; /* shape of each row, and the end */
  shape *shapes;
  size_t count, capacity;
  xp_intern names;
  size_t name_bytes;
  /* the row at hand */
  const xp_track *track;
  uint32_t track_index, row;
} window;

/* ---- shapes */

/* A label in UTF-8, at most NAME_BYTES long. */
static xp_str clean_label(window *w, uint32_t item)
{
  xp_str label = xp_item_label(&w->viewer->tracks, w->track, item, w->arena);
  label = xp_utf8_clean(xp_str_take(label, 4 * NAME_BYTES), w->arena);
  size_t end = 0;
  while (end < label.len) {
    uint32_t code;
    size_t length = xp_utf8_next(label, end, &code);
    if (end + length > NAME_BYTES) {
      break;
    }
    end += length;
  }
  return xp_str_take(label, end);
}

static uint32_t name_of(window *w, uint32_t item)
{
  size_t known = w->names.count;
  xp_str label = clean_label(w, item);
  uint32_t name = xp_intern_add(&w->names, label);
  w->name_bytes += w->names.count > known ? label.len : 0;
  return name;
}

/* Shades follow the name and not the label: this needs no copy. */
static uint32_t shade_of(const window *w, uint32_t item)
{
  xp_str name;
  if (w->track->line != NULL) {
    name = xp_event_name(w->track->line, item);
  } else if (w->track->kind == XP_TRACK_GAPS) {
    name = w->track->gaps[item].scope;
  } else {
    name = xp_item_label(&w->viewer->tracks, w->track, item, w->arena);
  }
  return (uint32_t)(xp_str_hash(name) >> 56);
}

static bool matches(const window *w, const xp_lod_block *b)
{
  const xp_row *row = &w->track->rows[w->row];
  return w->match != NULL &&
         xp_search_hits(w->match, w->track_index, w->row, xp_row_item(row, b->first), xp_row_item(row, b->last));
}

static uint32_t style_of(const window *w, const xp_lod_block *b)
{
  uint32_t style = (uint32_t)xp_item_kind(&w->viewer->tracks, w->track, b->item) | shade_of(w, b->item) << 8;
  style |= b->start_ps < w->span.start_ps ? STYLE_LEFT : 0;
  style |= b->end_ps > w->span.end_ps ? STYLE_RIGHT : 0;
  style |= b->count > 1 ? STYLE_MERGED : 0;
  style |= matches(w, b) ? STYLE_MATCH : 0;
  if (w->track->kind == XP_TRACK_GAPS) {
    const xp_gap *gap = &w->track->gaps[b->item];
    style |= (uint32_t)gap->trigger << 20 | (uint32_t)gap->where << 22;
  }
  return style;
}

static void add_block(void *context, const xp_lod_block *b)
{
  window *w = context;
  int64_t start = b->start_ps > w->span.start_ps ? b->start_ps : w->span.start_ps;
  int64_t end = b->end_ps < w->span.end_ps ? b->end_ps : w->span.end_ps;
  double width = (double)(end - start) / w->pixel_ps;
  bool named = width >= NAMED_PIXELS;
  w->shapes = xp_arena_grow(w->arena, w->shapes, w->count, &w->capacity, sizeof *w->shapes);
  w->shapes[w->count++] = (shape){.x = (float)((double)(start - w->span.start_ps) / w->pixel_ps),
                                  .width = (float)width,
                                  .busy = (float)(b->count > 1 ? (double)b->total_ps / w->pixel_ps : width),
                                  .count = b->count,
                                  .item = b->item,
                                  .name = named ? name_of(w, b->item) : XP_NONE,
                                  .style = style_of(w, b)};
}

static void collect(window *w)
{
  w->first = xp_arena_array(w->arena, w->row_count + 1, sizeof *w->first);
  xp_intern_init(&w->names, w->arena);
  for (size_t i = 0; i < w->row_count; i++) {
    w->first[i] = (uint32_t)w->count;
    w->track_index = w->rows[i].track;
    w->track = &w->viewer->tracks.tracks[w->track_index];
    w->row = w->rows[i].row;
    xp_lod_walk(w->track, w->row, w->span.start_ps, w->span.end_ps, w->pixel_ps, add_block, w);
  }
  w->first[w->row_count] = (uint32_t)w->count;
}

/* ---- writing */

static size_t frame_size(const window *w)
{
  return HEADER_BYTES + xp_frame_aligned(16 * w->row_count) + COLUMNS * xp_frame_aligned(4 * w->count) +
         xp_frame_aligned(4 * (w->names.count + 1)) + w->name_bytes;
}

static void put_header(xp_frame *f, const window *w)
{
  xp_frame_u32(f, MAGIC);
  xp_frame_u32(f, 1);
  xp_frame_u32(f, (uint32_t)w->row_count);
  xp_frame_u32(f, (uint32_t)w->count);
  xp_frame_u32(f, (uint32_t)w->names.count);
  xp_frame_u32(f, (uint32_t)w->name_bytes);
  xp_frame_f64(f, (double)w->span.start_ps);
  xp_frame_f64(f, w->pixel_ps);
  for (size_t i = 0; i < w->row_count; i++) {
    xp_frame_u32(f, w->rows[i].track);
    xp_frame_u32(f, w->rows[i].row);
    xp_frame_u32(f, w->first[i]);
    xp_frame_u32(f, w->first[i + 1] - w->first[i]);
  }
  xp_frame_align(f);
}

static void put_numbers(xp_frame *f, const window *w, size_t field, bool is_float)
{
  for (size_t i = 0; i < w->count; i++) {
    const char *at = (const char *)&w->shapes[i] + field;
    if (is_float) {
      xp_frame_f32(f, *(const float *)(const void *)at);
    } else {
      xp_frame_u32(f, *(const uint32_t *)(const void *)at);
    }
  }
  xp_frame_align(f);
}

static void put_names(xp_frame *f, const window *w)
{
  uint32_t at = 0;
  for (size_t i = 0; i < w->names.count; i++) {
    xp_frame_u32(f, at);
    at += (uint32_t)w->names.strings[i].len;
  }
  xp_frame_u32(f, at);
  xp_frame_align(f);
  for (size_t i = 0; i < w->names.count; i++) {
    xp_frame_bytes(f, w->names.strings[i]);
  }
}

static void put_frame(xp_frame *f, const window *w)
{
  put_header(f, w);
  put_numbers(f, w, offsetof(shape, x), true);
  put_numbers(f, w, offsetof(shape, width), true);
  put_numbers(f, w, offsetof(shape, busy), true);
  put_numbers(f, w, offsetof(shape, count), false);
  put_numbers(f, w, offsetof(shape, item), false);
  put_numbers(f, w, offsetof(shape, name), false);
  put_numbers(f, w, offsetof(shape, style), false);
  put_names(f, w);
}

static void answer(void *context)
{
  window *w = context;
  xp_frame frame;
  collect(w);
  if (!xp_frame_open(&frame, frame_size(w))) {
    xp_arena_give_up(w->arena);
    return;
  }
  put_frame(&frame, w);
  xp_reply_clear(w->reply);
  *w->reply =
      (xp_reply){.status = 200, .type = "application/octet-stream", .bytes = (char *)frame.bytes, .size = frame.used};
}

void xp_web_window(xp_viewer *viewer, const xp_query *query, xp_reply *reply)
{
  xp_row_ref rows[XP_MOST_ROWS_ASKED];
  window w = {.viewer = viewer, .reply = reply, .rows = rows};
  int64_t width, match = 0;
  if (!xp_param_span(query, &w.span, reply) || !xp_param_int(query, "width", 1, MOST_WIDTH, &width, reply) ||
      !xp_param_int_or(query, "match", 0, UINT32_MAX, &match, reply) ||
      !xp_param_rows(viewer, query, rows, &w.row_count, reply)) {
    return;
  }
  w.pixel_ps = (double)(w.span.end_ps - w.span.start_ps) / (double)width;
  w.arena = xp_arena_create();
  w.match = xp_search_hold(viewer->searches, (uint32_t)match);
  if (w.arena == NULL || !xp_arena_guard(w.arena, answer, &w)) {
    xp_reply_fail(reply, 500, "Memory ran out while the answer was written");
  }
  xp_search_release(viewer->searches, w.match);
  xp_arena_destroy(w.arena);
}
