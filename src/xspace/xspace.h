/* The capture model: what an XSpace (*.xplane.pb) holds, as columns over the mapped file.
 *
 * A capture is one or more XSpace files (the hosts of one run).  Loading walks each file once: names, ids and numbers
 * of planes and lines; then, in parallel, the metadata tables, and the events of every line into columns (16 bytes an
 * event, in huge pages).  Strings stay in the mapped file.  Stats are decoded when somebody asks.
 *
 * Times are integer picoseconds from the session start: the earliest profile_start_time of all hosts (stat of the plane
 * "Task Environment", Unix ns).  Saved line bases may be relative to the session start of their host or Unix time; both
 * are read.  Without a Task Environment the session start is the earliest Unix line base, else 0.  All arithmetic
 * saturates instead of overflowing.
 *
 * Events of a line are sorted by (start, longest first), stably, whatever the order in the file.
 *
 * Field numbers: tsl/profiler/protobuf/xplane.proto.  Names: xla/tsl/profiler/utils/xplane_schema.cc.
 * Nothing here changes after xp_capture_load; any number of threads may read.
 */
#ifndef XP_XSPACE_XSPACE_H
#define XP_XSPACE_XSPACE_H

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "base/progress.h"
#include "xspace/keys.h"

typedef struct xp_capture xp_capture;
typedef struct xp_host xp_host;
typedef struct xp_plane xp_plane;
typedef struct xp_line xp_line;

/* Flags of an event, found while it was decoded. */
enum {
  XP_EVENT_HAS_STATS = 1u << 31, /* it has stats of its own */
  XP_EVENT_HLO_OP = 1u << 30,    /* stat hlo_op */
  XP_EVENT_STEP = 1u << 29,      /* stat _r (other than 0) or step_num, also in a name like "train#_r=1,step_num=3#" */
  XP_EVENT_LINK = 1u << 28,      /* stat run_id or correlation_id */
  XP_EVENT_FLOW = 1u << 27,      /* stat _p or _c */
  XP_EVENT_UNTIMED = 1u << 26,   /* start 0 (as stored) and duration 0: the time was never recorded; or a negative
                                  * duration, which reads as 0 */
  XP_EVENT_STRAY = 1u << 25,     /* some of it lies more than the length of the session, or three days, away from it */
  XP_EVENT_META_MASK = (1u << 25) - 1
};

/* What the events of one name share (XEventMetadata). */
typedef struct {
  int64_t id;
  xp_str name;         /* for "train#_r=1,step_num=3#" (TraceMe encoding): "train" */
  xp_str args;         /* and here "_r=1,step_num=3"; else empty */
  xp_str display_name; /* may be empty */
  xp_str message;      /* the XEventMetadata message, for its stats (field 5) */
  bool has_stats;      /* some stat stands in it */
} xp_event_meta;

typedef enum {
  XP_STAT_NONE,
  XP_STAT_DOUBLE,
  XP_STAT_UINT64,
  XP_STAT_INT64,
  XP_STAT_STRING, /* str_value, or the name that a ref_value points to */
  XP_STAT_BYTES
} xp_stat_type;

typedef struct {
  xp_key key;        /* XP_KEY_NONE if the name is not one of keys.h */
  xp_str name;       /* "" if the capture does not name the stat's id */
  xp_stat_type type; /* which of the following holds */
  double real;
  uint64_t bits; /* UINT64, INT64: the value, as two's complement */
  xp_str text;   /* STRING, BYTES */
} xp_stat;

struct xp_line {
  xp_plane *plane;
  uint32_t index; /* within the plane */
  int64_t id;     /* opaque: often a hash, may repeat, also within a plane */
  xp_str name, display_name;
  int64_t timestamp_ns; /* as stored */
  int64_t base_ps;      /* what was added to the stored offsets */
  xp_str message;       /* the XLine message */

