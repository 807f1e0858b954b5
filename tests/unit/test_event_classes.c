/* The vocabulary: an example for every line of the table, and names that must not match. */
#include "testing.h"

#include "analyze/event_classes.h"

typedef struct {
  const char *name;
  xp_cause cause;
} example;

#define NO_CLASS XP_CAUSE_COUNT

static const example examples[] = {
    {"PjRtComputationClient::Compile", XP_CAUSE_COMPILE},
    {"IfrtComputationClient::Compile", XP_CAUSE_COMPILE},
    {"XLAGraphExecutor::Compile", XP_CAUSE_COMPILE},
    {"backend_compile", XP_CAUSE_COMPILE},
    {"backend_compile_and_load", XP_CAUSE_COMPILE},
    {"PjRtStreamExecutorClient::Compile", XP_CAUSE_COMPILE},
    {"PjRtCpuClient::CompileAndLoad", XP_CAUSE_COMPILE},
    {"CommonPjRtClient::Compile", XP_CAUSE_COMPILE},
    {"TfrtCpuClient::CompileAndLoad", XP_CAUSE_COMPILE},
    {"PJRT_Client_Compile", XP_CAUSE_COMPILE},
    {"XlaCompilationCache::Compile", XP_CAUSE_COMPILE},
    {"XlaCompiler::CompileFunction", XP_CAUSE_COMPILE},
    {"PjRtComputationClient::TransferFromDevice", XP_CAUSE_VALUE_REQUEST},
    {"IfrtComputationClient::TransferFromDevice", XP_CAUSE_VALUE_REQUEST},
    {"np.asarray(jax.Array)", XP_CAUSE_VALUE_REQUEST},
    {"ArrayImpl.copy_to_host_async", XP_CAUSE_VALUE_REQUEST},
    {"PjRtStreamExecutorBuffer::ToLiteral", XP_CAUSE_VALUE_REQUEST},
    {"CommonPjRtBuffer::ToLiteralSync", XP_CAUSE_VALUE_REQUEST},
    {"D2H Dispatch", XP_CAUSE_VALUE_REQUEST},
    {"MemcpyD2H", XP_CAUSE_VALUE_REQUEST},
    {"cuMemcpyDtoHAsync_v2", XP_CAUSE_VALUE_REQUEST},
    {"hipMemcpyDtoHAsync", XP_CAUSE_VALUE_REQUEST},
    {"ThunkExecutor::Execute (wait for completion)", XP_CAUSE_WAIT},
    {"Wait for donation holds", XP_CAUSE_WAIT},
    {"TensorCollectionBarrier", XP_CAUSE_WAIT},
    {"DeviceBarrier", XP_CAUSE_WAIT},
    {"PjRtFuture::Await", XP_CAUSE_WAIT},
    {"$array.py:500 block_until_ready", XP_CAUSE_WAIT},
    {"block_until_ready", XP_CAUSE_WAIT},
    {"jax.block_until_ready(x)", XP_CAUSE_WAIT},
    {"Stream::BlockHostUntilDone", XP_CAUSE_WAIT},
    {"cuStreamSynchronize", XP_CAUSE_WAIT},
    {"cuCtxSynchronize", XP_CAUSE_WAIT},
    {"cuEventSynchronize", XP_CAUSE_WAIT},
    {"hipStreamSynchronize", XP_CAUSE_WAIT},
    {"hipDeviceSynchronize", XP_CAUSE_WAIT},
    {"hipEventSynchronize", XP_CAUSE_WAIT},
    {"PjRtComputationClient::TransferToDevice", XP_CAUSE_UPLOAD},
    {"IfrtComputationClient::TransferToDevice", XP_CAUSE_UPLOAD},
    {"TfrtCpuBuffer::TransferToDevice", XP_CAUSE_UPLOAD},
    {"PjRtComputationClient::TransferShardsToDevice", XP_CAUSE_UPLOAD},
    {"H2D Dispatch", XP_CAUSE_UPLOAD},
    {"PjRtStreamExecutorClient::BufferFromHostBuffer", XP_CAUSE_UPLOAD},
    {"BufferFromHostLiteral", XP_CAUSE_UPLOAD},
    {"DevicePutWithSharding", XP_CAUSE_UPLOAD},
    {"DevicePut", XP_CAUSE_UPLOAD},
    {"batched_copy_array_to_devices_with_sharding", XP_CAUSE_UPLOAD},
    {"cuMemcpyHtoDAsync_v2", XP_CAUSE_UPLOAD},
    {"hipMemcpyHtoDAsync", XP_CAUSE_UPLOAD},
    {"StepMarker", XP_CAUSE_TRACING},
    {"SyncLiveTensorsGraph", XP_CAUSE_TRACING},
    {"SyncTensorsGraph", XP_CAUSE_TRACING},
    {"SyncTensorsGraphInternal", XP_CAUSE_TRACING},
    {"RunPostOrder", XP_CAUSE_TRACING},
    {"CollectSyncTensors", XP_CAUSE_TRACING},
    {"ExtractIRAndPrepareXlaData_", XP_CAUSE_TRACING},
    {"SetTensorData", XP_CAUSE_TRACING},
    {"ScheduleSyncTensorsGraph", XP_CAUSE_TRACING},
    {"trace_to_jaxpr_dynamic", XP_CAUSE_TRACING},
    {"lower_sharding_computation", XP_CAUSE_TRACING},
    {"cpu_loader.next", XP_CAUSE_INPUT},
    {"get_batch_from_cpu_queue", XP_CAUSE_INPUT},
    {"cpu_data_to_xla_device", XP_CAUSE_INPUT},
    {"Iterator::Prefetch", XP_CAUSE_INPUT},
    {"IteratorGetNext", XP_CAUSE_INPUT},
    {"data", XP_CAUSE_INPUT},
    {"load", XP_CAUSE_INPUT},
    {"loader", XP_CAUSE_INPUT},
    {"dataloader", XP_CAUSE_INPUT},
    {"input", XP_CAUSE_INPUT},
    {"PjRtComputationClient::ExecuteComputation", XP_CAUSE_DISPATCH},
    {"PjRtComputationClient::ExecuteReplicated", XP_CAUSE_DISPATCH},
    {"IfrtComputationClient::ExecuteReplicated", XP_CAUSE_DISPATCH},
    {"PJRT_LoadedExecutable_Execute", XP_CAUSE_DISPATCH},
    {"PJRT_LoadedExecutable_Execute linkage", XP_CAUSE_DISPATCH},
    {"PjRtStreamExecutorLoadedExecutable::Execute", XP_CAUSE_DISPATCH},
    {"PjRtStreamExecutorLoadedExecutable::ExecuteHelper", XP_CAUSE_DISPATCH},
    {"CommonPjRtLoadedExecutable::Execute (jit_step)", XP_CAUSE_DISPATCH},
    {"PjRtCApiExecute", XP_CAUSE_DISPATCH},
    {"GpuExecutable::ExecuteThunks", XP_CAUSE_DISPATCH},
    {"ExecuteComputation", XP_CAUSE_DISPATCH},
    {"ExecuteReplicated", XP_CAUSE_DISPATCH},
    {"ExecuteReplicated.__call__", XP_CAUSE_DISPATCH},
    {"PjitFunction(step)", NO_CLASS},
    {"shard_args", NO_CLASS},
    {"ThreadpoolListener::Record", NO_CLASS},
    {"ThreadpoolListener::StartRegion", NO_CLASS},
    {"pickle_util.dumps", NO_CLASS},
    {"pickle_util.loads", NO_CLASS},
    {"ThreadpoolListener::StopRegion", NO_CLASS},
    {"BufferSequencingEvent::Execute", NO_CLASS},
    {"end: fusion.3", NO_CLASS},
    {"$profiler.py:101 start_trace", NO_CLASS},
    {"$profiler.py:178 stop_trace", NO_CLASS},
    {"cuMemcpyAsync", NO_CLASS},
    {"hipMemcpyAsync", NO_CLASS},
    {"cudaMemcpyAsync", NO_CLASS},
};

