/* Events: something that will have happened, well or with an error.
 *
 * An event is shared by whoever waits for it and whoever brings it about; each holds a reference.  It happens once, and
 * does not change afterwards.  Any thread may call.
 */
#ifndef XP_DEVICE_EVENT_H
#define XP_DEVICE_EVENT_H

#include "device/fault.h"

/* A new event with one reference, which has not happened; NULL when memory is out. */
xp_abi_event *xp_dev_event_create(void);

/* One that has happened, well. */
xp_abi_event *xp_dev_event_create_ready(void);

/* Another reference to the same event, or its end; NULL is allowed. */
xp_abi_event *xp_dev_event_ref(xp_abi_event *event);
void xp_dev_event_unref(xp_abi_event *event);

/* It has happened: with an error, which the event takes over, or well (NULL).  Calls those who asked for it, before it
 * returns.  Returns false, and does nothing but free the error, if it had happened before. */
bool xp_dev_event_set(xp_abi_event *event, xp_abi_error *error);

bool xp_dev_event_is_set(xp_abi_event *event);

/* Waits until it has happened. */
void xp_dev_event_wait(xp_abi_event *event);

/* The error with which an event has happened, NULL if well; borrowed. */
const xp_abi_error *xp_dev_event_error(const xp_abi_event *event);

/* Calls `callback` when the event happens, at once if it has happened; it owns the error that it gets.  False when
 * memory is out: it will not be called then. */
bool xp_dev_event_then(xp_abi_event *event, xp_abi_event_callback *callback, void *context);

/* PJRT_Event_* */
xp_abi_error *xp_dev_event_destroy(xp_abi_object_args *args);
xp_abi_error *xp_dev_event_is_ready(xp_abi_bool_args *args);
xp_abi_error *xp_dev_event_get_error(xp_abi_object_args *args);
xp_abi_error *xp_dev_event_await(xp_abi_object_args *args);
xp_abi_error *xp_dev_event_on_ready(xp_abi_event_on_ready_args *args);
xp_abi_error *xp_dev_event_make(xp_abi_object_args *args);
xp_abi_error *xp_dev_event_set_by_host(xp_abi_event_set_args *args);

#endif
