/* From the call on the host to the work on devices, and back. */
#ifndef XP_WEB_FLOWS_H
#define XP_WEB_FLOWS_H

#include "web/viewer.h"

enum { XP_MOST_FLOWS = 64 };

typedef struct {
  uint32_t track, item;
} xp_item_ref;

typedef struct {
  bool is_hop; /* from the thread that asked to the one that launched; else from the launch to the work */
  xp_item_ref from, to;
} xp_flow;

/* Finds the flows of an item; returns how many were written.  Under the viewer's lock. */
size_t xp_flows_find(xp_viewer *viewer, uint32_t track, uint32_t item, xp_flow flows[XP_MOST_FLOWS]);

/* The launch of the work that an item shows, of the run that it is, or of the work behind the gap that it is; XP_NONE.
 * Under the viewer's lock. */
uint32_t xp_item_launch(xp_viewer *viewer, const xp_track *track, uint32_t item);

/* The item of a thread's entry. */
xp_item_ref xp_entry_item(const xp_viewer *viewer, uint32_t thread, uint32_t entry);

#endif
