/* One request: its headers, its message as it arrives, and the time that all of it may take.
 *
 * A stream is ARRIVING until the client has closed its half, then its method has it, then it is answered.  Whatever is
 * wrong with a request is answered at once; what still arrives of it is then thrown away.  A message is held in memory
 * as far as it has arrived, not as far as its prefix says, and all arriving messages together have a budget.
 */
#include "rpc/server.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/sum.h"
#include "rpc/headers.h"
#include "rpc/monotonic.h"

enum { FIRST_CAPACITY = 1024 };

static xp_grpc_server *server_of(const xp_grpc_stream *stream)
{
  return stream->connection->server;
}

xp_grpc_stream *xp_grpc_stream_create(xp_grpc_connection *connection, int32_t id)
{
  xp_grpc_stream *stream = calloc(1, sizeof *stream);
  if (stream == NULL) {
    return NULL;
  }
  stream->connection = connection;
  stream->id = id;
  stream->deadline_ns = INT64_MAX;
  stream->request_by_ns = xp_add_saturating(xp_monotonic_ns(), connection->server->options.patience.request_ns);
  stream->next = connection->streams;
  stream->link = &connection->streams;
  if (stream->next != NULL) {
    stream->next->link = &stream->next;
  }
  connection->streams = stream;
  connection->stream_count++;
  xp_grpc_server_alarm(connection->server, stream->request_by_ns);
  return stream;
}

void xp_grpc_stream_forget_request(xp_grpc_stream *stream)
{
  server_of(stream)->request_bytes -= stream->request_capacity;
  free(stream->request);
  stream->request = NULL;
  stream->request_len = stream->request_capacity = 0;
}

void xp_grpc_stream_close(xp_grpc_stream *stream)
{
  xp_grpc_connection *connection = stream->connection;
  *stream->link = stream->next;
  if (stream->next != NULL) {
    stream->next->link = stream->link;
  }
  if (--connection->stream_count == 0) {
    connection->idle_since_ns = xp_monotonic_ns();
    xp_grpc_server_alarm(connection->server, connection->idle_since_ns + connection->server->options.patience.idle_ns);
  }
  xp_grpc_stream_forget_request(stream);
  if (stream->call != NULL) {
    xp_grpc_call_cancel(stream->call);
  }
  if (stream->body.end != NULL) {
    stream->body.end(stream->body.context);
  }
  free(stream);
}

/* ---------------------------------------------------------------- headers */

static const xp_grpc_method *find_method(const xp_grpc_server *server, xp_str path)
{
  for (size_t i = 0; i < server->options.method_count; i++) {
    if (xp_str_is(path, server->options.methods[i].path)) {
      return &server->options.methods[i];
    }
  }
  return NULL;
}

static void set_timeout(xp_grpc_stream *stream, xp_str value)
{
  int64_t ns;
  if (!xp_grpc_timeout_parse(value, &ns)) {
    stream->has_bad_timeout = true;
    return;
  }
  if (ns != INT64_MAX) {
    stream->deadline_ns = xp_add_saturating(xp_monotonic_ns(), ns);
    xp_grpc_server_alarm(server_of(stream), stream->deadline_ns);
  }
}

void xp_grpc_stream_header(xp_grpc_stream *stream, xp_str name, xp_str value)
{
  enum { HTTP2_EXTRA = 32 }; /* RFC 9113, 6.5.2 */
  stream->header_bytes += (uint32_t)(name.len + value.len + HTTP2_EXTRA);
  if (stream->header_bytes > XP_GRPC_MAX_HEADER_BYTES) {
    stream->is_header_list_too_long = true;
  } else if (xp_str_is(name, ":method")) {
    stream->is_post = xp_str_is(value, "POST");
  } else if (xp_str_is(name, ":path")) {
    xp_str shown = xp_grpc_cut_text(value, sizeof stream->path - 1);
    memcpy(stream->path, shown.ptr, shown.len);
    stream->method = find_method(server_of(stream), value);
  } else if (xp_str_is(name, "content-type")) {
    stream->is_grpc_content = xp_grpc_content_type_is_grpc(value);
  } else if (xp_str_is(name, "te")) {
    stream->has_te = xp_str_find_text(value, "trailers") < value.len;
  } else if (xp_str_is(name, "grpc-encoding")) {
    stream->is_encoded = !xp_str_is(value, "identity");
  } else if (xp_str_is(name, "grpc-timeout")) {
    set_timeout(stream, value);
  }
}

