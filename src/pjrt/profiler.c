/* Calling the profiler of a plugin as the hosts do that plugins were tested with.
 *
 * The rules that are not written in upstream's header:
 *  - Plugins compare struct_size of arguments with their own, so it is set to the size of the first version, which all
 *    later ones accept.  Every other field is zeroed.
 *  - collect_data is called once with a buffer of NULL, and plugins answer with storage of their own; a second call
 *    would collect again and find nothing.  The header tells of two calls, the first for the size: a plugin that gives
 *    a size and no buffer gets that second call.
 *  - Some plugins count zero bytes behind the capture.  A capture may end in zero bytes of its own, so they are told by
 *    its records: a record cannot begin with zero.
 *  - A failed start leaves parts of a profiler running that only its destruction ends; hosts never call stop then.
 */
#include <stdlib.h>

#include "pjrt/extension.h"
#include "wire/wire.h"

struct xp_plugin_session {
  const xp_abi_profiler_api *api;
  xp_abi_profiler *profiler;
  enum { RUNNING, STOPPED, OVER } state; /* OVER: collected, or something failed */
  uint8_t *buffer;                       /* of the second call of collect_data */
};

/* ---------------------------------------------------------------- errors of the plugin */

static void destroy_error(const xp_abi_profiler_api *api, xp_abi_profiler_error *error)
{
  if (error != NULL) {
    xp_abi_profiler_error_destroy_args args = {.struct_size = XP_ABI_PROFILER_ERROR_DESTROY_SIZE, .error = error};
    api->error_destroy(&args);
  }
}

/* The code, or -1 if the plugin fails to tell it. */
static int code_of(const xp_abi_profiler_api *api, const xp_abi_profiler_error *error)
{
  xp_abi_profiler_error_code_args args = {.struct_size = XP_ABI_PROFILER_ERROR_CODE_SIZE, .error = error};
  xp_abi_profiler_error *failed = api->error_get_code(&args);
  if (failed != NULL) {
    destroy_error(api, failed);
    return -1;
  }
  return args.code;
}

/* Turns an answer into a status and destroys the error; what: "start tracing". */
static xp_status take_answer(const xp_abi_profiler_api *api, xp_abi_profiler_error *error, const char *what,
                             xp_error *err)
{
  if (error == NULL) {
    return XP_OK;
  }
  xp_abi_profiler_error_message_args args = {.struct_size = XP_ABI_PROFILER_ERROR_MESSAGE_SIZE, .error = error};
  api->error_message(&args);
  xp_str text = args.message == NULL ? xp_str_c("it does not say why") : xp_str_from(args.message, args.message_size);
  xp_status status = xp_fail(err, XP_ERR_PEER, "The plugin's profiler could not %s: %.*s (code %d)", what,
                             XP_STR_ARG(xp_str_take(text, 512)), code_of(api, error));
  destroy_error(api, error);
  return status;
}

/* ---------------------------------------------------------------- start, stop, end */

typedef xp_abi_profiler_error *profiler_function(xp_abi_profiler_args *args);

static xp_status call(xp_plugin_session *session, profiler_function *function, const char *what, xp_error *err)
{
  xp_abi_profiler_args args = {.struct_size = XP_ABI_PROFILER_SIZE, .profiler = session->profiler};
  return take_answer(session->api, function(&args), what, err);
}

static xp_status create(xp_plugin_session *session, xp_str options, xp_error *err)
{
  xp_abi_profiler_create_args args = {.struct_size = XP_ABI_PROFILER_CREATE_SIZE,
                                      .options = options.ptr ? options.ptr : "",
                                      .options_size = options.len};
  xp_status status = take_answer(session->api, session->api->create(&args), "be created", err);
  if (status == XP_OK && args.profiler == NULL) {
    return xp_fail(err, XP_ERR_FORMAT, "The plugin created no profiler, and does not say why");
  }
  session->profiler = status == XP_OK ? args.profiler : NULL;
  return status;
}

