/* Arrays on devices: uploads, and the numbers that programs take as arguments. */
#include "lazy/data.h"

#include <stdlib.h>

#include "base/clock.h"
#include "lazy/runtime.h"

xl_data *xl_data_create(xl_device *device, xp_pjrt_buffer *buffer)
{
  xl_data *data = calloc(1, sizeof *data);
  if (data == NULL) {
    xp_pjrt_buffer_destroy(buffer);
    return NULL;
  }
  data->refs = 1;
  data->device = device;
  data->buffer = buffer;
  return data;
}

void xl_data_drop(xl_data *data)
{
  if (data == NULL || --data->refs > 0) {
    return;
  }
  if (!data->device->is_lost) {
    xp_pjrt_buffer_destroy(data->buffer);
  }
  free(data);
}

void xl_data_leaf_gone(xl_data *data)
{
  data->leaf = NULL;
  xl_data_drop(data);
}

xl_node *xl_data_leaf(xl_data *data, xl_type type, const xl_shape *shape)
{
  if (data->leaf != NULL) {
    return xl_node_hold(data->leaf);
  }
  const xl_node_parts parts = {.op = XL_OP_DEVICE_DATA, .type = type, .shape = shape};
  xl_node *node = xl_node_create(&parts);
  if (node != NULL) {
    node->data = xl_data_hold(data);
    data->leaf = node;
  }
  return node;
}

xl_data *xl_data_upload(xl_device *device, xl_type type, const xl_shape *shape, const void *bytes, size_t size,
                        xp_error *err)
{
  const int64_t start_ns = xp_monotonic_ns();
  const xp_region region = xp_region_begin(XP_LEVEL_INFO, "PjRtComputationClient::TransferToDevice");
  const xp_pjrt_shape on_device = {xl_type_facts[type].abi, shape->rank, shape->dims};
  xp_pjrt_buffer *buffer;
  const xp_status status = xp_pjrt_upload(device->client, device->handle, on_device, bytes, size, &buffer, NULL, err);
  xp_region_end(region);
  if (status != XP_OK) {
    return NULL;
  }
  const double dur_ns = (double)(xp_monotonic_ns() - start_ns);
  xl_sample(XL_METRIC_TO_DEVICE, dur_ns);
  xl_sample(XL_METRIC_TENSOR_TO_DATA, dur_ns);
  xl_sample(XL_METRIC_OUTBOUND, (double)size);
  xl_count(XL_COUNT_CREATE_DATA_HANDLES, 1);
  xl_data *data = xl_data_create(device, buffer);
  if (data == NULL) {
    xp_fail(err, XP_ERR_MEMORY, "There is no memory for an array of the device.");
  }
  return data;
}

xl_node *xl_data_upload_leaf(xl_device *device, xl_type type, const xl_shape *shape, const void *bytes, size_t size,
                             xp_error *err)
{
  xl_data *data = xl_data_upload(device, type, shape, bytes, size, err);
  if (data == NULL) {
    return NULL;
  }
  xl_node *leaf = xl_data_leaf(data, type, shape);
  xl_data_drop(data);
  if (leaf == NULL) {
    xp_fail(err, XP_ERR_MEMORY, "There is no memory for the graph.");
  }
  return leaf;
}

/* ---------------------------------------------------------------- numbers */

static xl_node *constant(xl_type type, double value, xp_error *err)
{
  const xl_shape scalar = XL_SCALAR;
  const xl_node_parts parts = {.op = XL_OP_CONSTANT,
                               .type = type,
                               .shape = &scalar,
                               .attrs = &value,
                               .attr_bytes = sizeof value,
                               .scope = xl_rt.scope,
                               .place = xl_rt.place};
  xl_node *node = xl_node_create(&parts);
  if (node == NULL) {
    xp_fail(err, XP_ERR_MEMORY, "There is no memory for the graph.");
  }
  return node;
}

/* The place of a number among those that the device keeps: its own, or that which was not used for the longest time. */
static xl_kept_number *place_of(xl_device *device, xl_type type, uint64_t bits)
{
  xl_kept_number *oldest = &device->numbers[0];
  for (size_t i = 0; i < XL_NUMBERS_KEPT; i++) {
    xl_kept_number *number = &device->numbers[i];
    if (number->node != NULL && number->bits == bits && number->type == type) {
      return number;
    }
    oldest = number->used < oldest->used ? number : oldest;
  }
  return oldest;
}

xl_node *xl_number_node(xl_device *device, xl_type type, double value, xp_error *err)
{
  if (value == 0 || value == 1 || value == -1) {
    return constant(type, value, err);
  }
  uint64_t bits = 0;
  unsigned char bytes[8] = {0};
  const size_t size = xl_number_bytes(type, value, bytes);
  memcpy(&bits, bytes, sizeof bits);
  xl_kept_number *place = place_of(device, type, bits);
  if (place->node == NULL || place->bits != bits || place->type != type) {
    const xl_shape scalar = XL_SCALAR;
    xl_count(XL_COUNT_DEVICE_DATA_CACHE_MISS, 1);
    xl_node *node = xl_data_upload_leaf(device, type, &scalar, bytes, size, err);
    if (node == NULL) {
      return NULL;
    }
    xl_node_drop(place->node);
    *place = (xl_kept_number){node, bits, 0, (uint8_t)type};
  }
  place->used = ++device->number_clock;
  return xl_node_hold(place->node);
}
