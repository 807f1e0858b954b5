/* HTTP/2 by hand, for tests that say what no honest peer would: frames put together byte by byte, and answers taken
 * apart with nghttp2's own decoder of headers.
 */
#ifndef XP_TESTS_HTTP2_BYTES_H
#define XP_TESTS_HTTP2_BYTES_H

#include "grpc_testing.h"

#include <nghttp2/nghttp2.h>

enum { DATA = 0, HEADERS = 1, PRIORITY = 2, RST_STREAM = 3, SETTINGS = 4, PING = 6, GOAWAY = 7, WINDOW_UPDATE = 8 };
enum { CONTINUATION = 9, END_STREAM = 1, ACK = 1, END_HEADERS = 4 };

#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

typedef struct {
  uint8_t *data;
  size_t len, capacity;
} bytes;

static inline void put(bytes *b, const void *data, size_t len)
{
  if (len == 0 || len > INT32_MAX) {
    return;
  }
  if (b->len + len > b->capacity) {
    b->capacity = 2 * (b->len + len);
    b->data = realloc(b->data, b->capacity);
    assert_non_null(b->data);
  }
  memcpy(b->data + b->len, data, len);
  b->len += len;
}

static inline void put_frame(bytes *b, uint8_t type, uint8_t flags, uint32_t id, const void *payload, size_t len)
{
  uint8_t head[9] = {(uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len,       type,       flags,
                     (uint8_t)(id >> 24),  (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id};
  put(b, head, sizeof head);
  put(b, payload, len);
}

/* An integer of HPACK with a prefix of `bits` bits (RFC 7541, 5.1). */
static inline void put_hpack_int(bytes *b, uint8_t first, int bits, size_t value)
{
  size_t most = ((size_t)1 << bits) - 1;
  uint8_t byte = (uint8_t)(first | (value < most ? value : most));
  put(b, &byte, 1);
  if (value < most) {
    return;
  }
  for (value -= most; value >= 128; value >>= 7) {
    byte = (uint8_t)(value & 127) | 128;
    put(b, &byte, 1);
  }
  byte = (uint8_t)value;
  put(b, &byte, 1);
}

/* A literal header; first: 0x00 not indexed, 0x40 added to the table. */
static inline void put_header(bytes *b, uint8_t first, const char *name, const char *value)
{
  put(b, &first, 1);
  put_hpack_int(b, 0, 7, strlen(name));
  put(b, name, strlen(name));
  put_hpack_int(b, 0, 7, strlen(value));
  put(b, value, strlen(value));
}

/* The headers of a call; a name in `without` is left out, and more is added. */
static inline void put_call_headers(bytes *b, const char *path, const char *without, const char *name,
                                    const char *value)
{
  const char *const pairs[] = {":method",    "POST", ":scheme", "http",     ":path",        path,
                               ":authority", "t",    "te",      "trailers", "content-type", "application/grpc"};
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i += 2) {
    if (without == NULL || strcmp(pairs[i], without) != 0) {
      put_header(b, 0, pairs[i], pairs[i + 1]);
    }
  }
  if (name != NULL) {
    put_header(b, 0, name, value);
  }
}

/* The beginning of a client: preface and SETTINGS, with a first window of `window` bytes for each stream. */
static inline void put_hello(bytes *b, uint32_t window)
{
  uint8_t setting[6] = {
      0, 4, (uint8_t)(window >> 24), (uint8_t)(window >> 16), (uint8_t)(window >> 8), (uint8_t)window};
  put(b, PREFACE, 24);
  put_frame(b, SETTINGS, 0, 0, setting, sizeof setting);
}

static inline void put_call(bytes *b, uint32_t id, const char *path, uint8_t flags)
{
  bytes block = {0};
  put_call_headers(&block, path, NULL, NULL, NULL);
  put_frame(b, HEADERS, END_HEADERS | flags, id, block.data, block.len);
  free(block.data);
}

/* A message in one DATA frame. */
static inline void put_message(bytes *b, uint32_t id, const char *text, uint8_t flags)
{
  uint8_t payload[1024] = {0};
  size_t len = strlen(text);
  payload[3] = (uint8_t)(len >> 8);
  payload[4] = (uint8_t)len;
  memcpy(payload + 5, text, len);
  put_frame(b, DATA, flags, id, payload, 5 + len);
}

static inline void send_bytes(int fd, bytes *b)
{
  (void)raw_send(fd, b->data, b->len); /* the server may have closed: the test looks at that */
  b->len = 0;
}

/* What a server said, until it was silent for ms or closed. */
typedef struct {
  int http_status, grpc_status, goaway_code, rst_code; /* -1: none */
  char grpc_message[512];
  size_t data_bytes, end_count; /* streams that ended */
  bool closed;
} heard;

static inline void hear_headers(nghttp2_hd_inflater *inflater, uint8_t *block, size_t len, heard *h)
{
  for (bool is_last = false; !is_last;) {
    nghttp2_nv nv;
    int flags = 0;
    ssize_t n = nghttp2_hd_inflate_hd2(inflater, &nv, &flags, block, len, 1);
    assert_true(n >= 0);
    block += n;
    len -= (size_t)n;
    if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
      if (strcmp((char *)nv.name, ":status") == 0) {
        h->http_status = atoi((char *)nv.value);
      } else if (strcmp((char *)nv.name, "grpc-status") == 0) {
        h->grpc_status = atoi((char *)nv.value);
      } else if (strcmp((char *)nv.name, "grpc-message") == 0) {
        snprintf(h->grpc_message, sizeof h->grpc_message, "%s", (char *)nv.value);
      }
    }
    is_last = (flags & NGHTTP2_HD_INFLATE_FINAL) != 0;
  }
  nghttp2_hd_inflate_end_headers(inflater);
}

static inline void hear_frame(nghttp2_hd_inflater *inflater, uint8_t type, uint8_t flags, uint8_t *payload, size_t len,
                              heard *h)
{
  if (type == HEADERS) {
    hear_headers(inflater, payload, len, h);
  } else if (type == DATA) {
    h->data_bytes += len;
  } else if (type == RST_STREAM) {
    h->rst_code = payload[3];
  } else if (type == GOAWAY) {
    h->goaway_code = payload[7];
  }
  h->end_count += (type == HEADERS || type == DATA) && (flags & END_STREAM) != 0;
}

/* Listens until `ends` streams have ended, the server has closed, or ms of silence. */
static inline heard hear(int fd, size_t ends, int ms)
{
  heard h = {-1, -1, -1, -1, "", 0, 0, false};
  nghttp2_hd_inflater *inflater;
  assert_int_equal(nghttp2_hd_inflate_new(&inflater), 0);
  uint8_t head[9], *payload = malloc(1 << 24);
  while (h.end_count < ends && raw_read(fd, head, sizeof head, ms, &h.closed) == sizeof head) {
    size_t len = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
    if (raw_read(fd, payload, len, ms, &h.closed) < len) {
      break;
    }
    hear_frame(inflater, head[3], head[4], payload, len, &h);
  }
  free(payload);
  nghttp2_hd_inflate_del(inflater);
  return h;
}

/* An honest call of our client still works. */
static inline void assert_served(void)
{
  xp_grpc_answer answer;
  reply_check reply = {0};
  xp_grpc_request request = request_of("/t/Echo", xp_str_c("still there"), &reply);
  xp_grpc_unary(&request, &answer);
  assert_status(&answer, XP_GRPC_OK, "");
  assert_memory_equal(reply.kept, "still there", 11);
}

#endif