/* Names of users and of runtimes that look like something in the table, and are not. */
static const char *const unlisted[] = {
    "MyPjRtThing",
    "MyPjRtComputationClient::Compile",
    "compile",
    "compile_model",
    "my_backend_compile",
    "TransferFromDevice",
    "ToLiteral",
    "np.asarray",
    "my np.asarray(jax.Array)",
    "Waiter for x",
    "Please Wait for x",
    "wait for x",
    "Await",
    "TensorCollectionBarriers",
    "MyDeviceBarrier",
    "TransferToDevice",
    "h2d",
    "MyDevicePut",
    "StepMarkers",
    "MyStepMarker",
    "SyncLiveTensorsGraphs",
    "follower_x",
    "lower",
    "trace",
    "data_loader",
    "dataset",
    "my data",
    "Data",
    "loading",
    "inputs",
    "input_pipeline",
    "MyIterator::Next",
    "cpu_loader.next.0",
    "Execute",
    "MyExecuteComputation",
    "LoadedExecutable::Run",
    "PJRT_LoadedExecutable_Delete",
    "MyPjitFunction(f)",
    "watermark",
    "scheduler.step",
    "",
};

/* The pattern that decides about a name: the first that matches; one with '$' for Python frames. */
static size_t deciding_line(const char *name)
{
  size_t count;
  const xp_name_pattern *patterns = xp_name_patterns(&count);
  for (size_t i = 0; i < count; i++) {
    if ((name[0] != '$' || patterns[i].pattern[0] == '$') && xp_str_glob(xp_str_c(name), patterns[i].pattern)) {
      return i;
    }
  }
  return count;
}

