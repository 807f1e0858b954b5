/* Conversions between all types.
 *
 * Floats become integers by cutting off the fraction; what lies outside of the range becomes its end, NaN becomes 0.
 * Integers wrap.  Everything but zero becomes true.  f16 and bf16 go through f32 (from f64, too, so that case rounds
 * twice, as XLA does).  They round to the nearest, ties to even, and NaN stays NaN.
 */
#include <math.h>
#include <string.h>

#include "device/kernels/isa.h"
#include "device/kernels/math_f32.h"

static inline uint16_t bf16_from_f32(float x)
{
  uint32_t bits = f32_bits(x);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return (uint16_t)(x != x ? (bits >> 16) | 0x40 : rounded);
}

static inline float f32_from_bf16(uint16_t x)
{
  return f32_from((uint32_t)x << 16);
}

/* A product with 2^112 moves the exponent, and makes normal numbers of denormal ones. */
static inline float f32_from_f16(uint16_t h)
{
  uint32_t sign = (uint32_t)(h & 0x8000) << 16, rest = (uint32_t)(h & 0x7fff) << 13;
  uint32_t finite = f32_bits(f32_from(rest) * 0x1p112f), other = rest | 0x7f800000;
  return f32_from(sign | (rest >= 0x0f800000 ? other : finite));
}

/* Adding a power of two whose last bit is worth what the result's last bit is rounds right. */
static inline uint16_t f16_from_f32(float x)
{
  uint32_t bits = f32_bits(x), sign = (bits >> 16) & 0x8000, magnitude = bits & 0x7fffffff;
  uint32_t normal = (magnitude + 0xc8000fff + ((magnitude >> 13) & 1)) >> 13;
  uint32_t small = f32_bits(f32_from(magnitude) + 0.5f) - 0x3f000000;
  uint32_t h = magnitude < 0x38800000 ? small : normal;
  h = magnitude >= 0x477ff000 ? 0x7c00 : h;
  h = magnitude > 0x7f800000 ? 0x7e00 | (magnitude >> 13 & 0x3ff) : h;
  return (uint16_t)(sign | h);
}

#define LOOP(name, F, T, expression)                                                                                   \
  static void name(void *out, const void *const *in, int64_t n)                                                        \
  {                                                                                                                    \
    T *y = out;                                                                                                        \
    const F *px = in[0];                                                                                               \
    XP_DEV_INDEPENDENT                                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      F x = px[i];                                                                                                     \
      y[i] = (T)(expression);                                                                                          \
    }                                                                                                                  \
  }

/* The integers and pred: X(type, C type, name, least, most) */
#define INTEGERS(X)                                                                                                    \
  X(S8, int8_t, s8, INT8_MIN, INT8_MAX)                                                                                \
  X(S16, int16_t, s16, INT16_MIN, INT16_MAX)                                                                           \
  X(S32, int32_t, s32, INT32_MIN, INT32_MAX)                                                                           \
  X(S64, int64_t, s64, INT64_MIN, INT64_MAX)                                                                           \
  X(U8, uint8_t, u8, 0, UINT8_MAX)                                                                                     \
  X(U16, uint16_t, u16, 0, UINT16_MAX)                                                                                 \
  X(U32, uint32_t, u32, 0, UINT32_MAX)                                                                                 \
  X(U64, uint64_t, u64, 0, UINT64_MAX)

