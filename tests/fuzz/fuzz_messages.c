/* Fuzz target: the messages of tensorflow.ProfilerService.
 *
 * What was read, written and read again must be the same.  The reply of Profile, fed in pieces of random sizes, must
 * give what it gives as a whole, and be good exactly if the wire reader finds it good.
 */
#include "rpc/messages.h"
#include "rpc/profile_reply.h"

#include <stdlib.h>

/* ---------------------------------------------------------------- requests */

static void check_request(xp_str message, xp_arena *arena)
{
  xp_profile_request request, again;
  xp_error err;
  if (xp_profile_request_read(message, arena, &request, &err) != XP_OK) {
    return;
  }
  xp_wire_writer first = {0}, second = {0};
  xp_profile_request_put(&first, &request);
  if (xp_profile_request_read(xp_str_from((const char *)first.data, first.len), arena, &again, &err) != XP_OK) {
    abort();
  }
  xp_profile_request_put(&second, &again);
  if (first.failed || second.failed || first.len != second.len ||
      (first.len > 0 && memcmp(first.data, second.data, first.len) != 0)) {
    abort();
  }
  xp_wire_writer_free(&first);
  xp_wire_writer_free(&second);
}

static void check_small_messages(xp_str message, xp_arena *arena)
{
  xp_profile_options options = {0};
  xp_monitor_request monitor;
  xp_str text;
  xp_error err;
  xp_profile_options_read(message, arena, &options, &err);
  xp_monitor_request_read(message, &monitor, &err);
  if (xp_monitor_response_read(message, &text, &err) == XP_OK && text.len > message.len) {
    abort();
  }
  xp_terminate_request_read(message, &text, &err);
  xp_empty_message_read(message, "The message", &err);
}

/* ---------------------------------------------------------------- the reply */

/* What a sink was told, as a number that depends on every byte and not on the pieces. */
typedef struct {
  uint64_t hash, promised, got;
} told;

static void mix(told *t, uint64_t value)
{
  t->hash = (t->hash ^ value) * UINT64_C(0x100000001b3);
}

static void begin(told *t, uint64_t kind, uint64_t bytes)
{
  if (t->got != t->promised) {
    abort(); /* the content before was not whole */
  }
  mix(t, kind);
  mix(t, bytes);
  t->promised += bytes;
}

static bool on_xspace(void *context, uint64_t bytes)
{
  begin(context, 'x', bytes);
  return true;
}

static bool on_tool(void *context, xp_str name, uint64_t bytes)
{
  begin(context, 't', bytes);
  for (size_t i = 0; i < name.len; i++) {
    mix(context, (uint8_t)name.ptr[i]);
  }
  return true;
}

static bool on_piece(void *context, xp_str piece)
{
  told *t = context;
  t->got += piece.len;
  if (piece.len == 0 || t->got > t->promised) {
    abort();
  }
  for (size_t i = 0; i < piece.len; i++) {
    mix(t, (uint8_t)piece.ptr[i]);
  }
  return true;
}

/* Reads a reply in pieces of 1 to `largest` bytes. */
static xp_status read_reply(xp_str message, size_t largest, uint64_t random, told *t, uint64_t *at)
{
  xp_profile_reply_sink sink = {on_xspace, on_piece, on_tool, on_piece, t};
  xp_profile_reply reply;
  xp_error err;
  memset(t, 0, sizeof *t);
  xp_profile_reply_open(&reply, message.len, &sink);
  while (message.len > 0) {
    random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    size_t n = 1 + (size_t)(random >> 33) % largest;
    if (xp_profile_reply_feed(&reply, xp_str_take(message, n), &err) != XP_OK) {
      break;
    }
    message = xp_str_skip(message, n);
  }
  xp_status status = xp_profile_reply_end(&reply, &err);
  *at = reply.at;
  return status;
}

/* The same question to the wire reader, which sees the whole message. */
static bool is_good_reply(xp_str message)
{
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.number != 6 || f.type != XP_WIRE_BYTES) {
      continue;
    }
    xp_wire_reader tool = xp_wire_open(f.bytes);
    for (xp_wire_field g; xp_wire_next(&tool, &g);) {
      if (g.number == 1 && g.type == XP_WIRE_BYTES && g.bytes.len > XP_TOOL_NAME_MAX) {
        return false;
      }
    }
    if (tool.status != XP_WIRE_OK) {
      return false;
    }
  }
  return r.status == XP_WIRE_OK;
}

static void check_reply(xp_str message)
{
  told whole, pieces;
  uint64_t whole_at, pieces_at;
  xp_status status = read_reply(message, SIZE_MAX, 0, &whole, &whole_at);
  if ((status == XP_OK) != is_good_reply(message)) {
    abort();
  }
  uint64_t seed = xp_str_hash(message);
  for (size_t largest = 1; largest <= 64; largest *= 4) {
    if (read_reply(message, largest, seed, &pieces, &pieces_at) != status || pieces_at != whole_at ||
        pieces.hash != whole.hash || pieces.got != whole.got) {
      abort();
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  xp_arena *arena = xp_arena_create();
  if (!arena) {
    abort();
  }
  xp_str message = xp_str_from((const char *)data, size);
  check_request(message, arena);
  check_small_messages(message, arena);
  check_reply(message);
  xp_arena_destroy(arena);
  return 0;
}
