/* Launching programs on the embedded device: values, donation, errors, the queue, and times. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "device_programs.h"

static double now_ms(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static bool is_deleted(xp_abi_buffer *buffer)
{
  xp_abi_bool_args args = {.struct_size = XP_ABI_BOOL_SIZE, .object = buffer};
  assert_done(api()->buffer_is_deleted(&args));
  return args.value;
}

static void destroy_all(xp_abi_buffer **buffers, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    on(api()->buffer_destroy, buffers[i]);
  }
}

/* ---------------------------------------------------------------- values */

/* (a + b) * a */
static void a_program_computes_what_it_says(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  xp_abi_loaded_executable *executable = compile(client, &add_then_multiply);
  xp_abi_buffer *inputs[2] = {upload4(client, 1, 2, 3, 4), upload4(client, 10, 20, 30, -4)}, *output = NULL;
  xp_abi_event *done = NULL;
  launch(executable, inputs, 2, &output, &done);
  await_and_destroy(done);
  assert_holds4(output, 11, 44, 99, 0);
  assert_holds4(inputs[0], 1, 2, 3, 4);
  destroy_all(inputs, 2);
  on(api()->buffer_destroy, output);
  on(api()->loaded_executable_destroy, executable);
  on(api()->client_destroy, client);
}

/* The outputs of one launch are the inputs of the next, long before they are there. */
static void launches_follow_each_other_without_waiting(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  xp_abi_loaded_executable *executable = compile(client, &add_then_multiply);
  xp_abi_buffer *ones = upload4(client, 1, 1, 1, 1), *value = upload4(client, 0, 1, 2, 3), *next = NULL;
  for (int i = 0; i < 3; i++) { /* x -> (x + 1) * x */
    xp_abi_buffer *inputs[2] = {value, ones};
    launch(executable, inputs, 2, &next, NULL);
    on(api()->buffer_destroy, value);
    value = next;
  }
  assert_holds4(value, 0, 42, 1806, 24492); /* 3: 12, 156, 24492 */
  on(api()->buffer_destroy, value);
  on(api()->buffer_destroy, ones);
  on(api()->loaded_executable_destroy, executable);
  on(api()->client_destroy, client);
}

/* Before minor 81, options ended with the context, and events or a device were not in the arguments of all. */
static void shorter_arguments_of_older_hosts_are_enough(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  xp_abi_loaded_executable *executable = compile(client, &donating);
  xp_abi_buffer *inputs[1] = {upload4(client, 1, 2, 3, 4)}, *outputs[2] = {NULL, NULL};
  xp_abi_buffer *const *lists = inputs;
  xp_abi_buffer **results = outputs;
  xp_abi_execute_options options;
  xp_abi_execute_args args;
  memset(&options, 0x5a, sizeof options); /* what lies behind their end is anything */
  memset(&args, 0x5a, sizeof args);
  xp_abi_execute_options known = {.struct_size = 80};
  memcpy(&options, &known, 80);
  xp_abi_execute_args given = {.struct_size = offsetof(xp_abi_execute_args, device),
                               .executable = executable,
                               .options = &options,
                               .argument_lists = &lists,
                               .num_devices = 1,
                               .num_arguments = 1,
                               .output_lists = &results};
  memcpy(&args, &given, given.struct_size);
  assert_done(api()->loaded_executable_execute(&args));
  assert_true(is_deleted(inputs[0]));
  assert_holds4(outputs[0], 2, 4, 6, 8);
  assert_holds4(outputs[1], 1, 4, 9, 16);
  destroy_all(inputs, 1);
  destroy_all(outputs, 2);
  on(api()->loaded_executable_destroy, executable);
  on(api()->client_destroy, client);
}

/* ---------------------------------------------------------------- donation */

static void a_donated_buffer_is_gone_and_its_memory_is_the_outputs(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  xp_abi_loaded_executable *executable = compile(client, &donating);
  xp_abi_buffer *input = upload4(client, 1, 2, 3, 4), *outputs[2] = {NULL, NULL};
  xp_abi_uint64_args before = {.struct_size = sizeof before, .object = input}, after = before;
  assert_done(api()->buffer_unsafe_pointer(&before));
  launch(executable, &input, 1, outputs, NULL);
  assert_true(is_deleted(input));
  assert_fails(try_launch(executable, &input, 1, outputs, NULL), XP_ABI_INVALID_ARGUMENT, "deleted or donated");
  assert_holds4(outputs[0], 2, 4, 6, 8);
  assert_holds4(outputs[1], 1, 4, 9, 16);
  after.object = outputs[0];
  assert_done(api()->buffer_unsafe_pointer(&after));
  assert_int_equal(after.value, before.value);
  destroy_all(outputs, 2);
  on(api()->buffer_destroy, input);
  on(api()->loaded_executable_destroy, executable);
  on(api()->client_destroy, client);
}

