/* Running programs on a plugin that the test is: what it is given, and what comes back. */
#include "pjrt_walk.h"

static xp_pjrt_client *create_client(void)
{
  xp_pjrt_client *client = NULL;
  xp_error err = {0};
  assert_ok(xp_pjrt_client_create(open_plugin(), NULL, 0, &client, &err), &err);
  return client;
}

/* ---------------------------------------------------------------- clients and programs */

static void options_go_to_the_plugin_by_their_types(void **state)
{
  (void)state;
  const xp_pjrt_option options[] = {{.name = "path", .type = XP_PJRT_TEXT, .text = "/tmp/x"},
                                    {.name = "count", .type = XP_PJRT_NUMBER, .number = -3},
                                    {.name = "share", .type = XP_PJRT_REAL, .real = 0.5F},
                                    {.name = "on", .type = XP_PJRT_FLAG, .number = 1}};
  xp_pjrt_client *client = NULL;
  xp_error err = {0};
  assert_ok(xp_pjrt_client_create(open_plugin(), options, 4, &client, &err), &err);
  for (int i = 0; i < 4; i++) {
    static const int types[] = {0, 1, 3, 4};
    assert_int_equal(fake.values[i][0], 56);
    assert_int_equal((int)fake.values[i][4], types[i]);
    assert_int_equal(fake.values[i][3], strlen(options[i].name));
    assert_int_equal(fake.values[i][6], i == 0 ? 6 : 1);
  }
  assert_ptr_equal(fake.values[0][5], options[0].text);
  assert_int_equal((int64_t)fake.values[1][5], -3);
  assert_int_equal((uint32_t)fake.values[2][5], 0x3f000000); /* 0.5 */
  assert_int_equal((uint8_t)fake.values[3][5], 1);
  xp_pjrt_client_destroy(client);
}

static void a_client_tells_of_its_platform_and_devices(void **state)
{
  (void)state;
  xp_pjrt_client *client = create_client();
  size_t count = 0;
  const xp_pjrt_device *devices = xp_pjrt_client_devices(client, &count);
  assert_str(xp_pjrt_client_platform(client), "fake");
  assert_str(xp_pjrt_client_platform_version(client), "fake version 1");
  assert_str(devices[1].kind, "imagined");
  assert_str(devices[1].name, "FakeDevice");
  assert_int_equal(devices[1].local_id, 5);
  assert_int_equal(devices[1].process_index, 3);
  xp_pjrt_client_destroy(client);
}

/* The bytes by hand: 1a LEN executable_build_options { 08 -1 device_ordinal, 20 01 num_replicas, 28 01 num_partitions,
 * 4a 08 device_assignment { 08 01 replicas, 10 01 computations, 1a 02 { 08 ID } } }. */
static void a_program_is_compiled_for_its_device(void **state)
{
  (void)state;
  static const char first[] = "\x1a\x19\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x20\x01\x28\x01"
                              "\x4a\x08\x08\x01\x10\x01\x1a\x02\x08\x46"; /* 70 */
  static const char ahead[] = "\x1a\x0f\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x20\x01\x28\x01";
  xp_pjrt_client *client = create_client();
  xp_pjrt_topology *topology = NULL;
  xp_pjrt_executable *executables[3] = {NULL};
  xp_error err = {0};
  size_t count = 0;
  assert_ok(xp_pjrt_compile(client, NULL, walk_program, &executables[0], &err), &err);
  assert_int_equal(fake.bytes_len, sizeof first - 1);
  assert_memory_equal(fake.bytes, first, sizeof first - 1);
  const xp_pjrt_device *second = &xp_pjrt_client_devices(client, &count)[1];
  assert_ok(xp_pjrt_compile(client, second, walk_program, &executables[1], &err), &err);
  assert_int_equal(fake.bytes[fake.bytes_len - 1], 71);
  assert_ok(xp_pjrt_topology_create(open_plugin(), "v5e:2x2", NULL, 0, &topology, &err), &err);
  assert_ok(xp_pjrt_topology_compile(topology, walk_program, &executables[2], &err), &err);
  assert_int_equal(fake.bytes_len, sizeof ahead - 1);
  assert_memory_equal(fake.bytes, ahead, sizeof ahead - 1);
  assert_int_equal(xp_pjrt_execute(executables[2], NULL, 0, NULL, NULL, NULL, &err), XP_ERR_USAGE);
  assert_contains(err.text, "ahead of time");
  for (int i = 0; i < 3; i++) {
    xp_pjrt_executable_destroy(executables[i]);
  }
  xp_pjrt_topology_destroy(topology);
  xp_pjrt_client_destroy(client);
}

