/* What the two halves of pjrt/profiler.h share: finding a plugin's profiler, and calling it. */
#ifndef XP_PJRT_EXTENSION_H
#define XP_PJRT_EXTENSION_H

#include "pjrt/pjrt_abi.h"
#include "pjrt/profiler.h"

/* The checked functions; good as long as the plugin is loaded. */
const xp_abi_profiler_api *xp_plugin_profiler_api(const xp_plugin_profiler *plugin);

#endif
