/* Shapes: the element type and extents of an array with its layout, or the parts of a tuple.
 *
 * A shape is a value: it is copied with `=`.  The parts of a tuple and the kept records of a layout lie in the arena of
 * the module.  Extents are never negative, and the number of elements of an array that came through xp_hlo_read or a
 * builder fits 63 bits together with its bytes.
 */
#ifndef XP_HLO_SHAPE_H
#define XP_HLO_SHAPE_H

#include "base/arena.h"
#include "hlo/type.h"

#define XP_HLO_MAX_RANK    8
#define XP_HLO_MAX_NESTING 32 /* of tuples; it bounds every recursion over shapes */

typedef struct xp_hlo_shape xp_hlo_shape;

struct xp_hlo_shape {
  xp_hlo_type type; /* XP_HLO_TUPLE: parts; else an array, a token or opaque */
  uint8_t rank;
  bool has_layout;
  uint8_t dynamic;                         /* bit i: the extent i is only the largest possible one */
  uint8_t minor_to_major[XP_HLO_MAX_RANK]; /* the fastest running dimension first; a permutation of 0 .. rank-1 */
  int64_t dims[XP_HLO_MAX_RANK];
  const xp_hlo_shape *parts; /* of a tuple */
  size_t part_count;
  xp_str layout_rest; /* records of the LayoutProto beyond minor_to_major (tiles, memory space), kept as they stand */
};

/* An array with the usual layout: the last dimension runs fastest.  rank is at most XP_HLO_MAX_RANK. */
xp_hlo_shape xp_hlo_shape_array(xp_hlo_type type, size_t rank, const int64_t *dims);

static inline xp_hlo_shape xp_hlo_shape_scalar(xp_hlo_type type)
{
  return xp_hlo_shape_array(type, 0, NULL);
}

/* A tuple; borrows the parts. */
xp_hlo_shape xp_hlo_shape_tuple(const xp_hlo_shape *parts, size_t part_count);

/* Same type and extents; layouts may differ.  Tuples: for all parts. */
bool xp_hlo_shape_same(const xp_hlo_shape *a, const xp_hlo_shape *b);

/* Same extents, of arrays of any types. */
bool xp_hlo_shape_same_dims(const xp_hlo_shape *a, const xp_hlo_shape *b);

/* True if the last dimension runs fastest, then the one before it, and so on. */
bool xp_hlo_shape_is_row_major(const xp_hlo_shape *shape);

/* The shape as XLA prints it, with layouts ("f32[2,3]{1,0}") or without ("f32[2,3]"); lies in the arena; empty when
 * memory is out. */
xp_str xp_hlo_shape_text(xp_arena *arena, const xp_hlo_shape *shape, bool with_layout);

/* Checks that the bytes of an array, or of all parts of a tuple, fit 63 bits and that no extent is negative. */
bool xp_hlo_shape_is_sound(const xp_hlo_shape *shape);

static inline bool xp_hlo_shape_is_array(const xp_hlo_shape *shape)
{
  return xp_hlo_type_is_array(shape->type);
}

/* Elements of an array; 1 for a scalar. */
static inline int64_t xp_hlo_shape_elements(const xp_hlo_shape *shape)
{
  int64_t n = 1;
  for (size_t i = 0; i < shape->rank; i++) {
    n *= shape->dims[i];
  }
  return n;
}

/* Bytes of an array.  0 for tuples: ask for their parts. */
static inline int64_t xp_hlo_shape_bytes(const xp_hlo_shape *shape)
{
  size_t each = xp_hlo_type_bytes(shape->type);
  return each > 0 ? xp_hlo_shape_elements(shape) * (int64_t)each : 0;
}

#endif
