/* Reading the events of a thread by their start.
 *
 * They lie in the order in which they began, but for a few: events that were recorded when they were over, open ones
 * that moved when their chunk was taken again, and instants at the very moment of another event's begin.  Call those
 * that should stand before an earlier one strays.  One pass when the cursor opens collects and sorts the strays;
 * reading then merges them with the others, which are in order.  Arguments that were added later are collected in the
 * same pass.
 *
 * A name that was copied lies in its slot.  The cursor gives equal names one address, that of the first it meets.
 */
#include <stdio.h>
#include <stdlib.h>

#include "annotate/recording.h"
#include "annotate/slot.h"
#include "base/map.h"

/* Where an event stands: by start, longer ones first. */
typedef struct {
  uint64_t start, end; /* ticks */
} place;

typedef struct {
  place at;
  size_t number; /* equal ones keep their order */
  const xp_slot *slot;
} stray;

typedef struct {
  uint32_t serial;
  size_t number;
  const xp_slot *slot;
} added;

/* Walks over all slots of a thread. */
typedef struct {
  const xp_chunk *chunk;
  const char *pos;
} walk;

struct xp_recorded_cursor {
  const xp_recording_data *data;
  const xp_recording_part *part;
  xp_arena *arena; /* of what follows */
  xp_intern names;
  stray *strays;
  size_t stray_count;
  added *added;
  size_t added_count;
  xp_arg *args;  /* of one event that has added ones */
  char lost[32]; /* how many of them are missing, when only a part of that is known */

  walk walk;
  place last;          /* of the ordered events so far */
  const xp_slot *head; /* the next ordered one */
  size_t next_stray;
};

/* ---------------------------------------------------------------- walking */

static walk walk_from(const xp_chunk *first)
{
  walk w = {first, first != NULL ? (const char *)(first + 1) : NULL};
  return w;
}

static const xp_slot *walk_next(walk *w)
{
  while (w->chunk != NULL) {
    if (w->chunk->end != NULL && w->pos < w->chunk->end) {
      const xp_slot *slot = (const xp_slot *)w->pos;
      w->pos += xp_slot_bytes(slot);
      return slot;
    }
    *w = walk_from(w->chunk->next);
  }
  return NULL;
}

static place place_of(const xp_recorded_cursor *cursor, const xp_slot *slot)
{
  uint64_t origin = cursor->data->scale.origin;
  place at = {slot->start > origin ? slot->start : origin, slot->end != 0 ? slot->end : cursor->part->last_ticks};
  at.end = at.end > at.start ? at.end : at.start;
  return at;
}

static bool is_before(place a, place b)
{
  return a.start != b.start ? a.start < b.start : a.end > b.end;
}

/* The next event that is no stray, NULL at the end. */
static const xp_slot *next_ordered(xp_recorded_cursor *cursor)
{
  for (const xp_slot *slot; (slot = walk_next(&cursor->walk)) != NULL;) {
    if (slot->head & XP_SLOT_ADDED) {
      continue;
    }
    place at = place_of(cursor, slot);
    if (!is_before(at, cursor->last)) {
      cursor->last = at;
      return slot;
    }
  }
  return NULL;
}

/* ---------------------------------------------------------------- opening */

/* Counts the strays and the added arguments, or puts them into their arrays, which have room for all. */
static void collect(xp_recorded_cursor *cursor, bool is_counting)
{
  walk w = walk_from(cursor->part->first);
  place last = {0, UINT64_MAX};
  cursor->stray_count = cursor->added_count = 0;
  for (const xp_slot *slot; (slot = walk_next(&w)) != NULL;) {
    if (slot->head & XP_SLOT_ADDED) {
      if (!is_counting) {
        cursor->added[cursor->added_count] = (added){xp_slot_serial(slot), cursor->added_count, slot};
      }
      cursor->added_count++;
      continue;
    }
    place at = place_of(cursor, slot);
    if (!is_before(at, last)) {
      last = at;
      continue;
    }
    if (!is_counting) {
      cursor->strays[cursor->stray_count] = (stray){at, cursor->stray_count, slot};
    }
    cursor->stray_count++;
  }
}

static int by_place(const void *a, const void *b)
{
  const stray *x = a, *y = b;
  return is_before(x->at, y->at) ? -1 : is_before(y->at, x->at) ? 1 : x->number < y->number ? -1 : 1;
}

static int by_serial(const void *a, const void *b)
{
  const added *x = a, *y = b;
  return x->serial != y->serial ? (x->serial < y->serial ? -1 : 1) : x->number < y->number ? -1 : 1;
}

/* The most arguments that were added to one event. */
static size_t longest_run(const xp_recorded_cursor *cursor)
{
  size_t longest = 0, run = 0;
  for (size_t i = 0; i < cursor->added_count; i++) {
    run = i > 0 && cursor->added[i].serial == cursor->added[i - 1].serial ? run + 1 : 1;
    longest = run > longest ? run : longest;
  }
  return longest;
}

