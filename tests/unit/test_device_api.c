/* The plugin's table, errors, events, client, devices and options. */
#define _GNU_SOURCE
#include "device_programs.h"

#include <pthread.h>

#include "pjrt/pjrt_abi_objects.h"

static void the_table_is_of_version_81_and_has_no_empty_slot(void **state)
{
  (void)state;
  const xp_abi_api *table = api();
  assert_int_equal(table->struct_size, 984); /* as the CPU plugin of that version */
  assert_int_equal(table->version.struct_size, 24);
  assert_int_equal(table->version.major, 0);
  assert_int_equal(table->version.minor, 81);
  for (size_t at = 40; at < sizeof *table; at += 8) {
    void *slot = NULL;
    memcpy(&slot, (const char *)table + at, sizeof slot);
    if (slot == NULL) {
      fail_msg("the slot at %zu is NULL", at);
    }
  }
}

static void what_the_device_has_not_is_refused_by_its_name(void **state)
{
  (void)state;
  xp_abi_bytes_args bytes = {.struct_size = sizeof bytes};
  assert_fails(api()->executable_serialize(&bytes), XP_ABI_UNIMPLEMENTED, "PJRT_Executable_Serialize");
  typedef xp_abi_error *any(void *);
  union {
    xp_abi_untyped_function *untyped;
    any *typed;
  } slot = {.untyped = api()->client_dma_map};
  assert_fails(slot.typed(&bytes), XP_ABI_UNIMPLEMENTED, "PJRT_Client_DmaMap");
  slot.untyped = api()->transfer_manager_add_metadata;
  assert_fails(slot.typed(&bytes), XP_ABI_UNIMPLEMENTED, "PJRT_AsyncHostToDeviceTransferManager_AddMetadata");
}

static void the_plugin_initialises_and_has_attributes(void **state)
{
  (void)state;
  xp_abi_plugin_initialize_args initialize = {.struct_size = sizeof initialize};
  assert_done(api()->plugin_initialize(&initialize));
  xp_abi_plugin_attributes_args attributes = {.struct_size = sizeof attributes, .num_attributes = 77};
  assert_done(api()->plugin_attributes(&attributes));
  assert_int_equal(attributes.num_attributes, 0);
}

/* ---------------------------------------------------------------- devices */

static const char *text_of(xp_abi_text_function *function, void *object)
{
  static char text[128];
  xp_abi_text_args args = {.struct_size = sizeof args, .object = object};
  assert_done(function(&args));
  assert_true(args.text_size < sizeof text);
  memcpy(text, args.text, args.text_size);
  text[args.text_size] = '\0';
  return text;
}

static int32_t int_of(xp_abi_int32_function *function, void *object)
{
  xp_abi_int32_args args = {.struct_size = XP_ABI_INT32_SIZE, .object = object};
  assert_done(function(&args));
  return args.value;
}

static void *pointer_of(xp_abi_pointer_function *function, void *object)
{
  xp_abi_pointer_args args = {.struct_size = sizeof args, .object = object};
  assert_done(function(&args));
  return args.value;
}

static xp_abi_list_args list_of(xp_abi_list_function *function, void *object)
{
  xp_abi_list_args args = {.struct_size = sizeof args, .object = object};
  assert_done(function(&args));
  return args;
}

static void a_client_has_one_device_with_one_memory(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  assert_string_equal(text_of(api()->client_platform_name, client), "xlaprof");
  assert_int_equal(int_of(api()->client_process_index, client), 0);
  assert_int_equal(list_of(api()->client_devices, client).count, 1);
  xp_abi_device *device = device_of(client, 0);
  void *description = pointer_of(api()->device_get_description, device);
  assert_int_equal(int_of(api()->device_description_id, description), 0);
  assert_int_equal(int_of(api()->device_local_hardware_id, device), 0);
  assert_string_equal(text_of(api()->device_description_to_string, description), "XlaprofDevice(id=0)");
  xp_abi_memory *memory = pointer_of(api()->device_default_memory, device);
  xp_abi_list_args memories = list_of(api()->device_addressable_memories, device);
  assert_int_equal(memories.count, 1);
  assert_ptr_equal(((xp_abi_memory *const *)memories.items)[0], memory);
  assert_string_equal(text_of(api()->memory_kind, memory), "device");
  assert_ptr_equal(((xp_abi_device *const *)list_of(api()->memory_addressable_by_devices, memory).items)[0], device);
  void *topology = pointer_of(api()->client_topology_description, client);
  assert_int_equal(list_of(api()->topology_get_device_descriptions, topology).count, 1);
  on(api()->client_destroy, client);
}

