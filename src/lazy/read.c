/* Single values, facts about tensors, and modes. */
#include <stdlib.h>

#include "lazy/barrier.h"

/* The bytes of a tensor of one element. */
static xp_status read_one(const xl_location *at, xl_tensor tensor, const void *target, unsigned char bytes[8],
                          xl_type *type, xp_error *err)
{
  xl_shape shape;
  if (target == NULL) {
    return xp_fail(err, XP_ERR_USAGE, "The target for a value is NULL.");
  }
  xp_status status = xl_error(err);
  if (status == XP_OK) {
    status = xl_describe(tensor, type, &shape, err);
  }
  if (status != XP_OK) {
    return status;
  }
  char text[XL_SHAPE_TEXT];
  if (xl_shape_elements(&shape) != 1) {
    return xp_fail(err, XP_ERR_USAGE, "%s is no single value; xl_to_host takes all elements.",
                   xl_shape_text(text, *type, &shape));
  }
  xl_lock();
  xl_count(XL_COUNT_READ_SCALAR, 1);
  xl_unlock();
  return xl_to_host_at(at, tensor, bytes, xl_type_facts[*type].bytes, err);
}

xp_status xl_item_at(const xl_location *at, xl_tensor tensor, double *value, xp_error *err)
{
  unsigned char bytes[8] = {0};
  xl_type type;
  const xp_status status = read_one(at, tensor, value, bytes, &type, err);
  if (status != XP_OK) {
    return status;
  }
  float f32;
  int32_t i32;
  int64_t i64;
  const uint32_t upper = (uint32_t)bytes[0] << 16 | (uint32_t)bytes[1] << 24; /* a bf16 is the upper half of an f32 */
  memcpy(&f32, type == XL_BF16 ? (const void *)&upper : bytes, sizeof f32);
  memcpy(&i32, bytes, sizeof i32);
  memcpy(&i64, bytes, sizeof i64);
  *value = xl_is_float(type) ? (double)f32 : type == XL_I64 ? (double)i64 : type == XL_I32 ? i32 : bytes[0];
  return XP_OK;
}

xp_status xl_item_integer_at(const xl_location *at, xl_tensor tensor, int64_t *value, xp_error *err)
{
  unsigned char bytes[8] = {0};
  xl_type type;
  const xp_status status = read_one(at, tensor, value, bytes, &type, err);
  if (status != XP_OK) {
    return status;
  }
  if (xl_is_float(type)) {
    return xp_fail(err, XP_ERR_USAGE, "A value of type %s may have a fraction; xl_item reads it.", xl_type_name(type));
  }
  int32_t i32;
  memcpy(&i32, bytes, sizeof i32);
  memcpy(value, bytes, sizeof *value);
  *value = type == XL_I64 ? *value : type == XL_I32 ? i32 : bytes[0];
  return XP_OK;
}

xp_status xl_describe(xl_tensor tensor, xl_type *type, xl_shape *shape, xp_error *err)
{
  xl_type ignored_type;
  xl_shape ignored_shape;
  xl_lock();
  const xl_var *var = xl_handle_find(tensor);
  if (var != NULL) {
    *(type != NULL ? type : &ignored_type) = var->type;
    *(shape != NULL ? shape : &ignored_shape) = var->shape;
  }
  xl_unlock();
  return var != NULL ? XP_OK
                     : xp_fail(err, XP_ERR_USAGE, "There is no tensor %u.%u: it was freed, or is XL_NONE.",
                               tensor.index, tensor.generation);
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
