/* Small programs of HLO for tests of the device, written field by field, and a host that runs them through the C API.
 *
 * Every array of a program has one shape, of f32; its root is a tuple.
 */
#ifndef XP_TESTS_DEVICE_PROGRAMS_H
#define XP_TESTS_DEVICE_PROGRAMS_H

#include "device/plugin.h"
#include "testing.h"

/* An instruction: parameters, element-wise opcodes, "dot" of two square matrices.  Operands count from 1; 0: none. */
typedef struct {
  const char *opcode, *op_name;
  int operands[2];
} hlo_line;

typedef struct {
  const char *name;
  size_t rank;
  int64_t dims[2];
  hlo_line lines[12]; /* the parameters first; up to the first without an opcode */
  int results[4];     /* lines, counted from 1; up to the first 0 */
  bool donates_first; /* the first result takes the memory of parameter 0 */
  bool gives_first;   /* parameter 0 is a buffer donor */
} hlo_program;

static inline void hlo_numbers(xp_wire_writer *w, uint32_t field, const int64_t *numbers, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    xp_wire_put_varint(w, field, (uint64_t)numbers[i]);
  }
}

static inline void hlo_nest(xp_wire_writer *to, uint32_t field, xp_wire_writer *message)
{
  xp_wire_put_message(to, field, message);
  xp_wire_writer_free(message);
}

static inline xp_wire_writer hlo_shape(const hlo_program *p)
{
  static const int64_t minor_to_major[2] = {1, 0};
  xp_wire_writer shape = {0}, layout = {0};
  xp_wire_put_varint(&shape, 2, 11); /* F32 */
  hlo_numbers(&shape, 3, p->dims, p->rank);
  hlo_numbers(&layout, 1, minor_to_major + (2 - p->rank), p->rank);
  hlo_nest(&shape, 5, &layout);
  return shape;
}

static inline size_t hlo_result_count(const hlo_program *p)
{
  size_t n = 0;
  while (n < 4 && p->results[n] > 0) {
    n++;
  }
  return n;
}

static inline xp_wire_writer hlo_tuple_shape(const hlo_program *p)
{
  xp_wire_writer tuple = {0};
  xp_wire_put_varint(&tuple, 2, 13);
  for (size_t i = 0; i < hlo_result_count(p); i++) {
    xp_wire_writer part = hlo_shape(p);
    hlo_nest(&tuple, 4, &part);
  }
  return tuple;
}

static inline bool hlo_is_parameter(const hlo_line *line)
{
  return line->opcode != NULL && strcmp(line->opcode, "parameter") == 0;
}

static inline void hlo_put_line(xp_wire_writer *computation, const hlo_program *p, int number)
{
  const hlo_line *line = &p->lines[number - 1];
  xp_wire_writer instruction = {0}, meta = {0}, dot = {0}, shape = hlo_shape(p);
  char name[40];
  snprintf(name, sizeof name, "%s.%d", line->opcode, number);
  xp_wire_put_bytes(&instruction, 1, xp_str_c(name));
  xp_wire_put_bytes(&instruction, 2, xp_str_c(line->opcode));
  hlo_nest(&instruction, 3, &shape);
  if (line->op_name != NULL) {
    xp_wire_put_bytes(&meta, 2, xp_str_c(line->op_name));
    xp_wire_put_bytes(&meta, 3, xp_str_c("model.py"));
    xp_wire_put_varint(&meta, 4, 7);
    hlo_nest(&instruction, 7, &meta);
  }
  if (hlo_is_parameter(line)) {
    xp_wire_put_varint(&instruction, 9, (uint64_t)(number - 1));
  }
  if (strcmp(line->opcode, "dot") == 0) {
    xp_wire_put_varint(&dot, 1, 1);
    xp_wire_put_varint(&dot, 2, 0);
    hlo_nest(&instruction, 30, &dot);
  }
  xp_wire_put_varint(&instruction, 35, (uint64_t)number);
  for (int i = 0; i < 2 && line->operands[i] > 0; i++) {
    xp_wire_put_varint(&instruction, 36, (uint64_t)line->operands[i]);
  }
  hlo_nest(computation, 2, &instruction);
}