/* ---------------------------------------------------------------- execution */

static void an_execution_has_its_arguments_and_options(void **state)
{
  (void)state;
  enum { COUNT = 200 }; /* more than have room on the stack */
  static const size_t kept[] = {0, 7};
  static const xp_abi_extension extension = {sizeof extension, 900, NULL};
  const xp_pjrt_execute_options options = {kept, 2, 12, &extension};
  xp_pjrt_client *client = create_client();
  xp_pjrt_executable *executable = NULL;
  xp_pjrt_buffer *buffers[COUNT], *outputs[2];
  uint64_t handles[COUNT];
  xp_error err = {0};
  fake.watch = "PJRT_Client_BufferFromHostBuffer";
  assert_ok(xp_pjrt_compile(client, NULL, walk_program, &executable, &err), &err);
  for (int i = 0; i < COUNT; i++) {
    assert_ok(xp_pjrt_upload(client, NULL, walk_shape, walk_values, 24, &buffers[i], NULL, &err), &err);
    handles[i] = fake.last[14];
  }
  for (int i = 0; i < 2; i++) { /* many, then few */
    size_t count = i == 0 ? COUNT : 3;
    fake.extension = i == 0 ? address(&extension) : 0;
    assert_ok(xp_pjrt_execute(executable, buffers, count, i == 0 ? &options : NULL, outputs, NULL, &err), &err);
    assert_memory_equal(fake.arguments, handles, count * sizeof *handles);
    assert_int_equal((int)fake.options[6], i == 0 ? 12 : 0);
    assert_int_equal(fake.options[8], i == 0 ? 2 : 0);
    fake.extension = 0;
    xp_pjrt_buffer_destroy(outputs[0]);
    xp_pjrt_buffer_destroy(outputs[1]);
  }
  assert_true(fake.kept[0] == 0 && fake.kept[1] == 7);
  for (int i = 0; i < COUNT; i++) {
    xp_pjrt_buffer_destroy(buffers[i]);
  }
  xp_pjrt_executable_destroy(executable);
  xp_pjrt_client_destroy(client);
}

static void a_failed_execution_gives_no_outputs(void **state)
{
  (void)state;
  xp_pjrt_client *client = create_client();
  xp_pjrt_executable *executable = NULL;
  xp_pjrt_buffer *outputs[2];
  xp_pjrt_event *done = NULL;
  xp_error err = {0};
  assert_ok(xp_pjrt_compile(client, NULL, walk_program, &executable, &err), &err);
  fake.fails = "PJRT_LoadedExecutable_Execute";
  assert_int_equal(xp_pjrt_execute(executable, NULL, 0, NULL, outputs, &done, &err), XP_ERR_PEER);
  assert_true(outputs[0] == NULL && outputs[1] == NULL && done == NULL);
  xp_pjrt_executable_destroy(executable);
  xp_pjrt_client_destroy(client);
}

/* ---------------------------------------------------------------- buffers */

static void an_upload_says_how_long_the_bytes_stay(void **state)
{
  (void)state;
  xp_pjrt_client *client = create_client();
  xp_pjrt_buffer *buffer = NULL;
  xp_pjrt_event *released = NULL;
  xp_error err = {0};
  fake.watch = "PJRT_Client_BufferFromHostBuffer";
  assert_ok(xp_pjrt_upload(client, NULL, walk_shape, walk_values, 24, &buffer, NULL, &err), &err);
  assert_int_equal((int)fake.last[9], 0); /* kImmutableOnlyDuringCall */
  xp_pjrt_buffer_destroy(buffer);
  assert_ok(xp_pjrt_upload(client, NULL, walk_shape, walk_values, 24, &buffer, &released, &err), &err);
  assert_int_equal((int)fake.last[9], 1); /* kImmutableUntilTransferCompletes */
  assert_ptr_equal(fake.last[3], walk_values);
  assert_int_equal((int)fake.last[4], 11);
  assert_ptr_equal(fake.last[5], walk_dimensions);
  assert_int_equal(fake.last[6], 2);
  assert_int_equal(fake.last[7] | fake.last[8] | fake.last[11] | fake.last[12], 0); /* strides, memory, layout */
  assert_ptr_equal(fake.last[10], &fake_devices[0]);
  xp_pjrt_event_destroy(released);
  xp_pjrt_buffer_destroy(buffer);
  xp_pjrt_client_destroy(client);
}

