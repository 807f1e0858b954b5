/* Extents are checked once, where a shape is made: none is negative, and the bytes of the array fit 62 bits, so nothing
 * overflows later.
 */
#include "device/shape.h"

#include <stdio.h>
#include <string.h>

/* The numbers of the C API against those of HLO, for the types that the device has. */
static const struct {
  xp_abi_type abi;
  xp_hlo_type hlo;
} types[] = {{XP_ABI_PRED, XP_HLO_PRED}, {XP_ABI_S8, XP_HLO_S8},      {XP_ABI_S16, XP_HLO_S16},
             {XP_ABI_S32, XP_HLO_S32},   {XP_ABI_S64, XP_HLO_S64},    {XP_ABI_U8, XP_HLO_U8},
             {XP_ABI_U16, XP_HLO_U16},   {XP_ABI_U32, XP_HLO_U32},    {XP_ABI_U64, XP_HLO_U64},
             {XP_ABI_F16, XP_HLO_F16},   {XP_ABI_F32, XP_HLO_F32},    {XP_ABI_F64, XP_HLO_F64},
             {XP_ABI_BF16, XP_HLO_BF16}, {XP_ABI_TOKEN, XP_HLO_TOKEN}};

enum { TYPE_COUNT = sizeof types / sizeof *types };

static xp_hlo_type hlo_type(int32_t type)
{
  for (size_t i = 0; i < TYPE_COUNT; i++) {
    if ((int32_t)types[i].abi == type) {
      return types[i].hlo;
    }
  }
  return XP_HLO_TYPE_INVALID;
}

static bool measure(xp_dev_shape *shape)
{
  int64_t bytes = (int64_t)shape->element_bytes;
  bool is_empty = false, fits = true;
  for (size_t i = 0; i < shape->rank; i++) {
    if (shape->dims[i] < 0) {
      return false;
    }
    is_empty = is_empty || shape->dims[i] == 0;
    fits = fits && shape->dims[i] <= INT64_MAX / 2 &&
           (shape->dims[i] == 0 || !__builtin_mul_overflow(bytes, shape->dims[i], &bytes)) && bytes <= INT64_MAX / 2;
  }
  shape->bytes = is_empty ? 0 : (size_t)bytes;
  return fits || is_empty;
}

xp_abi_error *xp_dev_shape_make(const char *function, int32_t type, const int64_t *dims, size_t rank,
                                xp_dev_shape *shape)
{
  xp_hlo_type hlo = hlo_type(type);
  if (hlo == XP_HLO_TYPE_INVALID) {
    return xp_dev_fail(
        XP_ABI_UNIMPLEMENTED,
        "%s: the device has no type number %d; it has pred, s8 to s64, u8 to u64, f16, bf16, f32 and f64.", function,
        (int)type);
  }
  if (rank > XP_HLO_MAX_RANK) {
    return xp_dev_fail(XP_ABI_UNIMPLEMENTED, "%s: the device has arrays of up to %d dimensions, not %zu.", function,
                       XP_HLO_MAX_RANK, rank);
  }
  *shape = (xp_dev_shape){.type = (xp_abi_type)type, .rank = rank, .element_bytes = xp_hlo_type_bytes(hlo)};
  if (rank > 0) {
    memcpy(shape->dims, dims, rank * sizeof *dims);
  }
  return measure(shape) ? NULL
                        : xp_dev_fail(XP_ABI_INVALID_ARGUMENT,
                                      "%s: an extent is negative, or the array is larger than any memory.", function);
}

xp_abi_error *xp_dev_shape_of_hlo(const xp_hlo_shape *hlo, xp_dev_shape *shape)
{
  int32_t type = XP_ABI_INVALID;
  for (size_t i = 0; i < TYPE_COUNT; i++) {
    type = types[i].hlo == hlo->type ? (int32_t)types[i].abi : type;
  }
  return xp_dev_shape_make("The program", type, hlo->dims, hlo->rank, shape);
}

bool xp_dev_shape_same(const xp_dev_shape *a, const xp_dev_shape *b)
{
  return a->type == b->type && a->rank == b->rank &&
         (a->rank == 0 || memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0);
}

const char *xp_dev_shape_text(const xp_dev_shape *shape, char *room)
{
  const size_t size = XP_DEV_SHAPE_TEXT;
  size_t n = (size_t)snprintf(room, size, "%s[", xp_hlo_type_name(hlo_type((int32_t)shape->type)));
  for (size_t i = 0; i < shape->rank; i++) { /* 8 numbers of at most 20 digits: they fit */
    n += (size_t)snprintf(room + n, size - n, i > 0 ? ",%lld" : "%lld", (long long)shape->dims[i]);
  }
  snprintf(room + n, size - n, "]");
  return room;
}

/* ---------------------------------------------------------------- strides */

