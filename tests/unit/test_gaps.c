/* Gaps: their parts, causes and triggers, lead-ins and tails, evidence. */
#include "readings.h"

/* One thread, two runs (10..20 and 120..130), and a gap of 100 us between them.  The second run is called at 100..110, so
 * that 10 us are dispatch and 10 us launch; a test tells what the thread did from 20 to 100. */
static void two_runs(story *s)
{
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}));
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 100, 110);
}

/* The same in an open step. */
static void two_runs_in_a_step(story *s)
{
  two_runs(s);
  step(s, "train", 1, 0, 200);
}

/* ---- classes */

static void time_that_no_event_covers_is_unknown(void **state)
{
  story *s = *state;
  two_runs(s);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "unknown 80, dispatch 10, launch 10");
  assert_string_equal(reason_of(s, 0), "unknown");
}

static void compiling_is_compile(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "backend_compile", 30, 90);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "compile 60, unknown 20, dispatch 10, launch 10");
  assert_string_equal(reason_of(s, 0), "compile after compile");
}

static void reading_a_value_is_value_request(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "np.asarray(jax.Array)", 15, 80);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "value_request 60, unknown 20, dispatch 10, launch 10");
  assert_string_equal(reason_of(s, 0), "value_request after value_request");
}

static void waiting_is_wait(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "DeviceBarrier", 15, 80);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "wait 60, unknown 20, dispatch 10, launch 10");
  assert_string_equal(reason_of(s, 0), "wait after wait");
}

static void a_frame_that_blocks_until_ready_is_wait(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "$api.py:2900 block_until_ready", 15, 80);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "wait 60, unknown 20, dispatch 10, launch 10");
}

static void sending_data_is_upload(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "PjRtCpuClient::BufferFromHostBuffer", 30, 90);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "upload 60, unknown 20, dispatch 10, launch 10");
  assert_string_equal(reason_of(s, 0), "upload");
}

static void lowering_is_tracing(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "lower_sharding_computation", 30, 90);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "tracing 60, unknown 20, dispatch 10, launch 10");
  assert_string_equal(reason_of(s, 0), "tracing");
}

static void getting_a_batch_is_input(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "Iterator::Prefetch", 30, 90);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "input 60, unknown 20, dispatch 10, launch 10");
  assert_string_equal(reason_of(s, 0), "input");
}

static void a_long_execute_call_is_dispatch(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}));
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 30, 115);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "dispatch 85, unknown 10, launch 5");
  assert_string_equal(reason_of(s, 0), "dispatch");
}

static void anything_else_with_a_name_is_host(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "something", 30, 90);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "host 60, unknown 20, dispatch 10, launch 10");
  assert_string_equal(reason_of(s, 0), "host in something");
}

static void a_device_that_starts_late_is_launch(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}));
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 22, 24);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "launch 96, dispatch 2, unknown 2");
  assert_string_equal(reason_of(s, 0), "launch");
}

static void a_hole_inside_a_run_is_in_program(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Modules");
  event(s, "jit_step(7)", 10, 130);
  with(s, "run_id", 1);
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 10, 20);
  event(s, "%fusion.2 = x", 120, 130);
  thread(s, "python");
  call(s, 1, 2, 4);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "in_program 100");
  assert_string_equal(reason_of(s, 0), "in_program");
}

/* A gap that begins inside one run and ends in the next. */
static void only_the_time_inside_the_run_is_in_program(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Modules");
  event(s, "jit_step(7)", 10, 40);
  with(s, "run_id", 1);
  event(s, "jit_step(7)", 100, 130);
  with(s, "run_id", 2);
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 10, 20);
  event(s, "%fusion.1 = x", 120, 130);
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 80, 90);
  read_story(s);
  /* 20..40 and 100..120 inside runs, 40..80 nothing, 80..90 the call, 90..100 it has returned */
  assert_string_equal(parts_of(s, 0), "in_program 40, unknown 40, dispatch 10, launch 10");
}

/* A GPU, whose kernels are launched one by one during the call. */
static void two_kernels(story *s, int64_t call_end_us)
{
  plane(s, "/device:GPU:0");
  line(s, "Stream #1(Compute)");
  event(s, "kernel_a", 10, 20);
  with(s, "correlation_id", 1);
  event(s, "kernel_b", 120, 130);
  with(s, "correlation_id", 2);
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 5, call_end_us);
  event(s, "cuLaunchKernel", 6, 7);
  with(s, "correlation_id", 1);
  event(s, "cuLaunchKernel", call_end_us - 2, call_end_us - 1);
  with(s, "correlation_id", 2);
}

static void while_the_call_of_the_run_goes_on_it_is_dispatch(void **state)
{
  story *s = *state;
  two_kernels(s, 100);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "dispatch 80, in_program 20");
}

static void once_the_call_of_the_run_has_returned_it_is_in_program(void **state)
{
  story *s = *state;
  two_kernels(s, 15);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "in_program 100");
}

static void time_under_the_profiler_is_its_own(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "$profiler.py:101 start_trace", 30, 90);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "profiler 60, unknown 20, dispatch 10, launch 10");
}

static void the_device_waits_for_input_in_an_infeed(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 10, 20);
  event(s, "%infeed.1 = x", 20, 90);
  event(s, "%recv-done.1 = x", 90, 120);
  event(s, "%fusion.2 = x", 120, 130);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "input 70, host 30");
  assert_int_equal(s->reading->devices[0].busy_ps, US(20));
}

static void an_infeed_inside_a_loop_is_waiting_too(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event(s, "%while.1 = x", 10, 130);
  event(s, "%fusion.1 = x", 10, 20);
  event(s, "%infeed.1 = x", 30, 90);
  event(s, "%fusion.2 = x", 90, 100);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "input 60");
  assert_int_equal(s->reading->devices[0].busy_ps, US(60));
  assert_int_equal(s->reading->devices[0].idle_ps, US(60));
}

static void a_wait_of_the_device_inside_another_does_not_hide_it(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 10, 20);
  event(s, "%infeed.1 = x", 20, 120);
  event(s, "%infeed.2 = x", 30, 40);
  event(s, "%fusion.2 = x", 120, 130);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "input 100");
}

