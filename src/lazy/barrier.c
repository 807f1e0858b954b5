/* What a barrier computes, and the marks of steps.
 *
 * The barrier of a step takes every cell of the device whose value is no array yet.  Nothing else can see the arrays
 * that those cells held before, so they may be donated.
 */
#include "lazy/barrier.h"

#include <stdlib.h>

#include "base/clock.h"
#include "lazy/random.h"

#define CAUSE_USER  "user xl_sync"
#define CAUSE_VALUE "user code trying to access a tensor's value before xl_sync"

typedef struct {
  xl_root *roots;
  xl_cell **cells;
  size_t count, capacity;
} pending;

/* The pending values of the call that holds the lock. */
static pending work;

static bool add(xl_cell *cell)
{
  if (work.count == work.capacity) {
    const size_t capacity = work.capacity > 0 ? 2 * work.capacity : 256;
    xl_root *roots = realloc(work.roots, capacity * sizeof *roots);
    work.roots = roots != NULL ? roots : work.roots;
    xl_cell **cells = roots != NULL ? realloc(work.cells, capacity * sizeof *cells) : NULL;
    if (cells == NULL) {
      return false;
    }
    work.cells = cells;
    work.capacity = capacity;
  }
  work.cells[work.count] = cell;
  work.roots[work.count++] = (xl_root){.place = &cell->value, .last = cell->last};
  return true;
}

static bool collect_live(xl_device *device)
{
  const xp_region region = xp_region_begin(XP_LEVEL_INFO, "CollectSyncTensors");
  bool has_room = true;
  work.count = 0;
  for (xl_cell *cell = device->cells.next; cell != &device->cells && has_room; cell = cell->next) {
    has_room = cell->value->data != NULL || add(cell);
  }
  xp_region_end(region);
  return has_room;
}

static xp_status no_memory(xp_error *err)
{
  return xp_fail(err, XP_ERR_MEMORY, "There is no memory for the list of tensors to compute.");
}

/* Launches what was collected. */
static xp_status run(xl_device *device, const xl_run_options *options, xp_error *err)
{
  if (work.count == 0) {
    xp_region_end(xp_region_begin(XP_LEVEL_INFO, "TensorCollectionBarrier"));
    xl_count_lock_wait();
    return XP_OK;
  }
  const xp_status status = xl_run(device, work.roots, work.count, options, err);
  for (size_t i = 0; status == XP_OK && i < work.count; i++) {
    xl_data_drop(work.cells[i]->last);
    work.cells[i]->last = NULL;
  }
  return status;
}

static xp_status sync_live(xl_device *device, const xl_run_options *options, xp_error *err)
{
  const xp_region live = xp_region_begin(XP_LEVEL_INFO, "SyncLiveTensorsGraph");
  const xp_region sync = xp_region_begin(XP_LEVEL_INFO, "SyncTensorsGraph");
  const xp_region internal = xp_region_begin(XP_LEVEL_INFO, "SyncTensorsGraphInternal");
  const xp_status status = collect_live(device) ? run(device, options, err) : no_memory(err);
  xp_region_end(internal);
  xp_region_end(sync);
  xp_region_end(live);
  return status;
}

/* A trace that is open would be cut in two: its operations before the barrier would run apart from those behind it. */
static xp_status refuse_open_scope(xp_error *err)
{
  char scope[512];
  if (xp_scope_depth() == 0) {
    return XP_OK;
  }
  xp_scope_names(scope, sizeof scope);
  return xp_fail(err, XP_ERR_USAGE, "Expecting scope to be empty but it is %s; end the trace before the barrier",
                 scope);
}

void xl_barrier_lock(const xl_entry *entry, const xl_location *place)
{
  const uint64_t start_ticks = xp_clock_ticks();
  xl_lock_for(entry, place);
  xl_rt.start_ticks = start_ticks;
  xl_measure_lock();
}

