/* Arenas: alignment, zeroes, growth, escape. */
#include "testing.h"

static void pieces_are_aligned_zeroed_and_apart(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  unsigned char *pieces[200];
  for (size_t i = 0; i < 200; i++) {
    pieces[i] = xp_arena_alloc(arena, i * 37);
    assert_int_equal((uintptr_t)pieces[i] % 16, 0);
    for (size_t k = 0; k < i * 37; k++) {
      assert_int_equal(pieces[i][k], 0);
      pieces[i][k] = (unsigned char)i;
    }
  }
  for (size_t i = 1; i < 200; i++) {
    assert_int_equal(pieces[i][0], i);
    assert_int_equal(pieces[i][i * 37 - 1], i);
  }
  xp_arena_destroy(arena);
}

static void a_large_piece_is_usable_to_its_end(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  size_t size = (size_t)5 << 20;
  char *piece = xp_arena_alloc(arena, size);
  piece[0] = 1;
  piece[size - 1] = 2;
  assert_true(xp_arena_bytes(arena) >= size);
  xp_arena_destroy(arena);
}

static void an_array_whose_size_overflows_counts_as_no_memory(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  assert_null(xp_arena_array(arena, SIZE_MAX / 2, 4));
  assert_null(xp_arena_alloc(arena, SIZE_MAX));
  xp_arena_destroy(arena);
}

static void growing_keeps_the_elements(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  int *rows = NULL;
  size_t capacity = 0;
  for (int i = 0; i < 1000; i++) {
    rows = xp_arena_grow(arena, rows, (size_t)i, &capacity, sizeof *rows);
    rows[i] = i;
  }
  for (int i = 0; i < 1000; i++) {
    assert_int_equal(rows[i], i);
  }
  xp_arena_destroy(arena);
}

/* Three arrays in turn, from a few bytes over blocks of their own to huge pages; one of them never has room behind it.
 */
static void growing_to_megabytes_keeps_elements_and_gives_zeroes(void **state)
{
  (void)state;
  enum { ARRAYS = 3, ROWS = 3 << 18 };
  xp_arena *arena = xp_arena_create();
  uint64_t *rows[ARRAYS] = {NULL};
  size_t capacity[ARRAYS] = {0};
  for (size_t i = 0; i < ROWS; i++) {
    for (size_t a = 0; a < ARRAYS; a++) {
      size_t before = capacity[a];
      rows[a] = xp_arena_grow(arena, rows[a], i, &capacity[a], sizeof **rows);
      assert_true(capacity[a] == before || rows[a][capacity[a] - 1] == 0);
      assert_true(rows[a][i] == 0);
      rows[a][i] = i * ARRAYS + a + 1;
    }
  }
  for (size_t i = 0; i < ROWS * ARRAYS; i++) {
    assert_true(rows[i % ARRAYS][i / ARRAYS] == i + 1);
  }
  xp_arena_destroy(arena);
}

static void a_lone_array_grows_where_it_stands(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  char *rows = NULL, *first = NULL;
  size_t capacity = 0;
  for (size_t i = 0; i < 16 << 10; i++) {
    rows = xp_arena_grow(arena, rows, i, &capacity, 1);
    first = i == 0 ? rows : first;
    assert_ptr_equal(rows, first);
    rows[i] = 1;
  }
  char *next = xp_arena_alloc(arena, 1);
  assert_true(next >= rows + capacity && *next == 0);
  xp_arena_destroy(arena);
}

static void a_large_piece_is_given_back_early(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  char *small = xp_arena_alloc(arena, 100);
  size_t before = xp_arena_bytes(arena), sizes[] = {256 << 10, 1 << 20, 5 << 20};
  for (size_t i = 0; i < 3; i++) {
    char *piece = xp_arena_alloc(arena, sizes[i]);
    piece[sizes[i] - 1] = 1;
    assert_true(xp_arena_bytes(arena) > before);
    xp_arena_discard(arena, piece, sizes[i]);
    assert_int_equal(xp_arena_bytes(arena), before);
  }
  small[99] = 1;
  xp_arena_destroy(arena);
}

static void copies_and_formatted_texts_end_with_nul(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_str copy = xp_arena_copy(arena, xp_str_from("abc", 2));
  assert_str(copy, "ab");
  assert_int_equal(copy.ptr[2], '\0');
  xp_str text = xp_arena_format(arena, "%d-%s", 7, "x");
  assert_str(text, "7-x");
  assert_int_equal(text.ptr[3], '\0');
  xp_arena_destroy(arena);
}

static void ask_too_much(void *context)
{
  xp_arena_array(context, SIZE_MAX, 2);
  fail_msg("came back without memory");
}

static void ask_little(void *context)
{
  assert_non_null(xp_arena_alloc(context, 10));
}

static void ask_too_much_inside(void *context)
{
  assert_false(xp_arena_guard(context, ask_too_much, context));
  ask_too_much(context); /* reaches the outer guard */
}

static void a_guard_ends_at_the_failed_allocation(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  assert_false(xp_arena_guard(arena, ask_too_much, arena));
  assert_true(xp_arena_guard(arena, ask_little, arena));
  assert_null(xp_arena_array(arena, SIZE_MAX, 2)); /* no escape is left behind */
  xp_arena_destroy(arena);
}

static void guards_nest(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  assert_false(xp_arena_guard(arena, ask_too_much_inside, arena));
  xp_arena_destroy(arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_are_aligned_zeroed_and_apart),
      cmocka_unit_test(a_large_piece_is_usable_to_its_end),
      cmocka_unit_test(an_array_whose_size_overflows_counts_as_no_memory),
      cmocka_unit_test(growing_keeps_the_elements),
      cmocka_unit_test(growing_to_megabytes_keeps_elements_and_gives_zeroes),
      cmocka_unit_test(a_lone_array_grows_where_it_stands),
      cmocka_unit_test(a_large_piece_is_given_back_early),
      cmocka_unit_test(copies_and_formatted_texts_end_with_nul),
      cmocka_unit_test(a_guard_ends_at_the_failed_allocation),
      cmocka_unit_test(guards_nest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
