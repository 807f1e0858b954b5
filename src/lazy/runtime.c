/* The runtime's lock, what belongs to threads, and errors.
 *
 * Everything of the layer is protected by one lock, which a call holds while it builds its nodes (some 100 ns) and a
 * barrier while it compiles.  Waiting for a device happens outside of it.
 */
#include "lazy/runtime.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lazy/step.h"
#include "lazy/ticks.h"
#include "lazy/variables.h"

enum { MESSAGE_MAX = 600 }; /* of an error, so that there is room for its place */

xl_runtime xl_rt = {.lock = PTHREAD_MUTEX_INITIALIZER, .most_in_flight = 32};

/* ---------------------------------------------------------------- opening */

/* The devices' threads are the parent's, and whoever holds the lock is not here. */
static void after_fork_in_child(void)
{
  for (xl_device *device = xl_rt.devices; device != NULL; device = device->next) {
    device->is_lost = true;
  }
  pthread_mutex_init(&xl_rt.lock, NULL);
}

static void before_fork(void)
{
  pthread_mutex_lock(&xl_rt.lock);
}

static void after_fork_in_parent(void)
{
  pthread_mutex_unlock(&xl_rt.lock);
}

void xl_hold_forks(void)
{
  static bool is_done;
  is_done = is_done || pthread_atfork(before_fork, after_fork_in_parent, NULL) == 0;
}

static void open_runtime(void)
{
  static bool has_fork_handler;
  has_fork_handler = has_fork_handler || pthread_atfork(NULL, NULL, after_fork_in_child) == 0;
  xl_counters_open();
  xl_ticks_open();
  xl_rt.names_are_open =
      xl_rt.names_are_open || xl_variable_is_true("XLA_HLO_DEBUG") || xl_variable_is_true("XLA_IR_DEBUG");
  xl_rt.is_open = true;
  xl_steps_follow();
}

void xl_lock(void)
{
  pthread_mutex_lock(&xl_rt.lock);
  xl_rt.thread = xl_thread_here();
  if (__builtin_expect(!xl_rt.is_open, 0)) {
    open_runtime();
  }
}

void xl_lock_for(const xl_entry *entry, const xl_location *place)
{
  xl_lock();
  xl_rt.entry = entry;
  xl_rt.place = place;
}

void xl_unlock(void)
{
  xl_rt.thread = NULL;
  xl_rt.entry = NULL;
  xl_rt.ending_step = NULL;
  xl_rt.place = NULL;
  pthread_mutex_unlock(&xl_rt.lock);
}

void xl_measure_lock(void)
{
  xl_rt.lock_wait_ns = xl_ticks_dur_ns(xp_clock_ticks() - xl_rt.start_ticks);
}

void xl_count_lock_wait(void)
{
  xl_sample(XL_METRIC_LOCK_WAIT, xl_rt.lock_wait_ns);
  xl_sample(XL_METRIC_LOCK_WAIT, xl_rt.lock_wait_ns);
  xl_rt.lock_wait_ns = 0;
}

/* ---------------------------------------------------------------- threads */

static __thread xl_thread thread_here;

xl_thread *xl_thread_here(void)
{
  return &thread_here;
}

/* ---------------------------------------------------------------- errors
 *
 * One that is kept with the thread names its call already; one in an xp_error inside the library does not.  So each is
 * composed once: when it is kept, or when the outermost function hands it out.
 */

/* "xl_add: text. (main.c:8)" */
static void compose(xp_error *err, xp_status status, const char *name, const char *text, const xl_location *at)
{
  char place[128] = "";
  const size_t len = strlen(text);
  const bool has_stop = len > 0 && text[len - 1] == '.', is_closed = len > 1 && memcmp(text + len - 2, ".)", 2) == 0;
  if (at != NULL && at->file != NULL) {
    snprintf(place, sizeof place, " (%.80s:%d)", xp_base_name(at->file), at->line);
  }
  xp_fail(err, status, "%s: %.*s%s%s", name, len < MESSAGE_MAX ? (int)len : MESSAGE_MAX, text,
          has_stop || is_closed ? "" : ".", place);
}

static void compose_of_call(xp_status status, const char *text)
{
  char name[64] = "lazy tensors";
  if (xl_rt.entry != NULL) {
    snprintf(name, sizeof name, "xl_%s", xl_rt.entry->name);
  }
  compose(&xl_rt.thread->error, status, xl_rt.ending_step != NULL ? xl_rt.ending_step : name, text, xl_rt.place);
}

void *xl_refuse_with(const xp_error *err)
{
  if (!xl_failed()) {
    compose_of_call(err->status, err->text);
  }
  return NULL;
}

void *xl_refuse(xp_status status, const char *format, ...)
{
  if (xl_failed()) {
    return NULL;
  }
  char text[MESSAGE_MAX + 1];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  compose_of_call(status, text);
  return NULL;
}