static void an_input_that_the_host_keeps_is_not_donated(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  xp_abi_loaded_executable *executable = compile(client, &donating);
  xp_abi_buffer *input = upload4(client, 1, 2, 3, 4), *outputs[2] = {NULL, NULL};
  xp_abi_buffer *const *lists = &input;
  xp_abi_buffer **results = outputs;
  const int64_t kept[1] = {0};
  xp_abi_execute_options options = {.struct_size = sizeof options, .non_donatable = kept, .num_non_donatable = 1};
  xp_abi_execute_args args = {.struct_size = sizeof args,
                              .executable = executable,
                              .options = &options,
                              .argument_lists = &lists,
                              .num_devices = 1,
                              .num_arguments = 1,
                              .output_lists = &results};
  assert_done(api()->loaded_executable_execute(&args));
  assert_holds4(outputs[0], 2, 4, 6, 8);
  assert_holds4(input, 1, 2, 3, 4);
  destroy_all(outputs, 2);
  on(api()->buffer_destroy, input);
  on(api()->loaded_executable_destroy, executable);
  on(api()->client_destroy, client);
}

/* Somebody may read memory to which there is an external reference, so nothing is written there. */
static void memory_with_an_external_reference_is_not_overwritten(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  xp_abi_loaded_executable *executable = compile(client, &donating);
  xp_abi_buffer *input = upload4(client, 1, 2, 3, 4), *outputs[2] = {NULL, NULL};
  xp_abi_uint64_args address = {.struct_size = sizeof address, .object = input};
  on(api()->buffer_increase_external_reference_count, input);
  assert_done(api()->buffer_unsafe_pointer(&address));
  launch(executable, &input, 1, outputs, NULL);
  assert_true(is_deleted(input));
  assert_holds4(outputs[0], 2, 4, 6, 8);
  assert_true(((const float *)(uintptr_t)address.value)[3] == 4);
  on(api()->buffer_decrease_external_reference_count, input);
  destroy_all(outputs, 2);
  on(api()->buffer_destroy, input);
  on(api()->loaded_executable_destroy, executable);
  on(api()->client_destroy, client);
}

/* torch_xla marks parameters as donors, without saying for which output. */
static void a_buffer_donor_is_gone_after_the_launch(void **state)
{
  (void)state;
  hlo_program gives = add_then_multiply;
  gives.gives_first = true;
  xp_abi_client *client = plain_client();
  xp_abi_loaded_executable *executable = compile(client, &gives);
  xp_abi_buffer *inputs[2] = {upload4(client, 1, 2, 3, 4), upload4(client, 1, 1, 1, 1)}, *output = NULL;
  launch(executable, inputs, 2, &output, NULL);
  assert_true(is_deleted(inputs[0]));
  assert_false(is_deleted(inputs[1]));
  assert_holds4(output, 2, 6, 12, 20);
  xp_abi_buffer *twice[2] = {inputs[1], inputs[1]};
  assert_fails(try_launch(executable, twice, 2, &output, NULL), XP_ABI_INVALID_ARGUMENT, "it is argument 1, too");
  assert_false(is_deleted(inputs[1]));
  destroy_all(inputs, 2);
  on(api()->buffer_destroy, output);
  on(api()->loaded_executable_destroy, executable);
  on(api()->client_destroy, client);
}

/* ---------------------------------------------------------------- errors */

