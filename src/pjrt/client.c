/* A client and its devices.  What the plugin tells of them does not change, so it is asked for once; the texts are the
 * plugin's and live as long as its client. */
#include <stdlib.h>

#include "pjrt/objects.h"

/* A device whose plugin does not tell one of these has the number or text that stands there already. */
static void describe(const xp_pjrt_plugin *plugin, xp_abi_device_description *description, xp_pjrt_device *device)
{
  const xp_abi_api *api = &plugin->api;
  xp_pjrt_call_int32(plugin, api->device_description_process_index, "PJRT_DeviceDescription_ProcessIndex", description,
                     &device->process_index, NULL);
  xp_pjrt_call_text(plugin, api->device_description_kind, "PJRT_DeviceDescription_Kind", description, &device->kind,
                    NULL);
  xp_pjrt_call_text(plugin, api->device_description_to_string, "PJRT_DeviceDescription_ToString", description,
                    &device->name, NULL);
  xp_pjrt_call_int32(plugin, api->device_local_hardware_id, "PJRT_Device_LocalHardwareId", device->handle,
                     &device->local_id, NULL);
}

static xp_status read_device(const xp_pjrt_plugin *plugin, xp_abi_device *handle, xp_pjrt_device *device, xp_error *err)
{
  *device = (xp_pjrt_device){.local_id = -1, .handle = handle};
  void *description = NULL;
  xp_status status = xp_pjrt_call_pointer(plugin, plugin->api.device_get_description, "PJRT_Device_GetDescription",
                                          handle, &description, err);
  if (status == XP_OK) {
    status = xp_pjrt_call_int32(plugin, plugin->api.device_description_id, "PJRT_DeviceDescription_Id", description,
                                &device->id, err);
  }
  if (status == XP_OK) {
    describe(plugin, description, device);
  }
  return status;
}

static xp_status read_devices(xp_pjrt_client *client, xp_error *err)
{
  const void *items = NULL;
  size_t count = 0;
  xp_status status = xp_pjrt_call_list(client->plugin, client->plugin->api.client_addressable_devices,
                                       "PJRT_Client_AddressableDevices", client->handle, &items, &count, err);
  if (status != XP_OK) {
    return status;
  }
  if (count == 0) {
    return xp_fail(err, XP_ERR_NOT_FOUND, "The plugin %s finds no device that this process can use",
                   client->plugin->name);
  }
  client->devices = calloc(count, sizeof *client->devices);
  if (client->devices == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out for the %zu devices of the plugin %s", count,
                   client->plugin->name);
  }
  client->device_count = count;
  xp_abi_device *const *handles = items;
  for (size_t i = 0; i < count && status == XP_OK; i++) {
    status = read_device(client->plugin, handles[i], &client->devices[i], err);
  }
  return status;
}

static xp_status start(xp_pjrt_client *client, const xp_pjrt_option *options, size_t option_count, xp_error *err)
{
  const xp_pjrt_plugin *plugin = client->plugin;
  if (plugin->api.client_create == NULL) {
    return xp_pjrt_lacks(plugin, "PJRT_Client_Create", err);
  }
  xp_abi_named_value *values = xp_pjrt_named_values(options, option_count);
  if (values == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out for the options of the plugin %s", plugin->name);
  }
  xp_abi_client_create_args args = {.struct_size = sizeof args, .create_options = values, .num_options = option_count};
  xp_status status = xp_pjrt_answer(plugin, plugin->api.client_create(&args), "PJRT_Client_Create", err);
  free(values);
  if (status == XP_OK && args.client == NULL) {
    return xp_pjrt_gave_nothing(plugin, "PJRT_Client_Create", err);
  }
  client->handle = status == XP_OK ? args.client : NULL;
  return status;
}

xp_status xp_pjrt_client_create(const xp_pjrt_plugin *plugin, const xp_pjrt_option *options, size_t option_count,
                                xp_pjrt_client **client, xp_error *err)
{
  xp_pjrt_client *created = calloc(1, sizeof *created);
  if (created == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out while a client of the plugin %s was created", plugin->name);
  }
  created->plugin = plugin;
  xp_status status = start(created, options, option_count, err);
  if (status == XP_OK) {
    status = read_devices(created, err);
  }
  if (status != XP_OK) {
    xp_pjrt_client_destroy(created);
    return status;
  }
  const xp_abi_api *api = &plugin->api;
  xp_pjrt_call_text(plugin, api->client_platform_name, "PJRT_Client_PlatformName", created->handle, &created->platform,
                    NULL);
  xp_pjrt_call_text(plugin, api->client_platform_version, "PJRT_Client_PlatformVersion", created->handle,
                    &created->platform_version, NULL);
  *client = created;
  return XP_OK;
}

void xp_pjrt_client_destroy(xp_pjrt_client *client)
{
  if (client == NULL) {
    return;
  }
  xp_pjrt_release(client->plugin, client->plugin->api.client_destroy, client->handle);
  free(client->devices);
  free(client);
}

const xp_pjrt_device *xp_pjrt_client_devices(const xp_pjrt_client *client, size_t *count)
{
  *count = client->device_count;
  return client->devices;
}

xp_str xp_pjrt_client_platform(const xp_pjrt_client *client)
{
  return client->platform;
}

xp_str xp_pjrt_client_platform_version(const xp_pjrt_client *client)
{
  return client->platform_version;
}

xp_status xp_pjrt_device_memory(const xp_pjrt_client *client, const xp_pjrt_device *device, int64_t *used_bytes,
                                int64_t *limit_bytes, xp_error *err)
{
  const xp_pjrt_plugin *plugin = client->plugin;
  if (plugin->api.device_memory_stats == NULL) {
    return xp_pjrt_lacks(plugin, "PJRT_Device_MemoryStats", err);
  }
  xp_abi_memory_stats_args args = {.struct_size = XP_ABI_MEMORY_STATS_SIZE, .device = device->handle};
  xp_status status = xp_pjrt_answer(plugin, plugin->api.device_memory_stats(&args), "PJRT_Device_MemoryStats", err);
  if (status == XP_OK) {
    *used_bytes = args.bytes_in_use;
    *limit_bytes = args.bytes_limit.is_set ? args.bytes_limit.value : -1;
  }
  return status;
}