#define TO_INTEGERS(F, s)                                                                                              \
  LOOP(s##_to_s8, F, int8_t, x)                                                                                        \
  LOOP(s##_to_s16, F, int16_t, x)                                                                                      \
  LOOP(s##_to_s32, F, int32_t, x)                                                                                      \
  LOOP(s##_to_s64, F, int64_t, x)                                                                                      \
  LOOP(s##_to_u8, F, uint8_t, x)                                                                                       \
  LOOP(s##_to_u16, F, uint16_t, x)                                                                                     \
  LOOP(s##_to_u32, F, uint32_t, x)                                                                                     \
  LOOP(s##_to_u64, F, uint64_t, x)

/* (float)most may round up to most + 1, which is outside: hence >=. */
#define CUT(T, least, most) (x != x ? 0 : x <= (least) ? (T)(least) : x >= (most) ? (T)(most) : (T)x)
#define FLOAT_TO_INTEGERS(F, s)                                                                                        \
  LOOP(s##_to_s8, F, int8_t, CUT(int8_t, (F)INT8_MIN, (F)INT8_MAX))                                                    \
  LOOP(s##_to_s16, F, int16_t, CUT(int16_t, (F)INT16_MIN, (F)INT16_MAX))                                               \
  LOOP(s##_to_s32, F, int32_t,                                                                                         \
       x != x              ? 0                                                                                         \
       : x <= (F)INT32_MIN ? INT32_MIN                                                                                 \
       : x >= (F)INT32_MAX ? INT32_MAX                                                                                 \
                           : (int32_t)x)                                                                               \
  LOOP(s##_to_s64, F, int64_t,                                                                                         \
       x != x              ? 0                                                                                         \
       : x <= (F)INT64_MIN ? INT64_MIN                                                                                 \
       : x >= (F)INT64_MAX ? INT64_MAX                                                                                 \
                           : (int64_t)x)                                                                               \
  LOOP(s##_to_u8, F, uint8_t, CUT(uint8_t, 0, (F)UINT8_MAX))                                                           \
  LOOP(s##_to_u16, F, uint16_t, CUT(uint16_t, 0, (F)UINT16_MAX))                                                       \
  LOOP(s##_to_u32, F, uint32_t, x != x || x <= 0 ? 0 : x >= (F)UINT32_MAX ? UINT32_MAX : (uint32_t)x)                  \
  LOOP(s##_to_u64, F, uint64_t, x != x || x <= 0 ? 0 : x >= (F)UINT64_MAX ? UINT64_MAX : (uint64_t)x)

#define TO_OTHERS(F, s)                                                                                                \
  LOOP(s##_to_pred, F, uint8_t, x != 0)                                                                                \
  LOOP(s##_to_f32, F, float, x)                                                                                        \
  LOOP(s##_to_f64, F, double, x)                                                                                       \
  LOOP(s##_to_f16, F, uint16_t, f16_from_f32((float)x))                                                                \
  LOOP(s##_to_bf16, F, uint16_t, bf16_from_f32((float)x))

#define FROM(type, C, s, least, most) TO_INTEGERS(C, s) TO_OTHERS(C, s)
INTEGERS(FROM)
TO_INTEGERS(uint8_t, pred)
TO_OTHERS(uint8_t, pred)
FLOAT_TO_INTEGERS(float, f32)
TO_OTHERS(float, f32)
FLOAT_TO_INTEGERS(double, f64)
TO_OTHERS(double, f64)

LOOP(f16_to_f32, uint16_t, float, f32_from_f16(x))
LOOP(bf16_to_f32, uint16_t, float, f32_from_bf16(x))

#define FILL(T, F, s)                                                                                                  \
  k->convert[XP_DEV_##F][XP_DEV_S8] = s##_to_s8;                                                                       \
  k->convert[XP_DEV_##F][XP_DEV_S16] = s##_to_s16;                                                                     \
  k->convert[XP_DEV_##F][XP_DEV_S32] = s##_to_s32;                                                                     \
  k->convert[XP_DEV_##F][XP_DEV_S64] = s##_to_s64;                                                                     \
  k->convert[XP_DEV_##F][XP_DEV_U8] = s##_to_u8;                                                                       \
  k->convert[XP_DEV_##F][XP_DEV_U16] = s##_to_u16;                                                                     \
  k->convert[XP_DEV_##F][XP_DEV_U32] = s##_to_u32;                                                                     \
  k->convert[XP_DEV_##F][XP_DEV_U64] = s##_to_u64;                                                                     \
  k->convert[XP_DEV_##F][XP_DEV_PRED] = s##_to_pred;                                                                   \
  k->convert[XP_DEV_##F][XP_DEV_F32] = s##_to_f32;                                                                     \
  k->convert[XP_DEV_##F][XP_DEV_F64] = s##_to_f64;                                                                     \
  k->convert[XP_DEV_##F][XP_DEV_F16] = s##_to_f16;                                                                     \
  k->convert[XP_DEV_##F][XP_DEV_BF16] = s##_to_bf16;

#define FILL_INTEGER(type, C, s, least, most) FILL(C, type, s)

/* From f16 and bf16 there is only the way to f32. */
void XP_DEV_NAME(xp_dev_fill_convert)(xp_dev_kernels *k)
{
  INTEGERS(FILL_INTEGER)
  FILL(uint8_t, PRED, pred)
  FILL(float, F32, f32)
  FILL(double, F64, f64)
  k->convert[XP_DEV_F16][XP_DEV_F32] = f16_to_f32;
  k->convert[XP_DEV_BF16][XP_DEV_F32] = bf16_to_f32;
}
