/* The messages of tensorflow.ProfilerService, as C structures.
 *
 * Reading fills in structures whose strings are slices of the message; writing appends to a buffer.  What is not in a
 * message is 0, false or empty, and such fields are not written.  A reader keeps to protobuf: unknown fields are
 * skipped, of a field that comes twice the last value counts.
 * The reply of Profile may be larger than memory: see rpc/profile_reply.h.
 * Field numbers: xla/tsl/profiler/protobuf/profiler_service.proto.
 */
#ifndef XP_RPC_MESSAGES_H
#define XP_RPC_MESSAGES_H

#include "pjrt/profile_options.h"

#define XP_RPC_PROFILE          "/tensorflow.ProfilerService/Profile"
#define XP_RPC_TERMINATE        "/tensorflow.ProfilerService/Terminate"
#define XP_RPC_MONITOR          "/tensorflow.ProfilerService/Monitor"
#define XP_RPC_START_CONTINUOUS "/tensorflow.ProfilerService/StartContinuousProfiling"
#define XP_RPC_STOP_CONTINUOUS  "/tensorflow.ProfilerService/StopContinuousProfiling"
#define XP_RPC_GET_SNAPSHOT     "/tensorflow.ProfilerService/GetSnapshot"

/* ---------------------------------------------------------------- ProfileRequest */

/* Without the fields that no server reads: tools, tool_options. */
typedef struct {
  uint64_t duration_ms; /* servers go by options.duration_ms */
  uint64_t max_events;  /* servers ignore it */
  xp_str repository_root, session_id, host_name;
  bool emit_xspace; /* reply with the capture; else the server saves it on its own disk */
  bool has_options;
  xp_profile_options options;
} xp_profile_request;

/* Rows come from the arena. */
xp_status xp_profile_request_read(xp_str message, xp_arena *arena, xp_profile_request *request, xp_error *err);

void xp_profile_request_put(xp_wire_writer *w, const xp_profile_request *request);

/* ---------------------------------------------------------------- Terminate and Monitor */

/* TerminateRequest: the session that is to end. */
xp_status xp_terminate_request_read(xp_str message, xp_str *session_id, xp_error *err);
void xp_terminate_request_put(xp_wire_writer *w, xp_str session_id);

typedef struct {
  uint64_t duration_ms;
  int32_t level; /* 1 ultralight, 2 verbose */
  bool timestamp;
} xp_monitor_request;

xp_status xp_monitor_request_read(xp_str message, xp_monitor_request *request, xp_error *err);
void xp_monitor_request_put(xp_wire_writer *w, const xp_monitor_request *request);

/* MonitorResponse: its text.  (monitor_result is skipped; no server fills it in.) */
xp_status xp_monitor_response_read(xp_str message, xp_str *data, xp_error *err);
void xp_monitor_response_put(xp_wire_writer *w, xp_str data);

/* ---------------------------------------------------------------- messages without fields */

/* TerminateResponse, ContinuousProfilingResponse, StopContinuousProfilingRequest and its response are written as no
 * bytes at all.  Reading one only tells whether it is a protobuf message; name: for the error. */
xp_status xp_empty_message_read(xp_str message, const char *name, xp_error *err);

#endif
