/* Arguments of the PJRT C API that have a form of their own: programs, buffers, execution, events, topologies.
 *
 * Field by field as in xla/pjrt/c/pjrt_c_api.h, minor version 114, under the names that comments give.  Where
 * structures grew since minor 75, a comment says from which size on a field is there.
 */
#ifndef XP_PJRT_PJRT_ABI_ARGS_H
#define XP_PJRT_PJRT_ABI_ARGS_H

#include "pjrt/pjrt_abi_base.h"

/* ---------------------------------------------------------------- events */

/* PJRT_Event_OnReadyCallback: is called once, in any thread, perhaps before event_on_ready returns.  It owns the error
 * (NULL: none). */
typedef void xp_abi_event_callback(xp_abi_error *error, void *context);

/* PJRT_Event_OnReady_Args */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_event *event;
  xp_abi_event_callback *callback;
  void *context;
} xp_abi_event_on_ready_args;

/* PJRT_Event_Set_Args */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_event *event;
  int32_t error_code;
  const char *error_message;
  size_t error_message_size;
} xp_abi_event_set_args;

/* ---------------------------------------------------------------- plugin and client */

/* PJRT_Plugin_Initialize_Args */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
} xp_abi_plugin_initialize_args;

/* PJRT_Plugin_Attributes_Args */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  const xp_abi_named_value *attributes;
  size_t num_attributes;
} xp_abi_plugin_attributes_args;

/* PJRT_Client_Create_Args: the callbacks are a store shared by the processes of a run; NULL for one process. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  const xp_abi_named_value *create_options;
  size_t num_options;
  void *kv_get_callback, *kv_get_context;
  void *kv_put_callback, *kv_put_context;
  xp_abi_client *client; /* the answer */
  void *kv_try_get_callback, *kv_try_get_context;
} xp_abi_client_create_args;

/* PJRT_Client_LookupDevice_Args, PJRT_Client_LookupAddressableDevice_Args (its number is the local hardware id) */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_client *client;
  int32_t id;
  xp_abi_device *device; /* the answer */
} xp_abi_lookup_args;

/* PJRT_Client_DefaultDeviceAssignment_Args: device ids by replica, then partition, into the caller's array. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_client *client;
  int32_t num_replicas, num_partitions;
  size_t assignment_size; /* in numbers */
  int32_t *assignment;
} xp_abi_assignment_args;

/* PJRT_Device_MemoryStats_Args: all but the first number are optional.  Without the last one up to minor 81. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_device *device;
  int64_t bytes_in_use;
  struct {
    int64_t value;
    bool is_set;
  } peak_bytes_in_use, num_allocs, largest_alloc_size, bytes_limit, bytes_reserved, peak_bytes_reserved,
      bytes_reservable_limit, largest_free_block_bytes, pool_bytes, peak_pool_bytes, peak_allocated_bytes;
} xp_abi_memory_stats_args;

enum { XP_ABI_MEMORY_STATS_SIZE = 201, XP_ABI_MEMORY_STATS_SIZE_81 = 185 };

/* ---------------------------------------------------------------- programs */

/* PJRT_Program: format "hlo" (a serialized HloModuleProto), "hlo_with_config" (HloModuleProtoWithConfig), "mlir". */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  char *code;
  size_t code_size;
  const char *format;
  size_t format_size;
} xp_abi_program;

/* PJRT_Client_Compile_Args; options: a serialized CompileOptionsProto. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_client *client;
  const xp_abi_program *program;
  const char *options;
  size_t options_size;
  xp_abi_loaded_executable *executable; /* the answer */
} xp_abi_client_compile_args;

/* PJRT_Compile_Args: for a topology, without a client or (client not NULL) with one. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  const xp_abi_topology *topology;
  const xp_abi_program *program;
  const char *options;
  size_t options_size;
  xp_abi_client *client;
  xp_abi_executable *executable; /* the answer */
} xp_abi_compile_args;

/* PJRT_Executable_OptimizedProgram_Args: called with code NULL it answers with code_size and format, called again with
 * room for as many bytes it fills them in. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_executable *executable;
  xp_abi_program *program;
} xp_abi_optimized_program_args;

/* PJRT_Executable_OutputDimensions_Args: the dimensions of all outputs in a row, and how many each has. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_executable *executable;
  size_t num_outputs;
  const int64_t *dimensions;
  const size_t *ranks;
} xp_abi_output_dimensions_args;

/* PJRT_Executable_OutputMemoryKinds_Args, PJRT_Executable_ParameterMemoryKinds_Args */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_executable *executable;
  size_t count;
  const char *const *kinds;
  const size_t *kind_sizes;
} xp_abi_memory_kinds_args;

/* PJRT_Executable_GetCompiledMemoryStats_Args: total_bytes came with minor 90, the last three with 104. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_executable *executable;
  int64_t generated_code_bytes, argument_bytes, output_bytes, alias_bytes, temp_bytes;
  int64_t host_generated_code_bytes, host_argument_bytes, host_output_bytes, host_alias_bytes, host_temp_bytes;
  int64_t peak_memory_bytes, total_bytes, total_allocation_bytes, indefinite_allocations, peak_unpadded_heap_bytes;
} xp_abi_compiled_memory_stats_args;

/* PJRT_Executable_DeserializeAndLoad_Args: load_options came after minor 81. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_client *client;
  const char *bytes;
  size_t bytes_size;
  xp_abi_loaded_executable *executable; /* the answer */
  const char *overridden_options;
  size_t overridden_options_size;
  void *load_options;
} xp_abi_deserialize_args;

