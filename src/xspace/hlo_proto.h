/* Reading the names out of one serialized xla.HloProto.  Used by hlo_names.c alone. */
#ifndef XP_XSPACE_HLO_PROTO_H
#define XP_XSPACE_HLO_PROTO_H

#include "xspace/hlo_names.h"

/* Fills the program from the proto; sets program->damaged where the bytes make no sense, and keeps what was read. */
void xp_hlo_proto_read(xp_arena *arena, xp_str proto, xp_hlo_program *program);

#endif
