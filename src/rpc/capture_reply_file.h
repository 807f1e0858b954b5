/* The reply of Profile as files of the run: the capture, and what else a server may send. */
#ifndef XP_RPC_CAPTURE_REPLY_FILE_H
#define XP_RPC_CAPTURE_REPLY_FILE_H

#include "rpc/capture_request.h"
#include "rpc/profile_reply.h"

typedef struct {
  xp_new_file file;
  char suffix[300];
  char path[XP_PATH_ROOM]; /* once it has its name */
} xp_reply_part;

/* Gets the bytes of one reply. */
typedef struct {
  xp_capture_job *job;
  const char *host; /* stem of the files' names */
  xp_profile_reply reply;
  xp_profile_reply_sink sink;
  xp_reply_part *parts; /* the last one is being written if is_open */
  size_t part_count;
  bool is_open, has_capture;
  uint64_t capture_bytes;
  char path[XP_PATH_ROOM]; /* of the capture */
  xp_status status;        /* the first error: of the disk, or of the reply */
  xp_error err;
} xp_reply_file;

void xp_reply_file_init(xp_reply_file *files, xp_capture_job *job, const char *host);

/* A sink for xp_grpc_unary; context is the xp_reply_file. */
bool xp_reply_file_sink(void *context, uint64_t total, xp_str bytes);

/* The reply is over: if it is whole, the files get their names; else they are gone. */
xp_status xp_reply_file_finish(xp_reply_file *files, xp_error *err);

/* The call failed: what was written goes. */
void xp_reply_file_discard(xp_reply_file *files);

#endif