void xp_grpc_stream_headers_end(xp_grpc_stream *stream)
{
  if (stream->is_header_list_too_long) {
    xp_grpc_stream_fail(stream, XP_GRPC_RESOURCE_EXHAUSTED, "The request's metadata have more than %d bytes.",
                        XP_GRPC_MAX_HEADER_BYTES);
  } else if (!stream->is_post) {
    xp_grpc_stream_refuse(stream, "405");
  } else if (!stream->is_grpc_content) {
    xp_grpc_stream_refuse(stream, "415");
  } else if (!stream->has_te) {
    xp_grpc_stream_fail(stream, XP_GRPC_INTERNAL,
                        "The request has no header \"te: trailers\": a proxy on the way does not carry gRPC.");
  } else if (stream->has_bad_timeout) {
    xp_grpc_stream_fail(stream, XP_GRPC_INVALID_ARGUMENT, "The request's grpc-timeout is no time.");
  } else if (stream->method == NULL) {
    xp_grpc_stream_fail(stream, XP_GRPC_UNIMPLEMENTED, "There is no method %s here.", stream->path);
  } else if (stream->deadline_ns <= xp_monotonic_ns()) {
    xp_grpc_stream_fail(stream, XP_GRPC_DEADLINE_EXCEEDED, "The deadline had passed when the request arrived.");
  } else {
    xp_grpc_server_alarm(server_of(stream), stream->deadline_ns);
  }
}

/* ---------------------------------------------------------------- message */

/* Room for len more bytes, within the message's size and the budget of all. */
static bool reserve(xp_grpc_stream *stream, size_t len)
{
  size_t need = stream->request_len + len;
  if (need <= stream->request_capacity) {
    return true;
  }
  size_t capacity = stream->request_capacity > 0 ? 2 * stream->request_capacity : FIRST_CAPACITY;
  capacity = capacity > need ? capacity : need;
  capacity = capacity < stream->reader.size ? capacity : stream->reader.size;
  xp_grpc_server *server = server_of(stream);
  uint64_t budget = 4 * (uint64_t)server->options.max_request_bytes;
  budget = budget > XP_GRPC_MIN_REQUEST_BUDGET ? budget : XP_GRPC_MIN_REQUEST_BUDGET;
  uint64_t more = capacity - stream->request_capacity;
  if (server->request_bytes + more > budget) {
    return false;
  }
  char *grown = realloc(stream->request, capacity);
  if (grown == NULL) {
    return false;
  }
  server->request_bytes += more;
  stream->request = grown;
  stream->request_capacity = capacity;
  return true;
}

static void begin_message(xp_grpc_stream *stream)
{
  uint32_t most = server_of(stream)->options.max_request_bytes;
  if (stream->reader.finished > 0) {
    xp_grpc_stream_fail(stream, XP_GRPC_UNIMPLEMENTED, "The request has more than one message; this method takes one.");
  } else if (xp_grpc_reader_is_compressed(&stream->reader)) {
    xp_grpc_stream_fail(stream, XP_GRPC_UNIMPLEMENTED, "The request is compressed; send it as it is.");
  } else if (stream->reader.size > most) {
    xp_grpc_stream_fail(stream, XP_GRPC_RESOURCE_EXHAUSTED,
                        "The request has %" PRIu32 " bytes; this server takes %" PRIu32 " at most.",
                        stream->reader.size, most);
  }
}

