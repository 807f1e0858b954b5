/* Element-wise operations on f32 and f64.
 *
 * Each operation is an inline function of one element, for each type; a macro makes the loop around it.  NaN, infinity
 * and the sign of zero come out as XLA's CPU client has them: maximum, minimum and clamp give NaN if an operand is NaN.
 * f32 has vector versions of the functions that models spend their time in (math_f32.h); the rest is libm.
 */
#include <math.h>

#include "device/kernels/isa.h"
#include "device/kernels/math_f32.h"

#define UNARY(name, T, expression)                                                                                     \
  static void name(void *out, const void *const *in, int64_t n)                                                        \
  {                                                                                                                    \
    T *y = out;                                                                                                        \
    const T *px = in[0];                                                                                               \
    XP_DEV_INDEPENDENT                                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      T x = px[i];                                                                                                     \
      y[i] = expression;                                                                                               \
    }                                                                                                                  \
  }

#define BINARY(name, T, expression)                                                                                    \
  static void name(void *out, const void *const *in, int64_t n)                                                        \
  {                                                                                                                    \
    T *y = out;                                                                                                        \
    const T *pa = in[0], *pb = in[1];                                                                                  \
    XP_DEV_INDEPENDENT                                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      T a = pa[i], b = pb[i];                                                                                          \
      y[i] = expression;                                                                                               \
    }                                                                                                                  \
  }

#define COMPARE(name, T, sign)                                                                                         \
  static void name(void *out, const void *const *in, int64_t n)                                                        \
  {                                                                                                                    \
    uint8_t *y = out;                                                                                                  \
    const T *pa = in[0], *pb = in[1];                                                                                  \
    XP_DEV_INDEPENDENT                                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      y[i] = pa[i] sign pb[i];                                                                                         \
    }                                                                                                                  \
  }

#define SIGN(T, x) ((x) != (x) || (x) == 0 ? (x) : (x) > 0 ? (T)1 : (T)-1)

/* Half away from zero.  What lies at or above 2^(bits - 1) has no fraction. */
static inline float round_away_f32(float x)
{
  float whole = truncf(x);
  return fabsf(x - whole) >= 0.5f ? whole + copysignf(1.0f, x) : copysignf(whole, x);
}

static inline double round_away_f64(double x)
{
  double whole = trunc(x);
  return fabs(x - whole) >= 0.5 ? whole + copysign(1.0, x) : copysign(whole, x);
}

static inline double logistic_f64(double x)
{
  return 1.0 / (1.0 + exp(-x));
}

