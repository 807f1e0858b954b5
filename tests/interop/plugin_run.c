/* Runs programs on a real PJRT plugin through pjrt/client.h, for tests/interop/pjrt_peer.py and checks_pjrt.py.
 *
 *   plugin_run PLUGIN.so devices [NAME=NUMBER]               the client and its devices
 *   plugin_run PLUGIN.so run PROGRAM FORMAT FOLDER ARG...    executes once; output I goes to FOLDER/output-I
 *   plugin_run PLUGIN.so flight PROGRAM COUNT                COUNT executions of f32[] -> f32[] begun, each from the
 * last plugin_run PLUGIN.so threads PROGRAM COUNT               the same in two threads at once plugin_run PLUGIN.so
 * second PROGRAM                      on the second of two devices plugin_run PLUGIN.so optimized PROGRAM FORMAT FILE
 * what the compiler made of a program plugin_run PLUGIN.so topology NAME PROGRAM FILE          the same ahead of time,
 * for a machine that is not here
 *
 * ARG is TYPE:DIMENSIONS:FILE (11:2x3:a.bin; the number of PJRT_Buffer_Type), with a "!" behind it if it is not to be
 * donated.  Facts go to stdout, a line each; an error of the library is a line "error: " with its status and text.  The
 * exit status is 0 all the same: the checks judge.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "pjrt/client.h"

enum { MOST_ARGUMENTS = 16, MOST_DIMENSIONS = 8, MOST_OUTPUTS = 16, THREADS = 2 };

static bool good(xp_status status, const xp_error *err)
{
  if (status != XP_OK) {
    printf("error: %d %s\n", (int)status, err->text);
  }
  return status == XP_OK;
}

/* ---------------------------------------------------------------- files */

static void give_up(const char *path)
{
  perror(path);
  exit(1);
}

/* The caller frees ptr. */
static xp_str read_file(const char *path)
{
  FILE *file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    give_up(path);
  }
  size_t size = (size_t)ftell(file);
  char *bytes = malloc(size + 1);
  rewind(file);
  if (bytes == NULL || fread(bytes, 1, size, file) != size) {
    give_up(path);
  }
  fclose(file);
  return xp_str_from(bytes, size);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
  FILE *file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
    give_up(path);
  }
}

static bool compile_file(xp_pjrt_client *client, const xp_pjrt_device *device, const char *path, const char *format,
                         xp_pjrt_executable **executable)
{
  xp_str bytes = read_file(path);
  xp_error err = {0};
  xp_pjrt_program program = {xp_str_c(format), bytes};
  bool is_good = good(xp_pjrt_compile(client, device, program, executable, &err), &err);
  free((char *)(uintptr_t)bytes.ptr);
  return is_good;
}

/* ---------------------------------------------------------------- run */

typedef struct {
  xp_pjrt_buffer *buffers[MOST_ARGUMENTS];
  size_t count;
  size_t kept[MOST_ARGUMENTS];
  size_t kept_count;
} arguments_list;

static bool upload(xp_pjrt_client *client, const char *text, arguments_list *arguments)
{
  int64_t dimensions[MOST_DIMENSIONS];
  char *end = NULL;
  xp_pjrt_shape shape = {.type = (xp_abi_type)strtol(text, &end, 10), .dimensions = dimensions};
  while (*end == ':' || *end == 'x') {
    const char *number = end + 1;
    long value = strtol(number, &end, 10);
    if (end == number) { /* the file, or a scalar and then the file */
      end = (char *)(uintptr_t)number;
      break;
    }
    dimensions[shape.rank++] = value;
  }
  end += *end == ':';
  char path[512];
  size_t len = strcspn(end, "!");
  snprintf(path, sizeof path, "%.*s", (int)len, end);
  if (end[len] == '!') {
    arguments->kept[arguments->kept_count++] = arguments->count;
  }
  xp_str bytes = read_file(path);
  xp_error err = {0};
  xp_pjrt_event *released = NULL;
  bool is_good = good(
      xp_pjrt_upload(client, NULL, shape, bytes.ptr, bytes.len, &arguments->buffers[arguments->count], &released, &err),
      &err);
  arguments->count += is_good;
  is_good = is_good && good(xp_pjrt_event_wait(released, &err), &err);
  xp_pjrt_event_destroy(released);
  free((char *)(uintptr_t)bytes.ptr);
  return is_good;
}

