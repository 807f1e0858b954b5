/* Ropes: pieces of three kinds, nested, read in chunks of any size.  The right bytes are written by hand. */
#include <pthread.h>

#include "ropes.h"

/* A source that counts: 0, 1, 2 .. as bytes, `context` tells how many before it fails. */
typedef struct {
  uint64_t next, last;
} counting;

static int open_sources;

static void *open_counting(const void *context)
{
  counting *c = calloc(1, sizeof *c);
  assert_non_null(c);
  c->last = *(const uint64_t *)context;
  __atomic_add_fetch(&open_sources, 1, __ATOMIC_RELAXED);
  return c;
}

/* At most 5 bytes a time, however much room there is. */
static size_t read_counting(void *reader, uint8_t *buffer, size_t room)
{
  counting *c = reader;
  size_t taken = 0;
  while (taken < room && taken < 5 && c->next < c->last) {
    buffer[taken++] = (uint8_t)c->next++;
  }
  return taken;
}

static void close_counting(void *reader)
{
  free(reader);
  __atomic_sub_fetch(&open_sources, 1, __ATOMIC_RELAXED);
}

static void *open_nothing(const void *context)
{
  (void)context;
  return NULL;
}

static const xp_rope_source counting_source = {open_counting, read_counting, close_counting};

/* "ab", made 0 1 2 3 4 5 6, "", "cd", made 0 1 */
static const uint64_t seven = 7, two = 2;
static const char mixed_bytes[] = "ab\0\1\2\3\4\5\6cd\0\1";

static void make_mixed(xp_rope *rope, xp_arena *arena)
{
  char changing[] = "cd";
  xp_rope_init(rope, arena);
  xp_rope_borrow(rope, xp_str_c("ab"));
  xp_rope_make(rope, &counting_source, &seven, 7);
  xp_rope_borrow(rope, xp_str_c(""));
  xp_rope_copy(rope, xp_str_c(changing));
  changing[0] = '?';
  xp_rope_make(rope, &counting_source, &two, 2);
}

static void any_size_of_chunks_gives_the_same_bytes(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_rope rope;
  make_mixed(&rope, arena);
  for (size_t chunk = 1; chunk <= sizeof mixed_bytes + 1; chunk++) {
    xp_str bytes = read_rope(&rope, chunk);
    assert_int_equal(bytes.len, sizeof mixed_bytes - 1);
    assert_memory_equal(bytes.ptr, mixed_bytes, bytes.len);
    free((void *)(uintptr_t)bytes.ptr);
    assert_int_equal(open_sources, 0);
  }
  xp_arena_destroy(arena);
}

static void borrowed_bytes_are_not_copied(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_rope rope, outer;
  char text[] = "abc";
  xp_rope_init(&rope, arena);
  xp_rope_init(&outer, arena);
  xp_rope_borrow(&rope, xp_str_c(text));
  xp_rope_nest(&outer, 1, &rope);
  text[1] = 'X';
  xp_str bytes = read_rope(&outer, 100);
  assert_str(bytes, "\x0a\x03"
                    "aXc");
  free((void *)(uintptr_t)bytes.ptr);
  xp_arena_destroy(arena);
}

/* Nests n bytes in field 4, that in field 1, and compares with the heads given. */
static void assert_nested(uint64_t n, const char *inner_head, const char *outer_head)
{
  xp_arena *arena = xp_arena_create();
  xp_rope rope, middle, outer;
  xp_rope_init(&rope, arena);
  xp_rope_init(&middle, arena);
  xp_rope_init(&outer, arena);
  xp_rope_make(&rope, &counting_source, &n, n);
  xp_rope_nest(&middle, 4, &rope);
  xp_rope_nest(&outer, 1, &middle);
  xp_str bytes = read_rope(&outer, 1000);
  size_t a = strlen(outer_head), b = strlen(inner_head);
  assert_int_equal(bytes.len, a + b + n);
  assert_memory_equal(bytes.ptr, outer_head, a);
  assert_memory_equal(bytes.ptr + a, inner_head, b);
  for (uint64_t i = 0; i < n; i++) {
    assert_int_equal((uint8_t)bytes.ptr[a + b + i], i & 255);
  }
  free((void *)(uintptr_t)bytes.ptr);
  xp_arena_destroy(arena);
}