/* ---- which event decides */

static void the_innermost_event_with_a_class_decides(void **state)
{
  story *s = *state;
  two_runs_in_a_step(s);
  event(s, "backend_compile", 20, 100);
  event(s, "H2D Dispatch", 30, 50);
  event(s, "something", 35, 45);
  read_story(s);
  assert_string_equal(named_parts_of(s, 0), "compile [train] backend_compile 60, upload [train] H2D Dispatch 20, "
                                            "dispatch [train] PJRT_LoadedExecutable_Execute 10, launch [train] 10");
}

static void without_a_class_the_innermost_scope_names_the_time(void **state)
{
  story *s = *state;
  two_runs_in_a_step(s);
  event(s, "outer", 20, 100);
  event(s, "inner", 30, 60);
  read_story(s);
  assert_string_equal(named_parts_of(s, 0), "host [outer] outer 50, host [inner] inner 30, "
                                            "dispatch [train] PJRT_LoadedExecutable_Execute 10, launch [train] 10");
}

static void time_that_only_a_step_covers_has_its_name(void **state)
{
  story *s = *state;
  two_runs_in_a_step(s);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "host in train");
}

static void a_step_has_no_class_of_its_name(void **state)
{
  story *s = *state;
  two_runs(s);
  step(s, "data", 1, 0, 200);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "host in data");
}

static void names_of_the_runtime_are_no_scopes_but_events(void **state)
{
  story *s = *state;
  two_runs_in_a_step(s);
  event(s, "tsl::Something", 20, 100);
  read_story(s);
  assert_string_equal(named_parts_of(s, 0), "host [train] tsl::Something 80, "
                                            "dispatch [train] PJRT_LoadedExecutable_Execute 10, launch [train] 10");
}

static void the_scope_is_that_of_the_thread_whatever_the_class(void **state)
{
  story *s = *state;
  two_runs_in_a_step(s);
  event(s, "scheduler.step", 20, 100);
  event(s, "np.asarray(jax.Array)", 20, 80);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "value_request in scheduler.step after value_request in scheduler.step");
}

static void a_frame_of_python_names_time_without_events(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "$train.py:5 work", 30, 90);
  event(s, "$builtins sum", 40, 50);
  read_story(s);
  assert_string_equal(named_parts_of(s, 0), "host [$train.py:5 work] $train.py:5 work 60, unknown [] 20, "
                                            "dispatch [] PJRT_LoadedExecutable_Execute 10, launch [] 10");
}

static void a_frame_called_like_an_event_has_no_class(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "$compiler.py:300 backend_compile", 30, 90);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "host 60, unknown 20, dispatch 10, launch 10");
}

static void dispatch_shows_the_innermost_event_in_the_call(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "ParseArguments", 102, 108);
  read_story(s);
  assert_string_equal(named_parts_of(s, 0), "unknown [] 80, launch [] 10, dispatch [] ParseArguments 6, "
                                            "dispatch [] PJRT_LoadedExecutable_Execute 4");
}

static void a_pjit_function_that_lowers_is_tracing_and_names_what_is_in_it(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "PjitFunction(step)", 25, 115);
  event(s, "trace_to_jaxpr_dynamic", 30, 60);
  event(s, "backend_compile", 60, 90);
  read_story(s);
  assert_string_equal(named_parts_of(s, 0), "tracing [] PjitFunction(step) 45, compile [] PjitFunction(step) 30, "
                                            "dispatch [] PJRT_LoadedExecutable_Execute 10, launch [] 10, unknown [] 5");
}

static void a_pjit_function_that_only_runs_is_dispatch(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "PjitFunction(step)", 30, 115);
  read_story(s);
  assert_string_equal(named_parts_of(s, 0), "dispatch [] PjitFunction(step) 70, "
                                            "dispatch [] PJRT_LoadedExecutable_Execute 10, launch [] 10, unknown [] 10");
}

static void a_pjit_function_inside_a_tracing_one_is_tracing(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "PjitFunction(step)", 20, 100);
  event(s, "trace_to_jaxpr_dynamic", 20, 30);
  event(s, "PjitFunction(inner)", 40, 90);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "tracing 80, dispatch 10, launch 10");
}

static void after_the_call_returned_only_an_open_read_or_wait_counts(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}));
  thread(s, "python");
  call(s, 1, 2, 4);
  event(s, "np.asarray(jax.Array)", 20, 70);
  call(s, 2, 30, 40);
  event(s, "backend_compile", 80, 110);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "launch 50, value_request 40, dispatch 10");
}

static void two_recorders_on_one_line_are_read_as_they_overlap(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "a", 20, 60);
  event(s, "b", 50, 90);
  read_story(s);
  assert_string_equal(named_parts_of(s, 0), "host [b] b 40, host [a] a 30, "
                                            "dispatch [] PJRT_LoadedExecutable_Execute 10, launch [] 10, unknown [] 10");
}

/* ---- the cause of a gap */

static void the_cause_is_the_class_with_most_time_and_its_scope_that_of_its_largest_part(void **state)
{
  story *s = *state;
  two_runs_in_a_step(s);
  event(s, "lower_x", 20, 55);
  event(s, "first", 55, 75);
  event(s, "second", 75, 97);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "host in second"); /* host 20 + 22 + 3, tracing 35 */
}

static void of_equal_classes_the_first_of_the_table_is_the_cause(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "Iterator::Next", 20, 60);
  event(s, "H2D Dispatch", 60, 100);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "upload 40, input 40, dispatch 10, launch 10");
  assert_string_equal(reason_of(s, 0), "upload");
}

static void unknown_time_loses_a_tie(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "something", 20, 60);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "host in something");
}

/* ---- the chain of threads */

