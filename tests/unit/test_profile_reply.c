/* Reading a ProfileResponse in pieces, and the head of one.  The first reply was serialized by Python's protobuf. */
#include "rpc/profile_reply.h"
#include "testing.h"

#define BYTES(literal) xp_str_from((literal), sizeof(literal) - 1)

/* tool_data {overview_page: "abc"}, {t: nothing}, {}; empty_trace; xspace "0123456789" */
static const char reply_bytes[] = "2\024\012\015overview_page\022\003abc2\003\012\001t2\0008\001B\0120123456789";

/* Writes down what it is told, one word a call, pieces of one content joined. */
typedef struct {
  char text[512];
  size_t refuse_after; /* calls; 0: none is refused */
  size_t calls;
} notes;

static bool note(void *context, const char *format, ...)
{
  notes *n = context;
  size_t len = strlen(n->text);
  va_list args;
  va_start(args, format);
  vsnprintf(n->text + len, sizeof n->text - len, format, args);
  va_end(args);
  n->calls++;
  return n->refuse_after == 0 || n->calls < n->refuse_after;
}

static bool on_xspace(void *context, uint64_t bytes)
{
  return note(context, " xspace(%u)", (unsigned)bytes);
}

static bool on_tool(void *context, xp_str name, uint64_t bytes)
{
  return note(context, " tool(%.*s,%u)", XP_STR_ARG(name), (unsigned)bytes);
}

static bool on_piece(void *context, xp_str piece)
{
  assert_true(piece.len > 0);
  return note(context, "%.*s", XP_STR_ARG(piece));
}

/* Feeds the message in pieces of so many bytes. */
static xp_status read_reply(xp_str message, uint64_t total, size_t piece, notes *n, xp_profile_reply *reply,
                            xp_error *err)
{
  xp_profile_reply_sink sink = {on_xspace, on_piece, on_tool, on_piece, n};
  xp_profile_reply_open(reply, total, &sink);
  n->text[0] = '\0';
  n->calls = 0;
  while (message.len > 0) {
    xp_status status = xp_profile_reply_feed(reply, xp_str_take(message, piece), err);
    if (status != XP_OK) {
      return status;
    }
    message = xp_str_skip(message, piece);
  }
  return xp_profile_reply_end(reply, err);
}

static void assert_read(xp_str message, const char *want, bool empty_trace)
{
  for (size_t piece = 1; piece <= message.len + 1; piece++) {
    notes n = {0};
    xp_profile_reply reply;
    xp_error err = {0};
    if (read_reply(message, message.len, piece, &n, &reply, &err) != XP_OK) {
      fail_msg("pieces of %zu: %s", piece, err.text);
    }
    assert_string_equal(n.text, want);
    assert_int_equal(reply.empty_trace, empty_trace);
  }
}

static void assert_refused(xp_str message, uint64_t total, xp_status status, const char *told, const char *part)
{
  for (size_t piece = 1; piece <= message.len + 1; piece++) {
    notes n = {0};
    xp_profile_reply reply;
    xp_error err = {0};
    assert_int_equal(read_reply(message, total, piece, &n, &reply, &err), status);
    assert_string_equal(n.text, told);
    assert_contains(err.text, part);
    assert_int_equal(xp_profile_reply_feed(&reply, xp_str_c("8"), NULL), status); /* it stays so */
    assert_int_equal(xp_profile_reply_end(&reply, NULL), status);
  }
}

static void a_reply_is_read_from_pieces_of_any_size(void **state)
{
  (void)state;
  assert_read(BYTES(reply_bytes), " tool(overview_page,3)abc xspace(10)0123456789", true);
  assert_read(BYTES("B\003abc"), " xspace(3)abc", false);
  assert_read(BYTES("B\000"), " xspace(0)", false);
  assert_read(BYTES("8\0018\000"), "", false); /* the last one counts */
  assert_read(BYTES(""), "", false);
}

