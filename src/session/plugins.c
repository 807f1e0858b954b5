/* Plugins are only ever added, so a session walks a list that does not move: a count that grows after the entry is
 * written.
 *
 * After fork the child has none: the threads that a plugin needs are the parent's.
 */
#include "session/plugins.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MOST_PLUGINS = 64 };

static struct {
  pthread_mutex_t lock;
  pthread_once_t once;
  const void *apis[MOST_PLUGINS];
  xp_plugin_profiler *plugins[MOST_PLUGINS];
  atomic_size_t count;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT};

/* ---- fork */

static void lock_for_fork(void)
{
  pthread_mutex_lock(&registry.lock);
}

static void unlock_in_parent(void)
{
  pthread_mutex_unlock(&registry.lock);
}

static void forget_in_child(void)
{
  atomic_store_explicit(&registry.count, 0, memory_order_relaxed);
  pthread_mutex_init(&registry.lock, NULL);
}

static void watch_forks(void)
{
  pthread_atfork(lock_for_fork, unlock_in_parent, forget_in_child);
}

/* ---- the list */

static bool is_known(const void *pjrt_api, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    if (registry.apis[i] == pjrt_api) {
      return true;
    }
  }
  return false;
}

static xp_status add(const void *pjrt_api, xp_error *err)
{
  size_t count = atomic_load_explicit(&registry.count, memory_order_relaxed);
  if (is_known(pjrt_api, count)) {
    return XP_OK;
  }
  if (count == MOST_PLUGINS) {
    return xp_fail(err, XP_ERR_LIMIT, "A process can add %d plugins at most", MOST_PLUGINS);
  }
  xp_status status = xp_plugin_profiler_open(pjrt_api, &registry.plugins[count], err);
  if (status == XP_OK) {
    registry.apis[count] = pjrt_api;
    atomic_store_explicit(&registry.count, count + 1, memory_order_release);
  }
  return status;
}

xp_status xp_session_add_plugin(const void *pjrt_api, xp_error *err)
{
  pthread_once(&registry.once, watch_forks);
  pthread_mutex_lock(&registry.lock);
  xp_status status = add(pjrt_api, err);
  pthread_mutex_unlock(&registry.lock);
  return status;
}

void xp_plugins_start(xp_profile *profile, xp_str options)
{
  size_t count = atomic_load_explicit(&registry.count, memory_order_acquire);
  profile->plugins = xp_arena_array(profile->arena, count, sizeof *profile->plugins);
  if (profile->plugins == NULL) {
    xp_profile_add_error(profile, "No memory for tracing the devices");
  }
  for (size_t i = 0; i < count && profile->plugins != NULL; i++) {
    xp_error err = {0};
    xp_collected *plugin = &profile->plugins[profile->plugin_count];
    if (xp_plugin_session_start(registry.plugins[i], options, &plugin->session, &err) == XP_OK) {
      profile->plugin_count++;
    } else {
      xp_profile_add_error(profile, err.text);
    }
  }
}

void xp_plugins_collect(xp_profile *profile)
{
  xp_error err;
  for (size_t i = 0; i < profile->plugin_count; i++) {
    if (xp_plugin_session_stop(profile->plugins[i].session, &err) != XP_OK) {
      xp_profile_add_error(profile, err.text);
      xp_plugin_session_free(profile->plugins[i].session); /* nothing can be collected from it */
      profile->plugins[i].session = NULL;
    }
  }
  for (size_t i = 0; i < profile->plugin_count; i++) {
    if (profile->plugins[i].session == NULL) {
      continue;
    }
    if (xp_plugin_session_collect(profile->plugins[i].session, &profile->plugins[i].xspace, &err) != XP_OK) {
      profile->plugins[i].xspace = xp_str_from(NULL, 0);
      xp_profile_add_error(profile, err.text);
    }
  }
}
