/* Finding the profiler in what a plugin shows, trusting none of it.
 *
 * Every structure says how long it is, and no field is read that its structure does not have.  The list of extensions
 * is followed for a bounded number of steps.  Before minor version 45 extensions did not say how long they are; such
 * plugins are told by their version.
 */
#include "pjrt/extension.h"

#include <stdlib.h>

enum { MOST_EXTENSIONS = 256 }; /* 25 kinds are known */

struct xp_plugin_profiler {
  const xp_abi_profiler_api *api;
};

static xp_status check_api(const xp_abi_api *api, xp_error *err)
{
  if (api == NULL) {
    return xp_fail(err, XP_ERR_USAGE, "The plugin's API is NULL; give what its GetPjrtApi returned");
  }
  if (api->struct_size < XP_ABI_API_HEAD_SIZE) {
    return xp_fail(err, XP_ERR_FORMAT,
                   "The plugin's PJRT_Api has %zu bytes, and its head alone has %d; give what its GetPjrtApi returned",
                   api->struct_size, XP_ABI_API_HEAD_SIZE);
  }
  if (api->version.struct_size < sizeof api->version) {
    return xp_fail(err, XP_ERR_FORMAT, "The version in the plugin's PJRT_Api has %zu bytes, at least %zu are known",
                   api->version.struct_size, sizeof api->version);
  }
  if (api->version.major != XP_ABI_MAJOR || api->version.minor < XP_ABI_FIRST_EXTENSION_MINOR) {
    return xp_fail(
        err, XP_ERR_FORMAT,
        "The plugin's PJRT API has version %d.%d, and extensions are known from %d.%d on; take a newer plugin",
        api->version.major, api->version.minor, XP_ABI_MAJOR, XP_ABI_FIRST_EXTENSION_MINOR);
  }
  return XP_OK;
}

static xp_status find_extension(const xp_abi_api *api, const xp_abi_profiler_extension **found, xp_error *err)
{
  const xp_abi_extension *extension = api->extension_start;
  for (int i = 0; extension != NULL; extension = extension->next, i++) {
    if (i == MOST_EXTENSIONS) {
      return xp_fail(err, XP_ERR_FORMAT, "The plugin's list of extensions has no end (after %d)", MOST_EXTENSIONS);
    }
    if (extension->struct_size < sizeof *extension) {
      return xp_fail(err, XP_ERR_FORMAT, "The plugin's extension number %d has %zu bytes, at least %zu are known",
                     i + 1, extension->struct_size, sizeof *extension);
    }
    if (extension->type == XP_ABI_EXTENSION_PROFILER) {
      *found = (const xp_abi_profiler_extension *)extension;
      return XP_OK;
    }
  }
  return xp_fail(err, XP_ERR_NOT_FOUND,
                 "The plugin has no profiler extension: its devices cannot be traced, only what the host does");
}

/* All functions are wanted before the first is called: half a session could not be ended. */
static xp_status check_functions(const xp_abi_profiler_api *api, xp_error *err)
{
  const struct {
    const char *name;
    bool is_there;
  } functions[] = {
      {"error_destroy", api->error_destroy != NULL},
      {"error_message", api->error_message != NULL},
      {"error_get_code", api->error_get_code != NULL},
      {"create", api->create != NULL},
      {"destroy", api->destroy != NULL},
      {"start", api->start != NULL},
      {"stop", api->stop != NULL},
      {"collect_data", api->collect_data != NULL},
  };
  for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
    if (!functions[i].is_there) {
      return xp_fail(err, XP_ERR_FORMAT, "The plugin's profiler has no function %s; take another version of the plugin",
                     functions[i].name);
    }
  }
  return XP_OK;
}

static xp_status check_profiler(const xp_abi_profiler_extension *extension, xp_error *err)
{
  size_t needed = offsetof(xp_abi_profiler_extension, traceme_context_id);
  if (extension->base.struct_size < needed) {
    return xp_fail(err, XP_ERR_FORMAT, "The plugin's profiler extension has %zu bytes, at least %zu are known",
                   extension->base.struct_size, needed);
  }
  const xp_abi_profiler_api *api = extension->profiler_api;
  if (api == NULL) {
    return xp_fail(err, XP_ERR_FORMAT, "The plugin's profiler extension has no functions; take another version of it");
  }
  if (api->struct_size < sizeof *api) {
    return xp_fail(err, XP_ERR_FORMAT, "The plugin's PLUGIN_Profiler_Api has %zu bytes, at least %zu are known",
                   api->struct_size, sizeof *api);
  }
  return check_functions(api, err);
}

const xp_abi_profiler_api *xp_plugin_profiler_api(const xp_plugin_profiler *plugin)
{
  return plugin->api;
}

xp_status xp_plugin_profiler_open(const void *pjrt_api, xp_plugin_profiler **plugin, xp_error *err)
{
  const xp_abi_profiler_extension *extension = NULL;
  xp_status status = check_api(pjrt_api, err);
  if (status == XP_OK) {
    status = find_extension(pjrt_api, &extension, err);
  }
  if (status == XP_OK) {
    status = check_profiler(extension, err);
  }
  if (status != XP_OK) {
    return status;
  }
  xp_plugin_profiler *opened = malloc(sizeof *opened);
  if (opened == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out while a plugin was opened");
  }
  opened->api = extension->profiler_api;
  *plugin = opened;
  return XP_OK;
}

void xp_plugin_profiler_free(xp_plugin_profiler *plugin)
{
  free(plugin);
}
