/* Storages, views, and values that are computed again. */
#include "lazy/tensor.h"

#include <stdlib.h>

#include "lazy/apply.h"
#include "lazy/autograd.h"
#include "lazy/op_views.h"
#include "lazy/pieces.h"

/* ---------------------------------------------------------------- counted as torch_xla counts tensors */

static void count_made(bool is_counted)
{
  if (is_counted) {
    xl_count_locked(XL_COUNT_CREATE_TENSOR, 1);
  }
}

/* Under two names: PyTorch's and torch_xla's own. */
static void count_gone(bool is_counted)
{
  if (is_counted) {
    xl_count_locked(XL_COUNT_DESTROY_TENSOR, 1);
    xl_count_locked(XL_COUNT_DESTROY_LTC_TENSOR, 1);
  }
}

/* ---------------------------------------------------------------- storages and views */

static xl_var *var_alloc(xl_storage *storage, xl_type type, const xl_shape *shape)
{
  xl_var *var = xl_piece_take_zeroed(sizeof *var);
  if (var != NULL) {
    var->refs = 1;
    var->storage = storage;
    var->type = type;
    var->shape = *shape;
  }
  return var;
}

static xl_var *var_create(xl_device *device, xl_type type, const xl_shape *shape, xl_node *value, bool is_counted)
{
  xl_storage *storage = xl_piece_take_zeroed(sizeof *storage);
  xl_var *var = var_alloc(storage, type, shape);
  if (storage == NULL || var == NULL) {
    xl_piece_give(storage, sizeof *storage);
    xl_piece_give(var, sizeof *var);
    xl_node_drop(value);
    return NULL;
  }
  storage->refs = 1;
  storage->device = device;
  storage->is_counted = is_counted;
  xl_cell_open(device, &storage->cell, value);
  count_made(is_counted);
  return var;
}

xl_var *xl_var_create(xl_device *device, xl_type type, const xl_shape *shape, xl_node *value)
{
  return var_create(device, type, shape, value, true);
}

xl_var *xl_var_create_inner(xl_device *device, xl_type type, const xl_shape *shape, xl_node *value)
{
  return var_create(device, type, shape, value, false);
}

static void view_drop(xl_view *view)
{
  while (view != NULL && --view->refs == 0) {
    xl_view *parent = view->parent;
    free(view);
    view = parent;
  }
}

static xl_view *view_create(xl_var *x, const xl_node_parts *parts)
{
  xl_view *view = malloc(sizeof *view + parts->attr_bytes);
  if (view != NULL) {
    *view = (xl_view){.refs = 1,
                      .op = parts->op,
                      .parent = x->view,
                      .shape = *parts->shape,
                      .parent_shape = x->shape,
                      .scope = xl_rt.scope,
                      .place = xl_rt.place,
                      .attr_bytes = (uint32_t)parts->attr_bytes};
    if (parts->attr_bytes > 0) {
      memcpy(view->attrs, parts->attrs, parts->attr_bytes);
    }
    if (x->view != NULL) {
      x->view->refs++;
    }
  }
  return view;
}

/* A tensor in a storage with a chain (takes the reference) and a value of its own (likewise). */
static xl_var *view_var(xl_storage *storage, xl_type type, const xl_shape *shape, xl_view *view, xl_node *value,
                        bool is_counted)
{
  xl_var *var = var_alloc(storage, type, shape);
  if (var == NULL) {
    view_drop(view);
    xl_node_drop(value);
    return NULL;
  }
  storage->refs++;
  var->view = view;
  var->is_counted = is_counted;
  xl_cell_open(storage->device, &var->cell, value);
  count_made(is_counted);
  return var;
}

xl_var *xl_var_view(xl_var *x, const xl_node_parts *parts, xl_node *value)
{
  xl_view *view = view_create(x, parts);
  if (view == NULL) {
    xl_node_drop(value);
    return NULL;
  }
  xl_var *var = view_var(x->storage, parts->type, parts->shape, view, value, true);
  if (var != NULL) {
    var->generation = xl_rt.views_are_fresh ? x->storage->generation : 0;
  }
  return var;
}

xl_var *xl_var_alias(xl_var *x)
{
  if (x->view == NULL) {
    xl_var *var = var_alloc(x->storage, x->type, &x->shape);
    x->storage->refs += var != NULL;
    return var;
  }
  x->view->refs++;
  xl_var *var = view_var(x->storage, x->type, &x->shape, x->view, xl_node_hold(x->cell.value), false);
  if (var != NULL) {
    var->generation = x->generation;
  }
  return var;
}

