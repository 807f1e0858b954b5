/* Reading a ProfileResponse that arrives in pieces, and writing the bytes before its capture.
 *
 * The reader is a machine that is fed byte by byte where it reads keys, numbers and lengths, and run by run where it
 * reads content.  So the pieces' borders cannot change what it does.  It knows at every byte where the message that it
 * is in ends (depth 0: the reply, depth 1: tool_data), and compares every length with that before it believes it.
 * Content that nobody asked for is counted down and dropped.
 */
#include "rpc/profile_reply.h"

#include "wire/wire.h"

enum { TOOL_DATA = 6, EMPTY_TRACE = 7, XSPACE = 8 };
enum { TOOL_NAME = 1, TOOL_BYTES = 2 }; /* of tool_data */
enum { KEY, NUMBER, LENGTH, CONTENT };  /* what comes next: states of the machine */
enum { SKIPPED, CAPTURE, NAME, TOOL };  /* what the content is */
enum { LONGEST_VARINT = 10 };
enum { LAST_FIELD = (1 << 29) - 1 };

/* ---------------------------------------------------------------- reading */

static xp_status fail(xp_profile_reply *reply, xp_status status, const char *why, xp_error *err)
{
  reply->status = status;
  return xp_fail(err, status, "The profiler's reply cannot be read at byte %llu of %llu: %s",
                 (unsigned long long)reply->at, (unsigned long long)reply->end[0], why);
}

static xp_status stopped(xp_profile_reply *reply, xp_error *err)
{
  return fail(reply, XP_ERR_CANCELLED, "its receiver gave up", err);
}

static void expect(xp_profile_reply *reply, unsigned state)
{
  reply->state = state;
  reply->number = 0;
  reply->number_bytes = 0;
}

/* A content of so many bytes begins; an empty one is over at once. */
static void expect_content(xp_profile_reply *reply, unsigned content, uint64_t bytes)
{
  reply->content = content;
  reply->left = bytes;
  expect(reply, bytes > 0 ? CONTENT : KEY);
}

static void leave_finished(xp_profile_reply *reply)
{
  if (reply->depth == 1 && reply->state == KEY && reply->number_bytes == 0 && reply->at == reply->end[1]) {
    reply->depth = 0;
  }
}

static xp_status begin_field(xp_profile_reply *reply, uint64_t key, xp_error *err)
{
  uint64_t field = key >> 3;
  if (field == 0 || field > LAST_FIELD) {
    return fail(reply, XP_ERR_FORMAT, "no field has this number", err);
  }
  reply->field = (uint32_t)field;
  uint64_t room = reply->end[reply->depth] - reply->at;
  unsigned fixed = 4;
  switch (key & 7) {
  case XP_WIRE_VARINT:
    expect(reply, NUMBER);
    return XP_OK;
  case XP_WIRE_BYTES:
    expect(reply, LENGTH);
    return XP_OK;
  case XP_WIRE_FIXED64:
    fixed = 8;
    break;
  case XP_WIRE_FIXED32:
    break;
  default:
    return fail(reply, XP_ERR_FORMAT, "no field has this type", err);
  }
  if (fixed > room) {
    return fail(reply, XP_ERR_FORMAT, "a field reaches beyond the end of its message", err);
  }
  expect_content(reply, SKIPPED, fixed);
  return XP_OK;
}

static xp_status begin_tool_bytes(xp_profile_reply *reply, uint64_t bytes, xp_error *err)
{
  const xp_profile_reply_sink *sink = reply->sink;
  if (reply->field == TOOL_NAME) {
    if (bytes > XP_TOOL_NAME_MAX) {
      return fail(reply, XP_ERR_LIMIT, "the name of a tool is longer than 256 bytes", err);
    }
    reply->name_len = 0;
    expect_content(reply, NAME, bytes);
  } else if (reply->field == TOOL_BYTES) {
    if (sink->tool_begin != NULL &&
        !sink->tool_begin(sink->context, xp_str_from(reply->name, reply->name_len), bytes)) {
      return stopped(reply, err);
    }
    expect_content(reply, TOOL, bytes);
  } else {
    expect_content(reply, SKIPPED, bytes);
  }
  return XP_OK;
}

static xp_status begin_bytes(xp_profile_reply *reply, uint64_t bytes, xp_error *err)
{
  const xp_profile_reply_sink *sink = reply->sink;
  if (bytes > reply->end[reply->depth] - reply->at) {
    return fail(reply, XP_ERR_FORMAT, "a field reaches beyond the end of its message", err);
  }
  if (reply->depth == 1) {
    return begin_tool_bytes(reply, bytes, err);
  }
  if (reply->field == TOOL_DATA) {
    reply->depth = 1;
    reply->end[1] = reply->at + bytes;
    reply->name_len = 0;
    expect(reply, KEY);
  } else if (reply->field == XSPACE) {
    if (sink->xspace_begin != NULL && !sink->xspace_begin(sink->context, bytes)) {
      return stopped(reply, err);
    }
    expect_content(reply, CAPTURE, bytes);
  } else {
    expect_content(reply, SKIPPED, bytes);
  }
  return XP_OK;
}

