/* Writing many things on all cores: the same as one after the other. */
#include "report/pieces.h"

#include "testing.h"

#include <stdlib.h>

enum { MANY = 5000, FEW = 20, NONE = -1 };

/* How a test writes: thing `bad` fails, in one of the two arenas. */
typedef struct {
  int bad;
  bool in_scratch;
} plan;

static void write_numbers(const void *context, const xp_printer *printer, size_t first, size_t end)
{
  const plan *p = context;
  for (size_t i = first; i < end; i++) {
    xp_str number = xp_arena_format(printer->scratch, "%zu\n", i);
    if ((int)i == p->bad) {
      xp_arena_give_up(p->in_scratch ? printer->scratch : printer->arena);
    }
    fwrite(number.ptr, 1, number.len, printer->out);
  }
}

typedef struct {
  xp_printer printer;
  size_t count;
  plan plan;
} job;

static void run(void *context)
{
  job *j = context;
  xp_pieces_write(&j->printer, j->count, write_numbers, &j->plan);
}

static void guard_scratch(void *context)
{
  job *j = context;
  if (!xp_arena_guard(j->printer.scratch, run, j)) {
    xp_arena_give_up(j->printer.arena);
  }
}

/* What came out; the caller frees.  done: whether all did. */
static char *text_of(size_t count, plan how, bool *done)
{
  char *text = NULL;
  size_t len = 0;
  job j = {.count = count, .plan = how};
  j.printer.out = open_memstream(&text, &len);
  j.printer.arena = xp_arena_create();
  j.printer.scratch = xp_arena_create();
  assert_true(j.printer.out != NULL && j.printer.arena != NULL && j.printer.scratch != NULL);
  *done = xp_arena_guard(j.printer.arena, guard_scratch, &j);
  fclose(j.printer.out);
  xp_arena_destroy(j.printer.scratch);
  xp_arena_destroy(j.printer.arena);
  return text;
}

static void assert_numbers(const char *text, size_t count)
{
  char *next;
  for (size_t i = 0; i < count; i++, text = next + 1) {
    assert_int_equal(strtoul(text, &next, 10), i);
    assert_int_equal(*next, '\n');
  }
  assert_string_equal(text, "");
}

static void test_things_come_out_in_order(void **state)
{
  static const size_t counts[] = {0, 1, FEW, 128, 129, 1024, MANY};
  (void)state;
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    bool done;
    char *text = text_of(counts[i], (plan){NONE, false}, &done);
    assert_true(done);
    assert_numbers(text, counts[i]);
    free(text);
  }
}

static void test_memory_that_runs_out_in_a_piece_ends_the_writing(void **state)
{
  static const size_t counts[] = {FEW, MANY};
  (void)state;
  for (int i = 0; i < 4; i++) {
    size_t count = counts[i / 2];
    bool done;
    char *text = text_of(count, (plan){(int)count - 3, i % 2 == 0}, &done);
    assert_false(done);
    assert_true(strlen(text) == 0 || text[0] == '0'); /* what came before may stand there, from its beginning */
    free(text);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_things_come_out_in_order),
      cmocka_unit_test(test_memory_that_runs_out_in_a_piece_ends_the_writing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
