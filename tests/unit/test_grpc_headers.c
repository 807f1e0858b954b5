/* Header values of gRPC, the framing of messages, and the text of targets. */
#include "testing.h"

#include "rpc/grpc_client.h"
#include "rpc/headers.h"
#include "rpc/message.h"

static void timeouts_are_read_in_all_units(void **state)
{
  (void)state;
  static const struct {
    const char *text;
    int64_t ns;
  } ROWS[] = {{"1H", 3600000000000},
              {"2M", 120000000000},
              {"3S", 3000000000},
              {"4m", 4000000},
              {"5u", 5000},
              {"6n", 6},
              {"0n", 0},
              {"99999999n", 99999999},
              {"99999999H", INT64_MAX}, /* 11,408 years do not fit into 292 */
              {"00000001S", 1000000000}};
  for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
    int64_t ns = -1;
    assert_true(xp_grpc_timeout_parse(xp_str_c(ROWS[i].text), &ns));
    assert_int_equal(ns, ROWS[i].ns);
  }
}

static void what_is_no_timeout_is_refused(void **state)
{
  (void)state;
  static const char *const TEXTS[] = {"", "S", "5", "5s", "-1S", "+1S", " 1S", "1 S", "1.5S", "123456789n", "5SS"};
  for (size_t i = 0; i < sizeof TEXTS / sizeof TEXTS[0]; i++) {
    int64_t ns;
    assert_false(xp_grpc_timeout_parse(xp_str_c(TEXTS[i]), &ns));
  }
}

static void timeouts_are_written_in_the_finest_unit_and_rounded_up(void **state)
{
  (void)state;
  static const struct {
    int64_t ns;
    const char *text;
  } ROWS[] = {{-5, "0n"},
              {0, "0n"},
              {99999999, "99999999n"},
              {100000000, "100000u"},
              {100000001, "100001u"},
              {120000000000, "120000m"},
              {INT64_MAX, "2562048H"}}; /* 2562047.78 hours */
  for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
    char text[XP_GRPC_TIMEOUT_ROOM];
    xp_grpc_timeout_format(ROWS[i].ns, text);
    assert_string_equal(text, ROWS[i].text);
  }
}

static void messages_are_coded_as_the_protocol_says(void **state)
{
  (void)state;
  char coded[XP_GRPC_MESSAGE_CODED_ROOM];
  size_t n = xp_grpc_message_encode(xp_str_c("100% na\xc3\xafve\nline"), coded);
  assert_string_equal(coded, "100%25 na%C3%AFve%0Aline");
  assert_int_equal(n, strlen(coded));
  char text[64];
  xp_grpc_message_decode(xp_str_c(coded), text, sizeof text);
  assert_string_equal(text, "100% na\xc3\xafve\nline");
}

static void what_is_no_coding_stays_as_it_is(void **state)
{
  (void)state;
  char text[64];
  xp_grpc_message_decode(xp_str_c("50% of %zz %4 %"), text, sizeof text);
  assert_string_equal(text, "50% of %zz %4 %");
  xp_grpc_message_decode(xp_str_c("%e2%82%ac"), text, sizeof text);
  assert_string_equal(text, "\xe2\x82\xac");
}

static void long_messages_are_cut_between_characters(void **state)
{
  (void)state;
  char text[6];
  xp_grpc_message_decode(xp_str_c("abcd\xc3\xaf"), text, sizeof text);
  assert_string_equal(text, "abcd");
  xp_grpc_message_decode(xp_str_c("abc\xc3\xaf"), text, sizeof text);
  assert_string_equal(text, "abc\xc3\xaf");
  xp_grpc_message_decode(xp_str_c("abcdefgh"), text, sizeof text);
  assert_string_equal(text, "abcde");

  char longer[2000], coded[XP_GRPC_MESSAGE_CODED_ROOM];
  for (size_t i = 0; i < sizeof longer; i += 2) {
    memcpy(longer + i, "\xc3\xaf", 2);
  }
  assert_int_equal(xp_grpc_message_encode(xp_str_from(longer, sizeof longer), coded), 1022 * 3);
  memset(longer, 0x80, sizeof longer); /* no UTF-8 at all */
  assert_int_equal(xp_grpc_message_encode(xp_str_from(longer, sizeof longer), coded), 1023 * 3);
}

static void content_types_of_grpc_are_known(void **state)
{
  (void)state;
  assert_true(xp_grpc_content_type_is_grpc(xp_str_c("application/grpc")));
  assert_true(xp_grpc_content_type_is_grpc(xp_str_c("application/grpc+proto")));
  assert_true(xp_grpc_content_type_is_grpc(xp_str_c("application/grpc;charset=utf-8")));
  assert_false(xp_grpc_content_type_is_grpc(xp_str_c("application/grpc-web")));
  assert_false(xp_grpc_content_type_is_grpc(xp_str_c("application/grp")));
  assert_false(xp_grpc_content_type_is_grpc(xp_str_c("text/html")));
}

