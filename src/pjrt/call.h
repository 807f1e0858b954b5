/* Calling a function of a plugin: is it there, and what did it answer.  For the sources of this layer only.
 *
 * A plugin's table is copied into one of full length when it is opened, so that a slot that the plugin is too old for
 * is NULL, as one is that the plugin leaves out.  Each form of arguments has a function here that checks the slot, sets
 * the arguments up, and turns an error of the plugin into one of ours: XP_ERR_PEER, with the name of the function, the
 * plugin's text and its code.
 */
#ifndef XP_PJRT_CALL_H
#define XP_PJRT_CALL_H

#include "base/str.h"
#include "pjrt/plugin.h"

struct xp_pjrt_plugin {
  xp_abi_api api;             /* the copy */
  const xp_abi_api *original; /* of the plugin */
  struct xp_pjrt_plugin *next;
  char name[64];
};

/* An error because the plugin has no such function ("PJRT_Client_Compile"). */
xp_status xp_pjrt_lacks(const xp_pjrt_plugin *plugin, const char *function, xp_error *err);

/* Turns the answer of a function into a status, and destroys the error. */
xp_status xp_pjrt_answer(const xp_pjrt_plugin *plugin, xp_abi_error *error, const char *function, xp_error *err);

xp_status xp_pjrt_call_object(const xp_pjrt_plugin *plugin, xp_abi_object_function *slot, const char *function,
                              void *object, xp_error *err);
xp_status xp_pjrt_call_text(const xp_pjrt_plugin *plugin, xp_abi_text_function *slot, const char *function,
                            void *object, xp_str *text, xp_error *err);
xp_status xp_pjrt_call_int32(const xp_pjrt_plugin *plugin, xp_abi_int32_function *slot, const char *function,
                             void *object, int32_t *value, xp_error *err);
xp_status xp_pjrt_call_bool(const xp_pjrt_plugin *plugin, xp_abi_bool_function *slot, const char *function,
                            void *object, bool *value, xp_error *err);
xp_status xp_pjrt_call_uint64(const xp_pjrt_plugin *plugin, xp_abi_uint64_function *slot, const char *function,
                              void *object, uint64_t *value, xp_error *err);

/* An answer of NULL is an error of ours: no function of this form may answer so. */
xp_status xp_pjrt_call_pointer(const xp_pjrt_plugin *plugin, xp_abi_pointer_function *slot, const char *function,
                               void *object, void **value, xp_error *err);
xp_status xp_pjrt_call_list(const xp_pjrt_plugin *plugin, xp_abi_list_function *slot, const char *function,
                            void *object, const void **items, size_t *count, xp_error *err);

/* An error because a function answered without error and without what it was asked for. */
xp_status xp_pjrt_gave_nothing(const xp_pjrt_plugin *plugin, const char *function, xp_error *err);

/* Destroys an object of the plugin if there is one and the plugin can; an error of that is of no use to anybody. */
void xp_pjrt_release(const xp_pjrt_plugin *plugin, xp_abi_object_function *slot, void *object);

/* For options of clients and topologies: their form in the interface.  NULL when memory is out; the caller frees. */
struct xp_pjrt_option;
xp_abi_named_value *xp_pjrt_named_values(const struct xp_pjrt_option *options, size_t count);

#endif