static inline void hlo_put_root(xp_wire_writer *computation, const hlo_program *p, int number)
{
  xp_wire_writer root = {0}, shape = hlo_tuple_shape(p);
  xp_wire_put_bytes(&root, 1, xp_str_c("tuple.99"));
  xp_wire_put_bytes(&root, 2, xp_str_c("tuple"));
  hlo_nest(&root, 3, &shape);
  xp_wire_put_varint(&root, 35, (uint64_t)number);
  for (size_t i = 0; i < hlo_result_count(p); i++) {
    xp_wire_put_varint(&root, 36, (uint64_t)p->results[i]);
  }
  hlo_nest(computation, 2, &root);
}

static inline xp_wire_writer hlo_program_shape(const hlo_program *p)
{
  xp_wire_writer whole = {0}, result = hlo_tuple_shape(p);
  for (int i = 0; hlo_is_parameter(&p->lines[i]); i++) {
    xp_wire_writer parameter = hlo_shape(p);
    hlo_nest(&whole, 1, &parameter);
  }
  hlo_nest(&whole, 2, &result);
  return whole;
}

static inline void hlo_put_aliases(xp_wire_writer *module, const hlo_program *p)
{
  xp_wire_writer aliases = {0}, entry = {0};
  if (p->donates_first) {
    xp_wire_put_varint(&entry, 1, 0); /* output {0} */
    xp_wire_put_varint(&entry, 2, 0);
    xp_wire_put_varint(&entry, 4, 1); /* MAY_ALIAS */
    hlo_nest(&aliases, 1, &entry);
    hlo_nest(module, 8, &aliases);
  }
  if (p->gives_first) {
    xp_wire_put_varint(&entry, 1, 0);
    hlo_nest(&aliases, 1, &entry);
    hlo_nest(module, 18, &aliases);
  }
}

/* The HloModuleProto; the caller frees the writer. */
static inline xp_wire_writer hlo_write_program(const hlo_program *p)
{
  xp_wire_writer module = {0}, computation = {0}, own_shape = hlo_program_shape(p), shape = hlo_program_shape(p);
  int count = 0;
  xp_wire_put_bytes(&computation, 1, xp_str_c("main.1"));
  while (p->lines[count].opcode != NULL) {
    hlo_put_line(&computation, p, ++count);
  }
  hlo_put_root(&computation, p, count + 1);
  hlo_nest(&computation, 4, &own_shape);
  xp_wire_put_varint(&computation, 5, 3);
  xp_wire_put_varint(&computation, 6, (uint64_t)(count + 1));
  xp_wire_put_bytes(&module, 1, xp_str_c(p->name));
  xp_wire_put_bytes(&module, 2, xp_str_c("main.1"));
  hlo_nest(&module, 3, &computation);
  hlo_nest(&module, 4, &shape);
  xp_wire_put_varint(&module, 5, 1000);
  xp_wire_put_varint(&module, 6, 3);
  hlo_put_aliases(&module, p);
  return module;
}

/* ---------------------------------------------------------------- the programs of the tests */

/* (a + b) * a, of 4 numbers */
static const hlo_program add_then_multiply = {
    .name = "jit_small",
    .rank = 1,
    .dims = {4},
    .lines = {{"parameter", NULL, {0}},
              {"parameter", NULL, {0}},
              {"add", "fwd/inner/aten__add", {1, 2}},
              {"multiply", "fwd/aten__mul", {3, 1}}},
    .results = {4},
};

