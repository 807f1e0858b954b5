/* Passes messages of tensorflow.ProfilerService through our readers and writers, for messages.py.
 *
 *   profile_messages request | options | monitor_request | monitor_response | terminate_request
 *     reads a message from standard input and writes it again to standard output
 *   profile_messages reply PIECE
 *     reads a ProfileResponse in pieces of PIECE bytes and says what is in it, a line each, bytes in hex
 *   profile_messages head XSPACE_BYTES EMPTY
 *     writes what stands before a capture of so many bytes
 */
#include <stdio.h>
#include <stdlib.h>

#include "rpc/messages.h"
#include "rpc/profile_reply.h"

/* ---------------------------------------------------------------- messages that are written again */

static xp_status again(const char *kind, xp_str message, xp_arena *arena, xp_wire_writer *w, xp_error *err)
{
  xp_profile_request request;
  xp_profile_options options = {0};
  xp_monitor_request monitor;
  xp_str text;
  xp_status status = XP_ERR_USAGE;
  if (strcmp(kind, "request") == 0) {
    status = xp_profile_request_read(message, arena, &request, err);
    xp_profile_request_put(w, &request);
  } else if (strcmp(kind, "options") == 0) {
    status = xp_profile_options_read(message, arena, &options, err);
    xp_profile_options_put(w, &options);
  } else if (strcmp(kind, "monitor_request") == 0) {
    status = xp_monitor_request_read(message, &monitor, err);
    xp_monitor_request_put(w, &monitor);
  } else if (strcmp(kind, "monitor_response") == 0) {
    status = xp_monitor_response_read(message, &text, err);
    xp_monitor_response_put(w, text);
  } else if (strcmp(kind, "terminate_request") == 0) {
    status = xp_terminate_request_read(message, &text, err);
    xp_terminate_request_put(w, text);
  }
  return status;
}

static int write_again(const char *kind, xp_str message)
{
  xp_arena *arena = xp_arena_create();
  xp_wire_writer w = {0};
  xp_error err = {XP_ERR_USAGE, "no such message"};
  xp_status status = again(kind, message, arena, &w, &err);
  if (status == XP_OK) {
    fwrite(w.data, 1, w.len, stdout);
  } else {
    fprintf(stderr, "%s\n", err.text);
  }
  xp_wire_writer_free(&w);
  xp_arena_destroy(arena);
  return status == XP_OK ? 0 : 1;
}

/* ---------------------------------------------------------------- the reply */

static bool print_hex(void *context, xp_str piece)
{
  (void)context;
  for (size_t i = 0; i < piece.len; i++) {
    printf("%02x", (uint8_t)piece.ptr[i]);
  }
  return true;
}

static bool begin_xspace(void *context, uint64_t bytes)
{
  (void)context;
  return printf("\nxspace %llu ", (unsigned long long)bytes) > 0;
}

static bool begin_tool(void *context, xp_str name, uint64_t bytes)
{
  (void)context;
  return printf("\ntool %.*s %llu ", XP_STR_ARG(name), (unsigned long long)bytes) > 0;
}

static int print_reply(xp_str message, size_t piece)
{
  xp_profile_reply_sink sink = {begin_xspace, print_hex, begin_tool, print_hex, NULL};
  xp_profile_reply reply;
  xp_error err;
  xp_profile_reply_open(&reply, message.len, &sink);
  while (message.len > 0 && xp_profile_reply_feed(&reply, xp_str_take(message, piece), &err) == XP_OK) {
    message = xp_str_skip(message, piece);
  }
  if (xp_profile_reply_end(&reply, &err) != XP_OK) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }
  printf("\nempty_trace %d\n", reply.empty_trace);
  return 0;
}

static int print_head(uint64_t bytes, bool empty_trace)
{
  xp_profile_reply_head head;
  xp_error err;
  if (xp_profile_reply_head_make(bytes, empty_trace, &head, &err) != XP_OK) {
    fprintf(stderr, "%s\n", err.text);
    return 1;
  }
  fwrite(head.bytes, 1, head.len, stdout);
  return 0;
}

int main(int argc, char **argv)
{
  static char input[1 << 20];
  if (argc == 4 && strcmp(argv[1], "head") == 0) {
    return print_head(strtoull(argv[2], NULL, 10), argv[3][0] == '1');
  }
  xp_str message = xp_str_from(input, fread(input, 1, sizeof input, stdin));
  if (argc == 3 && strcmp(argv[1], "reply") == 0) {
    return print_reply(message, strtoul(argv[2], NULL, 10));
  }
  return argc == 2 ? write_again(argv[1], message) : 2;
}
