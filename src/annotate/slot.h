/* How an event lies in a chunk: four words, then its arguments, then the texts that were copied for them.
 *
 * A slot is written when the event begins, with its end 0, and gets its end when that is known.  An argument that is
 * added later has a slot of its own, which names the event by its serial; instead of a start it has its number among
 * the event's added ones, from 1, so that a reader sees which of them had to leave.
 */
#ifndef XP_ANNOTATE_SLOT_H
#define XP_ANNOTATE_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xlaprof/annotate.h"

typedef struct {
  uint64_t head; /* flags, arguments, size, serial: see below */
  const char *name;
  uint64_t start, end; /* ticks; end 0: open */
  xp_arg args[];
} xp_slot;

enum {
  XP_SLOT_ADDED = 1,       /* no event, but an argument of one */
  XP_SLOT_COPIED_NAME = 2, /* the name lies in the slot, its length (uint32_t) before it */
  XP_SLOT_HAS_ADDED = 4,   /* arguments were added */
  XP_SLOT_FLAGS = 7,
  XP_SLOT_LOST_ONE = 8, /* bits 3 to 7: how many arguments found no room; 31 means more */
  XP_SLOT_LOST_MAX = 31 * 8,
  XP_SLOT_ARGS_MAX = 127
};

/* bytes: a multiple of 8, at most XP_CHUNK_ROOM. */
static inline uint64_t xp_slot_head(uint64_t flags, size_t arg_count, size_t bytes, uint32_t serial)
{
  return flags | (uint64_t)arg_count << 8 | (uint64_t)(bytes / 8) << 16 | (uint64_t)serial << 32;
}

static inline size_t xp_slot_bytes(const xp_slot *slot)
{
  return (size_t)(slot->head >> 16 & 0xffff) * 8;
}

static inline size_t xp_slot_arg_count(const xp_slot *slot)
{
  return (size_t)(slot->head >> 8 & 0xff);
}

static inline uint32_t xp_slot_serial(const xp_slot *slot)
{
  return (uint32_t)(slot->head >> 32);
}

/* Arguments that found no room. */
static inline uint64_t xp_slot_lost(const xp_slot *slot)
{
  return (slot->head & XP_SLOT_LOST_MAX) / XP_SLOT_LOST_ONE;
}

static inline void xp_slot_add_lost(xp_slot *slot, size_t count)
{
  uint64_t room = XP_SLOT_LOST_MAX / XP_SLOT_LOST_ONE - xp_slot_lost(slot);
  slot->head += (count < room ? count : room) * XP_SLOT_LOST_ONE;
}

#endif
