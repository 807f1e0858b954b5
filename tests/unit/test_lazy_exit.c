/* Programs that end: with work in flight, with a loader that runs, in the middle of blocks, with and without a
 * shutdown.
 *
 * Each is a child process, which has to be over soon with the exit status that it gave itself; a sanitizer has another.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "lazy_testing.h"
#include "xlaprof/session.h"

enum { LIMIT_S = 60, GOOD = 7 };

/* Runs a function in a child, which exits behind it. */
static void ends_well(void (*program)(void))
{
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    alarm(LIMIT_S);
    program();
    exit(GOOD);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) {
    fail_msg("the program was ended by signal %d", WTERMSIG(status));
  }
  assert_int_equal(WEXITSTATUS(status), GOOD);
}

/* Half a second of work, which the device has just begun. */
static xl_tensor begin_long_work(void)
{
  xl_device_options options = XL_DEVICE_OPTIONS_INIT;
  options.options = (const char *const[]){"launch_latency_us", "100000", NULL};
  xp_error err = {0};
  must(xl_device_open(&options, NULL, &err), &err);
  xl_tensor x = vector(2, (const float[]){1, 2});
  for (int i = 0; i < 5; i++) {
    xl_add_(x, x);
    must(xl_sync(false, &err), &err);
  }
  return x;
}

static void end_with_work_in_flight(void)
{
  begin_long_work();
}

static void shut_down_with_work_in_flight(void)
{
  begin_long_work();
  xl_shutdown();
}

static void end_inside_of_blocks(void)
{
  xl_tensor x = begin_long_work();
  XL_POOL
  {
    XP_TRACE("fwd") {
      xl_add(x, x); /* pending */
      exit(GOOD);
    }
  }
}

static void end_while_recording(void)
{
  const xp_session_options options = XP_SESSION_OPTIONS_INIT;
  xp_error err = {0};
  must(xp_session_start(&options, &err), &err);
  begin_long_work();
}

static xp_status fetch_for_ever(void *context, xl_host_array *arrays, xp_error *err)
{
  static const float values[2] = {3, 4};
  (void)context;
  (void)err;
  usleep(1000);
  arrays[0] = (xl_host_array){XL_F32, XL_SHAPE(2), values};
  return XP_OK;
}

static xl_loader *take_one_batch(void)
{
  const xl_loader_options options = {.size = sizeof options, .array_count = 1, .fetch = fetch_for_ever};
  xl_loader *loader;
  xl_tensor batch;
  xp_error err = {0};
  must(xl_loader_open(&options, &loader, &err), &err);
  must(xl_loader_next(loader, &batch, &err), &err);
  return loader;
}

static void end_with_a_loader_that_runs(void)
{
  static xl_loader *loader; /* the program never closes it */
  loader = take_one_batch();
  (void)loader;
}

static void close_a_loader_and_shut_down(void)
{
  xl_loader_close(take_one_batch());
  xl_shutdown();
}

static void shut_down_twice(void)
{
  xl_shutdown();
  begin_long_work();
  xl_shutdown();
  xl_shutdown();
}

static void fork_while_a_loader_runs(void)
{
  xl_loader *loader = take_one_batch();
  const pid_t child = fork();
  if (child == 0) {
    xl_tensor batch;
    xp_error err = {0};
    const bool is_told = xl_loader_next(loader, &batch, &err) == XP_ERR_USAGE && strstr(err.text, "forked") != NULL;
    xl_loader_close(loader);
    xl_shutdown();
    _exit(is_told ? GOOD : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  xl_loader_close(loader);
  xl_shutdown();
  if (!WIFEXITED(status) || WEXITSTATUS(status) != GOOD) {
    exit(1);
  }
}

#define ENDS_WELL(program)                                                                                             \
  static void program##_is_fine(void **state)                                                                          \
  {                                                                                                                    \
    (void)state;                                                                                                       \
    ends_well(program);                                                                                                \
  }
ENDS_WELL(end_with_work_in_flight)
ENDS_WELL(shut_down_with_work_in_flight)
ENDS_WELL(end_inside_of_blocks)
ENDS_WELL(end_while_recording)
ENDS_WELL(end_with_a_loader_that_runs)
ENDS_WELL(close_a_loader_and_shut_down)
ENDS_WELL(shut_down_twice)
ENDS_WELL(fork_while_a_loader_runs)

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(end_with_work_in_flight_is_fine),
      cmocka_unit_test(shut_down_with_work_in_flight_is_fine),
      cmocka_unit_test(end_inside_of_blocks_is_fine),
      cmocka_unit_test(end_while_recording_is_fine),
      cmocka_unit_test(end_with_a_loader_that_runs_is_fine),
      cmocka_unit_test(close_a_loader_and_shut_down_is_fine),
      cmocka_unit_test(shut_down_twice_is_fine),
      cmocka_unit_test(fork_while_a_loader_runs_is_fine),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
