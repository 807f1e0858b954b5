/* What is in the structures of pjrt/client.h.  For the sources of this layer only. */
#ifndef XP_PJRT_OBJECTS_H
#define XP_PJRT_OBJECTS_H

#include "pjrt/call.h"
#include "pjrt/client.h"

struct xp_pjrt_client {
  const xp_pjrt_plugin *plugin;
  xp_abi_client *handle;
  xp_pjrt_device *devices;
  size_t device_count;
  xp_str platform, platform_version;
};

struct xp_pjrt_executable {
  const xp_pjrt_plugin *plugin;
  xp_abi_executable *handle;        /* what it is */
  xp_abi_loaded_executable *loaded; /* on its device; NULL if compiled ahead of time */
  size_t output_count;
};

struct xp_pjrt_buffer {
  const xp_pjrt_plugin *plugin;
  xp_abi_buffer *handle;
};

struct xp_pjrt_event {
  const xp_pjrt_plugin *plugin;
  xp_abi_event *handle;
};

struct xp_pjrt_topology {
  const xp_pjrt_plugin *plugin;
  xp_abi_topology *handle;
};

/* Makes an event of ours; takes handle, also when memory runs out. */
xp_status xp_pjrt_event_take(const xp_pjrt_plugin *plugin, xp_abi_event *handle, xp_pjrt_event **event, xp_error *err);

/* The same for a buffer. */
xp_status xp_pjrt_buffer_take(const xp_pjrt_plugin *plugin, xp_abi_buffer *handle, xp_pjrt_buffer **buffer,
                              xp_error *err);

/* The argument of compile functions; borrows. */
xp_abi_program xp_pjrt_program_argument(xp_pjrt_program program);

/* Takes both (loaded may be NULL), also on failure, and finds out the number of outputs. */
xp_status xp_pjrt_executable_take(const xp_pjrt_plugin *plugin, xp_abi_executable *handle,
                                  xp_abi_loaded_executable *loaded, xp_pjrt_executable **executable, xp_error *err);

#endif
