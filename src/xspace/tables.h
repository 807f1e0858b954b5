/* What the loader knows of a plane beyond the public model: the way from ids in the file to indices and flags.
 *
 * Ids are dense in practice, so most are found in an array.  The array may have at most a few slots for every entry
 * that the file holds; ids beyond it go to a hash table.
 */
#ifndef XP_XSPACE_TABLES_H
#define XP_XSPACE_TABLES_H

#include "wire/wire.h"
#include "xspace/xspace.h"

/* A stat flag beside the XP_EVENT_ ones: the stat is _r, which counts unless its value is 0. */
#define XP_STAT_IS_ROOT 1u

typedef struct {
  uint32_t *dense; /* by id; 0 stands for an id without entry */
  size_t dense_count;
  xp_map sparse;
} xp_id_table;

typedef struct xp_plane_tables {
  xp_id_table events;     /* id -> index in event_meta, with the flags that its name and stats give to all its events */
  xp_id_table stats;      /* id -> index in stat_names; 0 for an id without entry */
  xp_id_table stat_flags; /* id -> flags that the stat gives to its event */
} xp_plane_tables;

static inline uint32_t xp_id_get(const xp_id_table *table, uint64_t id)
{
  if (id < table->dense_count) {
    return table->dense[id];
  }
  uint32_t value = table->sparse.count == 0 ? XP_NONE : xp_map_get(&table->sparse, id);
  return value == XP_NONE ? 0 : value;
}

xp_key xp_key_find(xp_str name);

/* The flags that a stat of this key gives to its event. */
uint32_t xp_key_flags(xp_key key);

/* Ors the flags of one XStat message into *flags.  False if the message is damaged. */
bool xp_stat_flags(const xp_plane *plane, const uint8_t *pos, const uint8_t *end, uint32_t *flags);

/* The flags of pairs "_r=1,step_num=3". */
uint32_t xp_args_flags(xp_str args);

/* Takes the next pair off *args.  False when there is none left. */
bool xp_args_next(xp_str *args, xp_str *key, xp_str *value);

/* Splits a TraceMe name "train#_r=1#" into name and args. */
void xp_traceme_split(xp_str encoded, xp_str *name, xp_str *args);

/* Reads one XStat message.  False if it is damaged. */
bool xp_stat_read(const xp_plane *plane, xp_str message, xp_stat *stat);

#endif
