/* The life of a call: it is shared by its owner (the method, until it answers) and by the stream that it came on.
 *
 * Answers come from any thread and go through the mailbox of the server to its thread.  The mailbox is shared by the
 * server and by every call, so that a call can be answered when its server is gone.
 */
#ifndef XP_RPC_CALL_H
#define XP_RPC_CALL_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "rpc/grpc_server.h"

typedef struct xp_grpc_stream xp_grpc_stream;

typedef struct {
  atomic_uint refs;
  pthread_mutex_t lock; /* guards what follows */
  bool is_open;         /* the server's thread will look into it */
  int wake_fd;          /* the server's eventfd, while it is open */
  xp_grpc_call *first, *last;
  pthread_t thread; /* the server's: it looks without being woken */
  bool has_thread;
  pid_t pid; /* of the process that has the thread: not of its children */
} xp_grpc_mailbox;

/* What a call was answered with. */
typedef struct {
  xp_grpc_code code; /* OK: with body */
  char *message;     /* NULL or malloc'd */
  xp_grpc_body body;
} xp_grpc_answer_box;

struct xp_grpc_call {
  atomic_uint refs;
  xp_grpc_mailbox *mailbox;
  int64_t deadline_ns;    /* INT64_MAX: none */
  xp_grpc_stream *stream; /* of the server's thread only; NULL when nobody waits for the answer */
  xp_grpc_call *next;     /* in the mailbox */
  xp_grpc_answer_box answer;
  pthread_mutex_t lock; /* recursive, because cancelled may answer; guards what follows */
  bool is_answered, is_cancelled;
  void (*cancelled)(void *context);
  void *context;
};

/* A mailbox with one reference; NULL when memory is out. */
xp_grpc_mailbox *xp_grpc_mailbox_create(int wake_fd);

/* Takes all answered calls out, oldest first; each is linked to the next. */
xp_grpc_call *xp_grpc_mailbox_take(xp_grpc_mailbox *mailbox);

/* No answer is put in any more.  The ones that are in it stay to be taken. */
void xp_grpc_mailbox_close(xp_grpc_mailbox *mailbox);

void xp_grpc_mailbox_release(xp_grpc_mailbox *mailbox);

/* A call with two references: of its owner and of the stream.  NULL when memory is out. */
xp_grpc_call *xp_grpc_call_create(xp_grpc_mailbox *mailbox, xp_grpc_stream *stream, int64_t deadline_ns);

/* The stream's side is over without an answer: tells the owner and gives back the stream's reference. */
void xp_grpc_call_cancel(xp_grpc_call *call);

/* Gives back one reference. */
void xp_grpc_call_release(xp_grpc_call *call);

/* Ends the body if there is one, and frees the message. */
void xp_grpc_answer_discard(xp_grpc_answer_box *answer);

#endif
