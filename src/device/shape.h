/* Shapes of buffers, as the C API has them: a type, extents, and how elements lie in the host's memory.
 *
 * On the device every array is dense, its last dimension running fastest.  The host may lay its arrays out otherwise:
 * by byte strides, or by an order of dimensions.
 */
#ifndef XP_DEVICE_SHAPE_H
#define XP_DEVICE_SHAPE_H

#include "device/fault.h"
#include "hlo/shape.h"

typedef struct {
  xp_abi_type type;
  size_t rank, element_bytes, bytes;
  int64_t dims[XP_HLO_MAX_RANK];
} xp_dev_shape;

/* Checks type, extents and size of what `function` (its name is for the error) was given. */
xp_abi_error *xp_dev_shape_make(const char *function, int32_t type, const int64_t *dims, size_t rank,
                                xp_dev_shape *shape);

/* The same of a shape in a program. */
xp_abi_error *xp_dev_shape_of_hlo(const xp_hlo_shape *hlo, xp_dev_shape *shape);

bool xp_dev_shape_same(const xp_dev_shape *a, const xp_dev_shape *b);

/* "f32[2,3]" in the room of XP_DEV_SHAPE_TEXT bytes. */
enum { XP_DEV_SHAPE_TEXT = 192 };
const char *xp_dev_shape_text(const xp_dev_shape *shape, char *room);

/* Byte strides of an array in the host's memory. */
typedef struct {
  int64_t bytes[XP_HLO_MAX_RANK];
} xp_dev_strides;

/* As on the device. */
xp_dev_strides xp_dev_strides_dense(const xp_dev_shape *shape);

bool xp_dev_strides_are_dense(const xp_dev_shape *shape, const xp_dev_strides *strides);

/* As a caller of `function` gave them; NULL or none: dense. */
xp_abi_error *xp_dev_strides_of_bytes(const char *function, const xp_dev_shape *shape, const int64_t *byte_strides,
                                      size_t count, xp_dev_strides *strides);

/* As a layout says; NULL: dense.  XP_ABI_UNIMPLEMENTED for tiles. */
xp_abi_error *xp_dev_strides_of_layout(const char *function, const xp_dev_shape *shape, const xp_abi_layout *layout,
                                       xp_dev_strides *strides);

/* Copies the elements of an array from one arrangement into another. */
void xp_dev_copy(const xp_dev_shape *shape, void *target, const xp_dev_strides *target_strides, const void *source,
                 const xp_dev_strides *source_strides);

#endif
