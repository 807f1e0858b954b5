/* What goes back on a stream: a message with a status behind it, or a status alone.
 *
 * A message is produced as the client's windows and the socket let DATA frames out, so it is nowhere in memory as a
 * whole.  Its end is the trailers.  A status without a message goes in the headers of the response and ends it.
 */
#include "rpc/server.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/sum.h"
#include "rpc/headers.h"
#include "rpc/monotonic.h"

static nghttp2_nv header(const char *name, const char *value)
{
  return (nghttp2_nv){(uint8_t *)name, (uint8_t *)value, strlen(name), strlen(value), NGHTTP2_NV_FLAG_NONE};
}

/* The headers of a status; returns how many they are. */
static size_t status_headers(nghttp2_nv *nva, xp_grpc_code code, char number[12], const char *coded)
{
  snprintf(number, 12, "%d", (int)code);
  nva[0] = header("grpc-status", number);
  nva[1] = header("grpc-message", coded);
  return coded[0] != '\0' ? 2 : 1;
}

static void end_body(xp_grpc_stream *stream)
{
  xp_grpc_body body = stream->body;
  stream->body = (xp_grpc_body){0};
  if (body.end != NULL) {
    body.end(body.context);
  }
}

/* The answer is in the session's queue, or there was no memory for it: then the stream ends without one. */
static void answered(xp_grpc_stream *stream, int rc)
{
  stream->is_answered = true;
  stream->progress_ns = xp_monotonic_ns();
  xp_grpc_stream_forget_request(stream);
  if (rc != 0) {
    nghttp2_submit_rst_stream(stream->connection->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_INTERNAL_ERROR);
  }
  xp_grpc_server *server = stream->connection->server;
  xp_grpc_server_alarm(server, xp_add_saturating(stream->progress_ns, server->options.patience.stall_ns));
}

static void send_status(xp_grpc_stream *stream, xp_grpc_code code, const char *message)
{
  char number[12], coded[XP_GRPC_MESSAGE_CODED_ROOM];
  xp_grpc_message_encode(xp_str_c(message), coded);
  nghttp2_nv nva[5] = {header(":status", "200"), header("content-type", "application/grpc"),
                       header("grpc-accept-encoding", "identity")};
  size_t n = 3 + status_headers(nva + 3, code, number, coded);
  answered(stream, nghttp2_submit_response(stream->connection->session, stream->id, nva, n, NULL));
}

void xp_grpc_stream_fail(xp_grpc_stream *stream, xp_grpc_code code, const char *format, ...)
{
  if (stream->is_answered) {
    return;
  }
  char message[XP_GRPC_MESSAGE_BYTES + 1];
  va_list args;
  va_start(args, format);
  vsnprintf(message, sizeof message, format, args);
  va_end(args);
  send_status(stream, code, message);
  if (stream->call != NULL) {
    xp_grpc_call *call = stream->call;
    stream->call = NULL;
    xp_grpc_call_cancel(call);
  }
}

void xp_grpc_stream_refuse(xp_grpc_stream *stream, const char *http_status)
{
  nghttp2_nv nva[] = {header(":status", http_status), header("allow", "POST"),
                      header("grpc-status", "13"), /* for clients of gRPC behind a bad proxy */
                      header("grpc-message", "This port speaks gRPC: POST with content-type application/grpc.")};
  answered(stream,
           nghttp2_submit_response(stream->connection->session, stream->id, nva, sizeof nva / sizeof nva[0], NULL));
}

/* ---------------------------------------------------------------- message */

/* The next bytes of the prefix and the message.  Returns how many; *failed if the body gave none. */
static size_t produce(xp_grpc_stream *stream, uint8_t *buffer, size_t room, bool *failed)
{
  uint8_t prefix[XP_GRPC_PREFIX_BYTES];
  xp_grpc_prefix_write((uint32_t)stream->body.total_bytes, prefix);
  size_t n = 0;
  while (n < room && stream->prefix_sent < sizeof prefix) {
    buffer[n++] = prefix[stream->prefix_sent++];
  }
  while (n < room && stream->body_sent < stream->body.total_bytes) {
    uint64_t left = stream->body.total_bytes - stream->body_sent;
    size_t most = left < room - n ? (size_t)left : room - n;
    size_t got = stream->body.read(stream->body.context, buffer + n, most);
    if (got == 0 || got > most) {
      *failed = true;
      break;
    }
    n += got;
    stream->body_sent += got;
  }
  return n;
}

static ssize_t read_body(nghttp2_session *session, int32_t id, uint8_t *buffer, size_t room, uint32_t *flags,
                         nghttp2_data_source *source, void *context)
{
  (void)context;
  xp_grpc_stream *stream = source->ptr;
  bool failed = false;
  size_t n = produce(stream, buffer, room, &failed);
  stream->progress_ns = xp_monotonic_ns();
  bool is_whole = stream->prefix_sent == XP_GRPC_PREFIX_BYTES && stream->body_sent == stream->body.total_bytes;
  if (!failed && !is_whole) {
    return (ssize_t)n;
  }
  end_body(stream);
  char number[12];
  nghttp2_nv nva[2];
  size_t count = status_headers(nva, failed ? XP_GRPC_INTERNAL : XP_GRPC_OK, number,
                                failed ? "The server could not produce the rest of the reply." : "");
  if (nghttp2_submit_trailer(session, id, nva, count) != 0) {
    return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
  return (ssize_t)n;
}

void xp_grpc_stream_answer(xp_grpc_stream *stream, xp_grpc_answer_box *answer)
{
  if (answer->code != XP_GRPC_OK) {
    send_status(stream, answer->code, answer->message);
    xp_grpc_answer_discard(answer);
    return;
  }
  stream->body = answer->body;
  *answer = (xp_grpc_answer_box){0};
  nghttp2_nv nva[] = {header(":status", "200"), header("content-type", "application/grpc"),
                      header("grpc-accept-encoding", "identity")};
  nghttp2_data_provider provider = {.source.ptr = stream, .read_callback = read_body};
  answered(stream, nghttp2_submit_response(stream->connection->session, stream->id, nva, sizeof nva / sizeof nva[0],
                                           &provider));
}
