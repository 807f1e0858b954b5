/* The messages of tensorflow.ProfilerService.  The long ones were serialized by Python's protobuf. */
#include "rpc/messages.h"
#include "testing.h"

#define BYTES(literal) xp_str_from((literal), sizeof(literal) - 1)

/* ProfileOptions with every field set. */
#define ALL_OPTIONS                                                                                                    \
  "\010\001\020\003\030\001 \254\002(\0010\0038\001@\200\210\202\260\354\355\244\276\030H\334\013R\002/rZ\013\010"     \
  "\377\377\377\377\377\377\377\377\377\001b!\012\016tpu_trace_mode\022\017\012\015TRACE_COMPUTEh\001r\001sz\001h"
#define PLACES "*\030/tmp/log/plugins/profile2\003run:\007vm:9012"

static const char all_options[] = ALL_OPTIONS;
static const char request_with_tools[] =
    "\010\320\017\020\300\204=\032\014trace_viewer\032\011xplane.pb\042X" ALL_OPTIONS PLACES
    "B\023\012\015overview_page\022\002\030\001H\001";
static const char request_without_tools[] = "\010\320\017\020\300\204=\042X" ALL_OPTIONS PLACES "H\001";
/* advanced_configuration {a: "", b: false, i: -2, u: a value that is not set} */
static const char empty_values[] = "b\007\012\001a\022\002\012\000b\007\012\001b\022\002\020\000b\020\012\001i\022\013"
                                   "\030\376\377\377\377\377\377\377\377\377\001b\005\012\001u\022\000";

static int open_arena(void **state)
{
  *state = xp_arena_create();
  return *state == NULL;
}

static int close_arena(void **state)
{
  xp_arena_destroy(*state);
  return 0;
}

