/* The plane /host:CPU of a capture: this process's recorded threads, and what plugins collected of the host. */
#ifndef XP_SESSION_HOST_PLANE_H
#define XP_SESSION_HOST_PLANE_H

#include "annotate/recorder.h"
#include "session/plane_copy.h"

/* True if upstream merges planes of this name into /host:CPU. */
bool xp_is_host_plane(xp_str name);

/* Appends /host:CPU to the XSpace (field 1), also when it has no line: recording (may be NULL), and planes of plugins,
 * of which damaged[i] says whether plane i could not be read to its end.  Everything borrowed lives as long as the
 * rope. */
void xp_host_plane_append(xp_rope *space, const xp_recording *recording, const xp_str *planes, size_t plane_count,
                          bool *damaged, const xp_plane_frame *frame);

/* The same for planes of any other name that several plugins gave: one plane of that name. */
void xp_merged_plane_append(xp_rope *space, xp_str name, const xp_str *planes, size_t plane_count, bool *damaged,
                            const xp_plane_frame *frame);

#endif
