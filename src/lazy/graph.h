/* The graph below some values, in order, with what a program of it depends on.
 *
 * One walk gives every node a number, operands before users, and a hash of 128 bits of all that is computed below it:
 * from its own hash and those of its operands, where an array counts as the number of its first use.  The key is made
 * of the hashes of the results.  So it is the same for the same work on other arrays, and for a value that one graph
 * computes once and another one twice (as views of updated tensors are); programs of equal keys give equal results.
 */
#ifndef XL_GRAPH_H
#define XL_GRAPH_H

#include "lazy/data.h"

typedef struct {
  uint64_t high, low;
} xl_key;

/* A value to compute: where the node stands (a reference, replaced by that of the array), and what may be donated. */
typedef struct {
  xl_node **place;
  xl_data *last;   /* may be NULL; borrowed */
  uint32_t output; /* set by the walk: which result of the program it is, */
  bool is_first;   /* whether it is the first root with that result, */
  int64_t alias;   /* and the parameter that it may reuse; -1: none */
} xl_root;

typedef struct {
  xl_node **nodes; /* in order */
  xl_key *hashes;  /* of each */
  size_t node_count, node_capacity, hash_capacity;
  xl_data **parameters; /* arrays, in the order of their first use */
  size_t parameter_count, parameter_capacity;
  xl_node **outputs; /* the results, each once */
  size_t output_count, output_capacity;
  uint32_t *result_of; /* of each node that is a result, which one */
  size_t result_capacity;
  xl_node **stack;
  size_t stack_capacity;
  size_t alias_count;
  xl_key key;
  bool failed; /* memory ran out */
} xl_graph;

/* Walks the graph of the roots.  may_donate: look for arrays that nobody else can see (for barriers that compute all
 * that is live).  The graph's memory is used again by the next walk. */
void xl_graph_walk(xl_graph *graph, xl_root *roots, size_t count, bool may_donate);

void xl_graph_end(xl_graph *graph);

#endif
