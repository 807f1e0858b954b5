/* dot: products of matrices, with batch and contracting dimensions anywhere.
 *
 * The dimensions of an operand are batch, free or contracting.  If those of a kind lie in memory as one dimension
 * would, the matrix product takes the operand where it is, whatever its order (so x . transpose(y) costs no copy).
 * Otherwise the operand is first copied in the order batch, free, contracting.  f16 and bf16 are multiplied and summed
 * as f32.
 */
#include "device/eval_matmul.h"
#include "device/eval_move.h"
#include "device/eval_ops.h"

/* One operand as batch x free x contracting. */
typedef struct {
  int64_t count[3], stride[3];
  bool is_copied;
  xp_dev_move copy;
  xp_dev_kernel convert; /* to the type of the product, while copying; NULL if the product takes it as it is */
  xp_dev_type type;      /* after copying and converting */
} side;

typedef struct {
  side sides[2];
  xp_dev_matmul product;
  int64_t batch;
  xp_dev_kernel narrow;                            /* of the result */
  size_t copies[2], converted[2], result, packing; /* offsets in the scratch */
} dot;

enum { BATCH, FREE, CONTRACTING };

/* Joins dimensions that follow each other in `order`; false if they do not lie as one. */
static bool join_dims(const xp_hlo_shape *shape, const int64_t *strides, const int *order, int n, int64_t *count,
                      int64_t *stride)
{
  bool is_one = true;
  *count = 1;
  *stride = 1;
  for (int i = n - 1; i >= 0; i--) {
    int64_t extent = shape->dims[order[i]];
    if (extent == 1) {
      continue;
    }
    is_one &= *count == 1 || strides[order[i]] == *stride * *count;
    *stride = *count == 1 ? strides[order[i]] : *stride;
    *count *= extent;
  }
  return is_one;
}

/* The dimensions of a kind, in order; false if the lists of the instruction name none or one twice. */
static bool sort_dims(const xp_hlo_shape *shape, xp_hlo_list batch, xp_hlo_list contracting,
                      int order[3][XP_HLO_MAX_RANK], int counts[3])
{
  unsigned seen = 0;
  const xp_hlo_list lists[3] = {batch, {NULL, 0}, contracting};
  for (int kind = 0; kind < 3; kind++) {
    counts[kind] = 0;
    for (size_t i = 0; i < lists[kind].count; i++) {
      int64_t d = lists[kind].values[i];
      if (d < 0 || d >= shape->rank || (seen >> d & 1)) {
        return false;
      }
      seen |= 1u << d;
      order[kind][counts[kind]++] = (int)d;
    }
  }
  for (int d = 0; d < shape->rank; d++) {
    if (!(seen >> d & 1)) {
      order[FREE][counts[FREE]++] = d;
    }
  }
  return true;
}

static bool arrange(side *s, xp_dev_leaf leaf, xp_hlo_list batch, xp_hlo_list contracting)
{
  int order[3][XP_HLO_MAX_RANK], counts[3], rank = 0;
  int64_t strides[XP_HLO_MAX_RANK];
  if (!sort_dims(leaf.shape, batch, contracting, order, counts)) {
    return false;
  }
  xp_dev_strides(leaf.shape, strides);
  s->type = leaf.type;
  s->copy.size = xp_dev_type_sizes[leaf.type];
  for (int kind = 0; kind < 3; kind++) {
    s->is_copied |= !join_dims(leaf.shape, strides, order[kind], counts[kind], &s->count[kind], &s->stride[kind]);
    for (int i = 0; i < counts[kind]; i++) {
      s->copy.dims[rank] = leaf.shape->dims[order[kind][i]];
      s->copy.from[rank++] = strides[order[kind][i]];
    }
  }
  s->copy.rank = rank;
  for (int64_t d = rank - 1, stride = 1; d >= 0; d--) {
    s->copy.to[d] = stride;
    stride *= s->copy.dims[d];
  }
  if (s->is_copied) {
    s->stride[CONTRACTING] = 1;
    s->stride[FREE] = s->count[CONTRACTING];
    s->stride[BATCH] = s->count[CONTRACTING] * s->count[FREE];
  }
  xp_dev_move_simplify(&s->copy);
  return true;
}

/* Copies and converts an operand as far as needed. */
static const void *fetch(const dot *d, int which, const void *from, int64_t count, char *scratch)
{
  const side *s = &d->sides[which];
  if (s->is_copied) {
    xp_dev_move_run(&s->copy, scratch + d->copies[which], from);
    from = scratch + d->copies[which];
  }
  if (s->convert != NULL) {
    s->convert(scratch + d->converted[which], &from, count);
    from = scratch + d->converted[which];
  }
  return from;
}

