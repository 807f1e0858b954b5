/* Rows in one array; whoever adds one takes the next place.  Rows of a device's run are added by its own thread. */
#define _GNU_SOURCE
#include "ledger.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "device/execute.h"
#include "device/tracer.h"
#include "lazy/graph.h"

enum { ROWS = 1 << 18, DEVICES = 2 };

static ledger_row rows[ROWS];
static size_t row_count;
static int64_t launch_count[DEVICES], run_count[DEVICES];

/* How long this thread was ready to run while others had the processors, in all; 0 where the system does not say. */
static int64_t late_ns(void)
{
  static _Thread_local int file = -2;
  char text[80];
  long long late = 0;
  if (file == -2) {
    file = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
  }
  ssize_t length = file >= 0 ? pread(file, text, sizeof text - 1, 0) : 0;
  text[length > 0 ? length : 0] = '\0';
  return sscanf(text, "%*d %lld", &late) == 1 ? late : 0;
}

static void add(const ledger_row *row)
{
  size_t place = __atomic_fetch_add(&row_count, 1, __ATOMIC_RELAXED);
  if (place < ROWS) {
    rows[place] = *row;
  }
}

static ledger_row begin(const char *kind, int device)
{
  return (ledger_row){
      .kind = kind, .class = "", .scope = "", .device = device, .late_ns = -1, .start_ns = xp_monotonic_ns()};
}

static void end(ledger_row *row)
{
  row->end_ns = xp_monotonic_ns();
  add(row);
  row->kind = NULL;
}

ledger_row ledger_begin(const char *class, const char *scope)
{
  ledger_row row = begin("stretch", 0);
  row.class = class;
  row.scope = scope;
  return row;
}

void ledger_end(ledger_row *row)
{
  end(row);
}

void ledger_mark(void)
{
  ledger_row row = begin("mark", 0);
  row.late_ns = late_ns();
  end(&row);
}

int ledger_write(const char *path)
{
  FILE *file = fopen(path, "w");
  size_t count = __atomic_load_n(&row_count, __ATOMIC_RELAXED);
  if (file == NULL || count > ROWS) {
    return -1;
  }
  const int64_t monotonic_ns = xp_monotonic_ns(), unix_ns = xp_unix_ns();
  fprintf(file, "clock\t\t\t0\t0\t%lld\t%lld\t-1\n", (long long)monotonic_ns, (long long)unix_ns);
  for (size_t i = 0; i < count; i++) {
    const ledger_row *r = &rows[i];
    fprintf(file, "%s\t%s\t%s\t%d\t%lld\t%lld\t%lld\t%lld\n", r->kind, r->class, r->scope, r->device,
            (long long)r->number, (long long)r->start_ns, (long long)r->end_ns, (long long)r->late_ns);
  }
  return fclose(file) == 0 ? 0 : -1;
}

/* ---------------------------------------------------------------- what is wrapped (see CMakeLists.txt: --wrap) */

void __real_xl_graph_walk(xl_graph *graph, xl_root *roots, size_t count, bool may_donate);
void __wrap_xl_graph_walk(xl_graph *graph, xl_root *roots, size_t count, bool may_donate);
xp_abi_error *__real_xp_dev_execute(xp_abi_execute_args *args);
xp_abi_error *__wrap_xp_dev_execute(xp_abi_execute_args *args);
xp_status __real_xp_dev_plan_run(const xp_dev_plan *plan, const xp_dev_run *run, xp_error *err);
xp_status __wrap_xp_dev_plan_run(const xp_dev_plan *plan, const xp_dev_run *run, xp_error *err);
void __real_xp_dev_tracer_op(const xp_dev_traced_run *run, size_t plan_step, uint64_t start, uint64_t end);
void __wrap_xp_dev_tracer_op(const xp_dev_traced_run *run, size_t plan_step, uint64_t start, uint64_t end);

void __wrap_xl_graph_walk(xl_graph *graph, xl_root *roots, size_t count, bool may_donate)
{
  ledger_row row = begin("walk", 0);
  __real_xl_graph_walk(graph, roots, count, may_donate);
  end(&row);
}

xp_abi_error *__wrap_xp_dev_execute(xp_abi_execute_args *args)
{
  const xp_abi_loaded_executable *executable = args->executable;
  ledger_row row = begin("execute", executable->device->ordinal);
  row.number = launch_count[row.device]++; /* one thread launches */
  xp_abi_error *error = __real_xp_dev_execute(args);
  end(&row);
  return error;
}

/* The device's own callbacks, and the operation that is being executed. */
typedef struct {
  const xp_dev_run *run;
  ledger_row op;
  int64_t number;
} watched;

static _Thread_local watched *watching; /* by this device's thread */

static int before_op(void *context, size_t step)
{
  watched *w = context;
  int answer = w->run->before(w->run->context, step);
  w->op = begin("op", (int)w->run->seed);
  w->op.number = w->number;
  watching = w;
  return answer;
}

static void after_op(void *context, size_t step)
{
  watched *w = context;
  w->run->after(w->run->context, step);
  watching = NULL;
  if (w->op.end_ns == 0) {
    w->op.end_ns = xp_monotonic_ns();
  }
  add(&w->op);
}

/* The operation is over; what its recording takes is idleness of the device. */
void __wrap_xp_dev_tracer_op(const xp_dev_traced_run *run, size_t plan_step, uint64_t start, uint64_t end_ticks)
{
  watching->op.end_ns = xp_monotonic_ns();
  __real_xp_dev_tracer_op(run, plan_step, start, end_ticks);
}

xp_status __wrap_xp_dev_plan_run(const xp_dev_plan *plan, const xp_dev_run *run, xp_error *err)
{
  watched w = {.run = run, .number = run_count[run->seed]++}; /* the seed is the device's number */
  xp_dev_run own = *run;
  own.before = before_op;
  own.after = after_op;
  own.context = &w;
  ledger_row row = begin("run", (int)run->seed);
  row.number = w.number;
  xp_status status = __real_xp_dev_plan_run(plan, &own, err);
  row.late_ns = late_ns();
  end(&row);
  return status;
}