  size_t count; /* events */
  const int64_t *start_ps;
  const uint32_t *dur; /* below 2^31: ps; else 2^31 + index into long_dur_ps: read with xp_event_dur */
  const int64_t *long_dur_ps;
  const uint32_t *meta; /* index into plane->event_meta, with flags in the high bits */
  size_t untimed, stray;
  uint32_t flags;                    /* all flags of the events, or-ed */
  int64_t first_ps, last_ps;         /* earliest start and latest end of its timed, not stray events; 0, 0 if none */
  bool sorted_in_file;               /* records stand in the order of the columns */
  const uint64_t *block_offset;      /* offset in message.ptr of the record that stands in the file as number 64*i */
  const uint64_t *record_offset;     /* not sorted: offset of the record of every event; else NULL */
  const struct xp_segment *segments; /* of the loader: pieces of the message that can be decoded on their own */
  size_t segment_count;
};

struct xp_plane {
  xp_host *host;
  uint32_t index; /* within the host */
  int64_t id;
  xp_str name;
  xp_str message; /* the XPlane message, for its stats (field 6) */
  xp_line *lines;
  size_t line_count;
  xp_event_meta *event_meta; /* [0] stands for ids that the table lacks */
  size_t event_meta_count;   /* at least 1 */
  xp_str *stat_names;        /* by stat index; [0] stands for ids that the table lacks */
  xp_key *stat_keys;
  size_t stat_count;                    /* at least 1 */
  size_t unnamed_events;                /* events whose metadata id is not in the table (0 with no_events) */
  const struct xp_plane_tables *tables; /* of the loader: from ids in the file to indices and flags */
};

typedef enum { XP_FILE_OK, XP_FILE_EMPTY, XP_FILE_TRUNCATED, XP_FILE_DAMAGED, XP_FILE_UNREADABLE } xp_file_status;

struct xp_host {
  xp_capture *capture;
  uint32_t index;
  xp_str path;
  xp_str name; /* XSpace.hostnames[0]; else the file name without .xplane.pb; unique within the capture */
  xp_file file;
  xp_file_status status;
  xp_str problem; /* a sentence with the byte offset, empty if status is XP_FILE_OK */
  uint64_t bytes; /* size on disk */
  xp_plane *planes;
  size_t plane_count;
  xp_str *messages; /* XSpace.errors and XSpace.warnings */
  size_t message_count;
  bool has_session; /* a Task Environment gave both bounds */
  int64_t start_unix_ns, stop_unix_ns;
  int64_t start_ps, stop_ps; /* relative to the session start of the capture; without a session the extent of events */
};

struct xp_capture {
  xp_arena *arena;
  xp_str run;     /* name of the run directory, empty for a single file */
  xp_host *hosts; /* also those that could not be read */
  size_t host_count;
  xp_str *notes; /* what the search for files left out, sentences */
  size_t note_count;
  uint64_t events;       /* of all hosts */
  bool has_session;      /* of at least one host */
  int64_t start_unix_ns; /* 0 if unknown */
  int64_t dur_ps;        /* session start to the latest session end; without a session to the last event */
  bool partial;          /* some file was empty, cut, damaged or unreadable */
};

typedef struct {
  const char *run;  /* name of the run to read, NULL for the newest */
  const char *host; /* read only this host, NULL for all */
  int threads;      /* 0: one for each processor */
  bool no_events;   /* leave the columns of events out (counts, names and bases are there) */
  const xp_progress *progress;
} xp_load_options;

/* Loads the capture at a path: a file, a run directory, a plugins/profile directory, a log directory or a parent of
 * them, or "-" for standard input (see xspace/find.h).  Gzip and zstd files are unpacked.
 *
 * Returns XP_OK also for captures read in part (capture->partial, host->status and host->problem say what is missing):
 * a cut file gives the planes before the cut, a damaged plane is left out and those after it are read.  If nothing at
 * all could be read, the status of the first problem is returned with its text, and *capture is NULL. The caller frees
 * with xp_capture_free. */
xp_status xp_capture_load(const char *path, const xp_load_options *options, xp_capture **capture, xp_error *err);

/* The same for one XSpace in memory, which is borrowed until xp_capture_free.  `name` is used as path and host name. */
xp_status xp_capture_load_memory(xp_str bytes, const char *name, const xp_load_options *options, xp_capture **capture,
                                 xp_error *err);

