/* A program that makes gaps of every class on purpose, captures itself, and writes down what it did.
 *
 *   truth SCENARIO SEED FOLDER
 *
 * A scenario is a device with options and a list of acts.  They are made in random order and with random lengths, some
 * of them two in one gap; before each the device is at work, is awaited, or has had a value read from it; behind each
 * it gets the next work.  FOLDER has the capture and the ledger then (see ledger.h); check.py compares them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "acts.h"
#include "ledger.h"
#include "xlaprof/session.h"

enum { ROUNDS_MAX = 64 };

/* ---------------------------------------------------------------- chance */

static uint64_t random_state;

static uint64_t chance(uint64_t below)
{
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (random_state >> 16) % below;
}

/* A length from 1.5 to 30 ms, as often below 6 ms as above. */
static int64_t some_length_ns(void)
{
  static const int64_t bounds[] = {1500, 2500, 4000, 6000, 12000, 20000, 30000};
  const size_t i = chance(6);
  return 1000 * (bounds[i] + (int64_t)chance((uint64_t)(bounds[i + 1] - bounds[i])));
}

/* ---------------------------------------------------------------- scenarios */

typedef struct {
  const char *name;
  const char *chosen; /* the option of the device that has a random length, in us; NULL: none */
  const char *devices;
  struct {
    truth_act *act;
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
  truth.latency_ns = s->chosen != NULL && strcmp(s->chosen, "launch_latency_us") == 0 ? length_ns : 0;
  if (strcmp(s->devices, "2") == 0) {
    options.number = 1;
    must(xl_device_open(&options, &truth.other, &err), &err);
  }
  options.number = 0;
  must(xl_device_open(&options, &truth.device, &err), &err);
  printf("slowdown %s, %s %s\n", slowdown, option, chosen);
}

/* The acts in random order. */
static size_t shuffle(const scenario *s, truth_act *acts[ROUNDS_MAX])
{
  size_t count = 0;
  for (size_t i = 0; s->acts[i].act != NULL; i++) {
    for (int k = 0; k < s->acts[i].count; k++) {
      acts[count++] = s->acts[i].act;
    }
  }
  for (size_t i = count - 1; i > 0; i--) {
    const size_t k = chance(i + 1);
    truth_act *other = acts[i];
    acts[i] = acts[k];
    acts[k] = other;
  }
  return count;
}

static void perform(const scenario *s)
{
  truth_act *acts[ROUNDS_MAX];
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
    random_state = 0x9e3779b97f4a7c15u * ((uint64_t)atoll(argv[2]) * 8 + i + 1);
    xl_set_ir_debug(true);
    open_devices(&scenarios[i]);
    acts_begin();
    run(&scenarios[i], argv[3]);
    acts_end();
    xl_shutdown();
    return 0;
  }
  fprintf(stderr, "usage: truth SCENARIO SEED FOLDER\n");
  return 2;
}
