/* What every part of the PJRT C API is made of: versions, extensions, codes, named values, and the few forms that the
 * arguments of most functions have.
 *
 * Every function takes one pointer to its arguments.  Arguments begin with their size in bytes, up to the end of the
 * last field that the caller knows (sizeof; a few have a *_SIZE constant for it), and with a list of extensions.  They
 * only grow at their ends, so a plugin reads a field only if the size covers it: XP_ABI_HAS.  A caller may pass more
 * than the plugin knows.  What a function answers with is written into its arguments.
 *
 * Upstream: xla/pjrt/c/pjrt_c_api.h.  Upstream has an own structure for each function; those that are laid out alike
 * share one here.
 */
#ifndef XP_PJRT_PJRT_ABI_BASE_H
#define XP_PJRT_PJRT_ABI_BASE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if arguments of a caller, or a structure of a plugin, are long enough to have the field. */
#define XP_ABI_HAS(args, field)                                                                                        \
  ((args)->struct_size >= (size_t)((const char *)(&(args)->field + 1) - (const char *)(args)))

/* ---------------------------------------------------------------- versions and extensions */

enum {
  XP_ABI_MAJOR = 0,
  XP_ABI_FIRST_EXTENSION_MINOR = 45, /* before it, extensions did not say how long they are */
  XP_ABI_FIRST_MINOR = 57,           /* before it, the function table had another order */
  XP_ABI_MINOR = 114                 /* that these headers describe */
};

/* PJRT_Extension_Base: a list without order. */
typedef struct xp_abi_extension {
  size_t struct_size;
  int32_t type;
  struct xp_abi_extension *next;
} xp_abi_extension;

/* PJRT_Extension_Type: those that are of use here. */
enum {
  XP_ABI_EXTENSION_PROFILER = 1,
  XP_ABI_EXTENSION_LAYOUTS = 4,
  XP_ABI_EXTENSION_FFI = 5,
  XP_ABI_EXTENSION_MEMORY_DESCRIPTIONS = 6
};

/* PJRT_Api_Version */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  int32_t major, minor;
} xp_abi_version;

/* ---------------------------------------------------------------- objects of a plugin: only it knows what is in them
 */

typedef struct xp_abi_error xp_abi_error;                           /* PJRT_Error */
typedef struct xp_abi_event xp_abi_event;                           /* PJRT_Event */
typedef struct xp_abi_client xp_abi_client;                         /* PJRT_Client */
typedef struct xp_abi_device xp_abi_device;                         /* PJRT_Device */
typedef struct xp_abi_device_description xp_abi_device_description; /* PJRT_DeviceDescription */
typedef struct xp_abi_memory xp_abi_memory;                         /* PJRT_Memory */
typedef struct xp_abi_executable xp_abi_executable;                 /* PJRT_Executable */
typedef struct xp_abi_loaded_executable xp_abi_loaded_executable;   /* PJRT_LoadedExecutable */
typedef struct xp_abi_buffer xp_abi_buffer;                         /* PJRT_Buffer */
typedef struct xp_abi_topology xp_abi_topology;                     /* PJRT_TopologyDescription */
typedef struct xp_abi_execute_context xp_abi_execute_context;       /* PJRT_ExecuteContext */

/* ---------------------------------------------------------------- codes and types */

/* PJRT_Error_Code: the codes of gRPC. */
typedef enum {
  XP_ABI_OK = 0,
  XP_ABI_CANCELLED = 1,
  XP_ABI_UNKNOWN = 2,
  XP_ABI_INVALID_ARGUMENT = 3,
  XP_ABI_DEADLINE_EXCEEDED = 4,
  XP_ABI_NOT_FOUND = 5,
  XP_ABI_ALREADY_EXISTS = 6,
  XP_ABI_PERMISSION_DENIED = 7,
  XP_ABI_RESOURCE_EXHAUSTED = 8,
  XP_ABI_FAILED_PRECONDITION = 9,
  XP_ABI_ABORTED = 10,
  XP_ABI_OUT_OF_RANGE = 11,
  XP_ABI_UNIMPLEMENTED = 12,
  XP_ABI_INTERNAL = 13,
  XP_ABI_UNAVAILABLE = 14,
  XP_ABI_DATA_LOSS = 15,
  XP_ABI_UNAUTHENTICATED = 16
} xp_abi_code;

