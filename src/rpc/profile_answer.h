/* What a client of Profile gets for the profile that was collected. */
#ifndef XP_RPC_PROFILE_ANSWER_H
#define XP_RPC_PROFILE_ANSWER_H

#include <stdatomic.h>

#include "rpc/grpc_server.h"
#include "rpc/messages.h"
#include "session/profile.h"

/* Answers the call: with the capture itself where the client asks for it (emit_xspace), else it is saved on this disk,
 * in repository_root/session_id/<host>.xplane.pb.  Takes the profile.  *under_way is one more while the capture is
 * being sent. */
void xp_profile_answer(xp_grpc_call *call, const xp_profile_request *request, xp_profile *profile,
                       atomic_uint *under_way);

#endif
