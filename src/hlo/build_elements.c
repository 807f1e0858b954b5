/* Operations element by element: which types each takes, and what type comes out.
 *
 * Extents never change here, and never have to be guessed: operands have the same, or are scalars where the header says
 * so.
 */
#include "hlo/build_body.h"

/* Sets of xp_hlo_kind. */
enum {
  PRED = 1u << XP_HLO_KIND_PRED,
  SIGNED = 1u << XP_HLO_KIND_SIGNED,
  INTEGER = SIGNED | 1u << XP_HLO_KIND_UNSIGNED,
  FLOAT = 1u << XP_HLO_KIND_FLOAT,
  COMPLEX = 1u << XP_HLO_KIND_COMPLEX,
  NUMBER = INTEGER | FLOAT | COMPLEX,
  ANY = PRED | NUMBER
};

typedef enum { NOT_HERE = 0, SAME, REAL_PART, TO_PRED, TO_COMPLEX } result_rule;

typedef struct {
  uint8_t kinds, rule;
} rule;

static const rule unary_rules[XP_HLO_OP_COUNT] = {
    [XP_HLO_OP_ABS] = {NUMBER, REAL_PART},
    [XP_HLO_OP_ACOS] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_ACOSH] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_ASIN] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_ASINH] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_ATANH] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_CBRT] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_CEIL] = {FLOAT, SAME},
    [XP_HLO_OP_COPY] = {ANY, SAME},
    [XP_HLO_OP_COSH] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_COSINE] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_COUNT_LEADING_ZEROS] = {INTEGER, SAME},
    [XP_HLO_OP_ERF] = {FLOAT, SAME},
    [XP_HLO_OP_EXPONENTIAL] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_EXPONENTIAL_MINUS_ONE] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_FLOOR] = {FLOAT, SAME},
    [XP_HLO_OP_IMAG] = {FLOAT | COMPLEX, REAL_PART},
    [XP_HLO_OP_IS_FINITE] = {FLOAT, TO_PRED},
    [XP_HLO_OP_LOG] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_LOG_PLUS_ONE] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_LOGISTIC] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_NEGATE] = {NUMBER, SAME},
    [XP_HLO_OP_NOT] = {PRED | INTEGER, SAME},
    [XP_HLO_OP_POPCNT] = {INTEGER, SAME},
    [XP_HLO_OP_REAL] = {FLOAT | COMPLEX, REAL_PART},
    [XP_HLO_OP_ROUND_NEAREST_AFZ] = {FLOAT, SAME},
    [XP_HLO_OP_ROUND_NEAREST_EVEN] = {FLOAT, SAME},
    [XP_HLO_OP_RSQRT] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_SIGN] = {SIGNED | FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_SINE] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_SINH] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_SQRT] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_TAN] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_TANH] = {FLOAT | COMPLEX, SAME},
};

static const rule binary_rules[XP_HLO_OP_COUNT] = {
    [XP_HLO_OP_ADD] = {ANY, SAME},
    [XP_HLO_OP_AND] = {PRED | INTEGER, SAME},
    [XP_HLO_OP_ATAN2] = {FLOAT | COMPLEX, SAME},
    [XP_HLO_OP_COMPLEX] = {FLOAT, TO_COMPLEX},
    [XP_HLO_OP_DIVIDE] = {NUMBER, SAME},
    [XP_HLO_OP_MAXIMUM] = {PRED | INTEGER | FLOAT, SAME},
    [XP_HLO_OP_MINIMUM] = {PRED | INTEGER | FLOAT, SAME},
    [XP_HLO_OP_MULTIPLY] = {ANY, SAME},
    [XP_HLO_OP_OR] = {PRED | INTEGER, SAME},
    [XP_HLO_OP_POWER] = {NUMBER, SAME},
    [XP_HLO_OP_REMAINDER] = {INTEGER | FLOAT, SAME},
    [XP_HLO_OP_SHIFT_LEFT] = {INTEGER, SAME},
    [XP_HLO_OP_SHIFT_RIGHT_ARITHMETIC] = {INTEGER, SAME},
    [XP_HLO_OP_SHIFT_RIGHT_LOGICAL] = {INTEGER, SAME},
    [XP_HLO_OP_SUBTRACT] = {NUMBER, SAME},
    [XP_HLO_OP_XOR] = {PRED | INTEGER, SAME},
};

/* ---------------------------------------------------------------- types of results */

