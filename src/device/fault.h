/* Errors as this plugin hands them out. */
#ifndef XP_DEVICE_FAULT_H
#define XP_DEVICE_FAULT_H

#include "base/error.h"
#include "pjrt/pjrt_abi.h"

/* A new error, owned by whoever gets it.  Where memory is out it is one that stands ready for that: xp_dev_error_free
 * takes it, too, so nobody has to look. */
xp_abi_error *xp_dev_fail(xp_abi_code code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Memory of the host is out. */
xp_abi_error *xp_dev_fail_memory(void);

/* An error of the library: its text, and the code that fits its status. */
xp_abi_error *xp_dev_fail_as(const xp_error *err);

/* A second one like it; NULL for NULL. */
xp_abi_error *xp_dev_error_copy(const xp_abi_error *error);

/* NULL is allowed. */
void xp_dev_error_free(xp_abi_error *error);

xp_abi_code xp_dev_error_code(const xp_abi_error *error);
const char *xp_dev_error_text(const xp_abi_error *error);

/* PJRT_Error_Destroy, _Message, _GetCode */
void xp_dev_error_destroy(xp_abi_object_args *args);
void xp_dev_error_message(xp_abi_text_args *args);
xp_abi_error *xp_dev_error_get_code(xp_abi_int32_args *args);

#endif