static void before_the_hand_over_the_thread_that_asked_is_looked_at(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}));
  thread(s, "python");
  call(s, 1, 2, 4);
  step(s, "train", 1, 0, 200);
  event(s, "watermark", 30, 60);
  event(s, "ThreadpoolListener::Record", 70, 70);
  with(s, "_pt", 15);
  with(s, "_p", 5);
  event(s, "backend_compile", 85, 200); /* of no interest: the pool thread holds the chain */
  line(s, "tf_pool/1");
  event(s, "H2D Dispatch", 20, 75); /* nor is what the pool thread did before */
  event(s, "ThreadpoolListener::StartRegion", 80, 80);
  with(s, "_ct", 15);
  with(s, "_c", 5);
  event(s, "Something::Slow", 80, 100);
  call(s, 2, 100, 110);
  event(s, "ThreadpoolListener::StopRegion", 112, 112);
  read_story(s);
  assert_string_equal(named_parts_of(s, 0),
                      "host [train] train 30, host [watermark] watermark 30, host [Something::Slow] Something::Slow 20, "
                      "dispatch [] PJRT_LoadedExecutable_Execute 10, launch [] 10");
}

static void a_thread_without_events_is_replaced_by_the_one_with_the_step(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}));
  thread(s, "python");
  step(s, "train", 1, 0, 200);
  event(s, "watermark", 30, 90);
  line(s, "pt_autograd_0");
  call(s, 1, 2, 4);
  call(s, 2, 100, 110);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "host 80, dispatch 10, launch 10");
  assert_string_equal(reason_of(s, 0), "host in watermark");
}

static void events_of_other_threads_do_not_count(void **state)
{
  story *s = *state;
  two_runs(s);
  line(s, "other");
  event(s, "backend_compile", 0, 200);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "unknown 80, dispatch 10, launch 10");
  assert_string_equal(reason_of(s, 0), "unknown");
}

/* ---- what a wait is for */

static void a_wait_is_for_the_devices_that_work_meanwhile(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:1", TIMES({10, 200}));
  two_runs(s);
  event(s, "DeviceBarrier", 20, 90);
  read_story(s);
  assert_str(wait_of(s, 0), "for /device:TPU:1, at work");
}

static void a_wait_for_nothing_says_so(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "DeviceBarrier", 20, 90);
  read_story(s);
  assert_str_contains(wait_of(s, 0), "no device was working: the runtime was slow to notice");
}

static void a_wait_for_nothing_shows_the_longest_event_of_pool_threads(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "DeviceBarrier", 20, 90);
  line(s, "tf_XLAEigen/7");
  event(s, "Brief", 20, 25);
  event(s, "Slow", 30, 80);
  line(s, "other");
  event(s, "Not asked", 20, 90);
  read_story(s);
  assert_str_contains(wait_of(s, 0), "slow to notice");
  assert_str_contains(wait_of(s, 0), "Slow");
}

/* ---- triggers */

/* A gap from 1100 on; the second run is called 20 us before it starts. */
static void late_runs(story *s, int64_t gap_us)
{
  tpu(s, "/device:TPU:0", TIMES({1000, 1100}, {1100 + gap_us, 1200 + gap_us}));
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 1080 + gap_us, 1090 + gap_us);
}

static xp_trigger trigger_of_event(story *s, int64_t gap_us, const char *name, int64_t from_us, int64_t to_us)
{
  late_runs(s, gap_us);
  event(s, name, from_us, to_us);
  read_story(s);
  return gap_at(s, 0)->trigger;
}

static void a_read_that_ended_50_us_before_a_gap_is_a_trigger(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "np.asarray(jax.Array)", 1049, 1050), XP_TRIGGER_VALUE_REQUEST);
}

static void a_read_that_ended_51_us_before_a_gap_is_none(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "np.asarray(jax.Array)", 1000, 1049), XP_TRIGGER_NONE);
}

static void a_read_that_ended_a_tenth_of_a_long_gap_before_it_is_a_trigger(void **state)
{
  assert_int_equal(trigger_of_event(*state, 1000, "np.asarray(jax.Array)", 990, 1000), XP_TRIGGER_VALUE_REQUEST);
}

static void a_read_that_ended_more_than_a_tenth_of_a_long_gap_before_it_is_none(void **state)
{
  assert_int_equal(trigger_of_event(*state, 1000, "np.asarray(jax.Array)", 990, 999), XP_TRIGGER_NONE);
}

static void a_read_of_any_length_is_a_trigger(void **state)
{
  story *s = *state;
  late_runs(s, 100);
  event_ps(s, "np.asarray(jax.Array)", US(1150), US(1150) + 1);
  read_story(s);
  assert_int_equal(gap_at(s, 0)->trigger, XP_TRIGGER_VALUE_REQUEST);
}

static void a_read_that_still_runs_is_a_trigger(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "np.asarray(jax.Array)", 1050, 2000), XP_TRIGGER_VALUE_REQUEST);
}

static void a_read_that_began_after_the_launch_call_returned_is_none(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "np.asarray(jax.Array)", 1190, 1250), XP_TRIGGER_NONE);
}

static void a_read_on_another_thread_is_no_trigger(void **state)
{
  story *s = *state;
  late_runs(s, 100);
  line(s, "other");
  event(s, "np.asarray(jax.Array)", 1050, 1150);
  read_story(s);
  assert_int_equal(gap_at(s, 0)->trigger, XP_TRIGGER_NONE);
}

static void a_wait_of_50_us_is_a_trigger(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "DeviceBarrier", 1060, 1110), XP_TRIGGER_WAIT);
}

static void a_wait_of_49_us_is_none(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "DeviceBarrier", 1061, 1110), XP_TRIGGER_NONE);
}

static void a_wait_inside_an_execute_call_is_none(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({1000, 1100}, {1200, 1300}));
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 1090, 1190);
  event(s, "Wait for donation holds", 1100, 1180);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "wait");
}

static void a_compile_in_the_gap_is_a_trigger(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "backend_compile", 1110, 1111), XP_TRIGGER_COMPILE);
}

static void a_compile_before_the_gap_is_none(void **state)
{
  assert_int_equal(trigger_of_event(*state, 100, "backend_compile", 1090, 1100), XP_TRIGGER_NONE);
}

