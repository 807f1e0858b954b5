/* Opening devices and closing them.  Devices of one plugin share its client, since some plugins allow only one. */
#include "lazy/device.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "device/plugin.h"
#include "lazy/barrier.h"
#include "lazy/loader.h"
#include "lazy/pieces.h"
#include "lazy/variables.h"
#include "xlaprof/session.h"

#define EMBEDDED "embedded"

enum { OPTIONS_MAX = 32 };

/* ---------------------------------------------------------------- work in flight */

void xl_flight_begin(xl_in_flight *flight)
{
  pthread_mutex_lock(&flight->lock);
  flight->count++;
  pthread_mutex_unlock(&flight->lock);
}

void xl_flight_end(xl_in_flight *flight, const xp_error *err)
{
  pthread_mutex_lock(&flight->lock);
  if (err->status != XP_OK && flight->error.status == XP_OK) {
    flight->error = *err;
  }
  flight->count--;
  pthread_cond_broadcast(&flight->changed);
  pthread_mutex_unlock(&flight->lock);
}

/* Under the lock.  The wait is an event of the host: a gap of the device that it made is told by it. */
static void wait_until_at_most(xl_in_flight *flight, size_t most)
{
  if (flight->count > most) {
    const xp_region region = xp_region_begin(XP_LEVEL_INFO, "Wait for executions in flight");
    while (flight->count > most) {
      pthread_cond_wait(&flight->changed, &flight->lock);
    }
    xp_region_end(region);
  }
}

void xl_flight_limit(xl_in_flight *flight, size_t most)
{
  pthread_mutex_lock(&flight->lock);
  wait_until_at_most(flight, most);
  pthread_mutex_unlock(&flight->lock);
}

xp_status xl_flight_wait(xl_in_flight *flight, xp_error *err)
{
  pthread_mutex_lock(&flight->lock);
  wait_until_at_most(flight, 0);
  const xp_status status = flight->error.status;
  if (status != XP_OK && err != NULL) {
    *err = flight->error;
  }
  memset(&flight->error, 0, sizeof flight->error);
  pthread_mutex_unlock(&flight->lock);
  return status;
}

/* ---------------------------------------------------------------- options */

/* Whole numbers, decimals and truth values go as such, the rest as text. */
static xp_pjrt_option option_of(const char *name, const char *text)
{
  char *end;
  errno = 0;
  const long long number = strtoll(text, &end, 10);
  if (*text != '\0' && *end == '\0' && errno == 0) {
    return (xp_pjrt_option){.name = name, .type = XP_PJRT_NUMBER, .number = number};
  }
  const float real = strtof(text, &end);
  if (*text != '\0' && *end == '\0') {
    return (xp_pjrt_option){.name = name, .type = XP_PJRT_REAL, .real = real};
  }
  if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
    return (xp_pjrt_option){.name = name, .type = XP_PJRT_FLAG, .number = *text == 't'};
  }
  return (xp_pjrt_option){.name = name, .type = XP_PJRT_TEXT, .text = text};
}

static xp_status read_options(const char *const *texts, xp_pjrt_option options[OPTIONS_MAX], size_t *count,
                              xp_error *err)
{
  *count = 0;
  for (size_t i = 0; texts != NULL && texts[i] != NULL; i += 2) {
    if (texts[i + 1] == NULL || *count == OPTIONS_MAX) {
      return xp_fail(err, XP_ERR_USAGE, "Options of a plugin are a name and a value each, %d at most.", OPTIONS_MAX);
    }
    options[(*count)++] = option_of(texts[i], texts[i + 1]);
  }
  return XP_OK;
}

/* ---------------------------------------------------------------- opening */

static xl_device *find(const char *plugin, int number)
{
  for (xl_device *device = xl_rt.devices; device != NULL; device = device->next) {
    if (!device->is_lost && strcmp(device->plugin, plugin) == 0 && (number < 0 || device->number == number)) {
      return device;
    }
  }
  return NULL;
}

static xp_status open_client(const char *path, const xl_device_options *options, xp_pjrt_client **client, xp_error *err)
{
  const xp_pjrt_plugin *plugin;
  xp_pjrt_option read[OPTIONS_MAX];
  size_t count;
  xp_status status = strcmp(path, EMBEDDED) == 0 ? xp_pjrt_plugin_open(xp_device_api, "xlaprof", &plugin, err)
                                                 : xp_pjrt_plugin_load(path, &plugin, err);
  if (status == XP_OK) {
    status = read_options(options->options, read, &count, err);
  }
  if (status == XP_OK) {
    status = xp_pjrt_client_create(plugin, read, count, client, err);
  }
  if (status == XP_OK) {
    xp_session_add_plugin(xp_pjrt_plugin_api(plugin), NULL); /* one without a profiler is no worse a device */
    xl_hold_forks();
  }
  return status;
}

static xl_device *device_create(const char *plugin, int number, xp_pjrt_client *client, const xp_pjrt_device *handle)
{
  xl_device *device = calloc(1, sizeof *device);
  char name[160];
  snprintf(name, sizeof name, "%.80s:%d (%.*s)", xp_base_name(plugin), number,
           handle->kind.len < 48 ? (int)handle->kind.len : 48, handle->kind.ptr);
  if (device == NULL || (device->plugin = strdup(plugin)) == NULL || (device->name = strdup(name)) == NULL) {
    if (device != NULL) {
      free(device->plugin);
    }
    free(device);
    return NULL;
  }
  device->client = client;
  device->handle = handle;
  device->number = number;
  device->cells.next = device->cells.prev = &device->cells;
  pthread_mutex_init(&device->flight.lock, NULL);
  pthread_cond_init(&device->flight.changed, NULL);
  device->next = xl_rt.devices;
  xl_rt.devices = device;
  return device;
}