/* A key, number or length is whole. */
static xp_status take_number(xp_profile_reply *reply, xp_error *err)
{
  switch (reply->state) {
  case KEY:
    return begin_field(reply, reply->number, err);
  case LENGTH:
    return begin_bytes(reply, reply->number, err);
  default:
    if (reply->depth == 0 && reply->field == EMPTY_TRACE) {
      reply->empty_trace = reply->number != 0;
    }
    expect(reply, KEY);
    return XP_OK;
  }
}

/* One byte of a varint.  It is the caller's word that the byte is inside the message. */
static xp_status take_byte(xp_profile_reply *reply, uint8_t byte, xp_error *err)
{
  if (reply->at == reply->end[reply->depth]) {
    return fail(reply, XP_ERR_FORMAT, "a field reaches beyond the end of its message", err);
  }
  reply->number |= (uint64_t)(byte & 0x7f) << (7 * reply->number_bytes);
  reply->number_bytes++;
  reply->at++;
  if (byte < 0x80) {
    return take_number(reply, err);
  }
  if (reply->number_bytes == LONGEST_VARINT) {
    return fail(reply, XP_ERR_FORMAT, "a number has more than 10 bytes", err);
  }
  return XP_OK;
}

/* A run of content, not empty and at most as long as what is left of it. */
static xp_status take_content(xp_profile_reply *reply, xp_str run, xp_error *err)
{
  const xp_profile_reply_sink *sink = reply->sink;
  bool goes_on = true;
  if (reply->content == CAPTURE && sink->xspace_piece != NULL) {
    goes_on = sink->xspace_piece(sink->context, run);
  } else if (reply->content == TOOL && sink->tool_piece != NULL) {
    goes_on = sink->tool_piece(sink->context, run);
  } else if (reply->content == NAME) {
    memcpy(reply->name + reply->name_len, run.ptr, run.len);
    reply->name_len += run.len;
  }
  if (!goes_on) {
    return stopped(reply, err);
  }
  reply->at += run.len;
  reply->left -= run.len;
  if (reply->left == 0) {
    expect(reply, KEY);
  }
  return XP_OK;
}

void xp_profile_reply_open(xp_profile_reply *reply, uint64_t total, const xp_profile_reply_sink *sink)
{
  memset(reply, 0, sizeof *reply);
  reply->sink = sink;
  reply->end[0] = total;
}

xp_status xp_profile_reply_feed(xp_profile_reply *reply, xp_str bytes, xp_error *err)
{
  while (bytes.len > 0 && reply->status == XP_OK) {
    size_t n = 1;
    if (reply->state == CONTENT) {
      n = bytes.len < reply->left ? bytes.len : (size_t)reply->left;
      take_content(reply, xp_str_take(bytes, n), err);
    } else {
      take_byte(reply, (uint8_t)bytes.ptr[0], err);
    }
    bytes = xp_str_skip(bytes, n);
    leave_finished(reply);
  }
  return reply->status;
}

xp_status xp_profile_reply_end(xp_profile_reply *reply, xp_error *err)
{
  if (reply->status != XP_OK) {
    return reply->status;
  }
  if (reply->at < reply->end[0]) {
    return fail(reply, XP_ERR_TRUNCATED, "the rest is missing", err);
  }
  if (reply->state != KEY || reply->number_bytes > 0) {
    return fail(reply, XP_ERR_TRUNCATED, "it ends inside a field", err);
  }
  return XP_OK;
}

/* ---------------------------------------------------------------- writing */

static void put_byte(xp_profile_reply_head *head, uint8_t byte)
{
  head->bytes[head->len++] = byte;
}

static void put_varint(xp_profile_reply_head *head, uint64_t value)
{
  for (; value >= 0x80; value >>= 7) {
    put_byte(head, (uint8_t)(value | 0x80));
  }
  put_byte(head, (uint8_t)value);
}

xp_profile_reply_head xp_profile_reply_saved(bool empty_trace)
{
  xp_profile_reply_head head = {{0}, 0, 0};
  if (empty_trace) {
    put_byte(&head, EMPTY_TRACE << 3 | XP_WIRE_VARINT);
    put_byte(&head, 1);
  }
  head.total_bytes = head.len;
  return head;
}

xp_status xp_profile_reply_head_make(uint64_t xspace_bytes, bool empty_trace, xp_profile_reply_head *head,
                                     xp_error *err)
{
  *head = xp_profile_reply_saved(empty_trace);
  put_byte(head, XSPACE << 3 | XP_WIRE_BYTES);
  put_varint(head, xspace_bytes);
  if (xspace_bytes > UINT32_MAX - head->len) {
    return xp_fail(
        err, XP_ERR_LIMIT,
        "The capture has %llu bytes, and a gRPC message can have 4294967295. Ask for a shorter time, or for a "
        "capture that is saved on the server's disk (without emit_xspace)",
        (unsigned long long)xspace_bytes);
  }
  head->total_bytes = head->len + xspace_bytes;
  return XP_OK;
}
