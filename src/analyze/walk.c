/* Reading one thread: which event, scope or frame a stretch of its time belongs to.
 *
 * A stretch is a time in which the same entries are open.  The innermost entry with a class gives the class, else the
 * innermost entry is host.  Where nothing is open, Python frames are looked at, or the thread on which a step is open.
 */
#include "analyze/walk.h"

static bool is_same(const xp_part *p, const xp_stretch *v)
{
  return p->cause == v->cause && p->maybe_tracing == v->maybe && xp_str_eq(p->scope, v->scope) &&
         xp_str_eq(p->event, v->event) && xp_str_eq(p->detail, v->detail);
}

static uint64_t key_of(const xp_stretch *v)
{
  uint64_t key = (uint64_t)(uintptr_t)v->scope.ptr * 31 + (uint64_t)(uintptr_t)v->event.ptr;
  return (key * 31 + (uint64_t)(uintptr_t)v->detail.ptr) * 64 + (uint64_t)v->cause * 2 + v->maybe;
}

/* The part that a stretch belongs to; their number if there is none.  Gaps have few parts, but for those with very many
 * Python frames: then a table by address finds the part of a name that was seen before. */
static size_t find_part(xp_parts *out, const xp_stretch *v)
{
  enum { FEW = 16 };
  size_t last = out->last[v->cause];
  if (last < out->count && is_same(&out->parts[last], v)) {
    return last;
  }
  if (out->count > FEW) {
    uint32_t known = xp_map_get(&out->index, key_of(v));
    if (known < out->count && is_same(&out->parts[known], v)) {
      return known;
    }
  }
  size_t i = 0;
  while (i < out->count && !is_same(&out->parts[i], v)) {
    i++;
  }
  if (out->count > FEW) {
    xp_map_put(&out->index, key_of(v), (uint32_t)i);
  }
  return i;
}

void xp_walk_book(xp_walk *w, int64_t from, int64_t to, const xp_stretch *v)
{
  xp_parts *out = w->out;
  if (to <= from) {
    return;
  }
  size_t i = find_part(out, v);
  if (i == out->count) {
    out->parts = xp_arena_grow(out->arena, out->parts, out->count, &out->capacity, sizeof *out->parts);
    out->parts[out->count++] = (xp_part){v->cause, 0, v->scope, v->event, v->detail, v->maybe};
  }
  out->parts[i].ps += to - from;
  out->last[v->cause] = i;
  if (v->cause != XP_CAUSE_PROFILER && to - from > out->longest_ps) {
    out->longest_ps = to - from;
    out->longest_at_ps = from;
    out->longest_thread = v->thread;
    out->longest_entry = v->entry;
  }
}

static bool is_wait_or_read(uint8_t cause)
{
  return cause == XP_CAUSE_VALUE_REQUEST || cause == XP_CAUSE_WAIT;
}

/* The name of the PjitFunction around an entry; empty without one. */
static xp_str pjit_around(const xp_thread *t, uint32_t entry, int64_t time)
{
  for (uint32_t e = entry; e != XP_NONE; e = xp_thread_outer(t, e, time)) {
    if (t->flags[e] & XP_ENTRY_PJIT) {
      return xp_entry_name(t, e);
    }
  }
  return xp_str_from(NULL, 0);
}

/* The scope shown for a stretch.  Stretches of one gap mostly share it, so the last one is kept. */
static xp_str scope_at(const xp_walk *w, const xp_thread *t, uint32_t innermost, int64_t time)
{
  xp_parts *out = w->out;
  if (innermost == XP_NONE || t->overlaps) {
    return xp_thread_scope_from(t, innermost, time);
  }
  if (innermost < out->scoped.first || innermost >= out->scoped.stop || t->index != out->scope_thread) {
    out->scoped = xp_thread_scope_of(t, innermost);
    out->scope_thread = t->index;
    out->scope = out->scoped.scope == XP_NONE ? xp_str_from(NULL, 0) : xp_entry_name(t, out->scoped.scope);
  }
  return out->scope;
}

