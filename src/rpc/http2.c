/* The callbacks of nghttp2: frames of a connection become calls of its streams.
 *
 * HTTP/2 lets a peer cause work with frames that cost it nothing: PING, SETTINGS, RST_STREAM, empty DATA, headers that
 * unpack to a thousand times their size.  Such frames cost tokens.  A connection has a thousand, gets some back every
 * second, and earns more by the DATA that it takes from us, since WINDOW_UPDATE and the pings that measure the line
 * come with that.  Without tokens it ends with ENHANCE_YOUR_CALM.
 */
#include "rpc/monotonic.h"
#include "rpc/server.h"

enum {
  TOKENS_AT_REST = 1000, /* what time gives back to */
  TOKENS_A_SECOND = 100,
  MOST_TOKENS = 20000,       /* what DATA can earn */
  DATA_BYTES_A_TOKEN = 1024, /* some clients send WINDOW_UPDATE for every few KiB */
  CONTINUATION_TOKENS = 50,  /* honest headers fit into one frame */
  BOMB_HEADER_BYTES = 16 * XP_GRPC_MAX_HEADER_BYTES,
  STREAM_WINDOW = 256 * 1024,
  CONNECTION_WINDOW = 1024 * 1024
};

static int calm_down(xp_grpc_connection *connection)
{
  return nghttp2_session_terminate_session(connection->session, NGHTTP2_ENHANCE_YOUR_CALM) == 0
             ? 0
             : NGHTTP2_ERR_CALLBACK_FAILURE;
}

static int charge(xp_grpc_connection *connection, int price)
{
  int64_t now = xp_monotonic_ns();
  if (connection->tokens < TOKENS_AT_REST) {
    connection->tokens += (double)(now - connection->tokens_ns) / (double)XP_NS_IN_S * TOKENS_A_SECOND;
    connection->tokens = connection->tokens < TOKENS_AT_REST ? connection->tokens : TOKENS_AT_REST;
  }
  connection->tokens_ns = now;
  connection->tokens -= price;
  return connection->tokens >= 0 ? 0 : calm_down(connection);
}

static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *hd, void *context)
{
  (void)session;
  switch (hd->type) {
  case NGHTTP2_HEADERS:
    return 0;
  case NGHTTP2_DATA:
    return hd->length > 0 || (hd->flags & NGHTTP2_FLAG_END_STREAM) != 0 ? 0 : charge(context, 1);
  case NGHTTP2_CONTINUATION:
    return charge(context, CONTINUATION_TOKENS);
  default:
    return charge(context, 1);
  }
}

static bool is_request(const nghttp2_frame *frame)
{
  return frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST;
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
  if (!is_request(frame)) {
    return 0;
  }
  xp_grpc_stream *stream = xp_grpc_stream_create(context, frame->hd.stream_id);
  if (stream == NULL) {
    return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE; /* resets this stream */
  }
  nghttp2_session_set_stream_user_data(session, frame->hd.stream_id, stream);
  return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
                     const uint8_t *value, size_t value_len, uint8_t flags, void *context)
{
  (void)flags;
  xp_grpc_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
  if (stream == NULL || !is_request(frame)) {
    return 0; /* trailers of a request mean nothing to gRPC */
  }
  xp_grpc_stream_header(stream, xp_str_from((const char *)name, name_len), xp_str_from((const char *)value, value_len));
  return stream->header_bytes <= BOMB_HEADER_BYTES ? 0 : calm_down(context);
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t len, void *context)
{
  (void)flags, (void)context;
  xp_grpc_stream *stream = nghttp2_session_get_stream_user_data(session, id);
  if (stream != NULL) {
    xp_grpc_stream_data(stream, xp_str_from((const char *)data, len));
  }
  return 0;
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
  xp_grpc_connection *connection = context;
  if (frame->hd.type == NGHTTP2_SETTINGS && connection->state == XP_GRPC_GREETING) {
    connection->state = XP_GRPC_OPEN;
  }
  xp_grpc_stream *stream = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
  if (stream == NULL || (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)) {
    return 0;
  }
  if (is_request(frame)) {
    xp_grpc_stream_headers_end(stream);
  }
  if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
    xp_grpc_stream_request_end(stream);
  }
  return 0;
}

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *context)
{
  xp_grpc_connection *connection = context;
  if (frame->hd.type == NGHTTP2_DATA) {
    connection->tokens += (double)frame->hd.length / DATA_BYTES_A_TOKEN;
    connection->tokens = connection->tokens < MOST_TOKENS ? connection->tokens : MOST_TOKENS;
  }
  bool is_end = (frame->hd.type == NGHTTP2_DATA || frame->hd.type == NGHTTP2_HEADERS) &&
                (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
  if (is_end && nghttp2_session_get_stream_remote_close(session, frame->hd.stream_id) == 0) {
    /* The answer came before the end of the request; the client need not send the rest (RFC 9113, 8.1). */
    return nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
  }
  return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t error_code, void *context)
{
  (void)error_code, (void)context;
  xp_grpc_stream *stream = nghttp2_session_get_stream_user_data(session, id);
  if (stream != NULL) {
    nghttp2_session_set_stream_user_data(session, id, NULL);
    xp_grpc_stream_close(stream);
  }
  return 0;
}

/* How large a DATA frame may be: fewer and larger ones where the client takes them. */
static ssize_t frame_room(nghttp2_session *session, uint8_t type, int32_t id, int32_t connection_window,
                          int32_t stream_window, uint32_t max_frame, void *context)
{
  (void)session, (void)type, (void)id, (void)context;
  int64_t room = connection_window < stream_window ? connection_window : stream_window;
  room = room < max_frame ? room : max_frame;
  return (ssize_t)(room < XP_GRPC_MAX_FRAME_BYTES ? room : XP_GRPC_MAX_FRAME_BYTES);
}

bool xp_grpc_http2_setup(xp_grpc_server *server)
{
  nghttp2_session_callbacks *callbacks;
  if (nghttp2_session_callbacks_new(&callbacks) != 0) {
    return false;
  }
  server->callbacks = callbacks;
  nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
  nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, frame_room);
  if (nghttp2_option_new(&server->http2_options) != 0) {
    return false;
  }
  nghttp2_option_set_no_closed_streams(server->http2_options, 1); /* they are for priorities, which gRPC has not */
  return true;
}

bool xp_grpc_http2_open(xp_grpc_connection *connection)
{
  static const nghttp2_settings_entry SETTINGS[] = {
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, XP_GRPC_MAX_STREAMS},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, STREAM_WINDOW},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, XP_GRPC_MAX_HEADER_BYTES},
  };
  xp_grpc_server *server = connection->server;
  connection->tokens = TOKENS_AT_REST;
  connection->tokens_ns = xp_monotonic_ns();
  if (nghttp2_session_server_new2(&connection->session, server->callbacks, connection, server->http2_options) != 0) {
    connection->session = NULL;
    return false;
  }
  nghttp2_session *session = connection->session;
  return nghttp2_submit_settings(session, NGHTTP2_FLAG_NONE, SETTINGS, sizeof SETTINGS / sizeof SETTINGS[0]) == 0 &&
         nghttp2_session_set_local_window_size(session, NGHTTP2_FLAG_NONE, 0, CONNECTION_WINDOW) == 0;
}