static void an_empty_array_has_an_address_all_the_same(void **state)
{
  (void)state;
  static const int64_t none[2] = {0, 3};
  xp_pjrt_client *client = create_client();
  xp_pjrt_buffer *buffer = NULL;
  xp_error err = {0};
  fake.watch = "PJRT_Client_BufferFromHostBuffer";
  xp_pjrt_shape empty = {XP_ABI_F32, 2, none};
  assert_ok(xp_pjrt_upload(client, NULL, empty, NULL, 0, &buffer, NULL, &err), &err);
  assert_true(fake.last[3] != 0);
  xp_pjrt_buffer_destroy(buffer);
  xp_pjrt_client_destroy(client);
}

static void a_size_that_does_not_fit_the_shape_is_wrong_usage(void **state)
{
  (void)state;
  xp_pjrt_client *client = create_client();
  xp_pjrt_buffer *buffer = NULL;
  xp_error err = {0};
  float values[8];
  assert_int_equal(xp_pjrt_upload(client, NULL, walk_shape, values, 23, &buffer, NULL, &err), XP_ERR_USAGE);
  assert_contains(err.text, "takes 24 bytes on the host, and 23 were given");
  xp_pjrt_shape token = {XP_ABI_TOKEN, 0, NULL};
  assert_int_equal(xp_pjrt_upload(client, NULL, token, values, 0, &buffer, NULL, &err), XP_ERR_USAGE);
  assert_null(buffer);
  assert_ok(xp_pjrt_upload(client, NULL, walk_shape, values, 24, &buffer, NULL, &err), &err);
  assert_int_equal(xp_pjrt_download(buffer, values, 32, NULL, &err), XP_ERR_USAGE);
  xp_pjrt_buffer_destroy(buffer);
  xp_pjrt_client_destroy(client);
}

