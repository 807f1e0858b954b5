/* Making a client and ending it, and what its host asks of it as a whole. */
#include "device/client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/block.h"
#include "device/memory.h"
#include "device/tracer.h"

/* ---------------------------------------------------------------- devices come and go */

static xp_abi_named_value attribute(const char *name, int32_t type)
{
  return (xp_abi_named_value){.struct_size = sizeof(xp_abi_named_value),
                              .name = name,
                              .name_size = strlen(name),
                              .type = type,
                              .value_size = 1};
}

static bool device_start(xp_abi_client *client, int ordinal)
{
  xp_abi_device *device = &client->devices[ordinal];
  const xp_dev_options *options = &client->options;
  char name[24];
  snprintf(name, sizeof name, "xla-device-%d", ordinal);
  *device = (xp_abi_device){.client = client, .ordinal = ordinal, .account.limit = options->memory_limit};
  device->queue = xp_dev_queue_create(name);
  if (device->queue == NULL) {
    return false;
  }
  device->trace_ordinal = xp_dev_tracer_add_device();
  pthread_mutex_init(&device->account.lock, NULL);
  pthread_mutex_init(&device->launch, NULL);
  device->description.id = ordinal;
  snprintf(device->description.text, sizeof device->description.text, "XlaprofDevice(id=%d)", ordinal);
  device->description.attributes[0] = attribute("launch_latency_us", XP_ABI_VALUE_INT64);
  device->description.attributes[0].value.number = options->launch_latency_ns / 1000;
  char *slowdown = device->description.slowdown; /* a text: hosts abort at an attribute that is a real number */
  snprintf(slowdown, sizeof device->description.slowdown, "%.15g", options->slowdown);
  device->description.attributes[1] = attribute("slowdown", XP_ABI_VALUE_STRING);
  device->description.attributes[1].value.text = slowdown;
  device->description.attributes[1].value_size = strlen(slowdown);
  xp_dev_memory_init(&device->memory, device);
  client->device_list[ordinal] = device;
  client->memory_list[ordinal] = &device->memory;
  client->description_list[ordinal] = &device->description;
  return true;
}

static void device_free(xp_abi_device *device)
{
  xp_dev_memory_end(&device->memory);
  pthread_mutex_destroy(&device->account.lock);
  pthread_mutex_destroy(&device->launch);
}

/* Waits for what was launched.  The account stays: blocks may outlive the thread. */
static void device_stop(xp_abi_device *device)
{
  xp_dev_queue_destroy(device->queue);
  device->queue = NULL;
  xp_dev_block_unref(device->scratch);
  device->scratch = NULL;
  xp_dev_tracer_drop_device(device->trace_ordinal);
}

xp_abi_client *xp_dev_client_ref(xp_abi_client *client)
{
  __atomic_fetch_add(&client->refs, 1, __ATOMIC_RELAXED);
  return client;
}

void xp_dev_client_unref(xp_abi_client *client)
{
  if (__atomic_sub_fetch(&client->refs, 1, __ATOMIC_ACQ_REL) > 0) {
    return;
  }
  for (int64_t i = 0; i < client->options.device_count; i++) {
    device_free(&client->devices[i]);
  }
  free(client);
}

xp_abi_error *xp_dev_client_create(xp_abi_client_create_args *args)
{
  xp_dev_options options;
  xp_abi_error *error = xp_dev_options_read(args->create_options, args->num_options, &options);
  if (error != NULL) {
    return error;
  }
  size_t count = (size_t)options.device_count;
  xp_abi_client *client = calloc(1, sizeof *client + count * sizeof client->devices[0]);
  if (client == NULL) {
    return xp_dev_fail_memory();
  }
  client->refs = 1;
  client->options = options;
  for (int i = 0; i < (int)count; i++) {
    if (!device_start(client, i)) {
      while (i-- > 0) {
        device_stop(&client->devices[i]);
        device_free(&client->devices[i]);
      }
      free(client);
      return xp_dev_fail(XP_ABI_RESOURCE_EXHAUSTED, "The host gives no thread for the device.");
    }
  }
  args->client = client;
  return NULL;
}

