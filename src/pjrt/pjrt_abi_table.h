/* The function table of the PJRT C API: what GetPjrtApi of a plugin returns.
 *
 * The slot named object_verb is upstream's PJRT_Object_Verb, with two words cut short: topology_ is
 * TopologyDescription_, transfer_manager_ is AsyncHostToDeviceTransferManager_.  Slots are only ever added at the end;
 * struct_size says how many a plugin has, and any of them may be NULL.  Those that nobody here calls or serves have no
 * type.
 *
 * Every function returns NULL, or an error that the caller destroys.
 */
#ifndef XP_PJRT_PJRT_ABI_TABLE_H
#define XP_PJRT_PJRT_ABI_TABLE_H

#include "pjrt/pjrt_abi_args.h"

typedef void xp_abi_untyped_function(void);

/* PJRT_Api */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_version version;

  /* errors */
  void (*error_destroy)(xp_abi_object_args *args);
  void (*error_message)(xp_abi_text_args *args);
  xp_abi_int32_function *error_get_code;

  /* the plugin */
  xp_abi_error *(*plugin_initialize)(xp_abi_plugin_initialize_args *args);
  xp_abi_error *(*plugin_attributes)(xp_abi_plugin_attributes_args *args);

  /* events */
  xp_abi_object_function *event_destroy;
  xp_abi_bool_function *event_is_ready;
  xp_abi_object_function *event_error;
  xp_abi_object_function *event_await;
  xp_abi_error *(*event_on_ready)(xp_abi_event_on_ready_args *args);

  /* the client */
  xp_abi_error *(*client_create)(xp_abi_client_create_args *args);
  xp_abi_object_function *client_destroy;
  xp_abi_text_function *client_platform_name;
  xp_abi_int32_function *client_process_index;
  xp_abi_text_function *client_platform_version;
  xp_abi_list_function *client_devices;
  xp_abi_list_function *client_addressable_devices;
  xp_abi_error *(*client_lookup_device)(xp_abi_lookup_args *args);
  xp_abi_error *(*client_lookup_addressable_device)(xp_abi_lookup_args *args);
  xp_abi_list_function *client_addressable_memories;
  xp_abi_error *(*client_compile)(xp_abi_client_compile_args *args);
  xp_abi_error *(*client_default_device_assignment)(xp_abi_assignment_args *args);
  xp_abi_error *(*client_buffer_from_host_buffer)(xp_abi_from_host_args *args);

  /* devices and their memories */
  xp_abi_int32_function *device_description_id;
  xp_abi_int32_function *device_description_process_index;
  xp_abi_values_function *device_description_attributes;
  xp_abi_text_function *device_description_kind;
  xp_abi_text_function *device_description_debug_string;
  xp_abi_text_function *device_description_to_string;
  xp_abi_pointer_function *device_get_description;
  xp_abi_bool_function *device_is_addressable;
  xp_abi_int32_function *device_local_hardware_id;
  xp_abi_list_function *device_addressable_memories;
  xp_abi_pointer_function *device_default_memory;
  xp_abi_error *(*device_memory_stats)(xp_abi_memory_stats_args *args);
  xp_abi_int32_function *memory_id;
  xp_abi_text_function *memory_kind;
  xp_abi_text_function *memory_debug_string;
  xp_abi_text_function *memory_to_string;
  xp_abi_list_function *memory_addressable_by_devices;

  /* executables */
  xp_abi_object_function *executable_destroy;
  xp_abi_text_function *executable_name;
  xp_abi_uint64_function *executable_num_replicas;
  xp_abi_uint64_function *executable_num_partitions;
  xp_abi_uint64_function *executable_num_outputs;
  xp_abi_uint64_function *executable_size_of_generated_code_in_bytes;
  xp_abi_values_function *executable_get_cost_analysis;
  xp_abi_error *(*executable_output_memory_kinds)(xp_abi_memory_kinds_args *args);
  xp_abi_error *(*executable_optimized_program)(xp_abi_optimized_program_args *args);
  xp_abi_bytes_function *executable_serialize;
  xp_abi_object_function *loaded_executable_destroy;
  xp_abi_pointer_function *loaded_executable_get_executable;
  xp_abi_list_function *loaded_executable_addressable_devices;
  xp_abi_object_function *loaded_executable_delete;
  xp_abi_bool_function *loaded_executable_is_deleted;
  xp_abi_error *(*loaded_executable_execute)(xp_abi_execute_args *args);
  xp_abi_error *(*executable_deserialize_and_load)(xp_abi_deserialize_args *args);
  xp_abi_text_function *loaded_executable_fingerprint;

  /* buffers */
  xp_abi_object_function *buffer_destroy;
  xp_abi_int32_function *buffer_element_type;
  xp_abi_list_function *buffer_dimensions;
  xp_abi_list_function *buffer_unpadded_dimensions;
  xp_abi_list_function *buffer_dynamic_dimension_indices;
  xp_abi_error *(*buffer_get_memory_layout)(xp_abi_buffer_layout_args *args);
  xp_abi_uint64_function *buffer_on_device_size_in_bytes;
  xp_abi_pointer_function *buffer_device;
  xp_abi_pointer_function *buffer_memory;
  xp_abi_object_function *buffer_delete;
  xp_abi_bool_function *buffer_is_deleted;
  xp_abi_error *(*buffer_copy_to_device)(xp_abi_copy_args *args);
  xp_abi_error *(*buffer_to_host_buffer)(xp_abi_to_host_args *args);
  xp_abi_bool_function *buffer_is_on_cpu;
  xp_abi_pointer_function *buffer_ready_event;
  xp_abi_uint64_function *buffer_unsafe_pointer;
  xp_abi_object_function *buffer_increase_external_reference_count;
  xp_abi_object_function *buffer_decrease_external_reference_count;
  xp_abi_pointer_function *buffer_opaque_device_memory_data_pointer;

  /* copies to a device, chunk by chunk */
  xp_abi_untyped_function *copy_to_device_stream_destroy;
  xp_abi_untyped_function *copy_to_device_stream_add_chunk;
  xp_abi_untyped_function *copy_to_device_stream_total_bytes;
  xp_abi_untyped_function *copy_to_device_stream_granule_size;
  xp_abi_untyped_function *copy_to_device_stream_current_bytes;

  /* topologies and compiling ahead of time */
  xp_abi_error *(*topology_create)(xp_abi_topology_create_args *args);
  xp_abi_object_function *topology_destroy;
  xp_abi_text_function *topology_platform_name;
  xp_abi_text_function *topology_platform_version;
  xp_abi_list_function *topology_get_device_descriptions;
  xp_abi_bytes_function *topology_serialize;
  xp_abi_list_function *topology_attributes;
  xp_abi_error *(*compile)(xp_abi_compile_args *args);

  /* what came later, one behind the other */
  xp_abi_list_function *executable_output_element_types;
  xp_abi_error *(*executable_output_dimensions)(xp_abi_output_dimensions_args *args);
  xp_abi_error *(*buffer_copy_to_memory)(xp_abi_copy_args *args);
  xp_abi_untyped_function *client_create_view_of_device_buffer;
  xp_abi_text_function *executable_fingerprint;
  xp_abi_pointer_function *client_topology_description;
  xp_abi_error *(*executable_get_compiled_memory_stats)(xp_abi_compiled_memory_stats_args *args);
  xp_abi_int32_function *memory_kind_id;
  xp_abi_object_function *execute_context_create;
  xp_abi_object_function *execute_context_destroy;
  xp_abi_error *(*buffer_copy_raw_to_host)(xp_abi_copy_raw_args *args);
  xp_abi_untyped_function *transfer_manager_destroy;
  xp_abi_untyped_function *transfer_manager_transfer_data;
  xp_abi_untyped_function *client_create_buffers_for_async_host_to_device;
  xp_abi_untyped_function *transfer_manager_retrieve_buffer;
  xp_abi_untyped_function *transfer_manager_device;
  xp_abi_untyped_function *transfer_manager_buffer_count;
  xp_abi_untyped_function *transfer_manager_buffer_size;
  xp_abi_untyped_function *transfer_manager_set_buffer_error;
  xp_abi_untyped_function *transfer_manager_add_metadata;
  xp_abi_untyped_function *client_dma_map;
  xp_abi_untyped_function *client_dma_unmap;
  xp_abi_untyped_function *client_create_uninitialized_buffer;
  xp_abi_untyped_function *client_update_global_process_info;
  xp_abi_error *(*topology_deserialize)(xp_abi_topology_deserialize_args *args);

  /* from here on not in minor 75 (960 bytes) */
  xp_abi_untyped_function *client_create_alias_buffer;
  xp_abi_untyped_function *client_fulfill_alias_buffer;
  xp_abi_bytes_function *loaded_executable_get_device_assignment;

  /* from here on not in minor 81 (984 bytes) */
  xp_abi_untyped_function *client_create_error_buffer;
  xp_abi_untyped_function *transfer_manager_transfer_literal;
  xp_abi_untyped_function *buffer_copy_raw_to_host_future;
  xp_abi_untyped_function *device_poison_execution;
  xp_abi_untyped_function *device_create_async_tracking_event;
  xp_abi_untyped_function *async_tracking_event_destroy;
  xp_abi_bytes_function *executable_get_compile_options;
  xp_abi_untyped_function *buffer_donate_with_control_dependency;
  xp_abi_object_function *event_create;
  xp_abi_error *(*event_set)(xp_abi_event_set_args *args);
  xp_abi_untyped_function *device_get_attributes;
  xp_abi_untyped_function *client_load;
  xp_abi_list_function *loaded_executable_addressable_device_logical_ids;
  xp_abi_untyped_function *buffer_bitcast;
  xp_abi_untyped_function *error_for_each_payload;
  xp_abi_uint64_function *topology_fingerprint;
  xp_abi_error *(*executable_parameter_memory_kinds)(xp_abi_memory_kinds_args *args);
  xp_abi_object_function *device_clear_memory_stats;
  xp_abi_untyped_function *topology_make_canonical_shape_for_memory_space;
  xp_abi_list_function *topology_get_memory_space_kind_ids;
} xp_abi_api;

