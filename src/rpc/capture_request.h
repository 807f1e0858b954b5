/* One request to one program for a capture, and what comes back written to disk. */
#ifndef XP_RPC_CAPTURE_REQUEST_H
#define XP_RPC_CAPTURE_REQUEST_H

#include "rpc/grpc_client.h"
#include "rpc/messages.h"
#include "session/run_files.h"
#include "xlaprof/capture.h"

/* What all programs of one capture share. */
typedef struct {
  const xp_capture_options *options;
  const xp_profile_options *profile_options; /* of every request; start_timestamp_ns and duration_ms are set by it */
  char root[XP_PATH_ROOM];                   /* absolute logdir/plugins/profile, told to servers */
  char session_id[XP_RUN_ROOM];              /* told to servers */
  uint64_t first_start_ns;                   /* Unix time at which the first try of every program begins; 0: at once */
  char directory[XP_PATH_ROOM];              /* of the run, here */
} xp_capture_job;

/* Asks once.  Fills in outcome, bytes, path and message of the result (those of before are replaced); true if asking
 * again later may help. */
bool xp_capture_request_once(xp_capture_job *job, const xp_grpc_target *target, xp_capture_result *result);

/* Unix time in ns, delay_ms from now. */
uint64_t xp_unix_time_after_ms(uint64_t delay_ms);

/* Replaces the result's message; keeps the old one when memory is out. */
void xp_capture_result_say(xp_capture_result *result, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
