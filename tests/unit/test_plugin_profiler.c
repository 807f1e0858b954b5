/* Calling the profiler of a plugin.  The plugin is made here, out of machine words at the offsets of upstream's headers
 * (PJRT minor 114) and not with our declarations of them, and can misbehave in every way that we know of. */
#include "testing.h"

/* The sources are compiled into the test, with allocations that can fail. */
static int allocations_left = -1; /* before one fails; -1: none does */

static bool fails_now(void)
{
  return allocations_left >= 0 && allocations_left-- == 0;
}

static void *failing_malloc(size_t size)
{
  return fails_now() ? NULL : malloc(size);
}

static void *failing_calloc(size_t count, size_t size)
{
  return fails_now() ? NULL : calloc(count, size);
}

#define malloc failing_malloc
#define calloc failing_calloc
#include "../../src/pjrt/extension.c"
#include "../../src/pjrt/profiler.c"
#undef malloc
#undef calloc

/* Words of PJRT_Api, of two extensions, and of PLUGIN_Profiler_Api; a word has 8 bytes. */
static uint64_t api[143], other_extension[3], extension[5], functions[13];

/* What the plugin does wrong, and what it was asked. */
static struct {
  const char *fails;        /* name of the function that answers with an error */
  bool message_is_null;     /* of an error */
  bool code_fails;          /* error_get_code answers with an error */
  bool creates_nothing;     /* create answers without error and without profiler */
  bool two_calls;           /* collect_data as documented */
  uint64_t second_size;     /* of the second call, if it is not 0 */
  bool second_call_is_ours; /* the second call answers with the plugin's storage */
  bool never_gives;         /* ... or with no buffer */
  xp_str capture;
  size_t zeros; /* appended to the capture */
  char calls[256];
  char options[64];
  int errors; /* alive */
} plugin;

static uint8_t storage[4096];
static int profiler_object, error_object;

static uint64_t word(const void *args, size_t offset)
{
  uint64_t value;
  memcpy(&value, (const char *)args + offset, sizeof value);
  return value;
}

static void set_word(void *args, size_t offset, uint64_t value)
{
  memcpy((char *)args + offset, &value, sizeof value);
}

static uint64_t address(const void *p)
{
  return (uint64_t)(uintptr_t)p;
}

/* Notes a call; checks the size of its arguments; answers with an error if it shall. */
static void *answer(const char *name, const void *args, uint64_t size)
{
  strcat(plugin.calls, plugin.calls[0] == '\0' ? "" : " ");
  strcat(plugin.calls, name);
  assert_true(word(args, 0) == size);
  if (plugin.fails == NULL || strcmp(plugin.fails, name) != 0) {
    return NULL;
  }
  plugin.errors++;
  return &error_object;
}

static void *answer_for_profiler(const char *name, const void *args, uint64_t size)
{
  assert_true(word(args, 8) == address(&profiler_object));
  return answer(name, args, size);
}

static void fake_error_destroy(void *args)
{
  assert_true(word(args, 0) == 24);
  assert_true(word(args, 8) == 0);
  assert_true(word(args, 16) == address(&error_object));
  plugin.errors--;
}

static void fake_error_message(void *args)
{
  assert_true(word(args, 0) == 40);
  assert_true(word(args, 8) == 0);
  assert_true(word(args, 16) == address(&error_object));
  static const char text[] = {'n', 'o', ' ', 'c', 'h', 'i', 'p', '!', '!'}; /* no NUL */
  set_word(args, 24, plugin.message_is_null ? 0 : address(text));
  set_word(args, 32, 7);
}

static void *fake_error_get_code(void *args)
{
  assert_true(word(args, 0) == 28); /* not 32, the size that the compiler gives it */
  assert_true(word(args, 16) == address(&error_object));
  if (plugin.code_fails) {
    plugin.errors++;
    return &error_object;
  }
  int code = 14;
  memcpy((char *)args + 24, &code, sizeof code);
  return NULL;
}