static void save_output(const xp_pjrt_buffer *buffer, xp_pjrt_shape expected, const char *folder, size_t i)
{
  xp_error err = {0};
  xp_pjrt_shape shape = {0};
  xp_pjrt_event *done = NULL;
  size_t size = 0;
  if (!good(xp_pjrt_buffer_shape(buffer, &shape, &err), &err) || !xp_pjrt_shape_bytes(shape, &size)) {
    return;
  }
  printf("output %zu: %d", i, (int)shape.type);
  bool is_as_expected = shape.type == expected.type && shape.rank == expected.rank;
  for (size_t d = 0; d < shape.rank; d++) {
    printf(" %lld", (long long)shape.dimensions[d]);
    is_as_expected = is_as_expected && shape.dimensions[d] == expected.dimensions[d];
  }
  printf("\nas the program says: %d\n", is_as_expected);
  char *bytes = malloc(size + 1);
  char path[512];
  snprintf(path, sizeof path, "%s/output-%zu", folder, i);
  if (bytes != NULL && good(xp_pjrt_download(buffer, bytes, size, &done, &err), &err) &&
      good(xp_pjrt_event_wait(done, &err), &err)) {
    write_file(path, bytes, size);
  }
  xp_pjrt_event_destroy(done);
  free(bytes);
}

static void tell_deleted(const arguments_list *arguments)
{
  xp_error err = {0};
  printf("deleted:");
  for (size_t i = 0; i < arguments->count; i++) {
    bool is_deleted = false;
    good(xp_pjrt_buffer_is_deleted(arguments->buffers[i], &is_deleted, &err), &err);
    printf(" %d", is_deleted);
  }
  printf("\n");
}

static void execute_and_save(const xp_pjrt_executable *executable, const arguments_list *arguments, const char *folder)
{
  xp_pjrt_buffer *outputs[MOST_OUTPUTS] = {NULL};
  xp_pjrt_shape shapes[MOST_OUTPUTS] = {0};
  xp_pjrt_event *done = NULL;
  xp_error err = {0};
  const xp_abi_extension unknown = {sizeof unknown, 0x7e577e57, NULL}; /* plugins must not mind */
  xp_pjrt_execute_options options = {arguments->kept, arguments->kept_count, 1, &unknown};
  size_t count = xp_pjrt_executable_output_count(executable);
  printf("outputs: %zu\n", count);
  if (count <= MOST_OUTPUTS && good(xp_pjrt_executable_output_shapes(executable, shapes, &err), &err) &&
      good(xp_pjrt_execute(executable, arguments->buffers, arguments->count, &options, outputs, &done, &err), &err) &&
      good(xp_pjrt_event_wait(done, &err), &err)) {
    tell_deleted(arguments);
    for (size_t i = 0; i < count; i++) {
      save_output(outputs[i], shapes[i], folder, i);
    }
  }
  for (size_t i = 0; i < MOST_OUTPUTS; i++) {
    xp_pjrt_buffer_destroy(outputs[i]);
  }
  xp_pjrt_event_destroy(done);
}

static void run(xp_pjrt_client *client, int argc, char **argv)
{
  arguments_list arguments = {.count = 0};
  xp_pjrt_executable *executable = NULL;
  if (compile_file(client, NULL, argv[0], argv[1], &executable)) {
    bool is_good = argc - 3 <= MOST_ARGUMENTS;
    for (int i = 3; i < argc && is_good; i++) {
      is_good = upload(client, argv[i], &arguments);
    }
    if (is_good) {
      execute_and_save(executable, &arguments, argv[2]);
    }
  }
  for (size_t i = 0; i < arguments.count; i++) {
    xp_pjrt_buffer_destroy(arguments.buffers[i]);
  }
  xp_pjrt_executable_destroy(executable);
}

/* ---------------------------------------------------------------- many executions */

static atomic_int called_back, called_with_error;

static void count_call(void *context, xp_status status, const xp_error *err)
{
  (void)context;
  (void)err;
  atomic_fetch_add(&called_with_error, status != XP_OK);
  atomic_fetch_add(&called_back, 1);
}

typedef struct {
  xp_pjrt_client *client;
  const xp_pjrt_device *device;
  const xp_pjrt_executable *executable;
  int count;
  float value; /* in: of the first; out: of the last */
  bool is_good;
} chain;

