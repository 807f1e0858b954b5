/* Copies.
 *
 * An upload is done when the call returns: its bytes are in the host's memory either way, so there is nothing to gain
 * by holding on to the caller's.  A copy from a buffer whose bytes are there is made at once, too, by the thread that
 * asks, beside whatever the device runs; else it is made the moment the execution that produces them ends.
 */
#include "device/transfer.h"

#include <stdlib.h>
#include <string.h>

/* A copy from a buffer that may have to wait. */
typedef struct {
  xp_dev_content *source; /* being read */
  xp_dev_shape shape;
  size_t offset;       /* into the source */
  void *target;        /* the host's memory, or that of `block` */
  xp_dev_block *block; /* of another buffer; NULL for the host */
  xp_dev_strides strides;
  xp_abi_event *done;
} copy_job;

static void copy_now(xp_abi_error *error, void *context)
{
  copy_job *job = context;
  if (error == NULL) {
    xp_dev_strides dense = xp_dev_strides_dense(&job->shape);
    const char *bytes = xp_dev_block_data(xp_dev_content_block(job->source));
    xp_dev_copy(&job->shape, job->target, &job->strides, bytes + job->offset, &dense);
  }
  xp_dev_content_read_end(job->source);
  xp_dev_content_unref(job->source); /* before the event: who hears of the end finds the memory given back */
  xp_dev_block_unref(job->block);
  xp_dev_event_set(job->done, error);
  xp_dev_event_unref(job->done);
  free(job);
}

/* Starts the copy of a job that has everything but its source; *done gets an event for the caller. */
static xp_abi_error *start(const copy_job *wanted, xp_abi_buffer *source, xp_abi_event **done)
{
  copy_job *job = malloc(sizeof *job);
  xp_abi_event *event = xp_dev_event_create();
  xp_abi_error *error = job == NULL || event == NULL ? xp_dev_fail_memory() : NULL;
  if (error == NULL) {
    *job = *wanted;
    job->done = event;
    error = xp_dev_buffer_use(source, true, &job->source);
  }
  if (error != NULL) {
    free(job);
    xp_dev_event_unref(event);
    return error;
  }
  if (job->block != NULL) {
    xp_dev_block_ref(job->block);
  }
  *done = xp_dev_event_ref(event);
  if (!xp_dev_event_then(xp_dev_content_ready(job->source), copy_now, job)) {
    copy_now(xp_dev_fail_memory(), job);
  }
  return NULL;
}

/* ---------------------------------------------------------------- from the host */

/* Takes over the block and the event, which may be NULL: memory was out. */
static xp_abi_error *make_buffer(xp_abi_device *device, const xp_dev_shape *shape, xp_dev_block *block,
                                 xp_abi_event *ready, xp_abi_buffer **buffer)
{
  if (ready == NULL) {
    xp_dev_block_unref(block);
    return xp_dev_fail_memory();
  }
  *buffer = xp_dev_buffer_create(device, shape, block, ready);
  return *buffer == NULL ? xp_dev_fail_memory() : NULL;
}

static xp_abi_error *check_upload(const xp_abi_from_host_args *args, xp_dev_shape *shape, xp_dev_strides *strides)
{
  static const char function[] = "PJRT_Client_BufferFromHostBuffer";
  xp_dev_strides on_device;
  xp_abi_error *error = xp_dev_shape_make(function, args->type, args->dimensions, args->num_dimensions, shape);
  if (error == NULL) {
    error = xp_dev_strides_of_bytes(function, shape, args->byte_strides, args->num_byte_strides, strides);
  }
  if (error == NULL) {
    error = xp_dev_strides_of_layout(function, shape, args->layout, &on_device);
  }
  if (error == NULL && !xp_dev_strides_are_dense(shape, &on_device)) {
    error = xp_dev_fail(XP_ABI_UNIMPLEMENTED,
                        "%s: on this device the last dimension runs fastest; ask for no other layout.", function);
  }
  if (error == NULL && args->data == NULL && shape->bytes > 0) {
    error = xp_dev_fail(XP_ABI_INVALID_ARGUMENT, "%s: there is no data.", function);
  }
  return error;
}

