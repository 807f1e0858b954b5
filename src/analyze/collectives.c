/* Time in collectives, and how much of it a device spent waiting for the last participant to arrive.
 *
 * The n-th execution of an instruction within a run is one occurrence; the occurrences of all devices of a host with
 * the same instruction, run and n belong together.  Clocks of different hosts are not compared.
 */
#include "analyze/internal.h"

#include <stdlib.h>

#include "base/sum.h"

typedef struct {
  uint64_t key;
  uint32_t device;
  int64_t start_ps;
} occurrence;

typedef struct {
  occurrence *rows;
  size_t count, capacity;
} list;

static void collect(xp_analysis *an, uint32_t device, list *all, xp_arena *arena)
{
  const xp_device_data *d = &an->devices.devices[device];
  xp_map seen; /* (op, run) -> occurrences so far */
  xp_map_init(&seen, arena);
  for (size_t at = 0, count = xp_work_count(d); at < count; at++) {
    xp_work w = xp_work_at(d, at);
    const xp_op *op = &an->devices.ops[w.op];
    if (!op->collective || op->role != XP_ROLE_WORK) {
      continue;
    }
    uint32_t run = xp_work_run(d, &w);
    uint64_t id = run == XP_NONE ? 0 : d->runs[run].has_run_id ? d->runs[run].run_id : run;
    uint64_t key = xp_hash_mix(xp_hash_mix(xp_str_hash(op->op), id), d->host);
    uint32_t n = xp_map_get(&seen, key);
    n = n == XP_NONE ? 0 : n;
    xp_map_put(&seen, key, n + 1);
    all->rows = xp_arena_grow(arena, all->rows, all->count, &all->capacity, sizeof *all->rows);
    all->rows[all->count++] = (occurrence){xp_hash_mix(key, n), device, w.start_ps};
    const xp_lane *lane = &d->lanes[w.lane];
    xp_sum_add(&an->reading->devices[device].collective_ps, xp_event_dur(lane->line, lane->event[w.index]));
  }
}

static int by_key(const void *a, const void *b)
{
  const occurrence *x = a, *y = b;
  if (x->key != y->key) {
    return x->key < y->key ? -1 : 1;
  }
  return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

void xp_collectives_measure(xp_analysis *an, xp_arena *arena)
{
  list all = {0};
  bool any = false;
  for (size_t o = 0; o < an->devices.op_count; o++) {
    any = any || an->devices.ops[o].collective;
  }
  for (uint32_t i = 0; any && i < an->devices.count; i++) {
    collect(an, i, &all, arena);
  }
  if (all.count) {
    qsort(all.rows, all.count, sizeof *all.rows, by_key);
  }
  for (size_t i = 0, end; i < all.count; i = end) {
    for (end = i + 1; end < all.count && all.rows[end].key == all.rows[i].key;) {
      end++;
    }
    for (size_t k = i; k < end; k++) {
      xp_sum_add(&an->reading->devices[all.rows[k].device].collective_wait_ps,
                 xp_sub_saturating(all.rows[end - 1].start_ps, all.rows[k].start_ps));
    }
  }
}
