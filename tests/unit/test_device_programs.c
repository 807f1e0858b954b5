/* Compiling on the embedded device, and what it tells of a program. */
#include "device_programs.h"

static const xp_str no_options = {NULL, 0};

static xp_abi_executable *executable_of(xp_abi_loaded_executable *loaded)
{
  xp_abi_pointer_args args = {.struct_size = sizeof args, .object = loaded};
  assert_done(api()->loaded_executable_get_executable(&args));
  return args.value;
}

/* A program of the tests, compiled: the client, the loaded executable and the executable. */
typedef struct {
  xp_abi_client *client;
  xp_abi_loaded_executable *loaded;
  xp_abi_executable *executable;
} compiled;

static compiled start(const hlo_program *p)
{
  compiled c = {.client = plain_client()};
  c.loaded = compile(c.client, p);
  c.executable = executable_of(c.loaded);
  return c;
}

static void end(compiled *c)
{
  on(api()->loaded_executable_destroy, c->loaded);
  on(api()->executable_destroy, c->executable);
  on(api()->client_destroy, c->client);
}

/* ---------------------------------------------------------------- what can be compiled */

static void other_formats_are_refused_with_those_that_there_are(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  xp_abi_loaded_executable *executable = NULL;
  assert_fails(try_compile(client, xp_str_c("module {}"), "mlir", no_options, &executable), XP_ABI_UNIMPLEMENTED,
               "format \"hlo\" (a serialized HloModuleProto) or \"hlo_with_config\"");
  on(api()->client_destroy, client);
}

static void bytes_that_are_no_program_are_refused(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  xp_abi_loaded_executable *executable = NULL;
  int code = 0;
  error_text(try_compile(client, xp_str_c("\x0a\xff junk"), "hlo", no_options, &executable), &code);
  assert_int_equal(code, XP_ABI_INVALID_ARGUMENT);
  error_text(try_compile(client, xp_str_c("\x0a\xff junk"), "hlo_with_config", no_options, &executable), &code);
  assert_int_equal(code, XP_ABI_INVALID_ARGUMENT);
  on(api()->client_destroy, client);
}

static void an_opcode_that_the_device_has_not_is_refused_by_its_name(void **state)
{
  (void)state;
  static const hlo_program strange = {.name = "strange",
                                      .rank = 1,
                                      .dims = {4},
                                      .lines = {{"parameter", NULL, {0}}, {"topsy-turvy", NULL, {1}}},
                                      .results = {2}};
  xp_abi_client *client = plain_client();
  xp_abi_loaded_executable *executable = NULL;
  xp_wire_writer module = hlo_write_program(&strange);
  assert_fails(try_compile(client, written(&module), "hlo", no_options, &executable), XP_ABI_UNIMPLEMENTED,
               "topsy-turvy");
  xp_wire_writer_free(&module);
  on(api()->client_destroy, client);
}

/* The error of compiling two parameters and an instruction of an opcode, which as a rule lacks its attributes; else "".
 */
static const char *complaint(xp_abi_client *client, const char *opcode)
{
  hlo_program p = {.name = "one",
                   .rank = 1,
                   .dims = {4},
                   .lines = {{"parameter", NULL, {0}}, {"parameter", NULL, {0}}, {opcode, NULL, {1, 2}}},
                   .results = {3}};
  xp_abi_loaded_executable *executable = NULL;
  xp_wire_writer module = hlo_write_program(&p);
  xp_abi_error *error = try_compile(client, written(&module), "hlo", no_options, &executable);
  xp_wire_writer_free(&module);
  int code = 0;
  if (error != NULL) {
    return error_text(error, &code);
  }
  on(api()->loaded_executable_destroy, executable);
  return "";
}

