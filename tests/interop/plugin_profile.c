/* Traces nothing with the profiler of a real PJRT plugin, and says step by step how that went.
 *
 *   plugin_profile PLUGIN.so CAPTURE
 *
 * Prints one line for each step, "open: " and so on with "ok" or the status and text of the error; what was collected
 * goes to CAPTURE.  The exit status is 0 however the plugin answers: tests/interop/run judges.  Plugins may abort the
 * process, so this is a program of its own.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "pjrt/profile_options.h"
#include "pjrt/profiler.h"

static bool tell(const char *step, xp_status status, const xp_error *err)
{
  if (status == XP_OK) {
    printf("%s: ok\n", step);
  } else {
    printf("%s: %d %s\n", step, (int)status, err->text);
  }
  fflush(stdout); /* the next step may abort */
  return status == XP_OK;
}

static const void *load(const char *path)
{
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  const void *(*get_api)(void) = NULL;
  if (library != NULL) {
    *(void **)&get_api = dlsym(library, "GetPjrtApi");
  }
  if (get_api == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return NULL;
  }
  return get_api();
}

static void save(xp_str capture, const char *path)
{
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(capture.ptr, 1, capture.len, file) != capture.len || fclose(file) != 0) {
    perror(path);
  }
}

static void trace(const xp_plugin_profiler *plugin, const char *path)
{
  xp_profile_options options = xp_profile_options_default();
  xp_wire_writer w = {0};
  xp_profile_options_put(&w, &options);
  xp_plugin_session *session = NULL;
  xp_error err = {0};
  xp_str capture;
  xp_str bytes = xp_str_from((const char *)w.data, w.len);
  if (tell("start", xp_plugin_session_start(plugin, bytes, &session, &err), &err) &&
      tell("stop", xp_plugin_session_stop(session, &err), &err) &&
      tell("collect", xp_plugin_session_collect(session, &capture, &err), &err)) {
    save(capture, path);
  }
  xp_plugin_session_free(session);
  tell("destroy", XP_OK, &err);
  xp_wire_writer_free(&w);
}

int main(int argc, char **argv)
{
  if (argc != 3) {
    fputs("usage: plugin_profile PLUGIN.so CAPTURE\n", stderr);
    return 2;
  }
  const void *api = load(argv[1]);
  if (api == NULL) {
    return 1;
  }
  xp_plugin_profiler *plugin = NULL;
  xp_error err = {0};
  if (tell("open", xp_plugin_profiler_open(api, &plugin, &err), &err)) {
    trace(plugin, argv[2]);
  }
  xp_plugin_profiler_free(plugin);
  return 0;
}
