/* Reading and writing the small messages of tensorflow.ProfilerService.
 *
 * Each message is a loop over its fields, and a field counts only if it has the wire type of its declaration; so an odd
 * message gives the values that protobuf would find in it, or an error, and never more work than it has bytes.
 */
#include "rpc/messages.h"

enum {
  REQUEST_DURATION_MS = 1,
  REQUEST_MAX_EVENTS = 2,
  REQUEST_OPTIONS = 4,
  REQUEST_REPOSITORY_ROOT = 5,
  REQUEST_SESSION_ID = 6,
  REQUEST_HOST_NAME = 7,
  REQUEST_EMIT_XSPACE = 9
};
enum { TERMINATE_SESSION_ID = 1 };
enum { MONITOR_DURATION_MS = 1, MONITOR_LEVEL = 2, MONITOR_TIMESTAMP = 3 };
enum { RESPONSE_DATA = 1 };

/* A message of which one string counts. */
static xp_status read_text(xp_str message, uint32_t field, xp_str *text, const char *name, xp_error *err)
{
  *text = xp_str_from(NULL, 0);
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.number == field && f.type == XP_WIRE_BYTES) {
      *text = f.bytes;
    }
  }
  return xp_wire_finish(&r, name, err);
}

/* ---------------------------------------------------------------- ProfileRequest */

static void read_request_number(const xp_wire_field *f, xp_profile_request *request)
{
  switch (f->number) {
  case REQUEST_DURATION_MS:
    request->duration_ms = f->value;
    break;
  case REQUEST_MAX_EVENTS:
    request->max_events = f->value;
    break;
  case REQUEST_EMIT_XSPACE:
    request->emit_xspace = f->value != 0;
    break;
  default:
    break;
  }
}

static xp_status read_request_bytes(const xp_wire_field *f, xp_arena *arena, xp_profile_request *request, xp_error *err)
{
  switch (f->number) {
  case REQUEST_OPTIONS:
    request->has_options = true;
    return xp_profile_options_read(f->bytes, arena, &request->options, err);
  case REQUEST_REPOSITORY_ROOT:
    request->repository_root = f->bytes;
    return XP_OK;
  case REQUEST_SESSION_ID:
    request->session_id = f->bytes;
    return XP_OK;
  case REQUEST_HOST_NAME:
    request->host_name = f->bytes;
    return XP_OK;
  default:
    return XP_OK;
  }
}

xp_status xp_profile_request_read(xp_str message, xp_arena *arena, xp_profile_request *request, xp_error *err)
{
  memset(request, 0, sizeof *request);
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.type == XP_WIRE_VARINT) {
      read_request_number(&f, request);
    } else if (f.type == XP_WIRE_BYTES) {
      xp_status status = read_request_bytes(&f, arena, request, err);
      if (status != XP_OK) {
        return status;
      }
    }
  }
  return xp_wire_finish(&r, "The message ProfileRequest", err);
}

void xp_profile_request_put(xp_wire_writer *w, const xp_profile_request *request)
{
  xp_wire_put_number(w, REQUEST_DURATION_MS, request->duration_ms);
  xp_wire_put_number(w, REQUEST_MAX_EVENTS, request->max_events);
  if (request->has_options) {
    xp_wire_writer options = {0};
    xp_profile_options_put(&options, &request->options);
    xp_wire_put_message(w, REQUEST_OPTIONS, &options);
    xp_wire_writer_free(&options);
  }
  xp_wire_put_text(w, REQUEST_REPOSITORY_ROOT, request->repository_root);
  xp_wire_put_text(w, REQUEST_SESSION_ID, request->session_id);
  xp_wire_put_text(w, REQUEST_HOST_NAME, request->host_name);
  xp_wire_put_number(w, REQUEST_EMIT_XSPACE, request->emit_xspace);
}

/* ---------------------------------------------------------------- Terminate, Monitor, and messages without fields */

xp_status xp_terminate_request_read(xp_str message, xp_str *session_id, xp_error *err)
{
  return read_text(message, TERMINATE_SESSION_ID, session_id, "The message TerminateRequest", err);
}

void xp_terminate_request_put(xp_wire_writer *w, xp_str session_id)
{
  xp_wire_put_text(w, TERMINATE_SESSION_ID, session_id);
}

xp_status xp_monitor_request_read(xp_str message, xp_monitor_request *request, xp_error *err)
{
  memset(request, 0, sizeof *request);
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.type != XP_WIRE_VARINT) {
      continue;
    }
    if (f.number == MONITOR_DURATION_MS) {
      request->duration_ms = f.value;
    } else if (f.number == MONITOR_LEVEL) {
      request->level = (int32_t)(uint32_t)f.value;
    } else if (f.number == MONITOR_TIMESTAMP) {
      request->timestamp = f.value != 0;
    }
  }
  return xp_wire_finish(&r, "The message MonitorRequest", err);
}

void xp_monitor_request_put(xp_wire_writer *w, const xp_monitor_request *request)
{
  xp_wire_put_number(w, MONITOR_DURATION_MS, request->duration_ms);
  xp_wire_put_number(w, MONITOR_LEVEL, (uint64_t)(int64_t)request->level);
  xp_wire_put_number(w, MONITOR_TIMESTAMP, request->timestamp);
}

xp_status xp_monitor_response_read(xp_str message, xp_str *data, xp_error *err)
{
  return read_text(message, RESPONSE_DATA, data, "The message MonitorResponse", err);
}

void xp_monitor_response_put(xp_wire_writer *w, xp_str data)
{
  xp_wire_put_text(w, RESPONSE_DATA, data);
}

xp_status xp_empty_message_read(xp_str message, const char *name, xp_error *err)
{
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
  }
  return xp_wire_finish(&r, name, err);
}
