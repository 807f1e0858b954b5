/* Our client and our server against each other: what is answered arrives, and every way for a call to end is told. */
#include "grpc_testing.h"

static void an_echo_comes_back(void **state)
{
  (void)state;
  static const char BYTES[] = "hello\0there";
  reply_check reply = {0};
  xp_grpc_answer answer;
  xp_grpc_request request = request_of("/t/Echo", xp_str_from(BYTES, 11), &reply);
  xp_grpc_unary(&request, &answer);
  assert_status(&answer, XP_GRPC_OK, "");
  assert_int_equal(answer.reply_bytes, 11);
  assert_memory_equal(reply.kept, BYTES, 11);
}

static void messages_may_be_empty(void **state)
{
  (void)state;
  reply_check reply = {0};
  xp_grpc_answer answer;
  xp_grpc_request request = request_of("/t/Echo", xp_str_c(""), &reply);
  xp_grpc_unary(&request, &answer);
  assert_status(&answer, XP_GRPC_OK, "");
  assert_int_equal(answer.reply_bytes, 0);
  request.sink = NULL;
  request.request = xp_str_c("for nobody");
  xp_grpc_unary(&request, &answer);
  assert_status(&answer, XP_GRPC_OK, "");
  assert_int_equal(answer.reply_bytes, 10);
}

static void both_loopback_addresses_and_names_reach_the_server(void **state)
{
  (void)state;
  static const char *const HOSTS[] = {"127.0.0.1", "::1", "localhost"};
  for (size_t i = 0; i < 3; i++) {
    if (i == 1 && !has_ipv6()) {
      continue;
    }
    xp_grpc_answer answer;
    xp_grpc_request request = request_of("/t/Echo", xp_str_c("x"), &(reply_check){0});
    snprintf(request.target.host, sizeof request.target.host, "%s", HOSTS[i]);
    xp_grpc_unary(&request, &answer);
    assert_status(&answer, XP_GRPC_OK, "");
  }
}

static void large_replies_stream_through(void **state)
{
  (void)state;
  reply_check reply = {.is_big = true};
  xp_grpc_answer answer;
  xp_grpc_request request = request_of("/t/Big", xp_str_c("67108864"), &reply);
  xp_grpc_unary(&request, &answer);
  assert_status(&answer, XP_GRPC_OK, "");
  assert_int_equal(answer.reply_bytes, 67108864);
  assert_int_equal(reply.got, 67108864);
  assert_false(reply.is_wrong);
}

static void a_request_at_the_limit_is_taken_and_one_above_is_not(void **state)
{
  (void)state;
  char *bytes = malloc(MAX_REQUEST + 1);
  memset(bytes, 'x', MAX_REQUEST + 1);
  reply_check reply = {0};
  xp_grpc_answer answer;
  xp_grpc_request request = request_of("/t/Echo", xp_str_from(bytes, MAX_REQUEST), &reply);
  xp_grpc_unary(&request, &answer);
  assert_status(&answer, XP_GRPC_OK, "");
  assert_int_equal(answer.reply_bytes, MAX_REQUEST);
  request.request.len++;
  xp_grpc_unary(&request, &answer);
  assert_status(&answer, XP_GRPC_RESOURCE_EXHAUSTED,
                "The request has 4194305 bytes; this server takes 4194304 at most.");
  free(bytes);
}

static void a_reply_above_the_limit_is_given_up(void **state)
{
  (void)state;
  reply_check reply = {.is_big = true};
  xp_grpc_answer answer;
  xp_grpc_request request = request_of("/t/Big", xp_str_c("1001"), &reply);
  request.max_reply_bytes = 1000;
  xp_grpc_unary(&request, &answer);
  assert_end(&answer, XP_GRPC_END_LIMIT);
  assert_contains(answer.message, "has 1001 bytes; at most 1000 are taken");
  request.max_reply_bytes = 1001;
  xp_grpc_unary(&request, &answer);
  assert_status(&answer, XP_GRPC_OK, "");
}