/* torch_xla_opcodes.txt: lines of an opcode and four counts, up to the kinds of instructions, which have no counts. */
static void every_opcode_of_torch_xla_is_one_of_the_device(void **state)
{
  (void)state;
  xp_abi_client *client = plain_client();
  FILE *list = fopen("tests/data/torch_xla_opcodes.txt", "r");
  assert_non_null(list);
  char line[1024], opcode[40];
  int found = 0, counts[4];
  while (fgets(line, sizeof line, list) != NULL) {
    if (sscanf(line, "%39s %d %d %d %d", opcode, &counts[0], &counts[1], &counts[2], &counts[3]) == 5) {
      const char *text = complaint(client, opcode);
      if (strstr(text, "opcode") != NULL && strstr(text, "not supported") != NULL) {
        fail_msg("%s", text);
      }
      found++;
    }
  }
  fclose(list);
  assert_int_equal(found, 45);
  assert_contains(complaint(client, "fft"), "opcode fft of instruction %fft.3 is not supported");
  on(api()->client_destroy, client);
}

/* CompileOptionsProto.executable_build_options: replicas (4), partitions (5), a device assignment (9). */
static void options_name_the_device(void **state)
{
  (void)state;
  const xp_abi_named_value two[] = {int_option("device_count", 2)};
  xp_abi_client *client = make_client(two, 1);
  xp_abi_loaded_executable *executable = NULL;
  xp_wire_writer module = hlo_write_program(&add_then_multiply);
  const char on_second[] = "\x1a\x0e\x20\x01\x28\x01\x4a\x08\x08\x01\x10\x01\x1a\x02\x08\x01";
  xp_str options = xp_str_from(on_second, sizeof on_second - 1);
  assert_done(try_compile(client, written(&module), "hlo", options, &executable));
  xp_abi_list_args devices = {.struct_size = sizeof devices, .object = executable};
  assert_done(api()->loaded_executable_addressable_devices(&devices));
  assert_ptr_equal(((xp_abi_device *const *)devices.items)[0], device_of(client, 1));
  xp_abi_bytes_args assignment = {.struct_size = sizeof assignment, .object = executable};
  assert_done(api()->loaded_executable_get_device_assignment(&assignment));
  assert_int_equal(assignment.bytes_size, 8);
  assert_memory_equal(assignment.bytes, on_second + 8, 8);
  assignment.deleter(assignment.storage);
  on(api()->loaded_executable_destroy, executable);
  assert_fails(try_compile(client, written(&module), "hlo", xp_str_c("\x1a\x02\x20\x02"), &executable),
               XP_ABI_UNIMPLEMENTED, "2 replicas of 1 partitions");
  assert_fails(try_compile(client, written(&module), "hlo", xp_str_c("\x1a\x02\x08\x05"), &executable),
               XP_ABI_INVALID_ARGUMENT, "device 5; the client has 2");
  assert_fails(try_compile(client, written(&module), "hlo", xp_str_c("\x1a\x20\x02"), &executable),
               XP_ABI_INVALID_ARGUMENT, "compile options");
  xp_wire_writer_free(&module);
  on(api()->client_destroy, client);
}

/* ---------------------------------------------------------------- what it tells */

static uint64_t number_of(xp_abi_uint64_function *function, void *object)
{
  xp_abi_uint64_args args = {.struct_size = sizeof args, .object = object};
  assert_done(function(&args));
  return args.value;
}

static void a_program_tells_its_name_outputs_and_costs(void **state)
{
  (void)state;
  compiled c = start(&donating);
  xp_abi_text_args name = {.struct_size = sizeof name, .object = c.executable};
  assert_done(api()->executable_name(&name));
  assert_str(xp_str_from(name.text, name.text_size), "donating");
  assert_int_equal(number_of(api()->executable_num_replicas, c.executable), 1);
  assert_int_equal(number_of(api()->executable_num_partitions, c.executable), 1);
  assert_int_equal(number_of(api()->executable_num_outputs, c.executable), 2);
  xp_abi_list_args types = {.struct_size = sizeof types, .object = c.executable};
  assert_done(api()->executable_output_element_types(&types));
  assert_int_equal(types.count, 2);
  assert_int_equal(((const int32_t *)types.items)[1], XP_ABI_F32);
  xp_abi_output_dimensions_args dims = {.struct_size = sizeof dims, .executable = c.executable};
  assert_done(api()->executable_output_dimensions(&dims));
  assert_int_equal(dims.num_outputs, 2);
  assert_int_equal(dims.ranks[1], 1);
  assert_int_equal(dims.dimensions[1], 4);
  xp_abi_memory_kinds_args kinds = {.struct_size = sizeof kinds, .executable = c.executable};
  assert_done(api()->executable_output_memory_kinds(&kinds));
  assert_int_equal(kinds.count, 2);
  assert_str(xp_str_from(kinds.kinds[1], kinds.kind_sizes[1]), "device");
  end(&c);
}