static bool has_flags(const char *name, uint32_t flags)
{
  return (xp_name_classify(xp_str_c(name)).flags & flags) == flags;
}

static bool has_any_flag(const char *name, uint32_t flags)
{
  return (xp_name_classify(xp_str_c(name)).flags & flags) != 0;
}

static void every_line_of_the_table_decides_about_an_example(void **state)
{
  (void)state;
  size_t count;
  const xp_name_pattern *patterns = xp_name_patterns(&count);
  for (size_t i = 0; i < count; i++) {
    bool found = false;
    for (size_t k = 0; k < sizeof examples / sizeof *examples && !found; k++) {
      found = deciding_line(examples[k].name) == i;
    }
    if (!found) {
      fail_msg("no example is decided by \"%s\"", patterns[i].pattern);
    }
  }
}

static void every_example_has_its_class(void **state)
{
  (void)state;
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
    xp_cause cause = xp_name_classify(xp_str_c(examples[k].name)).cause;
    if (cause != examples[k].cause) {
      fail_msg("\"%s\" is %s, not %s", examples[k].name, xp_cause_name(cause), xp_cause_name(examples[k].cause));
    }
  }
}

static void every_example_has_the_flags_of_its_line(void **state)
{
  (void)state;
  size_t count;
  const xp_name_pattern *patterns = xp_name_patterns(&count);
  for (size_t k = 0; k < sizeof examples / sizeof *examples; k++) {
    size_t i = deciding_line(examples[k].name);
    assert_true(i < count);
    assert_true(has_flags(examples[k].name, patterns[i].flags));
  }
}

static void patterns_match_whole_names_only(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof unlisted / sizeof *unlisted; i++) {
    xp_cause cause = xp_name_classify(xp_str_c(unlisted[i])).cause;
    if (cause != XP_CAUSE_COUNT) {
      fail_msg("\"%s\" is %s", unlisted[i], xp_cause_name(cause));
    }
  }
}