static void errors_arrive_with_code_and_text(void **state)
{
  (void)state;
  static const struct {
    const char *request;
    xp_grpc_code code;
    const char *message;
  } ROWS[] = {
      {"13 Another profiling session active.", XP_GRPC_INTERNAL, "Another profiling session active."},
      {"5 100% na\xc3\xafve \xe2\x82\xac\n\t\x01 %41", XP_GRPC_NOT_FOUND, "100% na\xc3\xafve \xe2\x82\xac\n\t\x01 %41"},
      {"14 ", XP_GRPC_UNAVAILABLE, ""},
      {"0 no error", XP_GRPC_UNKNOWN, "no error"}};
  for (size_t i = 0; i < sizeof ROWS / sizeof ROWS[0]; i++) {
    xp_grpc_answer answer;
    xp_grpc_request request = request_of("/t/Fail", xp_str_c(ROWS[i].request), &(reply_check){0});
    xp_grpc_unary(&request, &answer);
    assert_status(&answer, ROWS[i].code, ROWS[i].message);
  }
}

static void a_long_error_text_is_cut(void **state)
{
  (void)state;
  char text[2500];
  memset(text, 'y', sizeof text);
  memcpy(text, "3 ", 2);
  xp_grpc_answer answer;
  xp_grpc_request request = request_of("/t/Fail", xp_str_from(text, sizeof text), &(reply_check){0});
  xp_grpc_unary(&request, &answer);
  assert_end(&answer, XP_GRPC_END_STATUS);
  assert_int_equal(strlen(answer.message), 1023);
  assert_int_equal(answer.message[1022], 'y');
}

static void an_unknown_method_is_unimplemented(void **state)
{
  (void)state;
  xp_grpc_answer answer;
  xp_grpc_request request = request_of("/t/None", xp_str_c("x"), &(reply_check){0});
  xp_grpc_unary(&request, &answer);
  assert_status(&answer, XP_GRPC_UNIMPLEMENTED, "There is no method /t/None here.");
}

static void a_body_that_fails_ends_the_call_with_internal(void **state)
{
  (void)state;
  reply_check reply = {.is_big = true};
  xp_grpc_answer answer;
  xp_grpc_request request = request_of("/t/Broken", xp_str_c(""), &reply);
  xp_grpc_unary(&request, &answer);
  assert_status(&answer, XP_GRPC_INTERNAL, "The server could not produce the rest of the reply.");
  assert_int_equal(reply.got, 300);
}

static void a_sink_can_give_the_call_up(void **state)
{
  (void)state;
  reply_check reply = {.is_big = true, .give_up_at = 100000};
  xp_grpc_answer answer;
  xp_grpc_request request = request_of("/t/Big", xp_str_c("4000000000"), &reply);
  xp_grpc_unary(&request, &answer);
  assert_end(&answer, XP_GRPC_END_SINK);
  for (int i = 0; i < 5000 && atomic_load(&bench.bodies_open) > 0; i++) {
    nap_ms(1);
  }
  assert_int_equal(atomic_load(&bench.bodies_open), 0);
}

/* ---------------------------------------------------------------- kept calls */

static void kept_calls_are_answered_later_in_any_order(void **state)
{
  (void)state;
  static caller first, second;
  first.reply.is_big = true;
  begin_call(&first, "/t/Keep", "1");
  await(&bench.kept_count, 1);
  begin_call(&second, "/t/Keep", "2");
  xp_grpc_call *second_call = take_kept(1);
  xp_grpc_reply_bytes(second_call, xp_str_c("two"));
  pthread_join(second.thread, NULL);
  reply_big(take_kept(0), 3000000, UINT64_MAX);
  pthread_join(first.thread, NULL);
  assert_status(&second.answer, XP_GRPC_OK, "");
  assert_memory_equal(second.reply.kept, "two", 3);
  assert_status(&first.answer, XP_GRPC_OK, "");
  assert_int_equal(first.reply.got, 3000000);
  assert_int_equal(atomic_load(&bench.cancelled), 0);
}

