/* Opening plugins: what is accepted, what is refused and why, and that each is initialised once. */
#include "fake_pjrt.h"

static const xp_pjrt_plugin *open_plugin(void)
{
  const xp_pjrt_plugin *plugin = NULL;
  xp_error err = {0};
  if (xp_pjrt_plugin_open(fake_get_api, "fake", &plugin, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  return plugin;
}

static void assert_not_opened(xp_status status, const char *part)
{
  const xp_pjrt_plugin *plugin = NULL;
  xp_error err = {0};
  assert_int_equal(xp_pjrt_plugin_open(fake_get_api, "fake", &plugin, &err), status);
  assert_null(plugin);
  assert_contains(err.text, part);
  assert_contains(err.text, "fake");
}

static void set_version(int major, int minor)
{
  int version[2] = {major, minor};
  memcpy(&fake_table[4], version, sizeof version);
}

static void a_plugin_is_opened_once_and_initialised_once(void **state)
{
  (void)state;
  const xp_pjrt_plugin *plugin = open_plugin();
  assert_ptr_equal(open_plugin(), plugin);
  assert_int_equal(fake.calls, 1);
  assert_string_equal(xp_pjrt_plugin_name(plugin), "fake");
  assert_ptr_equal(xp_pjrt_plugin_api(plugin), fake_table);
  fake_reset(NULL);
  assert_ptr_not_equal(open_plugin(), plugin);
}

static void *open_in_thread(void *plugin)
{
  *(const xp_pjrt_plugin **)plugin = open_plugin();
  return NULL;
}

static void threads_that_open_a_plugin_at_once_get_the_same(void **state)
{
  (void)state;
  const xp_pjrt_plugin *plugins[4];
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, open_in_thread, &plugins[i]), 0);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
    assert_ptr_equal(plugins[i], plugins[0]);
  }
  assert_int_equal(fake.calls, 1);
}

static void a_plugin_that_refuses_is_asked_again(void **state)
{
  (void)state;
  fake.fails = "PJRT_Plugin_Initialize";
  assert_not_opened(XP_ERR_PEER, "PJRT_Plugin_Initialize of the plugin fake failed: no chip (UNAVAILABLE)");
  fake.fails = NULL;
  open_plugin();
  assert_int_equal(fake.calls, 2);
}

static void old_and_unknown_versions_are_refused(void **state)
{
  (void)state;
  set_version(0, 56);
  assert_not_opened(XP_ERR_FORMAT, "PJRT API 0.56; 0.57 and later");
  set_version(1, 114);
  assert_not_opened(XP_ERR_FORMAT, "PJRT API 1.114");
  set_version(0, 57);
  open_plugin();
  fake_reset(NULL);
  set_version(0, 900);
  open_plugin();
}

static void tables_that_are_too_small_are_refused(void **state)
{
  (void)state;
  fake_table[0] = 39;
  assert_not_opened(XP_ERR_FORMAT, "PJRT_Api of 39 bytes");
  fake_table[0] = 40;
  assert_not_opened(XP_ERR_FORMAT, "has no function PJRT_Error_Destroy");
  fake_table[0] = 64;
  assert_not_opened(XP_ERR_FORMAT, "has no function PJRT_Plugin_Initialize");
  fake_table[0] = 72;
  fake_table[2] = 16;
  assert_not_opened(XP_ERR_FORMAT, "a version of 16");
  fake_table[2] = 24;
  open_plugin();
}

static void functions_that_tell_of_errors_must_be_there(void **state)
{
  (void)state;
  static const char *const names[] = {"PJRT_Error_Destroy", "PJRT_Error_Message", "PJRT_Error_GetCode",
                                      "PJRT_Plugin_Initialize"};
  for (size_t i = 0; i < 4; i++) {
    uint64_t kept = fake_table[5 + i];
    fake_table[5 + i] = 0;
    assert_not_opened(XP_ERR_FORMAT, names[i]);
    fake_table[5 + i] = kept;
  }
}

static const xp_abi_api *no_api(void)
{
  return NULL;
}

static void a_plugin_without_a_table_is_refused(void **state)
{
  (void)state;
  const xp_pjrt_plugin *plugin = NULL;
  xp_error err = {0};
  assert_int_equal(xp_pjrt_plugin_open(no_api, "empty", &plugin, &err), XP_ERR_FORMAT);
  assert_contains(err.text, "GetPjrtApi of the plugin empty returned NULL");
}

static void a_path_that_is_no_plugin_is_an_error(void **state)
{
  (void)state;
  const xp_pjrt_plugin *plugin = NULL;
  xp_error err = {0};
  assert_int_equal(xp_pjrt_plugin_load("/nowhere/plugin.so", &plugin, &err), XP_ERR_IO);
  assert_contains(err.text, "/nowhere/plugin.so");
  assert_int_equal(xp_pjrt_plugin_load("libm.so.6", &plugin, &err), XP_ERR_FORMAT);
  assert_contains(err.text, "libm.so.6 is a library without GetPjrtApi");
}

static void the_text_of_an_error_is_one_line_and_not_too_long(void **state)
{
  (void)state;
  static char text[2000];
  memset(text, 'x', sizeof text - 1);
  memcpy(text, "\n one\ntwo\tthree ", 16);
  fake.text = text;
  fake.fails = "PJRT_Plugin_Initialize";
  assert_not_opened(XP_ERR_PEER, "failed: one two three xxxx");
  assert_not_opened(XP_ERR_PEER, "xxxx (UNAVAILABLE)");
  fake.text = NULL;
  fake.code_fails = true;
  assert_not_opened(XP_ERR_PEER, "failed: it does not say why (a code that is not known)");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_plugin_is_opened_once_and_initialised_once, fake_reset, fake_check),
      cmocka_unit_test_setup_teardown(threads_that_open_a_plugin_at_once_get_the_same, fake_reset, fake_check),
      cmocka_unit_test_setup_teardown(a_plugin_that_refuses_is_asked_again, fake_reset, fake_check),
      cmocka_unit_test_setup_teardown(old_and_unknown_versions_are_refused, fake_reset, fake_check),
      cmocka_unit_test_setup_teardown(tables_that_are_too_small_are_refused, fake_reset, fake_check),
      cmocka_unit_test_setup_teardown(functions_that_tell_of_errors_must_be_there, fake_reset, fake_check),
      cmocka_unit_test_setup_teardown(a_plugin_without_a_table_is_refused, fake_reset, fake_check),
      cmocka_unit_test_setup_teardown(a_path_that_is_no_plugin_is_an_error, fake_reset, fake_check),
      cmocka_unit_test_setup_teardown(the_text_of_an_error_is_one_line_and_not_too_long, fake_reset, fake_check),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
