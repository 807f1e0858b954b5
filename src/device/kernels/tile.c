/* The innermost part of the matrix product: a tile of c that stays in registers while k runs.
 *
 * a is packed as [k][rows], b as [k][columns]: each step broadcasts `rows` numbers of a and multiplies them with the
 * vectors of one row of b.  The tile's size fills the vector registers: with AVX-512 8 x 32 f32 are 16 of 32 registers.
 */
#include <string.h>

#include "device/kernels/isa.h"

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#define ROWS         8
#define VECTORS      2
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#define ROWS         6
#define VECTORS      2
#else
#define VECTOR_BYTES 16
#define ROWS         4
#define VECTORS      2
#endif

#define TILE(name, T)                                                                                                  \
  typedef T name##_vector __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(T))));                              \
  static void name(void *c, int64_t c_stride, const void *packed_a, const void *packed_b, int64_t k)                   \
  {                                                                                                                    \
    enum { LANES = VECTOR_BYTES / sizeof(T) };                                                                         \
    const T *a = packed_a;                                                                                             \
    const T *b = packed_b;                                                                                             \
    name##_vector sum[ROWS][VECTORS];                                                                                  \
    memset(sum, 0, sizeof sum);                                                                                        \
    for (int64_t p = 0; p < k; p++, a += ROWS, b += VECTORS * LANES) {                                                 \
      for (int i = 0; i < ROWS; i++) {                                                                                 \
        for (int j = 0; j < VECTORS; j++) {                                                                            \
          sum[i][j] += a[i] * *(const name##_vector *)(b + j * LANES);                                                 \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
    for (int i = 0; i < ROWS; i++) {                                                                                   \
      for (int j = 0; j < VECTORS; j++) {                                                                              \
        *(name##_vector *)((T *)c + i * c_stride + j * LANES) += sum[i][j];                                            \
      }                                                                                                                \
    }                                                                                                                  \
  }

TILE(tile_f32, float)
TILE(tile_f64, double)

void XP_DEV_NAME(xp_dev_fill_tile)(xp_dev_kernels *k)
{
  k->tile_f32 = (xp_dev_tile_kernel){ROWS, VECTORS * VECTOR_BYTES / (int)sizeof(float), tile_f32};
  k->tile_f64 = (xp_dev_tile_kernel){ROWS, VECTORS * VECTOR_BYTES / (int)sizeof(double), tile_f64};
}
