/* A capture that is open in the viewer: loaded, analysed and indexed by a thread of its own while the page is served.
 *
 * What a state promises does not change afterwards, so requests read it without a lock; xp_viewer_at says from which
 * state on.  The few calls into the analysis that may be made by one thread at a time are made under `lock`.
 */
#ifndef XP_WEB_VIEWER_H
#define XP_WEB_VIEWER_H

#include <pthread.h>
#include <stdatomic.h>

#include "web/lod.h"

typedef enum { XP_VIEW_READING, XP_VIEW_ANALYSING, XP_VIEW_INDEXING, XP_VIEW_READY, XP_VIEW_FAILED } xp_view_state;

const char *xp_view_state_name(xp_view_state state);

typedef struct {
  const char *path; /* as the user wrote it */
  xp_str bytes;     /* an XSpace in memory (borrowed) instead of what is at the path; ptr is NULL: none */
  const char *run, *host;
  const char *version; /* of the program, for the page */
  int threads;
  int64_t min_gap_ps;               /* as xp_analyze takes it */
  const char *input_regex;          /* so, too; NULL: none */
  const xp_metrics_report *metrics; /* found or given when the capture is read; NULL */
  /* Finds the metrics report beside a capture; NULL: none is looked for. */
  const xp_metrics_report *(*find_metrics)(void *context, const xp_capture *capture);
  void *context;
} xp_viewer_options;

/* A run of a device and the launch that asked for it. */
typedef struct {
  uint32_t launch, device, run;
} xp_launched_run;

/* A row of causes, in words, with the longest of its gaps. */
typedef struct {
  xp_str words;
  const xp_cause_row *row;
  const xp_gap *longest;
} xp_finding;

enum { XP_MOST_FINDINGS = 3 };

struct xp_searches;

typedef struct {
  xp_viewer_options options;
  pthread_t thread;
  bool has_thread;
  _Atomic(int) state;
  atomic_uint_least32_t done; /* of this state, in thousandths */
  xp_error error;             /* from XP_VIEW_FAILED on */
  pthread_mutex_t lock;       /* calls into the analysis */
  pthread_mutex_t state_lock;
  pthread_cond_t state_changed;

  xp_capture *capture; /* from XP_VIEW_ANALYSING on */
  xp_arena *arena;
  xp_str *runs;
  size_t run_count;

  xp_reading *reading; /* from XP_VIEW_INDEXING on */
  xp_tracks tracks;    /* without rows until XP_VIEW_READY */
  xp_finding findings[XP_MOST_FINDINGS];
  size_t finding_count;

  xp_arena *index_arenas[XP_LOD_ARENAS]; /* from XP_VIEW_READY on */
  int64_t from_ps, to_ps;
  xp_launched_run *launched; /* by launch */
  size_t launched_count;
  struct xp_searches *searches;
} xp_viewer;

/* Opens the capture at options->path in a thread of its own.  The texts of the options are borrowed.  The caller ends
 * it with xp_viewer_close.  XP_ERR_MEMORY. */
xp_status xp_viewer_open(const xp_viewer_options *options, xp_viewer **viewer, xp_error *err);

/* Waits for the thread and gives everything back; NULL is allowed. */
void xp_viewer_close(xp_viewer *viewer);

/* Leaves the thread to itself instead, for a program that ends at once; the viewer must not be used or closed then. */
void xp_viewer_abandon(xp_viewer *viewer);

/* Fills in the findings, from the reading (summary.c).  Takes the escape of the analysis' arena if memory is out. */
void xp_findings_find(xp_viewer *viewer);

/* True if the state is reached (and not XP_VIEW_FAILED). */
bool xp_viewer_at(const xp_viewer *viewer, xp_view_state state);

/* Waits until the state is reached or opening failed, at most timeout_ms (-1: as long as it takes); returns the state.
 */
xp_view_state xp_viewer_wait(xp_viewer *viewer, xp_view_state state, int timeout_ms);

#endif
