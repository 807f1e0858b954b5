/* Every allocation of the device fails once: nothing crashes, nothing is lost, and the answer is "out of memory". */
#include "failing_links.h"

#include "device_programs.h"

void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
  return fails() ? NULL : count_piece(__real_aligned_alloc(alignment, size));
}

/* What a host has made so far. */
typedef struct {
  xp_abi_profiler *profiler;
  xp_abi_client *client;
  xp_abi_loaded_executable *executable;
  xp_abi_buffer *input, *outputs[2];
} host;

/* Destroys the error; its code, 0 for none. */
static int code_of(xp_abi_error *error)
{
  int code = 0;
  if (error != NULL) {
    error_text(error, &code);
  }
  return code;
}

static const xp_abi_profiler_api *profiler_api(void)
{
  return ((const xp_abi_profiler_extension *)(const void *)api()->extension_start)->profiler_api;
}

/* Errors of the profiler are destroyed as the others are. */
static int profiler_code_of(xp_abi_profiler_error *error)
{
  return code_of((xp_abi_error *)(void *)error);
}

static int awaited(xp_abi_event *event)
{
  xp_abi_object_args args = {.struct_size = sizeof args, .object = event};
  int code = code_of(api()->event_await(&args));
  on(api()->event_destroy, event);
  return code;
}

static int start_profiler(host *h)
{
  static const char options[] = "\x18\x01\x28\x01\x38\x01"; /* level 1, version 1, with programs */
  xp_abi_profiler_create_args create = {sizeof create, options, sizeof options - 1, NULL};
  int code = profiler_code_of(profiler_api()->create(&create));
  if (code != 0) {
    return code;
  }
  h->profiler = create.profiler;
  xp_abi_profiler_args start = {sizeof start, h->profiler};
  return profiler_code_of(profiler_api()->start(&start));
}

static int compile_program(host *h, xp_str module)
{
  xp_abi_program program = {.struct_size = sizeof program,
                            .code = (char *)(uintptr_t)module.ptr,
                            .code_size = module.len,
                            .format = "hlo",
                            .format_size = 3};
  xp_abi_client_compile_args args = {.struct_size = sizeof args, .client = h->client, .program = &program};
  int code = code_of(api()->client_compile(&args));
  h->executable = args.executable;
  return code;
}

static int upload_input(host *h)
{
  static const float data[4] = {1, 2, 3, 4};
  static const int64_t dims[1] = {4};
  xp_abi_from_host_args args = {.struct_size = sizeof args,
                                .client = h->client,
                                .data = data,
                                .type = XP_ABI_F32,
                                .dimensions = dims,
                                .num_dimensions = 1};
  int code = code_of(api()->client_buffer_from_host_buffer(&args));
  if (code == 0) {
    h->input = args.buffer;
    code = awaited(args.done_with_host_buffer);
  }
  return code;
}

static int run_and_read(host *h)
{
  xp_abi_event *done = NULL;
  float got[4] = {0};
  int code = code_of(try_launch(h->executable, &h->input, 1, h->outputs, &done));
  if (code != 0) {
    return code;
  }
  code = awaited(done);
  xp_abi_to_host_args down = {
      .struct_size = sizeof down, .buffer = h->outputs[0], .target = got, .target_size = sizeof got};
  int read = code_of(api()->buffer_to_host_buffer(&down));
  read = read != 0 ? read : awaited(down.event);
  assert_true(code != 0 || read != 0 || got[3] == 8);
  return code != 0 ? code : read;
}

static int collect(host *h)
{
  xp_abi_profiler_args stop = {sizeof stop, h->profiler};
  int code = profiler_code_of(profiler_api()->stop(&stop));
  xp_abi_profiler_collect_args args = {sizeof args, h->profiler, NULL, 0};
  return code != 0 ? code : profiler_code_of(profiler_api()->collect_data(&args));
}

static int use_device(host *h, xp_str module)
{
  xp_abi_client_create_args create = {.struct_size = sizeof create};
  int code = start_profiler(h);
  code = code != 0 ? code : code_of(api()->client_create(&create));
  h->client = create.client;
  code = code != 0 ? code : compile_program(h, module);
  code = code != 0 ? code : upload_input(h);
  code = code != 0 ? code : run_and_read(h);
  return code != 0 ? code : collect(h);
}

static void tear_down(host *h)
{
  xp_abi_buffer *buffers[3] = {h->input, h->outputs[0], h->outputs[1]};
  for (int i = 0; i < 3; i++) {
    on(api()->buffer_destroy, buffers[i]);
  }
  on(api()->loaded_executable_destroy, h->executable);
  if (h->client != NULL) {
    on(api()->client_destroy, h->client);
  }
  xp_abi_profiler_args destroy = {sizeof destroy, h->profiler};
  assert_null(profiler_api()->destroy(&destroy));
}

static xp_wire_writer module;
static int runs, failures;

static void use_once(void)
{
  host h = {.profiler = NULL};
  int code = use_device(&h, written(&module));
  int first = first_to_fail;
  first_to_fail = 0; /* ending needs no memory, but cmocka's reports might */
  tear_down(&h);
  first_to_fail = first;
  assert_true(code == 0 || code == XP_ABI_RESOURCE_EXHAUSTED); /* a capture may do with less */
  runs++;
  failures += code != 0;
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  module = hlo_write_program(&donating);
  use_once(); /* what is set up once a process is there then */
  assert_int_equal(failures, 0);
  fail_each(use_once);
  assert_true(failures > runs / 2);
  xp_wire_writer_free(&module);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
