/* What gRPC writes into HTTP headers: time-outs, messages of errors, the content type.
 *
 * Protocol: https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
#ifndef XP_RPC_HEADERS_H
#define XP_RPC_HEADERS_H

#include "base/str.h"

enum {
  XP_GRPC_TIMEOUT_ROOM = 10,                                 /* 8 digits, a unit, NUL */
  XP_GRPC_MESSAGE_BYTES = 1023,                              /* of a message that is sent or kept; the rest is cut */
  XP_GRPC_MESSAGE_CODED_ROOM = 3 * XP_GRPC_MESSAGE_BYTES + 1 /* every byte may become three */
};

/* The nanoseconds of a grpc-timeout ("5S": up to eight digits and one of H M S m u n); what is too long to count is
 * INT64_MAX.  False if it is none. */
bool xp_grpc_timeout_parse(xp_str text, int64_t *ns);

/* Writes a grpc-timeout of at least ns, in the finest unit that can hold it. */
void xp_grpc_timeout_format(int64_t ns, char text[XP_GRPC_TIMEOUT_ROOM]);

/* Writes a message in percent coding, cut to XP_GRPC_MESSAGE_BYTES at the end of a character.  Returns its length. */
size_t xp_grpc_message_encode(xp_str message, char coded[XP_GRPC_MESSAGE_CODED_ROOM]);

/* Takes percent coding off, NUL-terminated.  What is no coding stays as it is, and what does not fit is cut at the end
 * of a character.  Returns the length. */
size_t xp_grpc_message_decode(xp_str coded, char *message, size_t room);

/* The longest start of s that has at most `most` bytes and does not end inside of a UTF-8 character. */
xp_str xp_grpc_cut_text(xp_str s, size_t most);

/* True for application/grpc, application/grpc+proto, "application/grpc; charset=utf-8". */
bool xp_grpc_content_type_is_grpc(xp_str value);

/* A decimal number of at most nine digits; false if it is none. */
bool xp_grpc_number_parse(xp_str text, int *number);

#endif
