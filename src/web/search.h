/* Searching every event by its name: which names match is found once for each name and not for each event, and the
 * answer is kept, so that going from match to match costs nothing.
 *
 * A search has a number, by which windows flag what it found.  The last XP_SEARCHES_KEPT are kept.  Any thread may call
 * these functions.
 */
#ifndef XP_WEB_SEARCH_H
#define XP_WEB_SEARCH_H

#include "web/track.h"

enum { XP_SEARCHES_KEPT = 8, XP_SEARCH_BYTES = 256 };

typedef struct {
  char text[XP_SEARCH_BYTES + 1];
  bool is_regex, any_case;
} xp_search_query;

typedef struct {
  xp_str name;
  uint64_t count;
} xp_search_name;

typedef struct {
  uint32_t id; /* from 1 */
  xp_search_query query;
  uint64_t total;
  uint32_t *counts;      /* by track */
  xp_search_name *names; /* most events first */
  size_t name_count;
  /* of search.c */
  const xp_tracks *tracks;
  xp_arena *arena;
  uint8_t **hits;   /* by track: which names of its plane match */
  uint32_t **lists; /* by track: the items that match; NULL where there are very many matches */
  unsigned users;
} xp_search;

/* search.c: one search, owned by the caller.  XP_ERR_USAGE: no regular expression, or one that could take all memory or
 * time. */
xp_status xp_search_make(const xp_tracks *tracks, const xp_search_query *query, xp_search **made, xp_error *err);
void xp_search_destroy(xp_search *search); /* NULL is allowed */

typedef struct xp_searches xp_searches;

/* No search yet.  Memory of the table comes from the arena (with its escape), that of searches does not. */
xp_searches *xp_searches_create(const xp_tracks *tracks, xp_arena *arena);
void xp_searches_destroy(xp_searches *searches);

/* Searches, or finds the same search again; the caller gives it back with xp_search_release.  Errors: see
 * xp_search_make. */
xp_status xp_search_run(xp_searches *searches, const xp_search_query *query, const xp_search **search, xp_error *err);

/* The search with a number, to be released; NULL if it is not kept. */
const xp_search *xp_search_hold(xp_searches *searches, uint32_t id);

/* NULL is allowed. */
void xp_search_release(xp_searches *searches, const xp_search *search);

/* True if an item from first to last that lies in this row matches. */
bool xp_search_hits(const xp_search *search, uint32_t track, uint32_t row, uint32_t first, uint32_t last);

/* The first matching item of a track that is `from` or later (forward) or earlier (not forward); XP_NONE. */
uint32_t xp_search_next(const xp_search *search, uint32_t track, uint32_t from, bool forward);

#endif