static xp_status run_dot(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const dot *d = step->detail;
  char *scratch = xp_dev_scratch(frame, step), *out = xp_dev_at(frame, step->out[0]);
  const char *a = fetch(d, 0, xp_dev_at(frame, step->in[0]), step->in[0].count, scratch);
  const char *b = fetch(d, 1, xp_dev_at(frame, step->in[1]), step->in[1].count, scratch);
  const xp_dev_matmul *x = &d->product;
  int64_t a_bytes = xp_dev_type_sizes[x->a_type] * d->sides[0].stride[BATCH];
  int64_t b_bytes = xp_dev_type_sizes[x->b_type] * d->sides[1].stride[BATCH];
  char *c = d->narrow != NULL ? scratch + d->result : out;
  for (int64_t i = 0; i < d->batch; i++) {
    xp_dev_matmul_run(frame->plan->kernels, x, c + (size_t)(i * x->m * x->n) * xp_dev_type_sizes[x->type],
                      a + i * a_bytes, b + i * b_bytes, scratch + d->packing);
  }
  if (d->narrow != NULL) {
    const void *in[1] = {c};
    d->narrow(out, in, step->out[0].count);
  }
  return XP_OK;
}

/* The type to multiply in, and how operands and result get there. */
static bool choose_types(const xp_dev_kernels *kernels, dot *d, const xp_dev_step *step)
{
  xp_dev_type out = step->out[0].type, type = xp_dev_type_is_half(out) ? XP_DEV_F32 : out;
  bool is_float = xp_dev_type_is_float(type);
  if (is_float && (step->in[0].type == XP_DEV_F64 || step->in[1].type == XP_DEV_F64)) {
    type = XP_DEV_F64;
  }
  d->product.type = type;
  d->narrow = type != out ? kernels->convert[type][out] : NULL;
  for (int i = 0; i < 2; i++) {
    side *s = &d->sides[i];
    bool is_taken = s->type == type || (type == XP_DEV_F32 && xp_dev_type_is_half(s->type));
    if (!is_taken) {
      s->convert = kernels->convert[s->type][type];
      if (s->convert == NULL || xp_dev_type_is_float(s->type) != is_float) {
        return false;
      }
      s->type = type;
    }
  }
  return true;
}

static size_t reserve(size_t *total, size_t bytes)
{
  size_t at = *total;
  *total = xp_dev_add_sizes(at, bytes > SIZE_MAX - XP_DEV_ALIGN ? bytes : xp_dev_round_up(bytes));
  return at;
}

static void plan_scratch(dot *d, xp_dev_step *step)
{
  size_t size = xp_dev_type_sizes[d->product.type];
  for (int i = 0; i < 2; i++) {
    d->copies[i] = reserve(&step->scratch_bytes, d->sides[i].is_copied ? xp_dev_leaf_bytes(step->in[i]) : 0);
    d->converted[i] = reserve(&step->scratch_bytes,
                              d->sides[i].convert != NULL ? xp_dev_multiply_sizes((size_t)step->in[i].count, size) : 0);
  }
  d->result =
      reserve(&step->scratch_bytes, d->narrow != NULL ? xp_dev_multiply_sizes((size_t)step->out[0].count, size) : 0);
  d->packing = reserve(&step->scratch_bytes, xp_dev_matmul_bytes(&d->product));
}

/* The result must be batch, free dimensions of the first, free dimensions of the second operand. */
static bool is_result(const dot *d, const xp_dev_step *step)
{
  const side *a = &d->sides[0], *b = &d->sides[1];
  int64_t count;
  return a->count[BATCH] == b->count[BATCH] && a->count[CONTRACTING] == b->count[CONTRACTING] &&
         !__builtin_mul_overflow(a->count[BATCH], a->count[FREE], &count) &&
         !__builtin_mul_overflow(count, b->count[FREE], &count) && count == step->out[0].count;
}

xp_status xp_dev_prepare_dot(xp_dev_context *context, xp_dev_step *step)
{
  const xp_hlo_dot *dims = context->instruction->dot;
  dot *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  if (dims == NULL || step->in_count != 2 || step->out_count != 1 ||
      !arrange(&d->sides[0], step->in[0], dims->lhs_batch, dims->lhs_contracting) ||
      !arrange(&d->sides[1], step->in[1], dims->rhs_batch, dims->rhs_contracting) || !is_result(d, step)) {
    return xp_dev_reject(context, "its dimensions do not fit its operands");
  }
  if (!choose_types(context->plan->kernels, d, step)) {
    return xp_dev_reject(context, "this device does not have it for these types");
  }
  const side *a = &d->sides[0], *b = &d->sides[1];
  d->batch = a->count[BATCH];
  d->product.a_type = a->type;
  d->product.b_type = b->type;
  d->product.m = a->count[FREE];
  d->product.n = d->product.c_row = b->count[FREE];
  d->product.k = a->count[CONTRACTING];
  d->product.a_row = a->stride[FREE];
  d->product.a_column = a->stride[CONTRACTING];
  d->product.b_row = b->stride[CONTRACTING];
  d->product.b_column = b->stride[FREE];
  plan_scratch(d, step);
  step->detail = d;
  step->run = run_dot;
  step->flops = 2.0 * (double)step->out[0].count * (double)d->product.k;
  return XP_OK;
}
