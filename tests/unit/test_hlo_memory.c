/* Building, writing, reading and printing while memory runs out: "out of memory", or what comes out otherwise. */
#include "failing_links.h"

#include "hlo/read.h"
#include "hlo/text.h"
#include "hlo/write.h"
#include "hlo_samples.h"

static const hlo_sample *sample;
static xp_wire_writer right; /* the message when memory is not out */

/* If the sample is built and written, it is so rightly. */
static void build_and_write(void)
{
  const xp_hlo_module *module = NULL;
  xp_error err = {XP_OK, ""};
  xp_wire_writer w = {0};
  xp_arena *arena = xp_arena_create();
  xp_hlo_builder *builder = arena != NULL ? xp_hlo_builder_create(arena, sample->name) : NULL;
  xp_status status = XP_ERR_MEMORY;
  if (builder != NULL) {
    status = xp_hlo_builder_finish(builder, sample->build(builder), &module, &err);
    assert_true(status == XP_OK || status == XP_ERR_MEMORY);
  }
  if (status == XP_OK) {
    xp_hlo_write(module, &w);
  }
  bool is_done = status == XP_OK && !w.failed;
  if (is_done && right.len > 0) {
    assert_int_equal(w.len, right.len);
    assert_memory_equal(w.data, right.data, w.len);
  }
  xp_arena_destroy(arena);
  if (is_done && right.len == 0) {
    right = w;
  } else {
    xp_wire_writer_free(&w);
  }
}

static void read_and_print(void)
{
  const xp_hlo_module *module = NULL;
  xp_error err = {XP_OK, ""};
  xp_arena *arena = xp_arena_create();
  xp_status status = arena != NULL ? xp_hlo_read(written(&right), arena, &module, &err) : XP_ERR_MEMORY;
  assert_true(status == XP_OK || status == XP_ERR_MEMORY);
  assert_true((status == XP_OK) == (module != NULL));
  if (status == XP_OK) {
    xp_hlo_module_text(arena, module); /* empty when memory is out */
  }
  xp_arena_destroy(arena);
}

static void each_sample_is_built_and_read_or_memory_is_out(void **state)
{
  (void)state;
  for (size_t i = 0; i < SAMPLE_COUNT(hlo_samples); i++) {
    sample = &hlo_samples[i];
    build_and_write(); /* memory is not out */
    assert_true(right.len > 0);
    fail_each(build_and_write);
    fail_each(read_and_print);
    xp_wire_writer_free(&right);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(each_sample_is_built_and_read_or_memory_is_out)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