static xp_hlo_type real_part(xp_hlo_type type)
{
  return type == XP_HLO_C64 ? XP_HLO_F32 : type == XP_HLO_C128 ? XP_HLO_F64 : type;
}

static xp_hlo_type complex_of(xp_hlo_type type)
{
  return type == XP_HLO_F32 ? XP_HLO_C64 : type == XP_HLO_F64 ? XP_HLO_C128 : XP_HLO_TYPE_INVALID;
}

/* XP_HLO_TYPE_INVALID if the operation does not take the type. */
static xp_hlo_type result_type(const rule *r, xp_hlo_type type)
{
  if ((r->kinds >> xp_hlo_type_kind(type) & 1u) == 0) {
    return XP_HLO_TYPE_INVALID;
  }
  switch (r->rule) {
  case SAME:
    return type;
  case REAL_PART:
    return real_part(type);
  case TO_PRED:
    return XP_HLO_PRED;
  case TO_COMPLEX:
    return complex_of(type);
  default:
    return XP_HLO_TYPE_INVALID;
  }
}

/* An instruction with the extents and the layout of a value, and a type of its own. */
static xp_hlo_instruction like(const xp_hlo_body *body, xp_hlo_value x, xp_hlo_opcode opcode, xp_hlo_type type)
{
  const xp_hlo_shape *shape = xp_hlo_shape_in(body, x);
  return (xp_hlo_instruction){.opcode = opcode, .shape = xp_hlo_shape_array(type, shape->rank, shape->dims)};
}

/* ---------------------------------------------------------------- operations */

xp_hlo_value xp_hlo_build_unary(xp_hlo_body *body, xp_hlo_opcode opcode, xp_hlo_value x)
{
  const rule *r = &unary_rules[(unsigned)opcode < XP_HLO_OP_COUNT ? opcode : XP_HLO_OP_ADD];
  if (!xp_hlo_is_array_value(body, opcode, x)) {
    return XP_HLO_NO_VALUE;
  }
  if (r->rule == NOT_HERE) {
    return xp_hlo_cannot(body, opcode, "it is no operation of one array element by element");
  }
  xp_hlo_type type = result_type(r, xp_hlo_shape_in(body, x)->type);
  if (type == XP_HLO_TYPE_INVALID) {
    return xp_hlo_cannot(body, opcode,
                         "the operand has the shape %.180s, of a type that it does not take; convert first",
                         xp_hlo_show(body, xp_hlo_shape_in(body, x)));
  }
  xp_hlo_instruction in = like(body, x, opcode, type);
  return xp_hlo_append(body, &in, &x, 1);
}

xp_hlo_value xp_hlo_build_binary(xp_hlo_body *body, xp_hlo_opcode opcode, xp_hlo_value x, xp_hlo_value y)
{
  const rule *r = &binary_rules[(unsigned)opcode < XP_HLO_OP_COUNT ? opcode : XP_HLO_OP_ABS];
  const xp_hlo_value operands[] = {x, y};
  if (!xp_hlo_is_array_value(body, opcode, x) || !xp_hlo_is_array_value(body, opcode, y)) {
    return XP_HLO_NO_VALUE;
  }
  if (r->rule == NOT_HERE) {
    return xp_hlo_cannot(body, opcode, "it is no operation of two arrays element by element");
  }
  const xp_hlo_shape *a = xp_hlo_shape_in(body, x), *b = xp_hlo_shape_in(body, y);
  if (!xp_hlo_shape_same(a, b)) {
    return xp_hlo_cannot_pair(body, opcode, a, b, "broadcast or convert one first");
  }
  xp_hlo_type type = result_type(r, a->type);
  if (type == XP_HLO_TYPE_INVALID) {
    return xp_hlo_cannot_pair(body, opcode, a, b, "it does not take this type, convert first");
  }
  xp_hlo_instruction in = like(body, x, opcode, type);
  return xp_hlo_append(body, &in, operands, 2);
}