static void a_read_goes_before_a_wait_and_a_wait_before_a_compile(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({100, 200}, {300, 400}, {500, 600}));
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 280, 290);
  call(s, 3, 480, 490);
  event(s, "np.asarray(jax.Array)", 200, 205);
  event(s, "DeviceBarrier", 205, 265);
  event(s, "DeviceBarrier", 400, 460);
  event(s, "backend_compile", 461, 479);
  read_story(s);
  assert_int_equal(gap_at(s, 0)->trigger, XP_TRIGGER_VALUE_REQUEST);
  assert_int_equal(gap_at(s, 1)->trigger, XP_TRIGGER_WAIT);
}

/* The lesson's gap: the host worked in one scope since it had waited for a value in another. */
static void the_trigger_has_the_scope_in_which_it_began(void **state)
{
  story *s = *state;
  two_runs_in_a_step(s);
  event(s, "scheduler.step", 14, 25);
  event(s, "PjRtComputationClient::TransferFromDevice", 15, 24);
  event(s, "watermark", 30, 90);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "host in watermark after value_request in scheduler.step");
}

static void of_two_reads_the_later_is_the_trigger(void **state)
{
  story *s = *state;
  two_runs_in_a_step(s);
  event(s, "first", 15, 30);
  event(s, "np.asarray(jax.Array)", 16, 29);
  event(s, "second", 40, 50);
  event(s, "np.asarray(jax.Array)", 41, 49);
  read_story(s);
  assert_str(gap_at(s, 0)->trigger_scope, "second");
}

/* ---- tracing-bound */

static void tracing_without_a_read_since_the_launch_before_is_the_limit(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "lower_x", 20, 90);
  read_story(s);
  assert_true(gap_at(s, 0)->tracing_bound);
}

/* The read ended 90 us before the gap, so it is no trigger; but it stands between the two launches. */
static void tracing_with_a_read_since_the_launch_before_is_not(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 200}, {300, 400}));
  thread(s, "python");
  call(s, 1, 2, 4);
  event(s, "np.asarray(jax.Array)", 105, 110);
  event(s, "lower_x", 120, 280);
  call(s, 2, 280, 290);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "tracing");
  assert_false(gap_at(s, 0)->tracing_bound);
}

/* ---- lead-in and tail */

static void the_lead_in_is_read_like_a_gap_and_ranked(void **state)
{
  story *s = *state;
  session(s, 1000);
  tpu(s, "/device:TPU:0", TIMES({65, 1000}));
  thread(s, "python");
  event(s, "backend_compile", 10, 50);
  call(s, 1, 50, 60);
  read_story(s);
  assert_int_equal(gap_at(s, 0)->where, XP_WHERE_LEAD_IN);
  assert_string_equal(parts_of(s, 0), "compile 40, dispatch 10, unknown 10, launch 5");
  assert_string_equal(reason_of(s, 0), "compile after compile");
  assert_true(gap_at(s, 0)->ranked);
  assert_int_equal(s->reading->devices[0].lead_in_ps, US(65));
  assert_int_equal(s->reading->idle_ps, 0);
}

static void a_lead_in_before_work_without_a_launch_is_unknown_and_not_ranked(void **state)
{
  story *s = *state;
  session(s, 1000);
  tpu(s, "/device:TPU:0", TIMES({65, 1000}));
  thread(s, "python");
  event(s, "backend_compile", 10, 50);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "unknown 65");
  assert_false(gap_at(s, 0)->ranked);
  assert_int_equal(s->reading->cause_count, 0);
}

static void the_tail_is_read_off_the_thread_of_the_last_launch(void **state)
{
  story *s = *state;
  session(s, 200);
  tpu(s, "/device:TPU:0", TIMES({0, 100}));
  thread(s, "other");
  event(s, "backend_compile", 100, 200);
  line(s, "python");
  call(s, 1, 0, 4);
  step(s, "train", 1, 0, 190);
  event(s, "watermark", 115, 185);
  read_story(s);
  assert_int_equal(gap_at(s, 0)->where, XP_WHERE_TAIL);
  assert_string_equal(named_parts_of(s, 0), "host [watermark] watermark 70, host [train] train 20, unknown [] 10");
  assert_true(gap_at(s, 0)->ranked);
  assert_int_equal(s->reading->devices[0].tail_ps, US(100));
}

static void a_tail_without_events_is_not_ranked(void **state)
{
  story *s = *state;
  session(s, 200);
  tpu(s, "/device:TPU:0", TIMES({0, 100}));
  thread(s, "python");
  call(s, 1, 0, 4);
  read_story(s);
  assert_string_equal(reason_of(s, 0), "unknown");
  assert_false(gap_at(s, 0)->ranked);
}

static void a_tail_in_which_the_profiler_stops_is_not_ranked(void **state)
{
  story *s = *state;
  session(s, 200);
  tpu(s, "/device:TPU:0", TIMES({0, 100}));
  thread(s, "python");
  call(s, 1, 0, 4);
  event(s, "$profiler.py:300 stop_trace", 120, 200);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "profiler 80, unknown 20");
  assert_false(gap_at(s, 0)->ranked);
  assert_int_equal(s->reading->devices[0].session_ps, US(120));
}

static void the_profilers_time_is_no_part_of_a_row(void **state)
{
  story *s = *state;
  session(s, 200);
  tpu(s, "/device:TPU:0", TIMES({0, 100}));
  thread(s, "python");
  call(s, 1, 0, 4);
  event(s, "something", 100, 170);
  event(s, "$profiler.py:300 stop_trace", 170, 200);
  read_story(s);
  assert_true(gap_at(s, 0)->ranked);
  assert_int_equal(s->reading->cause_count, 1);
  assert_int_equal(s->reading->causes[0].ps, US(70));
  assert_int_equal(s->reading->causes[0].where, XP_WHERE_TAIL);
}

static void without_a_session_there_is_no_lead_in_and_no_tail(void **state)
{
  story *s = *state;
  two_runs(s);
  read_story(s);
  assert_int_equal(s->reading->gap_count, 1);
  assert_false(s->reading->devices[0].has_lead_in);
  assert_false(s->reading->devices[0].has_tail);
}