/* GetPjrtApi, the one symbol of a plugin. */
typedef const xp_abi_api *xp_abi_get_api(void);

enum {
  XP_ABI_API_HEAD_SIZE = 40,  /* before the first function */
  XP_ABI_API_SIZE_75 = 960,   /* libtpu 0.0.23 */
  XP_ABI_API_SIZE_81 = 984,   /* xla-cpu-pjrt 0.0.1 */
  XP_ABI_API_SIZE_115 = 1144, /* lammps-jax-pjrt-cpu 0.11.2; also 114, and 117 of libtpu 0.0.52 */
};

/* ---------------------------------------------------------------- the layout, on machines of 64 bits */

#define XP_AT(slot, offset) static_assert(offsetof(xp_abi_api, slot) == (offset), #slot)

static_assert(sizeof(xp_abi_api) == XP_ABI_API_SIZE_115, "xp_abi_api");
XP_AT(extension_start, 8);
XP_AT(version, 16);
XP_AT(error_destroy, 40);
XP_AT(error_message, 48);
XP_AT(error_get_code, 56);
XP_AT(plugin_initialize, 64);
XP_AT(plugin_attributes, 72);
XP_AT(event_destroy, 80);
XP_AT(event_is_ready, 88);
XP_AT(event_error, 96);
XP_AT(event_await, 104);
XP_AT(event_on_ready, 112);
XP_AT(client_create, 120);
XP_AT(client_destroy, 128);
XP_AT(client_platform_name, 136);
XP_AT(client_process_index, 144);
XP_AT(client_platform_version, 152);
XP_AT(client_devices, 160);
XP_AT(client_addressable_devices, 168);
XP_AT(client_lookup_device, 176);
XP_AT(client_lookup_addressable_device, 184);
XP_AT(client_addressable_memories, 192);
XP_AT(client_compile, 200);
XP_AT(client_default_device_assignment, 208);
XP_AT(client_buffer_from_host_buffer, 216);
XP_AT(device_description_id, 224);
XP_AT(device_description_process_index, 232);
XP_AT(device_description_attributes, 240);
XP_AT(device_description_kind, 248);
XP_AT(device_description_debug_string, 256);
XP_AT(device_description_to_string, 264);
XP_AT(device_get_description, 272);
XP_AT(device_is_addressable, 280);
XP_AT(device_local_hardware_id, 288);
XP_AT(device_addressable_memories, 296);
XP_AT(device_default_memory, 304);
XP_AT(device_memory_stats, 312);
XP_AT(memory_id, 320);
XP_AT(memory_kind, 328);
XP_AT(memory_debug_string, 336);
XP_AT(memory_to_string, 344);
XP_AT(memory_addressable_by_devices, 352);
XP_AT(executable_destroy, 360);
XP_AT(executable_name, 368);
XP_AT(executable_num_replicas, 376);
XP_AT(executable_num_partitions, 384);
XP_AT(executable_num_outputs, 392);
XP_AT(executable_size_of_generated_code_in_bytes, 400);
XP_AT(executable_get_cost_analysis, 408);
XP_AT(executable_output_memory_kinds, 416);
XP_AT(executable_optimized_program, 424);
XP_AT(executable_serialize, 432);
XP_AT(loaded_executable_destroy, 440);
XP_AT(loaded_executable_get_executable, 448);
XP_AT(loaded_executable_addressable_devices, 456);
XP_AT(loaded_executable_delete, 464);
XP_AT(loaded_executable_is_deleted, 472);
XP_AT(loaded_executable_execute, 480);
XP_AT(executable_deserialize_and_load, 488);
XP_AT(loaded_executable_fingerprint, 496);
XP_AT(buffer_destroy, 504);
XP_AT(buffer_element_type, 512);
XP_AT(buffer_dimensions, 520);
XP_AT(buffer_unpadded_dimensions, 528);
XP_AT(buffer_dynamic_dimension_indices, 536);
XP_AT(buffer_get_memory_layout, 544);
XP_AT(buffer_on_device_size_in_bytes, 552);
XP_AT(buffer_device, 560);
XP_AT(buffer_memory, 568);
XP_AT(buffer_delete, 576);
XP_AT(buffer_is_deleted, 584);
XP_AT(buffer_copy_to_device, 592);
XP_AT(buffer_to_host_buffer, 600);
XP_AT(buffer_is_on_cpu, 608);
XP_AT(buffer_ready_event, 616);
XP_AT(buffer_unsafe_pointer, 624);
XP_AT(buffer_increase_external_reference_count, 632);
XP_AT(buffer_decrease_external_reference_count, 640);
XP_AT(buffer_opaque_device_memory_data_pointer, 648);
XP_AT(copy_to_device_stream_destroy, 656);
XP_AT(copy_to_device_stream_add_chunk, 664);
XP_AT(copy_to_device_stream_total_bytes, 672);
XP_AT(copy_to_device_stream_granule_size, 680);
XP_AT(copy_to_device_stream_current_bytes, 688);
XP_AT(topology_create, 696);
XP_AT(topology_destroy, 704);
XP_AT(topology_platform_name, 712);
XP_AT(topology_platform_version, 720);
XP_AT(topology_get_device_descriptions, 728);
XP_AT(topology_serialize, 736);
XP_AT(topology_attributes, 744);
XP_AT(compile, 752);
XP_AT(executable_output_element_types, 760);
XP_AT(executable_output_dimensions, 768);
XP_AT(buffer_copy_to_memory, 776);
XP_AT(client_create_view_of_device_buffer, 784);
XP_AT(executable_fingerprint, 792);
XP_AT(client_topology_description, 800);
XP_AT(executable_get_compiled_memory_stats, 808);
XP_AT(memory_kind_id, 816);
XP_AT(execute_context_create, 824);
XP_AT(execute_context_destroy, 832);
XP_AT(buffer_copy_raw_to_host, 840);
XP_AT(transfer_manager_destroy, 848);
XP_AT(transfer_manager_transfer_data, 856);
XP_AT(client_create_buffers_for_async_host_to_device, 864);
XP_AT(transfer_manager_retrieve_buffer, 872);
XP_AT(transfer_manager_device, 880);
XP_AT(transfer_manager_buffer_count, 888);
XP_AT(transfer_manager_buffer_size, 896);
XP_AT(transfer_manager_set_buffer_error, 904);
XP_AT(transfer_manager_add_metadata, 912);
XP_AT(client_dma_map, 920);
XP_AT(client_dma_unmap, 928);
XP_AT(client_create_uninitialized_buffer, 936);
XP_AT(client_update_global_process_info, 944);
XP_AT(topology_deserialize, 952);
XP_AT(client_create_alias_buffer, 960);
XP_AT(client_fulfill_alias_buffer, 968);
XP_AT(loaded_executable_get_device_assignment, 976);
XP_AT(client_create_error_buffer, 984);
XP_AT(transfer_manager_transfer_literal, 992);
XP_AT(buffer_copy_raw_to_host_future, 1000);
XP_AT(device_poison_execution, 1008);
XP_AT(device_create_async_tracking_event, 1016);
XP_AT(async_tracking_event_destroy, 1024);
XP_AT(executable_get_compile_options, 1032);
XP_AT(buffer_donate_with_control_dependency, 1040);
XP_AT(event_create, 1048);
XP_AT(event_set, 1056);
XP_AT(device_get_attributes, 1064);
XP_AT(client_load, 1072);
XP_AT(loaded_executable_addressable_device_logical_ids, 1080);
XP_AT(buffer_bitcast, 1088);
XP_AT(error_for_each_payload, 1096);
XP_AT(topology_fingerprint, 1104);
XP_AT(executable_parameter_memory_kinds, 1112);
XP_AT(device_clear_memory_stats, 1120);
XP_AT(topology_make_canonical_shape_for_memory_space, 1128);
XP_AT(topology_get_memory_space_kind_ids, 1136);

#undef XP_AT

#endif