xp_abi_error *xp_dev_client_destroy(xp_abi_object_args *args)
{
  xp_abi_client *client = args->object;
  for (int64_t i = 0; i < client->options.device_count; i++) {
    if (xp_dev_queue_is_here(client->devices[i].queue)) {
      return xp_dev_fail(
          XP_ABI_FAILED_PRECONDITION,
          "PJRT_Client_Destroy: a callback on the device's own thread cannot end the device; call it from "
          "another thread.");
    }
  }
  for (int64_t i = 0; i < client->options.device_count; i++) {
    device_stop(&client->devices[i]);
  }
  xp_dev_client_unref(client);
  return NULL;
}

/* ---------------------------------------------------------------- what it has */

xp_abi_device *xp_dev_client_device(xp_abi_client *client, xp_abi_device *device, const xp_abi_memory *memory)
{
  return device != NULL ? device : memory != NULL ? memory->device : &client->devices[0];
}

xp_abi_error *xp_dev_client_platform_name(xp_abi_text_args *args)
{
  args->text = XP_DEV_PLATFORM;
  args->text_size = strlen(args->text);
  return NULL;
}

xp_abi_error *xp_dev_client_process_index(xp_abi_int32_args *args)
{
  args->value = 0;
  return NULL;
}

xp_abi_error *xp_dev_client_platform_version(xp_abi_text_args *args)
{
  args->text = XP_DEV_KIND;
  args->text_size = strlen(args->text);
  return NULL;
}

xp_abi_error *xp_dev_client_devices(xp_abi_list_args *args)
{
  xp_abi_client *client = args->object;
  args->items = client->device_list;
  args->count = (size_t)client->options.device_count;
  return NULL;
}

xp_abi_error *xp_dev_client_lookup(xp_abi_lookup_args *args)
{
  xp_abi_client *client = args->client;
  if (args->id < 0 || args->id >= client->options.device_count) {
    return xp_dev_fail(XP_ABI_INVALID_ARGUMENT, "There is no device %d; the client has %lld.", (int)args->id,
                       (long long)client->options.device_count);
  }
  args->device = &client->devices[args->id];
  return NULL;
}

xp_abi_error *xp_dev_client_memories(xp_abi_list_args *args)
{
  xp_abi_client *client = args->object;
  args->items = client->memory_list;
  args->count = (size_t)client->options.device_count;
  return NULL;
}

xp_abi_error *xp_dev_client_assignment(xp_abi_assignment_args *args)
{
  int64_t want =
      args->num_replicas < 1 || args->num_partitions < 1 ? 0 : (int64_t)args->num_replicas * args->num_partitions;
  if (want < 1 || want > args->client->options.device_count || (uint64_t)want > args->assignment_size) {
    return xp_dev_fail(
        XP_ABI_INVALID_ARGUMENT,
        "PJRT_Client_DefaultDeviceAssignment: %d replicas of %d partitions do not fit %lld devices and a "
        "list of %zu.",
        (int)args->num_replicas, (int)args->num_partitions, (long long)args->client->options.device_count,
        args->assignment_size);
  }
  for (int64_t i = 0; i < want; i++) {
    args->assignment[i] = (int32_t)i;
  }
  return NULL;
}

/* ---------------------------------------------------------------- the topology */

xp_abi_error *xp_dev_client_topology(xp_abi_pointer_args *args)
{
  args->value = args->object; /* the client's own, for which nobody calls destroy */
  return NULL;
}

xp_abi_error *xp_dev_topology_destroy(xp_abi_object_args *args)
{
  (void)args;
  return NULL;
}

xp_abi_error *xp_dev_topology_devices(xp_abi_list_args *args)
{
  xp_abi_client *client = args->object;
  args->items = client->description_list;
  args->count = (size_t)client->options.device_count;
  return NULL;
}

xp_abi_error *xp_dev_topology_attributes(xp_abi_list_args *args)
{
  args->items = NULL;
  args->count = 0;
  return NULL;
}
