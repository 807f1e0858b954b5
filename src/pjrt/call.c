/* Each form of arguments in one function: the slot is checked, the arguments are zeroed but for what is asked about,
 * and the answer is taken apart.
 *
 * Answers are not trusted further than needed: a list of some rows must have an address, and a text without an address
 * is empty.
 */
#include "pjrt/call.h"

#include <stdlib.h>

#include "pjrt/client.h"

static const char *name_of_code(int code)
{
  static const char *const names[] = {
      "OK",        "CANCELLED",      "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
      "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
      "ABORTED",   "OUT_OF_RANGE",   "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
      "DATA_LOSS", "UNAUTHENTICATED"};
  return code >= 0 && (size_t)code < sizeof names / sizeof names[0] ? names[code] : "a code that is not known";
}

static void destroy_error(const xp_pjrt_plugin *plugin, xp_abi_error *error)
{
  xp_abi_object_args args = {.struct_size = sizeof args, .object = error};
  plugin->api.error_destroy(&args);
}

/* -1 if the plugin fails to tell it. */
static int code_of(const xp_pjrt_plugin *plugin, xp_abi_error *error)
{
  xp_abi_int32_args args = {.struct_size = XP_ABI_INT32_SIZE, .object = error};
  xp_abi_error *failed = plugin->api.error_get_code(&args);
  if (failed != NULL) {
    destroy_error(plugin, failed);
    return -1;
  }
  return args.value;
}

/* The start of a text, on one line: plugins write paragraphs. */
static void copy_line(xp_str text, char *line, size_t size)
{
  text = xp_str_take(xp_str_trim(text), size - 1);
  for (size_t i = 0; i < text.len; i++) {
    line[i] = (unsigned char)text.ptr[i] < ' ' ? ' ' : text.ptr[i];
  }
  line[text.len] = '\0';
}

xp_status xp_pjrt_answer(const xp_pjrt_plugin *plugin, xp_abi_error *error, const char *function, xp_error *err)
{
  if (error == NULL) {
    return XP_OK;
  }
  char line[512];
  xp_abi_text_args args = {.struct_size = sizeof args, .object = error};
  plugin->api.error_message(&args);
  xp_str text = xp_str_from(args.text, args.text == NULL ? 0 : args.text_size);
  copy_line(text.len == 0 ? xp_str_c("it does not say why") : text, line, sizeof line);
  xp_status status = xp_fail(err, XP_ERR_PEER, "%s of the plugin %s failed: %s (%s)", function, plugin->name, line,
                             name_of_code(code_of(plugin, error)));
  destroy_error(plugin, error);
  return status;
}

xp_status xp_pjrt_lacks(const xp_pjrt_plugin *plugin, const char *function, xp_error *err)
{
  return xp_fail(err, XP_ERR_FORMAT, "The plugin %s (API %d.%d) has no function %s; take a newer one", plugin->name,
                 plugin->api.version.major, plugin->api.version.minor, function);
}

xp_status xp_pjrt_gave_nothing(const xp_pjrt_plugin *plugin, const char *function, xp_error *err)
{
  return xp_fail(err, XP_ERR_FORMAT, "%s of the plugin %s tells of no error and gives nothing; take another version",
                 function, plugin->name);
}

xp_status xp_pjrt_call_object(const xp_pjrt_plugin *plugin, xp_abi_object_function *slot, const char *function,
                              void *object, xp_error *err)
{
  if (slot == NULL) {
    return xp_pjrt_lacks(plugin, function, err);
  }
  xp_abi_object_args args = {.struct_size = sizeof args, .object = object};
  return xp_pjrt_answer(plugin, slot(&args), function, err);
}

xp_status xp_pjrt_call_text(const xp_pjrt_plugin *plugin, xp_abi_text_function *slot, const char *function,
                            void *object, xp_str *text, xp_error *err)
{
  if (slot == NULL) {
    return xp_pjrt_lacks(plugin, function, err);
  }
  xp_abi_text_args args = {.struct_size = sizeof args, .object = object};
  xp_status status = xp_pjrt_answer(plugin, slot(&args), function, err);
  if (status == XP_OK) {
    *text = xp_str_from(args.text, args.text == NULL ? 0 : args.text_size);
  }
  return status;
}

