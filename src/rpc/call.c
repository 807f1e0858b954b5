/* Answers, cancellation and the mailbox between the owners of calls and the server's thread.
 *
 * Two things can end a call, on two threads: its answer and its cancellation.  Whichever takes the call's lock first is
 * the end; the other one sees that and has no effect.  `cancelled` runs under that lock, so it can never run when an
 * answer has returned, and its context may be freed then.
 *
 * A child after fork has no server thread, and a lock may be held for ever there.  So functions that other threads call
 * ask first which process they are in, and touch nothing that is shared if it is another one.
 */
#include "rpc/call.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rpc/headers.h"
#include "rpc/monotonic.h"

/* ---------------------------------------------------------------- mailbox */

xp_grpc_mailbox *xp_grpc_mailbox_create(int wake_fd)
{
  xp_grpc_mailbox *mailbox = calloc(1, sizeof *mailbox);
  if (mailbox == NULL) {
    return NULL;
  }
  atomic_init(&mailbox->refs, 1);
  pthread_mutex_init(&mailbox->lock, NULL);
  mailbox->is_open = true;
  mailbox->wake_fd = wake_fd;
  mailbox->pid = getpid();
  return mailbox;
}

void xp_grpc_mailbox_release(xp_grpc_mailbox *mailbox)
{
  if (atomic_fetch_sub_explicit(&mailbox->refs, 1, memory_order_acq_rel) == 1) {
    pthread_mutex_destroy(&mailbox->lock);
    free(mailbox);
  }
}

void xp_grpc_mailbox_close(xp_grpc_mailbox *mailbox)
{
  pthread_mutex_lock(&mailbox->lock);
  mailbox->is_open = false;
  pthread_mutex_unlock(&mailbox->lock);
}

xp_grpc_call *xp_grpc_mailbox_take(xp_grpc_mailbox *mailbox)
{
  pthread_mutex_lock(&mailbox->lock);
  xp_grpc_call *first = mailbox->first;
  mailbox->first = mailbox->last = NULL;
  pthread_mutex_unlock(&mailbox->lock);
  return first;
}

/* Puts an answered call in, with the owner's reference, and wakes the server.  False if nobody will take it out. */
static bool mailbox_put(xp_grpc_mailbox *mailbox, xp_grpc_call *call)
{
  pthread_mutex_lock(&mailbox->lock);
  bool is_open = mailbox->is_open;
  if (is_open) {
    bool was_empty = mailbox->first == NULL;
    *(was_empty ? &mailbox->first : &mailbox->last->next) = call;
    mailbox->last = call;
    bool is_own_thread = mailbox->has_thread && pthread_equal(mailbox->thread, pthread_self());
    if (was_empty && !is_own_thread) {
      eventfd_write(mailbox->wake_fd, 1); /* cannot block: the counter is far from its end */
    }
  }
  pthread_mutex_unlock(&mailbox->lock);
  return is_open;
}

/* ---------------------------------------------------------------- call */

xp_grpc_call *xp_grpc_call_create(xp_grpc_mailbox *mailbox, xp_grpc_stream *stream, int64_t deadline_ns)
{
  xp_grpc_call *call = calloc(1, sizeof *call);
  if (call == NULL) {
    return NULL;
  }
  pthread_mutexattr_t recursive;
  pthread_mutexattr_init(&recursive);
  pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(&call->lock, &recursive);
  pthread_mutexattr_destroy(&recursive);
  atomic_init(&call->refs, 2);
  atomic_fetch_add_explicit(&mailbox->refs, 1, memory_order_relaxed);
  call->mailbox = mailbox;
  call->stream = stream;
  call->deadline_ns = deadline_ns;
  return call;
}

void xp_grpc_answer_discard(xp_grpc_answer_box *answer)
{
  if (answer->body.end != NULL) {
    answer->body.end(answer->body.context);
  }
  free(answer->message);
  *answer = (xp_grpc_answer_box){0};
}