static void *fake_create(void *args)
{
  size_t len = (size_t)word(args, 16);
  assert_true(word(args, 8) != 0 && len < sizeof plugin.options);
  memcpy(plugin.options, (const char *)(uintptr_t)word(args, 8), len);
  assert_true(word(args, 24) == 0);
  set_word(args, 24, plugin.creates_nothing ? 0 : address(&profiler_object));
  return answer("create", args, 32);
}

static void *fake_destroy(void *args)
{
  return answer_for_profiler("destroy", args, 16);
}

static void *fake_start(void *args)
{
  return answer_for_profiler("start", args, 16);
}

static void *fake_stop(void *args)
{
  return answer_for_profiler("stop", args, 16);
}

static void *fake_collect(void *args)
{
  size_t size = plugin.capture.len + plugin.zeros;
  bool is_second = word(args, 16) != 0;
  memset(storage, 0, sizeof storage);
  memcpy(storage, plugin.capture.ptr, plugin.capture.len);
  assert_true(is_second ? word(args, 24) == size : word(args, 24) == 0);
  if (is_second && plugin.never_gives) {
    set_word(args, 16, 0);
  } else if (is_second && !plugin.second_call_is_ours) {
    memcpy((void *)(uintptr_t)word(args, 16), storage, size);
  } else if (is_second || !plugin.two_calls) {
    set_word(args, 16, address(storage));
  }
  set_word(args, 24, is_second && plugin.second_size != 0 ? plugin.second_size : size);
  return answer_for_profiler("collect", args, 32);
}

/* A plugin of minor 114 that behaves. */
static int make_plugin(void **state)
{
  (void)state;
  memset(&plugin, 0, sizeof plugin);
  memset(api, 0, sizeof api);
  plugin.capture = xp_str_from("\012\003\022\001p", 5); /* a plane of the name "p" */
  api[0] = sizeof api;
  api[1] = address(other_extension);
  api[2] = 24;
  int version[2] = {0, 114};
  memcpy(&api[4], version, sizeof version);
  uint64_t other[3] = {24, 0, address(extension)};
  memcpy(other_extension, other, sizeof other);
  int kind = 9;
  memcpy(&other_extension[1], &kind, sizeof kind);
  uint64_t profiler[5] = {40, 0, 0, address(functions), UINT64_MAX};
  memcpy(extension, profiler, sizeof profiler);
  kind = 1;
  memcpy(&extension[1], &kind, sizeof kind);
  uint64_t table[13] = {80,
                        0,
                        (uint64_t)(uintptr_t)fake_error_destroy,
                        (uint64_t)(uintptr_t)fake_error_message,
                        (uint64_t)(uintptr_t)fake_error_get_code,
                        (uint64_t)(uintptr_t)fake_create,
                        (uint64_t)(uintptr_t)fake_destroy,
                        (uint64_t)(uintptr_t)fake_start,
                        (uint64_t)(uintptr_t)fake_stop,
                        (uint64_t)(uintptr_t)fake_collect,
                        0,
                        0,
                        0};
  memcpy(functions, table, sizeof table);
  return 0;
}

static int check_errors(void **state)
{
  (void)state;
  return plugin.errors != 0; /* each error was destroyed, once */
}

