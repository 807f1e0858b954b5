/* The one session of this process, as an object that its starter holds.
 *
 * Claim it, begin, end (or discard).  The public functions (xlaprof/session.h) and the profiler server both do this.
 */
#ifndef XP_SESSION_SESSION_H
#define XP_SESSION_SESSION_H

#include "pjrt/profile_options.h"
#include "session/profile.h"

typedef struct xp_session xp_session;

/* Takes the process's session, for `holder` (copied; "the profiler server, asked by 10.0.0.3") and an expected time (0:
 * not known).  XP_ERR_BUSY with upstream's text and who holds it since when. */
xp_status xp_session_claim(const char *holder, uint64_t expected_ns, xp_session **session, xp_error *err);

/* What a session records, beside what plugins are told. */
typedef struct {
  xp_keep keep;
  uint64_t buffer_limit_bytes;
} xp_session_buffers;

/* Starts plugins and recorder.  options: borrowed for the call.  Once for each claim.  XP_ERR_PEER with what a plugin
 * said if it fails and the options want that told (raise_error_on_start_failure); after an error discard the session.
 */
xp_status xp_session_begin(xp_session *session, const xp_profile_options *options, const xp_session_buffers *buffers,
                           xp_error *err);

/* Stops everything, collects, and gives the session free; profile is the caller's.  After an error, too, the session is
 * free. */
xp_status xp_session_end(xp_session *session, xp_profile **profile, xp_error *err);

/* Stops everything that was begun, throws it away, and gives the session free. */
void xp_session_discard(xp_session *session);

/* Key and value in turn, NULL at the end, as advanced options: "true" and "false" become bool, whole numbers int.
 * Borrows the texts, rows from the arena.  XP_ERR_USAGE if a key has no value. */
xp_status xp_advanced_options_from_text(const char *const *pairs, xp_arena *arena, xp_profile_options *options,
                                        xp_error *err);

/* Who holds the session, since when and for how long, as in the text of XP_ERR_BUSY; empty if nobody does. */
void xp_session_describe_holder(char *text, size_t room);

#endif
