/* Fuzz target: what gRPC takes from a peer beside HTTP/2 itself: framing, time-outs, coded messages, targets. */
#include <stdint.h>
#include <stdlib.h>

#include "rpc/grpc_client.h"
#include "rpc/headers.h"
#include "rpc/message.h"

/* Reads all messages, with the bytes cut after every `step`.  Returns a sum over what was read. */
static uint64_t read_messages(xp_str bytes, size_t step)
{
  xp_grpc_reader reader = {.prefix_len = 0};
  uint64_t sum = 0, payload = 0;
  for (; bytes.len > 0; bytes = xp_str_skip(bytes, step)) {
    xp_str piece = xp_str_take(bytes, step), part;
    for (xp_grpc_event event; (event = xp_grpc_reader_next(&reader, &piece, &part)) != XP_GRPC_MORE;) {
      if (event == XP_GRPC_HEAD) {
        payload = 0;
      } else if (event == XP_GRPC_PART) {
        payload += part.len;
        for (size_t i = 0; i < part.len; i++) {
          sum = sum * 31 + (uint8_t)part.ptr[i];
        }
      } else if (payload != reader.size) {
        abort();
      }
    }
    if (piece.len != 0) {
      abort();
    }
  }
  return sum * 31 + reader.finished;
}

/* What is coded and decoded must be the same again. */
static void code_and_decode(xp_str text)
{
  char coded[XP_GRPC_MESSAGE_CODED_ROOM], back[XP_GRPC_MESSAGE_BYTES + 1], small[7];
  size_t len = xp_grpc_message_encode(text, coded);
  xp_str want = xp_grpc_cut_text(text, XP_GRPC_MESSAGE_BYTES);
  size_t n = xp_grpc_message_decode(xp_str_from(coded, len), back, sizeof back);
  if (want.len < XP_GRPC_MESSAGE_BYTES && !xp_str_eq(xp_str_from(back, n), want)) {
    abort(); /* of a full length, a half character may have been cut off */
  }
  if (xp_grpc_message_decode(text, small, sizeof small) >= sizeof small) {
    abort();
  }
}

static void parse(xp_str text)
{
  int64_t ns;
  char timeout[XP_GRPC_TIMEOUT_ROOM], printed[XP_GRPC_TARGET_ROOM];
  if (xp_grpc_timeout_parse(text, &ns)) {
    int64_t again;
    xp_grpc_timeout_format(ns, timeout);
    if (!xp_grpc_timeout_parse(xp_str_c(timeout), &again) || again < ns) {
      abort();
    }
  }
  xp_grpc_target target, same;
  xp_error err;
  if (xp_grpc_target_parse(text, &target, &err) == XP_OK) {
    xp_grpc_target_print(&target, printed);
    if (xp_grpc_target_parse(xp_str_c(printed), &same, NULL) != XP_OK || same.port != target.port ||
        strcmp(same.host, target.host) != 0) {
      abort();
    }
  } else if (err.text[0] == '\0') {
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  xp_str bytes = xp_str_from((const char *)data, size);
  if (read_messages(bytes, size + 1) != read_messages(bytes, 3)) {
    abort();
  }
  code_and_decode(bytes);
  parse(bytes);
  return 0;
}