static void launches_that_do_not_fit_are_refused(void **state)
{
  (void)state;
  const xp_abi_named_value options[] = {int_option("device_count", 2)};
  const float three[3] = {1, 2, 3};
  const int64_t dims[1] = {3};
  xp_abi_client *client = make_client(options, 1);
  xp_abi_loaded_executable *executable = compile(client, &add_then_multiply);
  xp_abi_buffer *good = upload4(client, 1, 2, 3, 4), *output = NULL;
  xp_abi_buffer *shorter = upload_to(client, device_of(client, 0), three, 1, dims);
  const float four[4] = {0};
  const int64_t four_dims[1] = {4};
  xp_abi_buffer *elsewhere = upload_to(client, device_of(client, 1), four, 1, four_dims);
  xp_abi_buffer *wrong[2] = {good, shorter}, *far[2] = {good, elsewhere};
  assert_fails(try_launch(executable, wrong, 1, &output, NULL), XP_ABI_INVALID_ARGUMENT,
               "has 2 parameters, the launch has 1");
  assert_fails(try_launch(executable, wrong, 2, &output, NULL), XP_ABI_INVALID_ARGUMENT,
               "Argument 1 of program jit_small is f32[3], but its parameter is f32[4]");
  assert_fails(try_launch(executable, far, 2, &output, NULL), XP_ABI_INVALID_ARGUMENT,
               "on device 1, but the program runs on device 0");
  on(api()->loaded_executable_delete, executable);
  wrong[1] = good;
  assert_fails(try_launch(executable, wrong, 2, &output, NULL), XP_ABI_INVALID_ARGUMENT, "executable has been deleted");
  on(api()->buffer_destroy, good);
  on(api()->buffer_destroy, shorter);
  on(api()->buffer_destroy, elsewhere);
  on(api()->loaded_executable_destroy, executable);
  assert_int_equal(bytes_in_use(client), 0);
  on(api()->client_destroy, client);
}

static void nothing_can_be_launched_without_the_client(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  xp_abi_loaded_executable *executable = compile(client, &donating);
  xp_abi_buffer *input = upload4(client, 1, 2, 3, 4), *outputs[2] = {NULL, NULL};
  on(api()->client_destroy, client);
  assert_fails(try_launch(executable, &input, 1, outputs, NULL), XP_ABI_FAILED_PRECONDITION, "has been destroyed");
  on(api()->buffer_destroy, input);
  on(api()->loaded_executable_destroy, executable);
}

static void outputs_above_the_memory_limit_fail_at_the_launch(void **state)
{
  (void)state;
  const xp_abi_named_value options[] = {int_option("memory_limit_bytes", 128)};
  xp_abi_client *client = make_client(options, 1);
  xp_abi_loaded_executable *executable = compile(client, &donating);
  xp_abi_buffer *first = upload4(client, 1, 2, 3, 4), *more = upload4(client, 1, 2, 3, 4);
  xp_abi_buffer *outputs[2] = {NULL, NULL};
  assert_fails(try_launch(executable, &first, 1, outputs, NULL), XP_ABI_RESOURCE_EXHAUSTED, "128 of 128 are in use");
  assert_false(is_deleted(first)); /* nothing was given away for a launch that did not happen */
  assert_int_equal(bytes_in_use(client), 128);
  on(api()->buffer_destroy, first);
  on(api()->buffer_destroy, more);
  on(api()->loaded_executable_destroy, executable);
  on(api()->client_destroy, client);
}

/* The limit leaves room for the arrays, but not for the temporary memory between them: that is found out on the device.
 */
static void an_error_on_the_device_reaches_every_event_and_the_launches_behind(void **state)
{
  (void)state;
  enum { SIDE = 192, BYTES = SIDE * SIDE * 4 };
  const xp_abi_named_value options[] = {int_option("memory_limit_bytes", 4 * BYTES)};
  xp_abi_client *client = make_client(options, 1);
  xp_abi_loaded_executable *executable = compile(client, &long_one);
  float *data = calloc(SIDE * SIDE, sizeof *data), *back = calloc(SIDE * SIDE, sizeof *data);
  xp_abi_buffer *inputs[2] = {upload_to(client, device_of(client, 0), data, 2, long_one.dims), NULL}, *outputs[2] = {0};
  xp_abi_event *done[2] = {NULL, NULL};
  inputs[1] = inputs[0];
  launch(executable, inputs, 2, &outputs[0], &done[0]);
  inputs[1] = outputs[0];
  launch(executable, inputs, 2, &outputs[1], &done[1]);
  xp_abi_object_args await = {.struct_size = sizeof await, .object = done[0]};
  assert_fails(api()->event_await(&await), XP_ABI_RESOURCE_EXHAUSTED, "the temporary memory of a program needs");
  await.object = done[1];
  assert_fails(api()->event_await(&await), XP_ABI_RESOURCE_EXHAUSTED, "Argument 1 of program long_one: Out of memory");
  xp_abi_to_host_args down = {.struct_size = sizeof down, .buffer = outputs[1], .target = back, .target_size = BYTES};
  assert_done(api()->buffer_to_host_buffer(&down));
  await.object = down.event;
  assert_fails(api()->event_await(&await), XP_ABI_RESOURCE_EXHAUSTED, "Argument 1 of program long_one");
  on(api()->event_destroy, down.event);
  on(api()->event_destroy, done[0]);
  on(api()->event_destroy, done[1]);
  on(api()->buffer_destroy, inputs[0]);
  destroy_all(outputs, 2);
  assert_int_equal(bytes_in_use(client), 0);
  on(api()->loaded_executable_destroy, executable);
  on(api()->client_destroy, client);
  free(data);
  free(back);
}