xp_abi_error *xp_dev_from_host(xp_abi_from_host_args *args)
{
  xp_dev_shape shape;
  xp_dev_strides strides;
  xp_dev_block *block = NULL;
  char room[XP_DEV_SHAPE_TEXT];
  xp_abi_device *device = xp_dev_client_device(args->client, args->device, args->memory);
  xp_abi_error *error = check_upload(args, &shape, &strides);
  if (error == NULL) {
    error = xp_dev_block_create(device, shape.bytes, xp_dev_shape_text(&shape, room), &block);
  }
  if (error != NULL) {
    return error;
  }
  xp_dev_strides dense = xp_dev_strides_dense(&shape);
  xp_dev_copy(&shape, xp_dev_block_data(block), &dense, args->data, &strides);
  xp_abi_event *done = xp_dev_event_create_ready();
  error = make_buffer(device, &shape, block, xp_dev_event_ref(done), &args->buffer);
  if (error != NULL) {
    xp_dev_event_unref(done);
    return error;
  }
  args->done_with_host_buffer = done;
  return NULL;
}

/* ---------------------------------------------------------------- to the host */

xp_abi_error *xp_dev_to_host(xp_abi_to_host_args *args)
{
  const xp_dev_shape *shape = &args->buffer->shape;
  copy_job job = {.shape = *shape, .target = args->target};
  xp_abi_error *error = xp_dev_strides_of_layout("PJRT_Buffer_ToHostBuffer", shape, args->host_layout, &job.strides);
  if (error != NULL) {
    return error;
  }
  if (args->target == NULL) {
    args->target_size = shape->bytes;
    return NULL;
  }
  if (args->target_size < shape->bytes) {
    return xp_dev_fail(XP_ABI_INVALID_ARGUMENT,
                       "PJRT_Buffer_ToHostBuffer: there is room for %zu bytes, the array has %zu.", args->target_size,
                       shape->bytes);
  }
  return start(&job, args->buffer, &args->event);
}

xp_abi_error *xp_dev_copy_raw_to_host(xp_abi_copy_raw_args *args)
{
  int64_t size = (int64_t)args->buffer->shape.bytes;
  if (args->offset < 0 || args->transfer_size < 0 || args->offset > size || args->transfer_size > size - args->offset) {
    return xp_dev_fail(XP_ABI_INVALID_ARGUMENT, "PJRT_Buffer_CopyRawToHost: %lld bytes from %lld on are not in %lld.",
                       (long long)args->transfer_size, (long long)args->offset, (long long)size);
  }
  copy_job job = {.target = args->target, .offset = (size_t)args->offset};
  xp_abi_error *error = xp_dev_shape_make("PJRT_Buffer_CopyRawToHost", XP_ABI_U8, &args->transfer_size, 1, &job.shape);
  if (error != NULL) {
    return error;
  }
  job.strides = xp_dev_strides_dense(&job.shape);
  return start(&job, args->buffer, &args->event);
}

/* ---------------------------------------------------------------- between devices */

static xp_abi_error *copy_to(xp_abi_buffer *source, xp_abi_device *device, xp_abi_buffer **copy)
{
  char room[XP_DEV_SHAPE_TEXT];
  copy_job job = {.shape = source->shape, .strides = xp_dev_strides_dense(&source->shape)};
  xp_abi_event *done = NULL;
  xp_abi_error *error =
      xp_dev_block_create(device, source->shape.bytes, xp_dev_shape_text(&source->shape, room), &job.block);
  if (error != NULL) {
    return error;
  }
  job.target = xp_dev_block_data(job.block);
  error = start(&job, source, &done);
  if (error != NULL) {
    xp_dev_block_unref(job.block);
    return error;
  }
  return make_buffer(device, &source->shape, job.block, done, copy);
}

xp_abi_error *xp_dev_copy_to_device(xp_abi_copy_args *args)
{
  return copy_to(args->buffer, args->target, &args->copy);
}

xp_abi_error *xp_dev_copy_to_memory(xp_abi_copy_args *args)
{
  return copy_to(args->buffer, ((const xp_abi_memory *)args->target)->device, &args->copy);
}
