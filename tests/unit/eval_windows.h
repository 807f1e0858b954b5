/* Windows over arrays of three dimensions, at random, and plain loops over what lies under them. */
#ifndef XP_TESTS_EVAL_WINDOWS_H
#define XP_TESTS_EVAL_WINDOWS_H

#include "eval_testing.h"

#define EVAL_RANK 3
#define EVAL_MOST 4096 /* elements of an array */

static const xp_hlo_window_dim eval_still = {1, 1, 0, 0, 1, 1, false};

/* A computation of two scalars. */
static inline uint32_t eval_operation(const eval_program *p, xp_hlo_type type, xp_hlo_opcode opcode)
{
  xp_hlo_shape scalar = xp_hlo_shape_scalar(type);
  xp_hlo_body *body = xp_hlo_body_begin(p->builder, "operation");
  xp_hlo_value a = xp_hlo_build_parameter(body, 0, &scalar, "a"), b = xp_hlo_build_parameter(body, 1, &scalar, "b");
  return xp_hlo_body_end(body, xp_hlo_build_binary(body, opcode, a, b));
}

static inline uint32_t eval_comparison(const eval_program *p, xp_hlo_type type, xp_hlo_compare direction)
{
  xp_hlo_shape scalar = xp_hlo_shape_scalar(type);
  xp_hlo_body *body = xp_hlo_body_begin(p->builder, "comparison");
  xp_hlo_value a = xp_hlo_build_parameter(body, 0, &scalar, "a"), b = xp_hlo_build_parameter(body, 1, &scalar, "b");
  return xp_hlo_body_end(body, xp_hlo_build_compare(body, direction, a, b));
}

static inline uint32_t eval_random(uint64_t *state, uint32_t n)
{
  *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % n;
}

/* How many windows fit; 0 if none. */
static inline int64_t eval_windows_over(int64_t in, const xp_hlo_window_dim *w)
{
  int64_t padded = (in > 0 ? (in - 1) * w->base_dilation + 1 : 0) + w->padding_low + w->padding_high;
  int64_t span = (w->size - 1) * w->window_dilation + 1;
  return padded < span ? 0 : (padded - span) / w->stride + 1;
}

typedef struct {
  int64_t dims[EVAL_RANK], out[EVAL_RANK], count, out_count;
  xp_hlo_window_dim windows[EVAL_RANK];
} eval_layout;

/* Some dimensions, some of which the window moves over; kind: plain, with dilations, or with results so far. */
static inline eval_layout eval_random_layout(uint64_t *state, int kind)
{
  eval_layout l = {.count = 1, .out_count = 1};
  for (int d = 0; d < EVAL_RANK; d++) {
    int64_t in = eval_random(state, 12);
    xp_hlo_window_dim w = eval_still;
    if (kind == 2 && eval_random(state, 2) == 0 && in > 0) {
      bool is_reverse = eval_random(state, 2);
      w = (xp_hlo_window_dim){in, 1, is_reverse ? 0 : in - 1, is_reverse ? in - 1 : 0, 1, 1, false};
    } else if (eval_random(state, 3) != 0) {
      w.size = 1 + eval_random(state, 4);
      w.stride = 1 + eval_random(state, 3);
      w.padding_low = (int64_t)eval_random(state, 5) - (in > 1);
      w.padding_high = (int64_t)eval_random(state, 5) - (in > 1);
      w.window_dilation = kind == 0 ? 1 : 1 + eval_random(state, 3);
      w.base_dilation = kind == 0 ? 1 : 1 + eval_random(state, 3);
      w.is_reversed = eval_random(state, 4) == 0;
    }
    l.dims[d] = in, l.windows[d] = w, l.out[d] = eval_windows_over(in, &w);
    l.count *= in, l.out_count *= l.out[d];
  }
  return l;
}

/* The element under a position of the window over a pixel; -1 if none.  Both are numbers that count all dimensions. */
static inline int64_t eval_element_under(const eval_layout *l, int64_t pixel, int64_t position)
{
  int64_t element = 0, stride = 1;
  for (int d = EVAL_RANK - 1; d >= 0; d--) {
    const xp_hlo_window_dim *w = &l->windows[d];
    int64_t k = position % w->size, i = pixel % l->out[d];
    int64_t at = i * w->stride + (w->is_reversed ? w->size - 1 - k : k) * w->window_dilation - w->padding_low;
    if (at < 0 || at % w->base_dilation != 0 || at / w->base_dilation >= l->dims[d]) {
      return -1;
    }
    element += at / w->base_dilation * stride;
    stride *= l->dims[d];
    pixel /= l->out[d], position /= w->size;
  }
  return element;
}

static inline int64_t eval_positions(const eval_layout *l)
{
  return l->windows[0].size * l->windows[1].size * l->windows[2].size;
}

static inline void eval_numbers(uint64_t *state, int32_t *x, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    x[i] = (int32_t)eval_random(state, 19) - 9;
  }
}

#endif
