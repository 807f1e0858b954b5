/* The wire format, with bytes worked out by hand. */
#include "testing.h"

static xp_wire_reader open_bytes(const void *bytes, size_t size)
{
  return xp_wire_open(xp_str_from(bytes, size));
}

static void assert_varint(const void *bytes, size_t size, uint64_t want)
{
  const uint8_t *pos = bytes;
  uint64_t n;
  assert_true(xp_wire_varint(&pos, pos + size, &n));
  assert_true(n == want);
  assert_ptr_equal(pos, (const uint8_t *)bytes + size);
}

static void varints_of_one_to_ten_bytes_are_read(void **state)
{
  (void)state;
  assert_varint("\x00", 1, 0);
  assert_varint("\x7f", 1, 127);
  assert_varint("\x96\x01", 2, 150);
  assert_varint("\xff\xff\xff\xff\x0f", 5, UINT32_MAX);
  assert_varint("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10, UINT64_MAX);
  assert_varint("\x80\x80\x00", 3, 0); /* longer than needed, but allowed */
}

static void a_varint_of_eleven_bytes_is_rejected(void **state)
{
  (void)state;
  xp_wire_reader r = open_bytes("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", 12);
  xp_wire_field f;
  assert_false(xp_wire_next(&r, &f));
  assert_int_equal(r.status, XP_WIRE_BAD);
  assert_ptr_equal(r.pos, r.start);
}

static void a_varint_that_does_not_end_is_truncated(void **state)
{
  (void)state;
  xp_wire_reader r = open_bytes("\x08\x01\x10\x80", 4);
  xp_wire_field f;
  assert_true(xp_wire_next(&r, &f));
  assert_false(xp_wire_next(&r, &f));
  assert_int_equal(r.status, XP_WIRE_TRUNCATED);
  assert_int_equal(r.pos - r.start, 2);
}

static void each_wire_type_is_read(void **state)
{
  (void)state;
  xp_wire_reader r = open_bytes("\x08\x96\x01"
                                "\x11\x01\x02\x03\x04\x05\x06\x07\x08"
                                "\x1a\x02hi"
                                "\x25\x01\x02\x03\x04",
                                3 + 9 + 4 + 5);
  xp_wire_field f;
  assert_true(xp_wire_next(&r, &f) && f.number == 1 && f.type == XP_WIRE_VARINT && f.value == 150);
  assert_true(xp_wire_next(&r, &f) && f.number == 2 && f.type == XP_WIRE_FIXED64);
  assert_true(f.value == UINT64_C(0x0807060504030201)); /* little endian on every machine */
  assert_true(xp_wire_next(&r, &f) && f.number == 3 && f.type == XP_WIRE_BYTES);
  assert_str(f.bytes, "hi");
  assert_true(xp_wire_next(&r, &f) && f.number == 4 && f.type == XP_WIRE_FIXED32 && f.value == 0x04030201);
  assert_false(xp_wire_next(&r, &f));
  assert_int_equal(r.status, XP_WIRE_OK);
}

static void groups_and_field_zero_are_rejected(void **state)
{
  (void)state;
  static const char *const messages[] = {"\x0b\x0c", "\x0c\x00", "\x0e\x00", "\x0f\x00", "\x02\x00", "\x01\x00"};
  for (size_t i = 0; i < sizeof messages / sizeof *messages; i++) {
    xp_wire_reader r = open_bytes(messages[i], 2);
    xp_wire_field f;
    assert_false(xp_wire_next(&r, &f));
    assert_int_equal(r.status, XP_WIRE_BAD);
  }
}

static void field_numbers_go_up_to_29_bits(void **state)
{
  (void)state;
  xp_wire_field f;
  xp_wire_reader r = open_bytes("\xf8\xff\xff\xff\x0f\x01", 6);
  assert_true(xp_wire_next(&r, &f));
  assert_int_equal(f.number, (1 << 29) - 1);
  r = open_bytes("\x80\x80\x80\x80\x10\x01", 6);
  assert_false(xp_wire_next(&r, &f));
  assert_int_equal(r.status, XP_WIRE_BAD);
}

static void a_length_beyond_the_end_is_truncated(void **state)
{
  (void)state;
  static const char huge[] = "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  xp_wire_field f;
  xp_wire_reader r = open_bytes("\x0a\x03hi", 4);
  assert_false(xp_wire_next(&r, &f));
  assert_int_equal(r.status, XP_WIRE_TRUNCATED);
  r = open_bytes(huge, sizeof huge - 1);
  assert_false(xp_wire_next(&r, &f));
  assert_int_equal(r.status, XP_WIRE_TRUNCATED);
}

static void fixed_fields_that_do_not_fit_are_truncated(void **state)
{
  (void)state;
  xp_wire_field f;
  xp_wire_reader r = open_bytes("\x09\x01\x02\x03\x04\x05\x06\x07", 8);
  assert_false(xp_wire_next(&r, &f));
  assert_int_equal(r.status, XP_WIRE_TRUNCATED);
  r = open_bytes("\x0d\x01\x02\x03", 4);
  assert_false(xp_wire_next(&r, &f));
  assert_int_equal(r.status, XP_WIRE_TRUNCATED);
}

static void an_error_stays(void **state)
{
  (void)state;
  xp_wire_field f;
  xp_wire_reader r = open_bytes("\x02\x00\x08\x01", 4);
  assert_false(xp_wire_next(&r, &f));
  assert_false(xp_wire_next(&r, &f));
  assert_ptr_equal(r.pos, r.start);
}

static void the_end_of_a_reader_is_told_with_its_place(void **state)
{
  (void)state;
  static const struct {
    xp_str message;
    xp_status status;
    const char *text;
  } cases[] = {{XP_STR_INIT("\x08\x01"), XP_OK, ""},
               {XP_STR_INIT("\x08\x01\x10"), XP_ERR_TRUNCATED, "It ends inside the record at byte 2"},
               {XP_STR_INIT("\x08\x01\x07"), XP_ERR_FORMAT, "It is no protobuf message: byte 2 starts no record"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    xp_wire_reader r = xp_wire_open(cases[i].message);
    xp_error err = {0};
    for (xp_wire_field f; xp_wire_next(&r, &f);) {
    }
    assert_int_equal(xp_wire_finish(&r, "It", &err), cases[i].status);
    assert_string_equal(err.text, cases[i].text);
  }
}

static void an_empty_message_ends_at_once(void **state)
{
  (void)state;
  xp_wire_field f;
  xp_wire_reader r = xp_wire_open(xp_str_from(NULL, 0));
  assert_false(xp_wire_next(&r, &f));
  assert_int_equal(r.status, XP_WIRE_OK);
}

static void the_writer_makes_the_known_bytes(void **state)
{
  (void)state;
  xp_wire_writer w = {0}, inner = {0};
  xp_wire_put_varint(&inner, 1, 150);
  xp_wire_put_varint(&w, 1, UINT64_MAX);
  xp_wire_put_double(&w, 2, 1.0);
  xp_wire_put_bytes(&w, 16, xp_str_c("hi"));
  xp_wire_put_message(&w, 3, &inner);
  static const char want[] = "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
                             "\x11\x00\x00\x00\x00\x00\x00\xf0\x3f"
                             "\x82\x01\x02hi"
                             "\x1a\x03\x08\x96\x01";
  assert_int_equal(w.len, sizeof want - 1);
  assert_memory_equal(w.data, want, sizeof want - 1);
  xp_wire_writer_free(&w);
  xp_wire_writer_free(&inner);
}

/* The bytes of 1.5f: 0x3fc00000. */
static void floats_are_written_as_four_bytes(void **state)
{
  (void)state;
  xp_wire_writer w = {0};
  xp_wire_put_float(&w, 24, 1.5f);
  assert_int_equal(w.len, 6);
  assert_memory_equal(w.data, "\xc5\x01\x00\x00\xc0\x3f", 6);
  xp_wire_writer_free(&w);
}

/* Lengths at which the varint of a length gets longer. */
static void nested_messages_are_moved_behind_their_length(void **state)
{
  (void)state;
  static const size_t lengths[] = {0, 1, 127, 128, 16383, 16384, 2097152};
  char *content = malloc(lengths[6]);
  assert_non_null(content);
  memset(content, 'x', lengths[6]);
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
    xp_wire_writer w = {0};
    xp_wire_field f;
    size_t outer = xp_wire_open_message(&w, 1), inner = xp_wire_open_message(&w, 2);
    xp_wire_append(&w, xp_str_from(content, lengths[i]));
    xp_wire_close_message(&w, inner);
    xp_wire_put_varint(&w, 3, 7);
    xp_wire_close_message(&w, outer);
    xp_wire_reader r = xp_wire_open(written(&w));
    assert_true(xp_wire_next(&r, &f) && f.number == 1 && r.pos == r.end);
    r = xp_wire_open(f.bytes);
    assert_true(xp_wire_next(&r, &f) && f.number == 2 && xp_str_eq(f.bytes, xp_str_from(content, lengths[i])));
    assert_true(xp_wire_next(&r, &f) && f.number == 3 && f.value == 7 && r.pos == r.end);
    xp_wire_writer_free(&w);
  }
  free(content);
}

static void a_writer_grows_as_needed(void **state)
{
  (void)state;
  xp_wire_writer w = {0};
  for (uint64_t i = 0; i < 10000; i++) {
    xp_wire_put_varint(&w, 5, i);
  }
  xp_wire_reader r = xp_wire_open(written(&w));
  xp_wire_field f;
  for (uint64_t i = 0; i < 10000; i++) {
    assert_true(xp_wire_next(&r, &f) && f.number == 5 && f.value == i);
  }
  assert_false(xp_wire_next(&r, &f));
  xp_wire_writer_free(&w);
}

static void a_failed_writer_ignores_everything(void **state)
{
  (void)state;
  xp_wire_writer w = {0}, bad = {.failed = true};
  xp_wire_put_message(&w, 1, &bad);
  assert_true(w.failed);
  xp_wire_put_varint(&w, 1, 1);
  xp_wire_put_double(&w, 1, 1);
  xp_wire_put_bytes(&w, 1, xp_str_c("x"));
  xp_wire_close_message(&w, xp_wire_open_message(&w, 1));
  xp_wire_append_varint(&w, 5);
  assert_int_equal(w.len, 0);
  xp_wire_writer_free(&w);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(varints_of_one_to_ten_bytes_are_read),
      cmocka_unit_test(a_varint_of_eleven_bytes_is_rejected),
      cmocka_unit_test(a_varint_that_does_not_end_is_truncated),
      cmocka_unit_test(each_wire_type_is_read),
      cmocka_unit_test(groups_and_field_zero_are_rejected),
      cmocka_unit_test(field_numbers_go_up_to_29_bits),
      cmocka_unit_test(a_length_beyond_the_end_is_truncated),
      cmocka_unit_test(fixed_fields_that_do_not_fit_are_truncated),
      cmocka_unit_test(an_error_stays),
      cmocka_unit_test(the_end_of_a_reader_is_told_with_its_place),
      cmocka_unit_test(an_empty_message_ends_at_once),
      cmocka_unit_test(the_writer_makes_the_known_bytes),
      cmocka_unit_test(floats_are_written_as_four_bytes),
      cmocka_unit_test(nested_messages_are_moved_behind_their_length),
      cmocka_unit_test(a_writer_grows_as_needed),
      cmocka_unit_test(a_failed_writer_ignores_everything),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