static xp_hlo_value compare(xp_hlo_body *body, xp_hlo_compare direction, xp_hlo_order order, xp_hlo_value x,
                            xp_hlo_value y)
{
  const xp_hlo_value operands[] = {x, y};
  const xp_hlo_opcode opcode = XP_HLO_OP_COMPARE;
  if (!xp_hlo_is_array_value(body, opcode, x) || !xp_hlo_is_array_value(body, opcode, y)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *a = xp_hlo_shape_in(body, x), *b = xp_hlo_shape_in(body, y);
  if (!xp_hlo_shape_same(a, b)) {
    return xp_hlo_cannot_pair(body, opcode, a, b, "broadcast or convert one first");
  }
  if (direction <= XP_HLO_COMPARE_NONE || direction >= XP_HLO_COMPARE_COUNT) {
    return xp_hlo_cannot(body, opcode, "there is no direction %d", (int)direction);
  }
  bool is_equality = direction == XP_HLO_COMPARE_EQ || direction == XP_HLO_COMPARE_NE;
  if (xp_hlo_type_is_complex(a->type) && !is_equality) {
    return xp_hlo_cannot_pair(body, opcode, a, b, "complex numbers have no order, compare parts");
  }
  if (order == XP_HLO_ORDER_TOTAL && !xp_hlo_type_is_float(a->type)) {
    return xp_hlo_cannot_pair(body, opcode, a, b, "only floats have a total order of their own");
  }
  xp_hlo_instruction in = like(body, x, opcode, XP_HLO_PRED);
  in.compare = direction;
  in.order = order != XP_HLO_ORDER_NONE ? order : xp_hlo_usual_order(a->type);
  return xp_hlo_append(body, &in, operands, 2);
}

xp_hlo_value xp_hlo_build_compare(xp_hlo_body *body, xp_hlo_compare direction, xp_hlo_value x, xp_hlo_value y)
{
  return compare(body, direction, XP_HLO_ORDER_NONE, x, y);
}

xp_hlo_value xp_hlo_build_compare_total(xp_hlo_body *body, xp_hlo_compare direction, xp_hlo_value x, xp_hlo_value y)
{
  return compare(body, direction, XP_HLO_ORDER_TOTAL, x, y);
}

/* True if `small` is a scalar or has the extents of `large`. */
static bool fits(const xp_hlo_shape *small, const xp_hlo_shape *large)
{
  return small->rank == 0 || xp_hlo_shape_same_dims(small, large);
}

/* A scalar as an array of the extents of `like`; anything else stays.  XLA's rules allow the scalar, but the compilers
 * of some plugins do not get along with it. */
static xp_hlo_value spread(xp_hlo_body *body, xp_hlo_value x, xp_hlo_value like_this)
{
  const xp_hlo_shape like_shape = *xp_hlo_shape_in(body, like_this);
  if (xp_hlo_shape_in(body, x)->rank == like_shape.rank) {
    return x;
  }
  return xp_hlo_build_broadcast(body, x, like_shape.rank, like_shape.dims, NULL);
}

xp_hlo_value xp_hlo_build_select(xp_hlo_body *body, xp_hlo_value pred, xp_hlo_value on_true, xp_hlo_value on_false)
{
  xp_hlo_value operands[] = {pred, on_true, on_false};
  const xp_hlo_opcode opcode = XP_HLO_OP_SELECT;
  for (size_t i = 0; i < 3; i++) {
    if (!xp_hlo_is_array_value(body, opcode, operands[i])) {
      return XP_HLO_NO_VALUE;
    }
  }
  const xp_hlo_shape *p = xp_hlo_shape_in(body, pred), *t = xp_hlo_shape_in(body, on_true),
                     *f = xp_hlo_shape_in(body, on_false);
  if (!xp_hlo_shape_same(t, f)) {
    return xp_hlo_cannot_pair(body, opcode, t, f, "both sides must be alike");
  }
  if (p->type != XP_HLO_PRED || !fits(p, t)) {
    return xp_hlo_cannot_pair(body, opcode, p, t,
                              "the first must be a pred scalar, or pred with the extents of the others");
  }
  xp_hlo_instruction in = like(body, on_true, opcode, t->type);
  operands[0] = spread(body, pred, on_true);
  return xp_hlo_append(body, &in, operands, 3);
}

xp_hlo_value xp_hlo_build_clamp(xp_hlo_body *body, xp_hlo_value min, xp_hlo_value x, xp_hlo_value max)
{
  xp_hlo_value operands[] = {min, x, max};
  const xp_hlo_opcode opcode = XP_HLO_OP_CLAMP;
  for (size_t i = 0; i < 3; i++) {
    if (!xp_hlo_is_array_value(body, opcode, operands[i])) {
      return XP_HLO_NO_VALUE;
    }
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, x);
  for (size_t i = 0; i < 3; i += 2) {
    const xp_hlo_shape *bound = xp_hlo_shape_in(body, operands[i]);
    if (bound->type != s->type || !fits(bound, s)) {
      return xp_hlo_cannot_pair(body, opcode, bound, s,
                                "a bound must be a scalar of the same type, or have the same shape");
    }
  }
  if (xp_hlo_type_is_complex(s->type)) {
    return xp_hlo_cannot_pair(body, opcode, s, s, "complex numbers have no order");
  }
  xp_hlo_instruction in = like(body, x, opcode, s->type);
  operands[0] = spread(body, min, x);
  operands[2] = spread(body, max, x);
  return xp_hlo_append(body, &in, operands, 3);
}

/* ---------------------------------------------------------------- other types for the same elements */

xp_hlo_value xp_hlo_build_convert(xp_hlo_body *body, xp_hlo_value x, xp_hlo_type type)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_CONVERT;
  if (!xp_hlo_is_array_value(body, opcode, x)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, x);
  if (!xp_hlo_type_is_array(type) || (xp_hlo_type_is_complex(s->type) && !xp_hlo_type_is_complex(type))) {
    return xp_hlo_cannot(body, opcode, "the operand has the shape %.180s, which has no conversion to %s",
                         xp_hlo_show(body, s), xp_hlo_type_name(type));
  }
  xp_hlo_instruction in = like(body, x, opcode, type);
  return xp_hlo_append(body, &in, &x, 1);
}

