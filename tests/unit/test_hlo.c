/* Names of instructions out of HLO protos. */
#include "testing.h"

#include "xspace/hlo_names.h"

typedef struct {
  const char *name, *opcode, *op_name;
  uint64_t calls; /* id of the called computation; 0: none */
} instruction;

static void put_instruction(xp_wire_writer *computation, const instruction *i, bool packed)
{
  xp_wire_writer w = {0}, metadata = {0};
  xp_wire_put_bytes(&w, 1, xp_str_c(i->name));
  xp_wire_put_bytes(&w, 2, xp_str_c(i->opcode));
  xp_wire_put_bytes(&metadata, 1, xp_str_c("type"));
  xp_wire_put_bytes(&metadata, 2, xp_str_c(i->op_name));
  xp_wire_put_bytes(&metadata, 3, xp_str_c("model.py"));
  xp_wire_put_varint(&metadata, 4, 17);
  xp_wire_put_message(&w, 7, &metadata);
  if (i->calls != 0 && packed) {
    const char id = (char)i->calls;
    xp_wire_put_bytes(&w, 38, xp_str_from(&id, 1));
  } else if (i->calls != 0) {
    xp_wire_put_varint(&w, 38, i->calls);
  }
  xp_wire_put_message(computation, 2, &w);
  xp_wire_writer_free(&w);
  xp_wire_writer_free(&metadata);
}

static void put_computation(xp_wire_writer *module, const char *name, uint64_t id, const instruction *list, bool packed)
{
  xp_wire_writer w = {0};
  xp_wire_put_bytes(&w, 1, xp_str_c(name));
  for (; list->name != NULL; list++) {
    put_instruction(&w, list, packed);
  }
  xp_wire_put_varint(&w, 5, id);
  xp_wire_put_message(module, 3, &w);
  xp_wire_writer_free(&w);
}

static const instruction fused[] = {{"param.1", "parameter", "input", 0},
                                    {"const.1", "constant", "number", 0},
                                    {"mul.1", "multiply", "model/mul", 0},
                                    {"add.1", "add", "model/add", 0},
                                    {"add.2", "add", "model/add", 0},
                                    {"neg.1", "negate", "", 0},
                                    {NULL, NULL, NULL, 0}};
static const instruction entry[] = {{"fusion.1", "fusion", "model/add", 3},
                                    {"fusion.2", "fusion", "model/own", 3},
                                    {"add.1", "add", "second of its name", 0},
                                    {"call.1", "call", "model/call", 3},
                                    {NULL, NULL, NULL, 0}};

static xp_wire_writer small_proto(bool packed, bool by_name)
{
  xp_wire_writer module = {0}, proto = {0};
  xp_wire_put_bytes(&module, 1, xp_str_c("jit_f"));
  xp_wire_put_bytes(&module, 2, xp_str_c("main"));
  put_computation(&module, "fused", 3, fused, packed);
  put_computation(&module, "main", 4, entry, packed);
  if (!by_name) {
    xp_wire_put_varint(&module, 6, 4);
  }
  xp_wire_put_message(&proto, 1, &module);
  xp_wire_writer_free(&module);
  return proto;
}

typedef struct {
  xp_arena *arena;
  xp_capture *capture;
  xp_hlo_names *names;
} opened;

/* A capture whose metadata plane holds the proto: with a program_id stat, or (0) with the id of its entry only. */
static opened open_proto(xp_str proto, uint64_t program_id)
{
  xp_wire_writer space = {0};
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("/host:metadata"), 0);
  int64_t id = xp_plane_writer_event(plane, xp_str_c("jit_f(9)"), xp_str_c(""));
  xp_plane_writer_meta_bytes(plane, id, xp_plane_writer_stat(plane, xp_str_c("Hlo Proto")), proto);
  if (program_id != 0) {
    xp_plane_writer_meta_uint(plane, id, xp_plane_writer_stat(plane, xp_str_c("program_id")), program_id);
  }
  assert_true(xp_plane_writer_finish(plane, &space));
  opened o = {.arena = xp_arena_create()};
  xp_str bytes = xp_arena_copy(o.arena, written(&space));
  xp_wire_writer_free(&space);
  o.capture = load_bytes(bytes);
  o.names = xp_hlo_names_open(&o.capture->hosts[0], o.arena);
  return o;
}

static void close_proto(opened *o)
{
  xp_capture_free(o->capture);
  xp_arena_destroy(o->arena);
}

static void an_instruction_has_the_names_of_its_proto(void **state)
{
  (void)state;
  xp_wire_writer proto = small_proto(false, false);
  opened o = open_proto(written(&proto), UINT64_MAX);
  assert_int_equal(xp_hlo_program_count(o.names), 1);
  const xp_hlo_program *program = xp_hlo_program_find(o.names, UINT64_MAX);
  assert_non_null(program);
  assert_str(program->module, "jit_f");
  assert_int_equal(program->count, 10);
  assert_false(program->damaged);
  const xp_hlo_op *mul = xp_hlo_op_find(o.names, UINT64_MAX, xp_str_c("mul.1"));
  assert_str(mul->opcode, "multiply");
  assert_str(mul->op_name, "model/mul");
  assert_str(mul->op_type, "type");
  assert_str(mul->source_file, "model.py");
  assert_int_equal(mul->source_line, 17);
  assert_true(mul->is_fused);
  assert_false(xp_hlo_op_find(o.names, UINT64_MAX, xp_str_c("fusion.1"))->is_fused);
  close_proto(&o);
  xp_wire_writer_free(&proto);
}