static void attributes_of_a_device_are_its_options(void **state)
{
  (void)state;
  const xp_abi_named_value options[] = {int_option("launch_latency_us", 250), int_option("slowdown", 3)};
  xp_abi_client *client = make_client(options, 2);
  xp_abi_values_args args = {.struct_size = sizeof args,
                             .object = pointer_of(api()->device_get_description, device_of(client, 0))};
  assert_done(api()->device_description_attributes(&args));
  assert_int_equal(args.count, 2);
  assert_str(xp_str_from(args.items[0].name, args.items[0].name_size), "launch_latency_us");
  assert_int_equal(args.items[0].value.number, 250);
  assert_str(xp_str_from(args.items[1].name, args.items[1].name_size), "slowdown");
  assert_int_equal(args.items[1].type, XP_ABI_VALUE_STRING); /* torch_xla 2.9 aborts at a real number */
  assert_str(xp_str_from(args.items[1].value.text, args.items[1].value_size), "3");
  on(api()->client_destroy, client);
}

static void a_client_may_have_more_devices(void **state)
{
  (void)state;
  const xp_abi_named_value options[] = {int_option("device_count", 3)};
  xp_abi_client *client = make_client(options, 1);
  assert_int_equal(list_of(api()->client_addressable_memories, client).count, 3);
  xp_abi_lookup_args lookup = {.struct_size = sizeof lookup, .client = client, .id = 2};
  assert_done(api()->client_lookup_device(&lookup));
  assert_ptr_equal(lookup.device, device_of(client, 2));
  lookup.id = 3;
  assert_fails(api()->client_lookup_addressable_device(&lookup), XP_ABI_INVALID_ARGUMENT, "no device 3");
  int32_t ids[3] = {-1, -1, -1};
  xp_abi_assignment_args assignment = {.struct_size = sizeof assignment,
                                       .client = client,
                                       .num_replicas = 3,
                                       .num_partitions = 1,
                                       .assignment_size = 3,
                                       .assignment = ids};
  assert_done(api()->client_default_device_assignment(&assignment));
  assert_int_equal(ids[2], 2);
  assignment.num_partitions = 2;
  assert_fails(api()->client_default_device_assignment(&assignment), XP_ABI_INVALID_ARGUMENT, "do not fit 3 devices");
  on(api()->client_destroy, client);
}

/* ---------------------------------------------------------------- tables of objects, for programs of 0.112 and later
 */

static void an_error_can_be_taken_apart_through_its_table(void **state)
{
  (void)state;
  xp_abi_bytes_args bytes = {.struct_size = sizeof bytes};
  xp_abi_error *error = api()->executable_serialize(&bytes);
  const xp_abi_error_table *table = ((const xp_abi_error_head *)(const void *)error)->table;
  const char *message = NULL;
  size_t size = 0;
  assert_int_equal(table->struct_size, 56);
  table->message(error, &message, &size);
  assert_str_contains(xp_str_from(message, size), "PJRT_Executable_Serialize");
  assert_int_equal(table->get_code(error), XP_ABI_UNIMPLEMENTED);
  table->for_each_payload(error, NULL, NULL); /* calls nobody: there are none */
  table->destroy(error);
}

static void count_end(void *data)
{
  ++*(int *)data;
}

static void data_of_the_host_hang_on_a_memory_until_they_are_replaced_or_it_goes(void **state)
{
  (void)state;
  static const char first_key, second_key;
  int first = 0, second = 0, third = 0;
  xp_abi_client *client = plain_client();
  xp_abi_memory *memory = pointer_of(api()->device_default_memory, device_of(client, 0));
  const xp_abi_memory_table *table = ((const xp_abi_memory_head *)(const void *)memory)->table;
  assert_int_equal(table->struct_size, 40);
  assert_null(table->get_user_data(memory, &first_key));
  table->set_user_data(memory, &first_key, &first, count_end);
  table->set_user_data(memory, &second_key, &second, count_end);
  assert_ptr_equal(table->get_user_data(memory, &first_key), &first);
  table->set_user_data(memory, &first_key, &third, count_end);
  assert_int_equal(first, 1);
  assert_ptr_equal(table->get_user_data(memory, &first_key), &third);
  assert_ptr_equal(table->get_user_data(memory, &second_key), &second);
  on(api()->client_destroy, client);
  assert_int_equal(first + second + third, 3);
}

/* ---------------------------------------------------------------- options */