/* The shape of the same bits as another type; false if there is none. */
static bool bitcast_shape(const xp_hlo_shape *s, xp_hlo_type type, xp_hlo_shape *out)
{
  unsigned from = xp_hlo_type_bits(s->type), to = xp_hlo_type_bits(type);
  if (to == 0 || xp_hlo_type_is_complex(type) != xp_hlo_type_is_complex(s->type)) {
    return false;
  }
  *out = xp_hlo_shape_array(type, s->rank, s->dims);
  if (from > to) {
    int64_t dims[XP_HLO_MAX_RANK + 1];
    memcpy(dims, s->dims, sizeof s->dims);
    dims[s->rank] = from / to;
    *out = s->rank < XP_HLO_MAX_RANK ? xp_hlo_shape_array(type, s->rank + 1u, dims) : *out;
    return from % to == 0 && s->rank < XP_HLO_MAX_RANK;
  }
  if (from < to) {
    bool is_whole = to % from == 0 && s->rank > 0 && s->dims[s->rank - 1] == to / from;
    *out = is_whole ? xp_hlo_shape_array(type, s->rank - 1u, s->dims) : *out;
    return is_whole;
  }
  return true;
}

xp_hlo_value xp_hlo_build_bitcast_convert(xp_hlo_body *body, xp_hlo_value x, xp_hlo_type type)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_BITCAST_CONVERT;
  if (!xp_hlo_is_array_value(body, opcode, x)) {
    return XP_HLO_NO_VALUE;
  }
  xp_hlo_instruction in = {.opcode = opcode};
  if (!bitcast_shape(xp_hlo_shape_in(body, x), type, &in.shape)) {
    return xp_hlo_cannot(body, opcode, "the bits of %.180s are no whole elements of %s",
                         xp_hlo_show(body, xp_hlo_shape_in(body, x)), xp_hlo_type_name(type));
  }
  return xp_hlo_append(body, &in, &x, 1);
}

xp_hlo_value xp_hlo_build_reduce_precision(xp_hlo_body *body, xp_hlo_value x, int32_t exponent_bits,
                                           int32_t mantissa_bits)
{
  const xp_hlo_opcode opcode = XP_HLO_OP_REDUCE_PRECISION;
  if (!xp_hlo_is_array_value(body, opcode, x)) {
    return XP_HLO_NO_VALUE;
  }
  const xp_hlo_shape *s = xp_hlo_shape_in(body, x);
  if (!xp_hlo_type_is_float(s->type) || exponent_bits < 1 || mantissa_bits < 0) {
    return xp_hlo_cannot(body, opcode,
                         "the operand has the shape %.180s and %d and %d bits; pass floats, and an exponent",
                         xp_hlo_show(body, s), exponent_bits, mantissa_bits);
  }
  xp_hlo_instruction in = like(body, x, opcode, s->type);
  in.exponent_bits = exponent_bits;
  in.mantissa_bits = mantissa_bits;
  return xp_hlo_append(body, &in, &x, 1);
}
