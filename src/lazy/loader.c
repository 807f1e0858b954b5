/* Two threads and two queues: fetched batches, and uploaded ones.
 *
 * A queue is a ring with a lock.  Whoever ends (the data, an error, the closing) marks its queue; the thread behind
 * goes on until the queue is empty and passes the mark on.
 */
#define _GNU_SOURCE /* pthread_setname_np */
#include "lazy/loader.h"

#include <pthread.h>
#include <stdlib.h>

#include "lazy/apply.h"
#include "lazy/barrier.h"

enum { ARRAYS_MAX = 16, USUAL_AHEAD = 8, AHEAD_MAX = 4096 };

typedef struct {
  xl_host_array arrays[ARRAYS_MAX]; /* values: until they are uploaded */
  xl_data *data[ARRAYS_MAX];        /* from then on; a reference each */
  uint64_t flow;                    /* connects the events of the batch */
} batch;

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  batch *ring;
  size_t capacity, first, count;
  bool is_ended;  /* nothing comes any more */
  bool is_closed; /* nobody takes any more */
  xp_error end;   /* why it ended: XP_ERR_EMPTY, or an error */
} queue;

struct xl_loader {
  xl_loader_options options;
  xl_device *device;
  queue fetched, uploaded;
  pthread_t fetcher, uploader;
  bool has_fetcher, has_uploader;
  size_t taken;
  bool has_ended; /* by xl_shutdown: only the memory of this structure is left */
  xl_loader *next;
};

/* All that are open; under the lock of the runtime. */
static xl_loader *loaders;

/* ---------------------------------------------------------------- queues */

static bool queue_open(queue *q, size_t capacity)
{
  pthread_mutex_init(&q->lock, NULL);
  pthread_cond_init(&q->changed, NULL);
  q->capacity = capacity;
  q->ring = calloc(capacity, sizeof *q->ring);
  return q->ring != NULL;
}

static void queue_end(queue *q, const xp_error *why)
{
  pthread_mutex_lock(&q->lock);
  q->is_ended = true;
  q->end = *why;
  pthread_cond_broadcast(&q->changed);
  pthread_mutex_unlock(&q->lock);
}

static void queue_close(queue *q)
{
  pthread_mutex_lock(&q->lock);
  q->is_closed = true;
  pthread_cond_broadcast(&q->changed);
  pthread_mutex_unlock(&q->lock);
}

/* Waits for room; false if nobody takes any more. */
static bool queue_put(queue *q, const batch *b)
{
  pthread_mutex_lock(&q->lock);
  while (q->count == q->capacity && !q->is_closed) {
    pthread_cond_wait(&q->changed, &q->lock);
  }
  const bool is_open = !q->is_closed;
  if (is_open) {
    q->ring[(q->first + q->count++) % q->capacity] = *b;
    pthread_cond_broadcast(&q->changed);
  }
  pthread_mutex_unlock(&q->lock);
  return is_open;
}

/* Waits for a batch; false, with the reason, at the end. */
static bool queue_take(queue *q, batch *b, xp_error *why)
{
  pthread_mutex_lock(&q->lock);
  while (q->count == 0 && !q->is_ended && !q->is_closed) {
    pthread_cond_wait(&q->changed, &q->lock);
  }
  const bool has_one = q->count > 0 && !q->is_closed;
  if (has_one) {
    *b = q->ring[q->first];
    q->first = (q->first + 1) % q->capacity;
    q->count--;
    pthread_cond_broadcast(&q->changed);
  } else {
    *why = q->end;
  }
  pthread_mutex_unlock(&q->lock);
  return has_one;
}

/* ---------------------------------------------------------------- threads */

static void release(const xl_loader *loader, const batch *b)
{
  if (loader->options.release != NULL) {
    loader->options.release(loader->options.context, b->arrays);
  }
}

static xp_status check_arrays(const xl_loader *loader, const batch *b, xp_error *err)
{
  for (size_t i = 0; i < loader->options.array_count; i++) {
    const xl_host_array *array = &b->arrays[i];
    char text[XL_SHAPE_TEXT];
    if ((unsigned)array->type >= XL_TYPE_COUNT) {
      return xp_fail(err, XP_ERR_USAGE, "array %zu of a batch: there is no type %d", i, (int)array->type);
    }
    if (!xl_shape_is_sound(&array->shape)) {
      return xp_fail(err, XP_ERR_USAGE,
                     "Array %zu of a batch is %s: a shape has at most %d extents, none of them negative, and fewer "
                     "than 2^60 elements.",
                     i, xl_shape_text(text, array->type, &array->shape), XL_MAX_RANK);
    }
    if (array->values == NULL && xl_shape_elements(&array->shape) > 0) {
      return xp_fail(err, XP_ERR_USAGE, "Array %zu of a batch, %s, has no values.", i,
                     xl_shape_text(text, array->type, &array->shape));
    }
  }
  return XP_OK;
}

