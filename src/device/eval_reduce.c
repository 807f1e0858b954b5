/* reduce: by a kernel where the computation is one of the usual operations, by the computation itself otherwise.
 *
 * The array is dense, so neighbouring dimensions that are both reduced, or both kept, are one dimension.  If the
 * innermost one is reduced, each row is folded into its result; if it is kept, rows are combined element by element
 * with the row of results.  f16 and bf16 are summed as f32.
 *
 * Any other computation (argmax: a pair of value and index) runs for many results at a time, or, where there are few
 * results, for many elements of one.
 */
#include "base/map.h"
#include "device/eval_lanes.h"
#include "device/eval_ops.h"

/* The dimensions of the operand, joined, without the innermost one. */
typedef struct {
  int rank;
  int64_t dims[XP_HLO_MAX_RANK], in[XP_HLO_MAX_RANK], out[XP_HLO_MAX_RANK]; /* strides; 0 in the result: reduced */
  int64_t inner;
  bool is_inner_reduced;
} rows;

typedef struct {
  rows rows;
  xp_dev_fold fold;
  xp_dev_kernel combine, widen, narrow; /* widen, narrow: of f16 and bf16, else NULL */
  xp_dev_type type;                     /* in which results are kept meanwhile */
} simple;

/* ---------------------------------------------------------------- one of the usual operations */

/* One row, from elements of the type that results are kept in. */
static void add_row(const simple *d, char *result, const char *row, int64_t count)
{
  if (d->rows.is_inner_reduced) {
    d->fold(result, row, count);
  } else {
    const void *in[2] = {result, row};
    d->combine(result, in, count);
  }
}

/* One row of f16 or bf16. */
static void add_half_row(const simple *d, char *result, const uint16_t *row, int64_t count)
{
  float wide[XP_DEV_CHUNK];
  for (int64_t at = 0; at < count; at += XP_DEV_CHUNK) {
    int64_t n = count - at < XP_DEV_CHUNK ? count - at : XP_DEV_CHUNK;
    const void *in[1] = {row + at};
    d->widen(wide, in, n);
    add_row(d, result + (d->rows.is_inner_reduced ? 0 : at * (int64_t)sizeof(float)), (const char *)wide, n);
  }
}

static void add_rows(const simple *d, char *results, const char *in, size_t in_size)
{
  const rows *r = &d->rows;
  int64_t index[XP_HLO_MAX_RANK] = {0}, from = 0, to = 0, size = xp_dev_type_sizes[d->type];
  for (;;) {
    if (d->widen != NULL) {
      add_half_row(d, results + to * size, (const uint16_t *)in + from, r->inner);
    } else {
      add_row(d, results + to * size, in + from * (int64_t)in_size, r->inner);
    }
    int i = r->rank - 1;
    for (; i >= 0; i--) {
      from += r->in[i], to += r->out[i];
      if (++index[i] < r->dims[i]) {
        break;
      }
      from -= index[i] * r->in[i], to -= index[i] * r->out[i];
      index[i] = 0;
    }
    if (i < 0) {
      return;
    }
  }
}

static xp_status run_simple(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const simple *d = step->detail;
  const void *initial = xp_dev_at(frame, step->in[1]);
  void *out = xp_dev_at(frame, step->out[0]), *results = d->widen != NULL ? xp_dev_scratch(frame, step) : out;
  float wide;
  if (d->widen != NULL) {
    d->widen(&wide, &initial, 1);
    initial = &wide;
  }
  xp_dev_fill(results, initial, xp_dev_type_sizes[d->type], step->out[0].count);
  if (step->in[0].count > 0) {
    add_rows(d, results, xp_dev_at(frame, step->in[0]), xp_dev_type_sizes[step->in[0].type]);
  }
  if (d->narrow != NULL) {
    const void *in[1] = {results};
    d->narrow(out, in, step->out[0].count);
  }
  return XP_OK;
}

/* ---------------------------------------------------------------- any computation */

typedef struct {
  const xp_dev_scalar *scalar;
  uint32_t count; /* of operands */
  int kept_rank, reduced_rank;
  int64_t kept[XP_HLO_MAX_RANK], kept_stride[XP_HLO_MAX_RANK], reduced[XP_HLO_MAX_RANK],
      reduced_stride[XP_HLO_MAX_RANK];
} general;

