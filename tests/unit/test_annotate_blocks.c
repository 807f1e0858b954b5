/* Blocks end on every way out of them. */
#include "recorded.h"

static int barrier_calls;

static xp_status count_call(void *context, xp_error *err)
{
  (void)context;
  (void)err;
  assert_int_equal(xp_scope_depth(), 0);
  barrier_calls++;
  return XP_OK;
}

static int set_up(void **state)
{
  (void)state;
  barrier_calls = 0;
  xp_set_step_barrier(&(xp_step_barrier){count_call, NULL});
  start(1, false, MIB);
  return 0;
}

/* Fails unless all is closed and these events are there, none of them unfinished. */
static void check_closed(const char *names)
{
  assert_int_equal(xp_scope_depth(), 0);
  xp_recording *recording = stop();
  xp_set_step_barrier(NULL);
  events list = events_of(recording, 0);
  assert_names(&list, names);
  for (size_t i = 0; i < list.count; i++) {
    assert_false(list.all[i].unfinished);
  }
  events_free(&list);
  xp_recording_free(recording);
}

static void break_leaves_the_block(void **state)
{
  (void)state;
  int reached = 0;
  for (int i = 0; i < 2; i++) {
    XP_STEP("s", i) {
      XP_REGION("r") {
        if (i >= 0) {
          break;
        }
        reached += 100;
      }
      reached++;
    }
  }
  assert_int_equal(reached, 2);
  assert_int_equal(barrier_calls, 2);
  check_closed("s,r,s,r");
}

static void continue_leaves_the_block(void **state)
{
  (void)state;
  int reached = 0;
  for (int i = 0; i < 3; i++) {
    XP_TRACE("t") {
      if (i == 1) {
        continue;
      }
      reached++;
    }
    reached += 10;
  }
  assert_int_equal(reached, 32);
  check_closed("t,t,t");
}

static void goto_leaves_all_blocks(void **state)
{
  (void)state;
  XP_STEP("s", 1) {
    XP_TRACE("t") {
      XP_REGION("r") {
        goto out;
      }
    }
  }
  fail();
out:
  assert_int_equal(barrier_calls, 1);
  check_closed("s,t,r");
}

static int return_from_blocks(int value)
{
  XP_STEP("s", value) {
    XP_TRACE("t", XP_INT("value", value)) {
      return value + (int)xp_scope_depth();
    }
  }
  return -1;
}

static void return_leaves_all_blocks_after_its_value_is_known(void **state)
{
  (void)state;
  assert_int_equal(return_from_blocks(5), 7);
  assert_int_equal(barrier_calls, 1);
  check_closed("s,t");
}

static void nested_blocks_on_one_line_have_variables_of_their_own(void **state)
{
  (void)state;
  XP_TRACE("a") {
    XP_TRACE("b") {
      XP_REGION("c") {
        assert_int_equal(xp_scope_depth(), 2);
      }
    }
  }
  check_closed("a,b,c");
}

static void the_body_runs_once(void **state)
{
  (void)state;
  int runs = 0;
  XP_TRACE("t") {
    runs++;
  }
  XP_STEP("s", 1) {
    runs++;
  }
  XP_REGION("r") {
    runs++;
  }
  assert_int_equal(runs, 3);
  check_closed("t,s,r");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(break_leaves_the_block, set_up),
      cmocka_unit_test_setup(continue_leaves_the_block, set_up),
      cmocka_unit_test_setup(goto_leaves_all_blocks, set_up),
      cmocka_unit_test_setup(return_leaves_all_blocks_after_its_value_is_known, set_up),
      cmocka_unit_test_setup(nested_blocks_on_one_line_have_variables_of_their_own, set_up),
      cmocka_unit_test_setup(the_body_runs_once, set_up),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