static void the_first_of_equal_instruction_names_wins(void **state)
{
  (void)state;
  xp_wire_writer proto = small_proto(false, true);
  opened o = open_proto(written(&proto), 0);
  assert_str(xp_hlo_op_find(o.names, 1, xp_str_c("add.1"))->op_name, "model/add");
  assert_null(xp_hlo_op_find(o.names, 1, xp_str_c("add.9")));
  assert_null(xp_hlo_op_find(o.names, 2, xp_str_c("add.1")));
  assert_null(xp_hlo_program_find(o.names, 2));
  close_proto(&o);
  xp_wire_writer_free(&proto);
}

static void a_fusion_has_the_distinct_names_of_what_it_calls_and_its_own(void **state)
{
  (void)state;
  for (int packed = 0; packed < 2; packed++) {
    xp_wire_writer proto = small_proto(packed, packed);
    opened o = open_proto(written(&proto), 5);
    const xp_hlo_op *one = xp_hlo_op_find(o.names, 5, xp_str_c("fusion.1"));
    const xp_hlo_op *two = xp_hlo_op_find(o.names, 5, xp_str_c("fusion.2"));
    assert_int_equal(one->fused_count, 2); /* without parameter, constant, repeats and empty names */
    assert_str(one->fused_names[0], "model/mul");
    assert_str(one->fused_names[1], "model/add");
    assert_int_equal(two->fused_count, 3);
    assert_str(two->fused_names[2], "model/own");
    assert_int_equal(xp_hlo_op_find(o.names, 5, xp_str_c("call.1"))->fused_count, 0);
    close_proto(&o);
    xp_wire_writer_free(&proto);
  }
}

static void a_damaged_proto_gives_what_stands_before_the_damage(void **state)
{
  (void)state;
  xp_wire_writer proto = small_proto(false, false);
  for (size_t n = 0; n < proto.len; n++) {
    opened o = open_proto(xp_str_from((const char *)proto.data, n), 5);
    const xp_hlo_program *program = xp_hlo_program_at(o.names, 0);
    assert_int_equal(program->damaged, n > 0);
    for (size_t i = 0; i < program->count; i++) {
      touch_bytes(program->instructions[i].op_name);
    }
    close_proto(&o);
  }
  proto.data[proto.len - 1] = 0x80; /* within the module: the entry id */
  opened o = open_proto(written(&proto), 5);
  assert_true(xp_hlo_program_at(o.names, 0)->damaged);
  assert_int_equal(xp_hlo_program_at(o.names, 0)->count, 10);
  close_proto(&o);
  xp_wire_writer_free(&proto);
}

static void the_source_may_be_a_stack_frame(void **state)
{
  (void)state;
  xp_wire_writer out = {0}, module = {0}, computation = {0}, index = {0}, part = {0};
  for (uint64_t frame = 2; frame < 10; frame += 7) {
    xp_wire_writer message = {0}, metadata = {0};
    xp_wire_put_bytes(&message, 1, xp_str_c(frame == 2 ? "a" : "b"));
    xp_wire_put_varint(&metadata, 15, frame);
    xp_wire_put_message(&message, 7, &metadata);
    xp_wire_put_message(&computation, 2, &message);
    xp_wire_writer_free(&message);
    xp_wire_writer_free(&metadata);
  }
  xp_wire_put_message(&module, 3, &computation);
  xp_wire_put_bytes(&index, 1, xp_str_c("x.py"));
  xp_wire_put_bytes(&index, 1, xp_str_c("y.py"));
  xp_wire_put_varint(&part, 1, 2);
  xp_wire_put_varint(&part, 3, 30);
  xp_wire_put_message(&index, 3, &part);
  xp_wire_put_bytes(&index, 4, xp_str_c(""));
  part.len = 0;
  xp_wire_put_varint(&part, 1, 1);
  xp_wire_put_message(&index, 4, &part);
  xp_wire_put_message(&module, 17, &index);
  xp_wire_put_message(&out, 1, &module);
  opened o = open_proto(written(&out), 5);
  const xp_hlo_op *a = xp_hlo_op_find(o.names, 5, xp_str_c("a"));
  assert_str(a->source_file, "y.py");
  assert_int_equal(a->source_line, 30);
  assert_int_equal(xp_hlo_op_find(o.names, 5, xp_str_c("b"))->source_file.len, 0); /* no such frame */
  close_proto(&o);
  xp_wire_writer_free(&out);
  xp_wire_writer_free(&module);
  xp_wire_writer_free(&computation);
  xp_wire_writer_free(&index);
  xp_wire_writer_free(&part);
}

static void programs_of_a_real_capture_are_found_by_their_ids(void **state)
{
  (void)state;
  /* Older form: the id of the entry is the program id, and 0 is a valid one. */
  xp_capture *capture = load_path(CAPTURES "torch_train.xplane.pb");
  xp_arena *arena = xp_arena_create();
  xp_hlo_names *names = xp_hlo_names_open(&capture->hosts[0], arena);
  assert_true(xp_hlo_program_count(names) > 0);
  for (size_t i = 0; i < xp_hlo_program_count(names); i++) {
    const xp_hlo_program *program = xp_hlo_program_at(names, i);
    assert_false(program->damaged);
    assert_true(program->count > 0 && program->module.len > 0);
    assert_ptr_equal(xp_hlo_program_find(names, program->program_id), program);
  }
  assert_non_null(xp_hlo_program_find(names, 0));
  xp_arena_destroy(arena);
  xp_capture_free(capture);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_instruction_has_the_names_of_its_proto),
      cmocka_unit_test(the_first_of_equal_instruction_names_wins),
      cmocka_unit_test(a_fusion_has_the_distinct_names_of_what_it_calls_and_its_own),
      cmocka_unit_test(a_damaged_proto_gives_what_stands_before_the_damage),
      cmocka_unit_test(the_source_may_be_a_stack_frame),
      cmocka_unit_test(programs_of_a_real_capture_are_found_by_their_ids),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
