/* Open addressing with linear probing; a table is at most half full and doubles when it would be fuller.
 *
 * Keys are mixed by multiplications before they choose a slot, so that keys of any pattern spread out.  Nothing is ever
 * removed.
 */
#include "base/map.h"

/* The table's address differs from run to run, so a file cannot choose keys that all fall into one slot. */
static size_t slot_of(const xp_map *map, uint64_t key)
{
  uint64_t seed = (uint64_t)(uintptr_t)map->table * 0xff51afd7ed558ccdu;
  uint64_t h = (key ^ seed) * 0x9e3779b97f4a7c15u;
  h = (h ^ (h >> 32)) * 0xc4ceb9fe1a85ec53u;
  return (size_t)(h ^ (h >> 32)) & (map->slots - 1);
}

/* The slot that holds the key, or the free one where it belongs. */
static size_t find_slot(const xp_map *map, uint64_t key)
{
  size_t i = slot_of(map, key);
  while (map->table[i].used && map->table[i].key != key) {
    i = (i + 1) & (map->slots - 1);
  }
  return i;
}

void xp_map_init(xp_map *map, xp_arena *arena)
{
  memset(map, 0, sizeof *map);
  map->arena = arena;
}

uint32_t xp_map_get(const xp_map *map, uint64_t key)
{
  if (map->slots == 0) {
    return XP_NONE;
  }
  const xp_map_slot *slot = &map->table[find_slot(map, key)];
  return slot->used ? slot->value : XP_NONE;
}

void xp_map_discard(xp_map *map)
{
  xp_arena_discard(map->arena, map->table, map->slots * sizeof *map->table);
  xp_map_init(map, map->arena);
}

static bool grow_map(xp_map *map)
{
  xp_map larger = *map;
  larger.slots = map->slots == 0 ? 16 : map->slots * 2;
  larger.table = xp_arena_array(map->arena, larger.slots, sizeof *larger.table);
  if (larger.table == NULL) {
    return false;
  }
  for (size_t i = 0; i < map->slots; i++) {
    if (map->table[i].used) {
      larger.table[find_slot(&larger, map->table[i].key)] = map->table[i];
    }
  }
  xp_map_discard(map);
  *map = larger;
  return true;
}

uint32_t *xp_map_entry(xp_map *map, uint64_t key)
{
  if ((map->count + 1) * 2 > map->slots && !grow_map(map)) {
    return NULL;
  }
  xp_map_slot *slot = &map->table[find_slot(map, key)];
  if (!slot->used) {
    *slot = (xp_map_slot){key, 1, XP_NONE};
    map->count++;
  }
  return &slot->value;
}

void xp_map_put(xp_map *map, uint64_t key, uint32_t value)
{
  uint32_t *entry = xp_map_entry(map, key);
  if (entry) {
    *entry = value;
  }
}

/* ---- ids */

enum { GROUP = 8 };

void xp_id_map_init(xp_id_map *map, xp_arena *arena)
{
  memset(map, 0, sizeof *map);
  xp_map_init(&map->groups, arena);
}

void xp_id_map_discard(xp_id_map *map)
{
  xp_arena *arena = map->groups.arena;
  xp_map_discard(&map->groups);
  xp_arena_discard(arena, map->values, map->capacity * sizeof *map->values);
  xp_id_map_init(map, arena);
}

uint32_t xp_id_map_get(const xp_id_map *map, uint64_t id)
{
  uint32_t first = xp_map_get(&map->groups, id / GROUP);
  return first == XP_NONE ? XP_NONE : map->values[first + id % GROUP];
}

static bool add_group(xp_id_map *map)
{
  for (int i = 0; i < GROUP; i++) {
    uint32_t *values = xp_arena_grow(map->groups.arena, map->values, map->count, &map->capacity, sizeof *map->values);
    if (values == NULL) {
      return false;
    }
    map->values = values;
    map->values[map->count++] = XP_NONE;
  }
  return true;
}

uint32_t *xp_id_map_entry(xp_id_map *map, uint64_t id)
{
  uint32_t *first = xp_map_entry(&map->groups, id / GROUP);
  if (first == NULL) {
    return NULL;
  }
  if (*first == XP_NONE) {
    size_t count = map->count;
    if (!add_group(map)) {
      return NULL;
    }
    *first = (uint32_t)count;
  }
  return &map->values[*first + id % GROUP];
}

/* ---- strings */

void xp_intern_init(xp_intern *table, xp_arena *arena)
{
  memset(table, 0, sizeof *table);
  table->arena = arena;
}

/* The slot that holds the string, or the free one where it belongs. */
static size_t find_string_slot(const xp_intern *table, xp_str s)
{
  size_t i = (size_t)xp_str_hash(s) & (table->slot_count - 1);
  while (table->slots[i] != XP_NONE && !xp_str_eq(table->strings[table->slots[i]], s)) {
    i = (i + 1) & (table->slot_count - 1);
  }
  return i;
}

uint32_t xp_intern_find(const xp_intern *table, xp_str s)
{
  return table->slot_count == 0 ? XP_NONE : table->slots[find_string_slot(table, s)];
}

static bool grow_slots(xp_intern *table)
{
  size_t count = table->slot_count == 0 ? 16 : table->slot_count * 2;
  uint32_t *slots = xp_arena_array(table->arena, count, sizeof *slots);
  if (slots == NULL) {
    return false;
  }
  memset(slots, 0xff, count * sizeof *slots);
  xp_arena_discard(table->arena, table->slots, table->slot_count * sizeof *slots);
  table->slots = slots;
  table->slot_count = count;
  for (size_t i = 0; i < table->count; i++) {
    slots[find_string_slot(table, table->strings[i])] = (uint32_t)i;
  }
  return true;
}

uint32_t xp_intern_add(xp_intern *table, xp_str s)
{
  if ((table->count + 1) * 2 > table->slot_count && !grow_slots(table)) {
    return XP_NONE;
  }
  size_t slot = find_string_slot(table, s);
  if (table->slots[slot] != XP_NONE) {
    return table->slots[slot];
  }
  xp_str *strings = xp_arena_grow(table->arena, table->strings, table->count, &table->capacity, sizeof s);
  if (strings == NULL) {
    return XP_NONE;
  }
  table->strings = strings;
  strings[table->count] = s;
  table->slots[slot] = (uint32_t)table->count;
  return (uint32_t)table->count++;
}
