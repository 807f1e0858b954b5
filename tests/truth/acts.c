/* Acts: each does one thing, with a stretch of the ledger around it and, where users would have one, an annotation.
 *
 * Between stretches is nothing but the annotations themselves, so what the ledger does not have is not there.
 */
#include "acts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "ledger.h"

enum { SIDE = 160, OTHER_SIDE = 256, LARGE = 6, LARGE_BYTES = 8 << 20, BATCH = 64, CHAIN_NS = 5000, NODES = 400 };

truth_state truth;

void must(xp_status status, const xp_error *err)
{
  if (status != XP_OK) {
    fprintf(stderr, "truth: %s\n", err->text);
    exit(3);
  }
}

/* A stretch without an annotation of its own. */
#define UNNAMED LEDGER(truth.has_step ? "host" : "unknown", truth.has_step ? "round" : "")

/* ---------------------------------------------------------------- work of the device */

static void sync_tensor(xl_tensor tensor)
{
  xp_error err = {0};
  must(xl_sync_tensors(&tensor, 1, false, &err), &err);
}

static xl_tensor products(xl_tensor x, xl_tensor w)
{
  xl_tensor y = XL_NONE;
  XP_TRACE("fwd") {
    LEDGER("tracing", "fwd")
    {
      XL_POOL
      {
        y = xl_keep(xl_relu(xl_matmul(xl_relu(xl_matmul(xl_relu(xl_matmul(x, w)), w)), w)));
      }
    }
  }
  return y;
}

/* Frees what was computed, under no annotation. */
static void drop(xl_tensor tensor)
{
  UNNAMED
  {
    xl_free(tensor);
  }
}

/* The usual work: a small program that is there already.  The end of the step is its barrier if there is one. */
static void build_work(void)
{
  drop(truth.result);
  truth.result = products(truth.x, truth.w);
}

xp_trace begin_round(bool has_step, int64_t number)
{
  const xp_trace step = has_step ? xp_step_begin("round", number) : (xp_trace){0};
  truth.has_step = has_step;
  UNNAMED
  {
    ledger_mark();
  }
  return step;
}

void end_round(xp_trace step)
{
  xp_error err = {0};
  build_work();
  if (truth.has_step) {
    LEDGER("tracing", "round")
    {
      must(xp_trace_end(step, &err), &err);
    }
  } else {
    LEDGER("tracing", "")
    {
      must(xl_sync(false, &err), &err);
    }
  }
  truth.has_step = false;
}

/* ---------------------------------------------------------------- acts */

static void sleep_ns(int64_t length_ns)
{
  nanosleep(&(struct timespec){length_ns / XP_NS_IN_S, length_ns % XP_NS_IN_S}, NULL);
}

void act_sleep(int64_t length_ns)
{
  XP_TRACE("watermark") {
    LEDGER("host", "watermark")
    {
      sleep_ns(length_ns);
    }
  }
}

void act_compute(int64_t length_ns)
{
  XP_TRACE("tokenize") {
    LEDGER("host", "tokenize")
    {
      const int64_t end_ns = xp_monotonic_ns() + length_ns;
      for (volatile uint64_t sum = 0; xp_monotonic_ns() < end_ns; sum = sum * 31 + 1) {
      }
    }
  }
}

/* Builds nodes that nobody asks for, in the scope of nodes that run. */
void act_trace(int64_t length_ns)
{
  XP_TRACE("fwd") {
    LEDGER("tracing", "fwd")
    {
      const int64_t end_ns = xp_monotonic_ns() + length_ns;
      while (xp_monotonic_ns() < end_ns) {
        XL_POOL
        {
          xl_tensor y = truth.x;
          for (int i = 0; i < NODES; i++) {
            y = xl_add(y, truth.x);
          }
        }
      }
    }
  }
}

/* A program that was never compiled before, and of some thousand operations on small tensors. */
void act_compile(int64_t length_ns)
{
  const int count = (int)(length_ns / CHAIN_NS) + truth.chains++;
  xl_tensor y = XL_NONE;
  XP_TRACE("fwd") {
    LEDGER("tracing", "fwd")
    {
      XL_POOL
      {
        y = xl_mean(truth.x);
        for (int i = 0; i < count; i++) {
          y = xl_add_scalar(y, 1);
        }
        xl_keep(y);
      }
    }
  }
  XP_TRACE("warm_up") {
    LEDGER("compile", "warm_up")
    {
      sync_tensor(y);
    }
  }
  drop(y);
}

void act_unnamed(int64_t length_ns)
{
  UNNAMED
  {
    sleep_ns(length_ns);
  }
}

static size_t large_for(int64_t length_ns)
{
  const int64_t i = length_ns / (4 * XP_NS_IN_MS);
  return i < LARGE ? (size_t)i : LARGE - 1;
}

void act_read(int64_t length_ns)
{
  xp_error err = {0};
  const size_t i = large_for(length_ns);
  XP_TRACE("readback") {
    LEDGER("value_request", "readback")
    {
      must(xl_to_host(truth.large[i], truth.host, (i + 1) * LARGE_BYTES, &err), &err);
    }
  }
}

void act_upload(int64_t length_ns)
{
  const int64_t elements = (int64_t)(large_for(length_ns) + 1) * LARGE_BYTES / 4;
  xl_tensor tensor = XL_NONE;
  XP_TRACE("batch") {
    LEDGER("upload", "batch")
    {
      tensor = xl_from_host(XL_F32, XL_SHAPE(elements), truth.host);
    }
    LEDGER("host", "batch")
    {
      xl_free(tensor);
    }
  }
}

void act_data_scope(int64_t length_ns)
{
  XP_TRACE("data") {
    LEDGER("input", "data")
    {
      sleep_ns(length_ns);
    }
  }
}

