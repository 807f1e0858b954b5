/* Annotations of the user: which events are some, and which of them are tracing. */
#include "readings.h"

/* A torch_xla program that runs at 10..20 and 120..130, with one op of each given name; a thread that calls the second
 * run at 100..110.  A test tells what the thread did before. */
static void lazy_program(story *s, const char *const *names, size_t count)
{
  plane(s, "/device:TPU:0");
  line(s, "XLA Modules");
  for (int64_t run = 1; run <= 2; run++) {
    event(s, "SyncTensorsGraph.12(7)", 110 * run - 100, 110 * run - 90);
    with(s, "run_id", run);
  }
  line(s, "XLA Ops");
  for (int64_t run = 1; run <= 2; run++) {
    event(s, "%loop.1 = x", 110 * run - 100, 110 * run - 90);
    for (size_t i = 0; i < count; i++) {
      event(s, WORDS(s, "%%fusion.%zu = x", i), 110 * run - 100 + (int64_t)i, 110 * run - 99 + (int64_t)i);
      with_text(s, "tf_op", names[i]);
      with(s, "program_id", 7);
    }
  }
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 100, 110);
}

#define NAMES(...) (const char *const[]){__VA_ARGS__}, COUNT(((const char *const[]){__VA_ARGS__}))

/* The class of a scope that is open in the gap, inside a step. */
static xp_cause cause_of_scope(story *s, const char *scope)
{
  step(s, "train", 1, 0, 200);
  event(s, scope, 20, 100);
  read_story(s);
  return gap_at(s, 0)->cause;
}

/* ---- which events are annotations */

/* All of them, as long as no device names any: "a, b". */
static const char *scopes_of(story *s)
{
  const xp_names *n = &s->reading->names;
  const char *words = "";
  for (size_t i = 0; i < n->host_only_count; i++) {
    words = WORDS(s, "%s%s%.*s", words, i ? ", " : "", XP_STR_ARG(n->host_only[i]));
  }
  return words;
}

static void an_event_in_a_step_is_a_scope(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 0, 100);
  event(s, "watermark", 10, 20);
  read_story(s);
  assert_string_equal(scopes_of(s), "watermark");
}

static void an_event_on_a_thread_with_python_frames_is_a_scope(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "$train.py:1 main", 50, 100);
  event(s, "watermark", 10, 20);
  read_story(s);
  assert_string_equal(scopes_of(s), "watermark");
}

static void events_beside_other_scopes_are_scopes(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "fwd", 10, 20);
  event(s, "bwd", 30, 40);
  read_story(s);
  assert_string_equal(scopes_of(s), "fwd, bwd");
}

static void a_lone_event_is_no_scope(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "something", 10, 20);
  event(s, "H2D Dispatch", 30, 40);
  read_story(s);
  assert_string_equal(scopes_of(s), "");
}

static void listed_names_steps_frames_and_names_of_the_runtime_are_no_scopes(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 0, 100);
  event(s, "DeviceBarrier", 10, 15);
  event(s, "tsl::Something", 20, 25);
  event(s, "$train.py:1 main", 30, 35);
  event(s, "PjitFunction(f)", 40, 45);
  event(s, "$x.py:1 block_until_ready", 50, 55);
  read_story(s);
  assert_string_equal(scopes_of(s), "");
}

static void events_inside_execute_calls_compiles_and_uploads_are_no_scopes(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 0, 100);
  event(s, "PJRT_LoadedExecutable_Execute", 10, 20);
  event(s, "in a call", 12, 18);
  event(s, "backend_compile", 30, 40);
  event(s, "in a compile", 32, 38);
  event(s, "DevicePut", 50, 60);
  event(s, "in an upload", 52, 58);
  event(s, "around a call", 70, 80);
  event(s, "PJRT_LoadedExecutable_Execute", 72, 78);
  read_story(s);
  assert_string_equal(scopes_of(s), "around a call");
}

static void scopes_of_other_threads_do_not_make_scopes(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 0, 100);
  event(s, "watermark", 10, 20);
  line(s, "other");
  event(s, "something", 10, 20);
  read_story(s);
  assert_string_equal(scopes_of(s), "watermark");
}

static void scopes_inside_scopes_are_scopes(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 0, 100);
  event(s, "data", 10, 50);
  event(s, "decode", 20, 30);
  read_story(s);
  assert_string_equal(scopes_of(s), "data, decode");
}

/* ---- which of them are tracing */

static void a_scope_that_names_an_instruction_that_ran_is_tracing(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("fwd.1/aten__mm:", "opt.3/aten__add:"));
  assert_int_equal(cause_of_scope(s, "fwd"), XP_CAUSE_TRACING);
}

