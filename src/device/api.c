/* The function table of the plugin.
 *
 * It is published as version 0.81, the size of which hosts before and after it accept.  Slots that came later are
 * filled all the same: a host that looks at them finds answers.  Every function that the device has not answers with an
 * error that names it, so no slot is NULL.
 */
#include "device/block.h"
#include "device/buffer.h"
#include "device/client.h"
#include "device/event.h"
#include "device/execute.h"
#include "device/executable.h"
#include "device/plugin.h"
#include "device/profiler.h"
#include "device/transfer.h"

enum { PUBLISHED_MINOR = 81 };

/* ---------------------------------------------------------------- the plugin */

static xp_abi_error *plugin_initialize(xp_abi_plugin_initialize_args *args)
{
  (void)args;
  return NULL;
}

static xp_abi_error *plugin_attributes(xp_abi_plugin_attributes_args *args)
{
  args->attributes = NULL;
  args->num_attributes = 0;
  return NULL;
}

/* An execution needs no context; hosts make one all the same. */
static xp_abi_error *context_create(xp_abi_object_args *args)
{
  static int context;
  args->object = &context;
  return NULL;
}

static xp_abi_error *context_destroy(xp_abi_object_args *args)
{
  (void)args;
  return NULL;
}

/* ---------------------------------------------------------------- what the device has not */

static xp_abi_error *refuse(const char *function)
{
  return xp_dev_fail(XP_ABI_UNIMPLEMENTED, "%s: the embedded device of xlaprof does not do that.", function);
}

/* X(slot, upstream's name): slots without a type of their own here. */
#define REFUSED(X)                                                                                                     \
  X(copy_to_device_stream_destroy, "PJRT_CopyToDeviceStream_Destroy")                                                  \
  X(copy_to_device_stream_add_chunk, "PJRT_CopyToDeviceStream_AddChunk")                                               \
  X(copy_to_device_stream_total_bytes, "PJRT_CopyToDeviceStream_TotalBytes")                                           \
  X(copy_to_device_stream_granule_size, "PJRT_CopyToDeviceStream_GranuleSize")                                         \
  X(copy_to_device_stream_current_bytes, "PJRT_CopyToDeviceStream_CurrentBytes")                                       \
  X(client_create_view_of_device_buffer, "PJRT_Client_CreateViewOfDeviceBuffer")                                       \
  X(transfer_manager_destroy, "PJRT_AsyncHostToDeviceTransferManager_Destroy")                                         \
  X(transfer_manager_transfer_data, "PJRT_AsyncHostToDeviceTransferManager_TransferData")                              \
  X(client_create_buffers_for_async_host_to_device, "PJRT_Client_CreateBuffersForAsyncHostToDevice")                   \
  X(transfer_manager_retrieve_buffer, "PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer")                          \
  X(transfer_manager_device, "PJRT_AsyncHostToDeviceTransferManager_Device")                                           \
  X(transfer_manager_buffer_count, "PJRT_AsyncHostToDeviceTransferManager_BufferCount")                                \
  X(transfer_manager_buffer_size, "PJRT_AsyncHostToDeviceTransferManager_BufferSize")                                  \
  X(transfer_manager_set_buffer_error, "PJRT_AsyncHostToDeviceTransferManager_SetBufferError")                         \
  X(transfer_manager_add_metadata, "PJRT_AsyncHostToDeviceTransferManager_AddMetadata")                                \
  X(transfer_manager_transfer_literal, "PJRT_AsyncHostToDeviceTransferManager_TransferLiteral")                        \
  X(client_dma_map, "PJRT_Client_DmaMap")                                                                              \
  X(client_dma_unmap, "PJRT_Client_DmaUnmap")                                                                          \
  X(client_create_uninitialized_buffer, "PJRT_Client_CreateUninitializedBuffer")                                       \
  X(client_update_global_process_info, "PJRT_Client_UpdateGlobalProcessInfo")                                          \
  X(client_create_alias_buffer, "PJRT_Client_CreateAliasBuffer")                                                       \
  X(client_fulfill_alias_buffer, "PJRT_Client_FulfillAliasBuffer")                                                     \
  X(client_create_error_buffer, "PJRT_Client_CreateErrorBuffer")                                                       \
  X(buffer_copy_raw_to_host_future, "PJRT_Buffer_CopyRawToHostFuture")                                                 \
  X(device_poison_execution, "PJRT_Device_PoisonExecution")                                                            \
  X(device_create_async_tracking_event, "PJRT_Device_CreateAsyncTrackingEvent")                                        \
  X(async_tracking_event_destroy, "PJRT_AsyncTrackingEvent_Destroy")                                                   \
  X(buffer_donate_with_control_dependency, "PJRT_Buffer_DonateWithControlDependency")                                  \
  X(device_get_attributes, "PJRT_Device_GetAttributes")                                                                \
  X(client_load, "PJRT_Client_Load")                                                                                   \
  X(buffer_bitcast, "PJRT_Buffer_Bitcast")                                                                             \
  X(error_for_each_payload, "PJRT_Error_ForEachPayload")                                                               \
  X(topology_make_canonical_shape_for_memory_space, "PJRT_TopologyDescription_MakeCanonicalShapeForMemorySpace")

