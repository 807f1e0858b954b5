/* The profiler that the host's session creates, starts, stops, asks once for its data, and destroys.
 *
 * Hosts leave struct_size of most of these arguments unset, so nobody looks at it here.  They ask for the data with no
 * buffer of their own, and read what the plugin puts there; a host that brings a buffer gets a copy.
 */
#include "device/profiler.h"

#include <stdlib.h>
#include <string.h>

#include "device/fault.h"
#include "device/trace_plane.h"
#include "pjrt/profile_options.h"

/* An advanced option: the room for events, a number. */
#define EVENT_LIMIT_OPTION "xlaprof_device_max_events"

struct xp_abi_profiler {
  bool records, is_started, with_programs, is_written;
  size_t event_limit;
  xp_dev_trace *trace;
  xp_wire_writer space;
};

/* Errors of the profiler are those of the plugin under another name. */
static xp_abi_profiler_error *own(xp_abi_error *error)
{
  return (xp_abi_profiler_error *)(void *)error;
}

static const xp_abi_error *plain(const xp_abi_profiler_error *error)
{
  return (const xp_abi_error *)(const void *)error;
}

static void error_destroy(xp_abi_profiler_error_destroy_args *args)
{
  xp_dev_error_free((xp_abi_error *)(void *)args->error);
}

static void error_message(xp_abi_profiler_error_message_args *args)
{
  args->message = xp_dev_error_text(plain(args->error));
  args->message_size = strlen(args->message);
}

static xp_abi_profiler_error *error_get_code(xp_abi_profiler_error_code_args *args)
{
  args->code = (int32_t)xp_dev_error_code(plain(args->error));
  return NULL;
}

/* ---------------------------------------------------------------- the life of a profiler */

static xp_status read_options(xp_str message, xp_abi_profiler *profiler, xp_error *err)
{
  xp_arena *arena = xp_arena_create();
  if (arena == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for the options of the profiler.");
  }
  xp_profile_options sent = {0};
  xp_status status = xp_profile_options_read(message, arena, &sent, err);
  if (status == XP_OK) {
    xp_profile_options options = xp_profile_options_of_session(&sent);
    const xp_advanced_option *limit = xp_profile_options_advanced(&options, EVENT_LIMIT_OPTION);
    profiler->records = options.device_tracer_level > 0;
    profiler->with_programs = options.enable_hlo_proto;
    profiler->event_limit = XP_DEV_TRACE_EVENTS;
    if (limit != NULL && limit->type == XP_ADVANCED_INT && limit->number > 0 && limit->number < UINT32_MAX) {
      profiler->event_limit = (size_t)limit->number;
    }
  }
  xp_arena_destroy(arena);
  return status;
}

static xp_abi_profiler_error *create(xp_abi_profiler_create_args *args)
{
  xp_abi_profiler *profiler = calloc(1, sizeof *profiler);
  if (profiler == NULL) {
    return own(xp_dev_fail_memory());
  }
  xp_error err;
  if (read_options(xp_str_from(args->options, args->options_size), profiler, &err) != XP_OK) {
    free(profiler);
    return own(xp_dev_fail_as(&err));
  }
  args->profiler = profiler;
  return NULL;
}

static xp_abi_profiler_error *start(xp_abi_profiler_args *args)
{
  xp_abi_profiler *profiler = args->profiler;
  xp_error err;
  if (profiler->records && !profiler->is_started && xp_dev_tracer_start(profiler->event_limit, &err) != XP_OK) {
    return own(xp_dev_fail_as(&err));
  }
  profiler->is_started = true;
  return NULL;
}

static xp_abi_profiler_error *stop(xp_abi_profiler_args *args)
{
  xp_abi_profiler *profiler = args->profiler;
  if (profiler->is_started && profiler->records) {
    xp_dev_trace_free(profiler->trace);
    profiler->trace = xp_dev_tracer_stop();
  }
  profiler->is_started = false;
  return NULL;
}

static xp_abi_profiler_error *destroy(xp_abi_profiler_args *args)
{
  xp_abi_profiler *profiler = args->profiler;
  if (profiler != NULL) {
    stop(args);
    xp_dev_trace_free(profiler->trace);
    xp_wire_writer_free(&profiler->space);
    free(profiler);
  }
  return NULL;
}

/* ---------------------------------------------------------------- the data */

static xp_abi_profiler_error *write_space(xp_abi_profiler *profiler)
{
  if (!profiler->is_written && profiler->trace != NULL &&
      !xp_dev_trace_write(profiler->trace, profiler->with_programs, &profiler->space)) {
    xp_wire_writer_free(&profiler->space);
    return own(xp_dev_fail_memory());
  }
  profiler->is_written = true;
  return NULL;
}

static xp_abi_profiler_error *collect_data(xp_abi_profiler_collect_args *args)
{
  static uint8_t nothing[1];
  xp_abi_profiler *profiler = args->profiler;
  if (profiler->is_started) {
    return own(xp_dev_fail(XP_ABI_FAILED_PRECONDITION, "The device is still being traced; stop the profiler first."));
  }
  xp_abi_profiler_error *error = write_space(profiler);
  if (error != NULL) {
    return error;
  }
  uint8_t *data = profiler->space.len > 0 ? profiler->space.data : nothing;
  if (args->buffer == NULL) {
    args->buffer = data;
  } else if (args->buffer != data) {
    if (args->buffer_size < profiler->space.len) {
      return own(xp_dev_fail(XP_ABI_INVALID_ARGUMENT, "There is room for %zu bytes, the capture has %zu.",
                             args->buffer_size, profiler->space.len));
    }
    memcpy(args->buffer, data, profiler->space.len);
  }
  args->buffer_size = profiler->space.len;
  return NULL;
}

static const xp_abi_profiler_api functions = {
    .struct_size = sizeof(xp_abi_profiler_api), /* 80: released hosts accept no other */
    .error_destroy = error_destroy,
    .error_message = error_message,
    .error_get_code = error_get_code,
    .create = create,
    .destroy = destroy,
    .start = start,
    .stop = stop,
    .collect_data = collect_data,
};

xp_abi_profiler_extension xp_dev_profiler_extension = {
    .base = {.struct_size = sizeof(xp_abi_profiler_extension), .type = XP_ABI_EXTENSION_PROFILER},
    .profiler_api = &functions,
    .traceme_context_id = -1,
};
