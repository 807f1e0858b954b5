/* Planes that a plugin collected, as they go into the capture. */
#ifndef XP_SESSION_PLANE_COPY_H
#define XP_SESSION_PLANE_COPY_H

#include "session/rope.h"

/* Times of a session that planes are put in relation to. */
typedef struct {
  int64_t start_unix_ns; /* line bases at or after it become relative to it */
  int64_t process_id;    /* becomes a stat of planes that have none */
} xp_plane_frame;

/* A line base as it is saved: relative to the session's start, or as it was if it lies before (it is relative already).
 */
static inline int64_t xp_plane_frame_base_ns(const xp_plane_frame *frame, int64_t timestamp_ns)
{
  return timestamp_ns >= frame->start_unix_ns ? timestamp_ns - frame->start_unix_ns : timestamp_ns;
}

/* The name of an XPlane message. */
xp_str xp_plane_message_name(xp_str plane);

/* Appends the XPlane message to the rope as field 1 of an XSpace, with times as above, events of each line in order,
 * and process_id.  Borrows the message's bytes; scratch is for the time of the call.  False if the message is damaged:
 * nothing is appended.  When memory is out the rope fails. */
bool xp_plane_copy(xp_rope *space, xp_str plane, const xp_plane_frame *frame, xp_arena *scratch);

#endif