static void assert_refuses_option(xp_abi_named_value option, const char *part)
{
  xp_abi_client_create_args create = {.struct_size = sizeof create, .create_options = &option, .num_options = 1};
  assert_fails(api()->client_create(&create), XP_ABI_INVALID_ARGUMENT, part);
}

static void options_that_make_no_sense_are_refused(void **state)
{
  (void)state;
  assert_refuses_option(int_option("device_count", 0), "device_count: it must be a number from 1 to 64");
  assert_refuses_option(int_option("device_count", 65), "device_count");
  assert_refuses_option(int_option("slowdown", 0), "slowdown: it must be a number from 1 to 1000");
  assert_refuses_option(int_option("launch_latency_us", -1), "launch_latency_us");
  assert_refuses_option(int_option("pause_us", -1), "pause_us");
  assert_refuses_option(int_option("dispatch_us", 10000001), "dispatch_us: it must be a number from 0 to 10000000");
  assert_refuses_option(int_option("speed", 1),
                        "no option speed; there are: device_count, launch_latency_us, dispatch_us, pause_us, "
                        "pause_before, slowdown, memory_limit_bytes.");
  xp_abi_named_value flag = int_option("slowdown", 1);
  flag.type = XP_ABI_VALUE_BOOL;
  assert_refuses_option(flag, "slowdown");
}

static void options_come_from_the_environment_too_and_the_callers_win(void **state)
{
  (void)state;
  assert_int_equal(setenv("XLAPROF_DEVICE_COUNT", "2", 1), 0);
  xp_abi_client *client = plain_client();
  assert_int_equal(list_of(api()->client_devices, client).count, 2);
  on(api()->client_destroy, client);
  const xp_abi_named_value options[] = {int_option("device_count", 4)};
  client = make_client(options, 1);
  assert_int_equal(list_of(api()->client_devices, client).count, 4);
  on(api()->client_destroy, client);
  assert_int_equal(setenv("XLAPROF_DEVICE_COUNT", "many", 1), 0);
  xp_abi_client_create_args create = {.struct_size = sizeof create};
  assert_fails(api()->client_create(&create), XP_ABI_INVALID_ARGUMENT, "XLAPROF_DEVICE_COUNT");
  assert_int_equal(unsetenv("XLAPROF_DEVICE_COUNT"), 0);
}

static void a_client_of_an_older_host_is_made_too(void **state)
{
  (void)state;
  xp_abi_client_create_args create = {.struct_size = offsetof(xp_abi_client_create_args, kv_try_get_callback)};
  assert_done(api()->client_create(&create));
  on(api()->client_destroy, create.client);
}

/* ---------------------------------------------------------------- events */

static xp_abi_event *make_event(void)
{
  xp_abi_object_args args = {.struct_size = sizeof args};
  assert_done(api()->event_create(&args));
  return args.object;
}

static void set_event(xp_abi_event *event, int code, const char *message)
{
  xp_abi_event_set_args args = {.struct_size = sizeof args,
                                .event = event,
                                .error_code = code,
                                .error_message = message,
                                .error_message_size = strlen(message)};
  assert_done(api()->event_set(&args));
}

typedef struct {
  int order[4], count, codes[4];
} calls;

typedef struct {
  calls *calls;
  int number;
} listener;

static void note_call(xp_abi_error *error, void *context)
{
  const listener *l = context;
  int code = 0;
  if (error != NULL) {
    error_text(error, &code);
  }
  l->calls->codes[l->calls->count] = code;
  l->calls->order[l->calls->count++] = l->number;
}

static void listen(xp_abi_event *event, listener *l)
{
  xp_abi_event_on_ready_args args = {.struct_size = sizeof args, .event = event, .callback = note_call, .context = l};
  assert_done(api()->event_on_ready(&args));
}

static bool is_ready(xp_abi_event *event)
{
  xp_abi_bool_args args = {.struct_size = XP_ABI_BOOL_SIZE, .object = event};
  assert_done(api()->event_is_ready(&args));
  return args.value;
}

static void callbacks_come_once_in_their_order_and_late_ones_at_once(void **state)
{
  (void)state;
  calls seen = {.count = 0};
  listener first = {&seen, 1}, second = {&seen, 2}, late = {&seen, 3};
  xp_abi_event *event = make_event();
  listen(event, &first);
  listen(event, &second);
  assert_false(is_ready(event));
  assert_int_equal(seen.count, 0);
  set_event(event, 0, "");
  assert_true(is_ready(event));
  listen(event, &late);
  assert_int_equal(seen.count, 3);
  assert_int_equal(seen.order[0], 1);
  assert_int_equal(seen.order[1], 2);
  assert_int_equal(seen.order[2], 3);
  on(api()->event_destroy, event);
}

