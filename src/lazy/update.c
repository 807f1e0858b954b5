/* Updates in place.
 *
 * The new value of a view goes back through its chain: from the innermost view outwards, what each was taken of gets
 * the view's part replaced.  That is done by operations on tensors, so that it is recorded like others: the history of
 * the base leads through the update for the view's part, and around it for the rest (torch's CopySlices).  Where the
 * base is a detached view, the rest of the way to the memory follows without a history.
 */
#include <stdlib.h>

#include "lazy/autograd.h"
#include "lazy/op_views.h"

enum { TENSORS_AT_HAND = 8 };

/* What stands in the way of an update in place, as torch has it; true if nothing does. */
static bool may_update(xl_var *x, const xl_var *value)
{
  const xl_var *base = x->base != NULL ? x->base : x;
  if (xl_rt.thread->grad_is_off || !(xl_has_gradient(x) || xl_has_gradient(base) || xl_has_gradient(value))) {
    return true;
  }
  if (x->is_view_unrecorded) {
    xl_refuse(XP_ERR_USAGE, "a view that was taken inside XL_NO_GRAD is updated in place while gradients are recorded; "
                            "do both inside XL_NO_GRAD, or both outside");
    return false;
  }
  if (base->wants_grad) {
    xl_refuse(XP_ERR_USAGE, "a %sleaf that wants a gradient is updated in place; do it inside XL_NO_GRAD",
              base != x ? "view of a " : "");
    return false;
  }
  return true;
}

/* The view of x that a view operation gives, under the names that it was taken with. */
static xl_var *view_of(const xl_view *view, xl_var *x)
{
  const xl_result result = {view->op, x->type, view->shape, view->attrs, view->attr_bytes};
  const xl_scope *scope = xl_rt.scope;
  const xl_location *place = xl_rt.place;
  xl_rt.scope = view->scope;
  xl_rt.place = view->place;
  xl_var *var = xl_apply_view(&result, x);
  xl_rt.scope = scope;
  xl_rt.place = place;
  return var;
}

/* x with the part replaced that a chain of views takes of it.  before[i] is what link i was taken of. */
static xl_var *put(xl_var *x, const xl_chain *chain, xl_var **before, xl_var *value)
{
  before[0] = x;
  for (size_t i = 1; i < chain->count; i++) {
    before[i] = before[i - 1] != NULL ? view_of(chain->links[i - 1], before[i - 1]) : NULL;
  }
  for (size_t i = chain->count; i > 0; i--) {
    value = xl_view_put_back(chain->links[i - 1], before[i - 1], value);
  }
  return value;
}

/* The same for the chain from behind a view (NULL: from the memory) to another. */
static xl_var *put_through(xl_var *x, const xl_view *from, const xl_view *to, xl_var *value)
{
  xl_var *at_hand[TENSORS_AT_HAND];
  xl_chain chain;
  if (x == NULL || value == NULL || !xl_chain_open(&chain, from, to)) {
    return NULL;
  }
  xl_var **before = chain.count <= TENSORS_AT_HAND ? at_hand : malloc(chain.count * sizeof(xl_var *));
  if (before == NULL) {
    value = xl_refuse(XP_ERR_MEMORY, "there is no memory for a view of %zu views", chain.count);
  } else if (chain.count > 0) {
    value = put(x, &chain, before, value);
  }
  if (before != at_hand) {
    free(before);
  }
  xl_chain_close(&chain);
  return value;
}

/* The memory that a view lies in, as a tensor of its own. */
static xl_var *memory_of(const xl_var *var)
{
  const xl_view *first = var->view;
  while (first->parent != NULL) {
    first = first->parent;
  }
  xl_node *value = xl_node_hold(var->storage->cell.value);
  return xl_made(xl_var_create(var->storage->device, var->type, &first->parent_shape, value));
}

/* The value of the memory for that of a base; borrowed. */
static xl_node *memory_with(const xl_var *base, xl_var *value)
{
  xl_var *memory = base->view == NULL ? value : put_through(memory_of(base), NULL, base->view, xl_copy(value));
  return memory != NULL ? xl_var_value(memory) : NULL;
}

static void set_history(xl_var *x, xl_grad_node *history)
{
  xl_grad_node *old = x->history;
  x->history = xl_grad_node_hold(history);
  xl_grad_node_drop(old);
}

/* Histories after an update: a view whose value has one needs no way through the base. */
static void update_histories(xl_var *x, xl_var *base, const xl_var *base_value, const xl_var *value)
{
  set_history(base, base_value->history);
  if (x != base && value->history != NULL) {
    set_history(x, value->history);
    x->history_generation = x->storage->generation;
  }
}

/* The new value of a base.  If nothing that has a gradient is in it, what the base was has the gradient 0, and not
 * none.
 */
static xl_var *base_with(xl_var *base, xl_var *x, xl_var *value)
{
  xl_var *result = base == x ? value : put_through(xl_copy_before(base), base->view, x->view, value);
  if (result == NULL || xl_rt.thread->grad_is_off || !xl_has_gradient(base) || xl_has_gradient(result)) {
    return result;
  }
  const xl_result overwrite = {.op = XL_OP_OVERWRITE, .type = base->type, .shape = base->shape};
  xl_var *before = xl_copy_before(base);
  return before != NULL && xl_record(result, &overwrite, &before, 1) ? result : NULL;
}

xl_var *xl_update(xl_var *x, xl_var *value)
{
  if (x == NULL || value == NULL || !may_update(x, value)) {
    return NULL;
  }
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
  if (x->type != value->type || !xl_shape_equal(&x->shape, &value->shape)) {
    return xl_refuse(XP_ERR_USAGE, "the result %s does not fit into the tensor %s",
                     xl_shape_text(b, value->type, &value->shape), xl_shape_text(a, x->type, &x->shape));
  }
  xl_var *base = x->base != NULL ? x->base : x, *base_value = base_with(base, x, value);
  xl_node *node = xl_var_value(value);
  xl_node *memory = base_value != NULL && node != NULL ? memory_with(base, base_value) : NULL;
  if (memory == NULL) {
    return NULL;
  }
  xl_var_update(x, xl_node_hold(memory), x->view != NULL ? xl_node_hold(node) : NULL);
  if (!xl_rt.thread->grad_is_off) {
    update_histories(x, base, base_value, value);
  }
  return x;
}
