/* The state of one load, shared by the files that do its phases.
 *
 *   space.c    top level of each file: ranges of planes, host name, messages; what a file is that is no XSpace
 *   plane.c    each plane: ranges of lines, metadata tables
 *   segment.c  each line: its own fields, number of events, pieces that can be decoded in parallel
 *   session.c  when the session was, and what the base of each line is
 *   decode.c   the events of each piece into columns
 *   finish.c   what the pieces of a line found, summed up
 *   order.c    lines whose events are not in order
 *   hosts.c    which files there are, and how their hosts are called
 *   load.c     all of it in turn, and the public functions
 *
 * The first and the fourth run in the calling thread, the others on all cores.  Each worker allocates in an arena of
 * its own, which lives as long as the capture.  A worker that runs out of memory sets `failed`, and the load ends after
 * the phase.
 */
#ifndef XP_XSPACE_LOAD_H
#define XP_XSPACE_LOAD_H

#include <stdatomic.h>

#include "base/sum.h"
#include "xspace/tables.h"

enum { XP_MOST_WORKERS = 64 };

/* Where a message is damaged; pos is NULL if it is not. */
typedef struct {
  const uint8_t *pos;
  xp_wire_status why;
} xp_damage;

/* The fields of an XLine beside its events, and which of them were seen. */
typedef struct {
  bool has_id, has_timestamp, has_name, has_display_name;
  int64_t id, timestamp_ns;
  xp_str name, display_name;
} xp_line_fields;

/* Some durations of 2^31 ps and more, in the order of their events. */
typedef struct xp_long_durs {
  struct xp_long_durs *older;
  size_t first, count; /* index of the first within the segment, and how many */
  int64_t values[508];
} xp_long_durs;

/* A piece of an XLine message: the records that begin in [from, stop).  The first starts at `from`; `end` is where the
 * last one ends. */
typedef struct xp_segment {
  xp_line *line;
  size_t from, stop, end;
  size_t first, count; /* events: index of the first within the line, and how many */
  xp_line_fields fields;
  xp_damage damage;

  /* Found by decoding. */
  size_t untimed, stray, unnamed;
  uint32_t flags;
  bool sorted;
  int64_t last_ps;                                    /* latest end of the timed events that are not stray */
  int64_t head_start, head_dur, tail_start, tail_dur; /* first and last event */
  xp_long_durs *long_durs;                            /* durations that do not fit into the column, newest first */
  size_t long_count;
} xp_segment;

/* A plane while it is loaded. */
typedef struct {
  xp_plane plane;
  xp_damage damage;
  size_t event_entries, stat_entries; /* map entries in the file */
} xp_plane_draft;

typedef struct {
  xp_host *host;
  xp_plane_draft *drafts;
  size_t draft_count;
  xp_str file_name; /* last component of the path */
  xp_status error;  /* of host->problem */
  bool left_out;    /* by options->host */
} xp_host_draft;

/* Segments that one task handles one after the other. */
typedef struct {
  size_t first, count;
} xp_batch;

typedef struct {
  xp_capture capture; /* first: what the caller gets */
  xp_arena *worker_arenas[XP_MOST_WORKERS];

  xp_load_options options;
  int threads;
  atomic_bool failed;
  xp_host_draft *hosts; /* as many as capture.host_count */
  xp_plane_draft **planes;
  size_t plane_count;
  xp_segment *segments;
  size_t segment_count;
  xp_batch *batches;
  size_t batch_count;
  uint64_t bytes_total;
  atomic_uint_least64_t bytes_done;
  uint64_t bytes_told;
} xp_loader;

/* Runs a phase over all items on all cores with a guarded arena for each worker. */
typedef void (*xp_phase)(xp_loader *loader, size_t item, xp_arena *arena);
void xp_loader_run(xp_loader *loader, size_t count, xp_phase phase);

/* Adds to the bytes that are done and tells the listener. */
void xp_loader_progress(xp_loader *loader, uint64_t bytes, bool is_first_worker);

/* space.c */
void xp_space_walk(xp_loader *loader, xp_host_draft *draft);

/* sniff.c */
bool xp_space_is_text(xp_str bytes);
xp_str xp_space_looks_like(xp_arena *arena, xp_str bytes);

/* plane.c */
void xp_plane_load(xp_loader *loader, size_t item, xp_arena *arena);

/* segment.c */
void xp_segments_plan(xp_loader *loader);
void xp_segments_scan(xp_loader *loader, size_t batch, xp_arena *arena);
void xp_segments_join(xp_loader *loader);

/* session.c */
/* XP_ERR_USAGE if the sessions of the hosts lie so far apart that they cannot be of one run. */
xp_status xp_session_check(const xp_loader *loader, xp_error *err);

void xp_session_find(xp_loader *loader);
void xp_session_extent(xp_loader *loader);

/* decode.c */
void xp_columns_allocate(xp_loader *loader);
void xp_segments_decode(xp_loader *loader, size_t batch, xp_arena *arena);

/* finish.c */
void xp_plane_finish(xp_loader *loader, size_t item, xp_arena *arena);

/* order.c: puts the columns of a line in order.  False if memory is out. */
bool xp_line_sort(xp_line *line, xp_arena *arena);

/* hosts.c */
xp_status xp_hosts_open(xp_loader *loader, const char *path, xp_error *err);
void xp_hosts_name(xp_loader *loader);
xp_status xp_hosts_select(xp_loader *loader, xp_error *err);
void xp_host_name_from_path(xp_host_draft *draft);

/* Records the first problem of a host. */
void xp_host_problem(xp_host_draft *draft, xp_file_status status, xp_status error, xp_str text);

static inline int64_t xp_ns_to_ps(int64_t ns)
{
  int64_t ps;
  return !__builtin_mul_overflow(ns, 1000, &ps) ? ps : ns < 0 ? INT64_MIN : INT64_MAX;
}

#endif
