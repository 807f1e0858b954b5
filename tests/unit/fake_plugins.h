/* Plugins that the test is: what takes the place of src/pjrt/profiler.h.  Include it once. */
#ifndef XP_TESTS_FAKE_PLUGINS_H
#define XP_TESTS_FAKE_PLUGINS_H

#include "pjrt/profiler.h"
#include "testing.h"

/* What GetPjrtApi would give is a pointer to one of these. */
typedef struct {
  xp_str capture;
  bool has_no_profiler, start_fails, stop_fails, collect_fails;
  char calls[256];   /* of this plugin: "start stop collect free " */
  char options[256]; /* that the last start got */
  size_t options_len;
  int live; /* sessions */
} fake_plugin;

struct xp_plugin_profiler {
  fake_plugin *fake;
};

struct xp_plugin_session {
  fake_plugin *fake;
};

static xp_plugin_profiler fake_profilers[8];
static size_t fake_profiler_count;

xp_status xp_plugin_profiler_open(const void *pjrt_api, xp_plugin_profiler **plugin, xp_error *err)
{
  fake_plugin *fake = (fake_plugin *)(uintptr_t)pjrt_api;
  if (fake->has_no_profiler) {
    return xp_fail(err, XP_ERR_NOT_FOUND, "no profiler extension");
  }
  assert_true(fake_profiler_count < 8);
  *plugin = &fake_profilers[fake_profiler_count++];
  (*plugin)->fake = fake;
  return XP_OK;
}

void xp_plugin_profiler_free(xp_plugin_profiler *plugin)
{
  (void)plugin;
}

static inline xp_status fake_call(fake_plugin *fake, const char *name, bool fails, xp_error *err)
{
  snprintf(fake->calls + strlen(fake->calls), sizeof fake->calls - strlen(fake->calls), "%s ", name);
  return fails ? xp_fail(err, XP_ERR_PEER, "the plugin could not %s", name) : XP_OK;
}

xp_status xp_plugin_session_start(const xp_plugin_profiler *plugin, xp_str options, xp_plugin_session **session,
                                  xp_error *err)
{
  fake_plugin *fake = plugin->fake;
  assert_true(options.len <= sizeof fake->options);
  if (options.len > 0) {
    memcpy(fake->options, options.ptr, options.len);
  }
  fake->options_len = options.len;
  xp_status status = fake_call(fake, "start", fake->start_fails, err);
  if (status == XP_OK) {
    *session = calloc(1, sizeof **session);
    assert_non_null(*session);
    (*session)->fake = fake;
    fake->live++;
  }
  return status;
}

xp_status xp_plugin_session_stop(xp_plugin_session *session, xp_error *err)
{
  return fake_call(session->fake, "stop", session->fake->stop_fails, err);
}

xp_status xp_plugin_session_collect(xp_plugin_session *session, xp_str *xspace, xp_error *err)
{
  xp_status status = fake_call(session->fake, "collect", session->fake->collect_fails, err);
  if (status == XP_OK) {
    *xspace = session->fake->capture;
  }
  return status;
}

void xp_plugin_session_free(xp_plugin_session *session)
{
  if (session != NULL) {
    fake_call(session->fake, "free", false, NULL);
    session->fake->live--;
    free(session);
  }
}

#endif
