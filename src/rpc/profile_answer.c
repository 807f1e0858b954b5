/* The reply is read from the profile's rope piece by piece while the connection takes it, so it is never whole in
 * memory.
 *
 * Upstream: profiler_service_impl.cc (CollectData): which host a file is named after, and that its reply is empty but
 * for empty_trace when the file was saved.
 */
#include "rpc/profile_answer.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rpc/profile_reply.h"
#include "session/profile_file.h"

/* ---- the capture as the reply */

typedef struct {
  xp_profile *profile;
  atomic_uint *under_way; /* counts the replies; the server outlives them */
  xp_profile_reply_head head;
  size_t head_taken;
  xp_rope_reader reader;
} reply;

static size_t read_reply(void *context, void *buffer, size_t room)
{
  reply *r = context;
  size_t left = r->head.len - r->head_taken;
  if (left == 0) {
    return xp_rope_read(&r->reader, buffer, room);
  }
  size_t take = left < room ? left : room;
  memcpy(buffer, r->head.bytes + r->head_taken, take);
  r->head_taken += take;
  return take;
}

static void end_reply(void *context)
{
  reply *r = context;
  xp_rope_close(&r->reader);
  xp_profile_free(r->profile);
  atomic_fetch_sub(r->under_way, 1);
  free(r);
}

static void fail_too_large(xp_grpc_call *call, uint64_t bytes)
{
  char text[320];
  snprintf(text, sizeof text,
           "The capture has %.1f GB, more than one message can carry (4.29 GB): capture a shorter time, or let the "
           "server save "
           "it on its own disk (xlaprof capture --save-on-server)",
           (double)bytes / 1e9);
  xp_grpc_fail(call, XP_GRPC_RESOURCE_EXHAUSTED, text);
}

static void send_capture(xp_grpc_call *call, xp_profile *profile, atomic_uint *under_way)
{
  const xp_rope *space = xp_profile_space(profile, NULL);
  reply *r = space != NULL ? calloc(1, sizeof *r) : NULL;
  xp_error err;
  if (r == NULL) {
    xp_grpc_fail(call, XP_GRPC_RESOURCE_EXHAUSTED, "No memory for the capture: capture a shorter time");
    xp_profile_free(profile);
    return;
  }
  *r = (reply){.profile = profile, .under_way = under_way, .reader = xp_rope_open(space)};
  atomic_fetch_add(under_way, 1);
  if (xp_profile_reply_head_make(space->bytes, xp_profile_is_empty(profile), &r->head, &err) != XP_OK) {
    fail_too_large(call, space->bytes);
    end_reply(r);
    return;
  }
  xp_grpc_body body = {r->head.total_bytes, read_reply, end_reply, r};
  xp_grpc_reply(call, &body);
}

/* ---- the capture saved here */

static void choose_host(const xp_profile_request *request, char host[256])
{
  const xp_advanced_option *system = xp_profile_options_advanced(&request->options, "use_system_hostname");
  xp_str given = request->options.override_hostname.len > 0 ? request->options.override_hostname : request->host_name;
  bool use_system = system != NULL && system->type == XP_ADVANCED_BOOL && system->number != 0;
  if (!use_system && given.len > 0) {
    snprintf(host, 256, "%.*s", XP_STR_ARG(given));
  } else if (gethostname(host, 255) != 0) {
    snprintf(host, 256, "localhost");
  }
}

/* C would take what stands before it for the whole name. */
static bool has_nul(xp_str name)
{
  return xp_str_find(name, '\0', 0) < name.len;
}

static xp_status save(const xp_profile_request *request, xp_profile *profile, xp_error *err)
{
  char root[XP_PATH_ROOM], run[XP_RUN_ROOM], directory[XP_PATH_ROOM], path[XP_PATH_ROOM], host[256] = "";
  if (request->repository_root.len == 0 || request->repository_root.len >= sizeof root) {
    return xp_fail(err, XP_ERR_USAGE, "repository_root, the directory to save the capture in, is %s",
                   request->repository_root.len == 0 ? "empty" : "too long");
  }
  if (request->session_id.len >= sizeof run) {
    return xp_fail(err, XP_ERR_USAGE, "session_id, the name of the run, is too long");
  }
  if (has_nul(request->repository_root) || has_nul(request->session_id)) {
    return xp_fail(err, XP_ERR_USAGE, "repository_root or session_id has a NUL in it");
  }
  snprintf(root, sizeof root, "%.*s", XP_STR_ARG(request->repository_root));
  snprintf(run, sizeof run, "%.*s", XP_STR_ARG(request->session_id));
  choose_host(request, host);
  xp_status status = xp_run_directory_make(root, run[0] != '\0' ? run : NULL, directory, err);
  if (status == XP_OK) {
    status = xp_profile_write(profile, directory, host, path, NULL, NULL, err);
    if (status != XP_OK) {
      rmdir(directory); /* only if nothing is in it */
    }
  }
  return status;
}

static void save_capture(xp_grpc_call *call, const xp_profile_request *request, xp_profile *profile)
{
  bool is_empty = xp_profile_is_empty(profile);
  xp_error err;
  if (!is_empty && save(request, profile, &err) != XP_OK) {
    xp_grpc_fail(call, XP_GRPC_INTERNAL, err.text);
  } else {
    xp_profile_reply_head head = xp_profile_reply_saved(is_empty);
    xp_grpc_reply_bytes(call, xp_str_from((const char *)head.bytes, head.len));
  }
  xp_profile_free(profile);
}

void xp_profile_answer(xp_grpc_call *call, const xp_profile_request *request, xp_profile *profile,
                       atomic_uint *under_way)
{
  if (request->emit_xspace) {
    send_capture(call, profile, under_way);
  } else {
    save_capture(call, request, profile);
  }
}
