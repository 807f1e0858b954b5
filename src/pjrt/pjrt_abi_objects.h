/* What newer programs read of a plugin's objects directly: errors and memories begin with the address of a table.
 *
 * It came between the minor versions 105 and 112.  A program built since then may take an error apart through its table
 * instead of through the functions of the plugin, so the objects of a plugin should begin with one whatever version it
 * tells; older programs do not look.  A client must not rely on it: older plugins have something else there.
 */
#ifndef XP_PJRT_PJRT_ABI_OBJECTS_H
#define XP_PJRT_PJRT_ABI_OBJECTS_H

#include "pjrt/pjrt_abi_base.h"

/* PJRT_Error_PayloadVisitor: a payload is a text by a key, both without a NUL. */
typedef void xp_abi_payload_visitor(const char *key, size_t key_size, const char *value, size_t value_size,
                                    void *context);

/* PJRT_Error_FunctionTable */
typedef struct {
  size_t struct_size;
  size_t instance_size; /* of the plugin's structure */
  xp_abi_extension *extension_start;
  void (*destroy)(xp_abi_error *error);
  void (*message)(const xp_abi_error *error, const char **message, size_t *message_size);
  xp_abi_code (*get_code)(const xp_abi_error *error);
  void (*for_each_payload)(const xp_abi_error *error, xp_abi_payload_visitor *visitor, void *context);
} xp_abi_error_table;

/* PJRT_Memory_FunctionTable: data that programs hang on a memory, by the address of a key. */
typedef struct {
  size_t struct_size;
  xp_abi_extension *extension_start;
  size_t instance_size;
  void *(*get_user_data)(xp_abi_memory *memory, const void *key);
  void (*set_user_data)(xp_abi_memory *memory, const void *key, void *data, void (*destructor)(void *data));
} xp_abi_memory_table;

/* The first fields of PJRT_Error and PJRT_Memory; a plugin's own structures begin with them. */
typedef struct {
  const xp_abi_error_table *table;
} xp_abi_error_head;

typedef struct {
  const xp_abi_memory_table *table;
} xp_abi_memory_head;

/* ---------------------------------------------------------------- the layout, on machines of 64 bits */

#define XP_AT(type, field, offset) static_assert(offsetof(type, field) == (offset), #type "." #field)

static_assert(sizeof(xp_abi_code) == 4, "xp_abi_code");
static_assert(sizeof(xp_abi_error_table) == 56, "xp_abi_error_table");
XP_AT(xp_abi_error_table, instance_size, 8);
XP_AT(xp_abi_error_table, extension_start, 16);
XP_AT(xp_abi_error_table, destroy, 24);
XP_AT(xp_abi_error_table, message, 32);
XP_AT(xp_abi_error_table, get_code, 40);
XP_AT(xp_abi_error_table, for_each_payload, 48);
static_assert(sizeof(xp_abi_memory_table) == 40, "xp_abi_memory_table");
XP_AT(xp_abi_memory_table, extension_start, 8);
XP_AT(xp_abi_memory_table, instance_size, 16);
XP_AT(xp_abi_memory_table, get_user_data, 24);
XP_AT(xp_abi_memory_table, set_user_data, 32);

#undef XP_AT

#endif