static void a_scope_that_names_none_is_host(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("fwd.1/aten__mm:"));
  assert_int_equal(cause_of_scope(s, "watermark"), XP_CAUSE_HOST);
  assert_str(gap_at(s, 0)->scope, "watermark");
}

static void every_component_of_a_scope_is_named(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("unet.1/block.2/attn.1/aten__mm:"));
  assert_int_equal(cause_of_scope(s, "block"), XP_CAUSE_TRACING);
}

static void a_part_of_a_component_is_not_named(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("unet.1/block.2/aten__mm:"));
  assert_int_equal(cause_of_scope(s, "une"), XP_CAUSE_HOST);
}

static void the_instructions_own_name_is_no_scope(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("fwd.1/aten__mm:"));
  assert_int_equal(cause_of_scope(s, "aten__mm"), XP_CAUSE_HOST);
}

static void an_input_scope_stays_input_although_it_names_an_instruction(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("data.1/aten__mm:", "fwd.1/aten__mm:"));
  assert_int_equal(cause_of_scope(s, "data"), XP_CAUSE_INPUT);
}

static void a_step_stays_a_step_although_it_names_an_instruction(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("train.1/aten__mm:"));
  step(s, "train", 1, 0, 200);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "host in train");
}

static void a_scope_that_only_parameters_and_constants_carry_is_host(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("fwd.1/aten__mm:"));
  /* the program of the capture: what fusion.0 is */
  xp_wire_writer metadata = {0}, instruction = {0}, computation = {0}, module = {0}, proto = {0};
  xp_wire_put_bytes(&metadata, 2, xp_str_c("fwd.1/xla__device_data"));
  xp_wire_put_bytes(&instruction, 1, xp_str_c("fusion.0"));
  xp_wire_put_bytes(&instruction, 2, xp_str_c("parameter"));
  xp_wire_put_message(&instruction, 7, &metadata);
  xp_wire_put_bytes(&computation, 1, xp_str_c("main"));
  xp_wire_put_message(&computation, 2, &instruction);
  xp_wire_put_bytes(&module, 1, xp_str_c("SyncTensorsGraph.12"));
  xp_wire_put_bytes(&module, 2, xp_str_c("main"));
  xp_wire_put_message(&module, 3, &computation);
  xp_wire_put_message(&proto, 1, &module);
  plane(s, "/host:metadata");
  int64_t id = xp_plane_writer_event(s->plane, xp_str_c("SyncTensorsGraph.12(7)"), xp_str_c(""));
  xp_plane_writer_meta_uint(s->plane, id, xp_plane_writer_stat(s->plane, xp_str_c("program_id")), 7);
  xp_plane_writer_meta_bytes(s->plane, id, xp_plane_writer_stat(s->plane, xp_str_c("Hlo Proto")), written(&proto));
  xp_wire_writer_free(&metadata);
  xp_wire_writer_free(&instruction);
  xp_wire_writer_free(&computation);
  xp_wire_writer_free(&module);
  xp_wire_writer_free(&proto);
  thread(s, "python");
  step(s, "train", 1, 0, 200);
  event(s, "fwd", 20, 100);
  call(s, 2, 100, 110);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "host in fwd");
}

static void a_scope_in_which_gradients_are_built_is_tracing(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("fwd.1/aten__mm:"));
  step(s, "train", 1, 0, 200);
  event(s, "bwd", 20, 60);
  event(s, "log", 60, 100);
  line(s, "pt_autograd_0");
  event(s, "MmBackward0", 30, 40);
  read_story(s);
  assert_string_equal(named_parts_of(s, 0), "tracing [bwd] bwd 40, host [log] log 40, "
                                            "dispatch [train] PJRT_LoadedExecutable_Execute 10, launch [train] 10");
}

static void gradients_that_go_on_into_a_scope_make_it_tracing(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("fwd.1/aten__mm:"));
  step(s, "train", 1, 0, 200);
  event(s, "bwd", 20, 100);
  line(s, "pt_autograd_0");
  event(s, "MmBackward0", 10, 21);
  read_story(s);
  assert_int_equal(gap_at(s, 0)->cause, XP_CAUSE_TRACING);
}

static void a_scope_of_a_step_whose_program_ran_unnamed_gradients_is_tracing(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("fwd.1/aten__mm:", "aten__mm_backward:"));
  assert_int_equal(cause_of_scope(s, "bwd"), XP_CAUSE_TRACING);
}