/* PJRT_Buffer_Type: NOT the numbers of xla.PrimitiveType.  Later versions add more behind them. */
typedef enum {
  XP_ABI_INVALID = 0,
  XP_ABI_PRED = 1,
  XP_ABI_S8 = 2,
  XP_ABI_S16 = 3,
  XP_ABI_S32 = 4,
  XP_ABI_S64 = 5,
  XP_ABI_U8 = 6,
  XP_ABI_U16 = 7,
  XP_ABI_U32 = 8,
  XP_ABI_U64 = 9,
  XP_ABI_F16 = 10,
  XP_ABI_F32 = 11,
  XP_ABI_F64 = 12,
  XP_ABI_BF16 = 13,
  XP_ABI_C64 = 14,
  XP_ABI_C128 = 15,
  XP_ABI_F8E5M2 = 16,
  XP_ABI_F8E4M3FN = 17,
  XP_ABI_F8E4M3B11FNUZ = 18,
  XP_ABI_F8E5M2FNUZ = 19,
  XP_ABI_F8E4M3FNUZ = 20,
  XP_ABI_S4 = 21,
  XP_ABI_U4 = 22,
  XP_ABI_TOKEN = 23,
  XP_ABI_S2 = 24,
  XP_ABI_U2 = 25,
  XP_ABI_F8E4M3 = 26,
  XP_ABI_F8E3M4 = 27,
  XP_ABI_F8E8M0FNU = 28,
  XP_ABI_F4E2M1FN = 29,
  XP_ABI_S1 = 30, /* from minor 94 on */
  XP_ABI_U1 = 31,
  XP_ABI_F6E2M3FN = 32,
  XP_ABI_F6E3M2FN = 33
} xp_abi_type;

/* PJRT_NamedValue_Type */
enum {
  XP_ABI_VALUE_STRING = 0,
  XP_ABI_VALUE_INT64 = 1,
  XP_ABI_VALUE_INT64_LIST = 2,
  XP_ABI_VALUE_FLOAT = 3,
  XP_ABI_VALUE_BOOL = 4
};

/* PJRT_NamedValue: an option, an attribute or a property.  Texts have no NUL. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  const char *name;
  size_t name_size;
  int32_t type;
  union {
    const char *text;
    int64_t number;
    const int64_t *numbers;
    float real;
    bool flag;
  } value;
  size_t value_size; /* of a text or a list; 1 for the others */
} xp_abi_named_value;

/* ---------------------------------------------------------------- forms of arguments
 *
 * `object` is what the function is about: its first word in the name of the function (the buffer of buffer_delete).
 */

/* Nothing but the object, or (event_create, execute_context_create) the object as the answer. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  void *object;
} xp_abi_object_args;

/* A text that lives as long as the object; it has no NUL. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  void *object;
  const char *text;
  size_t text_size;
} xp_abi_text_args;

typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  void *object;
  int32_t value;
} xp_abi_int32_args;

typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  void *object;
  bool value;
} xp_abi_bool_args;

/* A count, a size in bytes, an address or a fingerprint. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  void *object;
  uint64_t value;
} xp_abi_uint64_args;

/* Another object that belongs to this one, or (events, executables, topologies) a new one that the caller destroys. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  void *object;
  void *value;
} xp_abi_pointer_args;

/* Rows that live as long as the object. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  void *object;
  const void *items;
  size_t count;
} xp_abi_list_args;

/* The same the other way round; always of named values. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  void *object;
  size_t count;
  const xp_abi_named_value *items;
} xp_abi_values_args;

/* Bytes with a deleter of their own: PJRT_Executable_Serialize_Args, PJRT_TopologyDescription_Serialize_Args,
 * PJRT_Executable_GetCompileOptions_Args, PJRT_LoadedExecutable_GetDeviceAssignment_Args. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  const void *object;
  const char *bytes;
  size_t bytes_size;
  void *storage;
  void (*deleter)(void *storage);
} xp_abi_bytes_args;

/* What struct_size is where it is not sizeof: it ends with the last field, without what the compiler adds. */
enum { XP_ABI_INT32_SIZE = 28, XP_ABI_BOOL_SIZE = 25 };