/* Steps through all indices of some dimensions; false at the end.  *offset follows. */
static bool advance(int rank, const int64_t *dims, const int64_t *strides, int64_t *index, int64_t *offset)
{
  for (int d = rank - 1; d >= 0; d--) {
    *offset += strides[d];
    if (++index[d] < dims[d]) {
      return true;
    }
    *offset -= index[d] * strides[d];
    index[d] = 0;
  }
  return false;
}

/* Few results of many elements each: the elements of one result are taken in rows, into as many partial results, which
 * are combined at the end.  XLA, too, reduces in any order and begins more than once with the initial value. */
static void run_long(const general *d, xp_dev_lanes *lanes, int64_t total)
{
  int last = d->reduced_rank - 1;
  int64_t kept[XP_HLO_MAX_RANK] = {0}, base = 0, count = d->reduced[last], stride = d->reduced_stride[last];
  for (int64_t result = 0; result < total; result++) {
    int64_t reduced[XP_HLO_MAX_RANK] = {0}, offset = 0;
    xp_dev_lanes_start(lanes, XP_DEV_LANES);
    do {
      for (int64_t at = 0; at < count; at += XP_DEV_LANES) {
        int64_t n = count - at < XP_DEV_LANES ? count - at : XP_DEV_LANES;
        xp_dev_lanes_take(lanes, base + offset + at * stride, stride, n);
        xp_dev_lanes_combine(lanes, 0, n);
      }
    } while (advance(last, d->reduced, d->reduced_stride, reduced, &offset));
    xp_dev_lanes_fold(lanes, XP_DEV_LANES);
    xp_dev_lanes_store(lanes, result, 1);
    advance(d->kept_rank, d->kept, d->kept_stride, kept, &base);
  }
}

static bool is_long(const general *d, const xp_dev_step *step)
{
  return step->in[0].count > 0 && d->reduced_rank > 0 && step->out[0].count < XP_DEV_LANES / 4 &&
         d->reduced[d->reduced_rank - 1] >= XP_DEV_LANES;
}

static xp_status run_general(const xp_dev_step *step, const xp_dev_frame *frame)
{
  const general *d = step->detail;
  xp_dev_lanes lanes;
  xp_dev_lanes_open(&lanes, step, frame, d->scalar, d->count);
  if (is_long(d, step)) {
    run_long(d, &lanes, step->out[0].count);
    return XP_OK;
  }
  int64_t kept[XP_HLO_MAX_RANK] = {0}, base = 0, total = step->out[0].count, bases[XP_DEV_LANES];
  for (int64_t first = 0; first < total; first += XP_DEV_LANES) {
    int64_t n = total - first < XP_DEV_LANES ? total - first : XP_DEV_LANES;
    for (int64_t i = 0; i < n; i++) {
      bases[i] = base;
      advance(d->kept_rank, d->kept, d->kept_stride, kept, &base);
    }
    xp_dev_lanes_start(&lanes, n);
    int64_t reduced[XP_HLO_MAX_RANK] = {0}, offset = 0;
    bool has_more = step->in[0].count > 0;
    while (has_more) {
      xp_dev_lanes_gather(&lanes, bases, offset, n);
      xp_dev_lanes_combine(&lanes, 0, n);
      has_more = advance(d->reduced_rank, d->reduced, d->reduced_stride, reduced, &offset);
    }
    xp_dev_lanes_store(&lanes, first, n);
  }
  return XP_OK;
}

/* ---------------------------------------------------------------- checking */

/* Bits of the reduced dimensions; false if they do not fit, or if what is left is not the result's shape. */
static bool find_reduced(const xp_dev_context *context, const xp_dev_step *step, unsigned *reduced)
{
  const xp_hlo_shape *in = step->in[0].shape;
  xp_hlo_list dimensions = context->instruction->dimensions;
  *reduced = 0;
  for (size_t i = 0; i < dimensions.count; i++) {
    int64_t d = dimensions.values[i];
    if (d < 0 || d >= in->rank || (*reduced >> d & 1)) {
      return false;
    }
    *reduced |= 1u << d;
  }
  for (uint32_t o = 0; o < step->out_count; o++) {
    const xp_hlo_shape *out = step->out[o].shape;
    int kept = 0;
    for (int d = 0; d < in->rank; d++) {
      if (!(*reduced >> d & 1) && (kept >= out->rank || out->dims[kept++] != in->dims[d])) {
        return false;
      }
    }
    if (kept != out->rank || !xp_hlo_shape_same_dims(in, step->in[o].shape)) {
      return false;
    }
  }
  return true;
}

