/* Random numbers: each operation takes a seed (lazy/random.h), so that its program is the same for all seeds. */
#include "lazy/op_random.h"

#include "lazy/op_create.h"
#include "lazy/op_elements.h"
#include "lazy/random.h"

/* A tensor made by a random operation from a seed and, for some, two numbers. */
static xl_var *random_tensor(xl_op op, xl_type type, const xl_shape *shape, xl_var *a, xl_var *b)
{
  xl_device *device = xl_call_device();
  if (device == NULL) {
    return NULL;
  }
  const xl_result result = {.op = op, .type = type, .shape = *shape};
  xl_var *const inputs[] = {xl_random_seed(device), a, b};
  return xl_allocate(type, shape) ? xl_apply(&result, inputs, a != NULL ? 3 : 1) : NULL;
}

static xl_var *random_fractions(xl_op op, xl_type type, const xl_shape *shape)
{
  if (!xl_check_type(type) || !xl_check_shape(shape)) {
    return NULL;
  }
  if (!xl_is_float(type)) {
    return xl_refuse(XP_ERR_USAGE, "%s has no fractions; xl_randint makes whole numbers", xl_type_name(type));
  }
  return random_tensor(op, type, shape, NULL, NULL);
}

/* Whole numbers from least to most are exact in a type; those of i64 as far as a double tells them apart. */
static const struct {
  int64_t least, most;
} exact[XL_TYPE_COUNT] = {
    [XL_F32] = {-(1 << 24), 1 << 24},
    [XL_BF16] = {-256, 256},
    [XL_I32] = {INT32_MIN, INT32_MAX},
    [XL_I64] = {-(INT64_C(1) << 53), INT64_C(1) << 53},
    [XL_U8] = {0, 255},
    [XL_BOOL] = {0, 1},
};

static xl_var *randint(xl_type type, const xl_shape *shape, int64_t low, int64_t high)
{
  if (!xl_check_type(type) || !xl_check_shape(shape)) {
    return NULL;
  }
  if (low >= high || low < exact[type].least || high - 1 > exact[type].most) {
    return xl_refuse(XP_ERR_USAGE, "there are no whole numbers from %lld to below %lld in %s, which has %lld to %lld",
                     (long long)low, (long long)high, xl_type_name(type), (long long)exact[type].least,
                     (long long)exact[type].most);
  }
  xl_var *first = xl_number(XL_I64, (double)low), *count = xl_number(XL_I64, (double)(high - low));
  return first != NULL && count != NULL ? random_tensor(XL_OP_RANDINT, type, shape, first, count) : NULL;
}

xl_var *xl_op_dropout(xl_var *x, double p)
{
  if (x == NULL) {
    return NULL;
  }
  char text[XL_SHAPE_TEXT];
  if (!(p >= 0 && p <= 1) || !xl_is_float(x->type)) {
    return xl_refuse(XP_ERR_USAGE, "%s with probability %g: it takes fractions, and a probability from 0 to 1",
                     xl_shape_text(text, x->type, &x->shape), p);
  }
  if (p == 0) {
    return xl_op_clone(x);
  }
  const xl_result mask = {.op = XL_OP_DROPOUT_MASK, .type = x->type, .shape = x->shape};
  xl_var *seed = xl_random_seed(xl_var_device(x));
  return xl_op_binary(XL_OP_MUL, x, xl_apply_2(&mask, seed, xl_number(XL_F32, 1 - p)));
}

/* ---------------------------------------------------------------- public */

xl_tensor xl_rand_at(const xl_location *at, xl_type type, xl_shape shape)
{
  static xl_entry entry = {"rand", NULL};
  xl_begin(&entry, at);
  return xl_end(random_fractions(XL_OP_RAND, type, &shape));
}

xl_tensor xl_randn_at(const xl_location *at, xl_type type, xl_shape shape)
{
  static xl_entry entry = {"randn", NULL};
  xl_begin(&entry, at);
  return xl_end(random_fractions(XL_OP_RANDN, type, &shape));
}

xl_tensor xl_randint_at(const xl_location *at, xl_type type, xl_shape shape, int64_t low, int64_t high)
{
  static xl_entry entry = {"randint", NULL};
  xl_begin(&entry, at);
  return xl_end(randint(type, &shape, low, high));
}

xl_tensor xl_dropout_at(const xl_location *at, xl_tensor tensor, double p)
{
  static xl_entry entry = {"dropout", NULL};
  xl_begin(&entry, at);
  return xl_end(xl_op_dropout(xl_arg(tensor), p));
}
