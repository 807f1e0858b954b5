/* Fuzz target: requests to the viewer.  The input is a target and headers, one a line; the capture is a small one of
 * its own.  No input may be answered with 500, or with a file. */
#include <stdlib.h>

#include "web/site.h"
#include "xspace/write.h"

#define TOKEN "00112233445566778899aabbccddeeff"

static void require(bool holds)
{
  if (!holds) {
    abort();
  }
}

/* Two threads with some events, opened once. */
static const xp_site *open_site(void)
{
  static xp_site site = {.folder = -1, .token = TOKEN};
  static xp_wire_writer space;
  xp_error err;
  if (site.viewer != NULL) {
    return &site;
  }
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("/host:CPU"), 0);
  require(plane != NULL);
  for (int64_t line = 1; line < 3; line++) {
    xp_plane_writer_line(plane, line, xp_str_c(line == 1 ? "python" : "worker"), 0);
    for (int64_t i = 0; i < 50; i++) {
      int64_t id = xp_plane_writer_event(plane, xp_str_c(i % 3 ? "jit(f)" : "PjRt::Execute"), xp_str_c(""));
      xp_plane_writer_add(plane, id, 1000 * i + 1, 700 + i % 2 * 2000);
    }
  }
  require(xp_plane_writer_finish(plane, &space));
  const xp_viewer_options options = {
      .path = "fuzz", .bytes = xp_str_from((const char *)space.data, space.len), .threads = 1, .version = "0"};
  require(xp_viewer_open(&options, &site.viewer, &err) == XP_OK);
  require(xp_viewer_wait(site.viewer, XP_VIEW_READY, -1) == XP_VIEW_READY);
  return &site;
}

/* Takes a line off the input; ptr is NULL behind the last. */
static xp_str take_line(xp_str *input)
{
  size_t end = xp_str_find(*input, '\n', 0);
  xp_str line = input->len > 0 ? xp_str_take(*input, end) : xp_str_from(NULL, 0);
  *input = xp_str_skip(*input, end + 1);
  return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  const xp_site *site = open_site();
  xp_str input = xp_str_from(size > 0 ? (const char *)data : "", size);
  xp_request request = {.method = xp_str_c("GET"), .host = xp_str_c("localhost")};
  xp_reply reply = {0};
  request.target = take_line(&input);
  xp_str host = take_line(&input);
  if (host.ptr != NULL) {
    request.host = host;
  }
  request.origin = take_line(&input);
  request.fetch_site = take_line(&input);
  xp_site_answer(site, &request, &reply);
  static const unsigned statuses[] = {200, 400, 403, 404, 414};
  bool known = false;
  for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++) {
    known = known || reply.status == statuses[i];
  }
  require(known);
  xp_reply_clear(&reply);
  return 0;
}
