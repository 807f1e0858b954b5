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

enum { ROWS = 1 << 18, DEVICES = 2 };

static ledger_row rows[ROWS];
static size_t row_count;
static int64_t launch_count[DEVICES], run_count[DEVICES];

/* How long this thread was ready to run while others had the processors; 0 where the system does not say. */
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
  ledger_row row = {.kind = kind, .class = "", .scope = "", .device = device, .late_from_ns = late_ns()};
  row.start_ns = xp_monotonic_ns();
  return row;
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
  row->end_ns = xp_monotonic_ns();
  row->late_to_ns = late_ns();
  add(row);
  row->kind = NULL;
}

int ledger_write(const char *path)
{
  FILE *file = fopen(path, "w");
  size_t count = __atomic_load_n(&row_count, __ATOMIC_RELAXED);
  if (file == NULL || count > ROWS) {
    return -1;
  }
  const int64_t monotonic_ns = xp_monotonic_ns(), unix_ns = xp_unix_ns();
  fprintf(file, "clock\t\t\t0\t0\t%lld\t%lld\t0\t0\n", (long long)monotonic_ns, (long long)unix_ns);
  for (size_t i = 0; i < count; i++) {
    const ledger_row *r = &rows[i];
    fprintf(file, "%s\t%s\t%s\t%d\t%lld\t%lld\t%lld\t%lld\t%lld\n", r->kind, r->class, r->scope, r->device,
            (long long)r->number, (long long)r->start_ns, (long long)r->end_ns, (long long)r->late_from_ns,
            (long long)r->late_to_ns);
  }
  return fclose(file) == 0 ? 0 : -1;
}

/* ---------------------------------------------------------------- the device (see CMakeLists.txt: --wrap) */

xp_abi_error *__real_xp_dev_compile(xp_abi_client_compile_args *args);
xp_abi_error *__wrap_xp_dev_compile(xp_abi_client_compile_args *args);
xp_abi_error *__real_xp_dev_execute(xp_abi_execute_args *args);
xp_abi_error *__wrap_xp_dev_execute(xp_abi_execute_args *args);
xp_status __real_xp_dev_plan_run(const xp_dev_plan *plan, const xp_dev_run *run, xp_error *err);
xp_status __wrap_xp_dev_plan_run(const xp_dev_plan *plan, const xp_dev_run *run, xp_error *err);

xp_abi_error *__wrap_xp_dev_compile(xp_abi_client_compile_args *args)
{
  ledger_row row = begin("compile", 0);
  xp_abi_error *error = __real_xp_dev_compile(args);
  ledger_end(&row);
  return error;
}

xp_abi_error *__wrap_xp_dev_execute(xp_abi_execute_args *args)
{
  const xp_abi_loaded_executable *executable = args->executable;
  ledger_row row = begin("execute", executable->device->ordinal);
  row.number = launch_count[row.device]++; /* one thread launches */
  xp_abi_error *error = __real_xp_dev_execute(args);
  ledger_end(&row);
  return error;
}

/* The device's own callbacks, and the operation that is being executed. */
typedef struct {
  const xp_dev_run *run;
  ledger_row op;
  int64_t number;
} watched;

static int before_op(void *context, size_t step)
{
  watched *w = context;
  int answer = w->run->before(w->run->context, step);
  w->op = (ledger_row){.kind = "op", .class = "", .scope = "", .device = (int)w->run->seed, .number = w->number};
  w->op.start_ns = xp_monotonic_ns();
  return answer;
}

static void after_op(void *context, size_t step)
{
  watched *w = context;
  w->run->after(w->run->context, step);
  w->op.end_ns = xp_monotonic_ns();
  add(&w->op);
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
  ledger_end(&row);
  return status;
}
