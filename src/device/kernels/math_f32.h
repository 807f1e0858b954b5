/* Functions of f32 that a compiler turns into vectors: no branches, no tables, no calls.
 *
 * Each is within 3 units in the last place of the exact value, erf within 6.  exp reduces its argument to r = x - n ln
 * 2 with |r| <= ln 2 / 2; log takes the argument apart into 2^e m with m near 1; the others are built from these, or
 * are quotients of polynomials where a quotient is exact enough.  Polynomials are minimax fits.
 */
#ifndef XP_DEVICE_MATH_F32_H
#define XP_DEVICE_MATH_F32_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline uint32_t f32_bits(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float f32_from(uint32_t bits)
{
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* 2^n for -126 <= n <= 127 */
static inline float f32_power_of_two(int32_t n)
{
  return f32_from((uint32_t)(n + 127) << 23);
}

static inline float f32_exp(float x)
{
  float c = x > 89.0f ? 89.0f : x;
  c = c > -104.0f ? c : -104.0f;                                    /* NaN gives -104, and is put right at the end */
  float n = (c * 1.44269504088896341f + 12582912.0f) - 12582912.0f; /* 1.5 * 2^23: rounds to an integer */
  float r = c - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  int32_t k = (int32_t)n, half = k >> 1; /* in two steps, for results that are denormal or just below infinity */
  float y = p * f32_power_of_two(half) * f32_power_of_two(k - half);
  return x != x ? x : y;
}

static inline float f32_log(float x)
{
  float scaled = x < 1.17549435e-38f ? x * 8388608.0f : x;
  uint32_t bits = f32_bits(scaled);
  int32_t e = (int32_t)((bits >> 23) & 0xff) - 126 - (x < 1.17549435e-38f ? 23 : 0);
  float m = f32_from((bits & 0x007fffffu) | 0x3f000000u); /* 0.5 <= m < 1 */
  int is_low = m < 0.707106781186547524f;
  float r = (is_low ? m + m : m) - 1.0f;
  float n = (float)(is_low ? e - 1 : e);
  float z = r * r;
  float p = 7.0376836292e-2f;
  p = p * r - 1.1514610310e-1f;
  p = p * r + 1.1676998740e-1f;
  p = p * r - 1.2420140846e-1f;
  p = p * r + 1.4249322787e-1f;
  p = p * r - 1.6668057665e-1f;
  p = p * r + 2.0000714765e-1f;
  p = p * r - 2.4999993993e-1f;
  p = p * r + 3.3333331174e-1f;
  float y = p * r * z - 2.12194440e-4f * n - 0.5f * z;
  y = (r + y) + 0.693359375f * n;
  y = x == INFINITY ? x : y;
  y = x == 0.0f ? -INFINITY : y;
  return x < 0.0f || x != x ? NAN : y;
}

/* log(1 + x): the rounding of 1 + x is made up for by the factor x / ((1 + x) - 1). */
static inline float f32_log1p(float x)
{
  float u = 1.0f + x, d = u - 1.0f;
  float y = f32_log(u) * (x / d);
  y = d == 0.0f ? x : y;
  return u == INFINITY ? u : y;
}

/* exp(x) - 1, with the same idea: u = exp(x) is rounded, log(u) says to what. */
static inline float f32_expm1(float x)
{
  float u = f32_exp(x), d = u - 1.0f;
  float y = d * (x / f32_log(u));
  y = d == 0.0f ? x : y;
  y = d == -1.0f ? -1.0f : y;
  y = u == INFINITY ? u : y;
  return x != x ? x : y;
}

static inline float f32_tanh(float x)
{
  float a = fabsf(x), z = x * x;
  float p = -5.70498872745e-3f;
  p = p * z + 2.06390887954e-2f;
  p = p * z - 5.37397155531e-2f;
  p = p * z + 1.33314422036e-1f;
  p = p * z - 3.33332819422e-1f;
  float small = p * z * x + x;
  float large = 1.0f - 2.0f / (f32_exp(a + a) + 1.0f);
  return a < 0.625f ? small : copysignf(large, x);
}

static inline float f32_logistic(float x)
{
  return 1.0f / (1.0f + f32_exp(-x));
}

/* An odd quotient of polynomials up to where f32 rounds to 1. */
static inline float f32_erf(float x)
{
  float c = x > 3.832506856900711f ? 3.832506856900711f : x;
  c = c < -3.832506856900711f ? -3.832506856900711f : c;
  float z = c * c;
  float p = 0.00022905065861350646f;
  p = p * z + 0.0034082910107109506f;
  p = p * z + 0.050955695062380861f;
  p = p * z + 0.18520832239976145f;
  p = p * z + 1.128379143519084f;
  float q = -1.1791602954361697e-7f;
  q = q * z + 0.000023547966471313185f;
  q = q * z + 0.0010179625278914885f;
  q = q * z + 0.014070470171167667f;
  q = q * z + 0.11098505178285362f;
  q = q * z + 0.49746925110067538f;
  q = q * z + 1.0f;
  float y = c * p / q;
  y = y > 1.0f ? 1.0f : y;
  return y < -1.0f ? -1.0f : y;
}

#endif
