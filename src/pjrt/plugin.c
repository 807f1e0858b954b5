/* One list of the plugins of the process.
 *
 * dlopen gives the same library for the same file, whatever the path, and its GetPjrtApi the same table; so the address
 * of the table tells whether a plugin is open already.  That matters because a plugin is initialised once: the list is
 * locked while one is checked and initialised.  A plugin that refuses is not kept, and the next attempt asks it again.
 */
#include "pjrt/plugin.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt/call.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static xp_pjrt_plugin *plugins; /* the list; read and written under the lock */

/* Whether the table can be read at all, and has the order that we know. */
static xp_status check_table(const xp_abi_api *api, const char *name, xp_error *err)
{
  if (api == NULL) {
    return xp_fail(err, XP_ERR_FORMAT, "GetPjrtApi of the plugin %s returned NULL; take another version of it", name);
  }
  if (api->struct_size < XP_ABI_API_HEAD_SIZE || api->version.struct_size < sizeof api->version) {
    return xp_fail(err, XP_ERR_FORMAT,
                   "The plugin %s has a PJRT_Api of %zu bytes with a version of %zu, and at least %d and %zu are known",
                   name, api->struct_size, api->struct_size < XP_ABI_API_HEAD_SIZE ? 0 : api->version.struct_size,
                   XP_ABI_API_HEAD_SIZE, sizeof api->version);
  }
  if (api->version.major != XP_ABI_MAJOR || api->version.minor < XP_ABI_FIRST_MINOR) {
    return xp_fail(err, XP_ERR_FORMAT,
                   "The plugin %s has PJRT API %d.%d; %d.%d and later can be used, so take a newer one", name,
                   api->version.major, api->version.minor, XP_ABI_MAJOR, XP_ABI_FIRST_MINOR);
  }
  return XP_OK;
}

/* Without these no error could be told. */
static xp_status check_errors(const xp_pjrt_plugin *plugin, xp_error *err)
{
  if (plugin->api.error_destroy == NULL) {
    return xp_pjrt_lacks(plugin, "PJRT_Error_Destroy", err);
  }
  if (plugin->api.error_message == NULL) {
    return xp_pjrt_lacks(plugin, "PJRT_Error_Message", err);
  }
  if (plugin->api.error_get_code == NULL) {
    return xp_pjrt_lacks(plugin, "PJRT_Error_GetCode", err);
  }
  return XP_OK;
}

static xp_status initialize(const xp_pjrt_plugin *plugin, xp_error *err)
{
  if (plugin->api.plugin_initialize == NULL) {
    return xp_pjrt_lacks(plugin, "PJRT_Plugin_Initialize", err);
  }
  xp_abi_plugin_initialize_args args = {.struct_size = sizeof args};
  return xp_pjrt_answer(plugin, plugin->api.plugin_initialize(&args), "PJRT_Plugin_Initialize", err);
}

/* Only whole slots; the rest stays NULL. */
static void copy_table(xp_abi_api *copy, const xp_abi_api *api)
{
  size_t size = api->struct_size < sizeof *copy ? api->struct_size : sizeof *copy;
  memcpy(copy, api, size - size % sizeof(xp_abi_untyped_function *));
}

static xp_status add(const xp_abi_api *api, const char *name, xp_pjrt_plugin **added, xp_error *err)
{
  xp_pjrt_plugin *plugin = calloc(1, sizeof *plugin);
  if (plugin == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out while the plugin %s was opened", name);
  }
  copy_table(&plugin->api, api);
  plugin->original = api;
  snprintf(plugin->name, sizeof plugin->name, "%s", name);
  xp_status status = check_errors(plugin, err);
  if (status == XP_OK) {
    status = initialize(plugin, err);
  }
  if (status != XP_OK) {
    free(plugin);
    return status;
  }
  plugin->next = plugins;
  plugins = plugin;
  *added = plugin;
  return XP_OK;
}

static xp_status find_or_add(const xp_abi_api *api, const char *name, const xp_pjrt_plugin **plugin, xp_error *err)
{
  pthread_mutex_lock(&lock);
  xp_pjrt_plugin *found = plugins;
  while (found != NULL && found->original != api) {
    found = found->next;
  }
  xp_status status = found != NULL ? XP_OK : add(api, name, &found, err);
  pthread_mutex_unlock(&lock);
  if (status == XP_OK) {
    *plugin = found;
  }
  return status;
}

xp_status xp_pjrt_plugin_open(xp_abi_get_api *get_api, const char *name, const xp_pjrt_plugin **plugin, xp_error *err)
{
  const xp_abi_api *api = get_api();
  xp_status status = check_table(api, name, err);
  return status == XP_OK ? find_or_add(api, name, plugin, err) : status;
}

xp_status xp_pjrt_plugin_load(const char *path, const xp_pjrt_plugin **plugin, xp_error *err)
{
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    return xp_fail(err, XP_ERR_IO, "The plugin cannot be loaded: %s", dlerror());
  }
  xp_abi_get_api *get_api = NULL;
  *(void **)&get_api = dlsym(library, "GetPjrtApi");
  if (get_api == NULL) {
    dlclose(library);
    return xp_fail(err, XP_ERR_FORMAT, "%s is a library without GetPjrtApi; give the path of a PJRT plugin", path);
  }
  return xp_pjrt_plugin_open(get_api, xp_base_name(path), plugin, err);
}

const xp_abi_api *xp_pjrt_plugin_api(const xp_pjrt_plugin *plugin)
{
  return plugin->original;
}

const char *xp_pjrt_plugin_name(const xp_pjrt_plugin *plugin)
{
  return plugin->name;
}
