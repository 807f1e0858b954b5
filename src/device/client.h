/* The client and its devices.
 *
 * They are one allocation.  The host's client is one reference to it; blocks, buffers and executables hold others, so
 * what outlives PJRT_Client_Destroy can still be freed.  Destroying the client ends the devices' threads, after what
 * was launched.  Nothing in these structures but what has a lock or is counted changes after PJRT_Client_Create.
 */
#ifndef XP_DEVICE_CLIENT_H
#define XP_DEVICE_CLIENT_H

#include <pthread.h>

#include "device/options.h"
#include "device/queue.h"
#include "pjrt/pjrt_abi_objects.h"

/* Memory of a device: bytes. */
typedef struct {
  pthread_mutex_t lock;
  int64_t limit, in_use, peak, largest, allocations;
} xp_dev_account;

enum { XP_DEV_ATTRIBUTES = 2 };

struct xp_abi_device_description {
  int32_t id;
  char text[32], slowdown[32];
  xp_abi_named_value attributes[XP_DEV_ATTRIBUTES];
};

/* The one memory that a device has. */
struct xp_abi_memory {
  xp_abi_memory_head head;
  xp_abi_device *device;
  char text[48];
  pthread_mutex_t lock;               /* of what follows */
  struct xp_dev_user_data *user_data; /* what the host hung on it */
};

struct xp_abi_device {
  xp_abi_client *client;
  int ordinal;       /* in its client: the id, and the local hardware id */
  int trace_ordinal; /* in captures: no two devices that live at the same time share it */
  xp_abi_device_description description;
  xp_abi_memory memory;
  xp_dev_account account;
  xp_dev_queue *queue;          /* NULL once the client was destroyed */
  pthread_mutex_t launch;       /* held while an execution takes its inputs and joins the queue: see execute.c */
  struct xp_dev_block *scratch; /* temporary memory of executions; belongs to the device's thread */
};

struct xp_abi_client {
  unsigned refs;
  xp_dev_options options;
  xp_abi_device *device_list[XP_DEV_MAX_DEVICES]; /* the first device_count of them, as are those below */
  xp_abi_memory *memory_list[XP_DEV_MAX_DEVICES];
  xp_abi_device_description *description_list[XP_DEV_MAX_DEVICES];
  xp_abi_device devices[];
};

xp_abi_client *xp_dev_client_ref(xp_abi_client *client);
void xp_dev_client_unref(xp_abi_client *client);

/* The device that arguments name by itself or by its memory; the first one if they name none. */
xp_abi_device *xp_dev_client_device(xp_abi_client *client, xp_abi_device *device, const xp_abi_memory *memory);

#define XP_DEV_PLATFORM "xlaprof"
#define XP_DEV_KIND     "xlaprof embedded device"

/* PJRT_Client_* but for compiling and buffers */
xp_abi_error *xp_dev_client_create(xp_abi_client_create_args *args);
xp_abi_error *xp_dev_client_destroy(xp_abi_object_args *args);
xp_abi_error *xp_dev_client_platform_name(xp_abi_text_args *args);
xp_abi_error *xp_dev_client_process_index(xp_abi_int32_args *args);
xp_abi_error *xp_dev_client_platform_version(xp_abi_text_args *args);
xp_abi_error *xp_dev_client_devices(xp_abi_list_args *args);
xp_abi_error *xp_dev_client_lookup(xp_abi_lookup_args *args);
xp_abi_error *xp_dev_client_memories(xp_abi_list_args *args);
xp_abi_error *xp_dev_client_assignment(xp_abi_assignment_args *args);
xp_abi_error *xp_dev_client_topology(xp_abi_pointer_args *args);

/* PJRT_TopologyDescription_*: the topology is the client, seen from afar. */
xp_abi_error *xp_dev_topology_destroy(xp_abi_object_args *args);
xp_abi_error *xp_dev_topology_devices(xp_abi_list_args *args);
xp_abi_error *xp_dev_topology_attributes(xp_abi_list_args *args);

/* PJRT_DeviceDescription_*, PJRT_Device_*, PJRT_Memory_* */
xp_abi_error *xp_dev_description_id(xp_abi_int32_args *args);
xp_abi_error *xp_dev_description_process(xp_abi_int32_args *args);
xp_abi_error *xp_dev_description_attributes(xp_abi_values_args *args);
xp_abi_error *xp_dev_description_kind(xp_abi_text_args *args);
xp_abi_error *xp_dev_description_text(xp_abi_text_args *args);
xp_abi_error *xp_dev_device_description(xp_abi_pointer_args *args);
xp_abi_error *xp_dev_device_is_addressable(xp_abi_bool_args *args);
xp_abi_error *xp_dev_device_hardware_id(xp_abi_int32_args *args);
xp_abi_error *xp_dev_device_memories(xp_abi_list_args *args);
xp_abi_error *xp_dev_device_default_memory(xp_abi_pointer_args *args);
xp_abi_error *xp_dev_memory_id(xp_abi_int32_args *args);
xp_abi_error *xp_dev_memory_kind(xp_abi_text_args *args);
xp_abi_error *xp_dev_memory_kind_id(xp_abi_int32_args *args);
xp_abi_error *xp_dev_memory_text(xp_abi_text_args *args);
xp_abi_error *xp_dev_memory_devices(xp_abi_list_args *args);

#endif
