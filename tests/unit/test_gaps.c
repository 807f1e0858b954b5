/* Gaps: the parts of a gap, its cause, its row, and what is told about it. */
#include "readings.h"

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

/* A run of a device that is no TPU, with one op; it consumes what its launch produces. */
static void run_of(story *s, int number, const int64_t (*runs)[3], size_t count)
{
  plane(s, number == 0 ? "/device:CUSTOM:x:0" : "/device:CUSTOM:x:1");
  line(s, "XLA Modules");
  for (size_t i = 0; i < count; i++) {
    event(s, "step(7)", runs[i][0], runs[i][1]);
    with(s, "run_id", 90 + runs[i][2]); /* which no event of the host carries */
    consume(s, 14, runs[i][2]);
  }
  line(s, "XLA Ops");
  for (size_t i = 0; i < count; i++) {
    event(s, "%fusion.1 = x", runs[i][0], runs[i][1]);
  }
}

static void runs_of_two_devices_are_launched_by_the_calls_whose_ids_they_have(void **state)
{
  story *s = *state;
  run_of(s, 0, (const int64_t[][3]){{20, 30, 2}, {130, 140, 4}}, 2);
  run_of(s, 1, (const int64_t[][3]){{5, 9, 1}, {60, 70, 3}}, 2);
  thread(s, "python");
  static const int64_t calls[][2] = {{1, 2}, {15, 16}, {50, 52}, {100, 110}};
  for (int i = 0; i < 4; i++) {
    event(s, "PjRtComputationClient::ExecuteComputation", calls[i][0], calls[i][1]);
    produce(s, 14, i + 1);
  }
  event(s, "PjRtComputationClient::Compile", 60, 90);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "unknown 38, compile 30, launch 20, dispatch 12");
  assert_string_equal(parts_of(s, 1), "unknown 40, launch 8, dispatch 3");
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

static void of_two_waits_of_the_device_that_overlap_the_first_goes_on(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event(s, "%fusion.1 = x", 10, 20);
  event(s, "%infeed.1 = x", 20, 90);
  event(s, "%recv-done.1 = x", 60, 120);
  event(s, "%fusion.2 = x", 120, 130);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "input 70, host 30");
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
  assert_string_equal(named_parts_of(s, 0),
                      "dispatch [] PjitFunction(step) 70, "
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
  assert_string_equal(named_parts_of(s, 0),
                      "host [b] b 40, host [a] a 30, "
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
  produce(s, 15, 5);
  event(s, "backend_compile", 85, 200); /* of no interest: the pool thread holds the chain */
  line(s, "tf_pool/1");
  event(s, "H2D Dispatch", 20, 75); /* nor is what the pool thread did before */
  event(s, "ThreadpoolListener::StartRegion", 80, 80);
  consume(s, 15, 5);
  event(s, "Something::Slow", 80, 100);
  call(s, 2, 100, 110);
  event(s, "ThreadpoolListener::StopRegion", 112, 112);
  read_story(s);
  assert_string_equal(
      named_parts_of(s, 0),
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

static void a_copy_leads_back_through_its_pool_task_to_the_thread_that_asked(void **state)
{
  story *s = *state;
  plane(s, "/device:GPU:0");
  line(s, "Stream #1(Kernel)");
  event(s, "kernel", 10, 20);
  event(s, "copyBuffer", 120, 130);
  with(s, "correlation_id", 2);
  thread(s, "python");
  event(s, "DevicePut", 30, 95);
  event(s, "ThreadpoolListener::Record", 90, 90);
  produce(s, 15, 5);
  line(s, "tf_pjrt_thread_pool/1");
  event(s, "ThreadpoolListener::StartRegion", 97, 97);
  consume(s, 15, 5);
  event(s, "BufferSequencingEvent::Execute", 98, 108);
  event(s, "ThreadpoolListener::StopRegion", 109, 109);
  line(s, "Host Threads/77");
  event(s, "hipMemcpyAsync", 100, 105);
  with(s, "correlation_id", 2);
  read_story(s);
  /* python until 97, then the pool thread; from 105 on the call has returned */
  assert_string_equal(parts_of(s, 0), "upload 65, launch 15, unknown 13, host 7");
}

/* XLA CPU without run ids: a run goes on until the wait in which it finishes. */
static void a_run_of_xla_cpu_ends_with_its_wait_for_completion(void **state)
{
  story *s = *state;
  thread(s, "tf_XLAEigen/1");
  op(s, "dot.1", 1, 10, 20);
  op(s, "add.1", 2, 60, 70);
  op(s, "dot.1", 3, 150, 160);
  line(s, "tf_XLAPjRtCpuClient/2");
  event(s, "ThunkExecutor::Execute (wait for completion)", 5, 100);
  event(s, "ThunkExecutor::Execute (wait for completion)", 145, 170);
  line(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 2, 4);
  event(s, "PJRT_LoadedExecutable_Execute", 110, 112);
  read_story(s);
  assert_string_equal(parts_of(s, 0), "in_program 40");
  assert_string_equal(parts_of(s, 1), "launch 38, in_program 30, unknown 10, dispatch 2");
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
      STORY(runs_of_two_devices_are_launched_by_the_calls_whose_ids_they_have),
      STORY(a_hole_inside_a_run_is_in_program),
      STORY(only_the_time_inside_the_run_is_in_program),
      STORY(while_the_call_of_the_run_goes_on_it_is_dispatch),
      STORY(once_the_call_of_the_run_has_returned_it_is_in_program),
      STORY(time_under_the_profiler_is_its_own),
      STORY(the_device_waits_for_input_in_an_infeed),
      STORY(an_infeed_inside_a_loop_is_waiting_too),
      STORY(a_wait_of_the_device_inside_another_does_not_hide_it),
      STORY(of_two_waits_of_the_device_that_overlap_the_first_goes_on),
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
      STORY(a_copy_leads_back_through_its_pool_task_to_the_thread_that_asked),
      STORY(a_run_of_xla_cpu_ends_with_its_wait_for_completion),
      STORY(gaps_of_one_reason_are_one_row),
      STORY(the_work_on_both_sides_is_named),
      STORY(evidence_shows_trigger_cause_and_launch_with_the_users_frame),
      STORY(a_gap_belongs_to_the_step_that_launched_the_work_after_it),
      STORY(the_work_after_a_gap_is_found_behind_many_events),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
