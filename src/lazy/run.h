/* Computing values: walk, look up or compile, launch, and put the arrays that will hold the results in their places. */
#ifndef XL_RUN_H
#define XL_RUN_H

#include "lazy/graph.h"
#include "lazy/program.h"

typedef struct {
  bool may_donate;          /* the roots are all that is live */
  bool is_eager;            /* one operation of eager mode: other metrics, no explanation */
  const char *cause;        /* why there is a barrier, for XL_DEBUG */
  const xl_location *place; /* whose; may be NULL */
} xl_run_options;

/* Launches the computation of the roots, none of which is an array already, and puts the nodes of the arrays in their
 * places; the arrays are filled later.  After an error everything is as it was. */
xp_status xl_run(xl_device *device, xl_root *roots, size_t count, const xl_run_options *options, xp_error *err);

/* The program of a graph as it would be compiled now, in the arena (without escape). */
xp_status xl_run_lower(const xl_graph *graph, const xl_root *roots, size_t count, xp_arena *arena,
                       const xp_hlo_module **module, xp_error *err);

void xl_run_end(void);

#endif