#define DEFINE_REFUSED(slot, name)                                                                                     \
  static xp_abi_error *refuse_##slot(void *args)                                                                       \
  {                                                                                                                    \
    (void)args;                                                                                                        \
    return refuse(name);                                                                                               \
  }
REFUSED(DEFINE_REFUSED)
#undef DEFINE_REFUSED

static xp_abi_error *refuse_serialize(xp_abi_bytes_args *args)
{
  (void)args;
  return refuse("PJRT_Executable_Serialize");
}

static xp_abi_error *refuse_deserialize(xp_abi_deserialize_args *args)
{
  (void)args;
  return refuse("PJRT_Executable_DeserializeAndLoad");
}

static xp_abi_error *refuse_topology_create(xp_abi_topology_create_args *args)
{
  (void)args;
  return refuse("PJRT_TopologyDescription_Create");
}

static xp_abi_error *refuse_topology_serialize(xp_abi_bytes_args *args)
{
  (void)args;
  return refuse("PJRT_TopologyDescription_Serialize");
}

static xp_abi_error *refuse_topology_deserialize(xp_abi_topology_deserialize_args *args)
{
  (void)args;
  return refuse("PJRT_TopologyDescription_Deserialize");
}

static xp_abi_error *refuse_topology_fingerprint(xp_abi_uint64_args *args)
{
  (void)args;
  return refuse("PJRT_TopologyDescription_Fingerprint");
}

static xp_abi_error *refuse_topology_kinds(xp_abi_list_args *args)
{
  (void)args;
  return refuse("PJRT_TopologyDescription_GetMemorySpaceKindIds");
}

/* ---------------------------------------------------------------- the table */

#define PUT_REFUSED(slot, name) .slot = (xp_abi_untyped_function *)refuse_##slot,