static void join_rows(rows *r, const xp_dev_step *step, unsigned reduced)
{
  const xp_hlo_shape *in = step->in[0].shape;
  int64_t in_strides[XP_HLO_MAX_RANK], out_strides[XP_HLO_MAX_RANK];
  xp_dev_strides(in, in_strides);
  xp_dev_strides(step->out[0].shape, out_strides);
  int kept = 0, rank = 0;
  bool is_last_reduced = false;
  for (int d = 0; d < in->rank; d++) {
    bool is_reduced = reduced >> d & 1;
    int64_t out = is_reduced ? 0 : out_strides[kept++];
    if (in->dims[d] == 1) {
      continue;
    }
    rank += rank == 0 || is_reduced != is_last_reduced;
    bool is_new = r->in[rank - 1] == 0;
    r->dims[rank - 1] = (is_new ? 1 : r->dims[rank - 1]) * in->dims[d];
    r->in[rank - 1] = in_strides[d] > 0 ? in_strides[d] : 1;
    r->out[rank - 1] = out;
    is_last_reduced = is_reduced;
  }
  r->rank = rank > 0 ? rank - 1 : 0;
  r->inner = rank > 0 ? r->dims[rank - 1] : 1;
  r->is_inner_reduced = rank > 0 && is_last_reduced;
}

static bool prepare_simple(xp_dev_context *context, xp_dev_step *step, const xp_dev_scalar *scalar, unsigned reduced)
{
  const xp_dev_kernels *kernels = context->plan->kernels;
  xp_dev_type type = step->in[0].type;
  bool is_half = xp_dev_type_is_half(type);
  if (scalar->only >= XP_HLO_OP_COUNT) {
    return false;
  }
  simple *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  d->type = is_half ? XP_DEV_F32 : type;
  d->fold = kernels->fold[scalar->only][d->type];
  d->combine = kernels->elementwise[scalar->only][d->type];
  d->widen = is_half ? kernels->convert[type][XP_DEV_F32] : NULL;
  d->narrow = is_half ? kernels->convert[XP_DEV_F32][type] : NULL;
  if (d->fold == NULL || d->combine == NULL) {
    return false;
  }
  join_rows(&d->rows, step, reduced);
  step->scratch_bytes = is_half ? (size_t)step->out[0].count * sizeof(float) : 0;
  step->detail = d;
  step->run = run_simple;
  return true;
}

static void prepare_general(xp_dev_context *context, xp_dev_step *step, const xp_dev_scalar *scalar, unsigned reduced)
{
  general *d = xp_arena_alloc(context->plan->arena, sizeof *d);
  const xp_hlo_shape *in = step->in[0].shape;
  int64_t strides[XP_HLO_MAX_RANK];
  xp_dev_strides(in, strides);
  d->scalar = scalar;
  d->count = step->out_count;
  for (int i = 0; i < in->rank; i++) {
    if (reduced >> i & 1) {
      d->reduced[d->reduced_rank] = in->dims[i], d->reduced_stride[d->reduced_rank++] = strides[i];
    } else {
      d->kept[d->kept_rank] = in->dims[i], d->kept_stride[d->kept_rank++] = strides[i];
    }
  }
  step->scratch_bytes = xp_dev_lanes_bytes(scalar, d->count);
  step->detail = d;
  step->run = run_general;
}

xp_status xp_dev_prepare_reduce(xp_dev_context *context, xp_dev_step *step)
{
  unsigned reduced;
  const xp_dev_scalar *scalar;
  xp_status status = xp_dev_lanes_prepare(context, step, &scalar);
  if (status != XP_OK) {
    return status;
  }
  if (!find_reduced(context, step, &reduced)) {
    return xp_dev_reject(context, "its dimensions do not fit its operands");
  }
  if (step->out_count != 1 || !prepare_simple(context, step, scalar, reduced)) {
    prepare_general(context, step, scalar, reduced);
  }
  step->flops =
      (double)(step->in[0].count - step->out[0].count) * (double)(scalar->op_count > 0 ? scalar->op_count : 1);
  step->flops = step->flops > 0 && xp_dev_type_is_float(step->in[0].type) ? step->flops : 0;
  return XP_OK;
}