static void python_frames_have_no_class_whatever_their_function_is_called(void **state)
{
  (void)state;
  static const char *const frames[] = {
      "$compiler.py:300 backend_compile",
      "$compiler.py:1 backend_compile_and_load",
      "$x.py:1 data",
      "$x.py:1 H2D",
      "$x.py:1 ToLiteral",
      "$loader.py:9 load",
      "$train.py:3 lower_model",
      "$x.py:1 my_block_until_ready",
      "$a::ToLiteral",
  };
  for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
    xp_name_class class = xp_name_classify(xp_str_c(frames[i]));
    assert_int_equal(class.cause, XP_CAUSE_COUNT);
    assert_true(class.flags & XP_NAME_FRAME);
  }
}

static void a_frame_that_blocks_until_ready_is_a_wait(void **state)
{
  (void)state;
  xp_name_class class = xp_name_classify(xp_str_c("$api.py:2900 block_until_ready"));
  assert_int_equal(class.cause, XP_CAUSE_WAIT);
  assert_true(class.flags & XP_NAME_FRAME);
}

static void names_with_nul_and_broken_utf8_have_no_class(void **state)
{
  (void)state;
  static const char bytes[] = "data\0\xff\xfe";
  xp_name_class class = xp_name_classify(xp_str_from(bytes, sizeof bytes - 1));
  assert_int_equal(class.cause, XP_CAUSE_COUNT);
  assert_int_equal(class.flags, 0);
}

static void names_with_two_colons_are_of_the_runtime(void **state)
{
  (void)state;
  assert_true(has_flags("tsl::Something", XP_NAME_QUALIFIED));
  assert_false(has_any_flag("block:1", XP_NAME_QUALIFIED));
}

static void the_profilers_own_frames_are_known(void **state)
{
  (void)state;
  assert_true(has_flags("$profiler.py:101 start_trace", XP_NAME_PROFILER | XP_NAME_FRAME));
  assert_true(has_flags("$profiler.py:300 stop_trace", XP_NAME_PROFILER | XP_NAME_FRAME));
  assert_false(has_any_flag("$profiler.py:300 annotate", XP_NAME_PROFILER));
  assert_false(has_any_flag("$my_profiler.py:300 start_trace", XP_NAME_PROFILER));
  assert_false(has_any_flag("start_trace", XP_NAME_PROFILER));
}

static void only_scopes_of_the_user_are_input_scopes(void **state)
{
  (void)state;
  assert_true(has_flags("dataloader", XP_NAME_INPUT_SCOPE));
  assert_false(has_any_flag("cpu_loader.next", XP_NAME_INPUT_SCOPE));
  assert_false(has_any_flag("data_loader", XP_NAME_INPUT_SCOPE));
  assert_false(has_any_flag("$x.py:1 data", XP_NAME_INPUT_SCOPE));
}

static void what_counts_is_marked(void **state)
{
  (void)state;
  assert_true(has_flags("PjRtComputationClient::Compile", XP_NAME_COMPILES));
  assert_true(has_flags("backend_compile_and_load", XP_NAME_COMPILES));
  assert_true(has_flags("TfrtCpuClient::Compile", XP_NAME_CLIENT_COMPILES));
  assert_true(has_flags("PjRtComputationClient::ExecuteComputation", XP_NAME_EXECUTES));
  assert_true(has_flags("PjRtComputationClient::ExecuteReplicated", XP_NAME_EXECUTES));
  assert_true(has_flags("PJRT_LoadedExecutable_Execute", XP_NAME_LAUNCH));
  assert_true(has_flags("PjRtStreamExecutorLoadedExecutable::Execute", XP_NAME_LAUNCH));
  assert_true(has_flags("PjRtComputationClient::TransferFromDevice", XP_NAME_READS));
  assert_true(has_flags("np.asarray(jax.Array)", XP_NAME_READS));
  assert_true(has_flags("TfrtCpuBuffer::ToLiteral", XP_NAME_LITERAL_READS));
  assert_true(has_flags("PjRtComputationClient::TransferToDevice", XP_NAME_UPLOADS));
  assert_true(has_flags("StepMarker", XP_NAME_SYNC));
}