/* ---------------------------------------------------------------- buffers */

/* PJRT_Buffer_MemoryLayout_Tiled */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  const int64_t *minor_to_major;
  size_t minor_to_major_size;
  const int64_t *tile_dimensions;
  const size_t *tile_ranks;
  size_t num_tiles;
} xp_abi_layout_tiled;

/* PJRT_Buffer_MemoryLayout_Strides */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  const int64_t *byte_strides;
  size_t num_byte_strides;
} xp_abi_layout_strides;

/* PJRT_Buffer_MemoryLayout_Type */
enum { XP_ABI_LAYOUT_TILED = 0, XP_ABI_LAYOUT_STRIDES = 1 };

/* PJRT_Buffer_MemoryLayout */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  union {
    xp_abi_layout_tiled tiled;
    xp_abi_layout_strides strides;
  } of;
  int32_t type;
} xp_abi_layout;

enum { XP_ABI_LAYOUT_SIZE = 76 };

/* PJRT_Buffer_GetMemoryLayout_Args: what its pointers point to lives as long as the buffer. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_buffer *buffer;
  xp_abi_layout layout;
} xp_abi_buffer_layout_args;

/* PJRT_HostBufferSemantics: how long the caller leaves its bytes in place and unchanged. */
typedef enum {
  XP_ABI_HOST_DURING_CALL = 0, /* kImmutableOnlyDuringCall */
  XP_ABI_HOST_UNTIL_DONE = 1,  /* kImmutableUntilTransferCompletes: until done_with_host_buffer */
  XP_ABI_HOST_ZERO_COPY = 2,   /* kImmutableZeroCopy: the buffer may be those bytes, until it is gone */
  XP_ABI_HOST_ZERO_COPY_MUTABLE = 3
} xp_abi_host_semantics;

/* PJRT_Client_BufferFromHostBuffer_Args.  device or memory is NULL; strides NULL: row after row. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_client *client;
  const void *data;
  int32_t type;
  const int64_t *dimensions;
  size_t num_dimensions;
  const int64_t *byte_strides;
  size_t num_byte_strides;
  int32_t semantics;
  xp_abi_device *device;
  xp_abi_memory *memory;
  xp_abi_layout *layout;               /* on the device; NULL: the plugin's choice */
  xp_abi_event *done_with_host_buffer; /* the answer, and the caller's to destroy */
  xp_abi_buffer *buffer;               /* the answer */
} xp_abi_from_host_args;

/* PJRT_Buffer_ToHostBuffer_Args: without `target` it answers with target_size.  host_layout NULL: as on the device. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_buffer *buffer;
  xp_abi_layout *host_layout;
  void *target;
  size_t target_size;
  xp_abi_event *event; /* the answer */
} xp_abi_to_host_args;

/* PJRT_Buffer_CopyRawToHost_Args */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_buffer *buffer;
  void *target;
  int64_t offset, transfer_size;
  xp_abi_event *event; /* the answer */
} xp_abi_copy_raw_args;

/* PJRT_Buffer_CopyToDevice_Args, PJRT_Buffer_CopyToMemory_Args */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_buffer *buffer;
  void *target;        /* a device or a memory */
  xp_abi_buffer *copy; /* the answer */
} xp_abi_copy_args;

/* ---------------------------------------------------------------- execution */

/* PJRT_ExecuteOptions: of all arguments the ones that grew most.  A comment says which minor version has the field. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  void *send_callbacks, *recv_callbacks;
  size_t num_send_ops, num_recv_ops;
  int32_t launch_id;
  const int64_t *non_donatable; /* numbers of parameters */
  size_t num_non_donatable;
  xp_abi_execute_context *context;
  const char *call_location; /* 76; ends with a NUL */
  size_t num_tasks;          /* 78, with the next two */
  int32_t *task_ids;
  int64_t *incarnation_ids;
  void *multi_slice_config; /* 97 */
  bool is_major_to_minor_for_callbacks;
  void *hlo_output_callbacks; /* by 114, with the next one */
  size_t num_hlo_output_callbacks;
} xp_abi_execute_options;

enum {
  XP_ABI_EXECUTE_OPTIONS_SIZE_75 = 80, /* torch_xla 2.9 passes these */
  XP_ABI_EXECUTE_OPTIONS_SIZE_81 = 112,
};

/* PJRT_LoadedExecutable_Execute_Args: a list of arguments and room for outputs for each device.  events NULL: not
 * wanted.  Those are the caller's to destroy, as the outputs are.  device: only for a program compiled for any. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  xp_abi_loaded_executable *executable;
  xp_abi_execute_options *options;
  xp_abi_buffer *const *const *argument_lists;
  size_t num_devices, num_arguments;
  xp_abi_buffer **const *output_lists;
  xp_abi_event **device_complete_events;
  xp_abi_device *device;
} xp_abi_execute_args;

/* ---------------------------------------------------------------- topologies */

/* PJRT_TopologyDescription_Create_Args */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  const char *name;
  size_t name_size;
  const xp_abi_named_value *create_options;
  size_t num_options;
  xp_abi_topology *topology; /* the answer */
} xp_abi_topology_create_args;

/* PJRT_TopologyDescription_Deserialize_Args */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  const char *bytes;
  size_t bytes_size;
  xp_abi_topology *topology; /* the answer */
} xp_abi_topology_deserialize_args;

#endif