static void many_calls_run_at_the_same_time(void **state)
{
  (void)state;
  enum { CALLS = 16 };
  static caller callers[CALLS];
  for (int i = 0; i < CALLS; i++) {
    callers[i].reply.is_big = true;
    begin_call(&callers[i], "/t/Big", "2000000");
  }
  for (int i = 0; i < CALLS; i++) {
    pthread_join(callers[i].thread, NULL);
    assert_status(&callers[i].answer, XP_GRPC_OK, "");
    assert_int_equal(callers[i].reply.got, 2000000);
    assert_false(callers[i].reply.is_wrong);
  }
}

static void a_deadline_ends_the_call_on_both_sides(void **state)
{
  (void)state;
  xp_grpc_answer answer;
  xp_grpc_request request = request_of("/t/Keep", xp_str_c(""), &(reply_check){0});
  request.timeout_ns = 200u * (uint64_t)XP_NS_IN_MS;
  int64_t start = xp_monotonic_ns();
  xp_grpc_unary(&request, &answer);
  int64_t took = xp_monotonic_ns() - start;
  assert_end(&answer, XP_GRPC_END_TIMEOUT);
  assert_in_range(took, 200 * XP_NS_IN_MS, 2 * XP_NS_IN_S);
  await(&bench.cancelled, 1);
  /* What the server was told is rounded up and was later on its way: it may have a little left. */
  assert_in_range(xp_grpc_call_time_left_ns(atomic_load(&bench.kept[0])), 0, 100 * XP_NS_IN_MS);
}

static void the_time_left_is_that_of_the_client(void **state)
{
  (void)state;
  static caller c;
  begin_call(&c, "/t/Keep", "");
  xp_grpc_call *call = take_kept(0);
  assert_in_range(xp_grpc_call_time_left_ns(call), 50 * XP_NS_IN_S, 61 * XP_NS_IN_S);
  xp_grpc_fail(call, XP_GRPC_ABORTED, "");
  pthread_join(c.thread, NULL);
  c.request.timeout_ns = 0;
  start_caller(&c);
  call = take_kept(1);
  assert_true(xp_grpc_call_time_left_ns(call) == INT64_MAX);
  xp_grpc_fail(call, XP_GRPC_ABORTED, "");
  pthread_join(c.thread, NULL);
}

static void the_cancel_flag_ends_the_call_on_both_sides_at_once(void **state)
{
  (void)state;
  static caller c;
  static int flag;
  __atomic_store_n(&flag, 0, __ATOMIC_RELAXED);
  c.request = request_of("/t/Keep", xp_str_c(""), &c.reply);
  c.request.cancel = &flag;
  start_caller(&c);
  await(&bench.kept_count, 1);
  int64_t start = xp_monotonic_ns();
  __atomic_store_n(&flag, 1, __ATOMIC_RELAXED);
  pthread_join(c.thread, NULL);
  assert_end(&c.answer, XP_GRPC_END_CANCELLED);
  await(&bench.cancelled, 1);
  assert_in_range(xp_monotonic_ns() - start, 0, XP_NS_IN_S);
}

static void answers_to_cancelled_calls_go_nowhere(void **state)
{
  (void)state;
  xp_grpc_answer answer;
  xp_grpc_request request = request_of("/t/Keep", xp_str_c(""), &(reply_check){0});
  request.timeout_ns = 50u * (uint64_t)XP_NS_IN_MS;
  xp_grpc_unary(&request, &answer);
  await(&bench.cancelled, 1);
  reply_big(take_kept(0), 1000, UINT64_MAX);
  assert_int_equal(atomic_load(&bench.bodies_open), 0);
}