/* a + a and a * a, the sum in the memory of a */
static const hlo_program donating = {
    .name = "donating",
    .rank = 1,
    .dims = {4},
    .lines = {{"parameter", NULL, {0}}, {"multiply", NULL, {1, 1}}, {"add", NULL, {1, 1}}},
    .results = {3, 2},
    .donates_first = true,
};

/* a b b b b b b, of 192 x 192: some milliseconds of work */
static const hlo_program long_one = {
    .name = "long_one",
    .rank = 2,
    .dims = {192, 192},
    .lines = {{"parameter", NULL, {0}},
              {"parameter", NULL, {0}},
              {"dot", "step/fwd/aten__mm", {1, 2}},
              {"dot", "step/fwd/aten__mm", {3, 2}},
              {"dot", "step/fwd/aten__mm", {4, 2}},
              {"dot", "step/bwd/aten__mm", {5, 2}},
              {"dot", "step/bwd/aten__mm", {6, 2}},
              {"dot", "step/bwd/aten__mm", {7, 2}}},
    .results = {8},
};

/* ---------------------------------------------------------------- a host */

static inline const xp_abi_api *api(void)
{
  return xp_device_api();
}

/* The text of an error that must be there, in a place of its own until the next call; destroys the error. */
static inline const char *error_text(xp_abi_error *error, int *code)
{
  static char text[1024];
  assert_non_null(error);
  xp_abi_text_args message = {.struct_size = sizeof message, .object = error};
  api()->error_message(&message);
  assert_true(message.text_size < sizeof text);
  memcpy(text, message.text, message.text_size);
  text[message.text_size] = '\0';
  xp_abi_int32_args got = {.struct_size = XP_ABI_INT32_SIZE, .object = error};
  assert_null(api()->error_get_code(&got));
  *code = got.value;
  xp_abi_object_args destroy = {.struct_size = sizeof destroy, .object = error};
  api()->error_destroy(&destroy);
  return text;
}

static inline void assert_fails(xp_abi_error *error, int code, const char *part)
{
  int got = -1;
  const char *text = error_text(error, &got);
  assert_contains(text, part);
  assert_int_equal(got, code);
}

static inline void assert_done(xp_abi_error *error)
{
  if (error != NULL) {
    int code = 0;
    const char *text = error_text(error, &code);
    fail_msg("error %d: %s", code, text);
  }
}

static inline xp_abi_named_value int_option(const char *name, int64_t number)
{
  return (xp_abi_named_value){.struct_size = sizeof(xp_abi_named_value),
                              .name = name,
                              .name_size = strlen(name),
                              .type = XP_ABI_VALUE_INT64,
                              .value.number = number,
                              .value_size = 1};
}

static inline xp_abi_client *make_client(const xp_abi_named_value *options, size_t count)
{
  xp_abi_client_create_args create = {.struct_size = sizeof create, .create_options = options, .num_options = count};
  assert_done(api()->client_create(&create));
  assert_non_null(create.client);
  return create.client;
}

static inline xp_abi_client *plain_client(void)
{
  return make_client(NULL, 0);
}

/* Calls a function that takes nothing but an object, and must succeed. */
static inline void on(xp_abi_object_function *function, void *object)
{
  xp_abi_object_args args = {.struct_size = sizeof args, .object = object};
  assert_done(function(&args));
}

static inline xp_abi_device *device_of(xp_abi_client *client, size_t i)
{
  xp_abi_list_args args = {.struct_size = sizeof args, .object = client};
  assert_done(api()->client_addressable_devices(&args));
  assert_true(i < args.count);
  return ((xp_abi_device *const *)args.items)[i];
}

