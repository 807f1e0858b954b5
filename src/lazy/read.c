/* Single values, facts about tensors, and modes. */
#include <stdlib.h>

#include "lazy/barrier.h"

/* The bytes of a tensor of one element. */
static xp_status read_one(const xl_entry *entry, const xl_location *at, xl_tensor tensor, unsigned char bytes[8],
                          xl_type *type, xp_error *err)
{
  char text[XL_SHAPE_TEXT];
  xl_lock_for(entry, at);
  const xl_var *var = xl_failed() ? NULL : xl_arg(tensor);
  xp_status status = xl_kept();
  *type = var != NULL ? var->type : XL_F32;
  if (var != NULL && xl_shape_elements(&var->shape) != 1) {
    status = xp_fail(err, XP_ERR_USAGE, "%s is no single value; xl_to_host takes all elements",
                     xl_shape_text(text, var->type, &var->shape));
  } else if (var != NULL) {
    xl_count(XL_COUNT_READ_SCALAR, 1);
  }
  xl_unlock();
  return status != XP_OK ? status : xl_barrier_read(entry, at, tensor, bytes, xl_type_facts[*type].bytes, err);
}

static int64_t whole_of(xl_type type, const unsigned char bytes[8])
{
  int32_t i32;
  int64_t i64;
  memcpy(&i32, bytes, sizeof i32);
  memcpy(&i64, bytes, sizeof i64);
  return type == XL_I64 ? i64 : type == XL_I32 ? i32 : bytes[0];
}

static double fraction_of(xl_type type, const unsigned char bytes[8])
{
  float f32;
  const uint32_t upper = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 24; /* a bf16 is the upper half of an f32 */
  memcpy(&f32, type == XL_BF16 ? (const void *)&upper : bytes, sizeof f32);
  return (double)f32;
}

xp_status xl_item_at(const xl_location *at, xl_tensor tensor, double *value, xp_error *err)
{
  static const xl_entry entry = {"item", NULL};
  xp_error own;
  unsigned char bytes[8] = {0};
  xl_type type;
  err = xl_error_to(err, &own);
  const xp_status status = value != NULL ? read_one(&entry, at, tensor, bytes, &type, err)
                                         : xp_fail(err, XP_ERR_USAGE, "the target for a value is NULL");
  if (status != XP_OK) {
    return xl_tell(err, status, "xl_item", at);
  }
  *value = xl_is_float(type) ? fraction_of(type, bytes) : (double)whole_of(type, bytes);
  return XP_OK;
}

xp_status xl_item_integer_at(const xl_location *at, xl_tensor tensor, int64_t *value, xp_error *err)
{
  static const xl_entry entry = {"item_integer", NULL};
  xp_error own;
  unsigned char bytes[8] = {0};
  xl_type type;
  err = xl_error_to(err, &own);
  xp_status status = value != NULL ? read_one(&entry, at, tensor, bytes, &type, err)
                                   : xp_fail(err, XP_ERR_USAGE, "the target for a value is NULL");
  if (status == XP_OK && xl_is_float(type)) {
    status = xp_fail(err, XP_ERR_USAGE, "a value of type %s may have a fraction; xl_item reads it", xl_type_name(type));
  }
  if (status != XP_OK) {
    return xl_tell(err, status, "xl_item_integer", at);
  }
  *value = whole_of(type, bytes);
  return XP_OK;
}

xp_status xl_describe_at(const xl_location *at, xl_tensor tensor, xl_type *type, xl_shape *shape, xp_error *err)
{
  xl_type ignored_type;
  xl_shape ignored_shape;
  xp_error own;
  err = xl_error_to(err, &own);
  xl_lock();
  const xl_var *var = xl_handle_find(tensor);
  if (var != NULL) {
    *(type != NULL ? type : &ignored_type) = var->type;
    *(shape != NULL ? shape : &ignored_shape) = var->shape;
  }
  xl_unlock();
  if (var != NULL) {
    return XP_OK;
  }
  const xp_status status = xp_fail(err, XP_ERR_USAGE, "there is no tensor %u.%u: it was freed, or is XL_NONE",
                                   tensor.index, tensor.generation);
  return xl_tell(err, status, "xl_describe", at);
}

/* ---------------------------------------------------------------- modes */

void xl_set_eager(bool is_eager)
{
  xl_lock();
  xl_rt.is_eager = is_eager;
  xl_unlock();
}

bool xl_is_eager(void)
{
  xl_lock();
  const bool is_eager = xl_rt.is_eager;
  xl_unlock();
  return is_eager;
}

void xl_set_ir_debug(bool is_open)
{
  xl_lock();
  xl_rt.names_are_open = is_open;
  xl_unlock();
}

bool xl_ir_debug(void)
{
  xl_lock();
  const bool is_open = xl_rt.names_are_open;
  xl_unlock();
  return is_open;
}

void xl_set_fresh_views(bool is_fresh)
{
  xl_lock();
  xl_rt.views_are_fresh = is_fresh;
  xl_unlock();
}

void xl_set_most_in_flight(size_t count)
{
  xl_lock();
  xl_rt.most_in_flight = count > 0 ? count : 1;
  xl_unlock();
}

size_t xl_node_bytes(size_t *count)
{
  size_t bytes;
  xl_lock();
  const size_t alive = xl_nodes_alive(&bytes);
  xl_unlock();
  if (count != NULL) {
    *count = alive;
  }
  return bytes;
}
