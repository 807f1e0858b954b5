/* Every allocation of the client fails once: the answer is "out of memory", no object of the plugin is left behind, and
 * work that has begun is not lost. */
#include "failing_links.h"
#include "pjrt_walk.h"

static const xp_pjrt_plugin *plugin;
static int failures;

static void walk_once(void)
{
  xp_error err = {0};
  atomic_store(&fake_object_count, 0);
  xp_status status = walk_plugin(plugin, &err);
  if (status != XP_OK) {
    assert_int_equal(status, XP_ERR_MEMORY);
    assert_contains(err.text, "Memory ran out");
    failures++;
  }
  assert_int_equal(fake.live, 0);
}

static void a_lack_of_memory_anywhere_leaves_nothing_behind(void **state)
{
  (void)state;
  xp_error err = {0};
  assert_int_equal(xp_pjrt_plugin_open(fake_get_api, "fake", &plugin, &err), XP_OK);
  fail_each(walk_once);
  assert_true(failures > 40);
}

static void a_lack_of_memory_while_opening_can_be_tried_again(void **state)
{
  (void)state;
  xp_error err = {0};
  atomic_store(&calls, 0);
  first_to_fail = last_to_fail = 1;
  assert_int_equal(xp_pjrt_plugin_open(fake_get_api, "fake", &plugin, &err), XP_ERR_MEMORY);
  first_to_fail = 0;
  assert_int_equal(fake.calls, 0);
  assert_int_equal(xp_pjrt_plugin_open(fake_get_api, "fake", &plugin, &err), XP_OK);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_lack_of_memory_anywhere_leaves_nothing_behind, fake_reset, fake_check),
      cmocka_unit_test_setup_teardown(a_lack_of_memory_while_opening_can_be_tried_again, fake_reset, fake_check),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