#define FLOAT_KERNELS(T, s, f)                                                                                         \
  UNARY(abs_##s, T, fabs##f(x))                                                                                        \
  UNARY(ceil_##s, T, ceil##f(x))                                                                                       \
  UNARY(floor_##s, T, floor##f(x))                                                                                     \
  UNARY(negate_##s, T, -x)                                                                                             \
  UNARY(sign_##s, T, SIGN(T, x))                                                                                       \
  UNARY(sqrt_##s, T, sqrt##f(x))                                                                                       \
  UNARY(rsqrt_##s, T, 1 / sqrt##f(x))                                                                                  \
  UNARY(round_away_all_##s, T, round_away_##s(x))                                                                      \
  UNARY(round_even_##s, T, rint##f(x))                                                                                 \
  UNARY(cosine_##s, T, cos##f(x))                                                                                      \
  UNARY(sine_##s, T, sin##f(x))                                                                                        \
  UNARY(tan_##s, T, tan##f(x))                                                                                         \
  UNARY(cbrt_##s, T, cbrt##f(x))                                                                                       \
  UNARY(acos_##s, T, acos##f(x))                                                                                       \
  UNARY(acosh_##s, T, acosh##f(x))                                                                                     \
  UNARY(asin_##s, T, asin##f(x))                                                                                       \
  UNARY(asinh_##s, T, asinh##f(x))                                                                                     \
  UNARY(atanh_##s, T, atanh##f(x))                                                                                     \
  UNARY(cosh_##s, T, cosh##f(x))                                                                                       \
  UNARY(sinh_##s, T, sinh##f(x))                                                                                       \
  BINARY(add_##s, T, a + b)                                                                                            \
  BINARY(subtract_##s, T, a - b)                                                                                       \
  BINARY(multiply_##s, T, a *b)                                                                                        \
  BINARY(divide_##s, T, a / b)                                                                                         \
  BINARY(remainder_##s, T, fmod##f(a, b))                                                                              \
  BINARY(maximum_##s, T, XP_DEV_GREATER(T, a, b))                                                                      \
  BINARY(minimum_##s, T, XP_DEV_LESSER(T, a, b))                                                                       \
  BINARY(power_##s, T, pow##f(a, b))                                                                                   \
  BINARY(atan2_##s, T, atan2##f(a, b))                                                                                 \
  COMPARE(eq_##s, T, ==)                                                                                               \
  COMPARE(ne_##s, T, !=)                                                                                               \
  COMPARE(ge_##s, T, >=)                                                                                               \
  COMPARE(gt_##s, T, >)                                                                                                \
  COMPARE(le_##s, T, <=)                                                                                               \
  COMPARE(lt_##s, T, <)                                                                                                \
  static void is_finite_##s(void *out, const void *const *in, int64_t n)                                               \
  {                                                                                                                    \
    uint8_t *y = out;                                                                                                  \
    const T *x = in[0];                                                                                                \
    XP_DEV_INDEPENDENT                                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      y[i] = x[i] - x[i] == 0; /* infinity - infinity is NaN */                                                        \
    }                                                                                                                  \
  }                                                                                                                    \
  static void clamp_##s(void *out, const void *const *in, int64_t n)                                                   \
  {                                                                                                                    \
    T *y = out;                                                                                                        \
    const T *least = in[0], *x = in[1], *most = in[2];                                                                 \
    XP_DEV_INDEPENDENT                                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      T low = XP_DEV_GREATER(T, x[i], least[i]);                                                                       \
      y[i] = XP_DEV_LESSER(T, low, most[i]);                                                                           \
    }                                                                                                                  \
  }

FLOAT_KERNELS(float, f32, f)
FLOAT_KERNELS(double, f64, )

#define FUNCTION(name) UNARY(name##_f32, float, f32_##name(x))
FUNCTION(exp)
FUNCTION(log)
FUNCTION(log1p)
FUNCTION(expm1)
FUNCTION(tanh)
FUNCTION(logistic)
FUNCTION(erf)

UNARY(exp_f64, double, exp(x))
UNARY(log_f64, double, log(x))
UNARY(log1p_f64, double, log1p(x))
UNARY(expm1_f64, double, expm1(x))
UNARY(tanh_f64, double, tanh(x))
UNARY(logistic_all_f64, double, logistic_f64(x))
UNARY(erf_f64, double, erf(x))

/* Integers that order as the bits of a float do: those of negative numbers turned round. */
#define TOTAL_ORDER(name, I, U, bits)                                                                                  \
  static void name(void *out, const void *const *in, int64_t n)                                                        \
  {                                                                                                                    \
    I *y = out;                                                                                                        \
    const I *x = in[0];                                                                                                \
    XP_DEV_INDEPENDENT                                                                                                 \
    for (int64_t i = 0; i < n; i++) {                                                                                  \
      y[i] = (I)(x[i] ^ (I)((U)(x[i] >> (bits - 1)) >> 1));                                                            \
    }                                                                                                                  \
  }

TOTAL_ORDER(total_order_16, int16_t, uint16_t, 16)
TOTAL_ORDER(total_order_32, int32_t, uint32_t, 32)
TOTAL_ORDER(total_order_64, int64_t, uint64_t, 64)

#define BOTH(opcode, name)                                                                                             \
  k->elementwise[XP_HLO_OP_##opcode][XP_DEV_F32] = name##_f32;                                                         \
  k->elementwise[XP_HLO_OP_##opcode][XP_DEV_F64] = name##_f64;
#define BOTH_COMPARE(direction, name)                                                                                  \
  k->compare[XP_DEV_##direction][XP_DEV_F32] = name##_f32;                                                             \
  k->compare[XP_DEV_##direction][XP_DEV_F64] = name##_f64;

static void fill_functions(xp_dev_kernels *k)
{
  BOTH(EXPONENTIAL, exp)
  BOTH(EXPONENTIAL_MINUS_ONE, expm1)
  BOTH(LOG, log)
  BOTH(LOG_PLUS_ONE, log1p)
  BOTH(TANH, tanh)
  BOTH(ERF, erf)
  BOTH(SQRT, sqrt)
  BOTH(RSQRT, rsqrt)
  BOTH(CBRT, cbrt)
  BOTH(COSINE, cosine)
  BOTH(SINE, sine)
  BOTH(TAN, tan)
  BOTH(ACOS, acos)
  BOTH(ACOSH, acosh)
  BOTH(ASIN, asin)
  BOTH(ASINH, asinh)
  BOTH(ATANH, atanh)
  BOTH(COSH, cosh)
  BOTH(SINH, sinh)
  BOTH(POWER, power)
  BOTH(ATAN2, atan2)
  k->elementwise[XP_HLO_OP_LOGISTIC][XP_DEV_F32] = logistic_f32;
  k->elementwise[XP_HLO_OP_LOGISTIC][XP_DEV_F64] = logistic_all_f64;
}

void XP_DEV_NAME(xp_dev_fill_float)(xp_dev_kernels *k)
{
  fill_functions(k);
  BOTH(ABS, abs)
  BOTH(CEIL, ceil)
  BOTH(FLOOR, floor)
  BOTH(NEGATE, negate)
  BOTH(SIGN, sign)
  BOTH(ROUND_NEAREST_AFZ, round_away_all)
  BOTH(ROUND_NEAREST_EVEN, round_even)
  BOTH(ADD, add)
  BOTH(SUBTRACT, subtract)
  BOTH(MULTIPLY, multiply)
  BOTH(DIVIDE, divide)
  BOTH(REMAINDER, remainder)
  BOTH(MAXIMUM, maximum)
  BOTH(MINIMUM, minimum)
  BOTH(CLAMP, clamp)
  BOTH(IS_FINITE, is_finite)
  BOTH_COMPARE(EQ, eq)
  BOTH_COMPARE(NE, ne)
  BOTH_COMPARE(GE, ge)
  BOTH_COMPARE(GT, gt)
  BOTH_COMPARE(LE, le)
  BOTH_COMPARE(LT, lt)
  k->total_order[XP_DEV_F16] = total_order_16;
  k->total_order[XP_DEV_BF16] = total_order_16;
  k->total_order[XP_DEV_F32] = total_order_32;
  k->total_order[XP_DEV_F64] = total_order_64;
}
