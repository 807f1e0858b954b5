/* Collecting what links host and devices: ids on events, execute calls, API threads.  Shared by links.c and link_ids.c.
 */
#ifndef XP_ANALYZE_LINK_IDS_H
#define XP_ANALYZE_LINK_IDS_H

#include "analyze/links.h"

/* Ids that follow each other give keys that do so. */
static inline uint64_t xp_link_key(uint32_t host, uint64_t id)
{
  return id + ((uint64_t)host << 56);
}

static inline uint64_t xp_run_key(uint32_t host, uint64_t run_id, int64_t ordinal)
{
  return xp_link_key(host, run_id + ((uint64_t)(ordinal + 1) * 0x9e3779b97f4a7c15u << 4));
}

/* An execute event, by the lists alone. */
static inline bool xp_entry_is_dispatch(const xp_thread *t, uint32_t entry)
{
  return (t->flags[entry] & XP_ENTRY_LISTED) && t->cause[entry] == XP_CAUSE_DISPATCH;
}

/* Run events and API calls of a thread. */
void xp_link_ids_collect(xp_links *links, const xp_thread *thread);

/* Finds the threads that the API threads ("Host Threads/N") belong to. */
void xp_api_partners_find(xp_links *links);

#endif
