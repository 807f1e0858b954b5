/* Element-wise operations on integers and pred, and those that only move bits (select).
 *
 * Arithmetic wraps.  What C leaves undefined is what XLA's CPU client gives: x / 0 has all bits set and x % 0 is x; the
 * smallest number divided by -1 is itself, remainder 0; a shift by the width or more shifts everything out.
 */
#include "device/kernels/isa.h"

#define UNARY(name, T, expression)                                                                                     \
  static void name(void *out, const void *const *in, int64_t n)                                                        \
  {                                                                                                                    \
    T *y = out;                                                                                                        \
    const T *px = in[0];                                                                                               \
    XP_DEV_INDEPENDENT                                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      T x = px[i];                                                                                                     \
      y[i] = (T)(expression);                                                                                          \
    }                                                                                                                  \
  }

#define BINARY(name, T, R, expression)                                                                                 \
  static void name(void *out, const void *const *in, int64_t n)                                                        \
  {                                                                                                                    \
    R *y = out;                                                                                                        \
    const T *pa = in[0], *pb = in[1];                                                                                  \
    XP_DEV_INDEPENDENT                                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      T a = pa[i], b = pb[i];                                                                                          \
      y[i] = (R)(expression);                                                                                          \
    }                                                                                                                  \
  }

/* Integer power by squaring.  A negative exponent gives 1 / base^-exponent cut to an integer. */
#define POWER(name, T, U, is_signed)                                                                                   \
  static inline T raise_##name(T base, T exponent)                                                                     \
  {                                                                                                                    \
    if (is_signed && exponent < (T)1 && exponent != 0) {                                                               \
      return (T)(base == (T)1 ? 1 : base == (T)-1 ? ((exponent & 1) ? -1 : 1) : 0);                                    \
    }                                                                                                                  \
    U result = 1, square = (U)base;                                                                                    \
    for (T e = exponent; e != 0; e = (T)(e >> 1)) {                                                                    \
      result = (e & 1) ? (U)(result * square) : result;                                                                \
      square = (U)(square * square);                                                                                   \
    }                                                                                                                  \
    return (T)result;                                                                                                  \
  }                                                                                                                    \
  BINARY(name, T, T, raise_##name(a, b))

/* T: the type; V: its unsigned twin; U: unsigned, wide enough not to be promoted to int */
#define INTEGER_KERNELS(T, V, U, s, bits)                                                                              \
  UNARY(not_##s, T, ~(U)x)                                                                                             \
  UNARY(negate_##s, T, 0 - (U)x)                                                                                       \
  UNARY(popcnt_##s, T, __builtin_popcountll((V)x))                                                                     \
  UNARY(clz_##s, T, x == 0 ? bits : __builtin_clzll((V)x) - (64 - bits))                                               \
  BINARY(add_##s, T, T, (U)a + (U)b)                                                                                   \
  BINARY(subtract_##s, T, T, (U)a - (U)b)                                                                              \
  BINARY(multiply_##s, T, T, (U)a *(U)b)                                                                               \
  BINARY(and_##s, T, T, a &b)                                                                                          \
  BINARY(or_##s, T, T, a | b)                                                                                          \
  BINARY(xor_##s, T, T, a ^ b)                                                                                         \
  BINARY(maximum_##s, T, T, a > b ? a : b)                                                                             \
  BINARY(minimum_##s, T, T, a < b ? a : b)                                                                             \
  BINARY(shift_left_##s, T, T, (V)b < bits ? (U)a << ((U)b & (bits - 1)) : 0)                                          \
  BINARY(shift_logical_##s, T, T, (V)b < bits ? (V)a >> ((U)b & (bits - 1)) : 0)                                       \
  COMPARES(T, s)                                                                                                       \
  static void clamp_##s(void *out, const void *const *in, int64_t n)                                                   \
  {                                                                                                                    \
    T *y = out;                                                                                                        \
    const T *least = in[0], *x = in[1], *most = in[2];                                                                 \
    XP_DEV_INDEPENDENT                                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      T low = x[i] > least[i] ? x[i] : least[i];                                                                       \
      y[i] = low < most[i] ? low : most[i];                                                                            \
    }                                                                                                                  \
  }

#define COMPARES(T, s)                                                                                                 \
  BINARY(eq_##s, T, uint8_t, a == b)                                                                                   \
  BINARY(ne_##s, T, uint8_t, a != b)                                                                                   \
  BINARY(ge_##s, T, uint8_t, a >= b)                                                                                   \
  BINARY(gt_##s, T, uint8_t, a > b)                                                                                    \
  BINARY(le_##s, T, uint8_t, a <= b)                                                                                   \
  BINARY(lt_##s, T, uint8_t, a < b)

#define SIGNED_KERNELS(T, V, U, s, bits)                                                                               \
  INTEGER_KERNELS(T, V, U, s, bits)                                                                                    \
  POWER(power_##s, T, U, 1)                                                                                            \
  UNARY(abs_##s, T, x < 0 ? 0 - (U)x : (U)x)                                                                           \
  UNARY(sign_##s, T, (x > 0) - (x < 0))                                                                                \
  BINARY(divide_##s, T, T, b == 0 ? (T)-1 : b == -1 ? (T)(0 - (U)a) : (T)(a / b))                                      \
  BINARY(remainder_##s, T, T, b == 0 ? a : b == -1 ? (T)0 : (T)(a % b))                                                \
  BINARY(shift_arithmetic_##s, T, T, a >> ((V)b < bits ? (int)((U)b & (bits - 1)) : bits - 1))

#define UNSIGNED_KERNELS(T, V, S, U, s, bits)                                                                          \
  INTEGER_KERNELS(T, V, U, s, bits)                                                                                    \
  POWER(power_##s, T, U, 0)                                                                                            \
  UNARY(abs_##s, T, x)                                                                                                 \
  UNARY(sign_##s, T, x != 0)                                                                                           \
  BINARY(divide_##s, T, T, b == 0 ? (T) ~(U)0 : (T)(a / b))                                                            \
  BINARY(remainder_##s, T, T, b == 0 ? a : (T)(a % b))                                                                 \
  BINARY(shift_arithmetic_##s, T, T, (S)a >> ((V)b < bits ? (int)((U)b & (bits - 1)) : bits - 1))

SIGNED_KERNELS(int8_t, uint8_t, uint32_t, s8, 8)
SIGNED_KERNELS(int16_t, uint16_t, uint32_t, s16, 16)
SIGNED_KERNELS(int32_t, uint32_t, uint32_t, s32, 32)
SIGNED_KERNELS(int64_t, uint64_t, uint64_t, s64, 64)
UNSIGNED_KERNELS(uint8_t, uint8_t, int8_t, uint32_t, u8, 8)
UNSIGNED_KERNELS(uint16_t, uint16_t, int16_t, uint32_t, u16, 16)
UNSIGNED_KERNELS(uint32_t, uint32_t, int32_t, uint32_t, u32, 32)
UNSIGNED_KERNELS(uint64_t, uint64_t, int64_t, uint64_t, u64, 64)

UNARY(not_pred, uint8_t, !x)

#define SELECT(name, T)                                                                                                \
  static void name(void *out, const void *const *in, int64_t n)                                                        \
  {                                                                                                                    \
    T *y = out;                                                                                                        \
    const uint8_t *which = in[0];                                                                                      \
    const T *a = in[1], *b = in[2];                                                                                    \
    XP_DEV_INDEPENDENT                                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      y[i] = which[i] ? a[i] : b[i];                                                                                   \
    }                                                                                                                  \
  }

SELECT(select_8, uint8_t)
SELECT(select_16, uint16_t)
SELECT(select_32, uint32_t)
SELECT(select_64, uint64_t)

#define OP(opcode, type, name) k->elementwise[XP_HLO_OP_##opcode][XP_DEV_##type] = name;

#define FILL_COMPARES(T, s)                                                                                            \
  k->compare[XP_DEV_EQ][XP_DEV_##T] = eq_##s;                                                                          \
  k->compare[XP_DEV_NE][XP_DEV_##T] = ne_##s;                                                                          \
  k->compare[XP_DEV_GE][XP_DEV_##T] = ge_##s;                                                                          \
  k->compare[XP_DEV_GT][XP_DEV_##T] = gt_##s;                                                                          \
  k->compare[XP_DEV_LE][XP_DEV_##T] = le_##s;                                                                          \
  k->compare[XP_DEV_LT][XP_DEV_##T] = lt_##s;

#define FILL(T, s)                                                                                                     \
  OP(NOT, T, not_##s)                                                                                                  \
  OP(NEGATE, T, negate_##s)                                                                                            \
  OP(POPCNT, T, popcnt_##s)                                                                                            \
  OP(COUNT_LEADING_ZEROS, T, clz_##s)                                                                                  \
  OP(ABS, T, abs_##s)                                                                                                  \
  OP(SIGN, T, sign_##s)                                                                                                \
  OP(ADD, T, add_##s)                                                                                                  \
  OP(SUBTRACT, T, subtract_##s)                                                                                        \
  OP(MULTIPLY, T, multiply_##s)                                                                                        \
  OP(DIVIDE, T, divide_##s)                                                                                            \
  OP(REMAINDER, T, remainder_##s)                                                                                      \
  OP(POWER, T, power_##s)                                                                                              \
  OP(AND, T, and_##s)                                                                                                  \
  OP(OR, T, or_##s)                                                                                                    \
  OP(XOR, T, xor_##s)                                                                                                  \
  OP(MAXIMUM, T, maximum_##s)                                                                                          \
  OP(MINIMUM, T, minimum_##s)                                                                                          \
  OP(SHIFT_LEFT, T, shift_left_##s)                                                                                    \
  OP(SHIFT_RIGHT_LOGICAL, T, shift_logical_##s)                                                                        \
  OP(SHIFT_RIGHT_ARITHMETIC, T, shift_arithmetic_##s)                                                                  \
  OP(CLAMP, T, clamp_##s)                                                                                              \
  FILL_COMPARES(T, s)

static void fill_pred(xp_dev_kernels *k)
{
  OP(NOT, PRED, not_pred)
  OP(ADD, PRED, or_u8)
  OP(OR, PRED, or_u8)
  OP(MAXIMUM, PRED, or_u8)
  OP(MULTIPLY, PRED, and_u8)
  OP(AND, PRED, and_u8)
  OP(MINIMUM, PRED, and_u8)
  OP(XOR, PRED, xor_u8)
  OP(CLAMP, PRED, clamp_u8)
  FILL_COMPARES(PRED, u8)
}

void XP_DEV_NAME(xp_dev_fill_integer)(xp_dev_kernels *k)
{
  static const xp_dev_kernel select[] = {
      [XP_DEV_PRED] = select_8, [XP_DEV_S8] = select_8,   [XP_DEV_U8] = select_8,    [XP_DEV_S16] = select_16,
      [XP_DEV_U16] = select_16, [XP_DEV_F16] = select_16, [XP_DEV_BF16] = select_16, [XP_DEV_S32] = select_32,
      [XP_DEV_U32] = select_32, [XP_DEV_F32] = select_32, [XP_DEV_S64] = select_64,  [XP_DEV_U64] = select_64,
      [XP_DEV_F64] = select_64,
  };
  for (int t = 0; t < XP_DEV_TYPE_COUNT; t++) {
    k->elementwise[XP_HLO_OP_SELECT][t] = select[t];
  }
  fill_pred(k);
  FILL(S8, s8)
  FILL(S16, s16)
  FILL(S32, s32)
  FILL(S64, s64)
  FILL(U8, u8)
  FILL(U16, u16)
  FILL(U32, u32)
  FILL(U64, u64)
}
