/* Why programs are compiled and run, on request: the variable XL_DEBUG (1: compiles, 2: executions as well), in the
 * form of torch_xla's PT_XLA_DEBUG_LEVEL (torch_xla/csrc/debug_util.cpp), to stderr or the file XL_DEBUG_FILE. */
#ifndef XL_EXPLAIN_H
#define XL_EXPLAIN_H

#include "xlaprof/lazy.h"

typedef struct {
  const char *cause;
  const char *graph_name; /* may be NULL */
  const char *hash;
  size_t inputs, outputs;
  const xl_location *place; /* of the barrier; may be NULL */
  const xp_open_step *step; /* in which it is; may be NULL */
} xl_explanation;

/* What is asked for; 0: nothing. */
int xl_explain_level(void);

void xl_explain_compile(const xl_explanation *why);
void xl_explain_execute(const xl_explanation *why);

#endif