static inline xp_abi_error *try_compile(xp_abi_client *client, xp_str code, const char *format, xp_str options,
                                        xp_abi_loaded_executable **executable)
{
  char *copy = malloc(code.len + 1);
  assert_non_null(copy);
  memcpy(copy, code.ptr, code.len);
  xp_abi_program program = {.struct_size = sizeof program,
                            .code = copy,
                            .code_size = code.len,
                            .format = format,
                            .format_size = strlen(format)};
  xp_abi_client_compile_args args = {.struct_size = sizeof args,
                                     .client = client,
                                     .program = &program,
                                     .options = options.ptr,
                                     .options_size = options.len};
  xp_abi_error *error = api()->client_compile(&args);
  memset(copy, 0xee, code.len); /* the plugin must have its own */
  free(copy);
  *executable = args.executable;
  return error;
}

static inline xp_abi_loaded_executable *compile(xp_abi_client *client, const hlo_program *p)
{
  xp_abi_loaded_executable *executable = NULL;
  xp_wire_writer module = hlo_write_program(p);
  assert_done(try_compile(client, written(&module), "hlo", xp_str_from(NULL, 0), &executable));
  xp_wire_writer_free(&module);
  return executable;
}

static inline void await_and_destroy(xp_abi_event *event)
{
  xp_abi_object_args args = {.struct_size = sizeof args, .object = event};
  assert_done(api()->event_await(&args));
  on(api()->event_destroy, event);
}

static inline xp_abi_buffer *upload_to(xp_abi_client *client, xp_abi_device *device, const float *data, size_t rank,
                                       const int64_t *dims)
{
  xp_abi_from_host_args args = {.struct_size = sizeof args,
                                .client = client,
                                .data = data,
                                .type = XP_ABI_F32,
                                .dimensions = dims,
                                .num_dimensions = rank,
                                .device = device};
  assert_done(api()->client_buffer_from_host_buffer(&args));
  await_and_destroy(args.done_with_host_buffer);
  return args.buffer;
}

static inline xp_abi_buffer *upload4(xp_abi_client *client, float a, float b, float c, float d)
{
  const float data[4] = {a, b, c, d};
  const int64_t dims[1] = {4};
  return upload_to(client, device_of(client, 0), data, 1, dims);
}

/* Launches with any arguments struct that `args` holds besides. */
static inline xp_abi_error *try_launch(xp_abi_loaded_executable *executable, xp_abi_buffer *const *inputs, size_t count,
                                       xp_abi_buffer **outputs, xp_abi_event **done)
{
  xp_abi_execute_options options = {.struct_size = sizeof options};
  xp_abi_execute_args args = {.struct_size = sizeof args,
                              .executable = executable,
                              .options = &options,
                              .argument_lists = &inputs,
                              .num_devices = 1,
                              .num_arguments = count,
                              .output_lists = &outputs,
                              .device_complete_events = done};
  return api()->loaded_executable_execute(&args);
}

static inline void launch(xp_abi_loaded_executable *executable, xp_abi_buffer *const *inputs, size_t count,
                          xp_abi_buffer **outputs, xp_abi_event **done)
{
  assert_done(try_launch(executable, inputs, count, outputs, done));
}

static inline void download(xp_abi_buffer *buffer, float *data, size_t count)
{
  xp_abi_to_host_args args = {
      .struct_size = sizeof args, .buffer = buffer, .target = data, .target_size = count * sizeof *data};
  assert_done(api()->buffer_to_host_buffer(&args));
  await_and_destroy(args.event);
}

static inline void assert_holds4(xp_abi_buffer *buffer, float a, float b, float c, float d)
{
  const float want[4] = {a, b, c, d};
  float got[4] = {0};
  download(buffer, got, 4);
  for (int i = 0; i < 4; i++) {
    if (got[i] != want[i]) {
      fail_msg("number %d is %g, right is %g", i, (double)got[i], (double)want[i]);
    }
  }
}

static inline int64_t bytes_in_use(xp_abi_client *client)
{
  xp_abi_memory_stats_args args = {.struct_size = XP_ABI_MEMORY_STATS_SIZE, .device = device_of(client, 0)};
  assert_done(api()->device_memory_stats(&args));
  return args.bytes_in_use;
}

#endif