static xp_stretch classed(const xp_walk *w, const xp_thread *t, uint32_t innermost, uint32_t entry, int64_t from,
                          int64_t to)
{
  xp_cause cause = (xp_cause)t->cause[entry];
  xp_stretch v = {.cause = cause, .scope = scope_at(w, t, innermost, from), .thread = t->index, .entry = entry};
  v.event = xp_entry_name(t, cause == XP_CAUSE_DISPATCH ? innermost : entry);
  if (cause == XP_CAUSE_COMPILE || cause == XP_CAUSE_TRACING) {
    xp_str pjit = pjit_around(t, entry, from);
    v.event = pjit.len ? pjit : v.event;
  }
  if (cause == XP_CAUSE_WAIT) {
    v.detail = xp_wait_detail(w, from, to);
  }
  return v;
}

static xp_stretch plain_host(const xp_walk *w, const xp_thread *t, uint32_t innermost, int64_t from)
{
  xp_stretch v = {
      .cause = XP_CAUSE_HOST, .scope = scope_at(w, t, innermost, from), .thread = t->index, .entry = innermost};
  v.event = xp_entry_name(t, innermost);
  v.scope = v.scope.len ? v.scope : v.event;
  bool in_scope = false;
  for (uint32_t e = innermost; e != XP_NONE && !in_scope; e = xp_thread_outer(t, e, from)) {
    in_scope = (t->flags[e] & XP_ENTRY_SCOPE) != 0;
  }
  v.maybe = in_scope && !w->an->names_on && (w->an->devices.lazy || w->an->threads.torch);
  return v;
}

static xp_stretch launching(const xp_walk *w, const xp_thread *t, uint32_t innermost, int64_t from)
{
  return (xp_stretch){
      .cause = XP_CAUSE_LAUNCH, .scope = scope_at(w, t, innermost, from), .thread = t->index, .entry = innermost};
}

/* The same three in short, where nothing but cause and scope is asked for. */
static void book_summary(xp_walk *w, const xp_thread *t, uint32_t innermost, uint32_t found, int64_t from, int64_t to)
{
  xp_parts *out = w->out;
  xp_cause cause = found == XP_NONE ? XP_CAUSE_HOST : (xp_cause)t->cause[found];
  xp_str scope = scope_at(w, t, innermost, from);
  if (cause == XP_CAUSE_HOST && scope.len == 0) {
    scope = xp_entry_name(t, innermost);
  }
  size_t last = out->last[cause];
  if (last < out->count && out->parts[last].cause == cause && xp_str_eq(out->parts[last].scope, scope)) {
    out->parts[last].ps += to - from; /* nothing else is asked of a summary */
    return;
  }
  xp_stretch v = {.cause = cause, .scope = scope, .thread = t->index, .entry = innermost};
  xp_walk_book(w, from, to, &v);
}

typedef struct {
  xp_walk *w;
  const xp_thread *t;
} frame_walk;

static void book_frame(void *context, int64_t from, int64_t to, xp_str frame)
{
  frame_walk *f = context;
  xp_stretch v = {.cause = frame.len ? XP_CAUSE_HOST : XP_CAUSE_UNKNOWN,
                  .scope = frame,
                  .event = f->w->out->details ? frame : (xp_str){NULL, 0},
                  .thread = frame.len ? f->t->index : XP_NONE,
                  .entry = XP_NONE};
  xp_walk_book(f->w, from, to, &v);
}

/* Another thread on which a step is open: the program's own thread. */
static const xp_thread *thread_with_step(const xp_walk *w, const xp_thread *not_this, int64_t time, int64_t *until)
{
  const xp_threads *all = &w->an->threads;
  for (size_t i = 0; i < all->step_thread_count; i++) {
    const xp_thread *t = &all->threads[all->step_threads[i]];
    bool held = t == not_this;
    for (int h = 0; w->launch && h < w->launch->hop_count; h++) {
      held = held || xp_launch_hop(w->launch, h).thread == t->index;
    }
    if (held || t->host != w->d->host) {
      continue;
    }
    for (uint32_t e = xp_thread_innermost(t, time); e != XP_NONE; e = xp_thread_outer(t, e, time)) {
      if (t->flags[e] & XP_ENTRY_STEP) {
        *until = xp_entry_end(t, e);
        return t;
      }
    }
  }
  return NULL;
}

static bool has_frame_at(xp_walk *w, uint32_t thread, int64_t time)
{
  const xp_thread *t = &w->an->threads.threads[thread];
  return t->has_frame && xp_thread_frame(t, time).len > 0;
}

