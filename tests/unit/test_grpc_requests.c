/* Requests that are wrong in one way each, as bytes on a socket: each gets its answer, and the server goes on. */
#include "http2_bytes.h"

static int client;

static int set_up_client(void **state)
{
  set_up(state);
  client = raw_connect(xp_grpc_server_port(bench.server));
  return 0;
}

static int tear_down_client(void **state)
{
  close(client);
  for (int i = 0; i < 1000 && atomic_load(&bench.bodies_open) > 0; i++) {
    nap_ms(1);
  }
  assert_served();
  return tear_down(state);
}

/* Says hello and sends a call with the given headers and one message, and listens to its end. */
static heard ask(const char *without, const char *name, const char *value)
{
  bytes b = {0}, block = {0};
  put_hello(&b, 65535);
  put_call_headers(&block, "/t/Echo", without, name, value);
  put_frame(&b, HEADERS, END_HEADERS, 1, block.data, block.len);
  put_message(&b, 1, "abc", END_STREAM);
  send_bytes(client, &b);
  free(block.data);
  free(b.data);
  return hear(client, 1, 5000);
}

static void an_honest_request_is_answered(void **state)
{
  (void)state;
  heard h = ask(NULL, NULL, NULL);
  assert_int_equal(h.http_status, 200);
  assert_int_equal(h.grpc_status, 0);
  assert_int_equal(h.data_bytes, 5 + 3);
}

static void other_content_types_get_415(void **state)
{
  (void)state;
  assert_int_equal(ask("content-type", "content-type", "application/json").http_status, 415);
}

static void a_missing_content_type_gets_415(void **state)
{
  (void)state;
  assert_int_equal(ask("content-type", NULL, NULL).http_status, 415);
}

static void requests_without_a_method_are_reset(void **state)
{
  (void)state;
  assert_int_equal(ask(":method", NULL, NULL).rst_code, NGHTTP2_PROTOCOL_ERROR);
}

static void get_gets_405(void **state)
{
  (void)state;
  bytes b = {0}, block = {0};
  put_hello(&b, 65535);
  put_header(&block, 0, ":method", "GET");
  put_call_headers(&block, "/", ":method", NULL, NULL);
  put_frame(&b, HEADERS, END_HEADERS | END_STREAM, 1, block.data, block.len);
  send_bytes(client, &b);
  assert_int_equal(hear(client, 1, 5000).http_status, 405);
  free(block.data);
  free(b.data);
}

static void a_missing_te_is_an_error_with_an_explanation(void **state)
{
  (void)state;
  heard h = ask("te", NULL, NULL);
  assert_int_equal(h.grpc_status, 13);
  assert_contains(h.grpc_message, "te: trailers");
}

static void timeouts_that_are_none_are_errors(void **state)
{
  (void)state;
  assert_int_equal(ask(NULL, "grpc-timeout", "5 s").grpc_status, 3);
}

static void a_deadline_of_zero_has_passed(void **state)
{
  (void)state;
  assert_int_equal(ask(NULL, "grpc-timeout", "0n").grpc_status, 4);
  assert_int_equal(atomic_load(&bench.begun), 0);
}

static void metadata_in_binary_and_unknown_headers_are_ignored(void **state)
{
  (void)state;
  assert_int_equal(ask(NULL, "trace-bin", "AAECAw==").grpc_status, 0);
}

static void metadata_above_the_limit_are_refused(void **state)
{
  (void)state;
  char value[16385];
  memset(value, 'v', sizeof value - 1);
  value[sizeof value - 1] = '\0';
  bytes b = {0}, block = {0};
  put_hello(&b, 65535);
  put_call_headers(&block, "/t/Echo", NULL, "x", value);
  put_frame(&b, HEADERS, 0, 1, block.data, 10000);
  put_frame(&b, CONTINUATION, END_HEADERS, 1, block.data + 10000, block.len - 10000);
  send_bytes(client, &b);
  heard h = hear(client, 1, 5000);
  assert_int_equal(h.grpc_status, 8);
  assert_contains(h.grpc_message, "more than 16384 bytes");
  free(block.data);
  free(b.data);
}

/* Sends a call and the given bytes as its body, and listens to its end. */
static heard ask_with_body(const char *path, const void *body, size_t len, uint8_t flags)
{
  bytes b = {0};
  put_hello(&b, 65535);
  put_call(&b, 1, path, 0);
  put_frame(&b, DATA, flags, 1, body, len);
  send_bytes(client, &b);
  free(b.data);
  return hear(client, 1, 5000);
}

static void compressed_messages_are_unimplemented(void **state)
{
  (void)state;
  assert_int_equal(ask_with_body("/t/Echo", "\1\0\0\0\1x", 6, END_STREAM).grpc_status, 12);
}

static void two_messages_are_unimplemented(void **state)
{
  (void)state;
  heard h = ask_with_body("/t/Echo", "\0\0\0\0\1x\0\0\0\0\1y", 12, END_STREAM);
  assert_int_equal(h.grpc_status, 12);
  assert_contains(h.grpc_message, "more than one message");
}

