/* From a host's name to a connected socket, in limited time.
 *
 * A name may have several addresses (localhost has two, and a server may listen on one), so all are tried in order,
 * each with its share of the time that is left.  Names are looked up on a thread that may outlive the call: it shares a
 * counted structure with the call, and whoever leaves last frees it.
 */
#define _GNU_SOURCE
#include "rpc/client.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rpc/monotonic.h"
#include "rpc/socket.h"

bool xp_grpc_is_cancelled(const xp_grpc_request *request)
{
  return request->cancel != NULL && __atomic_load_n(request->cancel, __ATOMIC_RELAXED) != 0;
}

void xp_grpc_end_with(xp_grpc_answer *answer, xp_grpc_end end, const char *format, ...)
{
  answer->end = end;
  va_list args;
  va_start(args, format);
  vsnprintf(answer->message, sizeof answer->message, format, args);
  va_end(args);
}

/* Fills the answer in if the call must end now. */
static bool must_end(const xp_grpc_request *request, int64_t by_ns, xp_grpc_answer *answer, const char *doing)
{
  char target[XP_GRPC_TARGET_ROOM];
  xp_grpc_target_print(&request->target, target);
  if (xp_grpc_is_cancelled(request)) {
    xp_grpc_end_with(answer, XP_GRPC_END_CANCELLED, "The call to %s was given up.", target);
    return true;
  }
  if (xp_monotonic_ns() >= by_ns) {
    xp_grpc_end_with(answer, XP_GRPC_END_TIMEOUT, "%s %s took too long.", doing, target);
    return true;
  }
  return false;
}

/* ---------------------------------------------------------------- names */

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int refs; /* of the call and of the thread */
  bool is_done;
  int problem;
  char host[256], port[8];
  struct addrinfo *found;
} lookup;

static int find(const char *host, const char *port, int flags, struct addrinfo **found)
{
  /* Without AI_ADDRCONFIG, which hides ::1 on machines with no other IPv6 address. */
  struct addrinfo hints = {.ai_flags = AI_NUMERICSERV | flags, .ai_socktype = SOCK_STREAM};
  return getaddrinfo(host, port, &hints, found);
}

/* Gives back one side's part; called with the lock held, which is gone afterwards. */
static void leave(lookup *l)
{
  bool is_last = --l->refs == 0;
  pthread_mutex_unlock(&l->lock);
  if (is_last) {
    if (l->found != NULL) {
      freeaddrinfo(l->found);
    }
    pthread_cond_destroy(&l->changed);
    pthread_mutex_destroy(&l->lock);
    free(l);
  }
}

static void *look_up(void *argument)
{
  lookup *l = argument;
  struct addrinfo *found = NULL;
  int problem = find(l->host, l->port, 0, &found);
  pthread_mutex_lock(&l->lock);
  l->found = problem == 0 ? found : NULL;
  l->problem = problem;
  l->is_done = true;
  pthread_cond_signal(&l->changed);
  leave(l);
  return NULL;
}

static lookup *create_lookup(const char *host, const char *port)
{
  lookup *l = calloc(1, sizeof *l);
  if (l == NULL) {
    return NULL;
  }
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&l->changed, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&l->lock, NULL);
  l->refs = 2;
  snprintf(l->host, sizeof l->host, "%s", host);
  snprintf(l->port, sizeof l->port, "%s", port);
  return l;
}

/* A detached thread that takes no signals.  False if there is none. */
static bool start_lookup(lookup *l)
{
  sigset_t all, before;
  sigfillset(&all);
  pthread_attr_t detached;
  pthread_attr_init(&detached);
  pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  bool started = pthread_create(&thread, &detached, look_up, l) == 0;
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  pthread_attr_destroy(&detached);
  return started;
}

static void wait_a_little(lookup *l)
{
  int64_t until = xp_monotonic_ns() + XP_GRPC_CANCEL_MS * XP_NS_IN_MS;
  struct timespec t = {.tv_sec = (time_t)(until / XP_NS_IN_S), .tv_nsec = (long)(until % XP_NS_IN_S)};
  pthread_cond_timedwait(&l->changed, &l->lock, &t);
}

/* The addresses of the target; NULL with the answer filled in. */
static struct addrinfo *resolve(const xp_grpc_request *request, int64_t by_ns, xp_grpc_answer *answer)
{
  char port[8];
  struct addrinfo *found = NULL;
  snprintf(port, sizeof port, "%u", (unsigned)request->target.port);
  if (find(request->target.host, port, AI_NUMERICHOST, &found) == 0) {
    return found;
  }
  lookup *l = create_lookup(request->target.host, port);
  if (l == NULL || !start_lookup(l)) {
    xp_grpc_end_with(answer, XP_GRPC_END_MEMORY, "There is no memory to look up %s.", request->target.host);
    if (l != NULL) {
      l->refs = 1;
      pthread_mutex_lock(&l->lock);
      leave(l);
    }
    return NULL;
  }
  pthread_mutex_lock(&l->lock);
  bool has_ended = false;
  while (!l->is_done && !(has_ended = must_end(request, by_ns, answer, "Looking up"))) {
    wait_a_little(l);
  }
  if (!has_ended && l->problem == 0) {
    found = l->found;
    l->found = NULL;
  } else if (!has_ended) {
    xp_grpc_end_with(answer, l->problem == EAI_MEMORY ? XP_GRPC_END_MEMORY : XP_GRPC_END_NO_ADDRESS,
                     "The host %s has no address: %s. Check its spelling, or write its IP address.",
                     request->target.host, gai_strerror(l->problem));
  }
  leave(l);
  return found;
}

