/* Tensors from the host, from numbers, and from other tensors. */
#include "lazy/op_create.h"

#include <math.h>

#include "lazy/autograd.h"
#include "lazy/data.h"
#include "lazy/op_elements.h"

bool xl_check_shape(const xl_shape *shape)
{
  char text[XL_SHAPE_TEXT];
  if (!xl_shape_is_sound(shape)) {
    xl_refuse(XP_ERR_USAGE,
              "there is no shape %s: it has at most %d extents, none of them negative, and fewer than 2^60 elements",
              xl_extents_text(text, shape), XL_MAX_RANK);
    return false;
  }
  return true;
}

bool xl_check_type(xl_type type)
{
  if ((unsigned)type >= XL_TYPE_COUNT) {
    xl_refuse(XP_ERR_USAGE, "there is no type %d", (int)type);
    return false;
  }
  return true;
}

/* The device for an upload; NULL with an error. */
static xl_device *check_upload(xl_type type, const xl_shape *shape, const void *values)
{
  xp_error err = {0};
  if (!xl_check_type(type) || !xl_check_shape(shape)) {
    return NULL;
  }
  if (values == NULL && xl_shape_elements(shape) > 0) {
    return xl_refuse(XP_ERR_USAGE, "the values are NULL");
  }
  xl_device *device = xl_device_current(&err);
  return device != NULL ? device : xl_refuse_with(&err);
}

/* An upload outside of the lock, since large arrays take long, between two parts of a call. */
static xl_tensor upload(xl_entry *entry, const xl_location *at, xl_type type, const xl_shape *shape, const void *values)
{
  xp_error err = {0};
  xl_begin(entry, at);
  xl_device *device = check_upload(type, shape, values);
  xl_end_with_nothing();
  if (device == NULL) {
    return XL_NONE;
  }
  const size_t size = (size_t)xl_shape_elements(shape) * xl_type_facts[type].bytes;
  xl_data *data = xl_data_upload(device, type, shape, values != NULL ? values : "", size, &err);
  xl_resume(entry, at);
  xl_var *var = data != NULL ? xl_of_data(data, type, shape) : xl_refuse_with(&err);
  xl_data_drop(data);
  return xl_end(var);
}

static xl_var *filled(xl_type type, const xl_shape *shape, double value)
{
  return xl_check_type(type) && xl_check_shape(shape) ? xl_filled(type, shape, value) : NULL;
}

xl_var *xl_op_clone(xl_var *x)
{
  xl_var *copy = xl_copy(x);
  if (copy == NULL) {
    return NULL;
  }
  const xl_result result = {.op = XL_OP_CLONE, .type = x->type, .shape = x->shape};
  return xl_record(copy, &result, &x, 1) ? copy : NULL;
}

/* The type that places are counted in: f32 for fractions, and whole numbers that hold the smaller types. */
static xl_type counting_type(xl_type type)
{
  return xl_is_float(type) ? XL_F32 : type == XL_I64 ? XL_I64 : XL_I32;
}

static xl_var *arange(xl_type type, double start, double end, double step)
{
  if (!xl_check_type(type)) {
    return NULL;
  }
  const double count = ceil((end - start) / step);
  if (type == XL_BOOL || !isfinite(count) || count < 0 || count > 0x1p60) {
    return xl_refuse(XP_ERR_USAGE, "there is no %s[] from %g to %g in steps of %g", xl_type_name(type), start, end,
                     step);
  }
  if (!xl_is_float(type) && (start != floor(start) || step != floor(step))) {
    return xl_refuse(XP_ERR_USAGE, "whole numbers (%s) have no start %g and step %g", xl_type_name(type), start, step);
  }
  const xl_result result = {.op = XL_OP_ARANGE, .type = type, .shape = XL_SHAPE((int64_t)count)};
  const xl_type counting = counting_type(type);
  xl_var *first = xl_number(counting, start), *distance = xl_number(counting, step);
  return xl_apply_2(&result, first, distance);
}

/* The operand is what stands on the diagonal. */
static xl_var *eye(xl_type type, int64_t n)
{
  const xl_result result = {.op = XL_OP_EYE, .type = type, .shape = XL_SHAPE(n, n)};
  return xl_check_type(type) ? xl_apply_1(&result, xl_number(type, 1)) : NULL;
}

/* ---------------------------------------------------------------- public */

xl_tensor xl_from_host_at(const xl_location *at, xl_type type, xl_shape shape, const void *values)
{
  static xl_entry entry = {"from_host", NULL};
  return upload(&entry, at, type, &shape, values);
}

xl_tensor xl_scalar_at(const xl_location *at, xl_type type, double value)
{
  static xl_entry entry = {"scalar", NULL};
  const xl_shape scalar = XL_SCALAR;
  unsigned char bytes[8] = {0};
  if ((unsigned)type < XL_TYPE_COUNT) {
    xl_number_bytes(type, value, bytes);
  }
  return upload(&entry, at, type, &scalar, bytes);
}

xl_tensor xl_zeros_at(const xl_location *at, xl_type type, xl_shape shape)
{
  static xl_entry entry = {"zeros", NULL};
  xl_begin(&entry, at);
  return xl_end(filled(type, &shape, 0));
}

xl_tensor xl_ones_at(const xl_location *at, xl_type type, xl_shape shape)
{
  static xl_entry entry = {"ones", NULL};
  xl_begin(&entry, at);
  return xl_end(filled(type, &shape, 1));
}

xl_tensor xl_full_at(const xl_location *at, xl_type type, xl_shape shape, double value)
{
  static xl_entry entry = {"full", NULL};
  xl_begin(&entry, at);
  return xl_end(filled(type, &shape, value));
}

xl_tensor xl_zeros_like_at(const xl_location *at, xl_tensor tensor)
{
  static xl_entry entry = {"zeros_like", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return xl_end(x != NULL ? xl_filled(x->type, &x->shape, 0) : NULL);
}

xl_tensor xl_ones_like_at(const xl_location *at, xl_tensor tensor)
{
  static xl_entry entry = {"ones_like", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return xl_end(x != NULL ? xl_filled(x->type, &x->shape, 1) : NULL);
}

xl_tensor xl_arange_at(const xl_location *at, xl_type type, double start, double end, double step)
{
  static xl_entry entry = {"arange", NULL};
  xl_begin(&entry, at);
  return xl_end(arange(type, start, end, step));
}

xl_tensor xl_eye_at(const xl_location *at, xl_type type, int64_t n)
{
  static xl_entry entry = {"eye", NULL};
  xl_begin(&entry, at);
  return xl_end(eye(type, n));
}

xl_tensor xl_clone_at(const xl_location *at, xl_tensor tensor)
{
  static xl_entry entry = {"clone", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_clone(xl_arg(tensor)));
}

/* Shares the memory of x, as in torch: updates in place reach it. */
xl_tensor xl_detach_at(const xl_location *at, xl_tensor tensor)
{
  static xl_entry entry = {"detach", NULL};
  xl_begin(&entry, at);
  xl_var *x = xl_arg(tensor);
  return xl_end(x != NULL ? xl_made(xl_var_alias(x)) : NULL);
}
