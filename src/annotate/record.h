/* Writing slots into the calling thread's chunks.  All of it between xp_tracer_enter and xp_tracer_leave. */
#ifndef XP_ANNOTATE_RECORD_H
#define XP_ANNOTATE_RECORD_H

#include "annotate/clock.h"
#include "annotate/tracer.h"

/* Room for `bytes` (a multiple of 8) in a new chunk, or in the thread's oldest; NULL if there is none. */
char *xp_record_room_slow(xp_tracer *self, size_t bytes);

static inline char *xp_record_room(xp_tracer *self, size_t bytes)
{
  char *at = self->pos;
  if (__builtin_expect((size_t)(self->limit - at) < bytes, 0)) {
    return xp_record_room_slow(self, bytes);
  }
  self->pos = at + bytes;
  return at;
}

/* What an event is made of.  len: of the name, XP_NAME_STATIC for one that need not be copied. */
typedef struct {
  const char *name;
  uint32_t len;
  uint32_t serial;
  const xp_arg *args;
  size_t arg_count;
} xp_record_what;

xp_slot *xp_record_event_slow(xp_tracer *self, const xp_record_what *what);

/* An open event without its start; NULL, and counted as dropped, if there is no room. */
static inline xp_slot *xp_record_event(xp_tracer *self, const char *name, uint32_t len, uint32_t serial,
                                       const xp_arg *args, size_t arg_count)
{
  if (__builtin_expect(arg_count > 0 || len != XP_NAME_STATIC, 0)) {
    const xp_record_what what = {name, len, serial, args, arg_count};
    return xp_record_event_slow(self, &what);
  }
  xp_slot *slot = (xp_slot *)xp_record_room(self, sizeof *slot);
  if (__builtin_expect(slot == NULL, 0)) {
    self->dropped++;
    return NULL;
  }
  slot->head = xp_slot_head(0, 0, sizeof *slot, serial);
  slot->name = name;
  slot->end = 0;
  self->written++;
  return slot;
}

/* Adds an argument to the event of an open trace of the thread. */
void xp_record_added(xp_tracer *self, xp_entry *entry, const xp_arg *arg);

/* True if a slot of this thread is still what it was when it had this generation. */
bool xp_record_is_here(const xp_tracer *self, const void *slot, uint64_t generation);

/* The pool of the session that is running. */
extern xp_pool xp_record_pool __attribute__((visibility("hidden")));
extern bool xp_record_keeps_newest __attribute__((visibility("hidden")));
extern uint64_t xp_record_first_ticks __attribute__((visibility("hidden"))); /* its start */

/* ---------------------------------------------------------------- open traces */

/* An open trace as somebody saw it. */
typedef struct {
  const char *name;
  uint32_t len;
  uint32_t serial;
  bool is_step;
  int64_t step_number;
} xp_record_open_trace;

/* Reads an entry of any thread's stack.  If the stack changes meanwhile the result is not of one trace, but safe to
 * use.
 */
xp_record_open_trace xp_record_open_read(const xp_tracer *tracer, const xp_entry *entry);

/* Bytes that its event takes. */
size_t xp_record_open_bytes(const xp_record_open_trace *open);

/* Writes its event, which begins at `start`. */
xp_slot *xp_record_open(char *at, const xp_record_open_trace *open, uint64_t start);

#endif
