/* Gradients of what moves elements: they go the way back, and where an element went to several places, are summed. */
#include "lazy/autograd.h"
#include "lazy/op_moves.h"
#include "lazy/op_sums.h"
#include "lazy/op_views.h"

static int dim_of(const xl_gradient *to)
{
  const xl_dim_attrs *attrs = to->attrs;
  return (int)attrs->dim;
}

void xl_gradient_cat(xl_gradient *to)
{
  const int dim = dim_of(to);
  int64_t start = 0;
  for (size_t i = 0; i < to->node->input_count; i++) {
    const int64_t end = start + to->node->inputs[i].shape.dims[dim];
    if (xl_gradient_wanted(to, i)) {
      to->result[i] = xl_op_slice(to->grad, dim, start, end, 1);
    }
    start = end;
  }
}

void xl_gradient_stack(xl_gradient *to)
{
  for (size_t i = 0; i < to->node->input_count; i++) {
    if (xl_gradient_wanted(to, i)) {
      to->result[i] = xl_op_select(to->grad, dim_of(to), (int64_t)i);
    }
  }
}

void xl_gradient_flip(xl_gradient *to)
{
  to->result[0] = xl_op_flip(to->grad, dim_of(to));
}

void xl_gradient_pad(xl_gradient *to)
{
  const xl_pad_attrs *attrs = to->attrs;
  to->result[0] = xl_op_pad(to->grad, (int)attrs->dim, -attrs->before, -attrs->after, 0);
}

void xl_gradient_tril(xl_gradient *to)
{
  const int64_t *diagonal = to->attrs;
  to->result[0] = xl_op_tril(to->grad, *diagonal);
}

/* The sum of each square. */
void xl_gradient_upsample_nearest2d(xl_gradient *to)
{
  const xl_shape *x = &to->node->inputs[0].shape, *wide = &to->grad->shape;
  const xl_shape squares = {6,
                            {x->dims[0], x->dims[1], x->dims[2], x->dims[2] > 0 ? wide->dims[2] / x->dims[2] : 1,
                             x->dims[3], x->dims[3] > 0 ? wide->dims[3] / x->dims[3] : 1}};
  to->result[0] = xl_op_reduce(XL_OP_SUM, xl_op_reshape(to->grad, &squares), to->grad->type, 1 << 3 | 1 << 5, false);
}

static void add_at_indices(xl_gradient *to, xl_op op)
{
  const xl_result result = {.op = op,
                            .type = to->grad->type,
                            .shape = to->node->inputs[0].shape,
                            .attrs = to->attrs,
                            .attr_bytes = sizeof(xl_dim_attrs)};
  to->result[0] = xl_apply_2(&result, to->grad, to->in[1]);
}

void xl_gradient_index_select(xl_gradient *to)
{
  add_at_indices(to, XL_OP_INDEX_ADD);
}

void xl_gradient_gather(xl_gradient *to)
{
  add_at_indices(to, XL_OP_SCATTER_ADD);
}