static void on_cancel_is_told_at_once_and_once_if_it_is_too_late(void **state)
{
  (void)state;
  xp_grpc_answer answer;
  xp_grpc_request request = request_of("/t/Quiet", xp_str_c(""), &(reply_check){0});
  request.timeout_ns = 50u * (uint64_t)XP_NS_IN_MS;
  xp_grpc_unary(&request, &answer);
  assert_end(&answer, XP_GRPC_END_TIMEOUT);
  nap_ms(200); /* the server is through with it, too */
  xp_grpc_call *call = atomic_load(&bench.kept[0]);
  xp_grpc_call_on_cancel(call, count_cancelled, NULL);
  assert_int_equal(atomic_load(&bench.cancelled), 1);
  xp_grpc_call_on_cancel(call, count_cancelled, NULL);
  assert_int_equal(atomic_load(&bench.cancelled), 1);
}

static void cancelled_may_answer(void *context)
{
  xp_grpc_fail(context, XP_GRPC_CANCELLED, "");
  atomic_fetch_add(&bench.cancelled, 1);
}

static void the_cancel_function_may_answer_the_call(void **state)
{
  (void)state;
  static caller c;
  c.request = request_of("/t/Keep", xp_str_c(""), &c.reply);
  c.request.timeout_ns = 300u * (uint64_t)XP_NS_IN_MS;
  start_caller(&c);
  xp_grpc_call *call = take_kept(0);
  xp_grpc_call_on_cancel(call, cancelled_may_answer, call);
  pthread_join(c.thread, NULL);
  await(&bench.cancelled, 1);
}

/* Cancellation on the server's thread and answers on this one meet in every order; sanitizers look on. */
static void answers_and_cancellations_race_without_harm(void **state)
{
  (void)state;
  static caller callers[MOST_KEPT];
  int answered = 0;
  for (int i = 0; i < MOST_KEPT; i++) {
    callers[i].request = request_of("/t/Keep", xp_str_c(""), &callers[i].reply);
    callers[i].request.timeout_ns = (uint64_t)(20 * XP_NS_IN_MS);
    start_caller(&callers[i]);
    if (i % 4 != 0 && atomic_load(&bench.kept_count) > answered) {
      reply_big(take_kept(answered++), 10, UINT64_MAX);
    }
  }
  for (int i = 0; i < MOST_KEPT; i++) {
    pthread_join(callers[i].thread, NULL);
  }
}

#define WITH_SERVER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
  const struct CMUnitTest tests[] = {
      WITH_SERVER(an_echo_comes_back),
      WITH_SERVER(messages_may_be_empty),
      WITH_SERVER(both_loopback_addresses_and_names_reach_the_server),
      WITH_SERVER(large_replies_stream_through),
      WITH_SERVER(a_request_at_the_limit_is_taken_and_one_above_is_not),
      WITH_SERVER(a_reply_above_the_limit_is_given_up),
      WITH_SERVER(errors_arrive_with_code_and_text),
      WITH_SERVER(a_long_error_text_is_cut),
      WITH_SERVER(an_unknown_method_is_unimplemented),
      WITH_SERVER(a_body_that_fails_ends_the_call_with_internal),
      WITH_SERVER(a_sink_can_give_the_call_up),
      WITH_SERVER(kept_calls_are_answered_later_in_any_order),
      WITH_SERVER(many_calls_run_at_the_same_time),
      WITH_SERVER(a_deadline_ends_the_call_on_both_sides),
      WITH_SERVER(the_time_left_is_that_of_the_client),
      WITH_SERVER(the_cancel_flag_ends_the_call_on_both_sides_at_once),
      WITH_SERVER(answers_to_cancelled_calls_go_nowhere),
      WITH_SERVER(on_cancel_is_told_at_once_and_once_if_it_is_too_late),
      WITH_SERVER(the_cancel_function_may_answer_the_call),
      WITH_SERVER(answers_and_cancellations_race_without_harm),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
