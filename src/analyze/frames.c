/* Python frames of a thread: found in the columns, since there are often millions of them.
 *
 * The frames open at a time are those that began before and have not ended.  To find them without reading everything
 * before, the latest end of every 64 events is kept, and of every 64 of these, and so on: a subtree whose latest end is
 * not after the time holds no open frame.
 */
#include "analyze/threads.h"

enum { FANOUT = 64, MAX_OPEN = 4096 };

static bool is_frame(const xp_thread *t, size_t event)
{
  if (!xp_event_has_time(t->line, event)) {
    return false;
  }
  return (xp_thread_class(t, event).flags & XP_NAME_FRAME) != 0;
}

void xp_thread_index_frames(xp_thread *t, xp_arena *arena)
{
  if (!t->has_frame || t->frame_levels) {
    return;
  }
  const xp_line *line = t->line;
  size_t below = line->count;
  for (int level = 0; level < 6 && below > 1; level++) {
    size_t count = (below + FANOUT - 1) / FANOUT;
    int64_t *ends = xp_arena_array(arena, count, sizeof *ends);
    for (size_t i = 0; i < count; i++) {
      ends[i] = INT64_MIN;
    }
    for (size_t i = 0; i < below; i++) {
      int64_t end = level ? t->frame_ends[level - 1][i] : xp_event_end(line, i);
      if (end > ends[i / FANOUT]) {
        ends[i / FANOUT] = end;
      }
    }
    t->frame_ends[level] = ends;
    t->frame_end_count[level] = count;
    t->frame_levels = level + 1;
    below = count;
  }
}

typedef struct {
  const xp_thread *t;
  int64_t time_ps;
  uint32_t *open; /* innermost first */
  size_t count;
} search;

/* Collects open frames among events [0, limit) that lie below one node, last ones first. */
static void collect(search *s, int level, size_t node, size_t limit)
{
  size_t first = node * FANOUT, below = level ? s->t->frame_end_count[level - 1] : s->t->line->count;
  size_t span = 1; /* events below one child */
  for (int i = 0; i < level; i++) {
    span *= FANOUT;
  }
  size_t last = (limit + span - 1) / span; /* behind the last child that holds an event before the limit */
  last = last < first + FANOUT ? last : first + FANOUT;
  last = last < below ? last : below;
  for (size_t child = last; child > first && s->count < MAX_OPEN;) {
    child--;
    if (level) {
      if (s->t->frame_ends[level - 1][child] > s->time_ps) {
        collect(s, level - 1, child, limit);
      }
    } else if (xp_event_end(s->t->line, child) > s->time_ps && is_frame(s->t, child)) {
      s->open[s->count++] = (uint32_t)child;
    }
  }
}

static size_t first_from(const xp_line *line, int64_t time_ps)
{
  size_t low = 0, high = line->count;
  while (low < high) {
    size_t mid = low + (high - low) / 2;
    if (line->start_ps[mid] < time_ps) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

/* Frames with start <= time < end, innermost first, into open[MAX_OPEN]; returns their number. */
static size_t open_frames(const xp_thread *t, int64_t time_ps, uint32_t *open)
{
  if (!t->has_frame || t->line->count == 0) {
    return 0;
  }
  search s = {t, time_ps, open, 0};
  size_t limit = first_from(t->line, time_ps == INT64_MAX ? time_ps : time_ps + 1);
  if (t->frame_levels == 0) { /* a single event */
    if (limit && xp_event_end(t->line, 0) > time_ps && is_frame(t, 0)) {
      open[s.count++] = 0;
    }
    return s.count;
  }
  int top = t->frame_levels - 1;
  for (size_t node = t->frame_end_count[top]; node-- > 0;) {
    if (t->frame_ends[top][node] > time_ps) {
      collect(&s, top, node, limit);
    }
  }
  return s.count;
}

static xp_str pick(const xp_thread *t, const uint32_t *frames, size_t count, bool innermost_first)
{
  for (size_t i = 0; i < count; i++) {
    uint32_t frame = frames[innermost_first ? i : count - 1 - i];
    if (!(xp_thread_class(t, frame).flags & XP_NAME_LIBRARY)) {
      return xp_event_name(t->line, frame);
    }
  }
  return count ? xp_event_name(t->line, frames[innermost_first ? 0 : count - 1]) : (xp_str){NULL, 0};
}

xp_str xp_thread_frame(const xp_thread *t, int64_t time_ps)
{
  uint32_t open[MAX_OPEN];
  size_t count = open_frames(t, time_ps, open);
  return pick(t, open, count, true);
}

void xp_thread_frames(const xp_thread *t, int64_t from_ps, int64_t to_ps,
                      void (*visit)(void *context, int64_t from_ps, int64_t to_ps, xp_str frame), void *context)
{
  const xp_line *line = t->line;
  uint32_t stack[MAX_OPEN]; /* outermost first */
  size_t depth = open_frames(t, from_ps, stack);
  for (size_t i = 0; i < depth / 2; i++) {
    uint32_t swap = stack[i];
    stack[i] = stack[depth - 1 - i];
    stack[depth - 1 - i] = swap;
  }
  int64_t at = from_ps;
  size_t next = t->has_frame ? first_from(line, from_ps + 1) : line->count;
  while (at < to_ps) {
    while (next < line->count && (!is_frame(t, next) || xp_event_dur(line, next) <= 0) &&
           line->start_ps[next] < to_ps) {
      next++;
    }
    int64_t until = next < line->count && line->start_ps[next] < to_ps ? line->start_ps[next] : to_ps;
    if (depth && xp_event_end(line, stack[depth - 1]) < until) {
      until = xp_event_end(line, stack[depth - 1]);
    }
    if (until > at) {
      visit(context, at, until, pick(t, stack, depth, false));
      at = until;
    }
    while (depth && xp_event_end(line, stack[depth - 1]) <= at) {
      depth--;
    }
    if (next < line->count && line->start_ps[next] == at && at < to_ps) {
      if (depth < MAX_OPEN) {
        stack[depth++] = (uint32_t)next;
      }
      next++;
    }
  }
}