static void an_error_reaches_everybody_who_waits(void **state)
{
  (void)state;
  calls seen = {.count = 0};
  listener before = {&seen, 1}, after = {&seen, 2};
  xp_abi_event *event = make_event();
  xp_abi_object_args args = {.struct_size = sizeof args, .object = event};
  assert_fails(api()->event_error(&args), XP_ABI_FAILED_PRECONDITION, "not happened yet");
  listen(event, &before);
  set_event(event, XP_ABI_DATA_LOSS, "it is gone");
  listen(event, &after);
  assert_int_equal(seen.codes[0], XP_ABI_DATA_LOSS);
  assert_int_equal(seen.codes[1], XP_ABI_DATA_LOSS);
  assert_fails(api()->event_await(&args), XP_ABI_DATA_LOSS, "it is gone");
  assert_fails(api()->event_error(&args), XP_ABI_DATA_LOSS, "it is gone");
  xp_abi_event_set_args again = {.struct_size = sizeof again, .event = event};
  assert_fails(api()->event_set(&again), XP_ABI_FAILED_PRECONDITION, "already");
  on(api()->event_destroy, event);
}

static void *await_event(void *event)
{
  xp_abi_object_args args = {.struct_size = sizeof args, .object = event};
  assert_done(api()->event_await(&args));
  on(api()->event_destroy, event);
  return NULL;
}

/* The waiting thread destroys the event while the setting one is still inside. */
static void an_event_may_go_as_soon_as_it_has_happened(void **state)
{
  (void)state;
  for (int i = 0; i < 200; i++) {
    pthread_t thread;
    xp_abi_event *event = make_event();
    assert_int_equal(pthread_create(&thread, NULL, await_event, event), 0);
    xp_abi_event_set_args args = {.struct_size = sizeof args, .event = event};
    assert_done(api()->event_set(&args));
    pthread_join(thread, NULL);
  }
}

enum { POLLED = 20000 };

/* Destroys each event that it is given as soon as it is seen to have happened. */
static void *poll_events(void *context)
{
  xp_abi_event **given = context;
  for (int i = 0; i < POLLED; i++) {
    xp_abi_event *event = NULL;
    while ((event = __atomic_exchange_n(given, NULL, __ATOMIC_ACQUIRE)) == NULL) {
    }
    while (!is_ready(event)) {
    }
    on(api()->event_destroy, event);
  }
  return NULL;
}

/* The same without the lock, at which the other thread would wait: it asks again and again. */
static void an_event_may_go_as_soon_as_it_is_seen_to_have_happened(void **state)
{
  (void)state;
  pthread_t thread;
  xp_abi_event *given = NULL;
  assert_int_equal(pthread_create(&thread, NULL, poll_events, &given), 0);
  for (int i = 0; i < POLLED; i++) {
    xp_abi_event *event = make_event();
    __atomic_store_n(&given, event, __ATOMIC_RELEASE);
    while (__atomic_load_n(&given, __ATOMIC_RELAXED) != NULL) {
    }
    xp_abi_event_set_args args = {.struct_size = sizeof args, .event = event};
    assert_done(api()->event_set(&args));
  }
  pthread_join(thread, NULL);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_table_is_of_version_81_and_has_no_empty_slot),
      cmocka_unit_test(what_the_device_has_not_is_refused_by_its_name),
      cmocka_unit_test(the_plugin_initialises_and_has_attributes),
      cmocka_unit_test(a_client_has_one_device_with_one_memory),
      cmocka_unit_test(attributes_of_a_device_are_its_options),
      cmocka_unit_test(a_client_may_have_more_devices),
      cmocka_unit_test(an_error_can_be_taken_apart_through_its_table),
      cmocka_unit_test(data_of_the_host_hang_on_a_memory_until_they_are_replaced_or_it_goes),
      cmocka_unit_test(options_that_make_no_sense_are_refused),
      cmocka_unit_test(options_come_from_the_environment_too_and_the_callers_win),
      cmocka_unit_test(a_client_of_an_older_host_is_made_too),
      cmocka_unit_test(callbacks_come_once_in_their_order_and_late_ones_at_once),
      cmocka_unit_test(an_error_reaches_everybody_who_waits),
      cmocka_unit_test(an_event_may_go_as_soon_as_it_has_happened),
      cmocka_unit_test(an_event_may_go_as_soon_as_it_is_seen_to_have_happened),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