static const xp_abi_api table = {
    .struct_size = XP_ABI_API_SIZE_81,
    .extension_start = &xp_dev_profiler_extension.base,
    .version = {.struct_size = sizeof(xp_abi_version), .major = XP_ABI_MAJOR, .minor = PUBLISHED_MINOR},

    .error_destroy = xp_dev_error_destroy,
    .error_message = xp_dev_error_message,
    .error_get_code = xp_dev_error_get_code,
    .plugin_initialize = plugin_initialize,
    .plugin_attributes = plugin_attributes,
    .event_destroy = xp_dev_event_destroy,
    .event_is_ready = xp_dev_event_is_ready,
    .event_error = xp_dev_event_get_error,
    .event_await = xp_dev_event_await,
    .event_on_ready = xp_dev_event_on_ready,
    .event_create = xp_dev_event_make,
    .event_set = xp_dev_event_set_by_host,

    .client_create = xp_dev_client_create,
    .client_destroy = xp_dev_client_destroy,
    .client_platform_name = xp_dev_client_platform_name,
    .client_process_index = xp_dev_client_process_index,
    .client_platform_version = xp_dev_client_platform_version,
    .client_devices = xp_dev_client_devices,
    .client_addressable_devices = xp_dev_client_devices,
    .client_lookup_device = xp_dev_client_lookup,
    .client_lookup_addressable_device = xp_dev_client_lookup,
    .client_addressable_memories = xp_dev_client_memories,
    .client_compile = xp_dev_compile,
    .client_default_device_assignment = xp_dev_client_assignment,
    .client_buffer_from_host_buffer = xp_dev_from_host,
    .client_topology_description = xp_dev_client_topology,
    .topology_create = refuse_topology_create,
    .topology_destroy = xp_dev_topology_destroy,
    .topology_platform_name = xp_dev_client_platform_name,
    .topology_platform_version = xp_dev_client_platform_version,
    .topology_get_device_descriptions = xp_dev_topology_devices,
    .topology_serialize = refuse_topology_serialize,
    .topology_deserialize = refuse_topology_deserialize,
    .topology_attributes = xp_dev_topology_attributes,
    .topology_fingerprint = refuse_topology_fingerprint,
    .topology_get_memory_space_kind_ids = refuse_topology_kinds,

    .device_description_id = xp_dev_description_id,
    .device_description_process_index = xp_dev_description_process,
    .device_description_attributes = xp_dev_description_attributes,
    .device_description_kind = xp_dev_description_kind,
    .device_description_debug_string = xp_dev_description_text,
    .device_description_to_string = xp_dev_description_text,
    .device_get_description = xp_dev_device_description,
    .device_is_addressable = xp_dev_device_is_addressable,
    .device_local_hardware_id = xp_dev_device_hardware_id,
    .device_addressable_memories = xp_dev_device_memories,
    .device_default_memory = xp_dev_device_default_memory,
    .device_memory_stats = xp_dev_memory_stats,
    .device_clear_memory_stats = xp_dev_memory_stats_clear,
    .memory_id = xp_dev_memory_id,
    .memory_kind = xp_dev_memory_kind,
    .memory_kind_id = xp_dev_memory_kind_id,
    .memory_debug_string = xp_dev_memory_text,
    .memory_to_string = xp_dev_memory_text,
    .memory_addressable_by_devices = xp_dev_memory_devices,

    .compile = xp_dev_compile_ahead,
    .executable_destroy = xp_dev_executable_destroy,
    .executable_name = xp_dev_executable_name,
    .executable_num_replicas = xp_dev_executable_one,
    .executable_num_partitions = xp_dev_executable_one,
    .executable_num_outputs = xp_dev_executable_output_count,
    .executable_size_of_generated_code_in_bytes = xp_dev_executable_code_size,
    .executable_get_cost_analysis = xp_dev_executable_cost,
    .executable_output_memory_kinds = xp_dev_executable_output_kinds,
    .executable_parameter_memory_kinds = xp_dev_executable_parameter_kinds,
    .executable_optimized_program = xp_dev_executable_optimized,
    .executable_serialize = refuse_serialize,
    .executable_deserialize_and_load = refuse_deserialize,
    .executable_output_element_types = xp_dev_executable_output_types,
    .executable_output_dimensions = xp_dev_executable_output_dims,
    .executable_fingerprint = xp_dev_executable_fingerprint,
    .executable_get_compiled_memory_stats = xp_dev_executable_memory_stats,
    .executable_get_compile_options = xp_dev_executable_options,
    .loaded_executable_destroy = xp_dev_loaded_destroy,
    .loaded_executable_get_executable = xp_dev_loaded_executable,
    .loaded_executable_addressable_devices = xp_dev_loaded_devices,
    .loaded_executable_addressable_device_logical_ids = xp_dev_loaded_logical_ids,
    .loaded_executable_get_device_assignment = xp_dev_loaded_assignment,
    .loaded_executable_delete = xp_dev_loaded_delete,
    .loaded_executable_is_deleted = xp_dev_loaded_is_deleted,
    .loaded_executable_execute = xp_dev_execute,
    .loaded_executable_fingerprint = xp_dev_loaded_fingerprint,
    .execute_context_create = context_create,
    .execute_context_destroy = context_destroy,

    .buffer_destroy = xp_dev_buffer_destroy,
    .buffer_element_type = xp_dev_buffer_type,
    .buffer_dimensions = xp_dev_buffer_dims,
    .buffer_unpadded_dimensions = xp_dev_buffer_dims,
    .buffer_dynamic_dimension_indices = xp_dev_buffer_dynamic_dims,
    .buffer_get_memory_layout = xp_dev_buffer_layout,
    .buffer_on_device_size_in_bytes = xp_dev_buffer_size,
    .buffer_device = xp_dev_buffer_device,
    .buffer_memory = xp_dev_buffer_memory,
    .buffer_delete = xp_dev_buffer_delete,
    .buffer_is_deleted = xp_dev_buffer_is_deleted,
    .buffer_copy_to_device = xp_dev_copy_to_device,
    .buffer_copy_to_memory = xp_dev_copy_to_memory,
    .buffer_to_host_buffer = xp_dev_to_host,
    .buffer_copy_raw_to_host = xp_dev_copy_raw_to_host,
    .buffer_is_on_cpu = xp_dev_buffer_is_on_cpu,
    .buffer_ready_event = xp_dev_buffer_ready_event,
    .buffer_unsafe_pointer = xp_dev_buffer_address,
    .buffer_opaque_device_memory_data_pointer = xp_dev_buffer_pointer,
    .buffer_increase_external_reference_count = xp_dev_buffer_hold,
    .buffer_decrease_external_reference_count = xp_dev_buffer_let_go,

    REFUSED(PUT_REFUSED)};

#undef PUT_REFUSED
#undef REFUSED

const xp_abi_api *xp_device_api(void)
{
  return &table;
}
