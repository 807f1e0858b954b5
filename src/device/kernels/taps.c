/* Convolutions of few features: sums of shifted rows, and products of a row with shifted rows.
 *
 * A block of results, or of partial sums, stays in registers while all shifts go by.  Rows need not be aligned.
 */
#include <string.h>

#include "device/kernels/isa.h"

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
#define LANES    (VECTOR_BYTES / (int)sizeof(float))
#define BLOCK    4 /* vectors of results at a time */
#define MAX_DOTS 6 /* shifts at a time */

typedef float vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(float))));
typedef uint32_t bits __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(uint32_t))));

_Static_assert(XP_DEV_TAPS_MULTIPLE % LANES == 0, "rows are whole vectors");

static inline __attribute__((always_inline)) void sum_block(float *out, const float *in, const int64_t *shifts,
                                                            const float *weights, int64_t count, int vectors)
{
  vector sum[BLOCK];
  memset(sum, 0, sizeof sum);
  for (int64_t t = 0; t < count; t++) {
    const float *from = in + shifts[t];
    for (int v = 0; v < vectors; v++) {
      sum[v] += weights[t] * *(const vector *)(from + v * LANES);
    }
  }
  for (int v = 0; v < vectors; v++) {
    *(vector *)(out + v * LANES) = sum[v];
  }
}

static void sum_taps(float *out, const float *in, const int64_t *shifts, const float *weights, int64_t count, int64_t n)
{
  int64_t i = 0;
  for (; i + BLOCK * LANES <= n; i += BLOCK * LANES) {
    sum_block(out + i, in + i, shifts, weights, count, BLOCK);
  }
  for (; i < n; i += LANES) {
    sum_block(out + i, in + i, shifts, weights, count, 1);
  }
}

/* What the mask leaves out is 0 times 0, even where the row has infinities. */
static inline __attribute__((always_inline)) void dot_block(float *results, const float *in, const int64_t *shifts,
                                                            const float *row, const uint32_t *mask, int64_t n,
                                                            int count)
{
  vector sum[MAX_DOTS];
  memset(sum, 0, sizeof sum);
  for (int64_t i = 0; i < n; i += LANES) {
    vector x = *(const vector *)(row + i);
    bits kept = *(const bits *)(mask + i);
    for (int t = 0; t < count; t++) {
      sum[t] += (vector)(*(const bits *)(in + shifts[t] + i) & kept) * x;
    }
  }
  for (int t = 0; t < count; t++) {
    float total = 0;
    for (int j = 0; j < LANES; j++) {
      total += sum[t][j];
    }
    results[t] += total;
  }
}

static void dot_taps(float *results, const float *in, const int64_t *shifts, int64_t count, const float *row,
                     const uint32_t *mask, int64_t n)
{
  for (int64_t first = 0, left = count; left > 0;) {
    int64_t rounds = (left + MAX_DOTS - 1) / MAX_DOTS, now = (left + rounds - 1) / rounds; /* 9 are 5 and 4 */
    float *to = results + first;
    const int64_t *by = shifts + first;
    switch (now) { /* known numbers stay in registers */
    case 1:
      dot_block(to, in, by, row, mask, n, 1);
      break;
    case 2:
      dot_block(to, in, by, row, mask, n, 2);
      break;
    case 3:
      dot_block(to, in, by, row, mask, n, 3);
      break;
    case 4:
      dot_block(to, in, by, row, mask, n, 4);
      break;
    case 5:
      dot_block(to, in, by, row, mask, n, 5);
      break;
    default:
      dot_block(to, in, by, row, mask, n, MAX_DOTS);
      break;
    }
    first += now, left -= now;
  }
}

void XP_DEV_NAME(xp_dev_fill_taps)(xp_dev_kernels *k)
{
  k->sum_taps = sum_taps;
  k->dot_taps = dot_taps;
}