/* Waits for whatever the device has to do. */
void act_wait(int64_t length_ns)
{
  xp_error err = {0};
  (void)length_ns;
  XP_TRACE("settle") {
    LEDGER("wait", "settle")
    {
      must(xl_wait(&err), &err);
    }
  }
}

/* Reads one value of the work that was launched last. */
void act_peek(int64_t length_ns)
{
  static float values[SIDE * SIDE];
  xp_error err = {0};
  (void)length_ns;
  XP_TRACE("peek") {
    LEDGER("value_request", "peek")
    {
      must(xl_to_host(truth.result, values, sizeof values, &err), &err);
    }
  }
}

/* Turns to something else while the device has work and has not begun. */
void act_elsewhere(int64_t length_ns)
{
  act_sleep(truth.latency_ns + length_ns / 4);
}

void act_nothing(int64_t length_ns)
{
  (void)length_ns;
}

/* ---------------------------------------------------------------- input */

/* A source that fetches when it is asked to, and takes as long as it is told. */
static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int64_t length_ns; /* 0: nobody asks; -1: it ends */
  xl_loader *loader;
} source = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static xp_status fetch(void *context, xl_host_array *arrays, xp_error *err)
{
  static float values[BATCH];
  (void)context;
  (void)err;
  pthread_mutex_lock(&source.lock);
  while (source.length_ns == 0) {
    pthread_cond_wait(&source.changed, &source.lock);
  }
  const int64_t length_ns = source.length_ns;
  source.length_ns = length_ns > 0 ? 0 : length_ns;
  pthread_mutex_unlock(&source.lock);
  if (length_ns < 0) {
    return XP_ERR_EMPTY;
  }
  sleep_ns(length_ns);
  arrays[0] = (xl_host_array){XL_F32, XL_SHAPE(BATCH), values};
  return XP_OK;
}

static void ask_source(int64_t length_ns)
{
  pthread_mutex_lock(&source.lock);
  source.length_ns = length_ns;
  pthread_cond_signal(&source.changed);
  pthread_mutex_unlock(&source.lock);
}

void act_loader(int64_t length_ns)
{
  xp_error err = {0};
  UNNAMED
  {
    ask_source(length_ns);
  }
  LEDGER("input", truth.has_step ? "round" : "")
  {
    XL_POOL
    {
      xl_tensor batch;
      must(xl_loader_next(source.loader, &batch, &err), &err);
    }
  }
}

/* ---------------------------------------------------------------- another device */

/* Gives the other device work for about a time. */
static void occupy_other(int64_t length_ns)
{
  xl_device_use(truth.other);
  for (int64_t count = truth.other_ns > 0 ? length_ns / truth.other_ns + 1 : 1; count > 0; count--) {
    drop(truth.other_result);
    truth.other_result = products(truth.other_x, truth.other_w);
    LEDGER("tracing", truth.has_step ? "round" : "")
    {
      sync_tensor(truth.other_result);
    }
  }
  xl_device_use(truth.device);
}

void act_other_wait(int64_t length_ns)
{
  occupy_other(length_ns);
  act_wait(0);
}

void act_other_read(int64_t length_ns)
{
  static float values[OTHER_SIDE * OTHER_SIDE];
  xp_error err = {0};
  occupy_other(length_ns);
  XP_TRACE("gather") {
    LEDGER("value_request", "gather")
    {
      must(xl_to_host(truth.other_result, values, sizeof values, &err), &err);
    }
  }
}

/* ---------------------------------------------------------------- before and after */

/* Everything that acts need, and a run of all programs but those that are to be compiled: names are part of a program,
 * so in a step it is another one. */
void acts_begin(void)
{
  static float values[OTHER_SIDE * OTHER_SIDE];
  xp_error err = {0};
  for (int i = 0; i < OTHER_SIDE * OTHER_SIDE; i++) {
    values[i] = (float)(i % 7) * 0.01f;
  }
  truth.host = calloc(LARGE, LARGE_BYTES);
  memset(truth.host, 1, (size_t)LARGE * LARGE_BYTES);
  for (int64_t i = 0; i < LARGE; i++) {
    truth.large[i] = xl_from_host(XL_F32, XL_SHAPE((i + 1) * LARGE_BYTES / 4), truth.host);
  }
  truth.x = xl_from_host(XL_F32, XL_SHAPE(SIDE, SIDE), values);
  truth.w = xl_from_host(XL_F32, XL_SHAPE(SIDE, SIDE), values);
  xl_loader_options options = {.size = sizeof options, .array_count = 1, .fetch = fetch, .batches_ahead = 1};
  must(xl_loader_open(&options, &source.loader, &err), &err);
  if (truth.other != NULL) {
    xl_device_use(truth.other);
    truth.other_x = xl_from_host(XL_F32, XL_SHAPE(OTHER_SIDE, OTHER_SIDE), values);
    truth.other_w = xl_from_host(XL_F32, XL_SHAPE(OTHER_SIDE, OTHER_SIDE), values);
    xl_device_use(truth.device);
  }
  for (int has_step = 1; has_step >= 0; has_step--) {
    const xp_trace step = begin_round(has_step, 0);
    if (truth.other != NULL) {
      occupy_other(1);
    }
    end_round(step);
    act_wait(0);
  }
  if (truth.other != NULL) {
    const int64_t start_ns = xp_monotonic_ns();
    occupy_other(1);
    act_wait(0);
    truth.other_ns = xp_monotonic_ns() - start_ns;
  }
}

void acts_end(void)
{
  ask_source(-1);
  xl_loader_close(source.loader);
  free(truth.host);
}
