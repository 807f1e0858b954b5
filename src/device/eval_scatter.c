/* scatter: windows of updates are joined to windows of an array by a computation.
 *
 * Windows come in the order of the indices, so results do not depend on chance when some overlap.  A window that does
 * not lie in the array as a whole is left out, as XLA has it.  Rows that lie side by side on both sides are joined at
 * once.
 */
#include "base/map.h"
#include "device/eval_indices.h"
#include "device/eval_ops.h"
#include "device/eval_scalar.h"

#define MAX_OPERANDS 8

typedef struct {
  const xp_dev_scalar *scalar;
  xp_dev_indices indices;
  uint32_t count;
  xp_dev_move window; /* from the updates to the operand */
  size_t row_at;      /* in the scratch; 0 is the computation's memory */
} scatter;

typedef struct {
  const scatter *d;
  void *memory;
  char *to[MAX_OPERANDS], *row;
  const char *from[MAX_OPERANDS];
  size_t size[MAX_OPERANDS];
} work;

/* Joins n elements that are `to_step` and `from_step` apart; n is 1 unless both are 1. */
static void join_row(const work *w, int64_t to, int64_t from, int64_t n)
{
  uint32_t count = w->d->count;
  const void *parameters[2 * MAX_OPERANDS];
  for (int64_t at = 0; at < n; at += XP_DEV_LANES) {
    int64_t lanes = n - at < XP_DEV_LANES ? n - at : XP_DEV_LANES;
    for (uint32_t k = 0; k < count; k++) {
      parameters[k] = w->to[k] + (to + at) * (int64_t)w->size[k];
      parameters[count + k] = w->from[k] + (from + at) * (int64_t)w->size[k];
    }
    xp_dev_scalar_run(w->d->scalar, w->memory, parameters, lanes);
    for (uint32_t k = 0; k < count; k++) { /* by way of rows: a result may be another operand's parameter */
      memcpy(w->row + k * (size_t)XP_DEV_LANES * 8, xp_dev_scalar_result(w->d->scalar, w->memory, k),
             (size_t)lanes * w->size[k]);
    }
    for (uint32_t k = 0; k < count; k++) {
      memcpy(w->to[k] + (to + at) * (int64_t)w->size[k], w->row + k * (size_t)XP_DEV_LANES * 8,
             (size_t)lanes * w->size[k]);
    }
  }
}

/* One window; its move has at least one dimension. */
static void join_window(const work *w, int64_t to, int64_t from)
{
  const xp_dev_move *m = &w->d->window;
  int last = m->rank - 1;
  bool is_row = m->to[last] == 1 && m->from[last] == 1;
  int64_t index[XP_HLO_MAX_RANK] = {0};
  for (;;) {
    for (int64_t i = 0; i < (is_row ? 1 : m->dims[last]); i++) {
      join_row(w, to + i * m->to[last], from + i * m->from[last], is_row ? m->dims[last] : 1);
    }
    int d = last - 1;
    for (; d >= 0; d--) {
      to += m->to[d], from += m->from[d];
      if (++index[d] < m->dims[d]) {
        break;
      }
      to -= index[d] * m->to[d], from -= index[d] * m->from[d];
      index[d] = 0;
    }
    if (d < 0) {
      return;
    }
  }
}

static xp_status run_scatter(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const scatter *d = step->detail;
  char *scratch = xp_dev_scratch(frame, step);
  work w = {.d = d, .memory = scratch, .row = scratch + d->row_at};
  const void *values = xp_dev_at(frame, step->in[d->count]);
  for (uint32_t k = 0; k < d->count; k++) {
    const void *operand = xp_dev_at(frame, step->in[k]);
    w.to[k] = xp_dev_at(frame, step->out[k]);
    w.from[k] = xp_dev_at(frame, step->in[d->count + 1 + k]);
    w.size[k] = xp_dev_type_sizes[step->in[k].type];
    if (operand != w.to[k] && step->out[k].count > 0) {
      memcpy(w.to[k], operand, xp_dev_leaf_bytes(step->out[k]));
    }
  }
  xp_dev_scalar_open(d->scalar, scratch);
  bool is_assignment = d->count == 1 && d->scalar->only == XP_HLO_OP_PARAMETER;
  xp_dev_index_cursor cursor = {0};
  for (int64_t i = 0; i < d->indices.count && step->in[d->count + 1].count > 0; i++) {
    bool is_inside;
    int64_t start = xp_dev_indices_start(&d->indices, &cursor, values, false, &is_inside);
    if (is_inside && is_assignment) {
      int64_t size = (int64_t)w.size[0];
      xp_dev_move_run(&d->window, w.to[0] + start * size, w.from[0] + cursor.window * size);
    } else if (is_inside) {
      join_window(&w, start, cursor.window);
    }
    xp_dev_indices_advance(&d->indices, &cursor);
  }
  return XP_OK;
}

static xp_status check_operands(xp_dev_context *context, const xp_dev_step *step, scatter *d)
{
  xp_dev_type types[2 * MAX_OPERANDS];
  for (uint32_t k = 0; k < d->count; k++) {
    const xp_dev_leaf *operand = &step->in[k], *update = &step->in[d->count + 1 + k];
    if (!xp_hlo_shape_same(operand->shape, step->out[k].shape) || update->type != operand->type ||
        !xp_hlo_shape_same_dims(operand->shape, step->in[0].shape) ||
        !xp_hlo_shape_same_dims(update->shape, step->in[d->count + 1].shape)) {
      return xp_dev_reject(context, "its operands, updates and results are of different shapes");
    }
    types[k] = types[d->count + k] = operand->type;
  }
  return xp_dev_scalar_prepare(context, context->instruction->calls[0], types, 2 * d->count, types, d->count,
                               &d->scalar);
}

xp_status xp_dev_prepare_scatter(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_scatter *s = context->instruction->scatter;
  scatter *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  d->count = step->out_count;
  if (s == NULL || d->count == 0 || d->count > MAX_OPERANDS || step->in_count != 2 * d->count + 1 ||
      context->instruction->call_count != 1) {
    return xp_dev_reject(context, "it has a wrong number of operands");
  }
  xp_status status = check_operands(context, step, d);
  if (status != XP_OK) {
    return status;
  }
  xp_dev_index_lists lists = {s->update_window_dims,
                              s->inserted_window_dims,
                              s->scatter_dims_to_operand_dims,
                              s->input_batching_dims,
                              s->scatter_indices_batching_dims,
                              s->index_vector_dim,
                              NULL};
  if (!xp_dev_indices_prepare(&d->indices, &lists, step->in[0], step->in[d->count], step->in[d->count + 1])) {
    return xp_dev_reject(context, "its dimension numbers do not fit its operands");
  }
  d->window.rank = d->indices.window_rank;
  d->window.size = xp_dev_type_sizes[step->in[0].type];
  memcpy(d->window.dims, d->indices.window, sizeof d->window.dims);
  memcpy(d->window.to, d->indices.window_in_operand, sizeof d->window.to);
  memcpy(d->window.from, d->indices.window_in_array, sizeof d->window.from);
  xp_dev_move_simplify(&d->window);
  if (d->window.rank == 0) {
    d->window.dims[0] = d->window.to[0] = d->window.from[0] = d->window.rank = 1;
  }
  d->row_at = xp_dev_scalar_bytes(d->scalar);
  step->scratch_bytes = d->row_at + d->count * (size_t)XP_DEV_LANES * 8;
  step->detail = d;
  step->run = run_scatter;
  step->in_place = d->count == 1 ? 0 : XP_NONE;
  return XP_OK;
}