/* A stretch in which no event of the thread is open. */
static void uncovered(xp_walk *w, uint32_t thread, int64_t from, int64_t to, bool borrowed)
{
  const xp_thread *t = &w->an->threads.threads[thread];
  while (from < to) {
    int64_t until = to;
    const xp_thread *other = borrowed || has_frame_at(w, thread, from) ? NULL : thread_with_step(w, t, from, &until);
    until = until < to ? until : to;
    if (other) {
      xp_walk_thread(w, other->index, from, until, false, true);
    } else {
      frame_walk f = {w, t};
      until = to;
      xp_thread_frames(t, from, to, book_frame, &f);
    }
    from = until;
  }
}

/* End of the stretch from `time` on in which the same entries are open. */
static int64_t stretch_end(const xp_thread *t, uint32_t innermost, uint32_t next, int64_t time, int64_t limit)
{
  int64_t end = limit;
  if (next < t->count && xp_entry_start(t, next) < end) {
    end = xp_entry_start(t, next);
  }
  for (uint32_t e = innermost; e != XP_NONE; e = t->overlaps ? xp_thread_outer(t, e, time) : XP_NONE) {
    end = xp_entry_end(t, e) < end ? xp_entry_end(t, e) : end; /* where events nest, the innermost ends first */
  }
  return end;
}

/* Where to look first: where the last walk of the thread ended, or else at the launch that ends the gap. */
static uint32_t likely(const xp_walk *w, const xp_thread *t)
{
  uint32_t at = 0;
  if (w->out->hints) {
    at = w->out->hints[t->index];
  } else if (w->launch && w->launch->thread == t->index && w->launch->entry != XP_NONE) {
    at = w->launch->entry;
  }
  return at < t->count ? at : (uint32_t)t->count;
}

/* The first entry after a time: from a likely place in steps that double, to the side on which it lies, and then by
 * halves. */
static uint32_t first_after(const xp_walk *w, const xp_thread *t, int64_t time)
{
  uint32_t low = likely(w, t), high = low, step = 1;
  bool before = low > 0 && xp_entry_start(t, low - 1) > time;
  while (before && low > 0 && xp_entry_start(t, low - 1) > time) {
    high = low - 1;
    low = high > step ? high - step : 0;
    step *= 2;
  }
  while (!before && high < t->count && xp_entry_start(t, high) <= time) {
    low = high + 1;
    high = t->count - high > step ? high + step : (uint32_t)t->count;
    step *= 2;
  }
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (xp_entry_start(t, mid) <= time) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  if (w->out->hints) {
    w->out->hints[t->index] = low;
  }
  return low;
}

void xp_walk_thread(xp_walk *w, uint32_t thread, int64_t from, int64_t to, bool returned, bool borrowed)
{
  const xp_thread *t = &w->an->threads.threads[thread];
  for (uint32_t next = first_after(w, t, from); from < to;) {
    uint32_t innermost = next ? next - 1 : XP_NONE;
    if (innermost != XP_NONE && xp_entry_end(t, innermost) <= from) {
      innermost = xp_thread_outer(t, innermost, from);
    }
    int64_t until = stretch_end(t, innermost, next, from, to);
    uint32_t found = innermost;
    while (found != XP_NONE && (returned ? !is_wait_or_read(t->cause[found]) : t->cause[found] == XP_CAUSE_HOST)) {
      found = xp_thread_outer(t, found, from);
    }
    xp_stretch v;
    if (!w->out->details && (found != XP_NONE || (innermost != XP_NONE && !returned))) {
      book_summary(w, t, innermost, found, from, until);
    } else if (found != XP_NONE) {
      v = classed(w, t, innermost, found, from, until);
      xp_walk_book(w, from, until, &v);
    } else if (returned) {
      v = launching(w, t, innermost, from);
      xp_walk_book(w, from, until, &v);
    } else if (innermost != XP_NONE) {
      v = plain_host(w, t, innermost, from);
      xp_walk_book(w, from, until, &v);
    } else {
      uncovered(w, thread, from, until, borrowed);
    }
    from = until;
    while (next < t->count && xp_entry_start(t, next) <= from) {
      next++;
    }
  }
}
