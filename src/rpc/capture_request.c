/* From a call's end to an outcome that a person can act on.
 *
 * Upstream answers most failures alike (INTERNAL); what can be told apart is told apart here: nobody listens, somebody
 * listens who is no profiler, the profiler is busy, the program failed, there was no event, the connection broke.
 */
#define _GNU_SOURCE
#include "rpc/capture_request.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "rpc/capture_reply_file.h"

enum { SECOND_NS = 1000000000 };

void xp_capture_result_say(xp_capture_result *result, const char *format, ...)
{
  va_list args;
  char *text = NULL;
  va_start(args, format);
  if (vasprintf(&text, format, args) >= 0) {
    free(result->message);
    result->message = text;
  }
  va_end(args);
}

/* ---- the request */

static uint64_t add_ms(uint64_t a_ms, uint64_t b_ms)
{
  uint64_t sum;
  return __builtin_add_overflow(a_ms, b_ms, &sum) ? UINT64_MAX : sum;
}

/* How long the call may take: what was asked for, and as much again or two minutes for collecting and sending. */
static uint64_t call_timeout_ns(const xp_capture_options *o)
{
  uint64_t asked_ms = add_ms(o->delay_ms, o->duration_ms);
  uint64_t spare_ms = o->duration_ms > 60000 ? add_ms(o->duration_ms, o->duration_ms) : 120000;
  uint64_t all_ms = add_ms(asked_ms, spare_ms);
  return all_ms > UINT64_MAX / 1000000 ? UINT64_MAX : all_ms * 1000000;
}

/* Unix time at which collecting begins; 0: at once. */
static uint64_t start_time_ns(const xp_capture_job *job, uint32_t tries)
{
  uint64_t delay_ms = job->options->delay_ms;
  if (tries == 0 && job->first_start_ns != 0) {
    return job->first_start_ns;
  }
  return delay_ms == 0 ? 0 : xp_unix_time_after_ms(delay_ms);
}

uint64_t xp_unix_time_after_ms(uint64_t delay_ms)
{
  uint64_t now_ns = (uint64_t)xp_unix_ns();
  return delay_ms > (UINT64_MAX - now_ns) / 1000000 ? UINT64_MAX : now_ns + delay_ms * 1000000;
}

static void write_request(const xp_capture_job *job, const char *host, uint32_t tries, xp_wire_writer *w)
{
  xp_profile_request request = {.duration_ms = job->options->duration_ms,
                                .max_events = 1000000, /* as upstream's clients; servers ignore it */
                                .repository_root = xp_str_c(job->root),
                                .session_id = xp_str_c(job->session_id),
                                .host_name = xp_str_c(host),
                                .emit_xspace = !job->options->save_on_server,
                                .has_options = true,
                                .options = *job->profile_options};
  request.options.duration_ms = job->options->duration_ms;
  request.options.start_timestamp_ns = start_time_ns(job, tries);
  request.options.session_id = request.session_id;
  xp_profile_request_put(w, &request);
}

/* ---- outcomes */

static bool set(xp_capture_result *r, xp_capture_outcome outcome, bool may_pass)
{
  r->outcome = outcome;
  return may_pass;
}

/* The server answered with an error. */
static bool judge_error(xp_capture_result *r, const xp_grpc_answer *a)
{
  bool is_busy = strstr(a->message, "nother profiling session active") != NULL ||
                 strstr(a->message, "already been started") != NULL || a->code == XP_GRPC_ALREADY_EXISTS;
  if (is_busy) {
    xp_capture_result_say(r, "%s is busy: %s", r->target, a->message);
    return set(r, XP_CAPTURE_BUSY, true);
  }
  if (a->code == XP_GRPC_UNIMPLEMENTED) {
    xp_capture_result_say(r, "%s is a gRPC server, but not of a profiler (%s)", r->target, a->message);
    return set(r, XP_CAPTURE_NO_PROFILER, false);
  }
  xp_capture_result_say(r, "%s answered %s: %s", r->target, xp_grpc_code_name(a->code),
                        a->message[0] != '\0' ? a->message : "(no text)");
  return set(r, a->code == XP_GRPC_DEADLINE_EXCEEDED ? XP_CAPTURE_LOST : XP_CAPTURE_SERVER_ERROR,
             a->code == XP_GRPC_UNAVAILABLE || a->code == XP_GRPC_DEADLINE_EXCEEDED);
}