void xp_grpc_call_release(xp_grpc_call *call)
{
  if (atomic_fetch_sub_explicit(&call->refs, 1, memory_order_acq_rel) == 1) {
    xp_grpc_mailbox_release(call->mailbox);
    pthread_mutex_destroy(&call->lock);
    free(call);
  }
}

void xp_grpc_call_cancel(xp_grpc_call *call)
{
  call->stream = NULL;
  pthread_mutex_lock(&call->lock);
  if (!call->is_answered) {
    call->is_cancelled = true;
    if (call->cancelled != NULL) {
      call->cancelled(call->context);
    }
  }
  pthread_mutex_unlock(&call->lock);
  xp_grpc_call_release(call);
}

static void answer_call(xp_grpc_call *call, xp_grpc_answer_box answer)
{
  if (getpid() != call->mailbox->pid) {
    xp_grpc_answer_discard(&answer);
    return;
  }
  pthread_mutex_lock(&call->lock);
  call->is_answered = true;
  bool is_cancelled = call->is_cancelled;
  pthread_mutex_unlock(&call->lock);
  call->answer = answer;
  if (is_cancelled || !mailbox_put(call->mailbox, call)) {
    xp_grpc_answer_discard(&answer);
    xp_grpc_call_release(call);
  }
}

/* ---------------------------------------------------------------- for methods */

void xp_grpc_call_on_cancel(xp_grpc_call *call, void (*cancelled)(void *context), void *context)
{
  if (getpid() != call->mailbox->pid) {
    return;
  }
  pthread_mutex_lock(&call->lock);
  if (call->is_cancelled && call->cancelled == NULL && cancelled != NULL) {
    call->cancelled = cancelled; /* so that it is called once */
    cancelled(context);
  } else if (!call->is_cancelled) {
    call->cancelled = cancelled;
    call->context = context;
  }
  pthread_mutex_unlock(&call->lock);
}

int64_t xp_grpc_call_time_left_ns(const xp_grpc_call *call)
{
  if (call->deadline_ns == INT64_MAX) {
    return INT64_MAX;
  }
  int64_t left = call->deadline_ns - xp_monotonic_ns();
  return left > 0 ? left : 0;
}

void xp_grpc_reply(xp_grpc_call *call, const xp_grpc_body *body)
{
  if (body->total_bytes <= UINT32_MAX) {
    answer_call(call, (xp_grpc_answer_box){.body = *body});
    return;
  }
  if (body->end != NULL) {
    body->end(body->context);
  }
  xp_grpc_fail(call, XP_GRPC_RESOURCE_EXHAUSTED, "The reply is larger than a message of gRPC can be (4 GiB).");
}

typedef struct {
  size_t len, taken;
  char bytes[];
} copied_bytes;

static size_t read_copied(void *context, void *buffer, size_t room)
{
  copied_bytes *copy = context;
  size_t n = copy->len - copy->taken;
  n = n < room ? n : room;
  memcpy(buffer, copy->bytes + copy->taken, n);
  copy->taken += n;
  return n;
}

void xp_grpc_reply_bytes(xp_grpc_call *call, xp_str message)
{
  copied_bytes *copy = message.len <= UINT32_MAX ? malloc(sizeof *copy + message.len) : NULL;
  if (copy == NULL) {
    xp_grpc_fail(call, XP_GRPC_RESOURCE_EXHAUSTED, "There is no memory for the reply.");
    return;
  }
  copy->len = message.len;
  copy->taken = 0;
  if (message.len > 0) {
    memcpy(copy->bytes, message.ptr, message.len);
  }
  xp_grpc_reply(call, &(xp_grpc_body){message.len, read_copied, free, copy});
}

void xp_grpc_fail(xp_grpc_call *call, xp_grpc_code code, const char *message)
{
  xp_str text = xp_grpc_cut_text(xp_str_c(message), XP_GRPC_MESSAGE_BYTES);
  char *copy = text.len > 0 ? strndup(text.ptr, text.len) : NULL;
  answer_call(call, (xp_grpc_answer_box){.code = code != XP_GRPC_OK ? code : XP_GRPC_UNKNOWN, .message = copy});
}