/* Nothing is waited for before the end: every execution has the output of the last one as its argument. */
static void *run_chain(void *context)
{
  chain *c = context;
  xp_error err = {0};
  xp_pjrt_shape scalar = {.type = XP_ABI_F32};
  xp_pjrt_buffer *value = NULL;
  c->is_good = good(xp_pjrt_upload(c->client, c->device, scalar, &c->value, sizeof c->value, &value, NULL, &err), &err);
  for (int i = 0; i < c->count && c->is_good; i++) {
    xp_pjrt_buffer *next = NULL;
    xp_pjrt_event *done = NULL;
    c->is_good = good(xp_pjrt_execute(c->executable, &value, 1, NULL, &next, &done, &err), &err) &&
                 good(xp_pjrt_event_on_ready(done, count_call, NULL, &err), &err);
    xp_pjrt_event_destroy(done);
    xp_pjrt_buffer_destroy(value);
    value = next;
  }
  c->is_good = c->is_good && good(xp_pjrt_download(value, &c->value, sizeof c->value, NULL, &err), &err);
  xp_pjrt_buffer_destroy(value);
  return NULL;
}

static void wait_for_calls(int count)
{
  const struct timespec moment = {0, 1000000};
  for (int i = 0; i < 20000 && atomic_load(&called_back) < count; i++) {
    nanosleep(&moment, NULL);
  }
  printf("called back: %d\nwith an error: %d\n", atomic_load(&called_back), atomic_load(&called_with_error));
}

static void run_chains(xp_pjrt_client *client, const xp_pjrt_device *device, const char *program, int count,
                       int thread_count)
{
  xp_pjrt_executable *executable = NULL;
  if (compile_file(client, device, program, "hlo", &executable)) {
    chain chains[THREADS];
    pthread_t threads[THREADS];
    for (int i = 0; i < thread_count; i++) {
      chains[i] = (chain){client, device, executable, count, (float)(i * 10000), false};
      if (pthread_create(&threads[i], NULL, run_chain, &chains[i]) != 0) {
        give_up("pthread_create");
      }
    }
    for (int i = 0; i < thread_count; i++) {
      pthread_join(threads[i], NULL);
      printf("chain %d: %s %g\n", i, chains[i].is_good ? "good" : "bad", (double)chains[i].value);
    }
    wait_for_calls(thread_count * count);
  }
  xp_pjrt_executable_destroy(executable);
}

/* On the second device, and a copy of its result back on the first. */
static void run_on_second(xp_pjrt_client *client, const char *program)
{
  size_t count = 0;
  const xp_pjrt_device *devices = xp_pjrt_client_devices(client, &count);
  xp_pjrt_shape scalar = {.type = XP_ABI_F32};
  xp_pjrt_buffer *value = NULL;
  xp_pjrt_buffer *copy = NULL;
  xp_error err = {0};
  float number = 41;
  if (count < 2) {
    printf("devices: %zu\n", count);
    return;
  }
  run_chains(client, &devices[1], program, 3, 1);
  if (good(xp_pjrt_upload(client, &devices[1], scalar, &number, sizeof number, &value, NULL, &err), &err) &&
      good(xp_pjrt_copy(value, &devices[0], &copy, &err), &err)) {
    number = 0;
    good(xp_pjrt_download(copy, &number, sizeof number, NULL, &err), &err);
    printf("copy: %g\n", (double)number);
  }
  xp_pjrt_buffer_destroy(value);
  xp_pjrt_buffer_destroy(copy);
}

/* ---------------------------------------------------------------- what was compiled */

static void save_optimized(const xp_pjrt_executable *executable, const char *path)
{
  xp_pjrt_program program = {{NULL, 0}, {NULL, 0}};
  xp_str name = {NULL, 0};
  xp_error err = {0};
  if (good(xp_pjrt_executable_name(executable, &name, &err), &err)) {
    printf("name: %.*s\n", XP_STR_ARG(name));
  }
  if (good(xp_pjrt_executable_optimized(executable, &program, &err), &err)) {
    printf("format: %.*s\n", XP_STR_ARG(program.format));
    write_file(path, program.bytes.ptr, program.bytes.len);
  }
  xp_pjrt_program_free(&program);
}

