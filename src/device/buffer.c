/* The life of a buffer, and what the host may ask of it.  Copies are in transfer.c. */
#include "device/buffer.h"

#include <stdlib.h>

xp_abi_buffer *xp_dev_buffer_create(xp_abi_device *device, const xp_dev_shape *shape, xp_dev_block *block,
                                    xp_abi_event *ready)
{
  xp_abi_buffer *buffer = calloc(1, sizeof *buffer);
  xp_dev_content *content = xp_dev_content_create(block, ready);
  if (buffer == NULL || content == NULL) {
    free(buffer);
    xp_dev_content_unref(content);
    return NULL;
  }
  *buffer = (xp_abi_buffer){.device = device, .shape = *shape, .content = content};
  for (size_t i = 0; i < shape->rank; i++) {
    buffer->minor_to_major[i] = (int64_t)(shape->rank - 1 - i);
  }
  pthread_mutex_init(&buffer->lock, NULL);
  xp_dev_client_ref(device->client);
  return buffer;
}

void xp_dev_buffer_give_away(xp_abi_buffer *buffer)
{
  pthread_mutex_lock(&buffer->lock);
  xp_dev_content *gone = buffer->content;
  buffer->content = NULL;
  pthread_mutex_unlock(&buffer->lock);
  xp_dev_content_unref(gone);
}

void xp_dev_buffer_free(xp_abi_buffer *buffer)
{
  xp_abi_client *client = buffer->device->client;
  xp_dev_content_unref(buffer->content);
  xp_dev_block_unref(buffer->held);
  pthread_mutex_destroy(&buffer->lock);
  free(buffer);
  xp_dev_client_unref(client);
}

static xp_abi_error *is_gone(void)
{
  return xp_dev_fail(XP_ABI_INVALID_ARGUMENT, "The buffer has been deleted or donated to an execution.");
}

xp_abi_error *xp_dev_buffer_use(xp_abi_buffer *buffer, bool reads, xp_dev_content **content)
{
  pthread_mutex_lock(&buffer->lock);
  bool is_there = buffer->content != NULL;
  if (is_there) {
    *content = xp_dev_content_ref(buffer->content);
    if (reads) {
      xp_dev_content_read_begin(*content);
    }
  }
  pthread_mutex_unlock(&buffer->lock);
  return is_there ? NULL : is_gone();
}

bool xp_dev_buffer_is_held(xp_abi_buffer *buffer)
{
  pthread_mutex_lock(&buffer->lock);
  bool is_held = buffer->external > 0;
  pthread_mutex_unlock(&buffer->lock);
  return is_held;
}

/* ---------------------------------------------------------------- PJRT_Buffer_* */

xp_abi_error *xp_dev_buffer_destroy(xp_abi_object_args *args)
{
  if (args->object != NULL) {
    xp_dev_buffer_free(args->object);
  }
  return NULL;
}

xp_abi_error *xp_dev_buffer_type(xp_abi_int32_args *args)
{
  args->value = (int32_t)((const xp_abi_buffer *)args->object)->shape.type;
  return NULL;
}

/* Nothing is padded, so these are the unpadded ones, too. */
xp_abi_error *xp_dev_buffer_dims(xp_abi_list_args *args)
{
  const xp_abi_buffer *buffer = args->object;
  args->items = buffer->shape.dims;
  args->count = buffer->shape.rank;
  return NULL;
}

xp_abi_error *xp_dev_buffer_dynamic_dims(xp_abi_list_args *args)
{
  args->items = NULL;
  args->count = 0;
  return NULL;
}

xp_abi_error *xp_dev_buffer_layout(xp_abi_buffer_layout_args *args)
{
  const xp_abi_buffer *buffer = args->buffer;
  args->layout = (xp_abi_layout){.struct_size = XP_ABI_LAYOUT_SIZE, .type = XP_ABI_LAYOUT_TILED};
  args->layout.of.tiled = (xp_abi_layout_tiled){.struct_size = sizeof(xp_abi_layout_tiled),
                                                .minor_to_major = buffer->minor_to_major,
                                                .minor_to_major_size = buffer->shape.rank};
  return NULL;
}

