/* Buffers: to the device, back, and what can be asked of them.
 *
 * Arrays on the host are always row after row.  Devices may keep another order of dimensions, so a download asks for
 * rows; plugins that get no layout would hand out their own.  Sizes are checked here against the shape, because a
 * plugin reads and writes as many bytes as it finds right.
 */
#include <stdlib.h>

#include "pjrt/objects.h"

enum { MOST_DIMENSIONS = 64 }; /* of an array that is downloaded; XLA's own shapes have few */

/* ---------------------------------------------------------------- sizes */

/* Bytes of an element on the host, 0 if there is no such thing. */
static size_t element_bytes(xp_abi_type type)
{
  switch (type) {
  case XP_ABI_F64:
  case XP_ABI_S64:
  case XP_ABI_U64:
  case XP_ABI_C64:
    return 8;
  case XP_ABI_C128:
    return 16;
  case XP_ABI_F32:
  case XP_ABI_S32:
  case XP_ABI_U32:
    return 4;
  case XP_ABI_F16:
  case XP_ABI_BF16:
  case XP_ABI_S16:
  case XP_ABI_U16:
    return 2;
  case XP_ABI_INVALID:
  case XP_ABI_TOKEN:
    return 0;
  default:
    return type > XP_ABI_INVALID && type <= XP_ABI_F6E3M2FN ? 1 : 0;
  }
}

bool xp_pjrt_shape_bytes(xp_pjrt_shape shape, size_t *bytes)
{
  size_t size = element_bytes(shape.type);
  bool is_known = size > 0;
  bool is_empty = false;
  for (size_t i = 0; i < shape.rank; i++) {
    is_known = is_known && shape.dimensions[i] >= 0;
    is_empty = is_empty || shape.dimensions[i] == 0;
  }
  for (size_t i = 0; i < shape.rank && is_known && !is_empty; i++) {
    is_known = !__builtin_mul_overflow(size, (uint64_t)shape.dimensions[i], &size);
  }
  *bytes = is_empty ? 0 : size;
  return is_known;
}

static xp_status check_size(const xp_pjrt_plugin *plugin, xp_pjrt_shape shape, size_t size, xp_error *err)
{
  size_t needed = 0;
  if (!xp_pjrt_shape_bytes(shape, &needed)) {
    return xp_fail(err, XP_ERR_USAGE, "An array of type %d with %zu dimensions has no size that is known to %s",
                   (int)shape.type, shape.rank, plugin->name);
  }
  if (size != needed) {
    return xp_fail(err, XP_ERR_USAGE, "The array takes %zu bytes on the host, and %zu were given", needed, size);
  }
  return XP_OK;
}

/* ---------------------------------------------------------------- making buffers */

xp_status xp_pjrt_buffer_take(const xp_pjrt_plugin *plugin, xp_abi_buffer *handle, xp_pjrt_buffer **buffer,
                              xp_error *err)
{
  xp_pjrt_buffer *taken = malloc(sizeof *taken);
  if (taken == NULL) {
    xp_pjrt_release(plugin, plugin->api.buffer_destroy, handle);
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out for a buffer of the plugin %s", plugin->name);
  }
  *taken = (xp_pjrt_buffer){plugin, handle};
  *buffer = taken;
  return XP_OK;
}

/* Takes the two answers of an upload.  Without `released` the plugin has read the bytes, and its event is of no use. */
static xp_status take_upload(const xp_pjrt_plugin *plugin, const xp_abi_from_host_args *args, xp_pjrt_buffer **buffer,
                             xp_pjrt_event **released, xp_error *err)
{
  if (args->buffer == NULL || (released != NULL && args->done_with_host_buffer == NULL)) {
    xp_pjrt_release(plugin, plugin->api.event_destroy, args->done_with_host_buffer);
    xp_pjrt_release(plugin, plugin->api.buffer_destroy, args->buffer);
    return xp_pjrt_gave_nothing(plugin, "PJRT_Client_BufferFromHostBuffer", err);
  }
  xp_pjrt_event *event = NULL;
  if (released == NULL) {
    xp_pjrt_release(plugin, plugin->api.event_destroy, args->done_with_host_buffer);
  } else if (xp_pjrt_event_take(plugin, args->done_with_host_buffer, &event, err) != XP_OK) {
    xp_pjrt_release(plugin, plugin->api.buffer_destroy, args->buffer);
    return XP_ERR_MEMORY;
  }
  xp_status status = xp_pjrt_buffer_take(plugin, args->buffer, buffer, err);
  if (status != XP_OK) {
    xp_pjrt_event_destroy(event);
  } else if (released != NULL) {
    *released = event;
  }
  return status;
}

