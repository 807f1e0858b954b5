/* The walk along the chain of threads that led to a launch, one thread at a time. */
#ifndef XP_ANALYZE_WALK_H
#define XP_ANALYZE_WALK_H

#include "analyze/internal.h"

typedef struct {
  const xp_analysis *an;
  uint32_t device;
  const xp_device_data *d;
  const xp_launch *launch; /* NULL: unknown */
  xp_parts *out;
} xp_walk;

/* What a stretch of time is put down to. */
typedef struct {
  xp_cause cause;
  xp_str scope, event, detail;
  bool maybe;
  uint32_t thread, entry; /* XP_NONE: no event */
} xp_stretch;

/* Adds the time [from_ps, to_ps) to the part that it belongs to. */
void xp_walk_book(xp_walk *walk, int64_t from_ps, int64_t to_ps, const xp_stretch *stretch);

/* Books [from_ps, to_ps) by the events of one thread.  returned: the launch call is over, only a read or wait that is
 * still open holds the chain.  borrowed: the thread stands in for one without events. */
void xp_walk_thread(xp_walk *walk, uint32_t thread, int64_t from_ps, int64_t to_ps, bool returned, bool borrowed);

/* What a wait is for: the devices that work meanwhile, or what the pool threads did.  In the arena of the parts. */
xp_str xp_wait_detail(const xp_walk *walk, int64_t from_ps, int64_t to_ps);

#endif
