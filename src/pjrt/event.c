/* Events: waiting, asking, being called.
 *
 * An event of the plugin is a promise; the plugin keeps what a pending callback needs, so that the event may be
 * destroyed before.  A callback of the plugin gets an error that it owns; it is turned into ours before the caller's
 * function sees it.
 */
#include <stdlib.h>

#include "pjrt/objects.h"

/* One call of xp_pjrt_event_on_ready, until it was called back. */
typedef struct {
  const xp_pjrt_plugin *plugin;
  xp_pjrt_callback *callback;
  void *context;
} pending_call;

xp_status xp_pjrt_event_take(const xp_pjrt_plugin *plugin, xp_abi_event *handle, xp_pjrt_event **event, xp_error *err)
{
  xp_pjrt_event *taken = malloc(sizeof *taken);
  if (taken == NULL) {
    xp_pjrt_release(plugin, plugin->api.event_destroy, handle);
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out for an event of the plugin %s", plugin->name);
  }
  *taken = (xp_pjrt_event){plugin, handle};
  *event = taken;
  return XP_OK;
}

xp_status xp_pjrt_event_wait(const xp_pjrt_event *event, xp_error *err)
{
  return xp_pjrt_call_object(event->plugin, event->plugin->api.event_await, "PJRT_Event_Await", event->handle, err);
}

xp_status xp_pjrt_event_is_ready(const xp_pjrt_event *event, bool *is_ready, xp_error *err)
{
  return xp_pjrt_call_bool(event->plugin, event->plugin->api.event_is_ready, "PJRT_Event_IsReady", event->handle,
                           is_ready, err);
}

static void call_back(xp_abi_error *error, void *context)
{
  pending_call call = *(pending_call *)context;
  free(context);
  xp_error err = {0};
  xp_status status = xp_pjrt_answer(call.plugin, error, "Work", &err);
  call.callback(call.context, status, &err);
}

xp_status xp_pjrt_event_on_ready(const xp_pjrt_event *event, xp_pjrt_callback *callback, void *context, xp_error *err)
{
  const xp_pjrt_plugin *plugin = event->plugin;
  if (plugin->api.event_on_ready == NULL) {
    return xp_pjrt_lacks(plugin, "PJRT_Event_OnReady", err);
  }
  pending_call *call = malloc(sizeof *call);
  if (call == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out for a callback of the plugin %s", plugin->name);
  }
  *call = (pending_call){plugin, callback, context};
  xp_abi_event_on_ready_args args = {
      .struct_size = sizeof args, .event = event->handle, .callback = call_back, .context = call};
  xp_status status = xp_pjrt_answer(plugin, plugin->api.event_on_ready(&args), "PJRT_Event_OnReady", err);
  if (status != XP_OK) {
    free(call);
  }
  return status;
}

void xp_pjrt_event_destroy(xp_pjrt_event *event)
{
  if (event != NULL) {
    xp_pjrt_release(event->plugin, event->plugin->api.event_destroy, event->handle);
    free(event);
  }
}