xp_abi_error *xp_dev_buffer_size(xp_abi_uint64_args *args)
{
  args->value = ((const xp_abi_buffer *)args->object)->shape.bytes;
  return NULL;
}

xp_abi_error *xp_dev_buffer_device(xp_abi_pointer_args *args)
{
  args->value = ((const xp_abi_buffer *)args->object)->device;
  return NULL;
}

xp_abi_error *xp_dev_buffer_memory(xp_abi_pointer_args *args)
{
  args->value = &((const xp_abi_buffer *)args->object)->device->memory;
  return NULL;
}

xp_abi_error *xp_dev_buffer_delete(xp_abi_object_args *args)
{
  xp_dev_buffer_give_away(args->object);
  return NULL;
}

xp_abi_error *xp_dev_buffer_is_deleted(xp_abi_bool_args *args)
{
  xp_abi_buffer *buffer = args->object;
  pthread_mutex_lock(&buffer->lock);
  args->value = buffer->content == NULL;
  pthread_mutex_unlock(&buffer->lock);
  return NULL;
}

/* Its bytes lie in the host's memory, but the host must not know: it would read them while programs run. */
xp_abi_error *xp_dev_buffer_is_on_cpu(xp_abi_bool_args *args)
{
  args->value = false;
  return NULL;
}

xp_abi_error *xp_dev_buffer_ready_event(xp_abi_pointer_args *args)
{
  xp_dev_content *content = NULL;
  xp_abi_error *error = xp_dev_buffer_use(args->object, false, &content);
  if (error == NULL) {
    args->value = xp_dev_event_ref(xp_dev_content_ready(content));
    xp_dev_content_unref(content);
  }
  return error;
}

static xp_abi_error *address_of(xp_abi_buffer *buffer, void **address)
{
  xp_dev_content *content = NULL;
  xp_abi_error *error = xp_dev_buffer_use(buffer, false, &content);
  if (error == NULL) {
    *address = xp_dev_block_data(xp_dev_content_block(content));
    xp_dev_content_unref(content);
  }
  return error;
}

xp_abi_error *xp_dev_buffer_address(xp_abi_uint64_args *args)
{
  void *address = NULL;
  xp_abi_error *error = address_of(args->object, &address);
  args->value = (uint64_t)(uintptr_t)address;
  return error;
}

xp_abi_error *xp_dev_buffer_pointer(xp_abi_pointer_args *args)
{
  args->value = NULL;
  return address_of(args->object, &args->value);
}

xp_abi_error *xp_dev_buffer_hold(xp_abi_object_args *args)
{
  xp_abi_buffer *buffer = args->object;
  pthread_mutex_lock(&buffer->lock);
  bool is_there = buffer->content != NULL || buffer->external > 0;
  if (is_there && buffer->external++ == 0) {
    buffer->held = xp_dev_block_ref(xp_dev_content_block(buffer->content));
  }
  pthread_mutex_unlock(&buffer->lock);
  return is_there ? NULL : is_gone();
}

xp_abi_error *xp_dev_buffer_let_go(xp_abi_object_args *args)
{
  xp_abi_buffer *buffer = args->object;
  xp_dev_block *held = NULL;
  pthread_mutex_lock(&buffer->lock);
  bool was_held = buffer->external > 0;
  if (was_held && --buffer->external == 0) {
    held = buffer->held;
    buffer->held = NULL;
  }
  pthread_mutex_unlock(&buffer->lock);
  xp_dev_block_unref(held);
  return was_held ? NULL
                  : xp_dev_fail(XP_ABI_INVALID_ARGUMENT,
                                "PJRT_Buffer_DecreaseExternalReferenceCount: the count of the buffer is 0 already.");
}
