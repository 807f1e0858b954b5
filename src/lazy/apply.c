/* One operation: values of the inputs, a node, its run in eager mode, a tensor, its history. */
#include "lazy/apply.h"

#include <stdlib.h>

#include "lazy/autograd.h"
#include "lazy/run.h"

enum { INPUTS_AT_HAND = 8 };

bool xl_run_eagerly(xl_device *device, xl_node **value)
{
  if ((*value)->data != NULL) {
    return true;
  }
  xl_root root = {.place = value};
  const xl_run_options options = {.is_eager = true, .cause = "operation of eager mode", .place = xl_rt.place};
  xp_error err = {0};
  const xp_region region = xp_region_begin(XP_LEVEL_INFO, "SyncTensorsGraph");
  const xp_region internal = xp_region_begin(XP_LEVEL_INFO, "SyncTensorsGraphInternal");
  const xp_status status = xl_run(device, &root, 1, &options, &err);
  xp_region_end(internal);
  xp_region_end(region);
  if (status != XP_OK) {
    xl_refuse(status, "%s", err.text);
    xl_node_drop(*value);
    *value = NULL;
    return false;
  }
  xl_flight_limit(&device->flight, xl_rt.most_in_flight); /* what is in flight keeps its operands' memory */
  return true;
}

xl_node *xl_build(const xl_node_parts *parts, xl_device *device)
{
  xl_node *node = xl_node_create(parts);
  if (node == NULL) {
    return xl_refuse(XP_ERR_MEMORY, "there is no memory for a node with %zu operands (%u are possible)",
                     parts->operand_count, (unsigned)UINT16_MAX);
  }
  return xl_runs_eagerly() && !xl_run_eagerly(device, &node) ? NULL : node;
}

static xl_node *node_of(const xl_result *result, xl_node *const *operands, size_t count, xl_device *device)
{
  const xl_node_parts parts = {result->op,    result->type,       &result->shape, operands,   count,
                               result->attrs, result->attr_bytes, xl_rt.scope,    xl_rt.place};
  return xl_build(&parts, device);
}

/* The values of the inputs, all on one device.  False with an error. */
static bool values_of(xl_var *const *inputs, size_t count, xl_node **values)
{
  for (size_t i = 0; i < count; i++) {
    if (inputs[i] == NULL || (values[i] = xl_var_value(inputs[i])) == NULL) {
      return false;
    }
    if (xl_var_device(inputs[i]) != xl_var_device(inputs[0])) {
      xl_refuse(XP_ERR_USAGE, "the tensors are on different devices: %s and %s",
                xl_device_name(xl_var_device(inputs[0])), xl_device_name(xl_var_device(inputs[i])));
      return false;
    }
  }
  return true;
}

xl_var *xl_apply(const xl_result *result, xl_var *const *inputs, size_t count)
{
  xl_node *at_hand[INPUTS_AT_HAND] = {NULL};
  xl_node **values = count <= INPUTS_AT_HAND ? at_hand : malloc(count * sizeof *values);
  if (values == NULL) {
    return xl_refuse(XP_ERR_MEMORY, "there is no memory for an operation on %zu tensors", count);
  }
  xl_var *output = NULL;
  if (xl_check_shape(&result->shape) && values_of(inputs, count, values)) {
    xl_device *device = xl_var_device(inputs[0]);
    xl_node *node = node_of(result, values, count, device);
    output = node != NULL ? xl_made(xl_var_create(device, result->type, &result->shape, node)) : NULL;
  }
  if (values != at_hand) {
    free(values);
  }
  return output != NULL && xl_record(output, result, inputs, count) ? output : NULL;
}

xl_var *xl_apply_view(const xl_result *result, xl_var *x)
{
  xl_node *value;
  if (!xl_check_shape(&result->shape) || !values_of(&x, 1, &value)) {
    return NULL;
  }
  const xl_node_parts parts = {.op = result->op,
                               .type = result->type,
                               .shape = &result->shape,
                               .attrs = result->attrs,
                               .attr_bytes = result->attr_bytes};
  xl_node *node = node_of(result, &value, 1, xl_var_device(x));
  xl_var *view = node != NULL ? xl_made(xl_var_view(x, &parts, node)) : NULL;
  return view != NULL && xl_record(view, result, &x, 1) ? view : NULL;
}

xl_var *xl_copy(xl_var *x)
{
  xl_node *value = x != NULL ? xl_var_value(x) : NULL;
  return value != NULL ? xl_made(xl_var_create(xl_var_device(x), x->type, &x->shape, xl_node_hold(value))) : NULL;
}

xl_var *xl_copy_before(xl_var *x)
{
  const bool is_recording = !xl_rt.thread->grad_is_off;
  if (x == NULL || (is_recording && !xl_history_follow(x))) {
    return NULL;
  }
  xl_var *copy = xl_copy(x);
  if (copy != NULL && is_recording) {
    copy->history = xl_grad_node_hold(x->history);
  }
  return copy;
}

xl_var *xl_of_data(xl_data *data, xl_type type, const xl_shape *shape)
{
  xl_node *leaf = xl_data_leaf(data, type, shape);
  return xl_made(leaf != NULL ? xl_var_create(data->device, type, shape, leaf) : NULL);
}

/* ---------------------------------------------------------------- numbers */

/* A tensor for a node (takes the reference; NULL: there was an error). */
static xl_var *var_of(xl_device *device, xl_type type, const xl_shape *shape, xl_node *node)
{
  return node != NULL ? xl_made(xl_var_create(device, type, shape, node)) : NULL;
}

xl_var *xl_number(xl_type type, double value)
{
  xp_error err = {0};
  const xl_shape scalar = XL_SCALAR;
  xl_device *device = xl_call_device();
  if (device == NULL) {
    return NULL;
  }
  xl_node *node = xl_number_node(device, type, value, &err);
  return node != NULL ? var_of(device, type, &scalar, node) : xl_refuse_with(&err);
}

/* A number repeated over a shape, run in eager mode. */
static xl_var *repeated(xl_type type, const xl_shape *shape, double value)
{
  xl_var *number = xl_number(type, value);
  if (number == NULL) {
    return NULL;
  }
  if (shape->rank == 0) {
    xl_node *node = xl_node_hold(number->storage->cell.value);
    const bool is_run = !xl_runs_eagerly() || xl_run_eagerly(xl_var_device(number), &node);
    return is_run ? var_of(xl_var_device(number), type, shape, node) : NULL;
  }
  const xl_result result = {.op = XL_OP_EXPAND, .type = type, .shape = *shape};
  return xl_apply_1(&result, number);
}

bool xl_allocate(xl_type type, const xl_shape *shape)
{
  return !xl_runs_eagerly() || repeated(type, shape, 0) != NULL;
}

xl_var *xl_filled(xl_type type, const xl_shape *shape, double value)
{
  return xl_allocate(type, shape) ? repeated(type, shape, value) : NULL;
}
