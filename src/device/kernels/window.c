/* Windows along a row: elements that lie a step apart, results so far, and what a window selects.
 *
 * All of them go through elements in the order in which they are called, so integers and results so far come out as
 * written.
 */
#include <math.h>

#include "device/kernels/isa.h"

/* Steps of 1, and of 1 and 2, are what pooling has; with them in sight a compiler makes vectors. */
#define STRIDE(name, T)                                                                                                \
  static void stride_##name(void *results, int64_t result_step, const void *in, int64_t step, int64_t n)               \
  {                                                                                                                    \
    T *to = results;                                                                                                   \
    const T *from = in;                                                                                                \
    if (result_step == 1 && step == 1) {                                                                               \
      XP_DEV_INDEPENDENT                                                                                               \
      for (int64_t i = 0; i < n; i++) {                                                                                \
        to[i] = join_##name(to[i], from[i]);                                                                           \
      }                                                                                                                \
    } else if (result_step == 1 && step == 2) {                                                                        \
      XP_DEV_INDEPENDENT                                                                                               \
      for (int64_t i = 0; i < n; i++) {                                                                                \
        to[i] = join_##name(to[i], from[2 * i]);                                                                       \
      }                                                                                                                \
    } else {                                                                                                           \
      for (int64_t i = 0; i < n; i++) {                                                                                \
        to[i * result_step] = join_##name(to[i * result_step], from[i * step]);                                        \
      }                                                                                                                \
    }                                                                                                                  \
  }

#define SCAN(name, T)                                                                                                  \
  static void scan_##name(void *accumulator, void *out, const void *in, int64_t step, int64_t n)                       \
  {                                                                                                                    \
    T *to = out, result = *(T *)accumulator;                                                                           \
    const T *from = in;                                                                                                \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      result = join_##name(result, from[i * step]);                                                                    \
      to[i * step] = result;                                                                                           \
    }                                                                                                                  \
    *(T *)accumulator = result;                                                                                        \
  }

#define WINDOW(name, T, expression)                                                                                    \
  static inline T join_##name(T a, T b)                                                                                \
  {                                                                                                                    \
    return (T)(expression);                                                                                            \
  }                                                                                                                    \
  STRIDE(name, T)                                                                                                      \
  SCAN(name, T)

#define FLOAT_WINDOWS(T, s)                                                                                            \
  WINDOW(add_##s, T, a + b)                                                                                            \
  WINDOW(multiply_##s, T, a *b)                                                                                        \
  WINDOW(maximum_##s, T, XP_DEV_GREATER(T, a, b))                                                                      \
  WINDOW(minimum_##s, T, XP_DEV_LESSER(T, a, b))

#define INTEGER_WINDOWS(T, U, s)                                                                                       \
  WINDOW(add_##s, T, (U)a + (U)b)                                                                                      \
  WINDOW(multiply_##s, T, (U)a *(U)b)                                                                                  \
  WINDOW(maximum_##s, T, a > b ? a : b)                                                                                \
  WINDOW(minimum_##s, T, a < b ? a : b)

FLOAT_WINDOWS(float, f32)
FLOAT_WINDOWS(double, f64)
INTEGER_WINDOWS(int8_t, uint32_t, s8)
INTEGER_WINDOWS(int16_t, uint32_t, s16)
INTEGER_WINDOWS(int32_t, uint32_t, s32)
INTEGER_WINDOWS(int64_t, uint64_t, s64)
INTEGER_WINDOWS(uint8_t, uint32_t, u8)
INTEGER_WINDOWS(uint16_t, uint32_t, u16)
INTEGER_WINDOWS(uint32_t, uint32_t, u32)
INTEGER_WINDOWS(uint64_t, uint64_t, u64)

/* Both outcomes are written, so that there is no branch.  A comparison with NaN is false: the new element is taken. */
#define SELECT(name, T, sign)                                                                                          \
  static void select_##name(void *values, int32_t *places, const void *in, int32_t first, int32_t step, int64_t n)     \
  {                                                                                                                    \
    T *value = values;                                                                                                 \
    const T *from = in;                                                                                                \
    XP_DEV_INDEPENDENT                                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      T x = from[i * step];                                                                                            \
      int is_kept = (places[i] >= 0) & (value[i] sign x);                                                              \
      value[i] = is_kept ? value[i] : x;                                                                               \
      places[i] = is_kept ? places[i] : first + (int32_t)i * step;                                                     \
    }                                                                                                                  \
  }

#define SELECTS(T, s)                                                                                                  \
  SELECT(ge_##s, T, >=)                                                                                                \
  SELECT(gt_##s, T, >)                                                                                                 \
  SELECT(le_##s, T, <=)                                                                                                \
  SELECT(lt_##s, T, <)

SELECTS(float, f32)
SELECTS(double, f64)
SELECTS(int32_t, s32)
SELECTS(int64_t, s64)

#define OP(opcode, T, name)                                                                                            \
  k->stride[XP_HLO_OP_##opcode][XP_DEV_##T] = stride_##name;                                                           \
  k->scan[XP_HLO_OP_##opcode][XP_DEV_##T] = scan_##name;
#define FILL(T, s)                                                                                                     \
  OP(ADD, T, add_##s) OP(MULTIPLY, T, multiply_##s) OP(MAXIMUM, T, maximum_##s) OP(MINIMUM, T, minimum_##s)
#define FILL_SELECTS(T, s)                                                                                             \
  k->select[XP_DEV_GE][XP_DEV_##T] = select_ge_##s;                                                                    \
  k->select[XP_DEV_GT][XP_DEV_##T] = select_gt_##s;                                                                    \
  k->select[XP_DEV_LE][XP_DEV_##T] = select_le_##s;                                                                    \
  k->select[XP_DEV_LT][XP_DEV_##T] = select_lt_##s;

void XP_DEV_NAME(xp_dev_fill_window)(xp_dev_kernels *k)
{
  FILL(F32, f32)
  FILL(F64, f64)
  FILL(S8, s8)
  FILL(S16, s16)
  FILL(S32, s32)
  FILL(S64, s64)
  FILL(U8, u8)
  FILL(U16, u16)
  FILL(U32, u32)
  FILL(U64, u64)
  OP(ADD, PRED, maximum_u8)
  OP(MAXIMUM, PRED, maximum_u8)
  OP(MULTIPLY, PRED, minimum_u8)
  OP(MINIMUM, PRED, minimum_u8)
  FILL_SELECTS(F32, f32)
  FILL_SELECTS(F64, f64)
  FILL_SELECTS(S32, s32)
  FILL_SELECTS(S64, s64)
}