void xl_var_drop(xl_var *var)
{
  if (var == NULL || --var->refs > 0) {
    return;
  }
  if (var->view != NULL) {
    xl_cell_close(&var->cell);
    count_gone(var->is_counted);
    view_drop(var->view);
  }
  if (--var->storage->refs == 0) {
    xl_cell_close(&var->storage->cell);
    count_gone(var->storage->is_counted);
    xl_piece_give(var->storage, sizeof *var->storage);
  }
  xl_var_drop(var->grad);
  xl_grad_node_drop(var->history);
  xl_piece_give(var, sizeof *var);
}

/* ---------------------------------------------------------------- views that fell behind */

enum { CHAIN_MAX = 64 };

/* The chain of a view, the base's operation first; 0 if it is longer than anybody writes. */
static size_t chain_of(const xl_view *view, const xl_view *chain[CHAIN_MAX])
{
  size_t count = 0;
  for (const xl_view *v = view; v != NULL; v = v->parent) {
    count++;
  }
  if (count > CHAIN_MAX) {
    xl_refuse(XP_ERR_LIMIT, "a view of %zu views is updated in place, %d are possible; clone one of them", count,
              CHAIN_MAX);
    return 0;
  }
  size_t i = count;
  for (const xl_view *v = view; v != NULL; v = v->parent) {
    chain[--i] = v;
  }
  return count;
}

/* One view operation on a value; a reference, NULL with an error. */
static xl_node *view_again(const xl_view *view, xl_node *value, xl_type type, xl_device *device)
{
  const xl_node_parts parts = {view->op,         type,        &view->shape, &value, 1, view->attrs,
                               view->attr_bytes, view->scope, view->place};
  xl_node *node = xl_node_create(&parts);
  if (node == NULL) {
    return xl_refuse(XP_ERR_MEMORY, "there is no memory for the graph");
  }
  count_made(true); /* to torch_xla it is a new tensor in the place of the old one */
  count_gone(true);
  xl_native_count_node(view->op, view->attrs, view->shape.rank);
  return xl_runs_eagerly() && !xl_run_eagerly(device, &node) ? NULL : node;
}

xl_node *xl_var_value(xl_var *var)
{
  xl_storage *storage = var->storage;
  if (var->view == NULL) {
    return storage->cell.value;
  }
  if (var->generation == storage->generation) {
    return var->cell.value;
  }
  const xl_view *chain[CHAIN_MAX];
  const size_t count = chain_of(var->view, chain);
  xl_node *value = count > 0 ? xl_node_hold(storage->cell.value) : NULL;
  for (size_t i = 0; i < count && value != NULL; i++) {
    xl_node *next = view_again(chain[i], value, var->type, storage->device);
    xl_node_drop(value);
    value = next;
  }
  if (value == NULL) {
    return NULL;
  }
  xl_cell_set(&var->cell, value);
  var->generation = storage->generation;
  return value;
}

/* ---------------------------------------------------------------- updates */

/* The base with the view's part replaced (takes the reference to value): from the innermost view outwards.  before[i]
 * is what view i was taken of. */
static xl_node *write_back(xl_var *var, const xl_view *const *chain, size_t count, xl_node *value)
{
  xl_node *before[CHAIN_MAX] = {var->storage->cell.value};
  size_t made = 1;
  for (; made < count; made++) {
    before[made] = view_again(chain[made - 1], before[made - 1], var->type, var->storage->device);
    if (before[made] == NULL) {
      xl_node_drop(value);
      value = NULL;
      break;
    }
  }
  for (size_t i = count; i > 0 && value != NULL; i--) {
    xl_node *outer = xl_view_put_back(chain[i - 1], before[i - 1], value, var->type);
    xl_node_drop(value);
    value = outer;
    if (value != NULL && xl_runs_eagerly() && !xl_run_eagerly(var->storage->device, &value)) {
      value = NULL;
    }
  }
  for (size_t i = 1; i < made; i++) {
    xl_node_drop(before[i]);
  }
  return value;
}

bool xl_var_update(xl_var *var, xl_node *value)
{
  xl_storage *storage = var->storage;
  if (var->view == NULL) {
    xl_cell_set(&storage->cell, value);
    storage->generation++;
    return true;
  }
  const xl_view *chain[CHAIN_MAX];
  const size_t count = chain_of(var->view, chain);
  xl_node *base = count > 0 ? write_back(var, chain, count, xl_node_hold(value)) : NULL;
  if (base == NULL) {
    xl_node_drop(value);
    return false;
  }
  xl_cell_set(&storage->cell, base);
  xl_cell_set(&var->cell, value);
  var->generation = ++storage->generation;
  return true;
}