typedef xp_abi_error *xp_abi_object_function(xp_abi_object_args *args);
typedef xp_abi_error *xp_abi_text_function(xp_abi_text_args *args);
typedef xp_abi_error *xp_abi_int32_function(xp_abi_int32_args *args);
typedef xp_abi_error *xp_abi_bool_function(xp_abi_bool_args *args);
typedef xp_abi_error *xp_abi_uint64_function(xp_abi_uint64_args *args);
typedef xp_abi_error *xp_abi_pointer_function(xp_abi_pointer_args *args);
typedef xp_abi_error *xp_abi_list_function(xp_abi_list_args *args);
typedef xp_abi_error *xp_abi_values_function(xp_abi_values_args *args);
typedef xp_abi_error *xp_abi_bytes_function(xp_abi_bytes_args *args);

/* ---------------------------------------------------------------- the layout, on machines of 64 bits */

#define XP_AT(type, field, offset) static_assert(offsetof(type, field) == (offset), #type "." #field)
#define XP_SIZE(type, size)        static_assert(sizeof(type) == (size), #type)

XP_SIZE(xp_abi_extension, 24);
XP_AT(xp_abi_extension, type, 8);
XP_AT(xp_abi_extension, next, 16);
XP_SIZE(xp_abi_version, 24);
XP_AT(xp_abi_version, extension_start, 8);
XP_AT(xp_abi_version, major, 16);
XP_AT(xp_abi_version, minor, 20);
XP_SIZE(xp_abi_named_value, 56);
XP_AT(xp_abi_named_value, name, 16);
XP_AT(xp_abi_named_value, name_size, 24);
XP_AT(xp_abi_named_value, type, 32);
XP_AT(xp_abi_named_value, value, 40);
XP_AT(xp_abi_named_value, value_size, 48);
XP_SIZE(xp_abi_object_args, 24);
XP_AT(xp_abi_object_args, extension_start, 8);
XP_AT(xp_abi_object_args, object, 16);
XP_SIZE(xp_abi_text_args, 40);
XP_AT(xp_abi_text_args, object, 16);
XP_AT(xp_abi_text_args, text, 24);
XP_AT(xp_abi_text_args, text_size, 32);
XP_SIZE(xp_abi_int32_args, 32);
XP_AT(xp_abi_int32_args, object, 16);
XP_AT(xp_abi_int32_args, value, 24);
XP_SIZE(xp_abi_bool_args, 32);
XP_AT(xp_abi_bool_args, object, 16);
XP_AT(xp_abi_bool_args, value, 24);
XP_SIZE(xp_abi_uint64_args, 32);
XP_AT(xp_abi_uint64_args, object, 16);
XP_AT(xp_abi_uint64_args, value, 24);
XP_SIZE(xp_abi_pointer_args, 32);
XP_AT(xp_abi_pointer_args, object, 16);
XP_AT(xp_abi_pointer_args, value, 24);
XP_SIZE(xp_abi_list_args, 40);
XP_AT(xp_abi_list_args, object, 16);
XP_AT(xp_abi_list_args, items, 24);
XP_AT(xp_abi_list_args, count, 32);
XP_SIZE(xp_abi_values_args, 40);
XP_AT(xp_abi_values_args, object, 16);
XP_AT(xp_abi_values_args, count, 24);
XP_AT(xp_abi_values_args, items, 32);
XP_SIZE(xp_abi_bytes_args, 56);
XP_AT(xp_abi_bytes_args, object, 16);
XP_AT(xp_abi_bytes_args, bytes, 24);
XP_AT(xp_abi_bytes_args, bytes_size, 32);
XP_AT(xp_abi_bytes_args, storage, 40);
XP_AT(xp_abi_bytes_args, deleter, 48);

#undef XP_AT
#undef XP_SIZE

#endif
