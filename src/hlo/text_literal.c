/* Values of constants as XLA prints them.
 *
 * A float has the digits that its type always keeps, if they give the same value back, else as many as it can need:
 * 1e-07 rather than 1.00000001e-07.  Types of 16 bits and less have a fixed number of digits.  Elements are printed in
 * the order of the dimensions, whatever the layout is.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "hlo/element.h"
#include "hlo/text_out.h"

enum { LARGE = 10 }; /* elements above which an array is not printed */

/* ---------------------------------------------------------------- one element */

static void put_double(xp_hlo_out *out, double value, int sure_digits, int all_digits, bool is_single)
{
  if (isnan(value)) {
    xp_hlo_out_text(out, signbit(value) ? "-nan" : "nan");
    return;
  }
  char text[64];
  snprintf(text, sizeof text, "%.*g", sure_digits, value);
  bool is_same = is_single ? strtof(text, NULL) == (float)value : strtod(text, NULL) == value;
  if (!is_same) {
    snprintf(text, sizeof text, "%.*g", all_digits, value);
  }
  xp_hlo_out_text(out, text);
}

/* Digits that tell all values of a type of less than 32 bits apart: 1 + the bits of its fraction * log10(2), rounded
 * up. */
static int small_float_digits(xp_hlo_type type)
{
  switch (type) {
  case XP_HLO_F16:
    return 5;
  case XP_HLO_BF16:
    return 4;
  case XP_HLO_F8E5M2:
  case XP_HLO_F8E5M2FNUZ:
  case XP_HLO_F8E8M0FNU:
  case XP_HLO_F4E2M1FN:
  case XP_HLO_F6E3M2FN:
    return 2;
  default:
    return 3;
  }
}

static void put_float(xp_hlo_out *out, xp_hlo_type type, const char *bytes)
{
  double value = xp_hlo_element_to_double(type, bytes);
  if (type == XP_HLO_F64 || type == XP_HLO_C128) {
    put_double(out, value, 15, 17, false);
  } else if (type == XP_HLO_F32 || type == XP_HLO_C64) {
    put_double(out, value, 6, 9, true);
  } else {
    put_double(out, value, small_float_digits(type), small_float_digits(type), true);
  }
}

static void put_element(xp_hlo_out *out, xp_hlo_type type, const char *bytes)
{
  switch (xp_hlo_type_kind(type)) {
  case XP_HLO_KIND_PRED:
    xp_hlo_out_text(out, bytes[0] ? "true" : "false");
    break;
  case XP_HLO_KIND_SIGNED:
    xp_hlo_out_format(out, "%lld", (long long)xp_hlo_element_to_int64(type, bytes));
    break;
  case XP_HLO_KIND_UNSIGNED:
    xp_hlo_out_format(out, "%llu", (unsigned long long)xp_hlo_element_to_int64(type, bytes));
    break;
  case XP_HLO_KIND_COMPLEX:
    xp_hlo_out_text(out, "(");
    put_float(out, type, bytes);
    xp_hlo_out_text(out, ", ");
    put_float(out, type, bytes + xp_hlo_type_bytes(type) / 2);
    xp_hlo_out_text(out, ")");
    break;
  default:
    put_float(out, type, bytes);
    break;
  }
}

/* ---------------------------------------------------------------- arrays */

static void put_at(xp_hlo_out *out, const xp_hlo_literal *literal, const int64_t *index)
{
  const xp_hlo_shape *shape = &literal->shape;
  int64_t at = 0;
  for (size_t i = shape->rank; i-- > 0;) { /* the slowest dimension first */
    size_t dim = shape->minor_to_major[i];
    at = at * shape->dims[dim] + index[dim];
  }
  bool is_bit_pred = shape->type == XP_HLO_PRED && shape->rank > 0;
  const char *bytes = literal->bytes.ptr + (size_t)at * xp_hlo_type_bytes(shape->type);
  if (is_bit_pred) {
    xp_hlo_out_text(out, bytes[0] ? "1" : "0"); /* words for a scalar, digits in an array */
  } else {
    put_element(out, shape->type, bytes);
  }
}

/* The elements below index[0 .. dim-1].  From four dimensions on, blocks say which they are. */
static void put_dims(xp_hlo_out *out, const xp_hlo_literal *literal, int64_t *index, size_t dim)
{
  const xp_hlo_shape *shape = &literal->shape;
  if (dim == shape->rank) {
    put_at(out, literal, index);
    return;
  }
  bool is_tight = shape->rank == 1 || shape->dims[dim] == 0;
  xp_hlo_out_text(out, is_tight ? "{" : "{ ");
  if (dim > 0 && shape->rank > 3 && dim + 1 < shape->rank) {
    xp_hlo_out_format(out, "/*i%zu=%lld*/ ", dim - 1, (long long)index[dim - 1]);
  }
  for (index[dim] = 0; index[dim] < shape->dims[dim]; index[dim]++) {
    xp_hlo_out_text(out, index[dim] > 0 ? ", " : "");
    put_dims(out, literal, index, dim + 1);
  }
  xp_hlo_out_text(out, is_tight ? "}" : " }");
}

void xp_hlo_out_literal(xp_hlo_out *out, const xp_hlo_literal *literal)
{
  const xp_hlo_shape *shape = &literal->shape;
  if (!xp_hlo_shape_is_array(shape) || xp_hlo_shape_elements(shape) > LARGE) {
    xp_hlo_out_text(out, "{...}");
  } else {
    int64_t index[XP_HLO_MAX_RANK] = {0};
    put_dims(out, literal, index, 0);
  }
}
