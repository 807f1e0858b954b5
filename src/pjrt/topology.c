/* Machines that are not here: compiling for them, ahead of time. */
#include <stdlib.h>

#include "pjrt/objects.h"

static xp_status create(const xp_pjrt_plugin *plugin, const char *name, const xp_pjrt_option *options,
                        size_t option_count, xp_abi_topology **handle, xp_error *err)
{
  const char *function = "PJRT_TopologyDescription_Create";
  if (plugin->api.topology_create == NULL) {
    return xp_pjrt_lacks(plugin, function, err);
  }
  xp_abi_named_value *values = xp_pjrt_named_values(options, option_count);
  if (values == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out for the options of the plugin %s", plugin->name);
  }
  xp_abi_topology_create_args args = {.struct_size = sizeof args,
                                      .name = name,
                                      .name_size = strlen(name),
                                      .create_options = values,
                                      .num_options = option_count};
  xp_status status = xp_pjrt_answer(plugin, plugin->api.topology_create(&args), function, err);
  free(values);
  if (status == XP_OK && args.topology == NULL) {
    return xp_pjrt_gave_nothing(plugin, function, err);
  }
  *handle = args.topology;
  return status;
}

xp_status xp_pjrt_topology_create(const xp_pjrt_plugin *plugin, const char *name, const xp_pjrt_option *options,
                                  size_t option_count, xp_pjrt_topology **topology, xp_error *err)
{
  xp_pjrt_topology *created = malloc(sizeof *created);
  if (created == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out for a topology of the plugin %s", plugin->name);
  }
  created->plugin = plugin;
  xp_status status = create(plugin, name, options, option_count, &created->handle, err);
  if (status != XP_OK) {
    free(created);
    return status;
  }
  *topology = created;
  return XP_OK;
}

void xp_pjrt_topology_destroy(xp_pjrt_topology *topology)
{
  if (topology != NULL) {
    xp_pjrt_release(topology->plugin, topology->plugin->api.topology_destroy, topology->handle);
    free(topology);
  }
}

xp_status xp_pjrt_topology_platform(const xp_pjrt_topology *topology, xp_str *platform, xp_error *err)
{
  return xp_pjrt_call_text(topology->plugin, topology->plugin->api.topology_platform_name,
                           "PJRT_TopologyDescription_PlatformName", topology->handle, platform, err);
}

xp_status xp_pjrt_topology_device_count(const xp_pjrt_topology *topology, size_t *count, xp_error *err)
{
  const void *items = NULL;
  return xp_pjrt_call_list(topology->plugin, topology->plugin->api.topology_get_device_descriptions,
                           "PJRT_TopologyDescription_GetDeviceDescriptions", topology->handle, &items, count, err);
}

static xp_status compile(const xp_pjrt_topology *topology, const xp_abi_program *program, const xp_wire_writer *options,
                         xp_pjrt_executable **executable, xp_error *err)
{
  const xp_pjrt_plugin *plugin = topology->plugin;
  if (plugin->api.compile == NULL) {
    return xp_pjrt_lacks(plugin, "PJRT_Compile", err);
  }
  if (options->failed) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out while a program was compiled");
  }
  xp_abi_compile_args args = {.struct_size = sizeof args,
                              .topology = topology->handle,
                              .program = program,
                              .options = (const char *)options->data,
                              .options_size = options->len};
  xp_status status = xp_pjrt_answer(plugin, plugin->api.compile(&args), "PJRT_Compile", err);
  if (status == XP_OK && args.executable == NULL) {
    return xp_pjrt_gave_nothing(plugin, "PJRT_Compile", err);
  }
  return status == XP_OK ? xp_pjrt_executable_take(plugin, args.executable, NULL, executable, err) : status;
}

xp_status xp_pjrt_topology_compile(const xp_pjrt_topology *topology, xp_pjrt_program program,
                                   xp_pjrt_executable **executable, xp_error *err)
{
  xp_wire_writer options = {0};
  xp_pjrt_put_compile_options(&options, -1);
  xp_abi_program argument = xp_pjrt_program_argument(program);
  xp_status status = compile(topology, &argument, &options, executable, err);
  xp_wire_writer_free(&options);
  return status;
}
