/* Device time by op descriptor: the base of the tables of ops and of scopes. */
#ifndef XP_ANALYZE_WORK_TABLE_H
#define XP_ANALYZE_WORK_TABLE_H

#include "analyze/internal.h"

typedef struct xp_work_table {
  const xp_devices *devices;
  uint64_t *count;   /* by op */
  int64_t *total_ps; /* durations of events */
  int64_t *self_ps;  /* without what is nested in them on the same line */
} xp_work_table;

/* Sums over all devices. */
void xp_work_table_build(xp_analysis *an, xp_arena *arena);

#endif