xp_status xp_pjrt_call_int32(const xp_pjrt_plugin *plugin, xp_abi_int32_function *slot, const char *function,
                             void *object, int32_t *value, xp_error *err)
{
  if (slot == NULL) {
    return xp_pjrt_lacks(plugin, function, err);
  }
  xp_abi_int32_args args = {.struct_size = XP_ABI_INT32_SIZE, .object = object};
  xp_status status = xp_pjrt_answer(plugin, slot(&args), function, err);
  if (status == XP_OK) {
    *value = args.value;
  }
  return status;
}

xp_status xp_pjrt_call_bool(const xp_pjrt_plugin *plugin, xp_abi_bool_function *slot, const char *function,
                            void *object, bool *value, xp_error *err)
{
  if (slot == NULL) {
    return xp_pjrt_lacks(plugin, function, err);
  }
  xp_abi_bool_args args = {.struct_size = XP_ABI_BOOL_SIZE, .object = object};
  xp_status status = xp_pjrt_answer(plugin, slot(&args), function, err);
  if (status == XP_OK) {
    *value = args.value;
  }
  return status;
}

xp_status xp_pjrt_call_uint64(const xp_pjrt_plugin *plugin, xp_abi_uint64_function *slot, const char *function,
                              void *object, uint64_t *value, xp_error *err)
{
  if (slot == NULL) {
    return xp_pjrt_lacks(plugin, function, err);
  }
  xp_abi_uint64_args args = {.struct_size = sizeof args, .object = object};
  xp_status status = xp_pjrt_answer(plugin, slot(&args), function, err);
  if (status == XP_OK) {
    *value = args.value;
  }
  return status;
}

xp_status xp_pjrt_call_pointer(const xp_pjrt_plugin *plugin, xp_abi_pointer_function *slot, const char *function,
                               void *object, void **value, xp_error *err)
{
  if (slot == NULL) {
    return xp_pjrt_lacks(plugin, function, err);
  }
  xp_abi_pointer_args args = {.struct_size = sizeof args, .object = object};
  xp_status status = xp_pjrt_answer(plugin, slot(&args), function, err);
  if (status == XP_OK && args.value == NULL) {
    return xp_pjrt_gave_nothing(plugin, function, err);
  }
  *value = args.value;
  return status;
}

xp_status xp_pjrt_call_list(const xp_pjrt_plugin *plugin, xp_abi_list_function *slot, const char *function,
                            void *object, const void **items, size_t *count, xp_error *err)
{
  if (slot == NULL) {
    return xp_pjrt_lacks(plugin, function, err);
  }
  xp_abi_list_args args = {.struct_size = sizeof args, .object = object};
  xp_status status = xp_pjrt_answer(plugin, slot(&args), function, err);
  if (status != XP_OK) {
    return status;
  }
  if (args.items == NULL && args.count > 0) {
    return xp_pjrt_gave_nothing(plugin, function, err);
  }
  *items = args.items;
  *count = args.count;
  return XP_OK;
}

void xp_pjrt_release(const xp_pjrt_plugin *plugin, xp_abi_object_function *slot, void *object)
{
  if (object != NULL) {
    xp_pjrt_call_object(plugin, slot, "", object, NULL);
  }
}

/* ---------------------------------------------------------------- options */

static xp_abi_named_value named_value(const xp_pjrt_option *option)
{
  xp_abi_named_value value = {.struct_size = sizeof value,
                              .name = option->name,
                              .name_size = strlen(option->name),
                              .type = XP_ABI_VALUE_STRING,
                              .value_size = 1};
  switch (option->type) {
  case XP_PJRT_TEXT:
    value.value.text = option->text;
    value.value_size = strlen(option->text);
    break;
  case XP_PJRT_NUMBER:
    value.type = XP_ABI_VALUE_INT64;
    value.value.number = option->number;
    break;
  case XP_PJRT_REAL:
    value.type = XP_ABI_VALUE_FLOAT;
    value.value.real = option->real;
    break;
  case XP_PJRT_FLAG:
    value.type = XP_ABI_VALUE_BOOL;
    value.value.flag = option->number != 0;
    break;
  }
  return value;
}

xp_abi_named_value *xp_pjrt_named_values(const xp_pjrt_option *options, size_t count)
{
  xp_abi_named_value *values = calloc(count + 1, sizeof *values);
  for (size_t i = 0; values != NULL && i < count; i++) {
    values[i] = named_value(&options[i]);
  }
  return values;
}
