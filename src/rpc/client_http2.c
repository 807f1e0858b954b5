/* One call in HTTP/2: its headers, its message, and what the server's frames say about its end.
 *
 * The first end counts: a sink that gives up, a limit, the trailers, a reset.  Large windows let the server send
 * without waiting; nghttp2 gives a window back when the callback, and so the sink, has taken the bytes.
 */
#include "rpc/client.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "rpc/headers.h"
#include "rpc/monotonic.h"

enum {
  WINDOW = 16 << 20,
  MAX_FRAME = 256 * 1024, /* that the server may send */
  MAX_HEADERS = 64 * 1024
};

void xp_grpc_exchange_end(xp_grpc_exchange *exchange, xp_grpc_end end, const char *format, ...)
{
  if (exchange->is_done) {
    return;
  }
  exchange->is_done = true;
  exchange->answer->end = end;
  va_list args;
  va_start(args, format);
  vsnprintf(exchange->answer->message, sizeof exchange->answer->message, format, args);
  va_end(args);
}

/* ---------------------------------------------------------------- sending */

static ssize_t read_request(nghttp2_session *session, int32_t id, uint8_t *buffer, size_t room, uint32_t *flags,
                            nghttp2_data_source *source, void *context)
{
  (void)session, (void)id, (void)context;
  xp_grpc_exchange *exchange = source->ptr;
  xp_str request = exchange->request->request;
  size_t n = 0;
  while (n < room && exchange->request_sent < sizeof exchange->prefix) {
    buffer[n++] = exchange->prefix[exchange->request_sent++];
  }
  size_t from = exchange->request_sent - sizeof exchange->prefix;
  if (n < room && from < request.len) {
    xp_str part = xp_str_take(xp_str_skip(request, from), room - n);
    memcpy(buffer + n, part.ptr, part.len);
    n += part.len;
    exchange->request_sent += part.len;
  }
  if (exchange->request_sent == sizeof exchange->prefix + request.len) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
  }
  return (ssize_t)n;
}

static nghttp2_nv header(const char *name, const char *value)
{
  return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};
}

static bool submit_call(xp_grpc_exchange *exchange)
{
  char timeout[XP_GRPC_TIMEOUT_ROOM];
  nghttp2_nv nva[9] = {header(":method", "POST"),
                       header(":scheme", "http"),
                       header(":path", exchange->request->path),
                       header(":authority", exchange->target),
                       header("te", "trailers"),
                       header("content-type", "application/grpc"),
                       header("user-agent", "grpc-c-xlaprof/1"),
                       header("grpc-accept-encoding", "identity")};
  size_t n = 8;
  if (exchange->deadline_ns != INT64_MAX) {
    xp_grpc_timeout_format(exchange->deadline_ns - xp_monotonic_ns(), timeout);
    nva[n++] = header("grpc-timeout", timeout);
  }
  nghttp2_data_provider provider = {.source.ptr = exchange, .read_callback = read_request};
  exchange->stream_id = nghttp2_submit_request(exchange->session, NULL, nva, n, &provider, NULL);
  return exchange->stream_id > 0;
}

/* ---------------------------------------------------------------- the server's headers */

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
                     const uint8_t *value, size_t value_len, uint8_t flags, void *context)
{
  (void)session, (void)flags;
  xp_grpc_exchange *exchange = context;
  if (frame->hd.type != NGHTTP2_HEADERS || frame->hd.stream_id != exchange->stream_id || exchange->is_done) {
    return 0;
  }
  xp_str key = xp_str_from((const char *)name, name_len), text = xp_str_from((const char *)value, value_len);
  if (xp_str_is(key, ":status")) {
    (void)xp_grpc_number_parse(text, &exchange->http_status); /* nghttp2 lets three digits pass only */
  } else if (xp_str_is(key, "content-type")) {
    exchange->is_grpc_content = xp_grpc_content_type_is_grpc(text);
    snprintf(exchange->content_type, sizeof exchange->content_type, "%.*s", XP_STR_ARG(text));
  } else if (xp_str_is(key, "grpc-status")) {
    exchange->has_status = true;
    if (!xp_grpc_number_parse(text, &exchange->code)) {
      exchange->code = XP_GRPC_UNKNOWN;
    }
  } else if (xp_str_is(key, "grpc-message")) {
    /* Kept in the answer, which an end of another kind overwrites. */
    xp_grpc_message_decode(text, exchange->answer->message, sizeof exchange->answer->message);
  }
  return 0;
}

static void judge_headers(xp_grpc_exchange *exchange)
{
  bool is_interim = exchange->http_status / 100 == 1;
  if (is_interim || exchange->has_status || (exchange->http_status == 200 && exchange->is_grpc_content)) {
    return;
  }
  xp_grpc_exchange_end(
      exchange, XP_GRPC_END_NOT_GRPC,
      "%s speaks HTTP/2 but not gRPC: it answered with HTTP status %d and content type \"%s\". Is this "
      "the profiler's port?",
      exchange->target, exchange->http_status, exchange->content_type);
}

/* ---------------------------------------------------------------- the reply */

static void begin_message(xp_grpc_exchange *exchange)
{
  const xp_grpc_reader *reader = &exchange->reader;
  if (xp_grpc_reader_is_compressed(reader)) {
    xp_grpc_exchange_end(exchange, XP_GRPC_END_NOT_GRPC, "%s sent a compressed message, which nobody had asked for.",
                         exchange->target);
  } else if (reader->finished > 0) {
    xp_grpc_exchange_end(exchange, XP_GRPC_END_NOT_GRPC, "%s sent more than one message as the answer to one call.",
                         exchange->target);
  } else if (reader->size > exchange->request->max_reply_bytes) {
    xp_grpc_exchange_end(exchange, XP_GRPC_END_LIMIT,
                         "The reply of %s has %" PRIu32 " bytes; at most %" PRIu64 " are taken.", exchange->target,
                         reader->size, exchange->request->max_reply_bytes);
  }
}

