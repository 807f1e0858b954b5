/* A program that makes gaps of every class on purpose, captures itself, and writes down what it did.
 *
 *   truth SCENARIO SEED FOLDER
 *
 * A scenario is a device with options and a list of acts.  They are made in random order and with random lengths, some
 * of them two in one gap; before each the device is at work, is awaited, or has had a value read from it; behind each
 * it gets the next work.  FOLDER has the capture and the ledger then (see ledger.h); check.py compares them.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "ledger.h"
#include "xlaprof/lazy.h"
#include "xlaprof/session.h"

enum {
  SIDE = 160,
  OTHER_SIDE = 256,
  ROUNDS_MAX = 64,
  LARGE = 6,
  LARGE_BYTES = 8 << 20,
  BATCH = 64,
  CHAIN_NS = 5000,
  NODES = 400
};

static struct {
  uint64_t random;
  bool has_step;
  xl_device *device, *other;
  xl_tensor x, w, result;                   /* of the device's usual work */
  xl_tensor other_x, other_w, other_result; /* of the other device's */
  xl_tensor large[LARGE];                   /* of 1, 2, 3 .. times LARGE_BYTES */
  char *host;                               /* room for the largest */
  int chains;                               /* programs that were compiled */
  int64_t latency_ns;                       /* of launches, where it is what a scenario is about */
  int64_t other_ns;                         /* what one launch on the other device takes */
} t;

static void must(xp_status status, const xp_error *err)
{
  if (status != XP_OK) {
    fprintf(stderr, "truth: %s\n", err->text);
    exit(3);
  }
}

/* A stretch without an annotation of its own. */
#define UNNAMED LEDGER(t.has_step ? "host" : "unknown", t.has_step ? "round" : "")

/* ---------------------------------------------------------------- chance */

static uint64_t chance(uint64_t below)
{
  t.random ^= t.random << 13;
  t.random ^= t.random >> 7;
  t.random ^= t.random << 17;
  return (t.random >> 16) % below;
}

/* A length from 1.5 to 30 ms, as often below 6 ms as above. */
static int64_t some_length_ns(void)
{
  static const int64_t decades[] = {1500, 2500, 4000, 6000, 12000, 20000, 30000};
  const size_t i = chance(6);
  return 1000 * (decades[i] + (int64_t)chance((uint64_t)(decades[i + 1] - decades[i])));
}

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
  drop(t.result);
  t.result = products(t.x, t.w);
}

static xp_trace begin_round(bool has_step, int64_t number)
{
  const xp_trace step = has_step ? xp_step_begin("round", number) : (xp_trace){0};
  t.has_step = has_step;
  UNNAMED
  {
    ledger_mark();
  }
  return step;
}