static void take_part(xp_grpc_stream *stream, xp_str part)
{
  if (!reserve(stream, part.len)) {
    xp_grpc_stream_fail(stream, XP_GRPC_RESOURCE_EXHAUSTED, "There is no memory for the request. Try again later.");
    return;
  }
  memcpy(stream->request + stream->request_len, part.ptr, part.len);
  stream->request_len += part.len;
}

void xp_grpc_stream_data(xp_grpc_stream *stream, xp_str bytes)
{
  xp_str part;
  while (!stream->is_answered && stream->call == NULL) {
    xp_grpc_event event = xp_grpc_reader_next(&stream->reader, &bytes, &part);
    if (event == XP_GRPC_MORE) {
      return;
    }
    if (event == XP_GRPC_HEAD) {
      begin_message(stream);
    } else if (event == XP_GRPC_PART) {
      take_part(stream, part);
    }
  }
}

void xp_grpc_stream_request_end(xp_grpc_stream *stream)
{
  if (stream->is_answered || stream->call != NULL) {
    return;
  }
  if (stream->reader.finished != 1 || !xp_grpc_reader_is_between(&stream->reader)) {
    bool is_cut = !xp_grpc_reader_is_between(&stream->reader);
    xp_grpc_stream_fail(stream, is_cut ? XP_GRPC_INTERNAL : XP_GRPC_UNIMPLEMENTED, "%s",
                        is_cut ? "The request ends inside of its message." : "The request has no message.");
    return;
  }
  xp_grpc_server *server = server_of(stream);
  stream->call = xp_grpc_call_create(server->mailbox, stream, stream->deadline_ns);
  if (stream->call == NULL) {
    xp_grpc_stream_fail(stream, XP_GRPC_RESOURCE_EXHAUSTED, "There is no memory for the call. Try again later.");
    return;
  }
  stream->method->begin(server->options.context, stream->call, xp_str_from(stream->request, stream->request_len));
  xp_grpc_stream_forget_request(stream);
}

/* ---------------------------------------------------------------- time */

static void reset(xp_grpc_stream *stream, int64_t now_ns)
{
  xp_grpc_server_alarm(server_of(stream), now_ns + XP_NS_IN_S); /* to see that it got out */
  nghttp2_submit_rst_stream(stream->connection->session, NGHTTP2_FLAG_NONE, stream->id, NGHTTP2_CANCEL);
}

/* An answered stream: the client must take its reply, and wants it before its deadline. */
static bool tick_answered(xp_grpc_stream *stream, int64_t now_ns)
{
  int64_t stalled_ns = xp_add_saturating(stream->progress_ns, server_of(stream)->options.patience.stall_ns);
  int64_t due_ns = stalled_ns < stream->deadline_ns ? stalled_ns : stream->deadline_ns;
  if (due_ns > now_ns) {
    xp_grpc_server_alarm(server_of(stream), due_ns);
    return true;
  }
  if (stream->connection->rest_len > 0) {
    return false; /* the socket is full: a reset would never get out, and the body would be held for ever */
  }
  reset(stream, now_ns);
  return true;
}

bool xp_grpc_stream_tick(xp_grpc_stream *stream, int64_t now_ns)
{
  if (stream->is_answered) {
    return tick_answered(stream, now_ns);
  }
  if (stream->deadline_ns <= now_ns) {
    xp_grpc_stream_fail(stream, XP_GRPC_DEADLINE_EXCEEDED, "The deadline has passed.");
    return true;
  }
  xp_grpc_server_alarm(server_of(stream), stream->deadline_ns);
  if (stream->call != NULL) {
    return true;
  }
  if (stream->request_by_ns <= now_ns) {
    xp_grpc_stream_fail(stream, XP_GRPC_DEADLINE_EXCEEDED, "The request did not arrive in time.");
    return true;
  }
  xp_grpc_server_alarm(server_of(stream), stream->request_by_ns);
  return true;
}