/* ---- the device's own time */

static void a_gap_of_the_minimum_is_listed(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event_ps(s, "%fusion.1 = x", US(10), US(20));
  event_ps(s, "%fusion.1 = x", US(21), US(30));
  read_story(s);
  assert_int_equal(s->reading->devices[0].gap_count, 1);
  assert_int_equal(s->reading->devices[0].short_count, 0);
}

static void a_gap_one_ps_below_the_minimum_is_folded(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event_ps(s, "%fusion.1 = x", US(10), US(20));
  event_ps(s, "%fusion.1 = x", US(21) - 1, US(30));
  read_story(s);
  assert_int_equal(s->reading->devices[0].gap_count, 0);
  assert_int_equal(s->reading->devices[0].short_count, 1);
  assert_int_equal(s->reading->devices[0].short_ps, US(1) - 1);
  assert_int_equal(s->reading->cause_count, 1);
  assert_int_equal(s->reading->causes[0].cause, XP_CAUSE_SHORT);
  assert_int_equal(s->reading->causes[0].ps, US(1) - 1);
}

static void the_minimum_can_be_chosen(void **state)
{
  story *s = *state;
  two_runs(s);
  read_with(s, &(xp_analyze_options){.min_gap_ps = US(100) + 1});
  check_sums(s);
  assert_int_equal(s->reading->gap_count, 0);
  assert_int_equal(s->reading->devices[0].short_count, 1);
}

static void work_on_any_line_is_busy_time(void **state)
{
  story *s = *state;
  plane(s, "/device:GPU:0");
  line(s, "Stream #1(Compute)");
  event(s, "a", 10, 50);
  event(s, "b", 80, 90);
  line(s, "Stream #2(Compute)");
  event(s, "c", 40, 70);
  read_story(s);
  assert_int_equal(s->reading->devices[0].busy_ps, US(70));
  assert_int_equal(s->reading->devices[0].idle_ps, US(10));
}

static void a_copy_is_neither_work_nor_idle(void **state)
{
  story *s = *state;
  plane(s, "/device:GPU:0");
  line(s, "Stream #1(Compute)");
  event(s, "a", 10, 50);
  event(s, "b", 80, 90);
  line(s, "Stream #2(MemcpyH2D)");
  event(s, "MemcpyH2D", 40, 60);
  event(s, "x", 60, 65);
  with_text(s, "memcpy_details", "kind_src:1");
  event(s, "MemoryAlloc", 66, 75);
  read_story(s);
  assert_int_equal(s->reading->devices[0].busy_ps, US(50));
  assert_int_equal(s->reading->devices[0].copy_ps, US(15));
  assert_int_equal(s->reading->devices[0].idle_ps, US(15));
}

static void a_kernel_that_a_copy_call_launched_is_a_copy(void **state)
{
  story *s = *state;
  plane(s, "/device:GPU:0");
  line(s, "Stream #1(Kernel)");
  event(s, "a", 10, 50);
  event(s, "copyBuffer", 50, 60);
  with(s, "correlation_id", 4);
  thread(s, "Host Threads/7");
  event(s, "hipMemcpyAsync", 5, 6);
  with(s, "correlation_id", 4);
  read_story(s);
  assert_int_equal(s->reading->devices[0].copy_ps, US(10));
}

static void untimed_events_are_counted_and_not_used(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 0, 0);
  event(s, "%fusion.1 = x", 10, 20);
  read_story(s);
  assert_int_equal(s->reading->devices[0].untimed, 1);
  assert_int_equal(s->reading->devices[0].window_ps[0], US(10));
}

static void stray_events_are_counted_and_not_used(void **state)
{
  story *s = *state;
  session(s, 100);
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 10, 20);
  event(s, "%fusion.1 = x", 1000, 1010);
  read_story(s);
  assert_int_equal(s->reading->devices[0].stray, 1);
  assert_int_equal(s->reading->devices[0].window_ps[1], US(20));
}

static void a_device_without_ops_is_read_by_its_programs(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Modules");
  event(s, "jit_step(7)", 10, 20);
  event(s, "jit_step(7)", 30, 40);
  read_story(s);
  assert_int_equal(s->reading->devices[0].busy_ps, US(20));
}

static void a_custom_device_without_ops_has_all_other_lines(void **state)
{
  story *s = *state;
  plane(s, "/device:CUSTOM:x:0");
  line(s, "Steps");
  event(s, "1", 0, 100);
  line(s, "queue");
  event(s, "kernel", 10, 20);
  event(s, "Memcpy", 20, 30);
  read_story(s);
  assert_int_equal(s->reading->devices[0].busy_ps, US(10));
  assert_int_equal(s->reading->devices[0].copy_ps, US(10));
}

static void op(story *s, const char *name, int64_t id, int64_t from_us, int64_t to_us)
{
  event(s, name, from_us, to_us);
  with_text(s, "hlo_op", name);
  with(s, "_pt", 0);
  with(s, "_p", id);
}

static void an_op_of_xla_cpu_goes_on_until_its_marker(void **state)
{
  story *s = *state;
  thread(s, "tf_XLAEigen/1");
  op(s, "dot.1", 7, 10, 20);
  event(s, "end: dot.1", 50, 51);
  with(s, "_ct", 0);
  with(s, "_c", 7);
  op(s, "add.1", 8, 60, 70);
  event(s, "end: add.1", 65, 66); /* before its own end */
  with(s, "_ct", 0);
  with(s, "_c", 8);
  op(s, "mul.1", 9, 80, 90);
  event(s, "end: dot.1", 95, 96); /* of another op */
  with(s, "_ct", 0);
  with(s, "_c", 9);
  read_story(s);
  assert_str(s->reading->devices[0].name, "CPU:0");
  assert_int_equal(s->reading->devices[0].busy_ps, US(40 + 10 + 10));
}

