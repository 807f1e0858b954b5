/* A text is searched as the regular expression that stands for it, so there is one way to match.
 *
 * The matching items are listed by track while there are at most MOST_LISTED.  Beyond that nearly every event matches,
 * and the next one is found by looking. */
#include "web/search.h"

#include <stdlib.h>

#include "report/select.h"

enum { MOST_LISTED = 500000, MOST_NAMES = 50, LOOKS = 64 };

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

/* Counts in braces multiply what an expression takes to hold: one pair, and no more than this. */
static bool is_small_count(const char *brace)
{
  enum { MOST_REPEATED = 255 };
  int number = 0;
  for (const char *c = brace + 1; *c != '\0' && *c != '}'; c++) {
    number = *c >= '0' && *c <= '9' && number <= MOST_REPEATED ? number * 10 + (*c - '0') : 0;
    if (number > MOST_REPEATED) {
      return false;
    }
  }
  return true;
}

/* Large counts and repetitions of repetitions can take all memory, references to groups all time. */
static bool is_cheap(const char *regex)
{
  int braces = 0;
  for (const char *c = regex; *c != '\0'; c++) {
    if (*c == '\\' && c[1] != '\0') {
      c++;
      if (*c >= '1' && *c <= '9') {
        return false;
      }
    } else if (*c == '{' && (++braces > 1 || !is_small_count(c))) {
      return false;
    }
  }
  return true;
}

/* ---- one search */

typedef struct {
  xp_search *search;
  const xp_selection *selection;
  uint64_t **name_counts; /* by track: the counts of its plane's names */
  bool *is_first;         /* by track: it is the first of its plane */
  xp_intern names;
  size_t name_capacity;
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
    s->is_first[t] = true;
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

static void add_name(searching *s, xp_str name, uint64_t count)
{
  xp_search *search = s->search;
  size_t known = s->names.count;
  uint32_t n = xp_intern_add(&s->names, name);
  search->names = xp_arena_grow(search->arena, search->names, known, &s->name_capacity, sizeof *search->names);
  if (s->names.count > known) {
    search->names[n] = (xp_search_name){name, 0};
  }
  search->names[n].count += count;
}

/* The names with most events; equal names of different planes are one. */
static void list_names(searching *s)
{
  xp_search *search = s->search;
  xp_intern_init(&s->names, search->arena);
  for (uint32_t t = 0; t < search->tracks->count; t++) {
    const xp_plane *plane = s->is_first[t] ? search->tracks->tracks[t].line->plane : NULL;
    for (size_t m = 0; plane != NULL && m < plane->event_meta_count; m++) {
      if (s->name_counts[t][m] > 0) {
        add_name(s, plane->event_meta[m].name, s->name_counts[t][m]);
      }
    }
  }
  if (s->names.count > 1) {
    qsort(search->names, s->names.count, sizeof *search->names, more_events);
  }
  search->name_count = s->names.count < MOST_NAMES ? s->names.count : MOST_NAMES;
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
  s->is_first = xp_arena_array(search->arena, tracks, sizeof *s->is_first);
  match_names(s);
  count_events(s);
  list_events(search);
  list_names(s);
}

void xp_search_destroy(xp_search *search)
{
  if (search != NULL) {
    xp_arena_destroy(search->arena);
    free(search);
  }
}

xp_status xp_search_make(const xp_tracks *tracks, const xp_search_query *query, xp_search **made, xp_error *err)
{
  char regex[2 * XP_SEARCH_BYTES + 1];
  escape(query->text, regex);
  const xp_event_query names = {.match = query->is_regex ? query->text : regex, .any_case = query->any_case};
  if (query->is_regex && !is_cheap(query->text)) {
    return xp_fail(
        err, XP_ERR_USAGE,
        "The expression refers to a group, or has a count in braces above 255, or more than one: write it without");
  }
  xp_selection selection;
  xp_status status = xp_selection_open(&selection, tracks->an->capture, &names, err);
  xp_search *search = status == XP_OK ? calloc(1, sizeof *search) : NULL;
  if (search != NULL) {
    search->query = *query;
    search->tracks = tracks;
    search->arena = xp_arena_create();
    searching s = {.search = search, .selection = &selection};
    if (search->arena == NULL || !xp_arena_guard(search->arena, run_search, &s)) {
      xp_search_destroy(search);
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