xp_status xp_pjrt_upload(xp_pjrt_client *client, const xp_pjrt_device *device, xp_pjrt_shape shape, const void *bytes,
                         size_t size, xp_pjrt_buffer **buffer, xp_pjrt_event **released, xp_error *err)
{
  const xp_pjrt_plugin *plugin = client->plugin;
  if (plugin->api.client_buffer_from_host_buffer == NULL) {
    return xp_pjrt_lacks(plugin, "PJRT_Client_BufferFromHostBuffer", err);
  }
  xp_status status = check_size(plugin, shape, size, err);
  if (status != XP_OK) {
    return status;
  }
  xp_abi_from_host_args args = {
      .struct_size = sizeof args,
      .client = client->handle,
      .data = bytes == NULL ? "" : bytes, /* plugins refuse NULL, of an empty array, too */
      .type = (int32_t)shape.type,
      .dimensions = shape.dimensions,
      .num_dimensions = shape.rank,
      .semantics = released == NULL ? XP_ABI_HOST_DURING_CALL : XP_ABI_HOST_UNTIL_DONE,
      .device = (device == NULL ? client->devices : device)->handle,
  };
  status = xp_pjrt_answer(plugin, plugin->api.client_buffer_from_host_buffer(&args), "PJRT_Client_BufferFromHostBuffer",
                          err);
  return status == XP_OK ? take_upload(plugin, &args, buffer, released, err) : status;
}

xp_status xp_pjrt_copy(const xp_pjrt_buffer *buffer, const xp_pjrt_device *device, xp_pjrt_buffer **copy, xp_error *err)
{
  const xp_pjrt_plugin *plugin = buffer->plugin;
  if (plugin->api.buffer_copy_to_device == NULL) {
    return xp_pjrt_lacks(plugin, "PJRT_Buffer_CopyToDevice", err);
  }
  xp_abi_copy_args args = {.struct_size = sizeof args, .buffer = buffer->handle, .target = device->handle};
  xp_status status = xp_pjrt_answer(plugin, plugin->api.buffer_copy_to_device(&args), "PJRT_Buffer_CopyToDevice", err);
  if (status == XP_OK && args.copy == NULL) {
    return xp_pjrt_gave_nothing(plugin, "PJRT_Buffer_CopyToDevice", err);
  }
  return status == XP_OK ? xp_pjrt_buffer_take(plugin, args.copy, copy, err) : status;
}

/* ---------------------------------------------------------------- to the host */

static xp_status begin_download(const xp_pjrt_buffer *buffer, size_t rank, void *target, size_t size,
                                xp_abi_event **event, xp_error *err)
{
  int64_t minor_to_major[MOST_DIMENSIONS];
  for (size_t i = 0; i < rank; i++) {
    minor_to_major[i] = (int64_t)(rank - 1 - i);
  }
  xp_abi_layout rows = {.struct_size = XP_ABI_LAYOUT_SIZE, .type = XP_ABI_LAYOUT_TILED};
  rows.of.tiled = (xp_abi_layout_tiled){
      .struct_size = sizeof rows.of.tiled, .minor_to_major = minor_to_major, .minor_to_major_size = rank};
  xp_abi_to_host_args args = {.struct_size = sizeof args,
                              .buffer = buffer->handle,
                              .host_layout = &rows,
                              .target = target,
                              .target_size = size};
  const xp_pjrt_plugin *plugin = buffer->plugin;
  xp_status status = xp_pjrt_answer(plugin, plugin->api.buffer_to_host_buffer(&args), "PJRT_Buffer_ToHostBuffer", err);
  if (status == XP_OK && args.event == NULL) {
    return xp_pjrt_gave_nothing(plugin, "PJRT_Buffer_ToHostBuffer", err);
  }
  *event = args.event;
  return status;
}

