/* Rows that are reduced to one value: sums, products, extremes, and the operations on bits.
 *
 * A row is taken in strips of 32 partial results, which a compiler keeps in vectors; at its end they are put together.
 * So sums come in another order than written, and are more exact than in that order.
 */
#include <math.h>

#include "device/kernels/isa.h"

#define STRIP 32

#define FOLD(name, T, expression)                                                                                      \
  static inline T join_##name(T a, T b)                                                                                \
  {                                                                                                                    \
    return (T)(expression);                                                                                            \
  }                                                                                                                    \
  static void name(void *accumulator, const void *in, int64_t n)                                                       \
  {                                                                                                                    \
    T *result = accumulator;                                                                                           \
    const T *x = in;                                                                                                   \
    int64_t i = 0;                                                                                                     \
    if (n >= STRIP) {                                                                                                  \
      T part[STRIP];                                                                                                   \
      for (int j = 0; j < STRIP; j++) {                                                                                \
        part[j] = x[j];                                                                                                \
      }                                                                                                                \
      for (i = STRIP; i + STRIP <= n; i += STRIP) {                                                                    \
        for (int j = 0; j < STRIP; j++) {                                                                              \
          part[j] = join_##name(part[j], x[i + j]);                                                                    \
        }                                                                                                              \
      }                                                                                                                \
      for (int half = STRIP / 2; half > 0; half /= 2) {                                                                \
        for (int j = 0; j < half; j++) {                                                                               \
          part[j] = join_##name(part[j], part[j + half]);                                                              \
        }                                                                                                              \
      }                                                                                                                \
      *result = join_##name(*result, part[0]);                                                                         \
    }                                                                                                                  \
    for (; i < n; i++) {                                                                                               \
      *result = join_##name(*result, x[i]);                                                                            \
    }                                                                                                                  \
  }

#define FLOAT_FOLDS(T, s)                                                                                              \
  FOLD(add_##s, T, a + b)                                                                                              \
  FOLD(multiply_##s, T, a *b)                                                                                          \
  FOLD(maximum_##s, T, XP_DEV_GREATER(T, a, b))                                                                        \
  FOLD(minimum_##s, T, XP_DEV_LESSER(T, a, b))

#define INTEGER_FOLDS(T, U, s)                                                                                         \
  FOLD(add_##s, T, (U)a + (U)b)                                                                                        \
  FOLD(multiply_##s, T, (U)a *(U)b)                                                                                    \
  FOLD(maximum_##s, T, a > b ? a : b)                                                                                  \
  FOLD(minimum_##s, T, a < b ? a : b)                                                                                  \
  FOLD(and_##s, T, a &b)                                                                                               \
  FOLD(or_##s, T, a | b)                                                                                               \
  FOLD(xor_##s, T, a ^ b)

FLOAT_FOLDS(float, f32)
FLOAT_FOLDS(double, f64)
INTEGER_FOLDS(int8_t, uint32_t, s8)
INTEGER_FOLDS(int16_t, uint32_t, s16)
INTEGER_FOLDS(int32_t, uint32_t, s32)
INTEGER_FOLDS(int64_t, uint64_t, s64)
INTEGER_FOLDS(uint8_t, uint32_t, u8)
INTEGER_FOLDS(uint16_t, uint32_t, u16)
INTEGER_FOLDS(uint32_t, uint32_t, u32)
INTEGER_FOLDS(uint64_t, uint64_t, u64)

#define OP(opcode, T, name) k->fold[XP_HLO_OP_##opcode][XP_DEV_##T] = name;
#define FILL_ARITHMETIC(T, s)                                                                                          \
  OP(ADD, T, add_##s) OP(MULTIPLY, T, multiply_##s) OP(MAXIMUM, T, maximum_##s) OP(MINIMUM, T, minimum_##s)
#define FILL_BITS(T, s)    OP(AND, T, and_##s) OP(OR, T, or_##s) OP(XOR, T, xor_##s)
#define FILL_INTEGER(T, s) FILL_ARITHMETIC(T, s) FILL_BITS(T, s)

void XP_DEV_NAME(xp_dev_fill_fold)(xp_dev_kernels *k)
{
  FILL_ARITHMETIC(F32, f32)
  FILL_ARITHMETIC(F64, f64)
  FILL_INTEGER(S8, s8)
  FILL_INTEGER(S16, s16)
  FILL_INTEGER(S32, s32)
  FILL_INTEGER(S64, s64)
  FILL_INTEGER(U8, u8)
  FILL_INTEGER(U16, u16)
  FILL_INTEGER(U32, u32)
  FILL_INTEGER(U64, u64)
  FILL_BITS(PRED, u8)
  OP(ADD, PRED, or_u8)
  OP(MAXIMUM, PRED, or_u8)
  OP(MULTIPLY, PRED, and_u8)
  OP(MINIMUM, PRED, and_u8)
}
