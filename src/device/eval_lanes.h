/* Reductions by a computation of scalars: a row of results is combined with a row of elements at a time.
 *
 * reduce and reduce-window with `count` operands have as many initial values behind them, and a computation of 2 *
 * count parameters: the results so far, then the elements.
 */
#ifndef XP_DEVICE_EVAL_LANES_H
#define XP_DEVICE_EVAL_LANES_H

#include "device/eval_move.h"
#include "device/eval_scalar.h"

#define XP_DEV_MAX_OPERANDS 16 /* of a reduction */

typedef struct {
  const xp_dev_scalar *scalar;
  uint32_t count;
  void *memory;                                               /* of the computation */
  char *now[XP_DEV_MAX_OPERANDS], *next[XP_DEV_MAX_OPERANDS]; /* results so far, and those being made */
  char *gathered[XP_DEV_MAX_OPERANDS];
  const char *in[XP_DEV_MAX_OPERANDS], *initial[XP_DEV_MAX_OPERANDS], *row[XP_DEV_MAX_OPERANDS]; /* row: elements now */
  char *out[XP_DEV_MAX_OPERANDS];
  size_t size[XP_DEV_MAX_OPERANDS];
} xp_dev_lanes;

/* Checks operands, initial values, results and the computation of a reduction. */
xp_status xp_dev_lanes_prepare(xp_dev_context *context, xp_dev_step *step, const xp_dev_scalar **scalar);

/* Scratch of a reduction of `count` operands; the step's scratch begins with it. */
size_t xp_dev_lanes_bytes(const xp_dev_scalar *scalar, uint32_t count);

void xp_dev_lanes_open(xp_dev_lanes *lanes, const xp_dev_step *step, const xp_dev_frame *frame,
                       const xp_dev_scalar *scalar, uint32_t count);

/* Sets n results to the initial values. */
void xp_dev_lanes_start(xp_dev_lanes *lanes, int64_t n);

/* Takes the elements bases[i] + offset of each operand. */
void xp_dev_lanes_gather(xp_dev_lanes *lanes, const int64_t *bases, int64_t offset, int64_t n);

/* Takes the elements first + i * step of each operand. */
void xp_dev_lanes_take(xp_dev_lanes *lanes, int64_t first, int64_t step, int64_t n);

/* Combines the results at .. at + n - 1 with the elements taken last. */
void xp_dev_lanes_combine(xp_dev_lanes *lanes, int64_t at, int64_t n);

/* Combines n results, a power of two, into the first one. */
void xp_dev_lanes_fold(xp_dev_lanes *lanes, int64_t n);

/* Writes n results to elements `first` and on of the step's results. */
void xp_dev_lanes_store(xp_dev_lanes *lanes, int64_t first, int64_t n);

#endif