static void take_part(xp_grpc_exchange *exchange, xp_str part)
{
  const xp_grpc_request *request = exchange->request;
  exchange->answer->reply_bytes += part.len;
  if (request->sink != NULL && !request->sink(request->context, exchange->reader.size, part)) {
    xp_grpc_exchange_end(exchange, XP_GRPC_END_SINK, "The reply of %s could not be taken further.", exchange->target);
  }
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t len, void *context)
{
  (void)session, (void)flags;
  xp_grpc_exchange *exchange = context;
  xp_str bytes = xp_str_from((const char *)data, len), part;
  while (id == exchange->stream_id && !exchange->is_done) {
    xp_grpc_event event = xp_grpc_reader_next(&exchange->reader, &bytes, &part);
    if (event == XP_GRPC_MORE) {
      break;
    }
    if (event == XP_GRPC_HEAD) {
      begin_message(exchange);
    } else if (event == XP_GRPC_PART) {
      take_part(exchange, part);
    }
  }
  return 0;
}

/* ---------------------------------------------------------------- the end */

static void end_with_status(xp_grpc_exchange *exchange)
{
  const xp_grpc_reader *reader = &exchange->reader;
  if (exchange->code == XP_GRPC_DEADLINE_EXCEEDED && xp_monotonic_ns() >= exchange->deadline_ns) {
    xp_grpc_exchange_end(exchange, XP_GRPC_END_TIMEOUT, "%s did not answer in time.", exchange->target);
  } else if (exchange->code != XP_GRPC_OK) {
    exchange->is_done = true; /* the message is there */
    exchange->answer->end = XP_GRPC_END_STATUS;
    exchange->answer->code = exchange->code;
  } else if (!xp_grpc_reader_is_between(reader)) {
    xp_grpc_exchange_end(exchange, XP_GRPC_END_LOST, "The reply of %s ends inside of its message.", exchange->target);
  } else if (reader->finished == 0) {
    xp_grpc_exchange_end(exchange, XP_GRPC_END_NOT_GRPC, "%s answered OK, but without a message.", exchange->target);
  } else {
    exchange->answer->code = XP_GRPC_OK;
    xp_grpc_exchange_end(exchange, XP_GRPC_END_STATUS, "%s", "");
  }
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t error_code, void *context)
{
  (void)session;
  xp_grpc_exchange *exchange = context;
  if (id != exchange->stream_id || exchange->is_done) {
    return 0;
  }
  if (exchange->has_status) {
    end_with_status(exchange);
  } else if (error_code != NGHTTP2_NO_ERROR) {
    xp_grpc_exchange_end(exchange, XP_GRPC_END_LOST, "%s broke the call off (%s)%s.", exchange->target,
                         nghttp2_http2_strerror(error_code), exchange->farewell);
  } else {
    xp_grpc_exchange_end(exchange, XP_GRPC_END_NOT_GRPC, "%s ended its answer without a status of gRPC.",
                         exchange->target);
  }
  return 0;
}

static void note_goaway(xp_grpc_exchange *exchange, const nghttp2_goaway *goaway)
{
  int len = goaway->opaque_data_len < 80 ? (int)goaway->opaque_data_len : 80;
  snprintf(exchange->farewell, sizeof exchange->farewell, "; it takes no more calls (%s%s%.*s)",
           nghttp2_http2_strerror(goaway->error_code), len > 0 ? ", " : "", len,
           len > 0 ? (const char *)goaway->opaque_data : "");
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
  (void)session;
  xp_grpc_exchange *exchange = context;
  if (frame->hd.type == NGHTTP2_SETTINGS) {
    exchange->is_greeted = true;
  } else if (frame->hd.type == NGHTTP2_GOAWAY) {
    note_goaway(exchange, &frame->goaway);
  } else if (frame->hd.type == NGHTTP2_HEADERS && frame->hd.stream_id == exchange->stream_id) {
    judge_headers(exchange);
  }
  return 0;
}

/* ---------------------------------------------------------------- the session */

static bool create_session(xp_grpc_exchange *exchange)
{
  nghttp2_session_callbacks *callbacks;
  if (nghttp2_session_callbacks_new(&callbacks) != 0) {
    return false;
  }
  nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
  int rc = nghttp2_session_client_new(&exchange->session, callbacks, exchange);
  nghttp2_session_callbacks_del(callbacks);
  if (rc != 0) {
    exchange->session = NULL;
  }
  return rc == 0;
}

bool xp_grpc_exchange_begin(xp_grpc_exchange *exchange)
{
  static const nghttp2_settings_entry SETTINGS[] = {
      {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, MAX_FRAME},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, MAX_HEADERS},
  };
  xp_grpc_prefix_write((uint32_t)exchange->request->request.len, exchange->prefix);
  if (create_session(exchange) &&
      nghttp2_submit_settings(exchange->session, NGHTTP2_FLAG_NONE, SETTINGS, sizeof SETTINGS / sizeof SETTINGS[0]) ==
          0 &&
      nghttp2_session_set_local_window_size(exchange->session, NGHTTP2_FLAG_NONE, 0, WINDOW) == 0 &&
      submit_call(exchange)) {
    return true;
  }
  xp_grpc_exchange_end(exchange, XP_GRPC_END_MEMORY, "There is no memory for a call to %s.", exchange->target);
  return false;
}