static void sizes_of_arrays_are_right_or_refused(void **state)
{
  (void)state;
  static const int64_t some[3] = {3, 5, 7}, huge[2] = {INT64_MAX, 4}, empty[3] = {INT64_MAX, INT64_MAX, 0},
                       negative[2] = {0, -1};
  static const struct {
    xp_pjrt_shape shape;
    bool is_known;
    size_t bytes;
  } cases[] = {{{XP_ABI_F32, 3, some}, true, 420},    {{XP_ABI_F64, 3, some}, true, 840},
               {{XP_ABI_BF16, 3, some}, true, 210},   {{XP_ABI_C128, 3, some}, true, 1680},
               {{XP_ABI_PRED, 3, some}, true, 105},   {{XP_ABI_S4, 3, some}, true, 105},
               {{XP_ABI_S64, 0, NULL}, true, 8},      {{XP_ABI_F32, 3, empty}, true, 0},
               {{XP_ABI_F32, 2, huge}, false, 0},     {{XP_ABI_F32, 2, negative}, false, 0},
               {{XP_ABI_TOKEN, 0, NULL}, false, 0},   {{(xp_abi_type)34, 0, NULL}, false, 0},
               {{(xp_abi_type)-1, 0, NULL}, false, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    size_t bytes = 0;
    assert_int_equal(xp_pjrt_shape_bytes(cases[i].shape, &bytes), cases[i].is_known);
    if (cases[i].is_known) {
      assert_int_equal(bytes, cases[i].bytes);
    }
  }
}

/* ---------------------------------------------------------------- events */

typedef struct {
  atomic_int count;
  xp_status status;
  char text[sizeof(xp_error)];
} call_notes;

static void note_call(void *context, xp_status status, const xp_error *err)
{
  call_notes *notes = context;
  notes->status = status;
  snprintf(notes->text, sizeof notes->text, "%s", err->text);
  atomic_fetch_add(&notes->count, 1);
}

static xp_pjrt_event *any_event(xp_pjrt_client *client)
{
  xp_pjrt_buffer *buffer = NULL;
  xp_pjrt_event *event = NULL;
  xp_error err = {0};
  assert_ok(xp_pjrt_upload(client, NULL, walk_shape, walk_values, 24, &buffer, &event, &err), &err);
  xp_pjrt_buffer_destroy(buffer);
  return event;
}

static void a_callback_comes_from_the_plugins_thread_after_the_event_is_gone(void **state)
{
  (void)state;
  xp_pjrt_client *client = create_client();
  xp_pjrt_event *event = any_event(client);
  call_notes notes = {0};
  xp_error err = {0};
  bool is_ready = true;
  pthread_t thread;
  fake.events_wait = true;
  fake.events_fail = true;
  assert_ok(xp_pjrt_event_is_ready(event, &is_ready, &err), &err);
  assert_false(is_ready);
  assert_ok(xp_pjrt_event_on_ready(event, note_call, &notes, &err), &err);
  assert_int_equal(notes.count, 0);
  xp_pjrt_event_destroy(event);
  assert_int_equal(pthread_create(&thread, NULL, fake_finish, NULL), 0);
  pthread_join(thread, NULL);
  assert_int_equal(notes.count, 1);
  assert_int_equal(notes.status, XP_ERR_PEER);
  assert_contains(notes.text, "no chip (UNAVAILABLE)");
  xp_pjrt_client_destroy(client);
}

static void waiting_gives_the_error_of_the_work(void **state)
{
  (void)state;
  xp_pjrt_client *client = create_client();
  xp_pjrt_event *event = any_event(client);
  xp_error err = {0};
  fake.events_fail = true;
  assert_int_equal(xp_pjrt_event_wait(event, &err), XP_ERR_PEER);
  assert_contains(err.text, "no chip");
  assert_int_equal(xp_pjrt_event_wait(event, NULL), XP_ERR_PEER);
  xp_pjrt_event_destroy(event);
  xp_pjrt_client_destroy(client);
}

static void a_callback_that_is_refused_is_not_called(void **state)
{
  (void)state;
  xp_pjrt_client *client = create_client();
  xp_pjrt_event *event = any_event(client);
  call_notes notes = {0};
  xp_error err = {0};
  fake.fails = "PJRT_Event_OnReady";
  assert_int_equal(xp_pjrt_event_on_ready(event, note_call, &notes, &err), XP_ERR_PEER);
  assert_int_equal(notes.count, 0);
  xp_pjrt_event_destroy(event);
  xp_pjrt_client_destroy(client);
}

static void destroying_nothing_is_allowed(void **state)
{
  (void)state;
  xp_pjrt_client_destroy(NULL);
  xp_pjrt_executable_destroy(NULL);
  xp_pjrt_program_free(NULL);
  xp_pjrt_buffer_destroy(NULL);
  xp_pjrt_event_destroy(NULL);
  xp_pjrt_topology_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fake_reset, fake_check)

int main(void)
{
  const struct CMUnitTest tests[] = {
      TEST(options_go_to_the_plugin_by_their_types),
      TEST(a_client_tells_of_its_platform_and_devices),
      TEST(a_program_is_compiled_for_its_device),
      TEST(an_execution_has_its_arguments_and_options),
      TEST(a_failed_execution_gives_no_outputs),
      TEST(an_upload_says_how_long_the_bytes_stay),
      TEST(an_empty_array_has_an_address_all_the_same),
      TEST(a_size_that_does_not_fit_the_shape_is_wrong_usage),
      TEST(sizes_of_arrays_are_right_or_refused),
      TEST(a_callback_comes_from_the_plugins_thread_after_the_event_is_gone),
      TEST(waiting_gives_the_error_of_the_work),
      TEST(a_callback_that_is_refused_is_not_called),
      TEST(destroying_nothing_is_allowed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
