/* An error is a code and a sentence in one allocation.  The error for "no memory" is a constant, so that it can always
 * be told.
 */
#include "device/fault.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pjrt/pjrt_abi_objects.h"

struct xp_abi_error {
  xp_abi_error_head head; /* newer programs use its table instead of the plugin's functions */
  xp_abi_code code;
  char text[sizeof((xp_error *)NULL)->text];
};

static void table_message(const xp_abi_error *error, const char **message, size_t *message_size)
{
  *message = error->text;
  *message_size = strlen(error->text);
}

/* An error has no payloads: the text says it all. */
static void table_for_each_payload(const xp_abi_error *error, xp_abi_payload_visitor *visitor, void *context)
{
  (void)error;
  (void)visitor;
  (void)context;
}

static const xp_abi_error_table table = {.struct_size = sizeof table,
                                         .instance_size = sizeof(xp_abi_error),
                                         .destroy = xp_dev_error_free,
                                         .message = table_message,
                                         .get_code = xp_dev_error_code,
                                         .for_each_payload = table_for_each_payload};

static xp_abi_error no_memory = {{&table}, XP_ABI_RESOURCE_EXHAUSTED, "The host is out of memory."};

xp_abi_error *xp_dev_fail_memory(void)
{
  return &no_memory;
}

xp_abi_error *xp_dev_fail(xp_abi_code code, const char *format, ...)
{
  xp_abi_error *error = calloc(1, sizeof *error);
  if (error == NULL) {
    return &no_memory;
  }
  error->head.table = &table;
  error->code = code;
  va_list args;
  va_start(args, format);
  if (vsnprintf(error->text, sizeof error->text, format, args) < 0) {
    error->text[0] = '\0';
  }
  va_end(args);
  return error;
}

static xp_abi_code code_of(xp_status status)
{
  switch (status) {
  case XP_ERR_MEMORY:
  case XP_ERR_LIMIT:
    return XP_ABI_RESOURCE_EXHAUSTED;
  case XP_ERR_FORMAT:
  case XP_ERR_TRUNCATED:
  case XP_ERR_EMPTY:
    return XP_ABI_INVALID_ARGUMENT;
  case XP_ERR_USAGE:
    return XP_ABI_UNIMPLEMENTED; /* the evaluator: "this device cannot do that" */
  case XP_ERR_NOT_FOUND:
    return XP_ABI_NOT_FOUND;
  case XP_ERR_CANCELLED:
    return XP_ABI_CANCELLED;
  case XP_ERR_BUSY:
    return XP_ABI_ALREADY_EXISTS;
  default:
    return XP_ABI_INTERNAL;
  }
}

xp_abi_error *xp_dev_fail_as(const xp_error *err)
{
  return xp_dev_fail(code_of(err->status), "%s", err->text);
}

xp_abi_error *xp_dev_error_copy(const xp_abi_error *error)
{
  return error == NULL ? NULL : xp_dev_fail(error->code, "%s", error->text);
}

void xp_dev_error_free(xp_abi_error *error)
{
  if (error != &no_memory) {
    free(error);
  }
}

xp_abi_code xp_dev_error_code(const xp_abi_error *error)
{
  return error->code;
}

const char *xp_dev_error_text(const xp_abi_error *error)
{
  return error->text;
}

void xp_dev_error_destroy(xp_abi_object_args *args)
{
  xp_dev_error_free(args->object);
}

void xp_dev_error_message(xp_abi_text_args *args)
{
  const xp_abi_error *error = args->object;
  args->text = error->text;
  args->text_size = strlen(error->text);
}

xp_abi_error *xp_dev_error_get_code(xp_abi_int32_args *args)
{
  args->value = (int32_t)xp_dev_error_code(args->object);
  return NULL;
}
