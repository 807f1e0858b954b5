/* XL_DEBUG: why programs are compiled and run.  The form is that of torch_xla's PT_XLA_DEBUG_LEVEL
 * (torch_xla/csrc/debug_util.cpp). */
#include <unistd.h>

#include "lazy_testing.h"

static char path[64];

static int open_log(void **state)
{
  (void)state;
  snprintf(path, sizeof path, "/tmp/xl_debug_%d", (int)getpid());
  unlink(path);
  setenv("XL_DEBUG_FILE", path, 1);
  return 0;
}

static int close_log(void **state)
{
  unlink(path);
  unsetenv("XL_DEBUG_FILE");
  unsetenv("XL_DEBUG");
  return end_lazy(state);
}

static void read_log(char *text, size_t room)
{
  FILE *file = fopen(path, "r");
  text[file != NULL ? fread(text, 1, room - 1, file) : 0] = '\0';
  if (file != NULL) {
    fclose(file);
  }
}

static size_t count_of(const char *text, const char *part)
{
  size_t count = 0;
  for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part)) {
    count++;
  }
  return count;
}

static xl_tensor pending(void)
{
  static const float one[] = {1};
  return xl_add(vector(1, one), vector(1, one));
}

static void level_2_has_a_block_for_the_compile_and_one_for_every_execution(void **state)
{
  (void)state;
  char text[8192], line[128];
  setenv("XL_DEBUG", "2", 1);
  pending();
  sync_now();
  const int at = __LINE__ + 3;
  pending();
  xp_error err = {0};
  must(xl_sync(false, &err), &err);
  read_log(text, sizeof text);
  assert_int_equal(count_of(text, "Compilation Analysis: Compilation Cause\n"), 1);
  assert_int_equal(count_of(text, "Execution Analysis: Execution Cause\nExecution Analysis:   user xl_sync\n"), 2);
  assert_int_equal(count_of(text, "Number of Graph Inputs: 2\n"), 3);
  assert_int_equal(count_of(text, "Number of Graph Outputs: 1\n"), 3);
  snprintf(line, sizeof line, "(%s:%d)", __FILE__, at);
  assert_contains(text, line);
}

static void level_1_has_compiles_alone(void **state)
{
  (void)state;
  char text[8192];
  setenv("XL_DEBUG", "1", 1);
  pending();
  sync_now();
  read_log(text, sizeof text);
  assert_int_equal(count_of(text, "Compilation Analysis: Compilation Cause\n"), 1);
  assert_null(strstr(text, "Execution Analysis"));
}

static void a_value_a_step_and_a_region_are_told_apart(void **state)
{
  (void)state;
  char text[16384];
  setenv("XL_DEBUG", "2", 1);
  xp_error err = {0};
  value_of(pending());
  XP_STEP("train", 1) {
    pending();
  }
  must(xl_compiled_begin("f", &err), &err);
  pending();
  must(xl_compiled_end(&err), &err);
  read_log(text, sizeof text);
  assert_contains(text, "  user code trying to access a tensor's value before xl_sync\n");
  assert_contains(text, "  end of a step (XP_STEP)\n");
  assert_contains(text, "  compiled region\n");
  assert_contains(text, "Graph Name: f\n");
}

static void eager_operations_are_not_explained(void **state)
{
  (void)state;
  char text[8192];
  setenv("XL_DEBUG", "2", 1);
  xl_set_eager(true);
  pending();
  sync_now();
  read_log(text, sizeof text);
  assert_string_equal(text, "");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(level_2_has_a_block_for_the_compile_and_one_for_every_execution, open_log,
                                      close_log),
      cmocka_unit_test_setup_teardown(level_1_has_compiles_alone, open_log, close_log),
      cmocka_unit_test_setup_teardown(a_value_a_step_and_a_region_are_told_apart, open_log, close_log),
      cmocka_unit_test_setup_teardown(eager_operations_are_not_explained, open_log, close_log),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
