/* gather: slices of an array, at starts that are clamped into it. */
#include "device/eval_indices.h"
#include "device/eval_ops.h"

typedef struct {
  xp_dev_indices indices;
  xp_dev_move window; /* of one slice */
} gather;

static xp_status run_gather(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const gather *d = step->detail;
  const char *from = xp_dev_at(frame, step->in[0]);
  const void *values = xp_dev_at(frame, step->in[1]);
  char *to = xp_dev_at(frame, step->out[0]);
  int64_t size = (int64_t)d->window.size;
  xp_dev_index_cursor cursor = {0};
  bool is_row = d->window.rank == 0 || (d->window.rank == 1 && d->window.to[0] == 1 && d->window.from[0] == 1);
  size_t row = (size_t)((d->window.rank == 0 ? 1 : d->window.dims[0]) * size);
  for (int64_t i = 0; i < d->indices.count && step->out[0].count > 0; i++) {
    bool is_inside;
    int64_t start = xp_dev_indices_start(&d->indices, &cursor, values, true, &is_inside);
    if (is_row) { /* as in an embedding */
      memcpy(to + cursor.window * size, from + start * size, row);
    } else {
      xp_dev_move_run(&d->window, to + cursor.window * size, from + start * size);
    }
    xp_dev_indices_advance(&d->indices, &cursor);
  }
  return XP_OK;
}

xp_status xp_dev_prepare_gather(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_gather *g = context->instruction->gather;
  if (g == NULL || step->in_count != 2 || step->out_count != 1 || step->in[0].type != step->out[0].type ||
      g->slice_sizes.count != step->in[0].shape->rank) {
    return xp_dev_reject(context, "its dimension numbers do not fit its operands");
  }
  gather *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  xp_dev_index_lists lists = {g->offset_dims,           g->collapsed_slice_dims,        g->start_index_map,
                              g->operand_batching_dims, g->start_indices_batching_dims, g->index_vector_dim,
                              g->slice_sizes.values};
  if (!xp_dev_indices_prepare(&d->indices, &lists, step->in[0], step->in[1], step->out[0])) {
    return xp_dev_reject(context, "its dimension numbers do not fit its operands");
  }
  d->window.rank = d->indices.window_rank;
  d->window.size = xp_dev_type_sizes[step->in[0].type];
  memcpy(d->window.dims, d->indices.window, sizeof d->window.dims);
  memcpy(d->window.from, d->indices.window_in_operand, sizeof d->window.from);
  memcpy(d->window.to, d->indices.window_in_array, sizeof d->window.to);
  xp_dev_move_simplify(&d->window);
  step->detail = d;
  step->run = run_gather;
  return XP_OK;
}