/* ---------------------------------------------------------------- connecting */

static int64_t share_of(int64_t by_ns, int addresses_left)
{
  if (by_ns == INT64_MAX) {
    return by_ns;
  }
  int64_t now = xp_monotonic_ns();
  return by_ns > now ? now + (by_ns - now) / addresses_left : by_ns;
}

/* Connecting from a port to the same port succeeds without anybody listening there, if the system happens to choose it.
 */
static bool is_own_echo(int fd)
{
  struct sockaddr_storage here = {0}, there = {0};
  socklen_t here_len = sizeof here, there_len = sizeof there;
  return getsockname(fd, (struct sockaddr *)&here, &here_len) == 0 &&
         getpeername(fd, (struct sockaddr *)&there, &there_len) == 0 && here_len == there_len &&
         memcmp(&here, &there, here_len) == 0;
}

/* Waits until the socket is connected.  0, or why not: ETIMEDOUT and ECANCELED are ours. */
static int await_connected(const xp_grpc_request *request, int fd, int64_t by_ns)
{
  for (;;) {
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    int n = poll(&p, 1, xp_poll_timeout_ms(by_ns, xp_monotonic_ns(), XP_GRPC_CANCEL_MS));
    if (xp_grpc_is_cancelled(request)) {
      return ECANCELED;
    }
    if (n > 0) {
      int problem = 0;
      socklen_t len = sizeof problem;
      getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &len);
      return problem == 0 && is_own_echo(fd) ? ECONNREFUSED : problem;
    }
    if (xp_monotonic_ns() >= by_ns) {
      return ETIMEDOUT;
    }
  }
}

/* Connects to one address.  0, or why not. */
static int connect_socket(const xp_grpc_request *request, int fd, const struct addrinfo *address, int64_t by_ns)
{
  if (connect(fd, address->ai_addr, address->ai_addrlen) == 0) {
    return is_own_echo(fd) ? ECONNREFUSED : 0;
  }
  /* A signal does not break a connect off: it goes on. */
  return errno == EINPROGRESS || errno == EINTR ? await_connected(request, fd, by_ns) : errno;
}

static int try_address(const xp_grpc_request *request, const struct addrinfo *address, int64_t by_ns, int *problem)
{
  int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    *problem = errno;
    return -1;
  }
  *problem = connect_socket(request, fd, address, by_ns);
  if (*problem != 0) {
    close(fd);
    return -1;
  }
  xp_grpc_socket_set_up(fd);
  return fd;
}

/* Says why no address could be connected to. */
static void explain(const xp_grpc_request *request, int problem, xp_grpc_answer *answer)
{
  char target[XP_GRPC_TARGET_ROOM];
  xp_grpc_target_print(&request->target, target);
  if (problem == ECANCELED) {
    xp_grpc_end_with(answer, XP_GRPC_END_CANCELLED, "The call to %s was given up.", target);
  } else if (problem == ETIMEDOUT) {
    xp_grpc_end_with(answer, XP_GRPC_END_TIMEOUT,
                     "%s does not answer: the host is down or a firewall is in between. Check the host and the port.",
                     target);
  } else if (problem == ENOMEM || problem == ENOBUFS || problem == EMFILE || problem == ENFILE) {
    xp_grpc_end_with(answer, XP_GRPC_END_MEMORY, "Cannot open a connection to %s: %s.", target, strerror(problem));
  } else {
    xp_grpc_end_with(answer, XP_GRPC_END_NO_LISTENER,
                     "Nothing listens on %s (%s). Is the program running, with its profiler server on this port?",
                     target, strerror(problem));
  }
}

int xp_grpc_connect(const xp_grpc_request *request, int64_t by_ns, xp_grpc_answer *answer)
{
  struct addrinfo *found = resolve(request, by_ns, answer);
  if (found == NULL) {
    return -1;
  }
  int left = 0, fd = -1, problem = ECONNREFUSED;
  bool has_timed_out = false;
  for (const struct addrinfo *a = found; a != NULL; a = a->ai_next) {
    left++;
  }
  for (const struct addrinfo *a = found; a != NULL && fd < 0 && problem != ECANCELED; a = a->ai_next) {
    fd = try_address(request, a, share_of(by_ns, left--), &problem);
    has_timed_out = has_timed_out || problem == ETIMEDOUT;
  }
  freeaddrinfo(found);
  if (fd < 0) {
    explain(request, has_timed_out && problem != ECANCELED ? ETIMEDOUT : problem, answer);
  }
  return fd;
}