/* ---------------------------------------------------------------- the queue */

static void count_call(xp_abi_error *error, void *context)
{
  assert_null(error);
  __atomic_fetch_add((int *)context, 1, __ATOMIC_RELAXED);
}

/* Buffers and executables go as soon as they are launched; everything comes to its end. */
static void a_thousand_launches_may_be_in_flight(void **state)
{
  (void)state;
  enum { LAUNCHES = 1000 };
  xp_abi_client *client = plain_client();
  xp_abi_loaded_executable *executable = compile(client, &add_then_multiply);
  xp_abi_buffer *ones = upload4(client, 1, 1, 1, 1), *zero = upload4(client, 0, 0, 0, 0);
  xp_abi_buffer *last = zero, *next = NULL;
  int calls = 0;
  for (int i = 0; i < LAUNCHES; i++) { /* (1 + x) * 1 counts up */
    xp_abi_buffer *inputs[2] = {ones, last};
    xp_abi_event *done = NULL;
    launch(executable, inputs, 2, &next, &done);
    xp_abi_event_on_ready_args listen = {
        .struct_size = sizeof listen, .event = done, .callback = count_call, .context = &calls};
    assert_done(api()->event_on_ready(&listen));
    on(api()->event_destroy, done);
    on(i % 2 == 0 ? api()->buffer_delete : api()->buffer_destroy, last);
    if (i % 2 == 0) {
      on(api()->buffer_destroy, last);
    }
    last = next;
  }
  on(api()->loaded_executable_destroy, executable);
  assert_holds4(last, LAUNCHES, LAUNCHES, LAUNCHES, LAUNCHES);
  on(api()->buffer_destroy, last);
  on(api()->buffer_destroy, ones);
  on(api()->client_destroy, client);
  assert_int_equal(calls, LAUNCHES);
}

typedef struct {
  xp_abi_client *client;
  xp_abi_loaded_executable *executable;
} shared;

static void *launch_many(void *context)
{
  const shared *s = context;
  for (int i = 0; i < 100; i++) {
    xp_abi_buffer *input = upload4(s->client, (float)i, 2, 3, 4), *outputs[2] = {NULL, NULL};
    launch(s->executable, &input, 1, outputs, NULL);
    on(api()->buffer_destroy, input);
    assert_holds4(outputs[0], (float)(2 * i), 4, 6, 8);
    assert_holds4(outputs[1], (float)(i * i), 4, 9, 16);
    destroy_all(outputs, 2);
  }
  return NULL;
}

/* What the device keeps for a program's temporary arrays, in steps of 64 bytes. */
static int64_t temporary_bytes(xp_abi_loaded_executable *loaded)
{
  xp_abi_pointer_args executable = {.struct_size = sizeof executable, .object = loaded};
  assert_done(api()->loaded_executable_get_executable(&executable));
  xp_abi_compiled_memory_stats_args stats = {.struct_size = sizeof stats, .executable = executable.value};
  assert_done(api()->executable_get_compiled_memory_stats(&stats));
  on(api()->executable_destroy, executable.value);
  return (stats.temp_bytes + 63) / 64 * 64;
}

