/* From the message to the module. */
#ifndef XP_HLO_READ_H
#define XP_HLO_READ_H

#include "base/error.h"
#include "hlo/hlo.h"

/* Reads an HloModuleProto into *module, which lies in the arena.  Slices of the module borrow `message`, which must
 * live as long.  Every id, index and size is checked; an error (XP_ERR_FORMAT, XP_ERR_TRUNCATED, XP_ERR_LIMIT,
 * XP_ERR_MEMORY) names the instruction and the field.  Memory is at most proportional to the message. */
xp_status xp_hlo_read(xp_str message, xp_arena *arena, const xp_hlo_module **module, xp_error *err);

/* The HloModuleProto inside of an HloProto or an HloModuleProtoWithConfig, in both of which it is field 1: a slice of
 * the message.  A message that is an HloModuleProto already is given back as it is. */
xp_status xp_hlo_unwrap(xp_str message, xp_str *module_message, xp_error *err);

#endif
