/* Shapes: making, comparing and printing them.
 *
 * Tuples nest, and a message may nest them as deep as it likes up to the reader's limit, so recursion here is bounded
 * by that limit (XP_HLO_MAX_NESTING of the reader).
 */
#include "hlo/shape.h"

#include <stdio.h>

xp_hlo_shape xp_hlo_shape_array(xp_hlo_type type, size_t rank, const int64_t *dims)
{
  xp_hlo_shape shape = {.type = type, .rank = (uint8_t)rank, .has_layout = true};
  for (size_t i = 0; i < rank; i++) {
    shape.dims[i] = dims[i];
    shape.minor_to_major[i] = (uint8_t)(rank - 1 - i);
  }
  return shape;
}

xp_hlo_shape xp_hlo_shape_tuple(const xp_hlo_shape *parts, size_t part_count)
{
  xp_hlo_shape shape = {.type = XP_HLO_TUPLE, .parts = parts, .part_count = part_count};
  return shape;
}

bool xp_hlo_shape_same_dims(const xp_hlo_shape *a, const xp_hlo_shape *b)
{
  return a->rank == b->rank && memcmp(a->dims, b->dims, a->rank * sizeof a->dims[0]) == 0;
}

bool xp_hlo_shape_same(const xp_hlo_shape *a, const xp_hlo_shape *b)
{
  if (a->type != b->type || !xp_hlo_shape_same_dims(a, b) || a->part_count != b->part_count) {
    return false;
  }
  for (size_t i = 0; i < a->part_count; i++) {
    if (!xp_hlo_shape_same(&a->parts[i], &b->parts[i])) {
      return false;
    }
  }
  return true;
}

bool xp_hlo_shape_is_row_major(const xp_hlo_shape *shape)
{
  for (size_t i = 0; shape->has_layout && i < shape->rank; i++) {
    if (shape->minor_to_major[i] != shape->rank - 1 - i) {
      return false;
    }
  }
  return true;
}

/* Bytes of a shape added to *total; false if they do not fit. */
static bool add_bytes(const xp_hlo_shape *shape, int64_t *total)
{
  for (size_t i = 0; i < shape->part_count; i++) {
    if (!add_bytes(&shape->parts[i], total)) {
      return false;
    }
  }
  int64_t n = xp_hlo_type_is_array(shape->type) ? (int64_t)xp_hlo_type_bytes(shape->type) : 0;
  bool is_empty = false;
  for (size_t i = 0; i < shape->rank; i++) {
    is_empty = is_empty || shape->dims[i] == 0;
    /* Extents of 0 count as 1 here: any order of multiplying them must stay in range. */
    if (shape->dims[i] < 0 || __builtin_mul_overflow(n, shape->dims[i] ? shape->dims[i] : 1, &n)) {
      return false;
    }
  }
  return !__builtin_add_overflow(*total, is_empty ? 0 : n, total);
}

bool xp_hlo_shape_is_sound(const xp_hlo_shape *shape)
{
  int64_t total = 0;
  return add_bytes(shape, &total);
}
