/* A text is searched as the regular expression that stands for it, so there is one way to match.
 *
 * The matching items are listed by track while there are at most MOST_LISTED.  Beyond that nearly every event matches,
 * and the next one is found by looking. */
#include "web/search.h"

#include <pthread.h>
#include <stdlib.h>

#include "report/select.h"

enum { MOST_LISTED = 500000, MOST_NAMES = 50, LOOKS = 64 };

struct xp_searches {
  const xp_tracks *tracks;
  pthread_mutex_t lock;
  xp_search *kept[XP_SEARCHES_KEPT]; /* the newest first */
  uint32_t last_id;
};

/* ---- expressions */

static void escape(const char *text, char *to)
{
  for (; *text != '\0'; text++) {
    if (strchr(".[{()*+?^$|\\", *text) != NULL) {
      *to++ = '\\';
    }
    *to++ = *text;
  }
  *to = '\0';
}

/* Repetitions of repetitions can take all memory, references to groups all time. */
static bool is_cheap(const char *regex)
{
  int braces = 0;
  for (const char *c = regex; *c != '\0'; c++) {
    if (*c == '\\' && c[1] != '\0') {
      c++;
      if (*c >= '1' && *c <= '9') {
        return false;
      }
      continue;
    }
    braces += *c == '{';
  }
  return braces < 2;
}

/* ---- one search */

typedef struct {
  xp_search *search;
  const xp_selection *selection;
  uint64_t **name_counts; /* by track: the counts of its plane's names */
} searching;

static bool meta_matches(const xp_selection *selection, const xp_event_meta *meta)
{
  return xp_selection_name(selection, meta->name) ||
         (meta->display_name.len > 0 && xp_selection_name(selection, meta->display_name)) ||
         (meta->args.len > 0 && xp_selection_name(selection, meta->args));
}

static bool is_searched(const xp_track *track)
{
  return track->line != NULL;
}

/* Holds the names of every plane against the expression; tracks of one plane share the outcome. */
static void match_names(searching *s)
{
  const xp_tracks *tracks = s->search->tracks;
  for (uint32_t t = 0; t < tracks->count; t++) {
    if (!is_searched(&tracks->tracks[t]) || s->search->hits[t] != NULL) {
      continue;
    }
    const xp_plane *plane = tracks->tracks[t].line->plane;
    uint8_t *hits = xp_arena_array(s->search->arena, plane->event_meta_count, sizeof *hits);
    uint64_t *counts = xp_arena_array(s->search->arena, plane->event_meta_count, sizeof *counts);
    for (size_t m = 0; m < plane->event_meta_count; m++) {
      hits[m] = meta_matches(s->selection, &plane->event_meta[m]);
    }
    for (uint32_t other = t; other < tracks->count; other++) {
      if (is_searched(&tracks->tracks[other]) && tracks->tracks[other].line->plane == plane) {
        s->search->hits[other] = hits;
        s->name_counts[other] = counts;
      }
    }
  }
}

static bool is_hit(const xp_search *search, uint32_t track, uint32_t item)
{
  return search->hits[track][search->tracks->tracks[track].line->meta[item] & XP_EVENT_META_MASK];
}

static void count_events(searching *s)
{
  xp_search *search = s->search;
  for (uint32_t t = 0; t < search->tracks->count; t++) {
    const xp_track *track = &search->tracks->tracks[t];
    for (uint32_t i = 0; is_searched(track) && i < track->count; i++) {
      if (is_hit(search, t, i)) {
        search->counts[t]++;
        s->name_counts[t][track->line->meta[i] & XP_EVENT_META_MASK]++;
      }
    }
    search->total += search->counts[t];
  }
}

static void list_events(xp_search *search)
{
  for (uint32_t t = 0; search->total <= MOST_LISTED && t < search->tracks->count; t++) {
    uint32_t n = 0;
    search->lists[t] = xp_arena_array(search->arena, search->counts[t], sizeof **search->lists);
    for (uint32_t i = 0; n < search->counts[t]; i++) {
      if (is_hit(search, t, i)) {
        search->lists[t][n++] = i;
      }
    }
  }
}

static int more_events(const void *a, const void *b)
{
  const xp_search_name *x = a, *y = b;
  if (x->count != y->count) {
    return x->count > y->count ? -1 : 1;
  }
  return xp_str_cmp(x->name, y->name);
}

