/* What operations leave behind for gradients. */
#include <stdlib.h>

#include "lazy/autograd.h"

static uint64_t last_sequence;

static xl_grad_node *grad_node_create(const xl_result *result, size_t count)
{
  xl_grad_node *node = calloc(1, sizeof *node + count * sizeof(xl_grad_input) + result->attr_bytes);
  if (node != NULL) {
    node->refs = 1;
    node->op = result->op;
    node->sequence = ++last_sequence;
    node->scope = xl_rt.scope;
    node->place = xl_rt.place;
    node->type = result->type;
    node->shape = result->shape;
    node->input_count = count;
    node->attr_bytes = result->attr_bytes;
    node->inputs = (xl_grad_input *)(void *)(node + 1);
    node->attrs = (int64_t *)(void *)(node->inputs + count);
    if (result->attr_bytes > 0) {
      memcpy(node->attrs, result->attrs, result->attr_bytes);
    }
  }
  return node;
}

static void lead_to(xl_grad_input *input, xl_var *var)
{
  input->type = var->type;
  input->shape = var->shape;
  input->source = xl_grad_node_hold(var->history);
  input->leaf = var->history == NULL && var->wants_grad ? xl_var_hold(var) : NULL;
}

/* False when memory is out. */
static bool keep(xl_grad_input *input, xl_var *var)
{
  input->saved = xl_var_alias(var);
  input->generation = var->storage->generation;
  return input->saved != NULL;
}

static bool out_of_memory(void)
{
  return xl_refuse(XP_ERR_MEMORY, "there is no memory for what the gradient needs") != NULL;
}

/* The history of a view operation on what has another (takes the reference); NULL with an error. */
static xl_grad_node *history_of_view(const xl_view *view, xl_type type, xl_grad_node *before)
{
  const xl_result result = {view->op, type, view->shape, view->attrs, view->attr_bytes};
  xl_grad_node *node = grad_node_create(&result, 1);
  if (node == NULL) {
    xl_grad_node_drop(before);
    out_of_memory();
    return NULL;
  }
  node->scope = view->scope;
  node->place = view->place;
  node->inputs[0] = (xl_grad_input){.source = before, .type = type, .shape = view->parent_shape};
  return node;
}

/* The history of a view as its base has it now; *history NULL: it has none.  False with an error. */
static bool history_again(const xl_var *var, xl_grad_node **history)
{
  xl_chain chain;
  *history = NULL;
  if (!xl_has_gradient(var->base)) {
    return true;
  }
  if (!xl_chain_open(&chain, var->base->view, var->view)) {
    return false;
  }
  xl_grad_node *last = history_of_view(chain.links[0], var->type, NULL);
  if (last != NULL) {
    lead_to(&last->inputs[0], var->base);
  }
  for (size_t i = 1; i < chain.count && last != NULL; i++) {
    last = history_of_view(chain.links[i], var->type, last);
  }
  xl_chain_close(&chain);
  *history = last;
  return last != NULL;
}

bool xl_history_follow(xl_var *var)
{
  if (var->base == NULL || var->history_generation == var->storage->generation ||
      !(xl_has_gradient(var) || xl_has_gradient(var->base))) {
    return true;
  }
  if (var->is_view_unrecorded) {
    return xl_refuse(XP_ERR_USAGE, "a view that was taken inside XL_NO_GRAD is used while gradients are recorded, and "
                                   "its memory was updated in place since it was taken; take it again outside") != NULL;
  }
  xl_grad_node *old = var->history;
  if (!history_again(var, &var->history)) {
    var->history = old;
    return false;
  }
  xl_grad_node_drop(old);
  var->history_generation = var->storage->generation;
  return true;
}

/* What a node keeps of its inputs and its result.  False when memory is out. */
static bool keep_all(xl_grad_node *node, uint8_t saves, xl_var *output, xl_var *const *inputs, size_t wanted)
{
  bool is_kept = true;
  for (size_t i = 0; i < node->input_count && is_kept; i++) {
    const bool is_needed = !(saves & XL_SAVE_FOR_OTHERS) || wanted > (size_t)xl_has_gradient(inputs[i]);
    if (is_needed && saves >> (i < 3 ? i : 3) & 1) {
      is_kept = keep(&node->inputs[i], inputs[i]);
    }
  }
  if (saves & XL_SAVE_OUTPUT && is_kept) {
    node->output = xl_var_alias(output);
    node->output_generation = output->storage->generation;
    is_kept = node->output != NULL;
  }
  return is_kept;
}

bool xl_record(xl_var *output, const xl_result *result, xl_var *const *inputs, size_t count)
{
  const xl_op_fact *fact = &xl_op_facts[result->op];
  if (xl_rt.thread->grad_is_off || fact->gradient == NULL || !xl_is_float(result->type)) {
    return true;
  }
  size_t wanted = 0; /* inputs that want a gradient */
  for (size_t i = 0; i < count; i++) {
    if (inputs[i]->base != NULL && !xl_history_follow(inputs[i])) {
      return false;
    }
    wanted += xl_has_gradient(inputs[i]);
  }
  if (wanted == 0) {
    return true;
  }
  xl_grad_node *node = grad_node_create(result, count);
  if (node == NULL) {
    return out_of_memory();
  }
  for (size_t i = 0; i < count; i++) {
    lead_to(&node->inputs[i], inputs[i]);
  }
  output->history = node;
  return keep_all(node, fact->saves, output, inputs, wanted) || out_of_memory();
}

void xl_grad_node_forget(xl_grad_node *node)
{
  for (size_t i = 0; i < node->input_count; i++) {
    xl_var *saved = node->inputs[i].saved;
    node->inputs[i].saved = NULL;
    xl_var_drop(saved);
  }
  xl_var *output = node->output;
  node->output = NULL;
  xl_var_drop(output);
}

/* Dropping a tensor may drop its history, so this is entered again from below: inner calls only put nodes on the list.
 */
void xl_grad_node_drop(xl_grad_node *node)
{
  static xl_grad_node *waiting;
  static bool is_draining;
  if (node == NULL || --node->refs > 0) {
    return;
  }
  node->next = waiting;
  waiting = node;
  if (is_draining) {
    return;
  }
  is_draining = true;
  while (waiting != NULL) {
    xl_grad_node *next = waiting;
    waiting = next->next;
    xl_grad_node_forget(next);
    for (size_t i = 0; i < next->input_count; i++) {
      xl_var_drop(next->inputs[i].leaf);
      xl_grad_node_drop(next->inputs[i].source);
    }
    free(next);
  }
  is_draining = false;
}