/* Frees everything, slices into the mapped files included; NULL is allowed. */
void xp_capture_free(xp_capture *capture);

/* ---- events */

static inline int64_t xp_event_dur(const xp_line *line, size_t i)
{
  uint32_t d = line->dur[i];
  return d < 0x80000000u ? (int64_t)d : line->long_dur_ps[d & 0x7fffffffu];
}

/* End of an event; saturates. */
static inline int64_t xp_event_end(const xp_line *line, size_t i)
{
  int64_t end;
  return __builtin_add_overflow(line->start_ps[i], xp_event_dur(line, i), &end) ? INT64_MAX : end;
}

/* False if the event is untimed or stray: then it belongs to no interval. */
static inline bool xp_event_has_time(const xp_line *line, size_t i)
{
  return (line->meta[i] & (XP_EVENT_UNTIMED | XP_EVENT_STRAY)) == 0;
}

static inline const xp_event_meta *xp_event_meta_of(const xp_line *line, size_t i)
{
  return &line->plane->event_meta[line->meta[i] & XP_EVENT_META_MASK];
}

static inline xp_str xp_event_name(const xp_line *line, size_t i)
{
  return xp_event_meta_of(line, i)->name;
}

/* Finds the records of events in the file.  Cheap when the indices rise; good for random access, too. */
typedef struct {
  const xp_line *line;
  size_t next;
  const uint8_t *pos;
  const uint8_t *kept; /* what lies before was given back to the page cache */
} xp_event_cursor;

static inline xp_event_cursor xp_event_cursor_open(const xp_line *line)
{
  xp_event_cursor c = {line, 0, NULL, NULL};
  return c;
}

/* Gives the pages of a mapped file between two addresses back; they are read again from the page cache when somebody
 * looks at them.  Does nothing for content that lies in no mapped file. */
void xp_pages_release(const xp_host *host, const uint8_t *from, const uint8_t *to);

/* The XEvent message of event i. */
xp_str xp_event_record(xp_event_cursor *cursor, size_t i);

/* ---- stats */

typedef struct {
  const xp_plane *plane;
  xp_str parts[2];        /* messages that hold stats: the event, then its metadata */
  uint32_t part_field[2]; /* the field of the stats in each */
  xp_str args;            /* pairs of a TraceMe name; between the two parts */
  int stage;
  const uint8_t *pos; /* within the current part */
} xp_stats;

/* The stats of event i: its own, then those encoded in its name, then those of its metadata.  The first of equal keys
 * wins.  An event may hold a stat more than once. */
xp_stats xp_event_stats(xp_event_cursor *cursor, size_t i);

/* The stats of a plane, and of an event metadata entry. */
xp_stats xp_plane_stats(const xp_plane *plane);
xp_stats xp_meta_stats(const xp_plane *plane, const xp_event_meta *meta);

/* The next stat; false at the end (damaged stats end the iteration). */
bool xp_stats_next(xp_stats *stats, xp_stat *stat);

/* The first stat with a key; false (and *stat of type XP_STAT_NONE) if there is none. */
bool xp_stats_find(xp_stats stats, xp_key key, xp_stat *stat);

/* Which stats xp_stats_pick reads: slot[key] is 1 + the place in its output; 0: not wanted. */
typedef struct {
  uint8_t slot[XP_KEY_COUNT];
} xp_stat_picker;

/* Reads the wanted stats of event i into out[0 .. count-1], type XP_STAT_NONE where the event has none.  The same as
 * looking for each with xp_stats_find, in one pass that skips all others. */
void xp_stats_pick(xp_event_cursor *cursor, size_t i, const xp_stat_picker *picker, xp_stat *out, size_t count);

/* The value of an integer stat, also of one stored as text or double; `otherwise` if it is none. */
int64_t xp_stat_int(const xp_stat *stat, int64_t otherwise);

/* The text of a stat; empty if it is none. */
xp_str xp_stat_text(const xp_stat *stat);

#endif