static xp_profile_options read_options(void **state, xp_str message)
{
  xp_profile_options options = {0};
  xp_error err = {0};
  if (xp_profile_options_read(message, *state, &options, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  return options;
}

static void assert_all_options(const xp_profile_options *o)
{
  assert_true(o->include_dataset_ops && o->enable_hlo_proto && o->raise_error_on_start_failure);
  assert_int_equal(o->host_tracer_level, 3);
  assert_int_equal(o->device_tracer_level, 1);
  assert_int_equal(o->python_tracer_level, 300);
  assert_int_equal(o->version, 1);
  assert_int_equal(o->device_type, 3);
  assert_true(o->start_timestamp_ns == UINT64_C(1764447258000000000));
  assert_int_equal(o->duration_ms, 1500);
  assert_true(o->host_traceme_filter_mask == UINT64_MAX);
  assert_str(o->repository_path, "/r");
  assert_str(o->session_id, "s");
  assert_str(o->override_hostname, "h");
  assert_int_equal(o->advanced_count, 1);
  const xp_advanced_option *mode = xp_profile_options_advanced(o, "tpu_trace_mode");
  assert_non_null(mode);
  assert_int_equal(mode->type, XP_ADVANCED_STR);
  assert_str(mode->text, "TRACE_COMPUTE");
  assert_null(xp_profile_options_advanced(o, "tpu_trace"));
}

static void assert_bytes(xp_wire_writer *w, xp_str want)
{
  assert_false(w->failed);
  assert_int_equal(w->len, want.len);
  assert_memory_equal(w->data, want.ptr, want.len);
  xp_wire_writer_free(w);
}

/* ---------------------------------------------------------------- ProfileOptions */

static void all_options_are_read(void **state)
{
  xp_profile_options options = read_options(state, BYTES(all_options));
  assert_all_options(&options);
}

static void options_are_written_as_protobuf_writes_them(void **state)
{
  xp_profile_options options = read_options(state, BYTES(all_options));
  xp_wire_writer w = {0};
  xp_profile_options_put(&w, &options);
  assert_bytes(&w, BYTES(all_options));
}

static void default_options_are_those_of_upstream(void **state)
{
  (void)state;
  xp_profile_options options = xp_profile_options_default();
  xp_wire_writer w = {0};
  xp_profile_options_put(&w, &options);
  assert_bytes(&w, BYTES("\010\001\020\002\030\001(\0018\001"));
}

static void advanced_values_may_be_empty_or_unset(void **state)
{
  xp_profile_options options = read_options(state, BYTES(empty_values));
  assert_int_equal(options.advanced_count, 4);
  assert_int_equal(xp_profile_options_advanced(&options, "a")->type, XP_ADVANCED_STR);
  assert_int_equal(xp_profile_options_advanced(&options, "a")->text.len, 0);
  assert_int_equal(xp_profile_options_advanced(&options, "b")->type, XP_ADVANCED_BOOL);
  assert_int_equal(xp_profile_options_advanced(&options, "b")->number, 0);
  assert_int_equal(xp_profile_options_advanced(&options, "i")->type, XP_ADVANCED_INT);
  assert_int_equal(xp_profile_options_advanced(&options, "i")->number, -2);
  assert_int_equal(xp_profile_options_advanced(&options, "u")->type, XP_ADVANCED_UNSET);
  xp_wire_writer w = {0};
  xp_profile_options_put(&w, &options);
  assert_bytes(&w, BYTES(empty_values));
}

static void the_last_entry_of_a_key_counts(void **state)
{
  xp_profile_options options = read_options(
      state, BYTES("b\007\012\001k\022\002\020\001b\007\012\001j\022\002\030\005b\007\012\001k\022\002\030\007"));
  assert_int_equal(options.advanced_count, 2);
  assert_int_equal(xp_profile_options_advanced(&options, "k")->type, XP_ADVANCED_INT);
  assert_int_equal(xp_profile_options_advanced(&options, "k")->number, 7);
  assert_int_equal(xp_profile_options_advanced(&options, "j")->number, 5);
}

static void more_advanced_options_than_the_limit_are_refused(void **state)
{
  xp_wire_writer w = {0};
  for (int i = 0; i <= XP_ADVANCED_MAX; i++) {
    char entry[16];
    snprintf(entry, sizeof entry, "\012\004%04d", i);
    xp_wire_put_bytes(&w, 12, xp_str_c(entry));
  }
  xp_profile_options options = {0};
  xp_error err = {0};
  assert_int_equal(xp_profile_options_read(written(&w), *state, &options, &err), XP_ERR_LIMIT);
  assert_contains(err.text, "advanced_configuration");
  assert_int_equal(options.advanced_count, XP_ADVANCED_MAX);
  xp_wire_writer_free(&w);
}

static void version_0_means_the_defaults(void **state)
{
  xp_profile_options sent = read_options(state, BYTES("\020\000\030\000H\244\003r\001s")); /* duration_ms 420 */
  xp_profile_options used = xp_profile_options_of_session(&sent);
  assert_false(used.include_dataset_ops); /* the one field that is kept */
  assert_int_equal(used.host_tracer_level, 2);
  assert_int_equal(used.device_tracer_level, 1);
  assert_true(used.enable_hlo_proto);
  assert_int_equal(used.duration_ms, 0);
  assert_int_equal(used.session_id.len, 0);
  assert_int_equal(sent.duration_ms, 420); /* what the server waits for */
  sent.version = 1;
  used = xp_profile_options_of_session(&sent);
  assert_int_equal(used.host_tracer_level, 0); /* with a version 0 is 0 */
  assert_false(used.enable_hlo_proto);
  assert_str(used.session_id, "s");
}

static void odd_fields_are_read_as_protobuf_reads_them(void **state)
{
  /* unknown fields 100 and 7 as text; level 2 twice; a level of 2^32 + 5; a device type of -1 */
  static const char odd[] = "\242\006\003abc:\002hi\020\001\020\003\030\205\200\200\200\020"
                            "0\377\377\377\377\377\377\377\377\377\001";
  xp_profile_options options = read_options(state, BYTES(odd));
  assert_false(options.enable_hlo_proto);
  assert_int_equal(options.host_tracer_level, 3);
  assert_int_equal(options.device_tracer_level, 5);
  assert_true(options.device_type == UINT32_MAX);
  xp_wire_writer w = {0};
  xp_profile_options_put(&w, &options);
  assert_bytes(&w, BYTES("\020\003\030\0050\377\377\377\377\377\377\377\377\377\001"));
}

static void damage_is_found_at_every_depth(void **state)
{
  static const struct {
    xp_str message;
    xp_status status;
    const char *part;
  } cases[] = {
      {XP_STR_INIT("\020\003\030"), XP_ERR_TRUNCATED, "ProfileOptions ends inside the record at byte 2"},
      {XP_STR_INIT("\020\003\007"), XP_ERR_FORMAT, "ProfileOptions is no protobuf message: byte 2"},
      {XP_STR_INIT("Z\001\010"), XP_ERR_TRUNCATED, "trace_options"},
      {XP_STR_INIT("b\002\012\005"), XP_ERR_TRUNCATED, "An entry of advanced_configuration"},
      {XP_STR_INIT("b\003\022\001\030"), XP_ERR_TRUNCATED, "A value in advanced_configuration"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    xp_profile_options options = {0};
    xp_error err = {0};
    assert_int_equal(xp_profile_options_read(cases[i].message, *state, &options, &err), cases[i].status);
    assert_int_equal(err.status, cases[i].status);
    assert_contains(err.text, cases[i].part);
  }
}

/* ---------------------------------------------------------------- ProfileRequest */

static void a_request_is_read(void **state)
{
  xp_profile_request request;
  xp_error err = {0};
  assert_int_equal(xp_profile_request_read(BYTES(request_with_tools), *state, &request, &err), XP_OK);
  assert_int_equal(request.duration_ms, 2000);
  assert_int_equal(request.max_events, 1000000);
  assert_str(request.repository_root, "/tmp/log/plugins/profile");
  assert_str(request.session_id, "run");
  assert_str(request.host_name, "vm:9012");
  assert_true(request.emit_xspace);
  assert_true(request.has_options);
  assert_all_options(&request.options);
}

static void a_request_is_written_as_protobuf_writes_it(void **state)
{
  xp_profile_request request;
  xp_error err = {0};
  assert_int_equal(xp_profile_request_read(BYTES(request_with_tools), *state, &request, &err), XP_OK);
  xp_wire_writer w = {0};
  xp_profile_request_put(&w, &request);
  assert_bytes(&w, BYTES(request_without_tools));
}

static void an_empty_request_has_no_options(void **state)
{
  xp_profile_request request;
  xp_error err = {0};
  assert_int_equal(xp_profile_request_read(xp_str_c(""), *state, &request, &err), XP_OK);
  assert_false(request.has_options || request.emit_xspace);
  assert_int_equal(request.options.version, 0);
  xp_wire_writer w = {0};
  xp_profile_request_put(&w, &request);
  assert_int_equal(w.len, 0);
  request.has_options = true; /* options that are all 0 are still there */
  xp_profile_request_put(&w, &request);
  assert_bytes(&w, BYTES("\042\000"));
}

static void options_in_two_parts_are_one_message(void **state)
{
  xp_profile_request request;
  xp_error err = {0};
  xp_str message = BYTES("\042\004\020\003(\001\042\011b\007\012\001k\022\002\030\007");
  assert_int_equal(xp_profile_request_read(message, *state, &request, &err), XP_OK);
  assert_int_equal(request.options.host_tracer_level, 3);
  assert_int_equal(request.options.version, 1);
  assert_int_equal(request.options.advanced_count, 1);
}

static void every_prefix_of_a_request_is_read_or_refused(void **state)
{
  size_t good = 0;
  for (size_t n = 0; n < sizeof request_with_tools; n++) {
    xp_profile_request request;
    xp_error err = {0};
    xp_status status = xp_profile_request_read(xp_str_from(request_with_tools, n), *state, &request, &err);
    assert_true(status == XP_OK || (status == XP_ERR_TRUNCATED && err.text[0] != '\0'));
    good += status == XP_OK;
  }
  assert_int_equal(good, 11); /* the empty one, and the ends of its 10 fields */
}

/* ---------------------------------------------------------------- the small messages */

static void monitor_and_terminate_are_read_and_written(void **state)
{
  (void)state;
  xp_error err = {0};
  xp_monitor_request monitor;
  xp_str text;
  xp_wire_writer w = {0};
  xp_str bytes = BYTES("\010\254\002\020\377\377\377\377\377\377\377\377\377\001\030\001");
  assert_int_equal(xp_monitor_request_read(bytes, &monitor, &err), XP_OK);
  assert_int_equal(monitor.duration_ms, 300);
  assert_int_equal(monitor.level, -1);
  assert_true(monitor.timestamp);
  xp_monitor_request_put(&w, &monitor);
  assert_bytes(&w, bytes);

  bytes = BYTES("\012\012Counter: xR\013\010\002\021\000\000\000\000\000\000)@"); /* with a monitor_result */
  assert_int_equal(xp_monitor_response_read(bytes, &text, &err), XP_OK);
  assert_str(text, "Counter: x");
  xp_monitor_response_put(&w, text);
  assert_bytes(&w, BYTES("\012\012Counter: x"));

  assert_int_equal(xp_terminate_request_read(BYTES("\012\003run"), &text, &err), XP_OK);
  assert_str(text, "run");
  xp_terminate_request_put(&w, text);
  assert_bytes(&w, BYTES("\012\003run"));
}

static void messages_without_fields_may_have_unknown_ones(void **state)
{
  (void)state;
  xp_error err = {0};
  assert_int_equal(xp_empty_message_read(xp_str_c(""), "TerminateResponse", &err), XP_OK);
  assert_int_equal(xp_empty_message_read(xp_str_c("\012\003run"), "TerminateResponse", &err), XP_OK);
  assert_int_equal(xp_empty_message_read(xp_str_c("\012\004run"), "TerminateResponse", &err), XP_ERR_TRUNCATED);
  assert_contains(err.text, "TerminateResponse");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(all_options_are_read, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(options_are_written_as_protobuf_writes_them, open_arena, close_arena),
      cmocka_unit_test(default_options_are_those_of_upstream),
      cmocka_unit_test_setup_teardown(advanced_values_may_be_empty_or_unset, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(the_last_entry_of_a_key_counts, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(more_advanced_options_than_the_limit_are_refused, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(version_0_means_the_defaults, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(odd_fields_are_read_as_protobuf_reads_them, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(damage_is_found_at_every_depth, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(a_request_is_read, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(a_request_is_written_as_protobuf_writes_it, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(an_empty_request_has_no_options, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(options_in_two_parts_are_one_message, open_arena, close_arena),
      cmocka_unit_test_setup_teardown(every_prefix_of_a_request_is_read_or_refused, open_arena, close_arena),
      cmocka_unit_test(monitor_and_terminate_are_read_and_written),
      cmocka_unit_test(messages_without_fields_may_have_unknown_ones),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
