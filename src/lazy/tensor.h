/* Tensors behind the handles: memory that views share, and torch's functionalisation of updates in place.
 *
 * A storage is the memory: its cell holds the value of the base tensor, and its generation counts updates.  A view has
 * a chain of view operations from the base, a cell with its own value, and the generation that this value is of.  A
 * view whose generation is not the storage's is computed again from the base when it is used.  A new view says
 * generation 0 although its value is new, as torch's does; so a view of memory that was ever updated is computed twice
 * (xl_set_fresh_views ends that).
 *
 * An update of a view is written back into the base at once, through the chain (lazy/update.c).
 *
 * Gradients know memory by another base: the tensor that a view was taken of first, which is the storage's own, or one
 * that was detached, or a view that was made a leaf.  An update of a view changes the history of that base; views of it
 * take theirs from there again when they are used, as they do with values.
 *
 * All are counted: handles, views, saved values and gradients hold tensors; tensors hold their storage.
 */
#ifndef XL_TENSOR_H
#define XL_TENSOR_H

#include "lazy/cell.h"
#include "lazy/device.h"

typedef struct xl_grad_node xl_grad_node;

typedef struct {
  uint32_t refs; /* tensors that lie in it */
  uint32_t generation;
  xl_device *device;
  xl_cell cell;
} xl_storage;

/* One view operation behind others. */
typedef struct xl_view xl_view;
struct xl_view {
  uint32_t refs;
  xl_op op;
  xl_view *parent; /* NULL: of the base.  A reference */
  uint32_t depth;  /* operations up to this one */
  xl_shape shape, parent_shape;
  const xl_scope *scope; /* in which it was taken, and where: it has these names whenever it is computed again */
  const xl_location *place;
  uint32_t attr_bytes;
  int64_t attrs[]; /* of the node */
};

struct xl_var {
  uint32_t refs;
  uint32_t history_generation; /* of a view: the generation that its history is of (xl_history_follow) */
  xl_storage *storage;
  xl_view *view; /* NULL: it is the base */
  xl_cell cell;  /* of a view */
  uint32_t generation;
  xl_type type : 8;
  bool wants_grad;         /* a leaf */
  bool is_view_unrecorded; /* a view that was taken while gradients were off, or of such a one */
  xl_shape shape;
  xl_var *grad;          /* of a leaf; a reference */
  xl_grad_node *history; /* what it was computed by, if gradients go through it.  A reference */
  xl_var *base;          /* of a view: the tensor whose history has what all its views do.  A reference; NULL: none */
};

/* The operations of a view from its first to its last. */
typedef struct {
  size_t count;
  const xl_view **links;
  const xl_view *at_hand[8];
} xl_chain;

/* The chain from behind a view (NULL: from the memory itself) to one that was taken of it.  False with an error, and
 * then there is nothing to close. */
bool xl_chain_open(xl_chain *chain, const xl_view *from, const xl_view *to);
void xl_chain_close(xl_chain *chain);

/* A base tensor; takes the reference to value.  NULL when memory is out. */
xl_var *xl_var_create(xl_device *device, xl_type type, const xl_shape *shape, xl_node *value);

/* A view of x, whose value (takes the reference) is view_op of the value of x.  NULL when memory is out. */
xl_var *xl_var_view(xl_var *x, const xl_node_parts *parts, xl_node *value);

/* A tensor in the memory of x that has no part in gradients. */
xl_var *xl_var_alias(xl_var *x);

static inline xl_var *xl_var_hold(xl_var *var)
{
  var->refs++;
  return var;
}

void xl_var_drop(xl_var *var);

/* The value as it is now, computed again if it is a view that fell behind; borrowed.  NULL with an error. */
xl_node *xl_var_value(xl_var *var);

/* Takes a value for the memory, and for a view its own (references): all others that share the memory fall behind. */
void xl_var_update(xl_var *var, xl_node *memory, xl_node *value);

static inline xl_device *xl_var_device(const xl_var *var)
{
  return var->storage->device;
}

#endif
