/* What an item is, for its colour and its label. */
#ifndef XP_WEB_KINDS_H
#define XP_WEB_KINDS_H

#include "web/track.h"

/* Numbers in binary answers: the causes of xp_cause, then these. */
enum {
  XP_KIND_WORK = XP_CAUSE_COUNT,
  XP_KIND_COPY,
  XP_KIND_INFEED,
  XP_KIND_TRANSFER,
  XP_KIND_COLLECTIVE,
  XP_KIND_STEP,
  XP_KIND_PROGRAM,
  XP_KIND_SCOPE,
  XP_KIND_PYTHON,
  XP_KIND_OTHER,
  XP_KIND_COUNT
};

/* "in_program", .., "work", ..; and what it means. */
const char *xp_kind_key(int kind);
const char *xp_kind_words(int kind);

/* The number of a key; -1 if there is none. */
int xp_kind_find(xp_str key);

/* The kind of an item. */
int xp_item_kind(const xp_tracks *tracks, const xp_track *track, uint32_t item);

/* What an item is called.  Borrowed from the capture, or in the arena (with its escape). */
xp_str xp_item_label(const xp_tracks *tracks, const xp_track *track, uint32_t item, xp_arena *arena);

/* The piece of device work that an item shows; lane is XP_NONE if it shows none. */
xp_work xp_item_work(const xp_track *track, uint32_t item);

/* The entry of a thread's outline that an event is; XP_NONE if it is in none. */
uint32_t xp_thread_entry_of(const xp_thread *thread, uint32_t event);

#endif