static void end_round(xp_trace step)
{
  xp_error err = {0};
  build_work();
  if (t.has_step) {
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
  t.has_step = false;
}

/* ---------------------------------------------------------------- acts */

static void sleep_ns(int64_t length_ns)
{
  nanosleep(&(struct timespec){length_ns / XP_NS_IN_S, length_ns % XP_NS_IN_S}, NULL);
}

static void act_sleep(int64_t length_ns)
{
  XP_TRACE("watermark") {
    LEDGER("host", "watermark")
    {
      sleep_ns(length_ns);
    }
  }
}

static void act_compute(int64_t length_ns)
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
static void act_trace(int64_t length_ns)
{
  XP_TRACE("fwd") {
    LEDGER("tracing", "fwd")
    {
      const int64_t end_ns = xp_monotonic_ns() + length_ns;
      while (xp_monotonic_ns() < end_ns) {
        XL_POOL
        {
          xl_tensor y = t.x;
          for (int i = 0; i < NODES; i++) {
            y = xl_add(y, t.x);
          }
        }
      }
    }
  }
}

/* A program that was never compiled before, and of some thousand operations on small tensors. */
static void act_compile(int64_t length_ns)
{
  const int count = (int)(length_ns / CHAIN_NS) + t.chains++;
  xl_tensor y = XL_NONE;
  XP_TRACE("fwd") {
    LEDGER("tracing", "fwd")
    {
      XL_POOL
      {
        y = xl_mean(t.x);
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

static void act_unnamed(int64_t length_ns)
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

static void act_read(int64_t length_ns)
{
  xp_error err = {0};
  const size_t i = large_for(length_ns);
  XP_TRACE("readback") {
    LEDGER("value_request", "readback")
    {
      must(xl_to_host(t.large[i], t.host, (i + 1) * LARGE_BYTES, &err), &err);
    }
  }
}

static void act_upload(int64_t length_ns)
{
  const int64_t elements = (int64_t)(large_for(length_ns) + 1) * LARGE_BYTES / 4;
  xl_tensor tensor = XL_NONE;
  XP_TRACE("batch") {
    LEDGER("upload", "batch")
    {
      tensor = xl_from_host(XL_F32, XL_SHAPE(elements), t.host);
    }
    LEDGER("host", "batch")
    {
      xl_free(tensor);
    }
  }
}

static void act_data_scope(int64_t length_ns)
{
  XP_TRACE("data") {
    LEDGER("input", "data")
    {
      sleep_ns(length_ns);
    }
  }
}

/* Waits for whatever the device has to do. */
static void act_wait(int64_t length_ns)
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
static void act_peek(int64_t length_ns)
{
  static float values[SIDE * SIDE];
  xp_error err = {0};
  (void)length_ns;
  XP_TRACE("peek") {
    LEDGER("value_request", "peek")
    {
      must(xl_to_host(t.result, values, sizeof values, &err), &err);
    }
  }
}

/* Turns to something else while the device has work and has not begun. */
static void act_elsewhere(int64_t length_ns)
{
  act_sleep(t.latency_ns + length_ns / 4);
}

static void act_nothing(int64_t length_ns)
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

static void act_loader(int64_t length_ns)
{
  xp_error err = {0};
  UNNAMED
  {
    ask_source(length_ns);
  }
  LEDGER("input", t.has_step ? "round" : "")
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
  xl_device_use(t.other);
  for (int64_t count = t.other_ns > 0 ? length_ns / t.other_ns + 1 : 1; count > 0; count--) {
    drop(t.other_result);
    t.other_result = products(t.other_x, t.other_w);
    LEDGER("tracing", t.has_step ? "round" : "")
    {
      sync_tensor(t.other_result);
    }
  }
  xl_device_use(t.device);
}

static void act_other_wait(int64_t length_ns)
{
  occupy_other(length_ns);
  act_wait(0);
}

static void act_other_read(int64_t length_ns)
{
  static float values[OTHER_SIDE * OTHER_SIDE];
  xp_error err = {0};
  occupy_other(length_ns);
  XP_TRACE("gather") {
    LEDGER("value_request", "gather")
    {
      must(xl_to_host(t.other_result, values, sizeof values, &err), &err);
    }
  }
}

/* ---------------------------------------------------------------- scenarios */

typedef struct {
  const char *name;
  const char *chosen; /* the option of the device that has a random length, in us; NULL: none */
  const char *devices;
  struct {
    void (*act)(int64_t length_ns);
    int count;
  } acts[10];
} scenario;

static const scenario scenarios[] = {
    {"host", NULL, "1", {{act_sleep, 3}, {act_compute, 3}, {act_unnamed, 1}}},
    {"input", NULL, "1", {{act_data_scope, 2}, {act_loader, 3}, {act_sleep, 1}}},
    {"graph", NULL, "1", {{act_trace, 3}, {act_compile, 4}}},
    {"transfer", NULL, "1", {{act_read, 4}, {act_upload, 4}}},
    {"latency", "launch_latency_us", "1", {{act_elsewhere, 3}, {act_wait, 2}, {act_peek, 2}, {act_compute, 1}}},
    {"pause", "pause_us", "1", {{act_nothing, 2}, {act_wait, 2}, {act_sleep, 2}}},
    {"dispatch", "dispatch_us", "1", {{act_nothing, 3}, {act_wait, 2}, {act_compute, 2}}},
    {"devices", NULL, "2", {{act_other_wait, 3}, {act_other_read, 3}}},
};

static void open_devices(const scenario *s)
{
  xp_error err = {0};
  char slowdown[16], chosen[24];
  snprintf(slowdown, sizeof slowdown, "%d", 3 + (int)chance(5));
  const int64_t length_ns = s->chosen != NULL ? some_length_ns() : 1000 * (100 + (int64_t)chance(500));
  snprintf(chosen, sizeof chosen, "%lld", (long long)(length_ns / 1000));
  const char *option = s->chosen != NULL ? s->chosen : "launch_latency_us";
  const char *const texts[] = {"device_count", s->devices, "slowdown", slowdown, option, chosen, NULL};
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  options.options = texts;
  t.latency_ns = s->chosen != NULL && strcmp(s->chosen, "launch_latency_us") == 0 ? length_ns : 0;
  if (strcmp(s->devices, "2") == 0) {
    options.number = 1;
    must(xl_device_open(&options, &t.other, &err), &err);
  }
  options.number = 0;
  must(xl_device_open(&options, &t.device, &err), &err);
  printf("slowdown %s, %s %s\n", slowdown, option, chosen);
}

/* Everything that acts need, and a run of all programs but those that are to be compiled: names are part of a program,
 * so in a step it is another one. */
static void warm_up(void)
{
  static float values[OTHER_SIDE * OTHER_SIDE];
  xp_error err = {0};
  for (int i = 0; i < OTHER_SIDE * OTHER_SIDE; i++) {
    values[i] = (float)(i % 7) * 0.01f;
  }
  t.host = calloc(LARGE, LARGE_BYTES);
  memset(t.host, 1, (size_t)LARGE * LARGE_BYTES);
  for (int64_t i = 0; i < LARGE; i++) {
    t.large[i] = xl_from_host(XL_F32, XL_SHAPE((i + 1) * LARGE_BYTES / 4), t.host);
  }
  t.x = xl_from_host(XL_F32, XL_SHAPE(SIDE, SIDE), values);
  t.w = xl_from_host(XL_F32, XL_SHAPE(SIDE, SIDE), values);
  xl_loader_options options = {.size = sizeof options, .array_count = 1, .fetch = fetch, .batches_ahead = 1};
  must(xl_loader_open(&options, &source.loader, &err), &err);
  if (t.other != NULL) {
    xl_device_use(t.other);
    t.other_x = xl_from_host(XL_F32, XL_SHAPE(OTHER_SIDE, OTHER_SIDE), values);
    t.other_w = xl_from_host(XL_F32, XL_SHAPE(OTHER_SIDE, OTHER_SIDE), values);
    xl_device_use(t.device);
  }
  for (int has_step = 1; has_step >= 0; has_step--) {
    const xp_trace step = begin_round(has_step, 0);
    if (t.other != NULL) {
      occupy_other(1);
    }
    end_round(step);
    act_wait(0);
  }
  if (t.other != NULL) {
    const int64_t start_ns = xp_monotonic_ns();
    occupy_other(1);
    act_wait(0);
    t.other_ns = xp_monotonic_ns() - start_ns;
  }
}

/* The acts in random order. */
static size_t shuffle(const scenario *s, void (*acts[ROUNDS_MAX])(int64_t length_ns))
{
  size_t count = 0;
  for (size_t i = 0; s->acts[i].act != NULL; i++) {
    for (int k = 0; k < s->acts[i].count; k++) {
      acts[count++] = s->acts[i].act;
    }
  }
  for (size_t i = count - 1; i > 0; i--) {
    const size_t k = chance(i + 1);
    void (*other)(int64_t) = acts[i];
    acts[i] = acts[k];
    acts[k] = other;
  }
  return count;
}

static void perform(const scenario *s)
{
  void (*acts[ROUNDS_MAX])(int64_t length_ns);
  const size_t count = shuffle(s, acts);
  end_round(begin_round(false, 0));
  for (size_t i = 0; i < count;) {
    const xp_trace step = begin_round(chance(2) == 0, (int64_t)i + 1);
    const uint64_t prelude = s->chosen == NULL ? chance(3) : 2; /* what options make is left alone */
    if (prelude == 0) {
      act_wait(0);
    } else if (prelude == 1) {
      act_peek(0);
    }
    acts[i++](some_length_ns());
    if (i < count && s->chosen == NULL && chance(4) == 0) {
      acts[i++](some_length_ns());
    }
    end_round(step);
  }
  act_wait(0);
  ledger_mark();
}

static void run(const scenario *s, const char *folder)
{
  xp_error err = {0};
  xp_session_options session = XP_SESSION_OPTIONS_INIT;
  xp_export_options output = XP_EXPORT_OPTIONS_INIT;
  char ledger[4096];
  session.logdir = folder;
  output.write_trace_json = false;
  must(xp_session_start(&session, &err), &err);
  perform(s);
  must(xp_session_save(&output, NULL, &err), &err);
  snprintf(ledger, sizeof ledger, "%s/ledger.tsv", folder);
  if (ledger_write(ledger) != 0) {
    fprintf(stderr, "truth: %s can't be written\n", ledger);
    exit(3);
  }
}

int main(int argc, char **argv)
{
  for (size_t i = 0; argc == 4 && i < sizeof scenarios / sizeof scenarios[0]; i++) {
    if (strcmp(scenarios[i].name, argv[1]) != 0) {
      continue;
    }
    t.random = 0x9e3779b97f4a7c15u * ((uint64_t)atoll(argv[2]) * 8 + i + 1);
    xl_set_ir_debug(true);
    open_devices(&scenarios[i]);
    warm_up();
    run(&scenarios[i], argv[3]);
    ask_source(-1);
    xl_loader_close(source.loader);
    xl_shutdown();
    free(t.host);
    return 0;
  }
  fprintf(stderr, "usage: truth SCENARIO SEED FOLDER\n");
  return 2;
}
