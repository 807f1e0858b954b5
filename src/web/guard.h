/* Who may ask: the rules that a request has to keep before anything is read for it.
 *
 * The server listens on the loopback interface, where every program and every web page of the machine's browsers can
 * reach it.  The token in the path keeps out whoever does not know it; the Host header keeps out pages that point a
 * name of theirs at this address; Origin and Sec-Fetch-Site keep out what other pages make a browser ask.
 */
#ifndef XP_WEB_GUARD_H
#define XP_WEB_GUARD_H

#include "base/error.h"
#include "base/str.h"

enum { XP_TOKEN_BYTES = 32 }; /* hexadecimal digits */

typedef struct {
  xp_str method, target;           /* "GET", "/TOKEN/data/meta?x=1" */
  xp_str host, origin, fetch_site; /* headers; ptr is NULL without them */
  bool has_body;
  bool has_two_hosts;
} xp_request;

/* Fills a token with random digits of the system, NUL-terminated.  XP_ERR_IO without them. */
xp_status xp_token_make(char token[XP_TOKEN_BYTES + 1], xp_error *err);

/* True for "localhost", "127.0.0.1" and "[::1]", with or without a port. */
bool xp_host_is_local(xp_str host);

/* NULL if the request may be answered as far as its headers say, else the reason for the user. */
const char *xp_request_refusal(const xp_request *request);

/* Takes everything up to the token and the slash behind it off a path.  False if no part of the path is the token;
 * how long that takes says nothing about the token. */
bool xp_path_after_token(xp_str path, const char *token, xp_str *rest);

#endif
