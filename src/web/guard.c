/* A browser names the page that a request comes from, and cannot be made to lie about it; other programs may leave the
 * headers out, and need the token as well. */
#include "web/guard.h"

#include <errno.h>
#include <sys/random.h>

xp_status xp_token_make(char token[XP_TOKEN_BYTES + 1], xp_error *err)
{
  static const char digits[] = "0123456789abcdef";
  uint8_t bytes[XP_TOKEN_BYTES / 2];
  ssize_t got;
  do {
    got = getrandom(bytes, sizeof bytes, 0); /* so few bytes come whole */
  } while (got < 0 && errno == EINTR);
  if (got != (ssize_t)sizeof bytes) {
    return xp_fail(err, XP_ERR_IO, "The system gave no random numbers for the address of the page: %s",
                   strerror(errno));
  }
  for (size_t i = 0; i < sizeof bytes; i++) {
    token[2 * i] = digits[bytes[i] >> 4];
    token[2 * i + 1] = digits[bytes[i] & 15];
  }
  token[XP_TOKEN_BYTES] = '\0';
  return XP_OK;
}

static bool is_port(xp_str s)
{
  int64_t port;
  for (size_t i = 0; i < s.len; i++) {
    if (s.ptr[i] < '0' || s.ptr[i] > '9') {
      return false;
    }
  }
  return xp_str_to_int64(s, &port) && port > 0 && port < 65536;
}

/* Names of hosts do not depend on case. */
static bool is_name(xp_str s, const char *name)
{
  if (s.len != strlen(name)) {
    return false;
  }
  for (size_t i = 0; i < s.len; i++) {
    char c = s.ptr[i] >= 'A' && s.ptr[i] <= 'Z' ? (char)(s.ptr[i] | 0x20) : s.ptr[i];
    if (c != name[i]) {
      return false;
    }
  }
  return true;
}

bool xp_host_is_local(xp_str host)
{
  static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
  size_t colon = xp_str_rfind(host, ':');
  bool has_port = colon < host.len && is_port(xp_str_skip(host, colon + 1));
  xp_str name = has_port ? xp_str_take(host, colon) : host;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    if (is_name(name, names[i])) {
      return true;
    }
  }
  return false;
}

/* The page itself asks with its own origin. */
static bool is_own_origin(xp_str origin, xp_str host)
{
  return xp_str_starts(origin, "http://") && xp_str_eq(xp_str_skip(origin, 7), host);
}

const char *xp_request_refusal(const xp_request *request)
{
  if (request->host.ptr == NULL || request->has_two_hosts || !xp_host_is_local(request->host)) {
    return "This server answers to localhost, 127.0.0.1 and [::1] only; forward its port with ssh -L to use it from "
           "another machine";
  }
  if (request->origin.ptr != NULL && !is_own_origin(request->origin, request->host)) {
    return "This server answers to its own page only";
  }
  if (request->fetch_site.ptr != NULL && !xp_str_is(request->fetch_site, "same-origin") &&
      !xp_str_is(request->fetch_site, "none")) {
    return "This server answers to its own page only; open the address by typing or pasting it";
  }
  return NULL;
}

/* All bytes are looked at, whatever they are. */
static bool is_token(xp_str part, const char *token)
{
  unsigned differs = part.len != XP_TOKEN_BYTES;
  for (size_t i = 0; i < XP_TOKEN_BYTES; i++) {
    differs |= (unsigned)(uint8_t)(i < part.len ? part.ptr[i] : 0) ^ (unsigned)(uint8_t)token[i];
  }
  return differs == 0;
}

bool xp_path_after_token(xp_str path, const char *token, xp_str *rest)
{
  for (size_t at = 1; at <= path.len;) { /* behind a slash */
    size_t slash = xp_str_find(path, '/', at);
    if (slash == path.len) {
      return false;
    }
    if (is_token(xp_str_from(path.ptr + at, slash - at), token)) {
      *rest = xp_str_skip(path, slash + 1);
      return true;
    }
    at = slash + 1;
  }
  return false;
}
