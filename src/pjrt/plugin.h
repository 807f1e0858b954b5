/* PJRT plugins: loading them by path, and those that are built in.
 *
 * A plugin lives as long as the process: plugins start threads and keep state that nothing can end, so none is ever
 * unloaded, there is nothing to free, and opening one again gives the same one.  API 0.57 and later (in which the
 * function table got its order) are accepted; a function that an older plugin lacks is an error of the call that needs
 * it, and names it.
 *
 * Threads: any, at any time.
 */
#ifndef XP_PJRT_PLUGIN_H
#define XP_PJRT_PLUGIN_H

#include "base/error.h"
#include "pjrt/pjrt_abi.h"

typedef struct xp_pjrt_plugin xp_pjrt_plugin;

/* Loads the shared library at path and initialises the plugin.  XP_ERR_IO if it cannot be loaded, XP_ERR_FORMAT if it
 * is no plugin that we can talk to, XP_ERR_PEER if the plugin refuses. */
xp_status xp_pjrt_plugin_load(const char *path, const xp_pjrt_plugin **plugin, xp_error *err);

/* The same for a plugin that is part of the program.  name is for error texts; copied. */
xp_status xp_pjrt_plugin_open(xp_abi_get_api *get_api, const char *name, const xp_pjrt_plugin **plugin, xp_error *err);

/* What its GetPjrtApi returned: for xp_plugin_profiler_open. */
const xp_abi_api *xp_pjrt_plugin_api(const xp_pjrt_plugin *plugin);

/* The last part of the path, or the name that it was opened under. */
const char *xp_pjrt_plugin_name(const xp_pjrt_plugin *plugin);

#endif