/* Lengths are varints: 7 bits a byte, the lowest first; the high bit says that more follow. */
static void lengths_stand_before_nested_messages(void **state)
{
  (void)state;
  assert_nested(1, "\x22\x01", "\x0a\x03");
  assert_nested(125, "\x22\x7d", "\x0a\x7f");
  assert_nested(126, "\x22\x7e", "\x0a\x80\x01");
  assert_nested(127, "\x22\x7f", "\x0a\x81\x01");
  assert_nested(128, "\x22\x80\x01", "\x0a\x83\x01");
  assert_nested(16380, "\x22\xfc\x7f", "\x0a\xff\x7f");
  assert_nested(16381, "\x22\xfd\x7f", "\x0a\x80\x80\x01");
  assert_nested(16383, "\x22\xff\x7f", "\x0a\x82\x80\x01");
  assert_nested(16384, "\x22\x80\x80\x01", "\x0a\x84\x80\x01");
}

static void an_empty_message_is_nested_with_length_zero(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_rope empty, outer;
  xp_rope_init(&empty, arena);
  xp_rope_init(&outer, arena);
  xp_rope_nest(&outer, 3, &empty);
  assert_int_equal(outer.bytes, 2);
  xp_str bytes = read_rope(&outer, 1);
  assert_memory_equal(bytes.ptr, "\x1a\0", 2);
  free((void *)(uintptr_t)bytes.ptr);
  xp_arena_destroy(arena);
}

static void records_of_a_writer_are_appended_and_the_writer_is_freed(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_rope rope;
  xp_wire_writer w = {0};
  xp_rope_init(&rope, arena);
  xp_wire_put_varint(&w, 1, 300);
  xp_rope_records(&rope, &w);
  assert_null(w.data);
  xp_str bytes = read_rope(&rope, 2);
  assert_str(bytes, "\x08\xac\x02");
  free((void *)(uintptr_t)bytes.ptr);
  xp_arena_destroy(arena);
}

static void a_failed_writer_fails_the_rope_and_all_around_it(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_rope rope, outer;
  xp_wire_writer w = {.failed = true};
  xp_rope_init(&rope, arena);
  xp_rope_init(&outer, arena);
  xp_rope_records(&rope, &w);
  assert_true(rope.failed);
  xp_rope_nest(&outer, 1, &rope);
  assert_true(outer.failed);
  xp_arena_destroy(arena);
}

static void a_source_that_ends_early_ends_the_reading_there(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_rope rope;
  char bytes[64];
  xp_rope_init(&rope, arena);
  xp_rope_borrow(&rope, xp_str_c("ab"));
  xp_rope_make(&rope, &counting_source, &seven, 9);
  xp_rope_borrow(&rope, xp_str_c("cd"));
  xp_rope_reader reader = xp_rope_open(&rope);
  assert_int_equal(xp_rope_read(&reader, bytes, sizeof bytes), 9);
  assert_memory_equal(bytes, "ab\0\1\2\3\4\5\6", 9);
  assert_int_equal(xp_rope_read(&reader, bytes, sizeof bytes), 0);
  xp_rope_close(&reader);
  assert_int_equal(open_sources, 0);
  xp_arena_destroy(arena);
}

static void a_source_that_cannot_be_opened_ends_the_reading(void **state)
{
  (void)state;
  static const xp_rope_source closed = {open_nothing, read_counting, close_counting};
  xp_arena *arena = xp_arena_create();
  xp_rope rope;
  char bytes[8];
  xp_rope_init(&rope, arena);
  xp_rope_make(&rope, &closed, NULL, 3);
  xp_rope_reader reader = xp_rope_open(&rope);
  assert_int_equal(xp_rope_read(&reader, bytes, sizeof bytes), 0);
  xp_rope_close(&reader);
  xp_arena_destroy(arena);
}

