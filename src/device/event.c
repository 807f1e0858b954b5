/* Callbacks wait in a list in the order in which they came.  They are called without the lock, by the thread that sets
 * the event: on this device that is the device's own thread, so what they do delays the device.
 */
#include "device/event.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct waiter {
  struct waiter *next;
  xp_abi_event_callback *callback;
  void *context;
} waiter;

struct xp_abi_event {
  unsigned refs;
  bool is_set; /* written under the lock, read without it */
  xp_abi_error *error;
  waiter *first, **end;
  pthread_mutex_t lock;
  pthread_cond_t happened;
};

xp_abi_event *xp_dev_event_create(void)
{
  xp_abi_event *event = calloc(1, sizeof *event);
  if (event == NULL) {
    return NULL;
  }
  event->refs = 1;
  event->end = &event->first;
  pthread_mutex_init(&event->lock, NULL);
  pthread_cond_init(&event->happened, NULL);
  return event;
}

xp_abi_event *xp_dev_event_create_ready(void)
{
  xp_abi_event *event = xp_dev_event_create();
  if (event != NULL) {
    event->is_set = true;
  }
  return event;
}

xp_abi_event *xp_dev_event_ref(xp_abi_event *event)
{
  if (event != NULL) {
    __atomic_fetch_add(&event->refs, 1, __ATOMIC_RELAXED);
  }
  return event;
}

void xp_dev_event_unref(xp_abi_event *event)
{
  if (event == NULL || __atomic_sub_fetch(&event->refs, 1, __ATOMIC_ACQ_REL) > 0) {
    return;
  }
  while (event->first != NULL) { /* nobody is left who could bring it about */
    waiter *next = event->first->next;
    free(event->first);
    event->first = next;
  }
  xp_dev_error_free(event->error);
  pthread_cond_destroy(&event->happened);
  pthread_mutex_destroy(&event->lock);
  free(event);
}

bool xp_dev_event_is_set(xp_abi_event *event)
{
  return __atomic_load_n(&event->is_set, __ATOMIC_ACQUIRE);
}

const xp_abi_error *xp_dev_event_error(const xp_abi_event *event)
{
  return event->error;
}

static void call_waiters(const xp_abi_event *event, waiter *w)
{
  while (w != NULL) {
    waiter *next = w->next;
    w->callback(xp_dev_error_copy(event->error), w->context);
    free(w);
    w = next;
  }
}

bool xp_dev_event_set(xp_abi_event *event, xp_abi_error *error)
{
  pthread_mutex_lock(&event->lock);
  if (event->is_set) {
    pthread_mutex_unlock(&event->lock);
    xp_dev_error_free(error);
    return false;
  }
  event->error = error;
  xp_dev_event_ref(event); /* whoever sees it set from here on, with the lock or without, may drop the last one */
  __atomic_store_n(&event->is_set, true, __ATOMIC_RELEASE);
  waiter *waiters = event->first;
  event->first = NULL;
  event->end = &event->first;
  pthread_cond_broadcast(&event->happened);
  pthread_mutex_unlock(&event->lock);
  call_waiters(event, waiters);
  xp_dev_event_unref(event);
  return true;
}

void xp_dev_event_wait(xp_abi_event *event)
{
  if (xp_dev_event_is_set(event)) {
    return;
  }
  pthread_mutex_lock(&event->lock);
  while (!event->is_set) {
    pthread_cond_wait(&event->happened, &event->lock);
  }
  pthread_mutex_unlock(&event->lock);
}

bool xp_dev_event_then(xp_abi_event *event, xp_abi_event_callback *callback, void *context)
{
  if (!xp_dev_event_is_set(event)) {
    waiter *w = malloc(sizeof *w);
    if (w == NULL) {
      return false;
    }
    *w = (waiter){NULL, callback, context};
    pthread_mutex_lock(&event->lock);
    bool waits = !event->is_set;
    if (waits) {
      *event->end = w;
      event->end = &w->next;
    }
    pthread_mutex_unlock(&event->lock);
    if (waits) {
      return true;
    }
    free(w);
  }
  callback(xp_dev_error_copy(event->error), context);
  return true;
}

/* ---------------------------------------------------------------- PJRT_Event_* */

xp_abi_error *xp_dev_event_destroy(xp_abi_object_args *args)
{
  xp_dev_event_unref(args->object);
  return NULL;
}

xp_abi_error *xp_dev_event_is_ready(xp_abi_bool_args *args)
{
  args->value = xp_dev_event_is_set(args->object);
  return NULL;
}

xp_abi_error *xp_dev_event_get_error(xp_abi_object_args *args)
{
  xp_abi_event *event = args->object;
  if (!xp_dev_event_is_set(event)) {
    return xp_dev_fail(XP_ABI_FAILED_PRECONDITION, "PJRT_Event_Error: the event has not happened yet; await it first.");
  }
  return xp_dev_error_copy(event->error);
}

xp_abi_error *xp_dev_event_await(xp_abi_object_args *args)
{
  xp_abi_event *event = args->object;
  xp_dev_event_wait(event);
  return xp_dev_error_copy(event->error);
}

xp_abi_error *xp_dev_event_on_ready(xp_abi_event_on_ready_args *args)
{
  return xp_dev_event_then(args->event, args->callback, args->context) ? NULL : xp_dev_fail_memory();
}

xp_abi_error *xp_dev_event_make(xp_abi_object_args *args)
{
  args->object = xp_dev_event_create();
  return args->object == NULL ? xp_dev_fail_memory() : NULL;
}

xp_abi_error *xp_dev_event_set_by_host(xp_abi_event_set_args *args)
{
  xp_abi_error *error = NULL;
  if (args->error_code != XP_ABI_OK) {
    int length = args->error_message_size > 512 ? 512 : (int)args->error_message_size;
    error = xp_dev_fail((xp_abi_code)args->error_code, "%.*s", length, length > 0 ? args->error_message : "");
  }
  return xp_dev_event_set(args->event, error)
             ? NULL
             : xp_dev_fail(XP_ABI_FAILED_PRECONDITION, "PJRT_Event_Set: the event has happened already.");
}