/* Strides of an order of dimensions, the fastest first; NULL: the last one is the fastest. */
static xp_dev_strides strides_of_order(const xp_dev_shape *shape, const int64_t *minor_to_major)
{
  xp_dev_strides strides = {{0}};
  int64_t stride = (int64_t)shape->element_bytes;
  for (size_t i = 0; i < shape->rank; i++) {
    size_t dim = minor_to_major != NULL ? (size_t)minor_to_major[i] : shape->rank - 1 - i;
    strides.bytes[dim] = stride;
    stride = shape->bytes == 0 ? stride : stride * shape->dims[dim];
  }
  return strides;
}

xp_dev_strides xp_dev_strides_dense(const xp_dev_shape *shape)
{
  return strides_of_order(shape, NULL);
}

bool xp_dev_strides_are_dense(const xp_dev_shape *shape, const xp_dev_strides *strides)
{
  xp_dev_strides dense = xp_dev_strides_dense(shape);
  for (size_t i = 0; i < shape->rank; i++) { /* the stride of a dimension of one element moves nothing */
    if (shape->dims[i] > 1 && strides->bytes[i] != dense.bytes[i]) {
      return shape->bytes == 0;
    }
  }
  return true;
}

xp_abi_error *xp_dev_strides_of_bytes(const char *function, const xp_dev_shape *shape, const int64_t *byte_strides,
                                      size_t count, xp_dev_strides *strides)
{
  *strides = xp_dev_strides_dense(shape);
  if (byte_strides == NULL || count == 0) {
    return NULL;
  }
  if (count != shape->rank) {
    return xp_dev_fail(XP_ABI_INVALID_ARGUMENT, "%s: %zu byte strides for %zu dimensions.", function, count,
                       shape->rank);
  }
  memcpy(strides->bytes, byte_strides, count * sizeof *byte_strides);
  return NULL;
}

static bool is_permutation(const int64_t *order, size_t rank)
{
  unsigned seen = 0;
  for (size_t i = 0; i < rank; i++) {
    if (order[i] < 0 || (size_t)order[i] >= rank || (seen >> order[i] & 1)) {
      return false;
    }
    seen |= 1u << order[i];
  }
  return true;
}

xp_abi_error *xp_dev_strides_of_layout(const char *function, const xp_dev_shape *shape, const xp_abi_layout *layout,
                                       xp_dev_strides *strides)
{
  *strides = xp_dev_strides_dense(shape);
  if (layout == NULL) {
    return NULL;
  }
  if (layout->type == XP_ABI_LAYOUT_STRIDES) {
    return xp_dev_strides_of_bytes(function, shape, layout->of.strides.byte_strides,
                                   layout->of.strides.num_byte_strides, strides);
  }
  const xp_abi_layout_tiled *tiled = &layout->of.tiled;
  if (layout->type != XP_ABI_LAYOUT_TILED || tiled->num_tiles > 0) {
    return xp_dev_fail(XP_ABI_UNIMPLEMENTED, "%s: the device knows no layouts with tiles; send an order of dimensions.",
                       function);
  }
  if (tiled->minor_to_major_size != shape->rank || !is_permutation(tiled->minor_to_major, shape->rank)) {
    return xp_dev_fail(XP_ABI_INVALID_ARGUMENT, "%s: minor_to_major is no order of the %zu dimensions.", function,
                       shape->rank);
  }
  *strides = strides_of_order(shape, tiled->minor_to_major);
  return NULL;
}

/* ---------------------------------------------------------------- copying */

static void copy_row(char *to, int64_t to_stride, const char *from, int64_t from_stride, int64_t count, size_t size)
{
  if (to_stride == (int64_t)size && from_stride == (int64_t)size) {
    memcpy(to, from, (size_t)count * size);
    return;
  }
  for (int64_t i = 0; i < count; i++) {
    memcpy(to + i * to_stride, from + i * from_stride, size);
  }
}

void xp_dev_copy(const xp_dev_shape *shape, void *target, const xp_dev_strides *target_strides, const void *source,
                 const xp_dev_strides *source_strides)
{
  if (shape->bytes == 0) {
    return;
  }
  if (xp_dev_strides_are_dense(shape, target_strides) && xp_dev_strides_are_dense(shape, source_strides)) {
    memcpy(target, source, shape->bytes);
    return;
  }
  char *to = target;
  const char *from = source;
  size_t last = shape->rank - 1; /* an array without dimensions is dense */
  int64_t at[XP_HLO_MAX_RANK] = {0};
  for (;;) {
    copy_row(to, target_strides->bytes[last], from, source_strides->bytes[last], shape->dims[last],
             shape->element_bytes);
    size_t dim = last;
    while (dim > 0 && ++at[dim - 1] == shape->dims[dim - 1]) { /* like the wheels of a counter */
      dim--;
      at[dim] = 0;
      to -= target_strides->bytes[dim] * (shape->dims[dim] - 1);
      from -= source_strides->bytes[dim] * (shape->dims[dim] - 1);
    }
    if (dim == 0) {
      return;
    }
    to += target_strides->bytes[dim - 1];
    from += source_strides->bytes[dim - 1];
  }
}
