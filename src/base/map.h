/* Hash tables in an arena: 64-bit keys to 32-bit values, ids that are counted up to such values, and strings to dense
 * numbers.
 *
 * All only grow.  A lookup never allocates; an insertion may, in the arena (see its escape).
 */
#ifndef XP_BASE_MAP_H
#define XP_BASE_MAP_H

#include "base/arena.h"

#define XP_NONE UINT32_MAX /* "no such entry", wherever a 32-bit index is returned */

/* A key out of another one and one more value; chain it for keys of several values. */
static inline uint64_t xp_hash_mix(uint64_t h, uint64_t value)
{
  h ^= value + 0x9e3779b97f4a7c15u + (h << 6) + (h >> 2);
  return h * 0xff51afd7ed558ccdu;
}

typedef struct {
  uint64_t key;
  uint32_t used, value; /* together, so that a lookup touches one cache line */
} xp_map_slot;

typedef struct {
  xp_arena *arena;
  xp_map_slot *table;
  size_t count, slots;
} xp_map;

void xp_map_init(xp_map *map, xp_arena *arena);

/* Gives a large table's memory back before the arena ends; the map is empty then. */
void xp_map_discard(xp_map *map);

/* The value of a key, or XP_NONE. */
uint32_t xp_map_get(const xp_map *map, uint64_t key);

/* Where the value of a key stands, XP_NONE if the key is new: one search for looking and setting.  NULL when memory is
 * out and the arena has no escape.  The pointer is good until the next insertion. */
uint32_t *xp_map_entry(xp_map *map, uint64_t key);

/* Sets the value of a key; XP_NONE cannot be told from no value. */
void xp_map_put(xp_map *map, uint64_t key, uint32_t value);

/* The same for ids, most of which follow each other: a group of them has one key, and their values stand side by side.
 * That is a sixth of the memory of a plain map for ids without holes, and up to twice as much for scattered ones. */
typedef struct {
  xp_map groups;
  uint32_t *values;
  size_t count, capacity; /* of the values */
} xp_id_map;

void xp_id_map_init(xp_id_map *map, xp_arena *arena);
void xp_id_map_discard(xp_id_map *map);
uint32_t xp_id_map_get(const xp_id_map *map, uint64_t id);
uint32_t *xp_id_map_entry(xp_id_map *map, uint64_t id);

/* Strings numbered 0, 1, 2 .. in the order of their first appearance.  Borrows the bytes. */
typedef struct {
  xp_arena *arena;
  xp_str *strings;
  uint32_t *slots;
  size_t count, capacity, slot_count;
} xp_intern;

void xp_intern_init(xp_intern *table, xp_arena *arena);

/* The number of a string, new if it was not there. */
uint32_t xp_intern_add(xp_intern *table, xp_str s);

/* The number of a string, or XP_NONE. */
uint32_t xp_intern_find(const xp_intern *table, xp_str s);

#endif