xp_status xl_barrier_step(const char *cause, const xl_location *place, xp_error *err)
{
  xp_status status = xl_kept(); /* it comes before all else */
  status = status == XP_OK ? refuse_open_scope(err) : status;
  xl_device *device = status == XP_OK ? xl_device_current(err) : NULL;
  if (device == NULL) {
    return status != XP_OK ? status : err->status;
  }
  const xp_region region = xp_region_begin(XP_LEVEL_INFO, "StepMarker");
  const xl_run_options options = {.may_donate = true, .cause = cause, .place = place};
  status = sync_live(device, &options, err);
  if (status == XP_OK) {
    xl_count(XL_COUNT_MARK_STEP, 1);
    xp_scope_reset(NULL);
    xl_random_step(device);
  }
  xp_region_end(region);
  return status;
}

xp_status xl_barrier_tensors(xl_var *const *tensors, size_t count, const char *cause, const xl_location *place,
                             xp_error *err)
{
  const xp_region region = xp_region_begin(XP_LEVEL_INFO, "SyncTensorsGraph");
  const xp_region internal = xp_region_begin(XP_LEVEL_INFO, "SyncTensorsGraphInternal");
  xp_status status = XP_OK;
  work.count = 0;
  for (size_t i = 0; i < count && status == XP_OK; i++) {
    xl_cell *cell = tensors[i]->view != NULL ? &tensors[i]->cell : &tensors[i]->storage->cell;
    if (xl_var_device(tensors[i]) != xl_var_device(tensors[0])) {
      status = xp_fail(err, XP_ERR_USAGE, "tensors of %s and %s can't be computed in one program",
                       xl_device_name(xl_var_device(tensors[0])), xl_device_name(xl_var_device(tensors[i])));
    } else if (xl_var_value(tensors[i]) == NULL) {
      status = xl_kept();
    } else if (cell->value->data == NULL && !add(cell)) {
      status = no_memory(err);
    }
  }
  const xl_run_options options = {.cause = cause, .place = place};
  if (status == XP_OK && count > 0) {
    status = run(xl_var_device(tensors[0]), &options, err);
    xl_random_forget(xl_var_device(tensors[0]));
  }
  xp_region_end(internal);
  xp_region_end(region);
  return status;
}

xl_data *xl_barrier_value(xl_var *tensor, const char *cause, const xl_location *place, xp_error *err)
{
  if (xl_barrier_tensors(&tensor, 1, cause, place, err) != XP_OK) {
    return NULL;
  }
  return xl_data_hold(xl_var_value(tensor)->data);
}

void xl_barriers_end(void)
{
  free(work.roots);
  free(work.cells);
  work = (pending){NULL, NULL, 0, 0};
}

/* ---------------------------------------------------------------- public */

static xp_status wait_for(xl_device *device, xp_error *err)
{
  return device != NULL ? xl_flight_wait(&device->flight, err) : XP_OK;
}

void xl_barrier_limit(void)
{
  xl_lock();
  xl_device *device = xl_rt.device;
  const size_t most = xl_rt.most_in_flight;
  xl_unlock();
  if (device != NULL && !device->is_lost) {
    xl_flight_limit(&device->flight, most);
  }
}

xp_status xl_sync_at(const xl_location *at, bool is_waiting, xp_error *err)
{
  static const xl_entry entry = {"sync", NULL};
  xp_error own;
  err = xl_error_to(err, &own);
  xl_barrier_lock(&entry, at);
  xp_status status = xl_barrier_step(CAUSE_USER, at, err);
  xl_device *device = xl_rt.device;
  xl_unlock();
  if (status == XP_OK && !is_waiting) {
    xl_barrier_limit();
  }
  status = status == XP_OK && is_waiting ? wait_for(device, err) : status;
  return xl_tell(err, status, "xl_sync", at);
}