/* Counting looks at classed events alone. */
static void every_line_that_counts_has_a_class(void **state)
{
  (void)state;
  const uint32_t counted = XP_NAME_COMPILES | XP_NAME_CLIENT_COMPILES | XP_NAME_EXECUTES | XP_NAME_READS |
                           XP_NAME_LITERAL_READS | XP_NAME_UPLOADS | XP_NAME_SYNC;
  size_t count;
  const xp_name_pattern *patterns = xp_name_patterns(&count);
  for (size_t i = 0; i < count; i++) {
    assert_true(!(patterns[i].flags & counted) || patterns[i].cause != XP_CAUSE_COUNT);
  }
}

static void what_lies_around_a_counted_event_does_not_count(void **state)
{
  (void)state;
  uint32_t counted = XP_NAME_COMPILES | XP_NAME_CLIENT_COMPILES | XP_NAME_EXECUTES | XP_NAME_LAUNCH | XP_NAME_READS |
                     XP_NAME_LITERAL_READS | XP_NAME_UPLOADS | XP_NAME_SYNC;
  assert_false(has_any_flag("XLAGraphExecutor::Compile", counted));
  assert_false(has_any_flag("PJRT_LoadedExecutable_Execute linkage", counted));
  assert_false(has_any_flag("PjRtStreamExecutorLoadedExecutable::ExecuteHelper", counted));
  assert_false(has_any_flag("GpuExecutable::ExecuteThunks", counted));
  assert_false(has_any_flag("H2D Dispatch", counted));
  assert_false(has_any_flag("SyncLiveTensorsGraph", counted));
}

static void frames_of_libraries_are_told_from_frames_of_the_user(void **state)
{
  (void)state;
  static const char *const libraries[] = {
      "$builtins len",     "$pjit.py:331 cache_miss",   "$<unknown>",        "$<frozen importlib> x", "$numpy array",
      "$functools reduce", "$contextlib.py:1 __exit__", "$_tensor.py:3 item"};
  static const char *const users[] = {"$train.py:12 step", "$my_api.py:3 f", "$pjit_test.py:1 g", "$data.py:7 load"};
  for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
    assert_true(xp_frame_is_library(xp_str_c(libraries[i])));
    assert_true(has_flags(libraries[i], XP_NAME_LIBRARY));
  }
  for (size_t i = 0; i < sizeof users / sizeof *users; i++) {
    assert_false(xp_frame_is_library(xp_str_c(users[i])));
    assert_false(has_any_flag(users[i], XP_NAME_LIBRARY));
  }
}

static void threads_of_the_runtime_are_told_from_those_of_the_program(void **state)
{
  (void)state;
  static const char *const runtime[] = {"tf_XLAEigen/140", "tf_pjrt_thread_pool/1", "Host Threads/77", "pt_autograd_0",
                                        "py_xla_execute/3"};
  static const char *const program[] = {"python", "python3", "MainThread", "my_tf_thread", "worker/1", ""};
  for (size_t i = 0; i < sizeof runtime / sizeof *runtime; i++) {
    assert_true(xp_thread_is_runtime(xp_str_c(runtime[i])));
  }
  for (size_t i = 0; i < sizeof program / sizeof *program; i++) {
    assert_false(xp_thread_is_runtime(xp_str_c(program[i])));
  }
}

static void ops_that_wait_by_nature_are_known_in_every_form(void **state)
{
  (void)state;
  static const char *const idle[] = {"infeed",
                                     "infeed.3",
                                     "%infeed.3 = (f32[8]) infeed(%token)",
                                     "outfeed.1",
                                     "send.2",
                                     "recv",
                                     "%recv-done.4 = (f32[], token[]) recv-done(%recv.4)",
                                     "send-done.12"};
  static const char *const work[] = {"sender.1",    "infeed_x", "receive.1", "recv_buffer", "my-infeed", "fusion.1",
                                     "%sender = x", "",         "%",         "outfeeder",   "infeedx.1", "resend.1"};
  for (size_t i = 0; i < sizeof idle / sizeof *idle; i++) {
    assert_true(xp_op_is_idle(xp_str_c(idle[i])));
  }
  for (size_t i = 0; i < sizeof work / sizeof *work; i++) {
    assert_false(xp_op_is_idle(xp_str_c(work[i])));
  }
}

