/* Monitor: the counters of a live job, before anyone captures it. */
#include <stdlib.h>

#include "rpc/grpc_client.h"
#include "rpc/messages.h"
#include "xlaprof/capture.h"

enum { MAX_REPORT_BYTES = 64 << 20 };

/* The reply, collected in memory. */
typedef struct {
  char *bytes;
  size_t len, room;
} reply;

static bool collect(void *context, uint64_t total, xp_str bytes)
{
  reply *r = context;
  if (r->bytes == NULL) {
    r->bytes = malloc((size_t)total + 1);
    r->room = r->bytes != NULL ? (size_t)total : 0;
  }
  if (bytes.len > r->room - r->len) {
    return false;
  }
  memcpy(r->bytes + r->len, bytes.ptr, bytes.len);
  r->len += bytes.len;
  return true;
}

static xp_status status_of(const xp_grpc_answer *a)
{
  switch (a->end) {
  case XP_GRPC_END_STATUS:
    return XP_ERR_PEER;
  case XP_GRPC_END_NO_ADDRESS:
    return XP_ERR_NOT_FOUND;
  case XP_GRPC_END_NOT_GRPC:
    return XP_ERR_FORMAT;
  case XP_GRPC_END_TIMEOUT:
    return XP_ERR_TIMEOUT;
  case XP_GRPC_END_MEMORY:
  case XP_GRPC_END_SINK:
    return XP_ERR_MEMORY;
  default:
    return XP_ERR_CONNECT;
  }
}

static xp_status fail(const char *target, const xp_grpc_answer *a, xp_error *err)
{
  if (a->end == XP_GRPC_END_STATUS && a->code == XP_GRPC_UNIMPLEMENTED) {
    return xp_fail(
        err, XP_ERR_PEER,
        "%s does not tell its counters (UNIMPLEMENTED): profiler servers of torch_xla and JAX do not. Capture it "
        "(xlaprof capture), or print torch_xla.debug.metrics.metrics_report() in the program",
        target);
  }
  if (a->end == XP_GRPC_END_STATUS) {
    return xp_fail(err, XP_ERR_PEER, "%s answered %s: %s", target, xp_grpc_code_name(a->code), a->message);
  }
  return xp_fail(err, status_of(a), "%s", a->message);
}

static xp_status take_text(const char *target, const reply *r, char **text, xp_error *err)
{
  xp_str data = xp_str_from(NULL, 0);
  xp_error bad = {0};
  if (xp_monitor_response_read(xp_str_from(r->bytes, r->len), &data, &bad) != XP_OK) {
    return xp_fail(err, XP_ERR_FORMAT, "%s: %s", target, bad.text);
  }
  *text = strndup(data.len > 0 ? data.ptr : "", data.len);
  return *text != NULL ? XP_OK : xp_fail(err, XP_ERR_MEMORY, "No memory for the report of %s", target);
}

xp_status xp_capture_metrics(const char *target, uint64_t timeout_ms, char **text, xp_error *err)
{
  xp_wire_writer w = {0};
  reply r = {0};
  xp_grpc_answer answer;
  uint64_t timeout_ns = timeout_ms < UINT64_MAX / 1000000 ? timeout_ms * 1000000 : UINT64_MAX;
  xp_monitor_request monitor = {.level = 2};
  xp_grpc_request request = {.path = XP_RPC_MONITOR,
                             .connect_timeout_ns = timeout_ns,
                             .timeout_ns = timeout_ns,
                             .max_reply_bytes = MAX_REPORT_BYTES,
                             .sink = collect,
                             .context = &r};
  xp_status status = xp_grpc_target_parse(xp_str_c(target), &request.target, err);
  if (status != XP_OK) {
    return status;
  }
  xp_monitor_request_put(&w, &monitor);
  request.request = xp_str_from((const char *)w.data, w.len);
  xp_grpc_unary(&request, &answer);
  xp_wire_writer_free(&w);
  bool is_answered = answer.end == XP_GRPC_END_STATUS && answer.code == XP_GRPC_OK;
  status = is_answered ? take_text(target, &r, text, err) : fail(target, &answer, err);
  free(r.bytes);
  return status;
}
