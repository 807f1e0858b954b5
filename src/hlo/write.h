/* From the module to the message. */
#ifndef XP_HLO_WRITE_H
#define XP_HLO_WRITE_H

#include "hlo/hlo.h"
#include "wire/wire.h"

/* Appends the module as an HloModuleProto, as XLA and plugins take it (program format "hlo").  Ids are written as the
 * module has them.  The writer is `failed` if memory was out. */
void xp_hlo_write(const xp_hlo_module *module, xp_wire_writer *out);

#endif
