/* Writing an XSpace: planes, lines, events, stats, in the order of field numbers as upstream does.
 *
 * The writer builds one plane at a time in memory and hands finished planes to the caller's buffer.  Names become
 * metadata entries, numbered 1, 2, 3 .. within their plane; equal names share one.
 */
#ifndef XP_XSPACE_WRITE_H
#define XP_XSPACE_WRITE_H

#include "base/str.h"
#include "wire/wire.h"

typedef struct xp_plane_writer xp_plane_writer;

/* A plane under construction; NULL when memory is out.  Ended by xp_plane_writer_finish or xp_plane_writer_free. */
xp_plane_writer *xp_plane_writer_create(xp_str name, int64_t id);

/* The id of an event name, new if it was not there.  The first display name that is not empty stays. */
int64_t xp_plane_writer_event(xp_plane_writer *plane, xp_str name, xp_str display_name);

/* The same for entries that may share a name and yet have stats of their own: the key, which must not be a name, tells
 * them apart. */
int64_t xp_plane_writer_event_of(xp_plane_writer *plane, xp_str key, xp_str name, xp_str display_name);

/* The id of a stat name, likewise. */
int64_t xp_plane_writer_stat(xp_plane_writer *plane, xp_str name);

/* Starts a line; the events that follow belong to it. */
void xp_plane_writer_line(xp_plane_writer *plane, int64_t id, xp_str name, int64_t timestamp_ns);

/* Appends an event: offset_ps from the line's timestamp_ns, duration in ps. */
void xp_plane_writer_add(xp_plane_writer *plane, int64_t event_id, int64_t offset_ps, int64_t dur_ps);

/* Stats go to the event added last (or, before the first line, to the plane). */
void xp_plane_writer_int(xp_plane_writer *plane, int64_t stat_id, int64_t value);
void xp_plane_writer_uint(xp_plane_writer *plane, int64_t stat_id, uint64_t value);
void xp_plane_writer_double(xp_plane_writer *plane, int64_t stat_id, double value);
void xp_plane_writer_text(xp_plane_writer *plane, int64_t stat_id, xp_str value); /* str_value */
void xp_plane_writer_bytes(xp_plane_writer *plane, int64_t stat_id, xp_str value);
void xp_plane_writer_ref(xp_plane_writer *plane, int64_t stat_id, xp_str value); /* value becomes a stat name */

/* A stat of an event metadata entry (constant for all its events). */
void xp_plane_writer_meta_uint(xp_plane_writer *plane, int64_t event_id, int64_t stat_id, uint64_t value);
void xp_plane_writer_meta_text(xp_plane_writer *plane, int64_t event_id, int64_t stat_id, xp_str value);
void xp_plane_writer_meta_bytes(xp_plane_writer *plane, int64_t event_id, int64_t stat_id, xp_str value);

/* True if the metadata entry of an event has nothing but names so far. */
bool xp_plane_writer_meta_is_bare(const xp_plane_writer *plane, int64_t event_id);

/* Records for the XEventMetadata message of an event (fields 3, 5, 6), and stats of the plane (field 6), as they stand.
 */
void xp_plane_writer_meta_raw(xp_plane_writer *plane, int64_t event_id, const xp_wire_writer *records);
void xp_plane_writer_stats_raw(xp_plane_writer *plane, const xp_wire_writer *records);

/* Writes what follows the lines of a plane: its metadata and stats (fields 4 to 6), for callers that write the lines
 * themselves.  False if memory ran out at any time. */
bool xp_plane_writer_tables(xp_plane_writer *plane, xp_wire_writer *records);

/* Appends the plane to an XSpace (field 1) and frees it.  Returns false if memory ran out at any time; nothing is
 * appended then. */
bool xp_plane_writer_finish(xp_plane_writer *plane, xp_wire_writer *space);

void xp_plane_writer_free(xp_plane_writer *plane);

#endif
