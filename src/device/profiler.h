/* The profiler extension of the embedded device. */
#ifndef XP_DEVICE_PROFILER_H
#define XP_DEVICE_PROFILER_H

#include "pjrt/pjrt_abi.h"

/* For the list of extensions of the plugin. */
extern xp_abi_profiler_extension xp_dev_profiler_extension;

#endif