static void only_infeed_fetches_input(void **state)
{
  (void)state;
  assert_true(xp_op_is_infeed(xp_str_c("infeed.3")));
  assert_true(xp_op_is_infeed(xp_str_c("%infeed-done.1 = x")));
  assert_false(xp_op_is_infeed(xp_str_c("outfeed.3")));
  assert_false(xp_op_is_infeed(xp_str_c("recv-done.3")));
}

static void collectives_are_known_by_category_opcode_and_kernel(void **state)
{
  (void)state;
  static const char *const yes[] = {
      "all-reduce",      "all-reduce-start.1",        "all-gather.2",      "reduce-scatter",
      "all-to-all.7",    "collective-permute-done.1", "ragged-all-to-all", "ncclDevKernel_AllReduce_Sum_f32_RING_LL",
      "rccl_main_kernel"};
  static const char *const no[] = {"reduce.4", "all", "fusion", "scatter.1", "my-all-reduce", "loop_reduce_fusion", ""};
  for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
    assert_true(xp_op_is_collective(xp_str_c(yes[i])));
  }
  for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
    assert_false(xp_op_is_collective(xp_str_c(no[i])));
  }
}

static void allocations_on_a_device_are_ignored(void **state)
{
  (void)state;
  static const char *const ignored[] = {"MemoryAlloc", "MemoryFree", "Memory Alloc", "MemFree", "MemoryResidency"};
  static const char *const kept[] = {"Memset", "MemcpyH2D", "memory_bound_fusion", "fusion.1", "Mem"};
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) {
    assert_true(xp_device_event_is_ignored(xp_str_c(ignored[i])));
  }
  for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
    assert_false(xp_device_event_is_ignored(xp_str_c(kept[i])));
  }
}

static void copies_are_known_by_name(void **state)
{
  (void)state;
  assert_true(xp_device_event_is_copy(xp_str_c("MemcpyH2D")));
  assert_true(xp_device_event_is_copy(xp_str_c("Memcpy")));
  assert_false(xp_device_event_is_copy(xp_str_c("copy.3"))); /* an instruction: work */
  assert_false(xp_device_event_is_copy(xp_str_c("Memset")));
  assert_false(xp_device_event_is_copy(xp_str_c("MyMemcpy")));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_line_of_the_table_decides_about_an_example),
      cmocka_unit_test(every_example_has_its_class),
      cmocka_unit_test(every_example_has_the_flags_of_its_line),
      cmocka_unit_test(patterns_match_whole_names_only),
      cmocka_unit_test(python_frames_have_no_class_whatever_their_function_is_called),
      cmocka_unit_test(a_frame_that_blocks_until_ready_is_a_wait),
      cmocka_unit_test(names_with_nul_and_broken_utf8_have_no_class),
      cmocka_unit_test(names_with_two_colons_are_of_the_runtime),
      cmocka_unit_test(the_profilers_own_frames_are_known),
      cmocka_unit_test(only_scopes_of_the_user_are_input_scopes),
      cmocka_unit_test(what_counts_is_marked),
      cmocka_unit_test(every_line_that_counts_has_a_class),
      cmocka_unit_test(what_lies_around_a_counted_event_does_not_count),
      cmocka_unit_test(frames_of_libraries_are_told_from_frames_of_the_user),
      cmocka_unit_test(threads_of_the_runtime_are_told_from_those_of_the_program),
      cmocka_unit_test(ops_that_wait_by_nature_are_known_in_every_form),
      cmocka_unit_test(only_infeed_fetches_input),
      cmocka_unit_test(collectives_are_known_by_category_opcode_and_kernel),
      cmocka_unit_test(allocations_on_a_device_are_ignored),
      cmocka_unit_test(copies_are_known_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
