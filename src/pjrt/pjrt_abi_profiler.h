/* The profiler extension of the PJRT C API: the profiler of a plugin, with errors of its own.
 *
 * Upstream: xla/pjrt/c/pjrt_c_api_profiler_extension.h, xla/backends/profiler/plugin/profiler_c_api.h.
 */
#ifndef XP_PJRT_PJRT_ABI_PROFILER_H
#define XP_PJRT_PJRT_ABI_PROFILER_H

#include "pjrt/pjrt_abi_base.h"

typedef struct xp_abi_profiler xp_abi_profiler;             /* PLUGIN_Profiler */
typedef struct xp_abi_profiler_error xp_abi_profiler_error; /* PLUGIN_Profiler_Error */

/* PLUGIN_Profiler_Error_Destroy_Args */
typedef struct {
  size_t struct_size;
  void *priv;
  xp_abi_profiler_error *error;
} xp_abi_profiler_error_destroy_args;

/* PLUGIN_Profiler_Error_Message_Args.  The text has no NUL and lives as long as the error. */
typedef struct {
  size_t struct_size;
  void *priv;
  const xp_abi_profiler_error *error;
  const char *message;
  size_t message_size;
} xp_abi_profiler_error_message_args;

/* PLUGIN_Profiler_Error_GetCode_Args */
typedef struct {
  size_t struct_size;
  void *priv;
  const xp_abi_profiler_error *error;
  int32_t code;
} xp_abi_profiler_error_code_args;

/* PLUGIN_Profiler_Create_Args */
typedef struct {
  size_t struct_size;
  const char *options; /* a serialized tensorflow.ProfileOptions */
  size_t options_size;
  xp_abi_profiler *profiler; /* the answer */
} xp_abi_profiler_create_args;

/* PLUGIN_Profiler_Destroy_Args, _Start_Args and _Stop_Args are alike. */
typedef struct {
  size_t struct_size;
  xp_abi_profiler *profiler;
} xp_abi_profiler_args;

/* PLUGIN_Profiler_CollectData_Args */
typedef struct {
  size_t struct_size;
  xp_abi_profiler *profiler;
  uint8_t *buffer; /* NULL: asks for the size, or for a buffer of the plugin's own */
  size_t buffer_size;
} xp_abi_profiler_collect_args;

/* PLUGIN_Profiler_Api as it was until July 2026, 80 bytes; later ones have more functions behind it. */
typedef struct {
  size_t struct_size;
  void *priv;
  void (*error_destroy)(xp_abi_profiler_error_destroy_args *args);
  void (*error_message)(xp_abi_profiler_error_message_args *args);
  xp_abi_profiler_error *(*error_get_code)(xp_abi_profiler_error_code_args *args);
  xp_abi_profiler_error *(*create)(xp_abi_profiler_create_args *args);
  xp_abi_profiler_error *(*destroy)(xp_abi_profiler_args *args);
  xp_abi_profiler_error *(*start)(xp_abi_profiler_args *args);
  xp_abi_profiler_error *(*stop)(xp_abi_profiler_args *args);
  xp_abi_profiler_error *(*collect_data)(xp_abi_profiler_collect_args *args);
} xp_abi_profiler_api;

/* PJRT_Profiler_Extension.  Its last field, traceme_context_id, was not counted in the size until April 2024. */
typedef struct {
  xp_abi_extension base;
  const xp_abi_profiler_api *profiler_api;
  int64_t traceme_context_id;
} xp_abi_profiler_extension;

/* Sizes as plugins expect them in struct_size: up to the end of the last field, without what the compiler adds. */
enum {
  XP_ABI_PROFILER_ERROR_DESTROY_SIZE = 24,
  XP_ABI_PROFILER_ERROR_MESSAGE_SIZE = 40,
  XP_ABI_PROFILER_ERROR_CODE_SIZE = 28,
  XP_ABI_PROFILER_CREATE_SIZE = 32,
  XP_ABI_PROFILER_SIZE = 16,
  XP_ABI_PROFILER_COLLECT_SIZE = 32
};

/* ---------------------------------------------------------------- the layout, on machines of 64 bits */

#define XP_AT(type, field, offset) static_assert(offsetof(type, field) == (offset), #type "." #field)
#define XP_SIZE(type, size)        static_assert(sizeof(type) == (size), #type)

XP_SIZE(xp_abi_profiler_extension, 40);
XP_AT(xp_abi_profiler_extension, profiler_api, 24);
XP_AT(xp_abi_profiler_extension, traceme_context_id, 32);
XP_SIZE(xp_abi_profiler_api, 80);
XP_AT(xp_abi_profiler_api, priv, 8);
XP_AT(xp_abi_profiler_api, error_destroy, 16);
XP_AT(xp_abi_profiler_api, error_message, 24);
XP_AT(xp_abi_profiler_api, error_get_code, 32);
XP_AT(xp_abi_profiler_api, create, 40);
XP_AT(xp_abi_profiler_api, destroy, 48);
XP_AT(xp_abi_profiler_api, start, 56);
XP_AT(xp_abi_profiler_api, stop, 64);
XP_AT(xp_abi_profiler_api, collect_data, 72);
XP_SIZE(xp_abi_profiler_error_destroy_args, XP_ABI_PROFILER_ERROR_DESTROY_SIZE);
XP_AT(xp_abi_profiler_error_destroy_args, error, 16);
XP_SIZE(xp_abi_profiler_error_message_args, XP_ABI_PROFILER_ERROR_MESSAGE_SIZE);
XP_AT(xp_abi_profiler_error_message_args, error, 16);
XP_AT(xp_abi_profiler_error_message_args, message, 24);
XP_AT(xp_abi_profiler_error_message_args, message_size, 32);
XP_SIZE(xp_abi_profiler_error_code_args, 32);
XP_AT(xp_abi_profiler_error_code_args, error, 16);
XP_AT(xp_abi_profiler_error_code_args, code, 24);
XP_SIZE(xp_abi_profiler_create_args, XP_ABI_PROFILER_CREATE_SIZE);
XP_AT(xp_abi_profiler_create_args, options, 8);
XP_AT(xp_abi_profiler_create_args, options_size, 16);
XP_AT(xp_abi_profiler_create_args, profiler, 24);
XP_SIZE(xp_abi_profiler_args, XP_ABI_PROFILER_SIZE);
XP_AT(xp_abi_profiler_args, profiler, 8);
XP_SIZE(xp_abi_profiler_collect_args, XP_ABI_PROFILER_COLLECT_SIZE);
XP_AT(xp_abi_profiler_collect_args, profiler, 8);
XP_AT(xp_abi_profiler_collect_args, buffer, 16);
XP_AT(xp_abi_profiler_collect_args, buffer_size, 24);

#undef XP_AT
#undef XP_SIZE

#endif
