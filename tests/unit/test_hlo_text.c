/* Built modules as text and as messages: tests/data/hlo has what XLA (jaxlib 0.10.2) prints of the samples' messages.
 */
#include "testing.h"

#include "hlo/read.h"
#include "hlo/text.h"
#include "hlo/write.h"
#include "hlo_samples.h"

static const xp_hlo_module *built(xp_arena *arena, const hlo_sample *sample)
{
  xp_hlo_builder *builder = xp_hlo_builder_create(arena, sample->name);
  const xp_hlo_module *module;
  xp_error err;
  if (xp_hlo_builder_finish(builder, sample->build(builder), &module, &err) != XP_OK) {
    fail_msg("%s: %s", sample->name, err.text);
  }
  return module;
}

/* Fails with the first line that differs. */
static void assert_same_text(const char *name, xp_str have, xp_str want)
{
  size_t line = 0, at = 0;
  while (at < have.len && at < want.len && have.ptr[at] == want.ptr[at]) {
    at++;
    line = have.ptr[at - 1] == '\n' ? at : line;
  }
  if (at < have.len || at < want.len) {
    xp_str ours = xp_str_take(xp_str_skip(have, line), xp_str_find(have, '\n', line) - line);
    xp_str theirs = xp_str_take(xp_str_skip(want, line), xp_str_find(want, '\n', line) - line);
    fail_msg("%s: have %.*s\nwant %.*s", name, XP_STR_ARG(ours), XP_STR_ARG(theirs));
  }
}

static void the_text_of_built_modules_is_that_of_xla(void **state)
{
  (void)state;
  for (size_t i = 0; i < SAMPLE_COUNT(hlo_samples); i++) {
    char path[128];
    xp_arena *arena = xp_arena_create();
    snprintf(path, sizeof path, "tests/data/hlo/%s.txt", hlo_samples[i].name);
    xp_str want = read_file(path);
    assert_same_text(hlo_samples[i].name, xp_hlo_module_text(arena, built(arena, &hlo_samples[i])), want);
    free((void *)(uintptr_t)want.ptr);
    xp_arena_destroy(arena);
  }
}

static void what_is_written_is_read_as_the_same_module(void **state)
{
  (void)state;
  for (size_t i = 0; i < SAMPLE_COUNT(hlo_samples); i++) {
    xp_arena *arena = xp_arena_create();
    xp_wire_writer first = {0}, second = {0};
    const xp_hlo_module *module = built(arena, &hlo_samples[i]), *again;
    xp_error err;
    xp_hlo_write(module, &first);
    if (xp_hlo_read(written(&first), arena, &again, &err) != XP_OK) {
      fail_msg("%s: %s", hlo_samples[i].name, err.text);
    }
    xp_hlo_write(again, &second);
    assert_int_equal(first.len, second.len);
    assert_memory_equal(first.data, second.data, first.len);
    assert_same_text(hlo_samples[i].name, xp_hlo_module_text(arena, again), xp_hlo_module_text(arena, module));
    xp_wire_writer_free(&first);
    xp_wire_writer_free(&second);
    xp_arena_destroy(arena);
  }
}

/* The last field of a number in a message; its bytes are empty if there is none. */
static xp_wire_field field_of(xp_str message, uint32_t number)
{
  xp_wire_field f, found = {0};
  for (xp_wire_reader wire = xp_wire_open(message); xp_wire_next(&wire, &f);) {
    found = f.number == number ? f : found;
  }
  return found;
}

/* Numbers of fields from XLA's hlo.proto and xla_data.proto. */
static void messages_have_the_fields_of_xla(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  xp_wire_writer w = {0};
  xp_hlo_builder *builder = xp_hlo_builder_create(arena, "small");
  const xp_hlo_module *module;
  xp_hlo_body *b = xp_hlo_body_begin(builder, "main");
  static const int64_t dims[] = {2, 3};
  xp_hlo_value p = sample_parameter(b, 0, XP_HLO_F32, 2, dims);
  uint32_t entry = xp_hlo_body_end(b, xp_hlo_build_compare(b, XP_HLO_COMPARE_LT, p, p));
  assert_int_equal(xp_hlo_builder_finish(builder, entry, &module, NULL), XP_OK);
  xp_hlo_write(module, &w);
  assert_str(field_of(written(&w), 1).bytes, "small");
  assert_str(field_of(written(&w), 2).bytes, "main.3");
  assert_int_equal(field_of(written(&w), 6).value, 3);
  xp_str program = field_of(written(&w), 4).bytes, main = field_of(written(&w), 3).bytes;
  assert_int_equal(field_of(field_of(program, 2).bytes, 2).value, XP_HLO_PRED);
  assert_str(field_of(program, 3).bytes, "p.1");
  assert_int_equal(field_of(main, 5).value, 3);
  assert_int_equal(field_of(main, 6).value, 2);
  assert_str(field_of(field_of(main, 4).bytes, 3).bytes, "p.1");
  xp_str compare = field_of(main, 2).bytes;
  assert_str(field_of(compare, 1).bytes, "compare.2");
  assert_str(field_of(compare, 2).bytes, "compare");
  assert_str(field_of(compare, 63).bytes, "LT");
  assert_str(field_of(compare, 72).bytes, "FLOAT");
  assert_int_equal(field_of(compare, 35).value, 2);
  assert_str(field_of(compare, 36).bytes, "\x01\x01");
  xp_str shape = field_of(compare, 3).bytes;
  assert_str(field_of(shape, 3).bytes, "\x02\x03");
  assert_int_equal(field_of(field_of(shape, 5).bytes, 1).bytes.len, 2);
  assert_memory_equal(field_of(field_of(shape, 5).bytes, 1).bytes.ptr, "\x01\x00", 2);
  xp_wire_writer_free(&w);
  xp_arena_destroy(arena);
}

static void one_instruction_is_one_line(void **state)
{
  (void)state;
  xp_arena *arena = xp_arena_create();
  const xp_hlo_module *module = built(arena, &hlo_samples[SAMPLE_COUNT(hlo_samples) - 1]);
  const xp_hlo_computation *entry = xp_hlo_entry(module);
  assert_str(xp_hlo_instruction_text(arena, module, entry, &entry->instructions[1]),
             "%add.2 = f32[2,3]{1,0} add(%p.1, %p.1), metadata={op_type=\"xla__add\" op_name=\"fwd/xla__add\" "
             "source_file=\"model.c\" source_line=33 stack_frame_id=2}");
  xp_arena_destroy(arena);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_text_of_built_modules_is_that_of_xla),
      cmocka_unit_test(what_is_written_is_read_as_the_same_module),
      cmocka_unit_test(messages_have_the_fields_of_xla),
      cmocka_unit_test(one_instruction_is_one_line),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