static void threads_may_launch_at_the_same_time(void **state)
{
  (void)state;
  pthread_t threads[4];
  xp_abi_client *client = plain_client();
  shared s = {client, compile(client, &donating)};
  for (int i = 0; i < 4; i++) {
    assert_int_equal(pthread_create(&threads[i], NULL, launch_many, &s), 0);
  }
  for (int i = 0; i < 4; i++) {
    pthread_join(threads[i], NULL);
  }
  assert_int_equal(bytes_in_use(client), temporary_bytes(s.executable));
  on(api()->loaded_executable_destroy, s.executable);
  on(api()->client_destroy, client);
}

/* ---------------------------------------------------------------- downloads beside donations */

typedef struct {
  xp_abi_buffer *buffer;
  int seen;
} reader;

static void *read_until_gone(void *context)
{
  reader *r = context;
  for (;;) {
    float got[4] = {0};
    xp_abi_to_host_args args = {
        .struct_size = sizeof args, .buffer = r->buffer, .target = got, .target_size = sizeof got};
    xp_abi_error *error = api()->buffer_to_host_buffer(&args);
    if (error != NULL) {
      assert_fails(error, XP_ABI_INVALID_ARGUMENT, "deleted or donated");
      return NULL;
    }
    await_and_destroy(args.event);
    assert_true(got[0] == 1 && got[3] == 4);
    __atomic_fetch_add(&r->seen, 1, __ATOMIC_RELAXED);
  }
}

/* A program overwrites the buffer while the host reads it: the host sees the old numbers, until there is no buffer. */
static void a_download_sees_old_numbers_or_no_buffer(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  xp_abi_loaded_executable *executable = compile(client, &donating);
  for (int i = 0; i < 50; i++) {
    pthread_t thread;
    reader r = {.buffer = upload4(client, 1, 2, 3, 4)};
    xp_abi_buffer *outputs[2] = {NULL, NULL};
    assert_int_equal(pthread_create(&thread, NULL, read_until_gone, &r), 0);
    while (__atomic_load_n(&r.seen, __ATOMIC_RELAXED) < 3) {
      sched_yield();
    }
    launch(executable, &r.buffer, 1, outputs, NULL);
    pthread_join(thread, NULL);
    assert_holds4(outputs[0], 2, 4, 6, 8);
    destroy_all(outputs, 2);
    on(api()->buffer_destroy, r.buffer);
  }
  on(api()->loaded_executable_destroy, executable);
  on(api()->client_destroy, client);
}

static void destroy_client(xp_abi_error *error, void *client)
{
  assert_null(error);
  xp_abi_object_args args = {.struct_size = sizeof args, .object = client};
  assert_fails(api()->client_destroy(&args), XP_ABI_FAILED_PRECONDITION, "from another thread");
}

static void a_callback_of_the_device_cannot_end_it(void **state)
{
  (void)state;
  const xp_abi_named_value options[] = {
      int_option("launch_latency_us", 20000)}; /* time to ask before it has happened */
  xp_abi_client *client = make_client(options, 1);
  xp_abi_loaded_executable *executable = compile(client, &add_then_multiply);
  xp_abi_buffer *inputs[2] = {upload4(client, 1, 2, 3, 4), upload4(client, 1, 1, 1, 1)}, *output = NULL;
  xp_abi_event *done = NULL;
  launch(executable, inputs, 2, &output, &done);
  xp_abi_event_on_ready_args listen = {
      .struct_size = sizeof listen, .event = done, .callback = destroy_client, .context = client};
  assert_done(api()->event_on_ready(&listen));
  await_and_destroy(done);
  destroy_all(inputs, 2);
  on(api()->buffer_destroy, output);
  on(api()->loaded_executable_destroy, executable);
  on(api()->client_destroy, client);
}

/* ---------------------------------------------------------------- times */

/* Five launches at once: the host is done at once, and their latencies pass together. */
static void the_host_does_not_wait_and_latency_is_hidden_behind_work(void **state)
{
  (void)state;
  enum { LAUNCHES = 5 };
  const xp_abi_named_value options[] = {int_option("launch_latency_us", 100000)};
  xp_abi_client *client = make_client(options, 1);
  xp_abi_loaded_executable *executable = compile(client, &add_then_multiply);
  xp_abi_buffer *inputs[2] = {upload4(client, 1, 2, 3, 4), upload4(client, 1, 1, 1, 1)}, *outputs[LAUNCHES];
  double start = now_ms();
  for (int i = 0; i < LAUNCHES; i++) {
    launch(executable, inputs, 2, &outputs[i], NULL);
  }
  double launched = now_ms() - start;
  assert_holds4(outputs[LAUNCHES - 1], 2, 6, 12, 20);
  double all = now_ms() - start;
  assert_true(launched < 50);
  assert_true(all >= 100);
  assert_true(all < 300); /* five latencies one after the other would be 500 */
  destroy_all(inputs, 2);
  destroy_all(outputs, LAUNCHES);
  on(api()->loaded_executable_destroy, executable);
  on(api()->client_destroy, client);
}