static void ops_of_xla_cpu_belong_to_the_device_of_their_ordinal(void **state)
{
  story *s = *state;
  thread(s, "tf_XLAEigen/1");
  op(s, "dot.1", 7, 10, 20);
  with(s, "device_ordinal", 2);
  op(s, "dot.1", 8, 10, 30);
  read_story(s);
  assert_int_equal(s->reading->device_count, 2);
  assert_str(s->reading->devices[0].name, "CPU:0");
  assert_int_equal(s->reading->devices[0].busy_ps, US(20));
  assert_str(s->reading->devices[1].name, "CPU:2");
  assert_int_equal(s->reading->devices[1].busy_ps, US(10));
}

static void host_events_of_programs_that_run_on_a_plane_are_no_work(void **state)
{
  story *s = *state;
  plane(s, "/device:GPU:0");
  line(s, "Stream #1(Compute)");
  event(s, "kernel", 10, 20);
  with(s, "program_id", 4);
  thread(s, "python");
  op(s, "fusion.1", 7, 5, 6);
  with(s, "program_id", 4);
  op(s, "other.1", 8, 30, 40);
  with(s, "program_id", 5);
  read_story(s);
  assert_int_equal(s->reading->device_count, 2);
  assert_str(s->reading->devices[1].name, "CPU:0");
  assert_int_equal(s->reading->devices[1].busy_ps, US(10));
}

/* ---- several devices */

static void each_device_has_its_own_gaps(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}));
  tpu(s, "/device:TPU:1", TIMES({10, 60}, {150, 160}));
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 100, 110);
  event(s, "something", 20, 100);
  read_story(s);
  assert_int_equal(s->reading->gap_count, 2);
  assert_string_equal(parts_of(s, 0), "host 80, dispatch 10, launch 10");
  assert_string_equal(parts_of(s, 1), "host 40, launch 40, dispatch 10");
  assert_int_equal(s->reading->idle_ps, US(190));
}

static void devices_without_work_stand_last(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  tpu(s, "/device:TPU:1", TIMES({10, 20}));
  read_story(s);
  assert_str(s->reading->devices[0].name, "/device:TPU:1");
  assert_false(s->reading->devices[1].has_window);
}

static void a_plane_that_occurs_twice_is_one_device(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 10, 20);
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 30, 40);
  read_story(s);
  assert_int_equal(s->reading->device_count, 1);
  assert_int_equal(s->reading->devices[0].idle_ps, US(10));
}

static void a_collective_waits_for_the_last_to_arrive(void **state)
{
  story *s = *state;
  for (int i = 0; i < 2; i++) {
    plane(s, i ? "/device:TPU:1" : "/device:TPU:0");
    line(s, "XLA Modules");
    event(s, "jit_step(7)", 10, 100);
    with(s, "run_id", 1);
    line(s, "XLA Ops");
    event(s, "%all-reduce.1 = x", i ? 40 : 20, 60);
  }
  read_story(s);
  assert_int_equal(s->reading->devices[0].collective_ps, US(40));
  assert_int_equal(s->reading->devices[0].collective_wait_ps, US(20));
  assert_int_equal(s->reading->devices[1].collective_ps, US(20));
  assert_int_equal(s->reading->devices[1].collective_wait_ps, 0);
}

/* ---- rows of causes */

static void gaps_of_one_reason_are_one_row(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}, {190, 200}, {300, 310}));
  thread(s, "python");
  call(s, 1, 2, 4);
  event(s, "a", 20, 110); /* 20..120: host in a, 90 */
  call(s, 2, 115, 118);
  event(s, "a", 130, 180); /* 130..190: host in a, 50 */
  call(s, 3, 185, 188);
  event(s, "b", 200, 280); /* 200..300: host in b, 80 */
  call(s, 4, 295, 298);
  read_story(s);
  assert_int_equal(s->reading->cause_count, 2);
  const xp_cause_row *row = s->reading->causes;
  assert_str(row[0].scope, "a");
  assert_int_equal(row[0].gaps, 2);
  assert_int_equal(row[0].ps, US(160));
  assert_int_equal(row[0].longest_ps, US(100));
  assert_str(row[1].scope, "b");
  assert_int_equal(row[1].ps, US(100));
  assert_true(row[0].share > 0.615 && row[0].share < 0.616); /* 160 of 260 */
}

/* ---- details */

static void the_work_on_both_sides_is_named(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Modules");
  event(s, "jit_first(7)", 10, 20);
  event(s, "jit_second(8)", 120, 130);
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 10, 20);
  with_text(s, "tf_op", "jit(f)/mlp/dot:");
  event(s, "%fusion.2 = x", 120, 130);
  read_story(s);
  xp_gap_details details = explained(s, gap_at(s, 0));
  assert_str(details.before.op, "fusion.1");
  assert_str(details.before.scope, "mlp");
  assert_str(details.before.program, "jit_first");
  assert_str(details.after.op, "fusion.2");
  assert_str(details.after.scope, "");
  assert_str(details.after.program, "jit_second");
}

static const xp_evidence *evidence(const xp_gap_details *details, const char *role)
{
  for (size_t i = 0; i < details->evidence_count; i++) {
    if (strcmp(details->evidence[i].role, role) == 0) {
      return &details->evidence[i];
    }
  }
  fail_msg("no evidence is called %s", role);
  return NULL;
}

static void evidence_shows_trigger_cause_and_launch_with_the_users_frame(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "$train.py:1 main", 0, 200);
  event(s, "$array.py:40 __float__", 14, 26);
  event(s, "np.asarray(jax.Array)", 15, 25);
  event(s, "watermark", 30, 90);
  read_story(s);
  xp_gap_details details = explained(s, gap_at(s, 0));
  const xp_evidence *trigger = evidence(&details, "trigger");
  assert_str(trigger->event, "np.asarray(jax.Array)");
  assert_str(trigger->thread, "python");
  assert_str(trigger->frame, "$train.py:1 main");
  assert_int_equal(trigger->start_ps, US(15));
  assert_int_equal(trigger->dur_ps, US(10));
  assert_str(evidence(&details, "cause")->event, "watermark");
  const xp_evidence *launch = evidence(&details, "launch");
  assert_str(launch->event, "PJRT_LoadedExecutable_Execute");
  assert_int_equal(launch->start_ps, US(100));
}