/* Two element-wise operations of 4 numbers: 8 flops, and 2 * 3 arrays of 16 bytes. */
static void costs_are_those_of_the_operations(void **state)
{
  (void)state;
  compiled c = start(&add_then_multiply);
  xp_abi_values_args cost = {.struct_size = sizeof cost, .object = c.executable};
  assert_done(api()->executable_get_cost_analysis(&cost));
  assert_int_equal(cost.count, 2);
  assert_str(xp_str_from(cost.items[0].name, cost.items[0].name_size), "flops");
  assert_true(cost.items[0].value.real == 8);
  assert_str(xp_str_from(cost.items[1].name, cost.items[1].name_size), "bytes accessed");
  assert_true(cost.items[1].value.real == 96);
  end(&c);
}

static void memory_of_a_program_counts_donated_arrays_once(void **state)
{
  (void)state;
  compiled c = start(&donating);
  xp_abi_compiled_memory_stats_args stats;
  memset(&stats, 0x5a, sizeof stats);
  stats.struct_size = offsetof(xp_abi_compiled_memory_stats_args, peak_memory_bytes); /* as of minor 75 */
  stats.extension_start = NULL;
  stats.executable = c.executable;
  assert_done(api()->executable_get_compiled_memory_stats(&stats));
  assert_int_equal(stats.argument_bytes, 16);
  assert_int_equal(stats.output_bytes, 32);
  assert_int_equal(stats.alias_bytes, 16);
  assert_int_equal(stats.peak_memory_bytes, 0x5a5a5a5a5a5a5a5a);
  stats.struct_size = sizeof stats;
  assert_done(api()->executable_get_compiled_memory_stats(&stats));
  assert_int_equal(stats.peak_memory_bytes, 32 + stats.temp_bytes);
  end(&c);
}

static void equal_programs_have_equal_fingerprints_and_others_have_not(void **state)
{
  (void)state;
  compiled c = start(&add_then_multiply);
  xp_abi_loaded_executable *again = compile(c.client, &add_then_multiply), *other = compile(c.client, &donating);
  xp_abi_text_args first = {.struct_size = sizeof first, .object = c.executable};
  xp_abi_text_args second = {.struct_size = sizeof second, .object = again},
                   third = {.struct_size = sizeof third, .object = other};
  assert_done(api()->executable_fingerprint(&first));
  assert_done(api()->loaded_executable_fingerprint(&second));
  assert_done(api()->loaded_executable_fingerprint(&third));
  assert_int_equal(first.text_size, 16);
  assert_memory_equal(first.text, second.text, 16);
  assert_memory_not_equal(first.text, third.text, 16);
  on(api()->loaded_executable_destroy, again);
  on(api()->loaded_executable_destroy, other);
  end(&c);
}

/* ---------------------------------------------------------------- the program as it is given back */

static xp_wire_field field_of(xp_str message, uint32_t number)
{
  xp_wire_field field = {0}, found = {0};
  for (xp_wire_reader r = xp_wire_open(message); xp_wire_next(&r, &field);) {
    found = field.number == number ? field : found; /* the last one counts */
  }
  return found;
}

static char *optimized(xp_abi_executable *executable, size_t *size)
{
  xp_abi_program program = {.struct_size = sizeof program};
  xp_abi_optimized_program_args args = {.struct_size = sizeof args, .executable = executable, .program = &program};
  assert_done(api()->executable_optimized_program(&args));
  assert_str(xp_str_from(program.format, program.format_size), "hlo_with_config");
  program.code = malloc(program.code_size);
  assert_non_null(program.code);
  program.code_size--;
  assert_fails(api()->executable_optimized_program(&args), XP_ABI_INVALID_ARGUMENT, "room for");
  program.code_size++;
  assert_done(api()->executable_optimized_program(&args));
  *size = program.code_size;
  return program.code;
}