/* There was no answer. */
static bool judge_end(xp_capture_result *r, const xp_grpc_answer *a)
{
  static const struct {
    xp_capture_outcome outcome;
    bool may_pass;
  } outcomes[] = {
      [XP_GRPC_END_NO_ADDRESS] = {XP_CAPTURE_NO_ADDRESS, false},
      [XP_GRPC_END_NO_LISTENER] = {XP_CAPTURE_NO_LISTENER, true},
      [XP_GRPC_END_NOT_GRPC] = {XP_CAPTURE_NO_PROFILER, false},
      [XP_GRPC_END_LOST] = {XP_CAPTURE_LOST, true},
      [XP_GRPC_END_TIMEOUT] = {XP_CAPTURE_LOST, true},
      [XP_GRPC_END_LIMIT] = {XP_CAPTURE_SERVER_ERROR, false},
      [XP_GRPC_END_CANCELLED] = {XP_CAPTURE_CANCELLED, false},
      [XP_GRPC_END_MEMORY] = {XP_CAPTURE_DISK, false},
  };
  xp_capture_result_say(r, "%s", a->message);
  return set(r, outcomes[a->end].outcome, outcomes[a->end].may_pass);
}

/* The reply could not be kept, or is no reply of Profile. */
static bool judge_reply_error(xp_capture_result *r, xp_status status, const char *text)
{
  bool is_of_disk = status == XP_ERR_IO || status == XP_ERR_USAGE || status == XP_ERR_MEMORY;
  xp_capture_result_say(r, is_of_disk ? "%s: %s" : "%s: the server's reply is damaged: %s", r->target, text);
  return set(r, is_of_disk ? XP_CAPTURE_DISK : XP_CAPTURE_SERVER_ERROR, false);
}

static void set_path(xp_capture_result *r, const char *path)
{
  free(r->path);
  r->path = strdup(path);
}

/* The server saved the file itself; on this machine it can be looked at. */
static bool judge_saved_there(const xp_capture_job *job, xp_capture_result *r, const char *stem)
{
  char path[2 * XP_PATH_ROOM];
  snprintf(path, sizeof path, "%s/%s/%s.xplane.pb", job->root, job->session_id, stem);
  set_path(r, path);
  struct stat file;
  if (stat(path, &file) == 0) {
    r->bytes = (uint64_t)file.st_size;
    xp_capture_result_say(r, "%s: saved by the server in %s", r->target, path);
    return set(r, XP_CAPTURE_SAVED, false);
  }
  xp_capture_result_say(r, "%s: saved on the server's own disk, in %s", r->target, path);
  return set(r, XP_CAPTURE_SAVED_THERE, false);
}

static bool judge_reply(const xp_capture_job *job, xp_capture_result *r, const xp_reply_file *files)
{
  r->bytes = files->capture_bytes;
  if (files->reply.empty_trace) {
    xp_capture_result_say(r, "%s: the capture is empty: in that time the program did nothing that its profiler records",
                          r->target);
    return set(r, XP_CAPTURE_EMPTY, true);
  }
  if (!files->has_capture) {
    return judge_saved_there(job, r, files->host);
  }
  set_path(r, files->path);
  xp_capture_result_say(r, "%s: saved in %s", r->target, files->path);
  return set(r, XP_CAPTURE_SAVED, false);
}

/* ---- one request */

/* "host:9012" as the stem of a file, as upstream's servers make it; "grpc://" before it is no part of the name. */
static void file_stem(const char *target, char stem[XP_PATH_ROOM])
{
  const char *scheme = strstr(target, "://");
  snprintf(stem, 256, "%s", scheme != NULL ? scheme + strlen("://") : target);
  for (char *c = stem; *c != '\0'; c++) {
    *c = *c == ':' || *c == '/' || *c == '[' || *c == ']' ? '_' : *c;
  }
}

bool xp_capture_request_once(xp_capture_job *job, const xp_grpc_target *target, xp_capture_result *r)
{
  char stem[XP_PATH_ROOM];
  xp_reply_file files;
  xp_wire_writer w = {0};
  xp_grpc_answer answer;
  xp_error err = {0};
  file_stem(r->target, stem);
  write_request(job, stem, r->tries, &w);
  xp_reply_file_init(&files, job, stem);
  xp_grpc_request request = {.target = *target,
                             .path = XP_RPC_PROFILE,
                             .request = xp_str_from((const char *)w.data, w.len),
                             .connect_timeout_ns = (uint64_t)10 * SECOND_NS,
                             .timeout_ns = call_timeout_ns(job->options),
                             .max_reply_bytes = UINT32_MAX,
                             .sink = xp_reply_file_sink,
                             .context = &files,
                             .cancel = job->options->cancel};
  xp_grpc_unary(&request, &answer);
  xp_wire_writer_free(&w);
  r->tries++;
  if (answer.end == XP_GRPC_END_STATUS && answer.code == XP_GRPC_OK) {
    xp_status status = xp_reply_file_finish(&files, &err);
    bool may_pass = status != XP_OK ? judge_reply_error(r, status, err.text) : judge_reply(job, r, &files);
    if (r->outcome == XP_CAPTURE_EMPTY && files.has_capture) {
      unlink(files.path); /* of no use to anybody */
    }
    return may_pass;
  }
  xp_reply_file_discard(&files);
  if (answer.end == XP_GRPC_END_SINK) {
    return judge_reply_error(r, files.status, files.err.text);
  }
  return answer.end == XP_GRPC_END_STATUS ? judge_error(r, &answer) : judge_end(r, &answer);
}