static void a_gap_belongs_to_the_step_that_launched_the_work_after_it(void **state)
{
  story *s = *state;
  two_runs(s);
  step(s, "train", 1, 0, 50);
  step(s, "train", 2, 90, 115);
  read_story(s);
  assert_int_equal(gap_at(s, 0)->step, 1);
  assert_int_equal(s->reading->steps[1].num, 2);
}

/* ---- options */

static void names_of_input_can_be_added(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "my_reader", 30, 90);
  read_with(s, &(xp_analyze_options){.input_regex = "my_(reader|writer)"});
  check_sums(s);
  assert_string_equal(parts_of(s, 0), "input 60, unknown 20, dispatch 10, launch 10");
}

static void names_of_input_must_match_as_a_whole(void **state)
{
  story *s = *state;
  two_runs(s);
  event(s, "my_reader", 30, 90);
  read_with(s, &(xp_analyze_options){.input_regex = "reader|my_read"});
  assert_string_equal(reason_of(s, 0), "host in my_reader");
}

static xp_status refused(story *s, const xp_analyze_options *options, xp_error *err)
{
  loaded(s);
  xp_reading *reading;
  xp_status status = xp_analyze(s->capture, options, &reading, err);
  assert_null(reading);
  return status;
}

static void a_bad_regular_expression_is_refused(void **state)
{
  story *s = *state;
  two_runs(s);
  xp_error err;
  assert_int_equal(refused(s, &(xp_analyze_options){.input_regex = "("}, &err), XP_ERR_USAGE);
  assert_contains(err.text, "(");
}

static void an_unknown_device_is_refused_with_a_list_of_the_known(void **state)
{
  story *s = *state;
  two_runs(s);
  xp_error err;
  assert_int_equal(refused(s, &(xp_analyze_options){.device = "/device:TPU:9"}, &err), XP_ERR_USAGE);
  assert_contains(err.text, "/device:TPU:0");
}

static void an_unknown_step_is_refused_with_a_list_of_the_known(void **state)
{
  story *s = *state;
  two_runs_in_a_step(s);
  xp_error err;
  assert_int_equal(refused(s, &(xp_analyze_options){.step = "train:9"}, &err), XP_ERR_USAGE);
  assert_contains(err.text, "train");
}

static void only_the_device_that_was_asked_for_is_read(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}));
  tpu(s, "/device:TPU:1", TIMES({10, 20}, {90, 130}));
  read_with(s, &(xp_analyze_options){.device = "/device:TPU:1"});
  check_sums(s);
  assert_int_equal(s->reading->device_count, 1);
  assert_int_equal(gap_at(s, 0)->dur_ps, US(70));
}

static void only_gaps_of_the_time_that_was_asked_for_are_kept(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}, {190, 200}, {300, 310}));
  read_with(s, &(xp_analyze_options){.from_ps = US(130), .to_ps = US(190)});
  assert_int_equal(s->reading->gap_count, 1);
  assert_int_equal(gap_at(s, 0)->start_ps, US(130));
}

static void only_gaps_of_the_step_that_was_asked_for_are_kept(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}, {190, 200}));
  thread(s, "python");
  call(s, 1, 2, 4);
  step(s, "a:b", 1, 90, 125);
  call(s, 2, 100, 110);
  step(s, "a:b", 2, 130, 185);
  call(s, 3, 180, 182);
  read_with(s, &(xp_analyze_options){.step = "a:b:2"});
  assert_int_equal(s->reading->gap_count, 1);
  assert_int_equal(gap_at(s, 0)->start_ps, US(130));
  assert_int_equal(s->reading->step_count, 1);
  assert_int_equal(gap_at(s, 0)->step, 0);
}

/* ---- hostile captures */

static void a_capture_without_devices_has_no_gaps(void **state)
{
  story *s = *state;
  thread(s, "python");
  call(s, 1, 2, 4);
  read_story(s);
  assert_int_equal(s->reading->device_count, 0);
  assert_int_equal(s->reading->gap_count, 0);
  assert_true(s->reading->verdict.len > 0);
}

static void times_at_the_ends_of_the_range_do_not_overflow(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}));
  plane(s, "/device:TPU:1");
  line(s, "XLA Ops");
  event_ps(s, "%fusion.1 = x", INT64_MAX / 2 - 5, INT64_MAX / 2);
  event_ps(s, "%fusion.1 = x", INT64_MIN / 2, INT64_MIN / 2 + 5);
  thread(s, "python");
  call(s, 1, 2, 4);
  call(s, 2, 100, 110);
  event_ps(s, "something", INT64_MIN / 2, INT64_MAX / 2 - 1);
  read_with(s, NULL);
  assert_int_equal(s->reading->device_count, 2);
}