static void *run_fetcher(void *context)
{
  xl_loader *loader = context;
  xp_error err = {0};
  pthread_setname_np(pthread_self(), "loader_fetch");
  for (;;) {
    batch b = {.flow = xp_flow_new()};
    xp_status status = XP_OK;
    err.text[0] = '\0';
    XP_TRACE("cpu_loader.next", XP_FLOW_OUT(b.flow)) {
      status = loader->options.fetch(loader->options.context, b.arrays, &err);
    }
    if (status != XP_OK && err.text[0] == '\0') {
      xp_fail(&err, status, "The fetch function of the loader failed with status %d, and gave no reason.", (int)status);
    }
    if (status == XP_OK && (status = check_arrays(loader, &b, &err)) != XP_OK) {
      release(loader, &b);
    }
    if (status != XP_OK) {
      err.status = status;
      queue_end(&loader->fetched, &err);
      return NULL;
    }
    if (!queue_put(&loader->fetched, &b)) {
      release(loader, &b);
      return NULL;
    }
  }
}

static void drop_data(const xl_loader *loader, batch *b)
{
  xl_lock();
  for (size_t i = 0; i < loader->options.array_count; i++) {
    xl_data_drop(b->data[i]);
  }
  xl_unlock();
}

static xp_status upload(const xl_loader *loader, batch *b, xp_error *err)
{
  for (size_t i = 0; i < loader->options.array_count; i++) {
    const xl_host_array *array = &b->arrays[i];
    const size_t size = (size_t)xl_shape_elements(&array->shape) * xl_type_facts[array->type].bytes;
    b->data[i] = xl_data_upload(loader->device, array->type, &array->shape, array->values != NULL ? array->values : "",
                                size, err);
    if (b->data[i] == NULL) {
      return err->status;
    }
  }
  return XP_OK;
}

static void *run_uploader(void *context)
{
  xl_loader *loader = context;
  xp_error err = {0};
  batch b;
  pthread_setname_np(pthread_self(), "loader_upload");
  while (queue_take(&loader->fetched, &b, &err)) {
    xp_status status = XP_OK;
    XP_TRACE("cpu_data_to_xla_device", XP_FLOW_IN(b.flow)) {
      status = upload(loader, &b, &err);
    }
    release(loader, &b);
    if (status != XP_OK || !queue_put(&loader->uploaded, &b)) {
      drop_data(loader, &b);
      break;
    }
  }
  queue_close(&loader->fetched);
  queue_end(&loader->uploaded, &err);
  return NULL;
}

/* ---------------------------------------------------------------- taking */

/* Whether a step's end is the barrier of this batch: one ended on this thread since the last batch, or is open that was
 * not when that was taken. */
static bool step_is_marked(xl_thread *thread)
{
  xp_open_step step;
  bool is_marked = thread->is_step_marked;
  thread->is_step_marked = false;
  if (xp_step_current(&step) && step.serial != thread->seen_step) {
    thread->seen_step = step.serial;
    is_marked = true;
  }
  return is_marked;
}

static xl_entry next_entry = {"loader_next", NULL};

static xp_status barrier(const char *cause, const xl_location *at, xp_error *err)
{
  xl_barrier_lock(&next_entry, at);
  const xp_status status = xl_barrier_step(cause, at, err);
  xl_unlock();
  return status;
}

static xp_status hand_out(xl_loader *loader, const xl_location *at, batch *b, xl_tensor *tensors)
{
  bool is_fine = true;
  for (size_t i = 0; i < loader->options.array_count; i++) {
    const xl_host_array *array = &b->arrays[i];
    xl_begin(&next_entry, at);
    tensors[i] = xl_end(xl_of_data(b->data[i], array->type, &array->shape));
    is_fine = is_fine && tensors[i].index != 0;
  }
  drop_data(loader, b);
  return is_fine ? XP_OK : xl_kept();
}

static xp_status next_batch(const xl_location *at, xl_loader *loader, xl_tensor *tensors, xp_error *err)
{
  if (loader == NULL || loader->has_ended) {
    return xp_fail(err, XP_ERR_USAGE, "the loader %s", loader == NULL ? "is NULL" : "was ended by xl_shutdown");
  }
  if (loader->device->is_lost) {
    return xp_fail(err, XP_ERR_USAGE,
                   "the loader belongs to the process that this one was forked from; open one after the fork");
  }
  const bool has_step = step_is_marked(xl_thread_here());
  if (!has_step && loader->taken > 0) {
    const xp_status status = barrier("xl_loader at the end of a batch", at, err);
    if (status != XP_OK) {
      return status;
    }
  }
  batch b;
  bool has_batch = false;
  XP_TRACE("get_batch_from_cpu_queue") {
    has_batch = queue_take(&loader->uploaded, &b, err);
  }
  if (!has_batch) {
    return err->status == XP_ERR_EMPTY ? xp_fail(err, XP_ERR_EMPTY, "the loader's data are at their end") : err->status;
  }
  loader->taken++;
  return hand_out(loader, at, &b, tensors);
}