xp_status xl_sync_tensors_at(const xl_location *at, const xl_tensor *tensors, size_t count, bool is_waiting,
                             xp_error *err)
{
  static const xl_entry entry = {"sync_tensors", NULL};
  xp_error own;
  err = xl_error_to(err, &own);
  if (tensors == NULL && count > 0) {
    return xl_tell(err, xp_fail(err, XP_ERR_USAGE, "the list of %zu tensors is NULL", count), "xl_sync_tensors", at);
  }
  xl_var **vars = calloc(count + 1, sizeof *vars);
  xl_barrier_lock(&entry, at);
  xp_status status = vars != NULL ? xl_kept() : no_memory(err);
  for (size_t i = 0; i < count && status == XP_OK; i++) {
    vars[i] = xl_arg(tensors[i]);
    status = vars[i] == NULL ? xl_kept() : XP_OK;
  }
  if (status == XP_OK) {
    status = xl_barrier_tensors(vars, count, CAUSE_USER, at, err);
  }
  xl_device *device = status == XP_OK && count > 0 ? xl_var_device(vars[0]) : NULL;
  xl_unlock();
  free(vars);
  status = status == XP_OK && is_waiting ? wait_for(device, err) : status;
  return xl_tell(err, status, "xl_sync_tensors", at);
}

xp_status xl_wait(xp_error *err)
{
  xp_error own;
  xp_status status = XP_OK;
  err = xl_error_to(err, &own);
  xl_lock();
  xl_device *device = xl_rt.devices;
  xl_unlock();
  for (; device != NULL && status == XP_OK; device = device->next) {
    status = device->is_lost ? XP_OK : wait_for(device, err);
  }
  return xl_tell(err, status, "xl_wait", NULL);
}

xp_status xl_barrier_download(const xl_data *data, void *target, size_t bytes, xp_error *err)
{
  const xp_region region = xp_region_begin(XP_LEVEL_INFO, "PjRtComputationClient::TransferFromDevice");
  const int64_t start_ns = xp_monotonic_ns();
  const xp_status status = xp_pjrt_download(data->buffer, target, bytes, NULL, err);
  if (status == XP_OK) {
    xl_sample(XL_METRIC_FROM_DEVICE, (double)(xp_monotonic_ns() - start_ns));
    xl_sample(XL_METRIC_INBOUND, (double)bytes);
    xl_sample(XL_METRIC_UNWRAP, 0); /* our arrays are the device's */
  }
  xp_region_end(region);
  return status;
}

/* Checks that the target has the size of the tensor, and computes its value. */
static xl_data *value_for(xl_var *var, const xl_location *at, const void *target, size_t bytes, xp_error *err)
{
  const size_t wanted = (size_t)xl_shape_elements(&var->shape) * xl_type_facts[var->type].bytes;
  char shape[XL_SHAPE_TEXT];
  if (wanted != bytes) {
    xp_fail(err, XP_ERR_USAGE, "the value of %s takes %zu bytes, the target has %zu",
            xl_shape_text(shape, var->type, &var->shape), wanted, bytes);
    return NULL;
  }
  if (target == NULL && bytes > 0) {
    xp_fail(err, XP_ERR_USAGE, "the target for the %zu bytes of %s is NULL", bytes,
            xl_shape_text(shape, var->type, &var->shape));
    return NULL;
  }
  return xl_barrier_value(var, CAUSE_VALUE, at, err);
}

xp_status xl_barrier_read(const xl_entry *entry, const xl_location *at, xl_tensor tensor, void *target, size_t bytes,
                          xp_error *err)
{
  xl_barrier_lock(entry, at);
  xl_data *data = NULL;
  xp_status status = xl_kept();
  if (status == XP_OK) {
    xl_var *var = xl_arg(tensor);
    data = var != NULL ? value_for(var, at, target, bytes, err) : NULL;
    status = data != NULL ? XP_OK : err->status != XP_OK ? err->status : xl_kept();
  }
  xl_unlock();
  if (data == NULL) {
    return status;
  }
  status = xl_barrier_download(data, target, bytes, err);
  xl_lock();
  xl_data_drop(data);
  xl_unlock();
  return status;
}

xp_status xl_to_host_at(const xl_location *at, xl_tensor tensor, void *target, size_t bytes, xp_error *err)
{
  static const xl_entry entry = {"to_host", NULL};
  xp_error own;
  err = xl_error_to(err, &own);
  return xl_tell(err, xl_barrier_read(&entry, at, tensor, target, bytes, err), "xl_to_host", at);
}
