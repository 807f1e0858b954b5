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

static void keep_input(xl_grad_input *input, xl_var *var, bool is_saved)
{
  input->type = var->type;
  input->shape = var->shape;
  if (var->history != NULL) {
    input->source = var->history;
    input->source->refs++;
  } else if (var->wants_grad) {
    input->leaf = xl_var_hold(var);
  }
  if (is_saved) {
    input->saved = xl_var_hold(var);
    input->generation = var->storage->generation;
  }
}

bool xl_record(xl_var *output, const xl_result *result, xl_var *const *inputs, size_t count)
{
  const xl_op_fact *fact = &xl_op_facts[result->op];
  size_t wanted = 0; /* inputs that want a gradient */
  for (size_t i = 0; i < count; i++) {
    wanted += xl_has_gradient(inputs[i]);
  }
  if (wanted == 0 || xl_rt.thread->grad_is_off || fact->gradient == NULL || !xl_is_float(result->type)) {
    return true;
  }
  xl_grad_node *node = grad_node_create(result, count);
  if (node == NULL) {
    xl_refuse(XP_ERR_MEMORY, "there is no memory for what the gradient needs");
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    const bool is_needed = !(fact->saves & XL_SAVE_FOR_OTHERS) || wanted > (size_t)xl_has_gradient(inputs[i]);
    keep_input(&node->inputs[i], inputs[i], is_needed && fact->saves >> (i < 3 ? i : 3) & 1);
  }
  if (fact->saves & XL_SAVE_OUTPUT) {
    node->output = xl_var_alias(output);
    node->output_generation = output->storage->generation;
  }
  output->history = node;
  if (node->output == NULL && fact->saves & XL_SAVE_OUTPUT) {
    xl_refuse(XP_ERR_MEMORY, "there is no memory for what the gradient needs");
    return false;
  }
  return true;
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