static xp_plugin_profiler *open_plugin(void)
{
  xp_plugin_profiler *opened = NULL;
  xp_error err = {0};
  if (xp_plugin_profiler_open(api, &opened, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  return opened;
}

static xp_plugin_session *start_session(void)
{
  xp_plugin_profiler *opened = open_plugin();
  xp_plugin_session *session = NULL;
  xp_error err = {0};
  if (xp_plugin_session_start(opened, xp_str_c("\020\002(\001"), &session, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  xp_plugin_profiler_free(opened);
  return session;
}

static void assert_not_opened(xp_status status, const char *part)
{
  xp_plugin_profiler *opened = NULL;
  xp_error err = {0};
  assert_int_equal(xp_plugin_profiler_open(api, &opened, &err), status);
  assert_null(opened);
  assert_contains(err.text, part);
}

/* ---------------------------------------------------------------- opening */

static void a_plugin_without_the_extension_is_not_found(void **state)
{
  (void)state;
  other_extension[2] = 0;
  assert_not_opened(XP_ERR_NOT_FOUND, "no profiler extension");
  api[1] = 0;
  assert_not_opened(XP_ERR_NOT_FOUND, "no profiler extension");
}

static void structures_that_are_too_small_are_refused(void **state)
{
  (void)state;
  static const struct {
    uint64_t *size;
    uint64_t least, bad;
    const char *part;
  } cases[] = {
      {&api[0], 40, 39, "PJRT_Api has 39 bytes"},
      {&api[2], 24, 16, "version in the plugin's PJRT_Api has 16 bytes"},
      {&other_extension[0], 24, 9, "extension number 1 has 9 bytes"}, /* a type, where the size stands since minor 45 */
      {&extension[0], 32, 24, "profiler extension has 24 bytes"},
      {&functions[0], 80, 79, "PLUGIN_Profiler_Api has 79 bytes"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    make_plugin(NULL);
    *cases[i].size = cases[i].least;
    xp_plugin_profiler_free(open_plugin());
    *cases[i].size = cases[i].bad;
    assert_not_opened(XP_ERR_FORMAT, cases[i].part);
  }
}

static void larger_function_tables_may_have_empty_ends(void **state)
{
  (void)state;
  functions[0] = 104; /* as XLA's own GPU plugin: three functions more, which it lacks */
  xp_plugin_profiler_free(open_plugin());
  functions[0] = 4096;
  xp_plugin_profiler_free(open_plugin());
}

static void a_missing_function_is_named(void **state)
{
  (void)state;
  static const char *const names[] = {"error_destroy", "error_message", "error_get_code", "create",
                                      "destroy",       "start",         "stop",           "collect_data"};
  for (size_t i = 0; i < 8; i++) {
    uint64_t kept = functions[2 + i];
    char part[64];
    functions[2 + i] = 0;
    snprintf(part, sizeof part, "no function %s;", names[i]);
    assert_not_opened(XP_ERR_FORMAT, part);
    functions[2 + i] = kept;
  }
  extension[3] = 0;
  assert_not_opened(XP_ERR_FORMAT, "has no functions");
}

static void old_and_unknown_versions_are_refused(void **state)
{
  (void)state;
  static const struct {
    int version[2];
    const char *part;
  } cases[] = {{{0, 44}, "version 0.44"}, {{1, 114}, "version 1.114"}, {{-1, 114}, "version -1.114"}};
  for (size_t i = 0; i < 3; i++) {
    memcpy(&api[4], cases[i].version, sizeof cases[i].version);
    assert_not_opened(XP_ERR_FORMAT, cases[i].part);
  }
  int first[2] = {0, 45};
  memcpy(&api[4], first, sizeof first);
  xp_plugin_profiler_free(open_plugin());
}

static void a_list_of_extensions_without_end_is_refused(void **state)
{
  (void)state;
  other_extension[2] = address(other_extension);
  assert_not_opened(XP_ERR_FORMAT, "has no end");
}

static void no_api_is_wrong_usage(void **state)
{
  (void)state;
  xp_plugin_profiler *opened;
  xp_error err = {0};
  assert_int_equal(xp_plugin_profiler_open(NULL, &opened, &err), XP_ERR_USAGE);
  assert_contains(err.text, "GetPjrtApi");
}

/* ---------------------------------------------------------------- a session */

static void a_session_is_create_start_stop_collect_destroy(void **state)
{
  (void)state;
  xp_plugin_session *session = start_session();
  xp_str xspace;
  xp_error err = {0};
  assert_string_equal(plugin.options, "\020\002(\001");
  assert_int_equal(xp_plugin_session_stop(session, &err), XP_OK);
  assert_int_equal(xp_plugin_session_collect(session, &xspace, &err), XP_OK);
  assert_int_equal(xspace.len, 5);
  assert_ptr_equal(xspace.ptr, storage); /* the plugin's own, not copied */
  xp_plugin_session_free(session);
  assert_string_equal(plugin.calls, "create start stop collect destroy");
}

static void calls_out_of_order_do_not_reach_the_plugin(void **state)
{
  (void)state;
  xp_plugin_session *session = start_session();
  xp_str xspace;
  xp_error err = {0};
  assert_int_equal(xp_plugin_session_collect(session, &xspace, &err), XP_ERR_USAGE);
  assert_int_equal(xp_plugin_session_stop(session, &err), XP_OK);
  assert_int_equal(xp_plugin_session_stop(session, &err), XP_ERR_USAGE);
  assert_int_equal(xp_plugin_session_collect(session, &xspace, &err), XP_OK);
  assert_int_equal(xp_plugin_session_collect(session, &xspace, &err), XP_ERR_USAGE);
  xp_plugin_session_free(session);
  assert_string_equal(plugin.calls, "create start stop collect destroy");
}

static void a_session_that_is_given_up_is_stopped_and_destroyed(void **state)
{
  (void)state;
  xp_plugin_session_free(start_session());
  assert_string_equal(plugin.calls, "create start stop destroy");
  xp_plugin_session_free(NULL);
}

static void a_failed_start_is_not_stopped_but_destroyed(void **state)
{
  (void)state;
  static const struct {
    const char *fails, *calls, *part;
  } cases[] = {{"create", "create", "could not be created: no chip (code 14)"},
               {"start", "create start destroy", "could not start: no chip (code 14)"}};
  for (size_t i = 0; i < 2; i++) {
    make_plugin(NULL);
    plugin.fails = cases[i].fails;
    xp_plugin_profiler *opened = open_plugin();
    xp_plugin_session *session = NULL;
    xp_error err = {0};
    assert_int_equal(xp_plugin_session_start(opened, xp_str_c(""), &session, &err), XP_ERR_PEER);
    assert_null(session);
    assert_contains(err.text, cases[i].part);
    assert_string_equal(plugin.calls, cases[i].calls);
    assert_int_equal(plugin.errors, 0);
    xp_plugin_profiler_free(opened);
  }
}

static void a_plugin_that_creates_nothing_is_not_started(void **state)
{
  (void)state;
  plugin.creates_nothing = true;
  xp_plugin_profiler *opened = open_plugin();
  xp_plugin_session *session = NULL;
  xp_error err = {0};
  assert_int_equal(xp_plugin_session_start(opened, xp_str_c(""), &session, &err), XP_ERR_FORMAT);
  assert_string_equal(plugin.calls, "create");
  xp_plugin_profiler_free(opened);
}

static void nothing_is_collected_after_a_failed_stop(void **state)
{
  (void)state;
  plugin.fails = "stop";
  xp_plugin_session *session = start_session();
  xp_str xspace;
  xp_error err = {0};
  assert_int_equal(xp_plugin_session_stop(session, &err), XP_ERR_PEER);
  assert_contains(err.text, "could not stop: no chip (code 14)");
  assert_int_equal(xp_plugin_session_collect(session, &xspace, &err), XP_ERR_USAGE);
  xp_plugin_session_free(session);
  assert_string_equal(plugin.calls, "create start stop destroy");
}

static void a_failed_destruction_still_frees(void **state)
{
  (void)state;
  plugin.fails = "destroy";
  xp_plugin_session_free(start_session());
  assert_string_equal(plugin.calls, "create start stop destroy");
}

static void errors_that_cannot_explain_themselves_are_told(void **state)
{
  (void)state;
  plugin.fails = "stop";
  plugin.message_is_null = true;
  plugin.code_fails = true;
  xp_plugin_session *session = start_session();
  xp_error err = {0};
  assert_int_equal(xp_plugin_session_stop(session, &err), XP_ERR_PEER);
  assert_contains(err.text, "it does not say why (code -1)");
  xp_plugin_session_free(session);
}

/* ---------------------------------------------------------------- what it traced */

static xp_status collect(xp_plugin_session **session, xp_str *xspace, xp_error *err)
{
  *session = start_session();
  assert_int_equal(xp_plugin_session_stop(*session, err), XP_OK);
  return xp_plugin_session_collect(*session, xspace, err);
}

static void assert_collected(xp_str want, const char *calls)
{
  xp_plugin_session *session;
  xp_str xspace;
  xp_error err = {0};
  if (collect(&session, &xspace, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  assert_int_equal(xspace.len, want.len);
  if (want.len > 0) {
    assert_memory_equal(xspace.ptr, want.ptr, want.len);
  }
  xp_plugin_session_free(session);
  assert_string_equal(plugin.calls, calls);
}

static void assert_not_collected(xp_status status, const char *part)
{
  xp_plugin_session *session;
  xp_str xspace;
  xp_error err = {0};
  assert_int_equal(collect(&session, &xspace, &err), status);
  assert_contains(err.text, part);
  xp_plugin_session_free(session);
  assert_contains(plugin.calls, "collect destroy");
}

#define ONE_CALL  "create start stop collect destroy"
#define TWO_CALLS "create start stop collect collect destroy"

static void the_documented_two_calls_work(void **state)
{
  (void)state;
  plugin.two_calls = true;
  assert_collected(plugin.capture, TWO_CALLS);
}

static void two_calls_may_end_with_the_storage_of_the_plugin(void **state)
{
  (void)state;
  plugin.two_calls = true;
  plugin.second_call_is_ours = true;
  assert_collected(plugin.capture, TWO_CALLS);
}

static void a_second_call_may_give_less_but_not_more(void **state)
{
  (void)state;
  plugin.two_calls = true;
  plugin.capture = xp_str_from("\012\001x\012\001y", 6);
  plugin.second_size = 3;
  assert_collected(xp_str_from("\012\001x", 3), TWO_CALLS);
  make_plugin(NULL);
  plugin.two_calls = true;
  plugin.second_size = 6;
  assert_not_collected(XP_ERR_FORMAT, "told of 5 bytes, then of 6");
}

static void a_plugin_that_tells_of_bytes_must_give_them(void **state)
{
  (void)state;
  plugin.two_calls = true;
  plugin.never_gives = true;
  assert_not_collected(XP_ERR_FORMAT, "tells of 5 bytes and gives none");
}

static void nothing_traced_is_no_bytes(void **state)
{
  (void)state;
  plugin.capture = xp_str_from("", 0);
  assert_collected(xp_str_c(""), ONE_CALL);
  make_plugin(NULL);
  plugin.capture = xp_str_from("", 0);
  plugin.two_calls = true; /* a size of 0 needs no second call */
  assert_collected(xp_str_c(""), ONE_CALL);
  make_plugin(NULL);
  plugin.capture = xp_str_from("", 0);
  plugin.zeros = 1; /* what the reference plugin gives */
  assert_collected(xp_str_c(""), ONE_CALL);
}

static void zero_bytes_behind_the_capture_are_taken_off(void **state)
{
  (void)state;
  plugin.zeros = 1;
  assert_collected(plugin.capture, ONE_CALL);
  make_plugin(NULL);
  plugin.zeros = 37;
  assert_collected(plugin.capture, ONE_CALL);
}

static void zero_bytes_of_the_capture_stay(void **state)
{
  (void)state;
  /* planes {stats {metadata_id 1, int64_value 0}} and errors "" */
  static const char capture[] = "\012\0062\004\010\001\040\000\022\000";
  for (size_t len = 8; len <= 10; len += 2) {
    for (size_t zeros = 0; zeros < 3; zeros++) {
      make_plugin(NULL);
      plugin.capture = xp_str_from(capture, len);
      plugin.zeros = zeros;
      assert_collected(plugin.capture, ONE_CALL);
    }
  }
}

static void records_that_are_not_whole_are_refused(void **state)
{
  (void)state;
  plugin.capture = xp_str_from("\012\001x\012\005y", 6);
  assert_not_collected(XP_ERR_TRUNCATED, "What the plugin's profiler traced ends inside the record at byte 3");
  make_plugin(NULL);
  plugin.capture = xp_str_from("\012\001x\000\000\012", 6);
  assert_not_collected(XP_ERR_FORMAT, "byte 3");
}

static void a_failed_collection_is_told(void **state)
{
  (void)state;
  plugin.fails = "collect";
  assert_not_collected(XP_ERR_PEER, "could not collect what it traced: no chip (code 14)");
}

static void a_lack_of_memory_is_an_error_and_ends_the_session(void **state)
{
  (void)state;
  allocations_left = 0;
  assert_not_opened(XP_ERR_MEMORY, "Memory ran out");
  xp_plugin_profiler *opened = open_plugin();
  xp_plugin_session *session = NULL;
  xp_error err = {0};
  allocations_left = 0;
  assert_int_equal(xp_plugin_session_start(opened, xp_str_c(""), &session, &err), XP_ERR_MEMORY);
  assert_string_equal(plugin.calls, "");
  xp_plugin_profiler_free(opened);
  plugin.two_calls = true;
  allocations_left = 2; /* the plugin and its session; the buffer fails */
  assert_not_collected(XP_ERR_MEMORY, "Memory ran out for the 5 bytes");
  assert_string_equal(plugin.calls, ONE_CALL);
}

#define PLUGIN_TEST(f) cmocka_unit_test_setup_teardown(f, make_plugin, check_errors)

int main(void)
{
  const struct CMUnitTest tests[] = {
      PLUGIN_TEST(a_plugin_without_the_extension_is_not_found),
      PLUGIN_TEST(structures_that_are_too_small_are_refused),
      PLUGIN_TEST(larger_function_tables_may_have_empty_ends),
      PLUGIN_TEST(a_missing_function_is_named),
      PLUGIN_TEST(old_and_unknown_versions_are_refused),
      PLUGIN_TEST(a_list_of_extensions_without_end_is_refused),
      PLUGIN_TEST(no_api_is_wrong_usage),
      PLUGIN_TEST(a_session_is_create_start_stop_collect_destroy),
      PLUGIN_TEST(calls_out_of_order_do_not_reach_the_plugin),
      PLUGIN_TEST(a_session_that_is_given_up_is_stopped_and_destroyed),
      PLUGIN_TEST(a_failed_start_is_not_stopped_but_destroyed),
      PLUGIN_TEST(a_plugin_that_creates_nothing_is_not_started),
      PLUGIN_TEST(nothing_is_collected_after_a_failed_stop),
      PLUGIN_TEST(a_failed_destruction_still_frees),
      PLUGIN_TEST(errors_that_cannot_explain_themselves_are_told),
      PLUGIN_TEST(the_documented_two_calls_work),
      PLUGIN_TEST(two_calls_may_end_with_the_storage_of_the_plugin),
      PLUGIN_TEST(a_second_call_may_give_less_but_not_more),
      PLUGIN_TEST(a_plugin_that_tells_of_bytes_must_give_them),
      PLUGIN_TEST(nothing_traced_is_no_bytes),
      PLUGIN_TEST(zero_bytes_behind_the_capture_are_taken_off),
      PLUGIN_TEST(zero_bytes_of_the_capture_stay),
      PLUGIN_TEST(records_that_are_not_whole_are_refused),
      PLUGIN_TEST(a_failed_collection_is_told),
      PLUGIN_TEST(a_lack_of_memory_is_an_error_and_ends_the_session),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