static bool prepare(xp_recorded_cursor *cursor)
{
  collect(cursor, true);
  cursor->strays = xp_arena_array(cursor->arena, cursor->stray_count, sizeof *cursor->strays);
  cursor->added = xp_arena_array(cursor->arena, cursor->added_count, sizeof *cursor->added);
  if (cursor->strays == NULL || cursor->added == NULL) {
    return false;
  }
  if (cursor->stray_count + cursor->added_count > 0) {
    collect(cursor, false);
    qsort(cursor->strays, cursor->stray_count, sizeof *cursor->strays, by_place);
    qsort(cursor->added, cursor->added_count, sizeof *cursor->added, by_serial);
  }
  size_t args = XP_SLOT_ARGS_MAX + longest_run(cursor) + 1;
  cursor->args = xp_arena_array(cursor->arena, args, sizeof *cursor->args);
  return cursor->args != NULL;
}

xp_recorded_cursor *xp_recorded_cursor_open(const xp_recording *recording, size_t thread)
{
  xp_recorded_cursor *cursor = calloc(1, sizeof *cursor);
  if (cursor == NULL) {
    return NULL;
  }
  cursor->data = (const xp_recording_data *)recording;
  cursor->part = &cursor->data->parts[thread];
  cursor->arena = xp_arena_create();
  if (cursor->arena == NULL || !prepare(cursor)) {
    xp_recorded_cursor_close(cursor);
    return NULL;
  }
  xp_intern_init(&cursor->names, cursor->arena);
  xp_recorded_cursor_rewind(cursor);
  return cursor;
}

void xp_recorded_cursor_rewind(xp_recorded_cursor *cursor)
{
  cursor->walk = walk_from(cursor->part->first);
  cursor->last = (place){0, UINT64_MAX};
  cursor->next_stray = 0;
  cursor->head = next_ordered(cursor);
}

void xp_recorded_cursor_close(xp_recorded_cursor *cursor)
{
  if (cursor != NULL) {
    xp_arena_destroy(cursor->arena);
    free(cursor);
  }
}

/* ---------------------------------------------------------------- reading */

static const xp_slot *next_slot(xp_recorded_cursor *cursor)
{
  if (cursor->next_stray < cursor->stray_count) {
    const stray *next = &cursor->strays[cursor->next_stray];
    if (cursor->head == NULL || is_before(next->at, place_of(cursor, cursor->head))) {
      cursor->next_stray++;
      return next->slot;
    }
  }
  const xp_slot *slot = cursor->head;
  if (slot != NULL) {
    cursor->head = next_ordered(cursor);
  }
  return slot;
}

static xp_str read_name(xp_recorded_cursor *cursor, const xp_slot *slot)
{
  xp_str name = xp_str_c(slot->name);
  if (slot->head & XP_SLOT_COPIED_NAME) {
    uint32_t len;
    memcpy(&len, slot->name - sizeof len, sizeof len);
    name = xp_str_from(slot->name, len);
    uint32_t number = xp_intern_add(&cursor->names, name);
    name = number != XP_NONE ? cursor->names.strings[number] : name;
  }
  return name.len > 0 ? name : xp_str_c("(no name)");
}

/* Appends the arguments that were added to an event.  Returns how many of them had to leave their chunk; the last ones
 * stay longest, so they know. */
static uint64_t append_added(xp_recorded_cursor *cursor, uint32_t serial, size_t *count)
{
  size_t low = 0, high = cursor->added_count;
  uint64_t found = 0, written = 0;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (cursor->added[middle].serial < serial) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  for (; low < cursor->added_count && cursor->added[low].serial == serial; low++, found++) {
    cursor->args[(*count)++] = cursor->added[low].slot->args[0];
    written = cursor->added[low].slot->start;
  }
  return written > found ? written - found : 0;
}

/* A number, or a text if there may be more. */
static xp_arg lost_arg(xp_recorded_cursor *cursor, uint64_t lost, bool may_be_more)
{
  if (!may_be_more) {
    return xp_arg_uint("args_dropped", lost);
  }
  int len = snprintf(cursor->lost, sizeof cursor->lost, "%llu or more", (unsigned long long)lost);
  return xp_arg_str_copy("args_dropped", cursor->lost, (size_t)len);
}

static void read_args(xp_recorded_cursor *cursor, const xp_slot *slot, xp_recorded_event *event)
{
  event->args = slot->args;
  event->arg_count = xp_slot_arg_count(slot);
  uint64_t lost = xp_slot_lost(slot);
  bool has_added = slot->head & XP_SLOT_HAS_ADDED;
  if (!has_added && lost == 0) {
    return;
  }
  bool may_be_more = lost == XP_SLOT_LOST_MAX / XP_SLOT_LOST_ONE;
  size_t count = event->arg_count;
  memcpy(cursor->args, slot->args, count * sizeof *slot->args);
  if (has_added) {
    lost += append_added(cursor, xp_slot_serial(slot), &count);
    bool is_any_here = count > event->arg_count;
    lost += !is_any_here;
    may_be_more = may_be_more || !is_any_here;
  }
  if (lost > 0) {
    cursor->args[count++] = lost_arg(cursor, lost, may_be_more);
  }
  event->args = cursor->args;
  event->arg_count = count;
}

bool xp_recorded_cursor_next(xp_recorded_cursor *cursor, xp_recorded_event *event)
{
  const xp_slot *slot = next_slot(cursor);
  if (slot == NULL) {
    return false;
  }
  place at = place_of(cursor, slot);
  event->name = read_name(cursor, slot);
  event->start_ps = xp_clock_ps(&cursor->data->scale, at.start);
  event->dur_ps = xp_clock_ps(&cursor->data->scale, at.end) - event->start_ps;
  event->unfinished = slot->end == 0;
  read_args(cursor, slot, event);
  return true;
}