/* The names with most events; equal names of different planes are one. */
static void list_names(searching *s)
{
  xp_search *search = s->search;
  xp_intern names;
  size_t capacity = 0;
  xp_intern_init(&names, search->arena);
  for (uint32_t t = 0; t < search->tracks->count; t++) {
    bool is_first = search->hits[t] != NULL;
    for (uint32_t before = t; is_first && before > 0; before--) {
      is_first = search->hits[before - 1] != search->hits[t];
    }
    const xp_plane *plane = is_first ? search->tracks->tracks[t].line->plane : NULL;
    for (size_t m = 0; is_first && m < plane->event_meta_count; m++) {
      if (s->name_counts[t][m] > 0) {
        size_t known = names.count;
        uint32_t n = xp_intern_add(&names, plane->event_meta[m].name);
        search->names = xp_arena_grow(search->arena, search->names, known, &capacity, sizeof *search->names);
        if (names.count > known) {
          search->names[n] = (xp_search_name){plane->event_meta[m].name, 0};
        }
        search->names[n].count += s->name_counts[t][m];
      }
    }
  }
  if (names.count > 1) {
    qsort(search->names, names.count, sizeof *search->names, more_events);
  }
  search->name_count = names.count < MOST_NAMES ? names.count : MOST_NAMES;
}

static void run_search(void *context)
{
  searching *s = context;
  xp_search *search = s->search;
  uint32_t tracks = search->tracks->count;
  search->counts = xp_arena_array(search->arena, tracks, sizeof *search->counts);
  search->hits = xp_arena_array(search->arena, tracks, sizeof *search->hits);
  search->lists = xp_arena_array(search->arena, tracks, sizeof *search->lists);
  s->name_counts = xp_arena_array(search->arena, tracks, sizeof *s->name_counts);
  match_names(s);
  count_events(s);
  list_events(search);
  list_names(s);
}

static void destroy(xp_search *search)
{
  if (search != NULL) {
    xp_arena_destroy(search->arena);
    free(search);
  }
}

static xp_status make_search(const xp_tracks *tracks, const xp_search_query *query, xp_search **made, xp_error *err)
{
  char regex[2 * XP_SEARCH_BYTES + 1];
  escape(query->text, regex);
  const xp_event_query names = {.match = query->is_regex ? query->text : regex, .any_case = query->any_case};
  if (query->is_regex && !is_cheap(query->text)) {
    return xp_fail(err, XP_ERR_USAGE,
                   "The expression refers to a group, or has more than one repetition in braces: write it without");
  }
  xp_selection selection;
  xp_status status = xp_selection_open(&selection, tracks->an->capture, &names, err);
  xp_search *search = status == XP_OK ? calloc(1, sizeof *search) : NULL;
  if (search != NULL) {
    search->query = *query;
    search->tracks = tracks;
    search->arena = xp_arena_create();
    searching s = {search, &selection, NULL};
    if (search->arena == NULL || !xp_arena_guard(search->arena, run_search, &s)) {
      destroy(search);
      search = NULL;
    }
  }
  xp_selection_close(&selection);
  *made = search;
  if (status == XP_OK && search == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out while the events were searched");
  }
  return status;
}

/* ---- those that are kept */

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
      destroy(searches->kept[i]);
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
    destroy(searches->kept[slot]);
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
  xp_status status = make_search(searches->tracks, query, &made, err);
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
    destroy((xp_search *)(uintptr_t)search);
  }
}

/* ---- going through the matches */

/* The first of the list that is `item` or later. */
static uint32_t first_listed(const xp_search *search, uint32_t track, uint32_t item)
{
  uint32_t low = 0, high = search->counts[track];
  while (low < high) {
    uint32_t mid = low + (high - low) / 2;
    if (search->lists[track][mid] < item) {
      low = mid + 1;
    } else {
      high = mid;
    }
  }
  return low;
}

uint32_t xp_search_next(const xp_search *search, uint32_t track, uint32_t from, bool forward)
{
  if (search->counts[track] == 0) {
    return XP_NONE;
  }
  if (search->lists[track] != NULL) {
    uint32_t i = first_listed(search, track, from);
    if (!forward) {
      return i > 0 ? search->lists[track][i - 1] : XP_NONE;
    }
    return i < search->counts[track] ? search->lists[track][i] : XP_NONE;
  }
  for (uint32_t i = from; forward && i < search->tracks->tracks[track].count; i++) {
    if (is_hit(search, track, i)) {
      return i;
    }
  }
  for (uint32_t i = from; !forward && i > 0; i--) {
    if (is_hit(search, track, i - 1)) {
      return i - 1;
    }
  }
  return XP_NONE;
}

bool xp_search_hits(const xp_search *search, uint32_t track, uint32_t row, uint32_t first, uint32_t last)
{
  const xp_track *t = &search->tracks->tracks[track];
  uint32_t item = first;
  for (int looks = 0; looks < LOOKS && is_searched(t); looks++) {
    item = xp_search_next(search, track, item, true);
    if (item == XP_NONE || item > last) {
      return false;
    }
    if (xp_item_row(t, item) == row) {
      return true;
    }
    item++;
  }
  return is_searched(t); /* very many matches in other rows: most likely in this one, too */
}
