/* The sockets that a server listens on.
 *
 * "Loopback" is two addresses, and a client may try either, so both get the same port.  A machine may lack one of the
 * two families; a port of which only one half can be had is an error, for another program answers on the other half.
 */
#define _GNU_SOURCE
#include "rpc/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 128, TRIES_FOR_A_PORT = 32 };

typedef struct {
  struct sockaddr_storage address;
  socklen_t len;
  bool is_only_ipv6; /* "::" of every network takes IPv4, too */
} place;

static bool is_missing_family(int problem)
{
  return problem == EAFNOSUPPORT || problem == EADDRNOTAVAIL || problem == EPROTONOSUPPORT;
}

static void set_port(place *p, uint16_t port)
{
  if (p->address.ss_family == AF_INET6) {
    ((struct sockaddr_in6 *)&p->address)->sin6_port = htons(port);
  } else {
    ((struct sockaddr_in *)&p->address)->sin_port = htons(port);
  }
}

static uint16_t port_of(int fd)
{
  struct sockaddr_storage address;
  socklen_t len = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &len) != 0) {
    return 0;
  }
  return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                             : ((struct sockaddr_in *)&address)->sin_port);
}

/* A listening socket, or -1 with *problem. */
static int open_place(const place *p, int *problem)
{
  int fd = socket(p->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {
    *problem = errno;
    return -1;
  }
  int on = 1, only_ipv6 = p->is_only_ipv6;
  /* On Linux it lets the port be taken again at once after a restart, and never twice at the same time. */
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (p->address.ss_family == AF_INET6) {
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &only_ipv6, sizeof only_ipv6);
  }
  if (bind(fd, (const struct sockaddr *)&p->address, p->len) == 0 && listen(fd, BACKLOG) == 0) {
    return fd;
  }
  *problem = errno;
  close(fd);
  return -1;
}

static xp_status cannot_listen(const char *address, uint16_t port, int problem, xp_error *err)
{
  const char *advice = problem == EADDRINUSE ? "Another program listens there: choose another port, or 0 for any."
                       : problem == EACCES   ? "Ports below 1024 are for root: choose one from 1024 to 65535."
                       : is_missing_family(problem)
                           ? "This machine has no such address: `ip address` lists those it has."
                           : "Choose another address or port.";
  return xp_fail(err, XP_ERR_IO, "Cannot listen on %s port %u: %s. %s", address, (unsigned)port, strerror(problem),
                 advice);
}

static void keep(xp_grpc_server *server, int fd)
{
  server->port = port_of(fd);
  atomic_store(&server->fds[XP_GRPC_FD_LISTEN + server->listener_count++], fd);
}

static void give_up(xp_grpc_server *server)
{
  while (server->listener_count > 0) {
    close(atomic_exchange(&server->fds[XP_GRPC_FD_LISTEN + --server->listener_count], -1));
  }
}

/* ---------------------------------------------------------------- both loopback addresses */

static place loopback(int family)
{
  place p = {.is_only_ipv6 = true};
  if (family == AF_INET6) {
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&p.address;
    in6->sin6_family = AF_INET6;
    in6->sin6_addr = in6addr_loopback;
    p.len = sizeof *in6;
  } else {
    struct sockaddr_in *in = (struct sockaddr_in *)&p.address;
    in->sin_family = AF_INET;
    in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    p.len = sizeof *in;
  }
  return p;
}

/* Opens both on one port, 0 for any.  Returns 0, or why not, with the address. */
static int open_both(xp_grpc_server *server, uint16_t port, const char **address)
{
  static const int FAMILIES[] = {AF_INET, AF_INET6};
  static const char *const NAMES[] = {"127.0.0.1", "::1"};
  int missing = 0;
  for (int i = 0; i < 2; i++) {
    place p = loopback(FAMILIES[i]);
    int problem = 0;
    set_port(&p, server->listener_count > 0 ? server->port : port);
    int fd = open_place(&p, &problem);
    if (fd >= 0) {
      keep(server, fd);
    } else if (is_missing_family(problem)) {
      missing = problem;
    } else {
      *address = NAMES[i];
      give_up(server);
      return problem;
    }
  }
  *address = "127.0.0.1";
  return server->listener_count > 0 ? 0 : missing;
}

static xp_status listen_on_loopback(xp_grpc_server *server, xp_error *err)
{
  uint16_t port = server->options.port;
  const char *address;
  int problem = open_both(server, port, &address);
  /* The system chose a port that is free at 127.0.0.1; ::1 may have it taken. */
  for (int i = 1; i < TRIES_FOR_A_PORT && port == 0 && problem == EADDRINUSE; i++) {
    problem = open_both(server, port, &address);
  }
  return problem == 0 ? XP_OK : cannot_listen(address, port, problem, err);
}

/* ---------------------------------------------------------------- a numeric address */

static bool is_any_ipv6(const place *p)
{
  return p->address.ss_family == AF_INET6 &&
         IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)&p->address)->sin6_addr);
}

static xp_status listen_on(xp_grpc_server *server, const char *address, xp_error *err)
{
  struct addrinfo hints = {.ai_flags = AI_NUMERICHOST | AI_PASSIVE, .ai_socktype = SOCK_STREAM}, *found;
  if (getaddrinfo(address, NULL, &hints, &found) != 0) {
    return xp_fail(err, XP_ERR_USAGE,
                   "\"%.100s\" is no numeric address. Write 127.0.0.1 or ::1 for this machine, 0.0.0.0 or :: for all "
                   "networks.",
                   address);
  }
  place p = {.len = found->ai_addrlen};
  memcpy(&p.address, found->ai_addr, found->ai_addrlen);
  freeaddrinfo(found);
  p.is_only_ipv6 = !is_any_ipv6(&p);
  set_port(&p, server->options.port);
  int problem;
  int fd = open_place(&p, &problem);
  if (fd < 0) {
    return cannot_listen(address, server->options.port, problem, err);
  }
  keep(server, fd);
  return XP_OK;
}

xp_status xp_grpc_listen(xp_grpc_server *server, xp_error *err)
{
  const char *address = server->options.address;
  return address == NULL ? listen_on_loopback(server, err) : listen_on(server, address, err);
}