/* A program that named no plugin says where the name comes from. */
static xp_status tell_variable(xp_status status, xp_error *err)
{
  const xp_error why = *err;
  return xp_fail(err, status, "%.600s (The variable XL_PJRT_PLUGIN names this plugin.)", why.text);
}

static xp_status open_device(const xl_device_options *options, xl_device **device, xp_error *err)
{
  const char *path = options->plugin != NULL ? options->plugin : getenv("XL_PJRT_PLUGIN");
  path = path != NULL && *path != '\0' ? path : EMBEDDED;
  *device = find(path, options->number);
  if (*device != NULL) {
    return XP_OK;
  }
  xp_status status = xl_variables_check(err);
  if (status != XP_OK) {
    return status;
  }
  xl_device *sibling = find(path, -1);
  xp_pjrt_client *client = sibling != NULL ? sibling->client : NULL;
  status = client == NULL ? open_client(path, options, &client, err) : XP_OK;
  if (status != XP_OK) {
    return options->plugin != NULL || strcmp(path, EMBEDDED) == 0 ? status : tell_variable(status, err);
  }
  size_t count;
  const xp_pjrt_device *handles = xp_pjrt_client_devices(client, &count);
  const bool exists = options->number >= 0 && (size_t)options->number < count;
  *device = exists ? device_create(path, options->number, client, &handles[options->number]) : NULL;
  if (*device != NULL) {
    return XP_OK;
  }
  if (sibling == NULL) {
    xp_pjrt_client_destroy(client);
  }
  return exists ? xp_fail(err, XP_ERR_MEMORY, "There is no memory for a device.")
                : xp_fail(err, XP_ERR_NOT_FOUND, "%s has no device %d: it has %zu, numbered from 0.", path,
                          options->number, count);
}

xl_device *xl_device_current(xp_error *err)
{
  const xl_device_options usual = XL_DEVICE_OPTIONS_INIT;
  if (xl_rt.device != NULL && xl_rt.device->is_lost) {
    xp_fail(err, XP_ERR_USAGE,
            "The device %s belongs to the process that this one was forked from; open one with xl_device_open.",
            xl_rt.device->name);
    return NULL;
  }
  if (xl_rt.device == NULL && open_device(&usual, &xl_rt.device, err) != XP_OK) {
    return NULL;
  }
  return xl_rt.device;
}

/* ---------------------------------------------------------------- closing */

static bool is_last_of_client(const xl_device *device)
{
  for (const xl_device *other = device->next; other != NULL; other = other->next) {
    if (other->client == device->client) {
      return false;
    }
  }
  return true;
}

void xl_devices_close(void)
{
  while (xl_rt.devices != NULL) {
    xl_device *device = xl_rt.devices;
    if (!device->is_lost && is_last_of_client(device)) {
      xp_pjrt_client_destroy(device->client);
    }
    xl_rt.devices = device->next;
    pthread_mutex_destroy(&device->flight.lock);
    pthread_cond_destroy(&device->flight.changed);
    free(device->plugin);
    free(device->name);
    free(device);
  }
  xl_rt.device = NULL;
}

/* ---------------------------------------------------------------- public */

xp_status xl_device_open(const xl_device_options *options, xl_device **device, xp_error *err)
{
  const xl_device_options usual = XL_DEVICE_OPTIONS_INIT;
  xl_device *opened = NULL;
  xp_error own = {0};
  err = err != NULL ? err : &own;
  xl_lock();
  const xp_status status = open_device(options != NULL ? options : &usual, &opened, err);
  if (status == XP_OK) {
    xl_rt.device = opened;
  }
  xl_unlock();
  if (device != NULL) {
    *device = opened;
  }
  return status;
}

void xl_device_use(xl_device *device)
{
  xl_lock();
  xl_rt.device = device;
  xl_unlock();
}

const char *xl_device_name(const xl_device *device)
{
  return device != NULL ? device->name : "";
}

static void forget_numbers(xl_device *device)
{
  for (size_t i = 0; i < XL_NUMBERS_KEPT; i++) {
    xl_node_drop(device->numbers[i].node);
    device->numbers[i].node = NULL;
  }
  xl_node_drop(device->seed_node);
  device->seed_node = NULL;
}

void xl_shutdown(void)
{
  xl_loaders_end();
  xl_wait(NULL);
  xl_lock();
  xl_handles_end();
  for (xl_device *device = xl_rt.devices; device != NULL; device = device->next) {
    forget_numbers(device);
  }
  xl_programs_end();
  xl_run_end();
  xl_barriers_end();
  xl_devices_close();
  size_t bytes;
  if (xl_nodes_alive(&bytes) == 0) {
    xl_pieces_end();
  }
  xl_scopes_end();
  free(xl_rt.made);
  xl_rt.made = NULL;
  xl_rt.made_capacity = 0;
  xl_rt.is_open = false;
  xl_unlock();
}
