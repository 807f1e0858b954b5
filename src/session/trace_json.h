/* <host>.trace.json.gz: the capture in the format of Chrome's trace viewer, as upstream writes it beside every capture
 * that a program makes of itself.
 *
 * Content: xla/tsl/profiler/convert/xplane_to_trace_events.cc, trace_events_to_json.cc.  Times are written exactly,
 * where upstream writes 17 digits of a double.
 */
#ifndef XP_SESSION_TRACE_JSON_H
#define XP_SESSION_TRACE_JSON_H

#include "xspace/xspace.h"

/* Most events in a file, the earliest of all; TF_PROFILER_TRACE_VIEWER_MAX_EVENTS changes it, as upstream. */
#define XP_TRACE_JSON_EVENTS 5000000u

/* Writes the events of a loaded capture of one host, gzip, to a file descriptor, which stays open.  most: 0 for
 * XP_TRACE_JSON_EVENTS. */
xp_status xp_trace_json_write(const xp_capture *capture, int fd, uint64_t most, xp_error *err);

#endif
