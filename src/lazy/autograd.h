/* Gradients: what an operation keeps of its inputs, and the walk back from a result to the leaves.
 *
 * Each operation whose inputs want gradients leaves a grad node behind, with an edge for each input: to the grad node
 * of that input, or to the leaf itself.  A grad node keeps tensors, not values: as in torch, what it kept may be
 * updated in place meanwhile, which is an error then.  They are kept as aliases without history: the history of an
 * input may come to lead here by an update, and that would be a ring.
 */
#ifndef XL_AUTOGRAD_H
#define XL_AUTOGRAD_H

#include "lazy/apply.h"

typedef struct {
  xl_grad_node *source; /* a reference; NULL: a leaf, or nothing */
  xl_var *leaf;         /* a reference; NULL: none */
  xl_var *saved;        /* a reference; NULL: not kept */
  uint32_t generation;  /* of its storage, when it was kept */
  xl_type type;
  xl_shape shape;
} xl_grad_input;

struct xl_grad_node {
  uint32_t refs;
  xl_op op;
  uint64_t sequence; /* grows from operation to operation */
  const xl_scope *scope;
  const xl_location *place;
  bool is_spent; /* what it kept was freed by a backward pass */
  xl_type type;
  xl_shape shape; /* of the result */
  xl_var *output; /* kept result, an alias; a reference; NULL: not kept */
  uint32_t output_generation;
  xl_var *gradient;   /* of the result, while a backward pass runs and until it came here.  A reference */
  bool is_collected;  /* by the backward pass that runs */
  xl_grad_node *next; /* of those that wait to be freed */
  size_t input_count, attr_bytes;
  xl_grad_input *inputs;
  int64_t *attrs;
};

/* What a gradient function works with.  Everything is borrowed. */
struct xl_gradient {
  const xl_grad_node *node;
  xl_var *grad;        /* of the result */
  xl_var *in[3], *out; /* what was kept of the first inputs, and the result */
  const void *attrs;
  xl_var **result; /* to be set for each input that wants one: its broadcasting and type are undone later */
};

static inline bool xl_gradient_wanted(const xl_gradient *to, size_t input)
{
  return to->node->inputs[input].source != NULL || to->node->inputs[input].leaf != NULL;
}

/* Whether gradients go through a tensor. */
static inline bool xl_has_gradient(const xl_var *var)
{
  return var->wants_grad || var->history != NULL;
}

static inline xl_grad_node *xl_grad_node_hold(xl_grad_node *node)
{
  if (node != NULL) {
    node->refs++;
  }
  return node;
}

/* Makes the history of a view again from that of its base, if the memory was updated meanwhile.  False with an error:
 * memory, or the view was taken while gradients were off, which torch refuses as well. */
bool xl_history_follow(xl_var *var);

/* Leaves a grad node behind for a result, if its inputs want that and grad mode is on.  False with an error. */
bool xl_record(xl_var *output, const xl_result *result, xl_var *const *inputs, size_t count);

/* NULL is allowed.  Histories of any length are freed without recursion. */
void xl_grad_node_drop(xl_grad_node *node);

/* Frees what a node kept; its edges stay. */
void xl_grad_node_forget(xl_grad_node *node);

/* x summed to a shape that it was broadcast from. */
xl_var *xl_sum_to(xl_var *x, const xl_shape *shape);

#endif
