/* Inner loops of the evaluator, compiled once for each instruction set and chosen at run time.
 *
 * A kernel works on `n` elements that stand side by side.  An output may be the same memory as an input (the same
 * element is read before it is written), but may not overlap one in any other way.  No kernel allocates or fails.
 */
#ifndef XP_DEVICE_KERNELS_H
#define XP_DEVICE_KERNELS_H

#include <stdint.h>

#include "hlo/opcode.h"
#include "hlo/type.h"

/* Element types that the device computes with, densely numbered; f16 and bf16 come last: most kernels lack them, since
 * arithmetic on them is done in f32. */
typedef enum {
  XP_DEV_PRED,
  XP_DEV_S8,
  XP_DEV_S16,
  XP_DEV_S32,
  XP_DEV_S64,
  XP_DEV_U8,
  XP_DEV_U16,
  XP_DEV_U32,
  XP_DEV_U64,
  XP_DEV_F32,
  XP_DEV_F64,
  XP_DEV_F16,
  XP_DEV_BF16,
  XP_DEV_TYPE_COUNT
} xp_dev_type;

/* out[i] = f(in[0][i], in[1][i], ..) for i < n */
typedef void (*xp_dev_kernel)(void *out, const void *const *in, int64_t n);

/* *accumulator = f(*accumulator, in[0], in[1], ..), in any order */
typedef void (*xp_dev_fold)(void *accumulator, const void *in, int64_t n);

/* results[i * result_step] = f(results[i * result_step], in[i * step]) for i < n */
typedef void (*xp_dev_stride)(void *results, int64_t result_step, const void *in, int64_t step, int64_t n);

/* out[i * step] = *accumulator = f(*accumulator, in[i * step]) for i < n, in this order */
typedef void (*xp_dev_scan)(void *accumulator, void *out, const void *in, int64_t step, int64_t n);

/* Where places[i] < 0, or values[i] does not compare with in[i * step]: takes that element, which is in place first + i
 * * step. */
typedef void (*xp_dev_select)(void *values, int32_t *places, const void *in, int32_t first, int32_t step, int64_t n);

/* Multiples of so many elements are what the next two take for n. */
#define XP_DEV_TAPS_MULTIPLE 16

/* out[i] = sum over t of weights[t] * in[shifts[t] + i] for i < n */
typedef void (*xp_dev_sum_taps)(float *out, const float *in, const int64_t *shifts, const float *weights, int64_t count,
                                int64_t n);

/* results[t] += sum over i < n of in[shifts[t] + i] * row[i] for t < count, where mask[i] is not 0 but all ones */
typedef void (*xp_dev_dot_taps)(float *results, const float *in, const int64_t *shifts, int64_t count, const float *row,
                                const uint32_t *mask, int64_t n);

/* c[rows][columns] += a[k][rows] * b[k][columns] for packed panels a and b; row i of c begins at c + i * c_stride. */
typedef void (*xp_dev_tile)(void *c, int64_t c_stride, const void *a, const void *b, int64_t k);

#define XP_DEV_TILE_MAX_ROWS    8
#define XP_DEV_TILE_MAX_COLUMNS 32

typedef struct {
  int rows, columns;
  xp_dev_tile run;
} xp_dev_tile_kernel;

typedef enum { XP_DEV_EQ, XP_DEV_NE, XP_DEV_GE, XP_DEV_GT, XP_DEV_LE, XP_DEV_LT, XP_DEV_COMPARE_COUNT } xp_dev_compare;

typedef struct {
  /* NULL where an operation has no such type.  The type is that of the first operand; of select, of the second one. */
  xp_dev_kernel elementwise[XP_HLO_OP_COUNT][XP_DEV_TYPE_COUNT];
  xp_dev_kernel compare[XP_DEV_COMPARE_COUNT][XP_DEV_TYPE_COUNT];
  xp_dev_kernel total_order[XP_DEV_TYPE_COUNT]; /* floats as integers of the same width in the same total order */
  xp_dev_kernel convert[XP_DEV_TYPE_COUNT][XP_DEV_TYPE_COUNT];   /* from, to */
  xp_dev_fold fold[XP_HLO_OP_COUNT][XP_DEV_TYPE_COUNT];          /* add, multiply, maximum, minimum, and, or, xor */
  xp_dev_stride stride[XP_HLO_OP_COUNT][XP_DEV_TYPE_COUNT];      /* add, multiply, maximum, minimum */
  xp_dev_scan scan[XP_HLO_OP_COUNT][XP_DEV_TYPE_COUNT];          /* the same */
  xp_dev_select select[XP_DEV_COMPARE_COUNT][XP_DEV_TYPE_COUNT]; /* of f32, f64, s32, s64, without eq and ne */
  xp_dev_sum_taps sum_taps;
  xp_dev_dot_taps dot_taps;
  xp_dev_tile_kernel tile_f32, tile_f64;
} xp_dev_kernels;

typedef enum { XP_DEV_ISA_BASE, XP_DEV_ISA_AVX2, XP_DEV_ISA_BEST } xp_dev_isa;

/* The most that may be used although the processor has more, so that tests reach all kernels; before the first use. */
void xp_dev_kernels_limit(xp_dev_isa most);

/* The kernels for the processor that this runs on.  Any thread may call it. */
const xp_dev_kernels *xp_dev_kernels_get(void);

#endif