xp_status xl_loader_next_at(const xl_location *at, xl_loader *loader, xl_tensor *tensors, xp_error *err)
{
  xp_error own;
  err = xl_error_to(err, &own);
  return xl_tell(err, next_batch(at, loader, tensors, err), "xl_loader_next", at);
}

/* ---------------------------------------------------------------- opening and closing */

static void free_queue(xl_loader *loader, queue *q, bool is_uploaded)
{
  for (size_t i = 0; q->ring != NULL && i < q->count; i++) {
    batch *b = &q->ring[(q->first + i) % q->capacity];
    if (is_uploaded) {
      drop_data(loader, b);
    } else {
      release(loader, b);
    }
  }
  free(q->ring);
  pthread_mutex_destroy(&q->lock);
  pthread_cond_destroy(&q->changed);
}

/* Ends the threads and frees what was not taken. */
static void end_loader(xl_loader *loader)
{
  queue_close(&loader->fetched);
  queue_close(&loader->uploaded);
  if (loader->has_fetcher) {
    pthread_join(loader->fetcher, NULL);
  }
  if (loader->has_uploader) {
    pthread_join(loader->uploader, NULL);
  }
  free_queue(loader, &loader->fetched, false);
  free_queue(loader, &loader->uploaded, true);
}

static void list_add(xl_loader *loader)
{
  xl_lock();
  loader->next = loaders;
  loaders = loader;
  xl_unlock();
}

static void list_remove(const xl_loader *loader)
{
  xl_lock();
  for (xl_loader **link = &loaders; *link != NULL; link = &(*link)->next) {
    if (*link == loader) {
      *link = loader->next;
      break;
    }
  }
  xl_unlock();
}

void xl_loaders_end(void)
{
  xl_lock();
  xl_loader *all = loaders;
  loaders = NULL;
  xl_unlock();
  while (all != NULL) {
    xl_loader *next = all->next;
    if (!all->device->is_lost) {
      end_loader(all);
    }
    all->has_ended = true;
    all = next;
  }
}

void xl_loader_close(xl_loader *loader)
{
  if (loader == NULL || (!loader->has_ended && loader->device->is_lost)) {
    return; /* after a fork its threads, which may hold its locks, are the parent's */
  }
  if (!loader->has_ended) {
    list_remove(loader);
    end_loader(loader);
  }
  free(loader);
}

static xp_status start(xl_loader *loader, xp_error *err)
{
  const size_t ahead = loader->options.batches_ahead > 0 ? loader->options.batches_ahead : USUAL_AHEAD;
  const size_t capacity = ahead < AHEAD_MAX ? ahead : AHEAD_MAX;
  const bool has_fetched = queue_open(&loader->fetched, capacity);
  if (!queue_open(&loader->uploaded, capacity) || !has_fetched) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for a loader of %zu batches.", capacity);
  }
  loader->has_fetcher = pthread_create(&loader->fetcher, NULL, run_fetcher, loader) == 0;
  loader->has_uploader = loader->has_fetcher && pthread_create(&loader->uploader, NULL, run_uploader, loader) == 0;
  return loader->has_uploader ? XP_OK : xp_fail(err, XP_ERR_MEMORY, "A thread of the loader can't be started.");
}

xp_status xl_loader_open(const xl_loader_options *options, xl_loader **loader, xp_error *err)
{
  xp_error own;
  err = xl_error_to(err, &own);
  if (options == NULL || loader == NULL || options->array_count == 0 || options->array_count > ARRAYS_MAX ||
      options->fetch == NULL) {
    const xp_status status = xp_fail(
        err, XP_ERR_USAGE, "a loader has options with a fetch function, and 1 to %d arrays a batch", ARRAYS_MAX);
    return xl_tell(err, status, "xl_loader_open", NULL);
  }
  xl_lock();
  xl_device *device = xl_device_current(err);
  xl_unlock();
  if (device == NULL) {
    return xl_tell(err, err->status, "xl_loader_open", NULL);
  }
  xl_loader *made = calloc(1, sizeof *made);
  if (made == NULL) {
    return xl_tell(err, xp_fail(err, XP_ERR_MEMORY, "there is no memory for a loader"), "xl_loader_open", NULL);
  }
  made->options = *options;
  made->device = device;
  list_add(made);
  const xp_status status = start(made, err);
  if (status != XP_OK) {
    xl_loader_close(made);
    return xl_tell(err, status, "xl_loader_open", NULL);
  }
  *loader = made;
  return XP_OK;
}