static void compile_ahead(const xp_pjrt_plugin *plugin, const char *name, const char *path, const char *saved)
{
  xp_pjrt_topology *topology = NULL;
  xp_pjrt_executable *executable = NULL;
  xp_str platform = {NULL, 0};
  size_t count = 0;
  xp_error err = {0};
  if (!good(xp_pjrt_topology_create(plugin, name, NULL, 0, &topology, &err), &err)) {
    return;
  }
  if (good(xp_pjrt_topology_platform(topology, &platform, &err), &err) &&
      good(xp_pjrt_topology_device_count(topology, &count, &err), &err)) {
    printf("platform: %.*s\ndevices: %zu\n", XP_STR_ARG(platform), count);
  }
  xp_str bytes = read_file(path);
  xp_pjrt_program program = {xp_str_c("hlo"), bytes};
  if (good(xp_pjrt_topology_compile(topology, program, &executable, &err), &err)) {
    save_optimized(executable, saved);
    good(xp_pjrt_execute(executable, NULL, 0, NULL, NULL, NULL, &err), &err);
  }
  free((char *)(uintptr_t)bytes.ptr);
  xp_pjrt_executable_destroy(executable);
  xp_pjrt_topology_destroy(topology);
}

/* ---------------------------------------------------------------- commands */

static void tell_devices(const xp_pjrt_client *client)
{
  size_t count = 0;
  const xp_pjrt_device *devices = xp_pjrt_client_devices(client, &count);
  printf("platform: %.*s\ndevices: %zu\n", XP_STR_ARG(xp_pjrt_client_platform(client)), count);
  for (size_t i = 0; i < count; i++) {
    printf("device: %d %d %d %.*s, %.*s\n", devices[i].id, devices[i].local_id, devices[i].process_index,
           XP_STR_ARG(devices[i].kind), XP_STR_ARG(devices[i].name));
  }
}

static void with_client(xp_pjrt_client *client, int argc, char **argv)
{
  const char *command = argv[2];
  if (strcmp(command, "devices") == 0) {
    tell_devices(client);
  } else if (strcmp(command, "run") == 0 && argc >= 6) {
    run(client, argc - 3, argv + 3);
  } else if (strcmp(command, "flight") == 0 && argc == 5) {
    run_chains(client, NULL, argv[3], atoi(argv[4]), 1);
  } else if (strcmp(command, "threads") == 0 && argc == 5) {
    run_chains(client, NULL, argv[3], atoi(argv[4]), THREADS);
  } else if (strcmp(command, "second") == 0 && argc == 4) {
    run_on_second(client, argv[3]);
  } else if (strcmp(command, "optimized") == 0 && argc == 6) {
    xp_pjrt_executable *executable = NULL;
    if (compile_file(client, NULL, argv[3], argv[4], &executable)) {
      save_optimized(executable, argv[5]);
    }
    xp_pjrt_executable_destroy(executable);
  }
}

int main(int argc, char **argv)
{
  if (argc < 3) {
    fputs("usage: plugin_run PLUGIN.so COMMAND ... (see the first comment of the source)\n", stderr);
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0); /* a plugin may abort */
  const xp_pjrt_plugin *plugin = NULL;
  xp_error err = {0};
  if (!good(xp_pjrt_plugin_load(argv[1], &plugin, &err), &err)) {
    return 0;
  }
  const xp_abi_api *api = xp_pjrt_plugin_api(plugin);
  printf("plugin: %s %d.%d %zu\n", xp_pjrt_plugin_name(plugin), api->version.major, api->version.minor,
         api->struct_size);
  if (strcmp(argv[2], "topology") == 0 && argc == 6) {
    compile_ahead(plugin, argv[3], argv[4], argv[5]);
    return 0;
  }
  xp_pjrt_client *client = NULL;
  xp_pjrt_option two = {.name = "cpu_device_count", .type = XP_PJRT_NUMBER, .number = 2};
  char name[64];
  if (strcmp(argv[2], "devices") == 0 && argc == 4) {
    snprintf(name, sizeof name, "%.*s", (int)strcspn(argv[3], "="), argv[3]);
    two.name = name;
    two.number = atoi(argv[3] + strcspn(argv[3], "=") + 1);
  }
  size_t option_count = strcmp(argv[2], "second") == 0 || (strcmp(argv[2], "devices") == 0 && argc == 4);
  if (good(xp_pjrt_client_create(plugin, &two, option_count, &client, &err), &err)) {
    with_client(client, argc, argv);
  }
  xp_pjrt_client_destroy(client);
  return 0;
}
