/* Compiling a program for a machine that is not here, in a process of its own: compilers of plugins abort on what they
 * do not like, and a crash must become a message.
 */
#ifndef XLAPROF_AHEAD_H
#define XLAPROF_AHEAD_H

#include "base/arena.h"
#include "base/error.h"

typedef struct {
  xp_str program;     /* HloModuleProto, or MLIR */
  const char *format; /* "hlo" or "mlir" */
  const char *plugin, *topology;
} ahead_request;

/* The compiled program (an HloModuleProto, in the arena) and how long it took.  XP_ERR_PEER: the plugin refused or
 * died; the text has its own words. */
xp_status ahead_compile(const ahead_request *request, xp_arena *arena, xp_str *compiled, int64_t *compile_ps,
                        xp_error *err);

#endif