static void closing_in_the_middle_closes_the_source(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_rope rope;
  char bytes[4];
  make_mixed(&rope, arena);
  xp_rope_reader reader = xp_rope_open(&rope);
  assert_int_equal(xp_rope_read(&reader, bytes, 4), 4);
  assert_int_equal(open_sources, 1);
  xp_rope_close(&reader);
  assert_int_equal(open_sources, 0);
  xp_arena_destroy(arena);
}

static void a_length_above_64_bits_fails_the_rope(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_rope rope;
  xp_rope_init(&rope, arena);
  xp_rope_make(&rope, &counting_source, &seven, UINT64_MAX);
  assert_false(rope.failed);
  xp_rope_make(&rope, &counting_source, &seven, 1);
  assert_true(rope.failed);
  xp_arena_destroy(arena);
}

/* Five times 2^30, as a varint: 80 80 80 80 14. */
static void messages_may_be_longer_than_32_bits_tell(void **state)
{
  (void)state;
  static const uint64_t length = (uint64_t)5 << 30;
  static const char want[] = "\x0a\x86\x80\x80\x80\x14\x22\x80\x80\x80\x80\x14\0\1\2";
  char bytes[sizeof want - 1];
  xp_arena *arena = xp_arena_create();
  xp_rope rope, middle, outer;
  xp_rope_init(&rope, arena);
  xp_rope_init(&middle, arena);
  xp_rope_init(&outer, arena);
  xp_rope_make(&rope, &counting_source, &length, length);
  xp_rope_nest(&middle, 4, &rope);
  xp_rope_nest(&outer, 1, &middle);
  assert_true(outer.bytes == length + 12);
  xp_rope_reader reader = xp_rope_open(&outer);
  assert_int_equal(xp_rope_read(&reader, bytes, sizeof bytes), sizeof bytes);
  assert_memory_equal(bytes, want, sizeof bytes);
  xp_rope_close(&reader);
  xp_arena_destroy(arena);
}

static void *read_in_thread(void *rope)
{
  for (size_t i = 1; i < 50; i++) {
    xp_str bytes = read_rope(rope, i);
    assert_memory_equal(bytes.ptr, mixed_bytes, sizeof mixed_bytes - 1);
    free((void *)(uintptr_t)bytes.ptr);
  }
  return NULL;
}

static void four_threads_read_one_rope(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_rope rope;
  pthread_t threads[4];
  make_mixed(&rope, arena);
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, read_in_thread, &rope), 0);
  }
  for (size_t i = 0; i < 4; i++) {
    assert_int_equal(pthread_join(threads[i], NULL), 0);
  }
  assert_int_equal(open_sources, 0);
  xp_arena_destroy(arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_size_of_chunks_gives_the_same_bytes),
      cmocka_unit_test(borrowed_bytes_are_not_copied),
      cmocka_unit_test(lengths_stand_before_nested_messages),
      cmocka_unit_test(an_empty_message_is_nested_with_length_zero),
      cmocka_unit_test(records_of_a_writer_are_appended_and_the_writer_is_freed),
      cmocka_unit_test(a_failed_writer_fails_the_rope_and_all_around_it),
      cmocka_unit_test(a_source_that_ends_early_ends_the_reading_there),
      cmocka_unit_test(a_source_that_cannot_be_opened_ends_the_reading),
      cmocka_unit_test(closing_in_the_middle_closes_the_source),
      cmocka_unit_test(a_length_above_64_bits_fails_the_rope),
      cmocka_unit_test(messages_may_be_longer_than_32_bits_tell),
      cmocka_unit_test(four_threads_read_one_rope),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
