/* The backward pass.
 *
 * It collects the grad nodes that are reached and goes through them from the latest to the earliest: every user of a
 * value is later than what made it.  What is made for one of them is dropped before the next one, but for the gradients
 * that it handed on: so no more of them is alive than is still to be used.  Nodes that it builds stand under the scope
 * of the operation whose gradient they belong to (lazy/scope.h).
 */
#include <stdlib.h>

#include "lazy/autograd.h"
#include "lazy/op_elements.h"
#include "lazy/op_sums.h"
#include "lazy/op_views.h"

typedef struct {
  xl_grad_node **nodes;
  size_t count, capacity;
  bool keeps_graph;
  const xl_scope *here; /* the scope in which backward was called */
} pass;

static bool collect(pass *p, xl_grad_node *node)
{
  if (node == NULL || node->is_collected) {
    return true;
  }
  if (p->count == p->capacity) {
    const size_t capacity = p->capacity > 0 ? 2 * p->capacity : 256;
    xl_grad_node **grown = realloc(p->nodes, capacity * sizeof *grown);
    if (grown == NULL) {
      xl_refuse(XP_ERR_MEMORY, "there is no memory for the backward pass");
      return false;
    }
    p->nodes = grown;
    p->capacity = capacity;
  }
  node->is_collected = true;
  node->refs++;
  p->nodes[p->count++] = node;
  return true;
}

/* The list grows while it is gone through. */
static bool collect_all(pass *p, xl_grad_node *root)
{
  bool is_fine = collect(p, root);
  for (size_t i = 0; i < p->count && is_fine; i++) {
    for (size_t k = 0; k < p->nodes[i]->input_count && is_fine; k++) {
      is_fine = collect(p, p->nodes[i]->inputs[k].source);
    }
  }
  return is_fine;
}

static int latest_first(const void *a, const void *b)
{
  const xl_grad_node *const *x = a, *const *y = b;
  return (*x)->sequence < (*y)->sequence ? 1 : -1;
}

static void drop_gradient(xl_grad_node *node)
{
  xl_var *gradient = node->gradient;
  node->gradient = NULL;
  xl_var_drop(gradient);
}

static void end_pass(pass *p)
{
  for (size_t i = 0; i < p->count; i++) {
    p->nodes[i]->is_collected = false;
    drop_gradient(p->nodes[i]);
    xl_grad_node_drop(p->nodes[i]);
  }
  free(p->nodes);
}

static bool add_to_leaf(xl_var *leaf, xl_var *gradient)
{
  if (leaf->grad != NULL) {
    return xl_update(leaf->grad, xl_op_binary(XL_OP_ADD, leaf->grad, gradient)) != NULL;
  }
  xl_var *copy = xl_copy(gradient);
  if (copy != NULL) {
    leaf->grad = xl_var_hold(copy);
  }
  return copy != NULL;
}

static bool hand_on(const xl_grad_input *input, xl_var *gradient)
{
  gradient = xl_sum_to(gradient, &input->shape);
  gradient = xl_op_cast(gradient, input->type);
  if (gradient == NULL) {
    return false;
  }
  if (input->leaf != NULL) {
    return add_to_leaf(input->leaf, gradient);
  }
  xl_var *before = input->source->gradient;
  xl_var *sum = before == NULL ? gradient : xl_op_binary(XL_OP_ADD, before, gradient);
  if (sum != NULL) {
    input->source->gradient = xl_var_hold(sum);
    xl_var_drop(before);
  }
  return sum != NULL;
}

static bool was_changed(const xl_var *saved, uint32_t generation, const xl_grad_node *node)
{
  if (saved == NULL || saved->storage->generation == generation) {
    return false;
  }
  xl_refuse(XP_ERR_USAGE, "a tensor that the gradient of %s needs was updated in place since then",
            xl_op_facts[node->op].text);
  return true;
}

static bool check_saved(const xl_grad_node *node)
{
  if (node->is_spent) {
    xl_refuse(XP_ERR_USAGE,
              "this is the second backward pass through %s, and the first one freed what it needs; call "
              "xl_backward_from with keep_graph the first time",
              xl_op_facts[node->op].text);
    return false;
  }
  for (size_t i = 0; i < node->input_count; i++) {
    if (was_changed(node->inputs[i].saved, node->inputs[i].generation, node)) {
      return false;
    }
  }
  return !was_changed(node->output, node->output_generation, node);
}

/* One node of the pass. */
static bool go_back(const pass *p, xl_grad_node *node)
{
  if (node->gradient == NULL) {
    return true; /* only results that nothing depends on led here */
  }
  xl_rt.scope = xl_rt.names_are_open ? xl_scope_join(p->here, node->scope) : NULL;
  xl_rt.place = node->place;
  if (!check_saved(node)) {
    return false;
  }
  xl_var **results = calloc(node->input_count + 1, sizeof *results);
  if (results == NULL) {
    xl_refuse(XP_ERR_MEMORY, "there is no memory for the backward pass");
    return false;
  }
  xl_gradient to = {.node = node, .grad = node->gradient, .out = node->output, .attrs = node->attrs, .result = results};
  for (size_t i = 0; i < node->input_count && i < 3; i++) {
    to.in[i] = node->inputs[i].saved;
  }
  xl_op_facts[node->op].gradient(&to);
  bool is_fine = true;
  for (size_t i = 0; i < node->input_count && is_fine; i++) {
    if (xl_gradient_wanted(&to, i)) {
      is_fine = results[i] != NULL && hand_on(&node->inputs[i], results[i]);
    }
  }
  free(results);
  if (is_fine && !p->keeps_graph) {
    node->is_spent = true;
    xl_grad_node_forget(node);
  }
  return is_fine;
}