static void gradients_with_a_scope_prove_nothing_of_others(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("fwd.1/aten__mm:", "fwd.1/aten__mm_backward:"));
  assert_int_equal(cause_of_scope(s, "bwd"), XP_CAUSE_HOST);
}

static void outside_of_steps_unnamed_gradients_prove_nothing(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("fwd.1/aten__mm:", "aten__mm_backward:"));
  event(s, "bwd", 20, 60);
  event(s, "log", 60, 100);
  read_story(s);
  assert_int_equal(gap_at(s, 0)->cause, XP_CAUSE_HOST);
}

static void with_names_off_unnamed_gradients_prove_nothing(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("aten__mm_backward:"));
  assert_int_equal(cause_of_scope(s, "bwd"), XP_CAUSE_HOST);
}

/* ---- names off */

static void with_names_off_a_scope_may_be_tracing(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("aten__mm:"));
  cause_of_scope(s, "fwd");
  assert_string_equal(named_parts_of(s, 0), "host? [fwd] fwd 80, dispatch [train] PJRT_LoadedExecutable_Execute 10, "
                                            "launch [train] 10");
}

static void with_names_on_a_scope_is_known_to_be_none(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("fwd.1/aten__mm:"));
  cause_of_scope(s, "log");
  assert_string_equal(named_parts_of(s, 0), "host [log] log 80, dispatch [train] PJRT_LoadedExecutable_Execute 10, "
                                            "launch [train] 10");
}

static void with_names_off_time_without_a_scope_is_not_said_to_be_tracing(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("aten__mm:"));
  step(s, "train", 1, 0, 200);
  read_story(s);
  assert_string_equal(named_parts_of(s, 0), "host [train] train 80, "
                                            "dispatch [train] PJRT_LoadedExecutable_Execute 10, launch [train] 10");
}

/* ---- what is inside */

static void listed_events_inside_a_tracing_scope_have_their_own_class(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("fwd.1/aten__mm:"));
  step(s, "train", 1, 0, 200);
  event(s, "fwd", 20, 100);
  event(s, "PjRtComputationClient::TransferToDevice", 30, 50);
  read_story(s);
  assert_string_equal(named_parts_of(s, 0),
                      "tracing [fwd] fwd 60, upload [fwd] PjRtComputationClient::TransferToDevice 20, "
                      "dispatch [train] PJRT_LoadedExecutable_Execute 10, launch [train] 10");
}

static void a_scope_without_a_class_inside_a_tracing_one_is_tracing_too(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("fwd.1/aten__mm:"));
  step(s, "train", 1, 0, 200);
  event(s, "fwd", 20, 100);
  event(s, "python loop", 20, 80);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "tracing in python loop");
}

/* ---- names on the device */

static const char *tree_of(story *s)
{
  const xp_names *n = &s->reading->names;
  const char *words = "";
  for (size_t i = 0; i < n->scope_count; i++) {
    words = WORDS(s, "%s%s%.*s %s (%s) x%llu", words, i ? ", " : "", XP_STR_ARG(n->scopes[i].scope),
                  us_of(s, n->scopes[i].ps), us_of(s, n->scopes[i].self_ps), (unsigned long long)n->scopes[i].ops);
  }
  return words;
}

static void named_op(story *s, const char *name, const char *tf_op, int64_t from_us, int64_t to_us)
{
  event(s, WORDS(s, "%%%s = x", name), from_us, to_us);
  with_text(s, "tf_op", tf_op);
}

static void time_by_scope_is_a_tree(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  named_op(s, "a", "jit(f)/mlp/dot:", 10, 20);
  named_op(s, "b", "jit(f)/mlp/up/dot:", 20, 50);
  named_op(s, "c", "jit(f)/attn/dot:", 50, 55);
  named_op(s, "d", "jit(f)/add:", 55, 60);
  read_story(s);
  assert_string_equal(tree_of(s), "mlp 40 (10) x2, mlp/up 30 (30) x1, attn 5 (5) x1");
  assert_int_equal(s->reading->names.device_ps, US(50));
  assert_int_equal(s->reading->names.named_ps, US(45));
  assert_int_equal(s->reading->names.unnamed_ps, US(5));
}

static void what_is_nested_is_taken_off_what_is_around_it(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  named_op(s, "while.1", "loop/while:", 10, 100);
  named_op(s, "a", "mlp/dot:", 20, 50);
  read_story(s);
  assert_string_equal(tree_of(s), "loop 60 (60) x1, mlp 30 (30) x1");
}

