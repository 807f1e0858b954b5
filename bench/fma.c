/* Twelve sums at once hide the four or five cycles that one of them waits for its last value.  The loop is compiled for
 * each width and the widest that the machine has is run. */
#include "fma.h"

#include <stdint.h>
#include <time.h>

enum { SUMS = 12, ROUNDS = 200000, TRIES = 50 };

#define LOOP(name, lanes, attributes)                                                                                  \
  typedef float vector_##name __attribute__((vector_size(lanes * sizeof(float))));                                     \
  attributes static float name(float start)                                                                            \
  {                                                                                                                    \
    vector_##name sums[SUMS], factor = {0}, addend = {0};                                                              \
    factor = factor + start;                                                                                           \
    addend = addend + 1 - start;                                                                                       \
    _Pragma("GCC unroll 12") for (int k = 0; k < SUMS; k++)                                                            \
    {                                                                                                                  \
      sums[k] = addend + (float)k;                                                                                     \
    }                                                                                                                  \
    for (int i = 0; i < ROUNDS; i++) {                                                                                 \
      _Pragma("GCC unroll 12") for (int k = 0; k < SUMS; k++)                                                          \
      {                                                                                                                \
        sums[k] = sums[k] * factor + addend;                                                                           \
        __asm__("" : "+" VECTOR_REGISTER(sums[k])); /* keeps each sum in a register of its own */                      \
      }                                                                                                                \
    }                                                                                                                  \
    vector_##name all = sums[0];                                                                                       \
    _Pragma("GCC unroll 12") for (int k = 1; k < SUMS; k++)                                                            \
    {                                                                                                                  \
      all += sums[k];                                                                                                  \
    }                                                                                                                  \
    return all[0];                                                                                                     \
  }

#ifdef __x86_64__
#define VECTOR_REGISTER "v"
LOOP(wide, 16, __attribute__((target("avx512f"))))
#undef VECTOR_REGISTER
#define VECTOR_REGISTER "x"
LOOP(middle, 8, __attribute__((target("avx2,fma"))))
#elif defined __aarch64__
#define VECTOR_REGISTER "w"
#else
#define VECTOR_REGISTER "m"
#endif
LOOP(narrow, 4, )

typedef struct {
  float (*run)(float start);
  int lanes;
} loop;

static loop widest(void)
{
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f")) {
    return (loop){wide, 16};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return (loop){middle, 8};
  }
#endif
  return (loop){narrow, 4};
}

static volatile float kept; /* so that the loop has a purpose */

double fma_peak_gflops(void)
{
  const loop l = widest();
  double best = 0;
  for (int i = 0; i < TRIES; i++) {
    struct timespec start, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    kept = l.run(0.5f);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    const double ns = (double)(end.tv_sec - start.tv_sec) * 1e9 + (double)(end.tv_nsec - start.tv_nsec);
    const double gflops = 2.0 * SUMS * ROUNDS * l.lanes / ns;
    best = gflops > best ? gflops : best;
  }
  return best;
}
