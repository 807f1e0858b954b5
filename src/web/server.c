/* libmicrohttpd reads requests and writes answers; what an answer is comes from site.c.
 *
 * The socket is ours, so that it is bound to the loopback interface and to nothing else.
 */
#include "web/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "web/assets.h"
#include "web/clients.h"

enum {
  FIRST_PORT = 8080,
  PORTS_TRIED = 100,
  THREADS = 4,
  CONNECTIONS = 1024,
  CLIENTS =
      CONNECTIONS / 2, /* from here on those that say nothing go; a thread has room for a quarter of CONNECTIONS */
  TIMEOUT_S = 30,
  REQUEST_BYTES = 32 * 1024, /* of a connection: its request line and headers */
  BACKLOG = 512
};

struct xp_web_server {
  xp_site site;
  xp_clients clients;
  struct MHD_Daemon *daemon;
  int socket;
  char address[80];
};

/* ---- one request */

/* Kept for a connection from the first byte of its target to the end of its answer. */
typedef struct {
  bool headers_seen;
  size_t length;
  char target[];
} request_state;

static void *keep_target(void *context, const char *target, struct MHD_Connection *connection)
{
  size_t length = strlen(target);
  request_state *state = malloc(sizeof *state + length + 1);
  (void)context;
  (void)connection;
  if (state != NULL) {
    state->headers_seen = false;
    state->length = length;
    memcpy(state->target, target, length + 1);
  }
  return state;
}

static xp_client *client_of(struct MHD_Connection *connection)
{
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info != NULL ? info->socket_context : NULL;
}

static void follow_connection(void *context, struct MHD_Connection *connection, void **client,
                              enum MHD_ConnectionNotificationCode what)
{
  xp_web_server *server = context;
  if (what == MHD_CONNECTION_NOTIFY_STARTED) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    *client = info != NULL ? xp_client_came(&server->clients, info->connect_fd) : NULL;
  } else {
    xp_client_went(&server->clients, *client);
    *client = NULL;
  }
}

/* Called when an answer was sent, or its connection broke. */
static void end_request(void *context, struct MHD_Connection *connection, void **state,
                        enum MHD_RequestTerminationCode why)
{
  xp_web_server *server = context;
  (void)why;
  xp_client_waits(&server->clients, client_of(connection));
  free(*state);
  *state = NULL;
}

static xp_str header(struct MHD_Connection *connection, const char *name)
{
  return xp_str_c(MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name));
}

static enum MHD_Result count_host(void *context, enum MHD_ValueKind kind, const char *key, const char *value)
{
  (void)kind;
  (void)value;
  *(int *)context += strcasecmp(key, MHD_HTTP_HEADER_HOST) == 0;
  return MHD_YES;
}

static bool has_body(struct MHD_Connection *connection)
{
  xp_str length = header(connection, MHD_HTTP_HEADER_CONTENT_LENGTH);
  return header(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING).ptr != NULL ||
         (length.ptr != NULL && !xp_str_is(length, "0"));
}

static struct MHD_Response *make_response(xp_reply *reply)
{
  struct MHD_Response *response;
  if (reply->bytes != NULL) {
    response = MHD_create_response_from_buffer(reply->size, reply->bytes, MHD_RESPMEM_MUST_FREE);
    reply->bytes = response != NULL ? NULL : reply->bytes; /* it is the response's now */
  } else {
    response = MHD_create_response_from_buffer(reply->size, (void *)(uintptr_t)reply->fixed, MHD_RESPMEM_PERSISTENT);
  }
  return response;
}

static void add_headers(struct MHD_Response *response, const xp_reply *reply)
{
  static const char *const headers[][2] = {
      {"Content-Security-Policy",
       "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"}, /* the token is in the address */
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cache-Control", "no-store"},
  };
  char save_as[128];
  MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, reply->type);
  for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
    MHD_add_response_header(response, headers[i][0], headers[i][1]);
  }
  if (reply->save_as != NULL) {
    snprintf(save_as, sizeof save_as, "attachment; filename=\"%s\"", reply->save_as);
    MHD_add_response_header(response, "Content-Disposition", save_as);
  }
}

static enum MHD_Result send_reply(struct MHD_Connection *connection, xp_reply *reply, bool close_after)
{
  unsigned status = reply->status;
  enum MHD_Result result = MHD_NO;
  struct MHD_Response *response = make_response(reply);
  if (response != NULL) {
    add_headers(response, reply);
    if (close_after) {
      MHD_add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
    }
    result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
  }
  return result;
}

/* Called when the headers are there, and once more when the request is whole.  Bodies are refused at the first call: an
 * answer that early ends the connection, which is why others wait for the second. */