static void a_fusion_over_scopes_is_not_split(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  named_op(s, "a", "block/mlp/dot;block/attn/dot:", 10, 20);
  read_story(s);
  assert_string_equal(tree_of(s), "block 10 (10) x1");
  assert_int_equal(s->reading->names.mixed_ps, US(10));
  assert_int_equal(s->reading->names.named_ps, US(10));
}

static void the_value_xla_module_is_no_name(void **state)
{
  story *s = *state;
  plane(s, "/device:GPU:0");
  line(s, "Stream #1(Compute)");
  event(s, "kernel", 10, 20);
  with_text(s, "tf_op", "XlaModule:");
  with_text(s, "prefix", "jit(f)/");
  with_text(s, "name", "mlp/dot");
  read_story(s);
  assert_string_equal(tree_of(s), "mlp 10 (10) x1");
}

static void scopes_of_one_side_alone_are_listed(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("fwd.1/aten__mm:", "cached.1/aten__mm:"));
  step(s, "train", 1, 0, 200);
  event(s, "fwd", 20, 40);
  event(s, "watermark", 50, 70);
  read_story(s);
  const xp_names *n = &s->reading->names;
  assert_int_equal(n->host_only_count, 1);
  assert_str(n->host_only[0], "watermark");
  assert_int_equal(n->device_only_count, 1);
  assert_str(n->device_only[0], "cached");
}

static void names_on_the_device_mean_that_the_gate_was_open(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("fwd.1/aten__mm:"));
  read_story(s);
  assert_int_equal(s->reading->names.gate, XP_GATE_ON);
}

static void annotations_without_names_on_the_device_mean_that_it_was_closed(void **state)
{
  story *s = *state;
  lazy_program(s, NAMES("aten__mm:"));
  step(s, "train", 1, 0, 200);
  event(s, "fwd", 20, 40);
  read_story(s);
  assert_int_equal(s->reading->names.gate, XP_GATE_OFF);
}

static void nothing_is_said_of_a_gate_in_jax(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}));
  thread(s, "python");
  step(s, "train", 1, 0, 200);
  event(s, "fwd", 20, 40);
  read_story(s);
  assert_int_equal(s->reading->names.gate, XP_GATE_UNKNOWN);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      STORY(an_event_in_a_step_is_a_scope),
      STORY(an_event_on_a_thread_with_python_frames_is_a_scope),
      STORY(events_beside_other_scopes_are_scopes),
      STORY(a_lone_event_is_no_scope),
      STORY(listed_names_steps_frames_and_names_of_the_runtime_are_no_scopes),
      STORY(events_inside_execute_calls_compiles_and_uploads_are_no_scopes),
      STORY(scopes_of_other_threads_do_not_make_scopes),
      STORY(scopes_inside_scopes_are_scopes),
      STORY(a_scope_that_names_an_instruction_that_ran_is_tracing),
      STORY(a_scope_that_names_none_is_host),
      STORY(every_component_of_a_scope_is_named),
      STORY(a_part_of_a_component_is_not_named),
      STORY(the_instructions_own_name_is_no_scope),
      STORY(an_input_scope_stays_input_although_it_names_an_instruction),
      STORY(a_step_stays_a_step_although_it_names_an_instruction),
      STORY(a_scope_that_only_parameters_and_constants_carry_is_host),
      STORY(a_scope_in_which_gradients_are_built_is_tracing),
      STORY(gradients_that_go_on_into_a_scope_make_it_tracing),
      STORY(a_scope_of_a_step_whose_program_ran_unnamed_gradients_is_tracing),
      STORY(gradients_with_a_scope_prove_nothing_of_others),
      STORY(outside_of_steps_unnamed_gradients_prove_nothing),
      STORY(with_names_off_unnamed_gradients_prove_nothing),
      STORY(with_names_off_a_scope_may_be_tracing),
      STORY(with_names_on_a_scope_is_known_to_be_none),
      STORY(with_names_off_time_without_a_scope_is_not_said_to_be_tracing),
      STORY(listed_events_inside_a_tracing_scope_have_their_own_class),
      STORY(a_scope_without_a_class_inside_a_tracing_one_is_tracing_too),
      STORY(time_by_scope_is_a_tree),
      STORY(what_is_nested_is_taken_off_what_is_around_it),
      STORY(a_fusion_over_scopes_is_not_split),
      STORY(the_value_xla_module_is_no_name),
      STORY(scopes_of_one_side_alone_are_listed),
      STORY(names_on_the_device_mean_that_the_gate_was_open),
      STORY(annotations_without_names_on_the_device_mean_that_it_was_closed),
      STORY(nothing_is_said_of_a_gate_in_jax),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
