/* Buffers: arrays on a device, as the host holds them.
 *
 * A buffer shows a block of memory and the event after which its bytes are there (or are known never to be).  Deleting
 * a buffer, or giving it to an execution, takes both away; what is under way keeps its own references.
 */
#ifndef XP_DEVICE_BUFFER_H
#define XP_DEVICE_BUFFER_H

#include "device/content.h"
#include "device/shape.h"

struct xp_abi_buffer {
  xp_abi_device *device;
  xp_dev_shape shape;
  int64_t minor_to_major[XP_HLO_MAX_RANK];
  pthread_mutex_t lock;    /* of what follows */
  xp_dev_content *content; /* NULL: deleted */
  unsigned external;       /* references of the host to the memory itself, and the block that they are to */
  xp_dev_block *held;
};

/* A buffer that takes over a reference to a block and one to an event; NULL when memory is out, with both given back.
 */
xp_abi_buffer *xp_dev_buffer_create(xp_abi_device *device, const xp_dev_shape *shape, xp_dev_block *block,
                                    xp_abi_event *ready);

void xp_dev_buffer_free(xp_abi_buffer *buffer);

/* A reference to its content; XP_ABI_INVALID_ARGUMENT if the buffer is deleted.  With `reads`, the host's reading has
 * begun. */
xp_abi_error *xp_dev_buffer_use(xp_abi_buffer *buffer, bool reads, xp_dev_content **content);

/* Deletes a buffer for the host. */
void xp_dev_buffer_give_away(xp_abi_buffer *buffer);

/* True if the host holds external references to the memory. */
bool xp_dev_buffer_is_held(xp_abi_buffer *buffer);

/* PJRT_Buffer_* */
xp_abi_error *xp_dev_buffer_destroy(xp_abi_object_args *args);
xp_abi_error *xp_dev_buffer_type(xp_abi_int32_args *args);
xp_abi_error *xp_dev_buffer_dims(xp_abi_list_args *args);
xp_abi_error *xp_dev_buffer_dynamic_dims(xp_abi_list_args *args);
xp_abi_error *xp_dev_buffer_layout(xp_abi_buffer_layout_args *args);
xp_abi_error *xp_dev_buffer_size(xp_abi_uint64_args *args);
xp_abi_error *xp_dev_buffer_device(xp_abi_pointer_args *args);
xp_abi_error *xp_dev_buffer_memory(xp_abi_pointer_args *args);
xp_abi_error *xp_dev_buffer_delete(xp_abi_object_args *args);
xp_abi_error *xp_dev_buffer_is_deleted(xp_abi_bool_args *args);
xp_abi_error *xp_dev_buffer_is_on_cpu(xp_abi_bool_args *args);
xp_abi_error *xp_dev_buffer_ready_event(xp_abi_pointer_args *args);
xp_abi_error *xp_dev_buffer_address(xp_abi_uint64_args *args);
xp_abi_error *xp_dev_buffer_pointer(xp_abi_pointer_args *args);
xp_abi_error *xp_dev_buffer_hold(xp_abi_object_args *args);
xp_abi_error *xp_dev_buffer_let_go(xp_abi_object_args *args);

#endif
