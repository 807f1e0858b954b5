/* Constants: read where they lie in the module, if they lie as this device has arrays.
 *
 * A literal has its elements in the order of its layout, at any address.  One that runs through its last dimension
 * fastest and is aligned for its type stays where it is; others are copied once, while planning.
 */
#include "device/eval_values.h"

/* The elements of a literal with the last dimension running fastest. */
static const void *literal_bytes(xp_dev_context *context, const xp_hlo_literal *literal, size_t size)
{
  const xp_hlo_shape *shape = &literal->shape;
  const char *from = literal->bytes.ptr;
  if (xp_hlo_shape_is_row_major(shape) && (uintptr_t)from % size == 0) {
    return from;
  }
  char *to = xp_arena_alloc(context->plan->arena, literal->bytes.len);
  int64_t count = (int64_t)(literal->bytes.len / size), index[XP_HLO_MAX_RANK] = {0}, strides[XP_HLO_MAX_RANK],
          stride = 1;
  for (int i = 0; i < shape->rank; i++) {
    int d = xp_hlo_shape_is_row_major(shape) ? shape->rank - 1 - i : shape->minor_to_major[i];
    strides[d] = stride;
    stride *= shape->dims[d];
  }
  for (int64_t i = 0, at = 0; i < count; i++) {
    memcpy(to + (size_t)i * size, from + (size_t)at * size, size);
    for (int d = shape->rank - 1; d >= 0; d--) {
      at += strides[d];
      if (++index[d] < shape->dims[d]) {
        break;
      }
      at -= index[d] * strides[d];
      index[d] = 0;
    }
  }
  return to;
}

xp_status xp_dev_constant_place(xp_dev_context *context, const xp_hlo_literal *literal, xp_dev_value *value,
                                uint32_t *next)
{
  if (literal->shape.type == XP_HLO_TUPLE) {
    xp_status status = XP_OK;
    for (size_t i = 0; status == XP_OK && i < literal->shape.part_count; i++) {
      status = xp_dev_constant_place(context, &literal->parts[i], value, next);
    }
    return status;
  }
  xp_dev_leaf *leaf = *next < value->count ? &value->leaves[*next] : NULL;
  if (leaf == NULL || !xp_hlo_shape_same(leaf->shape, &literal->shape) ||
      literal->bytes.len != xp_dev_leaf_bytes(*leaf)) {
    return xp_dev_reject(context, "its literal is not of its shape");
  }
  xp_dev_slot *slot = &context->program->slots[leaf->slot];
  slot->place = XP_DEV_IN_CONSTANT;
  slot->constant = leaf->count > 0 ? literal_bytes(context, literal, xp_dev_type_sizes[leaf->type]) : "";
  context->plan->constant_bytes += slot->bytes;
  ++*next;
  return XP_OK;
}