xp_status xp_plugin_session_start(const xp_plugin_profiler *plugin, xp_str options, xp_plugin_session **session,
                                  xp_error *err)
{
  xp_plugin_session *started = calloc(1, sizeof *started);
  if (started == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out while a plugin's profiler was started");
  }
  started->api = xp_plugin_profiler_api(plugin);
  started->state = OVER;
  xp_status status = create(started, options, err);
  if (status == XP_OK) {
    status = call(started, started->api->start, "start", err);
  }
  if (status != XP_OK) {
    xp_plugin_session_free(started);
    return status;
  }
  started->state = RUNNING;
  *session = started;
  return XP_OK;
}

xp_status xp_plugin_session_stop(xp_plugin_session *session, xp_error *err)
{
  if (session->state != RUNNING) {
    return xp_fail(err, XP_ERR_USAGE, "The plugin's profiler was stopped before");
  }
  xp_status status = call(session, session->api->stop, "stop", err);
  session->state = status == XP_OK ? STOPPED : OVER;
  return status;
}

void xp_plugin_session_free(xp_plugin_session *session)
{
  if (session == NULL) {
    return;
  }
  if (session->state == RUNNING) {
    xp_plugin_session_stop(session, NULL);
  }
  if (session->profiler != NULL) {
    call(session, session->api->destroy, "be destroyed", NULL);
  }
  free(session->buffer);
  free(session);
}

/* ---------------------------------------------------------------- collecting */

static xp_status call_collect(xp_plugin_session *session, xp_abi_profiler_collect_args *args, xp_error *err)
{
  return take_answer(session->api, session->api->collect_data(args), "collect what it traced", err);
}

/* The documented second call, into a buffer of ours. */
static xp_status collect_into_buffer(xp_plugin_session *session, xp_abi_profiler_collect_args *args, xp_error *err)
{
  size_t room = args->buffer_size;
  session->buffer = malloc(room);
  if (session->buffer == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out for the %zu bytes that a plugin traced", room);
  }
  memset(session->buffer, 0, room); /* what the plugin leaves out must not be read unset */
  *args = (xp_abi_profiler_collect_args){XP_ABI_PROFILER_COLLECT_SIZE, session->profiler, session->buffer, room};
  xp_status status = call_collect(session, args, err);
  if (status == XP_OK && args->buffer == session->buffer && args->buffer_size > room) {
    return xp_fail(err, XP_ERR_FORMAT, "The plugin's profiler told of %zu bytes, then of %zu", room, args->buffer_size);
  }
  return status;
}

/* Takes the zero bytes off that stand where a record would begin; everything before must be whole records. */
static xp_status cut_padding(xp_str *xspace, xp_error *err)
{
  xp_wire_reader r = xp_wire_open(*xspace);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
  }
  const uint8_t *p = r.pos;
  while (p < r.end && *p == 0) {
    p++;
  }
  if (p < r.end) {
    return xp_wire_finish(&r, "What the plugin's profiler traced", err);
  }
  *xspace = xp_str_take(*xspace, (size_t)(r.pos - r.start));
  return XP_OK;
}

xp_status xp_plugin_session_collect(xp_plugin_session *session, xp_str *xspace, xp_error *err)
{
  if (session->state != STOPPED) {
    return xp_fail(err, XP_ERR_USAGE, "A plugin's profiler gives what it traced once, after it was stopped");
  }
  session->state = OVER;
  xp_abi_profiler_collect_args args = {.struct_size = XP_ABI_PROFILER_COLLECT_SIZE, .profiler = session->profiler};
  xp_status status = call_collect(session, &args, err);
  if (status == XP_OK && args.buffer == NULL && args.buffer_size > 0) {
    status = collect_into_buffer(session, &args, err);
  }
  if (status != XP_OK) {
    return status;
  }
  if (args.buffer == NULL && args.buffer_size > 0) {
    return xp_fail(err, XP_ERR_FORMAT, "The plugin's profiler tells of %zu bytes and gives none", args.buffer_size);
  }
  *xspace = xp_str_from((const char *)args.buffer, args.buffer == NULL ? 0 : args.buffer_size);
  return cut_padding(xspace, err);
}
