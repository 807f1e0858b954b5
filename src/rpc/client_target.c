/* The text that names a program: HOST:PORT.
 *
 * What people write instead is known: an address without brackets, a URL, no port.  Each gets its own advice.
 */
#include <inttypes.h>
#include <stdio.h>

#include "rpc/grpc_client.h"
#include "rpc/headers.h"

static bool is_host_character(char c)
{
  return c > ' ' && (uint8_t)c < 0x7f && strchr("/\\@#?,[]\"'", c) == NULL;
}

static xp_status parse_port(xp_str text, uint16_t *port, xp_str whole, xp_error *err)
{
  int number;
  if (!xp_grpc_number_parse(text, &number) || number < 1 || number > 65535) {
    return xp_fail(err, XP_ERR_USAGE, "\"%.*s\" is no port (in \"%.*s\"): it is a number from 1 to 65535.",
                   XP_STR_ARG(xp_str_take(text, 40)), XP_STR_ARG(xp_str_take(whole, 200)));
  }
  *port = (uint16_t)number;
  return XP_OK;
}

static xp_status set_host(xp_str host, xp_grpc_target *target, xp_str whole, xp_error *err)
{
  bool is_clean = host.len > 0 && host.len < sizeof target->host;
  for (size_t i = 0; i < host.len && is_clean; i++) {
    is_clean = is_host_character(host.ptr[i]);
  }
  if (!is_clean) {
    return xp_fail(err, XP_ERR_USAGE,
                   "\"%.*s\" has no host that could be looked up. Write HOST:PORT, as localhost:9012.",
                   XP_STR_ARG(xp_str_take(whole, 200)));
  }
  memcpy(target->host, host.ptr, host.len);
  target->host[host.len] = '\0';
  return XP_OK;
}

/* [IPV6]:PORT */
static xp_status parse_brackets(xp_str text, xp_grpc_target *target, xp_error *err)
{
  size_t close = xp_str_find(text, ']', 0);
  xp_str host = xp_str_skip(xp_str_take(text, close), 1);
  xp_str rest = xp_str_skip(text, close + 1);
  if (close == text.len || xp_str_find(host, ':', 0) == host.len || rest.len == 0 || rest.ptr[0] != ':') {
    return xp_fail(err, XP_ERR_USAGE, "\"%.*s\" is no [IPV6]:PORT. Write it as [::1]:9012.",
                   XP_STR_ARG(xp_str_take(text, 200)));
  }
  xp_status status = set_host(host, target, text, err);
  return status == XP_OK ? parse_port(xp_str_skip(rest, 1), &target->port, text, err) : status;
}

xp_status xp_grpc_target_parse(xp_str text, xp_grpc_target *target, xp_error *err)
{
  *target = (xp_grpc_target){.port = 0};
  if (xp_str_starts(text, "grpc://")) {
    text = xp_str_skip(text, strlen("grpc://"));
  }
  xp_str shown = xp_str_take(text, 200);
  if (xp_str_starts(text, "[")) {
    return parse_brackets(text, target, err);
  }
  if (xp_str_find_text(text, "://") < text.len) {
    return xp_fail(err, XP_ERR_USAGE, "\"%.*s\" is a URL. Write HOST:PORT only, as localhost:9012.", XP_STR_ARG(shown));
  }
  size_t colon = xp_str_find(text, ':', 0);
  if (colon == text.len) {
    return xp_fail(err, XP_ERR_USAGE, "\"%.*s\" has no port. Write HOST:PORT, as localhost:9012.", XP_STR_ARG(shown));
  }
  if (xp_str_rfind(text, ':') != colon) {
    return xp_fail(err, XP_ERR_USAGE, "\"%.*s\" has several colons. Write an IPv6 address in brackets, as [::1]:9012.",
                   XP_STR_ARG(shown));
  }
  xp_status status = set_host(xp_str_take(text, colon), target, text, err);
  return status == XP_OK ? parse_port(xp_str_skip(text, colon + 1), &target->port, text, err) : status;
}

void xp_grpc_target_print(const xp_grpc_target *target, char text[XP_GRPC_TARGET_ROOM])
{
  bool is_ipv6 = strchr(target->host, ':') != NULL;
  snprintf(text, XP_GRPC_TARGET_ROOM, is_ipv6 ? "[%s]:%u" : "%s:%u", target->host, (unsigned)target->port);
}
