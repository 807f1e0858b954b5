/* A program that trains, with its profiler server on: fits a straight line by gradient descent, step by step.
 *
 *   build/examples/train [--port N] [--steps N] [--logdir DIR] [--step-ms N]
 *
 * While it runs, ask it from another terminal:
 *
 *   xlaprof counters localhost:9012
 *   xlaprof capture localhost:9012 logs
 *   xlaprof report logs
 *
 * With --logdir it captures its own first steps, too.  What the profiler sees is what is annotated here: a step, three
 * traces in it, and a thread that loads the data and hands it over (a flow).
 */
#define _GNU_SOURCE /* pthread_setname_np */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xlaprof/xlaprof.h>

enum { BATCH = 4096 };

typedef struct {
  float x[BATCH], y[BATCH];
} batch;

typedef struct {
  int port, steps, step_ms;
  const char *logdir;
} settings;

/* ---- data: a thread that is one batch ahead */

typedef struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  batch next;
  uint64_t flow; /* of the batch that is ready; 0: none is */
  bool is_done;
} loader;

static void fill(batch *b, unsigned *seed)
{
  for (int i = 0; i < BATCH; i++) {
    float noise = (float)rand_r(seed) / (float)RAND_MAX - 0.5f;
    b->x[i] = (float)rand_r(seed) / (float)RAND_MAX;
    b->y[i] = 3.0f * b->x[i] + 2.0f + 0.1f * noise;
  }
}

static void *load(void *context)
{
  loader *l = context;
  unsigned seed = 1;
  batch made;
  pthread_setname_np(pthread_self(), "loader"); /* what its line in the capture is called */
  for (bool is_done = false; !is_done;) {
    uint64_t flow = xp_flow_new();
    XP_TRACE("load", XP_FLOW_OUT(flow), XP_INT("examples", BATCH)) {
      fill(&made, &seed);
    }
    pthread_mutex_lock(&l->lock);
    while (l->flow != 0 && !l->is_done) {
      pthread_cond_wait(&l->changed, &l->lock);
    }
    l->next = made;
    l->flow = flow;
    is_done = l->is_done;
    pthread_cond_broadcast(&l->changed);
    pthread_mutex_unlock(&l->lock);
  }
  return NULL;
}

static void take(loader *l, batch *b)
{
  pthread_mutex_lock(&l->lock);
  while (l->flow == 0) {
    pthread_cond_wait(&l->changed, &l->lock);
  }
  XP_TRACE("take", XP_FLOW_IN(l->flow)) {
    *b = l->next;
    l->flow = 0;
  }
  pthread_cond_broadcast(&l->changed);
  pthread_mutex_unlock(&l->lock);
}

static void finish(loader *l)
{
  pthread_mutex_lock(&l->lock);
  l->is_done = true;
  pthread_cond_broadcast(&l->changed);
  pthread_mutex_unlock(&l->lock);
}

/* ---- the model: y = a x + b */

typedef struct {
  float a, b;
} model;

/* Gradient of the mean squared error, and the error itself. */
static float gradient(const model *m, const batch *b, model *grad)
{
  double ga = 0, gb = 0, loss = 0;
  for (int i = 0; i < BATCH; i++) {
    float error = m->a * b->x[i] + m->b - b->y[i];
    ga += 2 * error * b->x[i];
    gb += 2 * error;
    loss += error * error;
  }
  *grad = (model){(float)(ga / BATCH), (float)(gb / BATCH)};
  return (float)(loss / BATCH);
}

/* The rest of a step's time, where a real program would wait for its device. */
static void pretend_device(int ms)
{
  if (ms > 0) {
    XP_TRACE("device") {
      struct timespec t = {ms / 1000, ms % 1000 * 1000000L};
      nanosleep(&t, NULL);
    }
  }
}

static float train_step(const settings *s, loader *data, model *m, int step)
{
  static batch b;
  float loss = 0;
  XP_STEP("train", step) {
    model grad;
    take(data, &b);
    XP_TRACE("gradient") {
      loss = gradient(m, &b, &grad);
    }
    XP_TRACE("update", XP_DOUBLE("loss", loss)) {
      m->a -= 0.5f * grad.a;
      m->b -= 0.5f * grad.b;
    }
    pretend_device(s->step_ms);
  }
  return loss;
}

static void train(const settings *s, loader *data)
{
  model m = {0, 0};
  xp_counter_handle *steps = xp_counter_get("Steps");
  xp_metric_handle *time = xp_metric_get("StepTime", XP_METRIC_TIME);
  for (int step = 0; step < s->steps; step++) {
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    float loss = train_step(s, data, &m, step);
    clock_gettime(CLOCK_MONOTONIC, &to);
    xp_counter_add(steps, 1);
    xp_metric_add(time, (double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec));
    if (step % 100 == 0) {
      printf("step %d: loss %.6f, y = %.3f x + %.3f\n", step, (double)loss, (double)m.a, (double)m.b);
      fflush(stdout);
    }
  }
  printf("done: y = %.3f x + %.3f\n", (double)m.a, (double)m.b);
}

/* ---- the program */

static bool read_settings(int count, char **words, settings *s)
{
  for (int i = 1; i + 1 < count; i += 2) {
    if (strcmp(words[i], "--port") == 0) {
      s->port = atoi(words[i + 1]);
    } else if (strcmp(words[i], "--steps") == 0) {
      s->steps = atoi(words[i + 1]);
    } else if (strcmp(words[i], "--step-ms") == 0) {
      s->step_ms = atoi(words[i + 1]);
    } else if (strcmp(words[i], "--logdir") == 0) {
      s->logdir = words[i + 1];
    } else {
      return false;
    }
  }
  return count % 2 == 1 && s->port >= 0 && s->port < 65536;
}

static int fail(const xp_error *err)
{
  fprintf(stderr, "train: %s\n", err->text);
  return 1;
}

static int run(const settings *s)
{
  xp_error err = {XP_OK, ""};
  xp_server_options server_options = XP_SERVER_OPTIONS_INIT;
  xp_session_options session = XP_SESSION_OPTIONS_INIT;
  xp_server *server;
  static loader data = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  pthread_t loading;

  server_options.port = (uint16_t)s->port;
  if (xp_server_start(&server_options, &server, &err) != XP_OK) {
    return fail(&err);
  }
  printf("profiler server on port %u\n", xp_server_port(server));
  fflush(stdout);
  session.logdir = s->logdir;
  if (s->logdir != NULL && xp_session_start(&session, &err) != XP_OK) {
    return fail(&err);
  }
  if (pthread_create(&loading, NULL, load, &data) != 0) {
    return 1;
  }
  train(s, &data);
  finish(&data);
  pthread_join(loading, NULL);
  if (s->logdir != NULL && xp_session_save(NULL, NULL, &err) != XP_OK) {
    return fail(&err);
  }
  xp_server_stop(server);
  return 0;
}

int main(int argc, char **argv)
{
  settings s = {.port = 9012, .steps = 2000, .step_ms = 5};
  if (!read_settings(argc, argv, &s)) {
    fprintf(stderr, "usage: train [--port N] [--steps N] [--step-ms N] [--logdir DIR]\n");
    return 2;
  }
  return run(&s);
}