xp_status xp_pjrt_download(const xp_pjrt_buffer *buffer, void *target, size_t size, xp_pjrt_event **done, xp_error *err)
{
  const xp_pjrt_plugin *plugin = buffer->plugin;
  if (plugin->api.buffer_to_host_buffer == NULL) {
    return xp_pjrt_lacks(plugin, "PJRT_Buffer_ToHostBuffer", err);
  }
  xp_pjrt_shape shape;
  xp_status status = xp_pjrt_buffer_shape(buffer, &shape, err);
  if (status == XP_OK) {
    status = check_size(plugin, shape, size, err);
  }
  if (status != XP_OK) {
    return status;
  }
  if (shape.rank > MOST_DIMENSIONS) {
    return xp_fail(err, XP_ERR_LIMIT, "An array of %zu dimensions is beyond what can be downloaded (%d)", shape.rank,
                   MOST_DIMENSIONS);
  }
  char nothing; /* an empty array, too, needs an address: without one a plugin only tells the size */
  xp_abi_event *handle = NULL;
  status = begin_download(buffer, shape.rank, target == NULL ? &nothing : target, size, &handle, err);
  if (status == XP_OK && done != NULL) {
    return xp_pjrt_event_take(plugin, handle, done, err);
  }
  if (status == XP_OK) {
    const xp_pjrt_event event = {plugin, handle};
    status = xp_pjrt_event_wait(&event, err);
    xp_pjrt_release(plugin, plugin->api.event_destroy, handle);
  }
  return status;
}

/* ---------------------------------------------------------------- questions */

xp_status xp_pjrt_buffer_shape(const xp_pjrt_buffer *buffer, xp_pjrt_shape *shape, xp_error *err)
{
  const xp_abi_api *api = &buffer->plugin->api;
  int32_t type = 0;
  const void *dimensions = NULL;
  xp_status status = xp_pjrt_call_int32(buffer->plugin, api->buffer_element_type, "PJRT_Buffer_ElementType",
                                        buffer->handle, &type, err);
  if (status == XP_OK) {
    status = xp_pjrt_call_list(buffer->plugin, api->buffer_dimensions, "PJRT_Buffer_Dimensions", buffer->handle,
                               &dimensions, &shape->rank, err);
  }
  shape->type = (xp_abi_type)type;
  shape->dimensions = dimensions;
  return status;
}

xp_status xp_pjrt_buffer_device_bytes(const xp_pjrt_buffer *buffer, size_t *bytes, xp_error *err)
{
  uint64_t value = 0;
  xp_status status = xp_pjrt_call_uint64(buffer->plugin, buffer->plugin->api.buffer_on_device_size_in_bytes,
                                         "PJRT_Buffer_OnDeviceSizeInBytes", buffer->handle, &value, err);
  *bytes = (size_t)value;
  return status;
}

xp_status xp_pjrt_buffer_ready(const xp_pjrt_buffer *buffer, xp_pjrt_event **ready, xp_error *err)
{
  void *event = NULL;
  xp_status status = xp_pjrt_call_pointer(buffer->plugin, buffer->plugin->api.buffer_ready_event,
                                          "PJRT_Buffer_ReadyEvent", buffer->handle, &event, err);
  return status == XP_OK ? xp_pjrt_event_take(buffer->plugin, event, ready, err) : status;
}

xp_status xp_pjrt_buffer_address(const xp_pjrt_buffer *buffer, uintptr_t *address, xp_error *err)
{
  uint64_t value = 0;
  xp_status status = xp_pjrt_call_uint64(buffer->plugin, buffer->plugin->api.buffer_unsafe_pointer,
                                         "PJRT_Buffer_UnsafePointer", buffer->handle, &value, err);
  *address = (uintptr_t)value;
  return status;
}

xp_status xp_pjrt_buffer_hold(const xp_pjrt_buffer *buffer, xp_error *err)
{
  return xp_pjrt_call_object(buffer->plugin, buffer->plugin->api.buffer_increase_external_reference_count,
                             "PJRT_Buffer_IncreaseExternalReferenceCount", buffer->handle, err);
}

xp_status xp_pjrt_buffer_let_go(const xp_pjrt_buffer *buffer, xp_error *err)
{
  return xp_pjrt_call_object(buffer->plugin, buffer->plugin->api.buffer_decrease_external_reference_count,
                             "PJRT_Buffer_DecreaseExternalReferenceCount", buffer->handle, err);
}

xp_status xp_pjrt_buffer_delete(const xp_pjrt_buffer *buffer, xp_error *err)
{
  return xp_pjrt_call_object(buffer->plugin, buffer->plugin->api.buffer_delete, "PJRT_Buffer_Delete", buffer->handle,
                             err);
}

xp_status xp_pjrt_buffer_is_deleted(const xp_pjrt_buffer *buffer, bool *is_deleted, xp_error *err)
{
  return xp_pjrt_call_bool(buffer->plugin, buffer->plugin->api.buffer_is_deleted, "PJRT_Buffer_IsDeleted",
                           buffer->handle, is_deleted, err);
}

void xp_pjrt_buffer_destroy(xp_pjrt_buffer *buffer)
{
  if (buffer != NULL) {
    xp_pjrt_release(buffer->plugin, buffer->plugin->api.buffer_destroy, buffer->handle);
    free(buffer);
  }
}
