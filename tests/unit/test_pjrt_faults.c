/* Every function of a plugin fails, is missing, or answers with nothing: the error reaches the caller, names the
 * function, and leaves nothing behind.  The plugin is the test (fake_pjrt.h). */
#include "pjrt_walk.h"

static void everything_works_and_nothing_is_left(void **state)
{
  (void)state;
  xp_error err = {0};
  assert_ok(walk_plugin(open_plugin(), &err), &err);
  assert_int_equal(fake.live, 0);
}

static void an_error_of_any_function_reaches_the_caller(void **state)
{
  (void)state;
  for (size_t i = 4; i < FAKE_FUNCTIONS; i++) { /* behind those that are needed to open it */
    fake_reset(NULL);
    xp_error err = {0};
    char part[128];
    const xp_pjrt_plugin *plugin = open_plugin();
    fake.fails = fake_functions[i].name;
    xp_status status = walk_plugin(plugin, &err);
    if (fake_functions[i].kind == NEEDED) {
      assert_int_equal(status, XP_ERR_PEER);
      snprintf(part, sizeof part, "%s of the plugin fake failed: no chip (UNAVAILABLE)", fake.fails);
      assert_contains(err.text, part);
    } else {
      assert_ok(status, &err);
    }
    assert_int_equal(fake.live, 0);
  }
}

static void a_missing_function_is_named(void **state)
{
  (void)state;
  for (size_t i = 4; i < FAKE_FUNCTIONS; i++) {
    fake_reset(NULL);
    xp_error err = {0};
    char part[128];
    fake_table[fake_functions[i].offset / 8] = 0;
    xp_status status = walk_plugin(open_plugin(), &err);
    if (fake_functions[i].kind == NEEDED) {
      assert_int_equal(status, XP_ERR_FORMAT);
      snprintf(part, sizeof part, "The plugin fake (API 0.114) has no function %s;", fake_functions[i].name);
      assert_contains(err.text, part);
    } else {
      assert_ok(status, &err);
    }
    if (fake_functions[i].kind != DESTROYS) {
      assert_int_equal(fake.live, 0);
    }
    atomic_store(&fake.live, 0);
  }
}

static void functions_behind_the_end_of_the_table_are_missing(void **state)
{
  (void)state;
  static const struct {
    uint64_t size;
    const char *name; /* NULL: all that is needed is there */
  } cases[] = {{960, NULL},
               {984, NULL},
               {1144, NULL},
               {800, NULL},
               {799, "PJRT_Executable_Fingerprint"},
               {792, "PJRT_Executable_Fingerprint"},
               {768, "PJRT_Executable_OutputDimensions"},
               {120, "PJRT_Client_Create"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    fake_reset(NULL);
    xp_error err = {0};
    fake_table[0] = cases[i].size;
    xp_status status = walk_plugin(open_plugin(), &err);
    if (cases[i].name == NULL) {
      assert_ok(status, &err);
    } else {
      assert_int_equal(status, XP_ERR_FORMAT);
      assert_contains(err.text, cases[i].name);
    }
    assert_int_equal(fake.live, 0);
  }
}

static void an_answer_with_nothing_in_it_is_an_error(void **state)
{
  (void)state;
  static const char *const names[] = {"PJRT_Client_Create",
                                      "PJRT_Client_AddressableDevices",
                                      "PJRT_Device_GetDescription",
                                      "PJRT_Client_Compile",
                                      "PJRT_LoadedExecutable_GetExecutable",
                                      "PJRT_Executable_OutputElementTypes",
                                      "PJRT_Client_BufferFromHostBuffer",
                                      "PJRT_LoadedExecutable_Execute",
                                      "PJRT_Buffer_ToHostBuffer",
                                      "PJRT_Buffer_CopyToDevice",
                                      "PJRT_Buffer_Dimensions",
                                      "PJRT_Buffer_ReadyEvent",
                                      "PJRT_TopologyDescription_Create",
                                      "PJRT_TopologyDescription_GetDeviceDescriptions",
                                      "PJRT_Compile"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    fake_reset(NULL);
    xp_error err = {0};
    char part[128];
    const xp_pjrt_plugin *plugin = open_plugin();
    fake.empty = names[i];
    assert_int_equal(walk_plugin(plugin, &err), XP_ERR_FORMAT);
    snprintf(part, sizeof part, "%s of the plugin fake tells of no error and gives nothing", names[i]);
    assert_contains(err.text, part);
    assert_int_equal(fake.live, 0);
  }
}

static void numbers_that_contradict_each_other_are_an_error(void **state)
{
  (void)state;
  xp_error err = {0};
  fake.wrong_count = true;
  assert_int_equal(walk_plugin(open_plugin(), &err), XP_ERR_FORMAT);
  assert_contains(err.text, "tells of 3 outputs, and there are 2");
  fake.wrong_count = false;
  fake.empty_event = true;
  assert_int_equal(walk_plugin(open_plugin(), &err), XP_ERR_FORMAT);
  assert_contains(err.text, "PJRT_LoadedExecutable_Execute");
  fake.empty_event = false;
  fake.no_devices = true;
  assert_int_equal(walk_plugin(open_plugin(), &err), XP_ERR_NOT_FOUND);
  assert_contains(err.text, "no device");
}

/* ---------------------------------------------------------------- threads */

static void *walk_in_thread(void *plugin)
{
  xp_error err = {0};
  for (int i = 0; i < 20; i++) {
    assert_ok(walk_plugin(plugin, &err), &err);
  }
  return NULL;
}

static void threads_share_a_plugin(void **state)
{
  (void)state;
  pthread_t threads[2];
  void *plugin = (void *)(uintptr_t)open_plugin();
  for (int i = 0; i < 2; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, walk_in_thread, plugin), 0);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_check)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(everything_works_and_nothing_is_left),
      TEST(an_error_of_any_function_reaches_the_caller),
      TEST(a_missing_function_is_named),
      TEST(functions_behind_the_end_of_the_table_are_missing),
      TEST(an_answer_with_nothing_in_it_is_an_error),
      TEST(numbers_that_contradict_each_other_are_an_error),
      TEST(threads_share_a_plugin),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