static void unknown_fields_are_skipped_at_both_depths(void **state)
{
  (void)state;
  /* fields 1 (number), 7 as text, 8 as number, 15 (8 bytes), 14 (4 bytes), 100 (text); tool_data with 3, 4, 5 */
  assert_read(BYTES("\010\226\001:\002hi@\005y12345678u1234\242\006\003abcB\001x"), " xspace(1)x", false);
  assert_read(BYTES("2\032\030\001!12345678-1234\012\001n\022\001d\052\002zzB\001x"), " tool(n,1)d xspace(1)x", false);
}

static void several_captures_follow_each_other(void **state)
{
  (void)state;
  assert_read(BYTES("B\002abB\001c"), " xspace(2)ab xspace(1)c", false);
}

static void tool_data_before_their_name_have_none(void **state)
{
  (void)state;
  assert_read(BYTES("2\011\022\003abc\012\002no2\005\022\003def"), " tool(,3)abc tool(,3)def", false);
}

static void damage_is_found_and_named(void **state)
{
  (void)state;
  static const struct {
    xp_str message;
    const char *told, *part;
  } cases[] = {
      {XP_STR_INIT("\000\001"), "", "at byte 1 of 2: no field has this number"},
      {XP_STR_INIT("\200\200\200\200\020\001"), "", "no field has this number"},
      {XP_STR_INIT("\013\014"), "", "no field has this type"},
      {XP_STR_INIT("\010\200\200\200\200\200\200\200\200\200\200\001"), "", "more than 10 bytes"},
      {XP_STR_INIT("B\004abc"), "", "beyond the end of its message"}, /* before the sink hears of it */
      {XP_STR_INIT("B\377\377\377\377\377\377\377\377\377\001abc"), "", "beyond the end of its message"},
      {XP_STR_INIT("2\005\022\011abc8\001"), "", "beyond the end of its message"},
      {XP_STR_INIT("2\001\0108\001"), "", "beyond the end of its message"},
      {XP_STR_INIT("2\002\0111234567"), "", "beyond the end of its message"},
      {XP_STR_INIT("2\007\022\001a\012\011bcd"), " tool(,1)a", "beyond the end of its message"},
      {XP_STR_INIT("y1234567"), "", "beyond the end of its message"},
      {XP_STR_INIT("u123"), "", "beyond the end of its message"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_refused(cases[i].message, cases[i].message.len, XP_ERR_FORMAT, cases[i].told, cases[i].part);
  }
}

static void a_reply_that_is_cut_is_truncated(void **state)
{
  (void)state;
  assert_refused(BYTES("B\005abc"), 7, XP_ERR_TRUNCATED, " xspace(5)abc", "at byte 5 of 7: the rest is missing");
  assert_refused(BYTES("8\001"), 4, XP_ERR_TRUNCATED, "", "the rest is missing");
  assert_refused(BYTES("8"), 1, XP_ERR_TRUNCATED, "", "it ends inside a field");
  assert_refused(BYTES("8\200"), 2, XP_ERR_TRUNCATED, "", "it ends inside a field");
  assert_refused(BYTES("2\002\012\001"), 4, XP_ERR_FORMAT, "", "beyond the end of its message");
}

static void more_bytes_than_were_announced_are_refused(void **state)
{
  (void)state;
  assert_refused(BYTES("8\0018\001"), 2, XP_ERR_FORMAT, "", "beyond the end of its message");
}

static void long_names_of_tools_are_refused(void **state)
{
  (void)state;
  char message[512] = "2\203\002\012\200\002"; /* tool_data of 259 bytes, its name of 256 */
  memset(message + 6, 'n', XP_TOOL_NAME_MAX);
  notes n = {0};
  xp_profile_reply reply;
  xp_error err = {0};
  assert_int_equal(read_reply(xp_str_from(message, 6 + 256), 6 + 256, 7, &n, &reply, &err), XP_OK);
  assert_refused(BYTES("2\204\002\012\201\002"), 1000, XP_ERR_LIMIT, "", "name of a tool is longer than 256 bytes");
}

static void a_sink_that_refuses_ends_the_reading(void **state)
{
  (void)state;
  static const char *const told[] = {" tool(overview_page,3)", " tool(overview_page,3)abc",
                                     " tool(overview_page,3)abc xspace(10)",
                                     " tool(overview_page,3)abc xspace(10)0123456789"};
  for (size_t i = 0; i < 4; i++) {
    notes n = {.refuse_after = i + 1};
    xp_profile_reply reply;
    xp_error err = {0};
    assert_int_equal(read_reply(BYTES(reply_bytes), sizeof reply_bytes - 1, 100, &n, &reply, &err), XP_ERR_CANCELLED);
    assert_string_equal(n.text, told[i]);
    assert_contains(err.text, "its receiver gave up");
  }
}

static void a_sink_without_functions_is_allowed(void **state)
{
  (void)state;
  xp_profile_reply_sink sink = {0};
  xp_profile_reply reply;
  xp_error err = {0};
  xp_profile_reply_open(&reply, sizeof reply_bytes - 1, &sink);
  assert_int_equal(xp_profile_reply_feed(&reply, BYTES(reply_bytes), &err), XP_OK);
  assert_int_equal(xp_profile_reply_end(&reply, &err), XP_OK);
  assert_true(reply.empty_trace);
}

/* ---------------------------------------------------------------- the head */

static void assert_head(uint64_t xspace_bytes, bool empty_trace, xp_str want)
{
  xp_profile_reply_head head;
  xp_error err = {0};
  assert_int_equal(xp_profile_reply_head_make(xspace_bytes, empty_trace, &head, &err), XP_OK);
  assert_int_equal(head.len, want.len);
  assert_memory_equal(head.bytes, want.ptr, want.len);
  assert_true(head.total_bytes == want.len + xspace_bytes);
}

static void the_head_of_a_reply_has_the_known_bytes(void **state)
{
  (void)state;
  assert_head(10, true, BYTES("8\001B\012"));
  assert_head(0, false, BYTES("B\000"));
  assert_head(127, false, BYTES("B\177"));
  assert_head(128, false, BYTES("B\200\001"));
  assert_head(UINT64_C(4294967289), false, BYTES("B\371\377\377\377\017")); /* 2^32 - 7: 2^32 - 1 in all */
  assert_head(UINT64_C(4294967287), true, BYTES("8\001B\367\377\377\377\017"));
}

static void replies_above_the_limit_of_a_message_are_refused(void **state)
{
  (void)state;
  static const uint64_t sizes[] = {UINT64_C(4294967290), UINT64_C(4294967296), UINT64_MAX};
  for (size_t i = 0; i < 3; i++) {
    xp_profile_reply_head head;
    xp_error err = {0};
    assert_int_equal(xp_profile_reply_head_make(sizes[i], false, &head, &err), XP_ERR_LIMIT);
    assert_contains(err.text, "4294967295");
    assert_contains(err.text, "shorter time");
  }
}

static void a_saved_reply_says_only_whether_it_is_empty(void **state)
{
  (void)state;
  xp_profile_reply_head head = xp_profile_reply_saved(true);
  assert_int_equal(head.len, 2);
  assert_memory_equal(head.bytes, "8\001", 2);
  assert_int_equal(head.total_bytes, 2);
  assert_int_equal(xp_profile_reply_saved(false).total_bytes, 0);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_reply_is_read_from_pieces_of_any_size),
      cmocka_unit_test(unknown_fields_are_skipped_at_both_depths),
      cmocka_unit_test(several_captures_follow_each_other),
      cmocka_unit_test(tool_data_before_their_name_have_none),
      cmocka_unit_test(damage_is_found_and_named),
      cmocka_unit_test(a_reply_that_is_cut_is_truncated),
      cmocka_unit_test(more_bytes_than_were_announced_are_refused),
      cmocka_unit_test(long_names_of_tools_are_refused),
      cmocka_unit_test(a_sink_that_refuses_ends_the_reading),
      cmocka_unit_test(a_sink_without_functions_is_allowed),
      cmocka_unit_test(the_head_of_a_reply_has_the_known_bytes),
      cmocka_unit_test(replies_above_the_limit_of_a_message_are_refused),
      cmocka_unit_test(a_saved_reply_says_only_whether_it_is_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
