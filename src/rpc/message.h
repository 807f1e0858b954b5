/* Messages of gRPC in a stream of bytes: a flag (compressed), a 32-bit length, and the message.
 *
 * The reader takes the bytes as they come, cut anywhere, and keeps none but the five of a prefix.
 */
#ifndef XP_RPC_MESSAGE_H
#define XP_RPC_MESSAGE_H

#include "base/str.h"

enum { XP_GRPC_PREFIX_BYTES = 5 };

typedef struct {
  uint8_t prefix[XP_GRPC_PREFIX_BYTES];
  size_t prefix_len; /* of the message that is being read */
  uint32_t size, taken;
  uint32_t finished; /* messages that were whole */
} xp_grpc_reader;

typedef enum {
  XP_GRPC_MORE, /* all bytes are taken */
  XP_GRPC_HEAD, /* a message begins: xp_grpc_reader_is_compressed and size are known */
  XP_GRPC_PART, /* some of its bytes: *part */
  XP_GRPC_WHOLE /* it is complete */
} xp_grpc_event;

/* Takes what it can from *bytes and says what it was. */
xp_grpc_event xp_grpc_reader_next(xp_grpc_reader *reader, xp_str *bytes, xp_str *part);

static inline bool xp_grpc_reader_is_compressed(const xp_grpc_reader *reader)
{
  return reader->prefix[0] != 0;
}

/* Nothing of a message has come that is not whole yet. */
static inline bool xp_grpc_reader_is_between(const xp_grpc_reader *reader)
{
  return reader->prefix_len == 0;
}

void xp_grpc_prefix_write(uint32_t size, uint8_t prefix[XP_GRPC_PREFIX_BYTES]);

#endif
