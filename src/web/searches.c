/* The last searches, the one that was used last in front.  A search is made outside of the lock, since that can take
 * long; whoever uses one is counted, so that it is not taken away meanwhile. */
#include <pthread.h>
#include <stdlib.h>

#include "web/search.h"

struct xp_searches {
  const xp_tracks *tracks;
  pthread_mutex_t lock;
  xp_search *kept[XP_SEARCHES_KEPT]; /* the newest first */
  uint32_t last_id;
};

xp_searches *xp_searches_create(const xp_tracks *tracks, xp_arena *arena)
{
  xp_searches *searches = xp_arena_alloc(arena, sizeof *searches);
  searches->tracks = tracks;
  pthread_mutex_init(&searches->lock, NULL);
  return searches;
}

void xp_searches_destroy(xp_searches *searches)
{
  if (searches != NULL) {
    for (int i = 0; i < XP_SEARCHES_KEPT; i++) {
      xp_search_destroy(searches->kept[i]);
    }
    pthread_mutex_destroy(&searches->lock);
  }
}

/* Makes the search in a slot the newest, and counts a user. */
static xp_search *use(xp_searches *searches, int slot)
{
  xp_search *search = searches->kept[slot];
  memmove(searches->kept + 1, searches->kept, (size_t)slot * sizeof *searches->kept);
  searches->kept[0] = search;
  search->users++;
  return search;
}

static bool is_same(const xp_search_query *a, const xp_search_query *b)
{
  return a->is_regex == b->is_regex && a->any_case == b->any_case && strcmp(a->text, b->text) == 0;
}

static xp_search *find_kept(xp_searches *searches, const xp_search_query *query, uint32_t id)
{
  xp_search *found = NULL;
  pthread_mutex_lock(&searches->lock);
  for (int i = 0; found == NULL && i < XP_SEARCHES_KEPT && searches->kept[i] != NULL; i++) {
    if (query != NULL ? is_same(&searches->kept[i]->query, query) : searches->kept[i]->id == id) {
      found = use(searches, i);
    }
  }
  pthread_mutex_unlock(&searches->lock);
  return found;
}

/* The oldest one that nobody looks at makes room; if all are in use, the new one is not kept. */
static void keep(xp_searches *searches, xp_search *search)
{
  pthread_mutex_lock(&searches->lock);
  int slot = XP_SEARCHES_KEPT - 1;
  while (slot >= 0 && searches->kept[slot] != NULL && searches->kept[slot]->users > 0) {
    slot--;
  }
  search->id = ++searches->last_id;
  search->users = 1;
  if (slot >= 0) {
    xp_search_destroy(searches->kept[slot]);
    memmove(searches->kept + 1, searches->kept, (size_t)slot * sizeof *searches->kept);
    searches->kept[0] = search;
  }
  pthread_mutex_unlock(&searches->lock);
}

xp_status xp_search_run(xp_searches *searches, const xp_search_query *query, const xp_search **search, xp_error *err)
{
  xp_search *made = NULL;
  *search = find_kept(searches, query, 0);
  if (*search != NULL) {
    return XP_OK;
  }
  xp_status status = xp_search_make(searches->tracks, query, &made, err);
  if (status == XP_OK) {
    keep(searches, made);
    *search = made;
  }
  return status;
}

const xp_search *xp_search_hold(xp_searches *searches, uint32_t id)
{
  return id == 0 ? NULL : find_kept(searches, NULL, id);
}

void xp_search_release(xp_searches *searches, const xp_search *search)
{
  if (search == NULL) {
    return;
  }
  bool kept = false;
  pthread_mutex_lock(&searches->lock);
  for (int i = 0; i < XP_SEARCHES_KEPT; i++) {
    if (searches->kept[i] == search) {
      searches->kept[i]->users--;
      kept = true;
    }
  }
  pthread_mutex_unlock(&searches->lock);
  if (!kept) {
    xp_search_destroy((xp_search *)(uintptr_t)search);
  }
}