static void no_message_is_unimplemented(void **state)
{
  (void)state;
  heard h = ask_with_body("/t/Echo", "", 0, END_STREAM);
  assert_int_equal(h.grpc_status, 12);
  assert_contains(h.grpc_message, "no message");
}

static void half_a_message_is_an_error(void **state)
{
  (void)state;
  assert_int_equal(ask_with_body("/t/Echo", "\0\0\0\0\2x", 6, END_STREAM).grpc_status, 13);
}

static void half_a_prefix_is_an_error(void **state)
{
  (void)state;
  assert_int_equal(ask_with_body("/t/Echo", "\0\0", 2, END_STREAM).grpc_status, 13);
}

static void a_message_of_4_gib_is_refused_at_its_first_byte(void **state)
{
  (void)state;
  heard h = ask_with_body("/t/Echo", "\0\xff\xff\xff\xff", 5, 0);
  assert_int_equal(h.grpc_status, 8);
  assert_contains(h.grpc_message, "has 4294967295 bytes");
  heard after = hear(client, 1, 300);
  assert_int_equal(after.rst_code, NGHTTP2_NO_ERROR); /* it need not send the rest */
}

static void bytes_may_come_one_at_a_time(void **state)
{
  (void)state;
  bytes b = {0};
  put_hello(&b, 65535);
  put_call(&b, 1, "/t/Echo", 0);
  static const char BODY[] = "\0\0\0\0\3abc";
  for (size_t i = 0; i < 8; i++) {
    put_frame(&b, DATA, i == 7 ? END_STREAM : 0, 1, BODY + i, 1);
  }
  for (size_t i = 0; i < b.len; i++) {
    assert_true(raw_send(client, b.data + i, 1));
  }
  free(b.data);
  heard h = hear(client, 1, 5000);
  assert_int_equal(h.grpc_status, 0);
  assert_int_equal(h.data_bytes, 8);
}

static void begin_kept_call(const char *timeout)
{
  bytes b = {0}, block = {0};
  put_hello(&b, 65535);
  put_call_headers(&block, "/t/Keep", NULL, timeout != NULL ? "grpc-timeout" : NULL, timeout);
  put_frame(&b, HEADERS, END_HEADERS, 1, block.data, block.len);
  put_message(&b, 1, "", END_STREAM);
  send_bytes(client, &b);
  free(block.data);
  free(b.data);
  await(&bench.kept_count, 1);
}

static void a_deadline_is_kept_by_the_server(void **state)
{
  (void)state;
  begin_kept_call("100m");
  heard h = hear(client, 1, 5000);
  assert_int_equal(h.grpc_status, 4);
  assert_int_equal(atomic_load(&bench.cancelled), 1);
}

static void a_reset_cancels_the_call(void **state)
{
  (void)state;
  begin_kept_call(NULL);
  bytes b = {0};
  put_frame(&b, RST_STREAM, 0, 1, "\0\0\0\10", 4);
  send_bytes(client, &b);
  free(b.data);
  await(&bench.cancelled, 1);
}

static void the_end_of_the_connection_cancels_the_call(void **state)
{
  (void)state;
  begin_kept_call(NULL);
  shutdown(client, SHUT_WR);
  await(&bench.cancelled, 1);
}

static void a_reset_of_the_connection_cancels_the_call(void **state)
{
  (void)state;
  begin_kept_call(NULL);
  struct linger at_once = {1, 0};
  setsockopt(client, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close(client);
  await(&bench.cancelled, 1);
  client = raw_connect(xp_grpc_server_port(bench.server));
}

#define WITH_CLIENT(test) cmocka_unit_test_setup_teardown(test, set_up_client, tear_down_client)

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_CLIENT(an_honest_request_is_answered),
      WITH_CLIENT(other_content_types_get_415),
      WITH_CLIENT(a_missing_content_type_gets_415),
      WITH_CLIENT(requests_without_a_method_are_reset),
      WITH_CLIENT(get_gets_405),
      WITH_CLIENT(a_missing_te_is_an_error_with_an_explanation),
      WITH_CLIENT(timeouts_that_are_none_are_errors),
      WITH_CLIENT(a_deadline_of_zero_has_passed),
      WITH_CLIENT(metadata_in_binary_and_unknown_headers_are_ignored),
      WITH_CLIENT(metadata_above_the_limit_are_refused),
      WITH_CLIENT(compressed_messages_are_unimplemented),
      WITH_CLIENT(two_messages_are_unimplemented),
      WITH_CLIENT(no_message_is_unimplemented),
      WITH_CLIENT(half_a_message_is_an_error),
      WITH_CLIENT(half_a_prefix_is_an_error),
      WITH_CLIENT(a_message_of_4_gib_is_refused_at_its_first_byte),
      WITH_CLIENT(bytes_may_come_one_at_a_time),
      WITH_CLIENT(a_deadline_is_kept_by_the_server),
      WITH_CLIENT(a_reset_cancels_the_call),
      WITH_CLIENT(the_end_of_the_connection_cancels_the_call),
      WITH_CLIENT(a_reset_of_the_connection_cancels_the_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