static void the_program_comes_back_with_its_names_and_entry_and_a_config(void **state)
{
  (void)state;
  size_t size = 0;
  compiled c = start(&add_then_multiply);
  char *code = optimized(c.executable, &size);
  xp_str module = field_of(xp_str_from(code, size), 1).bytes, config = field_of(xp_str_from(code, size), 2).bytes;
  assert_str(field_of(module, 1).bytes, "jit_small");
  assert_str(field_of(module, 2).bytes, "main.1");
  assert_int_equal(field_of(module, 6).value, 3);        /* entry_computation_id */
  assert_int_not_equal(field_of(module, 5).value, 1000); /* an id of its own */
  assert_str_contains(module, "fwd/inner/aten__add");
  assert_int_equal(field_of(config, 4).value, 1);
  assert_int_equal(field_of(config, 5).value, 1);
  xp_str layout = field_of(config, 1).bytes, shape = field_of(module, 4).bytes;
  assert_int_equal(layout.len, shape.len);
  assert_memory_equal(layout.ptr, shape.ptr, shape.len);
  free(code);
  end(&c);
}

static void a_program_with_config_is_compiled_and_keeps_its_config(void **state)
{
  (void)state;
  size_t size = 0;
  xp_wire_writer module = hlo_write_program(&add_then_multiply), config = {0}, whole = {0};
  xp_wire_put_varint(&config, 2, 4711);
  xp_wire_put_message(&whole, 1, &module);
  xp_wire_put_message(&whole, 2, &config);
  xp_abi_client *client = plain_client();
  xp_abi_loaded_executable *loaded = NULL;
  assert_done(try_compile(client, written(&whole), "hlo_with_config", no_options, &loaded));
  xp_abi_executable *executable = executable_of(loaded);
  char *code = optimized(executable, &size);
  assert_int_equal(field_of(field_of(xp_str_from(code, size), 2).bytes, 2).value, 4711);
  free(code);
  on(api()->loaded_executable_destroy, loaded);
  on(api()->executable_destroy, executable);
  on(api()->client_destroy, client);
  xp_wire_writer_free(&module);
  xp_wire_writer_free(&config);
  xp_wire_writer_free(&whole);
}

static void compiling_ahead_needs_no_client(void **state)
{
  (void)state;
  xp_wire_writer module = hlo_write_program(&add_then_multiply);
  xp_abi_program program = {.struct_size = sizeof program,
                            .code = (char *)module.data,
                            .code_size = module.len,
                            .format = "hlo",
                            .format_size = 3};
  xp_abi_compile_args args = {.struct_size = sizeof args, .program = &program};
  assert_done(api()->compile(&args));
  assert_int_equal(number_of(api()->executable_num_outputs, args.executable), 1);
  on(api()->executable_destroy, args.executable);
  xp_wire_writer_free(&module);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(other_formats_are_refused_with_those_that_there_are),
      cmocka_unit_test(bytes_that_are_no_program_are_refused),
      cmocka_unit_test(an_opcode_that_the_device_has_not_is_refused_by_its_name),
      cmocka_unit_test(every_opcode_of_torch_xla_is_one_of_the_device),
      cmocka_unit_test(options_name_the_device),
      cmocka_unit_test(a_program_tells_its_name_outputs_and_costs),
      cmocka_unit_test(costs_are_those_of_the_operations),
      cmocka_unit_test(memory_of_a_program_counts_donated_arrays_once),
      cmocka_unit_test(equal_programs_have_equal_fingerprints_and_others_have_not),
      cmocka_unit_test(the_program_comes_back_with_its_names_and_entry_and_a_config),
      cmocka_unit_test(a_program_with_config_is_compiled_and_keeps_its_config),
      cmocka_unit_test(compiling_ahead_needs_no_client),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
