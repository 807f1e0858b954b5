/* Answers are whole in memory before the first byte is sent: a slow client then holds its bytes and nothing else. */
#include "web/reply.h"

#include <stdarg.h>
#include <stdlib.h>

void xp_reply_clear(xp_reply *reply)
{
  free(reply->bytes);
  *reply = (xp_reply){.status = 500, .type = "text/plain", .fixed = ""};
}

void xp_reply_fail(xp_reply *reply, unsigned status, const char *format, ...)
{
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  FILE *out = xp_reply_open(reply, "application/json");
  if (out == NULL) {
    return;
  }
  xp_json json;
  xp_json_begin(&json, out);
  xp_json_object_line(&json);
  xp_json_key(&json, "error");
  xp_json_text(&json, text);
  xp_json_object_end(&json);
  xp_json_finish(&json);
  xp_reply_finish(reply, out);
  reply->status = reply->status == 200 ? status : reply->status;
}

static void out_of_memory(xp_reply *reply)
{
  static const char text[] = "{\"error\": \"Memory ran out in the server\"}\n";
  xp_reply_clear(reply);
  reply->type = "application/json";
  reply->fixed = text;
  reply->size = sizeof text - 1;
}

FILE *xp_reply_open(xp_reply *reply, const char *type)
{
  xp_reply_clear(reply);
  reply->type = type;
  FILE *out = open_memstream(&reply->bytes, &reply->size);
  if (out == NULL) {
    reply->bytes = NULL;
    out_of_memory(reply);
  }
  return out;
}

void xp_reply_finish(xp_reply *reply, FILE *out)
{
  bool failed = ferror(out) != 0;
  if (fclose(out) != 0 || failed || reply->bytes == NULL) {
    out_of_memory(reply);
    return;
  }
  reply->status = 200;
}