xp_status xl_tell(xp_error *err, xp_status status, const char *name, const xl_location *place)
{
  if (status != XP_OK && err->status == XP_OK) {
    xl_error(err);
  } else if (status != XP_OK) {
    const xp_error why = *err;
    compose(err, status, name, why.text, place);
  }
  return status;
}

xp_status xl_error(xp_error *err)
{
  xl_thread *thread = xl_thread_here();
  const xp_status status = thread->error.status;
  if (err != NULL) {
    *err = thread->error;
  }
  memset(&thread->error, 0, sizeof thread->error);
  return status;
}

/* ---------------------------------------------------------------- calls */

static xl_var *overflowing(xl_var *var)
{
  xl_var_drop(var);
  return xl_refuse(XP_ERR_MEMORY, "there is no memory for the tensor");
}

xl_var *xl_made(xl_var *var)
{
  if (var == NULL) {
    return xl_refuse(XP_ERR_MEMORY, "there is no memory for the tensor");
  }
  if (xl_rt.made_count == xl_rt.made_capacity) {
    const size_t capacity = xl_rt.made_capacity > 0 ? 2 * xl_rt.made_capacity : 64;
    xl_var **grown = realloc(xl_rt.made, capacity * sizeof *grown);
    if (grown == NULL) {
      return overflowing(var);
    }
    xl_rt.made = grown;
    xl_rt.made_capacity = capacity;
  }
  xl_rt.made[xl_rt.made_count++] = var;
  return var;
}

/* Says once in a capture why its device operations have no names, where a trace shows that somebody wants them. */
static void tell_closed_gate(void)
{
  static bool is_told;
  if (!is_told && xp_scope_depth() > 0) {
    is_told = true;
    xp_instant(XP_LEVEL_USER, "xlaprof: no names on the device; set XLA_HLO_DEBUG=1, or call xl_set_ir_debug(true)",
               NULL, 0);
  }
}

void xl_resume(const xl_entry *entry, const xl_location *place)
{
  const uint64_t start_ticks = xp_clock_ticks();
  xl_lock_for(entry, place);
  xl_rt.call_device = NULL;
  xl_rt.start_ticks = start_ticks;
  xl_rt.scope = xl_rt.names_are_open ? xl_scope_here(&xl_rt.thread->scope) : NULL;
  if (__builtin_expect(xl_rt.is_eager, 0)) {
    xl_measure_lock();
  }
}

void xl_begin(xl_entry *entry, const xl_location *place)
{
  xl_resume(entry, place);
  if (!xl_rt.names_are_open && xp_is_recording(XP_LEVEL_USER)) {
    tell_closed_gate();
  }
  if (__builtin_expect(entry->native == NULL, 0)) {
    entry->native = xl_native_of(entry->name);
  }
  xp_counter_add_exclusive(entry->native->counter, 1);
  xl_rt.counts_parts = entry->native->counts_parts;
}

void xl_made_drop(size_t count)
{
  for (size_t i = count; i < xl_rt.made_count; i++) {
    xl_var_drop(xl_rt.made[i]);
  }
  xl_rt.made_count = count;
}

void xl_end_with_nothing(void)
{
  xl_made_drop(0);
  if (xl_rt.entry->native->is_traced) {
    const uint64_t now = xp_clock_ticks();
    xp_metric_add_at(xl_metrics[XL_METRIC_TRACING], xl_ticks_dur_ns(now - xl_rt.start_ticks), xl_ticks_ns(now));
  }
  xl_rt.counts_parts = false;
  xl_rt.scope = NULL;
  xl_unlock();
}

xl_tensor xl_end(xl_var *result)
{
  const xl_tensor tensor = result != NULL ? xl_handle_create(result) : XL_NONE;
  xl_end_with_nothing();
  return tensor;
}

xl_var *xl_arg_or_none(xl_tensor tensor, bool *is_given)
{
  *is_given = tensor.index != 0;
  return *is_given ? xl_arg(tensor) : NULL;
}

xl_var *xl_arg(xl_tensor tensor)
{
  if (tensor.index == 0) {
    return xl_refuse(XP_ERR_USAGE, "a tensor is XL_NONE: the operation that should have made it failed, or was never "
                                   "called");
  }
  xl_var *var = xl_handle_find(tensor);
  if (var == NULL) {
    return xl_refuse(XP_ERR_USAGE,
                     "tensor %u.%u is used after it was freed (xl_free, the end of its pool, or "
                     "xl_shutdown)",
                     tensor.index, tensor.generation);
  }
  if (xl_var_device(var)->is_lost) {
    return xl_refuse(XP_ERR_USAGE,
                     "tensor %u.%u belongs to the process that this one was forked from; make tensors "
                     "after the fork, on a device opened there",
                     tensor.index, tensor.generation);
  }
  if (xl_rt.call_device == NULL) {
    xl_rt.call_device = xl_var_device(var);
  }
  return var;
}

xl_device *xl_call_device(void)
{
  xp_error err = {0};
  xl_device *device = xl_rt.call_device != NULL ? xl_rt.call_device : xl_device_current(&err);
  return device != NULL ? device : xl_refuse_with(&err);
}