/* Gives bytes to a reader in pieces of `step` and writes down what it says: h(size) p(bytes) w. */
static void narrate(xp_str bytes, size_t step, char *story)
{
  xp_grpc_reader reader = {.prefix_len = 0};
  char parts[64];
  size_t len = 0;
  story[0] = '\0';
  for (; bytes.len > 0; bytes = xp_str_skip(bytes, step)) {
    xp_str piece = xp_str_take(bytes, step), part;
    for (xp_grpc_event event; (event = xp_grpc_reader_next(&reader, &piece, &part)) != XP_GRPC_MORE;) {
      if (event == XP_GRPC_HEAD) {
        sprintf(story + strlen(story), "h%u%s ", reader.size, xp_grpc_reader_is_compressed(&reader) ? "c" : "");
      } else if (event == XP_GRPC_PART) {
        memcpy(parts + len, part.ptr, part.len);
        len += part.len;
      } else {
        sprintf(story + strlen(story), "%.*s; ", (int)len, parts);
        len = 0;
      }
    }
  }
  sprintf(story + strlen(story), "%s", xp_grpc_reader_is_between(&reader) ? "." : "..");
}

static void messages_are_found_however_the_bytes_are_cut(void **state)
{
  (void)state;
  static const char BYTES[] = "\0\0\0\0\3abc\1\0\0\0\0\0\0\0\1\0x\0\0";
  for (size_t step = 1; step < sizeof BYTES; step++) {
    char story[200];
    narrate(xp_str_from(BYTES, 15), step, story); /* three letters, an empty compressed one, two bytes of a prefix */
    assert_string_equal(story, "h3 abc; h0c ; ..");
    narrate(xp_str_from(BYTES, 13), step, story);
    assert_string_equal(story, "h3 abc; h0c ; .");
    narrate(xp_str_from(BYTES, 7), step, story);
    assert_string_equal(story, "h3 ..");
  }
}

static void a_prefix_is_a_flag_and_a_big_endian_length(void **state)
{
  (void)state;
  uint8_t prefix[XP_GRPC_PREFIX_BYTES];
  xp_grpc_prefix_write(0x01020304, prefix);
  assert_memory_equal(prefix, "\0\1\2\3\4", 5);
}

static void codes_have_names(void **state)
{
  (void)state;
  assert_string_equal(xp_grpc_code_name(0), "OK");
  assert_string_equal(xp_grpc_code_name(XP_GRPC_UNIMPLEMENTED), "UNIMPLEMENTED");
  assert_string_equal(xp_grpc_code_name(16), "UNAUTHENTICATED");
  assert_string_equal(xp_grpc_code_name(17), "code 17");
  assert_string_equal(xp_grpc_code_name(-1), "code -1");
}

static void targets_are_hosts_with_ports(void **state)
{
  (void)state;
  static const struct {
    const char *text, *host;
    uint16_t port;
    const char *printed;
  } ROWS[] = {{"localhost:9012", "localhost", 9012, "localhost:9012"},
              {"grpc://10.0.0.1:1", "10.0.0.1", 1, "10.0.0.1:1"},
              {"[::1]:9012", "::1", 9012, "[::1]:9012"},
              {"grpc://[fe80::1%eth0]:65535", "fe80::1%eth0", 65535, "[fe80::1%eth0]:65535"}};
  for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
    xp_grpc_target target;
    char printed[XP_GRPC_TARGET_ROOM];
    assert_int_equal(xp_grpc_target_parse(xp_str_c(ROWS[i].text), &target, NULL), XP_OK);
    assert_string_equal(target.host, ROWS[i].host);
    assert_int_equal(target.port, ROWS[i].port);
    xp_grpc_target_print(&target, printed);
    assert_string_equal(printed, ROWS[i].printed);
  }
}

static void wrong_targets_get_advice(void **state)
{
  (void)state;
  static const struct {
    const char *text, *advice;
  } ROWS[] = {{"", "has no port"},
              {"localhost", "has no port. Write HOST:PORT, as localhost:9012"},
              {"localhost:", "is no port"},
              {"localhost:http", "is a number from 1 to 65535"},
              {"localhost:0", "is no port"},
              {"localhost:65536", "is no port"},
              {"localhost:99999999999", "is no port"},
              {"::1:9012", "in brackets, as [::1]:9012"},
              {"[::1]", "Write it as [::1]:9012"},
              {"[::1:9012", "Write it as [::1]:9012"},
              {"[localhost]:9012", "Write it as [::1]:9012"},
              {"http://localhost:9012", "is a URL"},
              {":9012", "has no host"},
              {"a/b:9012", "has no host"},
              {"a b:9012", "has no host"},
              {"caf\xc3\xa9:9012", "has no host"}};
  for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
    xp_grpc_target target;
    xp_error err;
    assert_int_equal(xp_grpc_target_parse(xp_str_c(ROWS[i].text), &target, &err), XP_ERR_USAGE);
    assert_contains(err.text, ROWS[i].advice);
  }
  char longer[300];
  memset(longer, 'a', sizeof longer);
  memcpy(longer + sizeof longer - 3, ":1", 3);
  xp_grpc_target target;
  assert_int_equal(xp_grpc_target_parse(xp_str_c(longer), &target, NULL), XP_ERR_USAGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(timeouts_are_read_in_all_units),
      cmocka_unit_test(what_is_no_timeout_is_refused),
      cmocka_unit_test(timeouts_are_written_in_the_finest_unit_and_rounded_up),
      cmocka_unit_test(messages_are_coded_as_the_protocol_says),
      cmocka_unit_test(what_is_no_coding_stays_as_it_is),
      cmocka_unit_test(long_messages_are_cut_between_characters),
      cmocka_unit_test(content_types_of_grpc_are_known),
      cmocka_unit_test(messages_are_found_however_the_bytes_are_cut),
      cmocka_unit_test(a_prefix_is_a_flag_and_a_big_endian_length),
      cmocka_unit_test(codes_have_names),
      cmocka_unit_test(targets_are_hosts_with_ports),
      cmocka_unit_test(wrong_targets_get_advice),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
