/* ProfileResponse, the reply of Profile, which holds a whole capture: read from pieces of any size as they arrive, and
 * written by its head, so that neither side needs the capture in memory.
 *
 * Fields: 6 tool_data {1 name, 2 data}, 7 empty_trace, 8 xspace (xla/tsl/profiler/protobuf/profiler_service.proto).
 */
#ifndef XP_RPC_PROFILE_REPLY_H
#define XP_RPC_PROFILE_REPLY_H

#include "base/error.h"
#include "base/str.h"

/* ---------------------------------------------------------------- reading */

/* Who takes what the reply holds.  Any function may be NULL; one that returns false ends the reading.  Pieces are
 * borrowed for the call. */
typedef struct {
  /* A capture of so many bytes begins; its pieces follow.  If the reply has several, all of them together, one behind
   * the other, are one serialized XSpace. */
  bool (*xspace_begin)(void *context, uint64_t bytes);
  bool (*xspace_piece)(void *context, xp_str piece);
  /* The data of one tool begin; name is empty if the data stand before it. */
  bool (*tool_begin)(void *context, xp_str name, uint64_t bytes);
  bool (*tool_piece)(void *context, xp_str piece);
  void *context;
} xp_profile_reply_sink;

enum { XP_TOOL_NAME_MAX = 256 }; /* longer names of tools are an error */

/* The reading of one reply.  Its memory does not grow.  Fields are internal, but for those that say so. */
typedef struct {
  const xp_profile_reply_sink *sink;
  bool empty_trace; /* read it after the end: the server collected no event */
  xp_status status; /* the first error; every further call returns it */
  uint64_t at;      /* bytes of the message that were read */
  uint64_t end[2];  /* where the message ends, and the tool_data inside of it */
  unsigned depth;   /* 1 inside of tool_data */
  unsigned state, content;
  uint64_t number; /* a varint as far as it was read */
  unsigned number_bytes;
  uint32_t field;
  uint64_t left; /* bytes of the content that are to come */
  size_t name_len;
  char name[XP_TOOL_NAME_MAX];
} xp_profile_reply;

/* Begins with a reply of `total` bytes; borrows the sink. */
void xp_profile_reply_open(xp_profile_reply *reply, uint64_t total, const xp_profile_reply_sink *sink);

/* Takes the next bytes.  XP_ERR_FORMAT: this is no such message (a length that does not fit is found before any of its
 * content is handed on); XP_ERR_LIMIT: a tool's name is too long; XP_ERR_CANCELLED: the sink returned false. */
xp_status xp_profile_reply_feed(xp_profile_reply *reply, xp_str bytes, xp_error *err);

/* No more bytes come: XP_ERR_TRUNCATED if some are missing. */
xp_status xp_profile_reply_end(xp_profile_reply *reply, xp_error *err);

/* ---------------------------------------------------------------- writing */

/* What stands before the capture's bytes in a reply. */
typedef struct {
  uint8_t bytes[16];
  size_t len;
  uint64_t total_bytes; /* of the whole reply: the head and the capture */
} xp_profile_reply_head;

/* The head of a reply with a capture of so many bytes.  XP_ERR_LIMIT if the reply would be larger than a gRPC message
 * can be, 2^32 - 1 bytes. */
xp_status xp_profile_reply_head_make(uint64_t xspace_bytes, bool empty_trace, xp_profile_reply_head *head,
                                     xp_error *err);

/* The whole of a reply without a capture, which the server saved on its own disk. */
xp_profile_reply_head xp_profile_reply_saved(bool empty_trace);

#endif