/* The host is held up before the device hears of the launch. */
static void a_call_that_launches_takes_longer_on_request(void **state)
{
  (void)state;
  const xp_abi_named_value options[] = {int_option("dispatch_us", 40000)};
  xp_abi_client *client = make_client(options, 1);
  xp_abi_loaded_executable *executable = compile(client, &add_then_multiply);
  xp_abi_buffer *inputs[2] = {upload4(client, 1, 2, 3, 4), upload4(client, 1, 1, 1, 1)}, *output = NULL;
  double start = now_ms();
  launch(executable, inputs, 2, &output, NULL);
  double launched = now_ms() - start;
  assert_true(launched >= 40);
  assert_true(launched < 400); /* wide, for machines with other work */
  assert_holds4(output, 2, 6, 12, 20);
  destroy_all(inputs, 2);
  on(api()->buffer_destroy, output);
  on(api()->loaded_executable_destroy, executable);
  on(api()->client_destroy, client);
}

static double time_of_long_one(const xp_abi_named_value *options, size_t count)
{
  xp_abi_client *client = make_client(options, count);
  xp_abi_loaded_executable *executable = compile(client, &long_one);
  float *data = calloc(192 * 192, sizeof *data);
  xp_abi_buffer *input = upload_to(client, device_of(client, 0), data, 2, long_one.dims);
  xp_abi_buffer *inputs[2] = {input, input}, *output = NULL;
  double best = 1e9;
  for (int i = 0; i < 5; i++) {
    xp_abi_event *done = NULL;
    double start = now_ms();
    launch(executable, inputs, 2, &output, &done);
    await_and_destroy(done);
    best = now_ms() - start < best ? now_ms() - start : best;
    on(api()->buffer_destroy, output);
  }
  on(api()->buffer_destroy, input);
  on(api()->loaded_executable_destroy, executable);
  on(api()->client_destroy, client);
  free(data);
  return best;
}

static void a_slow_device_takes_as_many_times_as_long(void **state)
{
  (void)state;
  const xp_abi_named_value slow[] = {int_option("slowdown", 20)};
  double plain = time_of_long_one(NULL, 0), slowed = time_of_long_one(slow, 1);
  if (slowed < 8 * plain || slowed > 60 * plain) { /* wide, for machines with other work */
    fail_msg("20 times %.3f ms are %.3f ms", plain, slowed);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_program_computes_what_it_says),
      cmocka_unit_test(launches_follow_each_other_without_waiting),
      cmocka_unit_test(shorter_arguments_of_older_hosts_are_enough),
      cmocka_unit_test(a_donated_buffer_is_gone_and_its_memory_is_the_outputs),
      cmocka_unit_test(an_input_that_the_host_keeps_is_not_donated),
      cmocka_unit_test(memory_with_an_external_reference_is_not_overwritten),
      cmocka_unit_test(a_buffer_donor_is_gone_after_the_launch),
      cmocka_unit_test(launches_that_do_not_fit_are_refused),
      cmocka_unit_test(nothing_can_be_launched_without_the_client),
      cmocka_unit_test(outputs_above_the_memory_limit_fail_at_the_launch),
      cmocka_unit_test(an_error_on_the_device_reaches_every_event_and_the_launches_behind),
      cmocka_unit_test(a_thousand_launches_may_be_in_flight),
      cmocka_unit_test(threads_may_launch_at_the_same_time),
      cmocka_unit_test(a_download_sees_old_numbers_or_no_buffer),
      cmocka_unit_test(a_callback_of_the_device_cannot_end_it),
      cmocka_unit_test(the_host_does_not_wait_and_latency_is_hidden_behind_work),
      cmocka_unit_test(a_call_that_launches_takes_longer_on_request),
      cmocka_unit_test(a_slow_device_takes_as_many_times_as_long),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
