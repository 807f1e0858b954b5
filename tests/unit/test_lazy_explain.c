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
  char text[16384], line[160];
  setenv("XL_DEBUG", "2", 1);
  xp_error err = {0};
  value_of(pending());
  XP_STEP("train", 1) {
    pending();
  }
  must(xl_compiled_begin("f", &err), &err);
  pending();
  const int at = __LINE__ + 1;
  must(xl_compiled_end(&err), &err);
  read_log(text, sizeof text);
  snprintf(line, sizeof line, "  %s (%s:%d)\n", __func__, __FILE__, at);
  assert_contains(text, line);
  assert_contains(text, "  user code trying to access a tensor's value before xl_sync\n");
  assert_contains(text, "  end of a step (XP_STEP)\n");
  assert_contains(text, "  compiled region\n");
  assert_contains(text, "Graph Name: f\n");
}

static void the_end_of_a_step_is_told_with_its_name_its_number_and_its_line(void **state)
{
  (void)state;
  char text[8192], line[160];
  setenv("XL_DEBUG", "1", 1);
  const int at = __LINE__ + 1;
  XP_STEP("train", 12) {
    pending();
  }
  read_log(text, sizeof text);
  snprintf(line, sizeof line, "Frame Triggered Execution: \nCompilation Analysis:   %s (%s:%d)\n", __func__, __FILE__,
           at);
  assert_contains(text, "  end of a step (XP_STEP)\n");
  assert_contains(text, "Compilation Analysis:   Step: train 12\n");
  assert_contains(text, line);
}

static void a_step_that_tells_no_place_has_its_name_alone(void **state)
{
  (void)state;
  char text[8192];
  setenv("XL_DEBUG", "1", 1);
  const xp_trace step = xp_step_begin_copy("epochs", 5, 3);
  pending();
  assert_int_equal(xp_trace_end(step, NULL), XP_OK);
  read_log(text, sizeof text);
  assert_contains(text, "Compilation Analysis:   Step: epoch 3\n");
  assert_null(strstr(text, "Frame Triggered"));
}

/* The first operation opens a device, and so does xl_device_open. */
static void is_refused(const char *part)
{
  xp_error err = {0};
  assert_int_equal(vector(1, (const float[]){1}).index, 0);
  assert_error(part);
  assert_int_not_equal(xl_device_open(NULL, NULL, &err), XP_OK);
  assert_contains(err.text, part);
}

static void a_variable_with_a_value_that_it_can_not_have_is_an_error(void **state)
{
  (void)state;
  static const struct {
    const char *name, *value, *part;
  } wrong[] = {
      {"XL_DEBUG", "foo", "XL_DEBUG is \"foo\"; it takes a number from 0 to 2."},
      {"XL_DEBUG", "3", "XL_DEBUG is \"3\""},
      {"XL_CACHE_SIZE", "x", "XL_CACHE_SIZE is \"x\"; it takes a number from 1"},
      {"XL_CACHE_SIZE", "0", "XL_CACHE_SIZE is \"0\""},
      {"XL_CACHE_SIZE", "12 programs", "XL_CACHE_SIZE is \"12 programs\""},
      {"XL_CACHE_SIZE", "99999999999999999999", "XL_CACHE_SIZE is"},
      {"XL_SCOPE_NUMBERING", "yes", "XL_SCOPE_NUMBERING is \"yes\"; it takes true, false or a number."},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    setenv(wrong[i].name, wrong[i].value, 1);
    is_refused(wrong[i].part);
    unsetenv(wrong[i].name);
  }
  setenv("XL_CACHE_SIZE", "", 1); /* none */
  setenv("XL_SCOPE_NUMBERING", "false", 1);
  assert_true(value_of(pending()) == 2);
  assert_int_equal(xl_cache().limit, 2048);
  unsetenv("XL_CACHE_SIZE");
  unsetenv("XL_SCOPE_NUMBERING");
}

static void a_file_that_can_not_be_opened_is_an_error_if_something_is_to_be_written(void **state)
{
  (void)state;
  setenv("XL_DEBUG_FILE", "/nowhere/log", 1);
  setenv("XL_DEBUG", "1", 1);
  is_refused("XL_DEBUG_FILE is \"/nowhere/log\", which can't be opened: No such file or directory.");
  setenv("XL_DEBUG", "0", 1);
  assert_true(value_of(pending()) == 2);
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
      cmocka_unit_test_setup_teardown(the_end_of_a_step_is_told_with_its_name_its_number_and_its_line, open_log,
                                      close_log),
      cmocka_unit_test_setup_teardown(a_step_that_tells_no_place_has_its_name_alone, open_log, close_log),
      cmocka_unit_test_setup_teardown(a_variable_with_a_value_that_it_can_not_have_is_an_error, open_log, close_log),
      cmocka_unit_test_setup_teardown(a_file_that_can_not_be_opened_is_an_error_if_something_is_to_be_written, open_log,
                                      close_log),
      cmocka_unit_test_setup_teardown(eager_operations_are_not_explained, open_log, close_log),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