/* Work in a loop of the device, of which more than a thousand events lie before the gap. */
static void the_work_after_a_gap_is_found_behind_many_events(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Modules");
  event(s, "jit_step(7)", 10, 4000);
  with(s, "run_id", 1);
  line(s, "XLA Ops");
  event(s, "%while.1 = x", 10, 4000);
  for (int i = 0; i < 1200; i++) {
    event(s, "%fusion.1 = x", 10 + i, 11 + i);
  }
  event(s, "%infeed.1 = x", 3000, 3500);
  thread(s, "python");
  call(s, 1, 2, 4);
  read_story(s);
  xp_gap_details details = explained(s, gap_at(s, 0));
  assert_str(details.after.program, "jit_step");
  assert_int_not_equal(gap_at(s, 0)->launch, XP_NONE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      STORY(time_that_no_event_covers_is_unknown),
      STORY(compiling_is_compile),
      STORY(reading_a_value_is_value_request),
      STORY(waiting_is_wait),
      STORY(a_frame_that_blocks_until_ready_is_wait),
      STORY(sending_data_is_upload),
      STORY(lowering_is_tracing),
      STORY(getting_a_batch_is_input),
      STORY(a_long_execute_call_is_dispatch),
      STORY(anything_else_with_a_name_is_host),
      STORY(a_device_that_starts_late_is_launch),
      STORY(a_hole_inside_a_run_is_in_program),
      STORY(only_the_time_inside_the_run_is_in_program),
      STORY(while_the_call_of_the_run_goes_on_it_is_dispatch),
      STORY(once_the_call_of_the_run_has_returned_it_is_in_program),
      STORY(time_under_the_profiler_is_its_own),
      STORY(the_device_waits_for_input_in_an_infeed),
      STORY(an_infeed_inside_a_loop_is_waiting_too),
      STORY(a_wait_of_the_device_inside_another_does_not_hide_it),
      STORY(the_innermost_event_with_a_class_decides),
      STORY(without_a_class_the_innermost_scope_names_the_time),
      STORY(time_that_only_a_step_covers_has_its_name),
      STORY(a_step_has_no_class_of_its_name),
      STORY(names_of_the_runtime_are_no_scopes_but_events),
      STORY(the_scope_is_that_of_the_thread_whatever_the_class),
      STORY(a_frame_of_python_names_time_without_events),
      STORY(a_frame_called_like_an_event_has_no_class),
      STORY(dispatch_shows_the_innermost_event_in_the_call),
      STORY(a_pjit_function_that_lowers_is_tracing_and_names_what_is_in_it),
      STORY(a_pjit_function_that_only_runs_is_dispatch),
      STORY(a_pjit_function_inside_a_tracing_one_is_tracing),
      STORY(after_the_call_returned_only_an_open_read_or_wait_counts),
      STORY(two_recorders_on_one_line_are_read_as_they_overlap),
      STORY(the_cause_is_the_class_with_most_time_and_its_scope_that_of_its_largest_part),
      STORY(of_equal_classes_the_first_of_the_table_is_the_cause),
      STORY(unknown_time_loses_a_tie),
      STORY(before_the_hand_over_the_thread_that_asked_is_looked_at),
      STORY(a_thread_without_events_is_replaced_by_the_one_with_the_step),
      STORY(events_of_other_threads_do_not_count),
      STORY(a_wait_is_for_the_devices_that_work_meanwhile),
      STORY(a_wait_for_nothing_says_so),
      STORY(a_wait_for_nothing_shows_the_longest_event_of_pool_threads),
      STORY(a_read_that_ended_50_us_before_a_gap_is_a_trigger),
      STORY(a_read_that_ended_51_us_before_a_gap_is_none),
      STORY(a_read_that_ended_a_tenth_of_a_long_gap_before_it_is_a_trigger),
      STORY(a_read_that_ended_more_than_a_tenth_of_a_long_gap_before_it_is_none),
      STORY(a_read_of_any_length_is_a_trigger),
      STORY(a_read_that_still_runs_is_a_trigger),
      STORY(a_read_that_began_after_the_launch_call_returned_is_none),
      STORY(a_read_on_another_thread_is_no_trigger),
      STORY(a_wait_of_50_us_is_a_trigger),
      STORY(a_wait_of_49_us_is_none),
      STORY(a_wait_inside_an_execute_call_is_none),
      STORY(a_compile_in_the_gap_is_a_trigger),
      STORY(a_compile_before_the_gap_is_none),
      STORY(a_read_goes_before_a_wait_and_a_wait_before_a_compile),
      STORY(the_trigger_has_the_scope_in_which_it_began),
      STORY(of_two_reads_the_later_is_the_trigger),
      STORY(tracing_without_a_read_since_the_launch_before_is_the_limit),
      STORY(tracing_with_a_read_since_the_launch_before_is_not),
      STORY(the_lead_in_is_read_like_a_gap_and_ranked),
      STORY(a_lead_in_before_work_without_a_launch_is_unknown_and_not_ranked),
      STORY(the_tail_is_read_off_the_thread_of_the_last_launch),
      STORY(a_tail_without_events_is_not_ranked),
      STORY(a_tail_in_which_the_profiler_stops_is_not_ranked),
      STORY(the_profilers_time_is_no_part_of_a_row),
      STORY(without_a_session_there_is_no_lead_in_and_no_tail),
      STORY(a_gap_of_the_minimum_is_listed),
      STORY(a_gap_one_ps_below_the_minimum_is_folded),
      STORY(the_minimum_can_be_chosen),
      STORY(work_on_any_line_is_busy_time),
      STORY(a_copy_is_neither_work_nor_idle),
      STORY(a_kernel_that_a_copy_call_launched_is_a_copy),
      STORY(untimed_events_are_counted_and_not_used),
      STORY(stray_events_are_counted_and_not_used),
      STORY(a_device_without_ops_is_read_by_its_programs),
      STORY(a_custom_device_without_ops_has_all_other_lines),
      STORY(an_op_of_xla_cpu_goes_on_until_its_marker),
      STORY(ops_of_xla_cpu_belong_to_the_device_of_their_ordinal),
      STORY(host_events_of_programs_that_run_on_a_plane_are_no_work),
      STORY(each_device_has_its_own_gaps),
      STORY(devices_without_work_stand_last),
      STORY(a_plane_that_occurs_twice_is_one_device),
      STORY(a_collective_waits_for_the_last_to_arrive),
      STORY(gaps_of_one_reason_are_one_row),
      STORY(the_work_on_both_sides_is_named),
      STORY(evidence_shows_trigger_cause_and_launch_with_the_users_frame),
      STORY(a_gap_belongs_to_the_step_that_launched_the_work_after_it),
      STORY(names_of_input_can_be_added),
      STORY(names_of_input_must_match_as_a_whole),
      STORY(a_bad_regular_expression_is_refused),
      STORY(an_unknown_device_is_refused_with_a_list_of_the_known),
      STORY(an_unknown_step_is_refused_with_a_list_of_the_known),
      STORY(only_the_device_that_was_asked_for_is_read),
      STORY(only_gaps_of_the_time_that_was_asked_for_are_kept),
      STORY(only_gaps_of_the_step_that_was_asked_for_are_kept),
      STORY(a_capture_without_devices_has_no_gaps),
      STORY(times_at_the_ends_of_the_range_do_not_overflow),
      STORY(the_work_after_a_gap_is_found_behind_many_events),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
