/* The reader is a state that says what comes next: bytes of the prefix, bytes of the message, its end.
 *
 * A message is announced once (HEAD) when its prefix is complete, and is whole when `taken` has reached `size`; that
 * is asked before more bytes are, so that an empty message is whole at once.
 */
#include "rpc/message.h"

static uint32_t size_in(const uint8_t prefix[XP_GRPC_PREFIX_BYTES])
{
  return (uint32_t)prefix[1] << 24 | (uint32_t)prefix[2] << 16 | (uint32_t)prefix[3] << 8 | prefix[4];
}

xp_grpc_event xp_grpc_reader_next(xp_grpc_reader *reader, xp_str *bytes, xp_str *part)
{
  if (reader->prefix_len < XP_GRPC_PREFIX_BYTES) {
    xp_str head = xp_str_take(*bytes, XP_GRPC_PREFIX_BYTES - reader->prefix_len);
    if (head.len > 0) {
      memcpy(reader->prefix + reader->prefix_len, head.ptr, head.len);
    }
    reader->prefix_len += head.len;
    *bytes = xp_str_skip(*bytes, head.len);
    if (reader->prefix_len < XP_GRPC_PREFIX_BYTES) {
      return XP_GRPC_MORE;
    }
    reader->size = size_in(reader->prefix);
    reader->taken = 0;
    return XP_GRPC_HEAD;
  }
  if (reader->taken == reader->size) {
    reader->prefix_len = 0;
    reader->finished++;
    return XP_GRPC_WHOLE;
  }
  *part = xp_str_take(*bytes, reader->size - reader->taken);
  *bytes = xp_str_skip(*bytes, part->len);
  reader->taken += (uint32_t)part->len;
  return part->len > 0 ? XP_GRPC_PART : XP_GRPC_MORE;
}

void xp_grpc_prefix_write(uint32_t size, uint8_t prefix[XP_GRPC_PREFIX_BYTES])
{
  prefix[0] = 0;
  for (int i = 1; i < XP_GRPC_PREFIX_BYTES; i++) {
    prefix[i] = (uint8_t)(size >> (32 - 8 * i));
  }
}