static void run_pass(xl_var *tensor, xl_var *gradient, bool keeps_graph)
{
  pass p = {.keeps_graph = keeps_graph, .here = xl_rt.scope};
  const xl_location *place = xl_rt.place;
  const bool was_off = xl_rt.thread->grad_is_off;
  xl_rt.thread->grad_is_off = true;
  if (collect_all(&p, tensor->history)) {
    qsort(p.nodes, p.count, sizeof *p.nodes, latest_first);
    tensor->history->gradient = xl_var_hold(gradient);
    bool is_fine = true;
    for (size_t i = 0; i < p.count && is_fine; i++) {
      const size_t made = xl_rt.made_count;
      is_fine = go_back(&p, p.nodes[i]);
      drop_gradient(p.nodes[i]);
      xl_made_drop(made);
    }
  }
  xl_rt.thread->grad_is_off = was_off;
  xl_rt.place = place;
  xl_rt.scope = p.here;
  end_pass(&p);
}

static void backward(xl_var *tensor, xl_var *gradient, bool keeps_graph)
{
  char a[XL_SHAPE_TEXT], b[XL_SHAPE_TEXT];
  if (tensor == NULL || gradient == NULL || !xl_history_follow(tensor)) {
    return;
  }
  if (!xl_shape_equal(&tensor->shape, &gradient->shape)) {
    xl_refuse(XP_ERR_USAGE, "the gradient %s has another shape than the tensor %s",
              xl_shape_text(a, gradient->type, &gradient->shape), xl_shape_text(b, tensor->type, &tensor->shape));
  } else if (tensor->wants_grad) {
    add_to_leaf(tensor, gradient);
  } else if (tensor->history == NULL) {
    xl_refuse(XP_ERR_USAGE, "the tensor depends on nothing that wants a gradient (xl_requires_grad)");
  } else {
    run_pass(tensor, gradient, keeps_graph);
  }
}

/* ---------------------------------------------------------------- public */

void xl_backward_at(const xl_location *at, xl_tensor loss)
{
  static xl_entry entry = {"backward", NULL};
  xl_begin(&entry, at);
  xl_var *var = xl_arg(loss);
  char shape[XL_SHAPE_TEXT];
  if (var != NULL && xl_shape_elements(&var->shape) != 1) {
    xl_refuse(XP_ERR_USAGE, "the tensor %s is no single value; xl_backward_from takes the gradient of others",
              xl_shape_text(shape, var->type, &var->shape));
  } else if (var != NULL) {
    const xl_scope *here = xl_rt.scope;
    if (xl_rt.names_are_open && xl_history_follow(var) && var->history != NULL) {
      xl_rt.scope = xl_scope_join(here, var->history->scope); /* the first gradient belongs to the loss */
    }
    xl_var *ones = xl_filled(var->type, &var->shape, 1);
    xl_rt.scope = here;
    backward(var, ones, false);
  }
  xl_end_with_nothing();
}

void xl_backward_from_at(const xl_location *at, xl_tensor tensor, xl_tensor gradient, bool keep_graph)
{
  static xl_entry entry = {"backward_from", NULL};
  xl_begin(&entry, at);
  xl_var *var = xl_arg(tensor);
  backward(var, var != NULL ? xl_arg(gradient) : NULL, keep_graph);
  xl_end_with_nothing();
}

/* What is marked is the base of its own views from then on: its memory may be that of others, its history is not. */
static void leave_base(xl_var *var)
{
  xl_var *base = var->base;
  var->base = NULL;
  var->is_view_unrecorded = false;
  xl_var_drop(base);
}

void xl_requires_grad_at(const xl_location *at, xl_tensor tensor, bool is_wanted)
{
  static xl_entry entry = {"requires_grad", NULL};
  char text[XL_SHAPE_TEXT];
  xl_begin(&entry, at);
  xl_var *var = xl_arg(tensor);
  if (var != NULL && is_wanted && !xl_is_float(var->type)) {
    xl_refuse(XP_ERR_USAGE, "only types with fractions have gradients, and the tensor is %s; cast it (xl_cast)",
              xl_shape_text(text, var->type, &var->shape));
  } else if (var != NULL && (!xl_history_follow(var) || var->history != NULL)) {
    xl_refuse(XP_ERR_USAGE,
              "the tensor was computed from others that want gradients, so it is no leaf; detach it first");
  } else if (var != NULL) {
    var->wants_grad = is_wanted;
    if (is_wanted) {
      leave_base(var);
    }
  }
  xl_end_with_nothing();
}

xl_tensor xl_grad_at(const xl_location *at, xl_tensor leaf)
{
  static xl_entry entry = {"grad", NULL};
  xl_begin(&entry, at);
  xl_var *var = xl_arg(leaf);
  return xl_end(var != NULL ? var->grad : NULL);
}

void xl_zero_grad_at(const xl_location *at, xl_tensor leaf)
{
  static xl_entry entry = {"zero_grad", NULL};
  xl_begin(&entry, at);
  xl_var *var = xl_arg(leaf);
  if (var != NULL) {
    xl_var *grad = var->grad;
    var->grad = NULL;
    xl_var_drop(grad);
  }
  xl_end_with_nothing();
}

bool xl_set_grad_mode(bool is_on)
{
  xl_thread *thread = xl_thread_here();
  const bool was_on = !thread->grad_is_off;
  thread->grad_is_off = !is_on;
  return was_on;
}
