/* What torch_xla calls the functions that an operation is counted as: a counter "xla::<function>" for each call. */
#ifndef XL_NATIVE_H
#define XL_NATIVE_H

#include "lazy/op.h"
#include "xlaprof/metrics.h"

typedef struct {
  xp_counter_handle *counter; /* NULL: of no function */
  bool counts_parts;          /* it is composed of others, which are counted as their nodes are built */
  bool is_traced;             /* it builds nodes, in the time that LazyTracing measures */
} xl_native;

/* Of a public operation ("add_" of xl_add_), found by its name: ask once and keep it.  Lives as long as the process. */
const xl_native *xl_native_of(const char *call);

/* Counts the function that builds a node of an operation.  Under the runtime's lock. */
void xl_native_count_node(xl_op op, const void *attrs, size_t rank);

#endif
