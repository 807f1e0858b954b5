/* From a request to its answer, without a network: what the server serves, and every refusal. */
#ifndef XP_WEB_SITE_H
#define XP_WEB_SITE_H

#include "web/guard.h"
#include "web/reply.h"
#include "web/viewer.h"

typedef struct {
  xp_viewer *viewer;
  int folder; /* files of the page; -1: those in the program */
  char token[XP_TOKEN_BYTES + 1];
} xp_site;

/* Answers a request; the reply has to be cleared with xp_reply_clear before and after.  Any thread. */
void xp_site_answer(const xp_site *site, const xp_request *request, xp_reply *reply);

#endif
