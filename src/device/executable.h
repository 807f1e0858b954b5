/* Compiling for the host, and what it may ask of a program. */
#ifndef XP_DEVICE_EXECUTABLE_H
#define XP_DEVICE_EXECUTABLE_H

#include "device/program.h"

/* A program on a device. */
struct xp_abi_loaded_executable {
  xp_abi_executable *program;
  xp_abi_device *device;
  bool is_deleted; /* nothing can be launched any more; what was launched runs */
};

/* PJRT_Client_Compile, PJRT_Compile, PJRT_Executable_*, PJRT_LoadedExecutable_* */
xp_abi_error *xp_dev_compile(xp_abi_client_compile_args *args);
xp_abi_error *xp_dev_compile_ahead(xp_abi_compile_args *args);
xp_abi_error *xp_dev_executable_destroy(xp_abi_object_args *args);
xp_abi_error *xp_dev_executable_name(xp_abi_text_args *args);
xp_abi_error *xp_dev_executable_one(xp_abi_uint64_args *args);
xp_abi_error *xp_dev_executable_output_count(xp_abi_uint64_args *args);
xp_abi_error *xp_dev_executable_code_size(xp_abi_uint64_args *args);
xp_abi_error *xp_dev_executable_cost(xp_abi_values_args *args);
xp_abi_error *xp_dev_executable_output_kinds(xp_abi_memory_kinds_args *args);
xp_abi_error *xp_dev_executable_parameter_kinds(xp_abi_memory_kinds_args *args);
xp_abi_error *xp_dev_executable_optimized(xp_abi_optimized_program_args *args);
xp_abi_error *xp_dev_executable_output_types(xp_abi_list_args *args);
xp_abi_error *xp_dev_executable_output_dims(xp_abi_output_dimensions_args *args);
xp_abi_error *xp_dev_executable_fingerprint(xp_abi_text_args *args);
xp_abi_error *xp_dev_executable_memory_stats(xp_abi_compiled_memory_stats_args *args);
xp_abi_error *xp_dev_executable_options(xp_abi_bytes_args *args);
xp_abi_error *xp_dev_loaded_destroy(xp_abi_object_args *args);
xp_abi_error *xp_dev_loaded_executable(xp_abi_pointer_args *args);
xp_abi_error *xp_dev_loaded_devices(xp_abi_list_args *args);
xp_abi_error *xp_dev_loaded_logical_ids(xp_abi_list_args *args);
xp_abi_error *xp_dev_loaded_assignment(xp_abi_bytes_args *args);
xp_abi_error *xp_dev_loaded_delete(xp_abi_object_args *args);
xp_abi_error *xp_dev_loaded_is_deleted(xp_abi_bool_args *args);
xp_abi_error *xp_dev_loaded_fingerprint(xp_abi_text_args *args);

#endif