static enum MHD_Result answer(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                              const char *version, const char *upload, size_t *upload_size, void **state)
{
  xp_web_server *server = context;
  request_state *kept = *state;
  bool body = has_body(connection);
  int hosts = 0;
  (void)url;
  (void)version;
  (void)upload;
  if (*upload_size > 0 || kept == NULL) {
    return MHD_NO;
  }
  if (!kept->headers_seen && !body) {
    kept->headers_seen = true;
    return MHD_YES;
  }
  xp_client_asks(&server->clients, client_of(connection));
  MHD_get_connection_values(connection, MHD_HEADER_KIND, count_host, &hosts);
  const xp_request request = {.method = xp_str_c(method),
                              .target = xp_str_from(kept->target, kept->length),
                              .host = header(connection, MHD_HTTP_HEADER_HOST),
                              .origin = header(connection, "Origin"),
                              .fetch_site = header(connection, "Sec-Fetch-Site"),
                              .has_body = body,
                              .has_two_hosts = hosts > 1};
  xp_reply reply = {0};
  xp_site_answer(&server->site, &request, &reply);
  enum MHD_Result result = send_reply(connection, &reply, body);
  xp_reply_clear(&reply);
  return result;
}

/* ---- the socket */

static int bind_to(int fd, uint16_t port)
{
  const struct sockaddr_in address = {
      .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  return bind(fd, (const struct sockaddr *)&address, sizeof address);
}

/* Binds to the wanted port, or to the first free one. */
static xp_status bind_socket(int fd, uint16_t wanted, uint16_t *port, xp_error *err)
{
  int last = wanted != 0 ? wanted : FIRST_PORT + PORTS_TRIED - 1;
  for (int p = wanted != 0 ? wanted : FIRST_PORT; p <= last; p++) {
    if (bind_to(fd, (uint16_t)p) == 0 && listen(fd, BACKLOG) == 0) {
      *port = (uint16_t)p;
      return XP_OK;
    }
    if (errno != EADDRINUSE && errno != EACCES) {
      break;
    }
  }
  if (wanted != 0) {
    return xp_fail(err, XP_ERR_IO, "Port %d of 127.0.0.1 cannot be used: %s. Leave --port out to take a free one",
                   wanted, strerror(errno));
  }
  return xp_fail(err, XP_ERR_IO, "No port from %d to %d of 127.0.0.1 can be used: %s. Name another one with --port",
                 FIRST_PORT, last, strerror(errno));
}

static xp_status open_socket(xp_web_server *server, uint16_t wanted, uint16_t *port, xp_error *err)
{
  int on = 1;
  server->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (server->socket < 0) {
    return xp_fail(err, XP_ERR_IO, "The system gave no socket: %s", strerror(errno));
  }
  setsockopt(server->socket, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  return bind_socket(server->socket, wanted, port, err);
}

/* ---- start and stop */

static xp_status start_daemon(xp_web_server *server, xp_error *err)
{
  server->daemon = MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD, 0, NULL, NULL, answer, server, MHD_OPTION_LISTEN_SOCKET, server->socket,
      MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS,
      MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
      MHD_OPTION_URI_LOG_CALLBACK, keep_target, NULL, MHD_OPTION_NOTIFY_COMPLETED, end_request, server,
      MHD_OPTION_NOTIFY_CONNECTION, follow_connection, server, MHD_OPTION_END);
  if (server->daemon == NULL) {
    return xp_fail(err, XP_ERR_IO, "The server could not be started; the system refused threads or memory");
  }
  server->socket = -1; /* the daemon closes it */
  return XP_OK;
}

xp_status xp_web_server_start(xp_viewer *viewer, const xp_web_options *options, xp_web_server **server, xp_error *err)
{
  uint16_t port = 0;
  xp_web_server *s = calloc(1, sizeof *s);
  *server = NULL;
  if (s == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out");
  }
  s->socket = s->site.folder = -1;
  s->site.viewer = viewer;
  xp_clients_init(&s->clients, CLIENTS);
  xp_status status = options->assets != NULL ? xp_assets_open_folder(options->assets, &s->site.folder, err) : XP_OK;
  status = status == XP_OK ? xp_token_make(s->site.token, err) : status;
  status = status == XP_OK ? open_socket(s, options->port, &port, err) : status;
  if (status == XP_OK) {
    snprintf(s->address, sizeof s->address, "http://127.0.0.1:%u/%s/", port, s->site.token);
    status = start_daemon(s, err);
  }
  if (status != XP_OK) {
    xp_web_server_stop(s);
    return status;
  }
  *server = s;
  return XP_OK;
}

void xp_web_server_stop(xp_web_server *server)
{
  if (server == NULL) {
    return;
  }
  if (server->daemon != NULL) {
    MHD_stop_daemon(server->daemon);
  }
  if (server->socket >= 0) {
    close(server->socket);
  }
  if (server->site.folder >= 0) {
    close(server->site.folder);
  }
  xp_clients_destroy(&server->clients);
  free(server);
}

const char *xp_web_server_address(const xp_web_server *server)
{
  return server->address;
}
