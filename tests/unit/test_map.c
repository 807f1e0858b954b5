/* Hash tables. */
#include "testing.h"

#include "base/map.h"

static void a_key_gives_the_value_that_was_put_last(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_map map;
  xp_map_init(&map, arena);
  assert_int_equal(xp_map_get(&map, 7), XP_NONE);
  xp_map_put(&map, 7, 1);
  xp_map_put(&map, 7, 2);
  assert_int_equal(xp_map_get(&map, 7), 2);
  assert_int_equal(map.count, 1);
  xp_arena_destroy(arena);
}

static void many_keys_of_any_pattern_are_found(void **state)
{
  (void)state;
  static const uint64_t steps[] = {1, 64, UINT64_C(1) << 32, UINT64_MAX, UINT64_C(0x9e3779b97f4a7c15)};
  for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
    xp_arena *arena = xp_arena_create();
    xp_map map;
    xp_map_init(&map, arena);
    for (uint32_t i = 0; i < 5000; i++) {
      xp_map_put(&map, i * steps[s], i);
    }
    for (uint32_t i = 0; i < 5000; i++) {
      assert_int_equal(xp_map_get(&map, i * steps[s]), i);
    }
    assert_int_equal(xp_map_get(&map, 5001 * steps[s]), XP_NONE);
    xp_arena_destroy(arena);
  }
}

static void ids_are_found_whether_they_follow_each_other_or_not(void **state)
{
  (void)state;
  static const uint64_t steps[] = {1, 7, 8, 4096, UINT64_MAX, UINT64_C(0x9e3779b97f4a7c15)};
  for (size_t s = 0; s < sizeof steps / sizeof *steps; s++) {
    xp_arena *arena = xp_arena_create();
    xp_id_map map;
    xp_id_map_init(&map, arena);
    assert_int_equal(xp_id_map_get(&map, 0), XP_NONE);
    for (uint32_t i = 0; i < 5000; i++) {
      uint32_t *value = xp_id_map_entry(&map, i * steps[s]);
      assert_int_equal(*value, XP_NONE);
      *value = i;
    }
    for (uint32_t i = 0; i < 5000; i++) {
      assert_int_equal(xp_id_map_get(&map, i * steps[s]), i);
      assert_int_equal(*xp_id_map_entry(&map, i * steps[s]), i);
    }
    assert_int_equal(xp_id_map_get(&map, 5001 * steps[s]), XP_NONE);
    xp_id_map_discard(&map);
    assert_int_equal(xp_id_map_get(&map, 0), XP_NONE);
    xp_arena_destroy(arena);
  }
}

static void strings_are_numbered_by_first_appearance(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_intern table;
  xp_intern_init(&table, arena);
  assert_int_equal(xp_intern_find(&table, xp_str_c("a")), XP_NONE);
  assert_int_equal(xp_intern_add(&table, xp_str_c("a")), 0);
  assert_int_equal(xp_intern_add(&table, xp_str_c("")), 1);
  assert_int_equal(xp_intern_add(&table, xp_str_from("a\0", 2)), 2);
  assert_int_equal(xp_intern_add(&table, xp_str_c("a")), 0);
  assert_int_equal(xp_intern_find(&table, xp_str_from(NULL, 0)), 1);
  assert_int_equal(table.count, 3);
  xp_arena_destroy(arena);
}

static void thousands_of_strings_keep_their_numbers(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_intern table;
  xp_intern_init(&table, arena);
  for (uint32_t i = 0; i < 3000; i++) {
    assert_int_equal(xp_intern_add(&table, xp_arena_format(arena, "fusion.%u", i)), i);
  }
  for (uint32_t i = 0; i < 3000; i++) {
    assert_int_equal(xp_intern_find(&table, xp_arena_format(arena, "fusion.%u", i)), i);
  }
  xp_arena_destroy(arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_key_gives_the_value_that_was_put_last),
      cmocka_unit_test(many_keys_of_any_pattern_are_found),
      cmocka_unit_test(ids_are_found_whether_they_follow_each_other_or_not),
      cmocka_unit_test(strings_are_numbered_by_first_appearance),
      cmocka_unit_test(thousands_of_strings_keep_their_numbers),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
