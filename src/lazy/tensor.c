/* Storages, views, and values that are computed again. */
#include "lazy/tensor.h"

#include <stdlib.h>

#include "lazy/apply.h"
#include "lazy/autograd.h"
#include "lazy/pieces.h"

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

xl_var *xl_var_create(xl_device *device, xl_type type, const xl_shape *shape, xl_node *value)
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
  xl_cell_open(device, &storage->cell, value);
  return var;
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
                      .depth = x->view != NULL ? x->view->depth + 1 : 1,
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
static xl_var *view_var(xl_storage *storage, xl_type type, const xl_shape *shape, xl_view *view, xl_node *value)
{
  xl_var *var = var_alloc(storage, type, shape);
  if (var == NULL) {
    view_drop(view);
    xl_node_drop(value);
    return NULL;
  }
  storage->refs++;
  var->view = view;
  xl_cell_open(storage->device, &var->cell, value);
  return var;
}

xl_var *xl_var_view(xl_var *x, const xl_node_parts *parts, xl_node *value)
{
  xl_view *view = view_create(x, parts);
  if (view == NULL) {
    xl_node_drop(value);
    return NULL;
  }
  xl_var *var = view_var(x->storage, parts->type, parts->shape, view, value);
  if (var != NULL) {
    var->generation = xl_rt.views_are_fresh ? x->storage->generation : 0;
    var->base = xl_var_hold(x->base != NULL ? x->base : x);
    var->history_generation = x->storage->generation;
    var->is_view_unrecorded = x->is_view_unrecorded || xl_rt.thread->grad_is_off;
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
  xl_var *var = view_var(x->storage, x->type, &x->shape, x->view, xl_node_hold(x->cell.value));
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
    view_drop(var->view);
    xl_var_drop(var->base);
  }
  if (--var->storage->refs == 0) {
    xl_cell_close(&var->storage->cell);
    xl_piece_give(var->storage, sizeof *var->storage);
  }
  xl_var_drop(var->grad);
  xl_grad_node_drop(var->history);
  xl_piece_give(var, sizeof *var);
}

/* ---------------------------------------------------------------- views that fell behind */

bool xl_chain_open(xl_chain *chain, const xl_view *from, const xl_view *to)
{
  const size_t at_hand = sizeof chain->at_hand / sizeof *chain->at_hand;
  chain->count = (to != NULL ? to->depth : 0) - (from != NULL ? from->depth : 0);
  chain->links = chain->count <= at_hand ? chain->at_hand : malloc(chain->count * sizeof(const xl_view *));
  if (chain->links == NULL) {
    xl_refuse(XP_ERR_MEMORY, "there is no memory for a view of %zu views", chain->count);
    return false;
  }
  for (size_t i = chain->count; i > 0; i--) {
    chain->links[i - 1] = to;
    to = to->parent;
  }
  return true;
}

void xl_chain_close(xl_chain *chain)
{
  if (chain->links != chain->at_hand) {
    free(chain->links);
  }
}

/* One view operation on a value; a reference, NULL with an error. */
static xl_node *view_again(const xl_view *view, xl_node *value, xl_type type, xl_device *device)
{
  const xl_node_parts parts = {view->op,         type,        &view->shape, &value, 1, view->attrs,
                               view->attr_bytes, view->scope, view->place};
  return xl_build(&parts, device);
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
  xl_chain chain;
  if (!xl_chain_open(&chain, NULL, var->view)) {
    return NULL;
  }
  xl_node *value = xl_node_hold(storage->cell.value);
  for (size_t i = 0; i < chain.count && value != NULL; i++) {
    xl_node *next = view_again(chain.links[i], value, var->type, storage->device);
    xl_node_drop(value);
    value = next;
  }
  xl_chain_close(&chain);
  if (value != NULL) {
    xl_cell_set(&var->cell, value);
    var->generation = storage->generation;
  }
  return value;
}

void xl_var_update(xl_var *var, xl_node *memory, xl_node *value)
{
  xl_storage *storage = var->storage;
  xl_cell_set(&storage->cell, memory);
  storage->generation++;
  if (var->view != NULL) {
    xl_cell_set(&var->cell, value);
    var->generation = storage->generation;
  }
}
