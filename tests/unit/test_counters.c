/* Counters: what is counted, once each, for every step and scope; cut points; launches against executions. */
#include "readings.h"

/* "compiles 1, executes 2": what is not 0. */
static const char *words_of(story *s, const uint64_t *counters)
{
  const char *words = "";
  for (int k = 0; k < XP_COUNTER_COUNT; k++) {
    if (counters[k] != 0) {
      words = WORDS(s, "%s%s%s %llu", words, words[0] ? ", " : "", xp_counter_name(k), (unsigned long long)counters[k]);
    }
  }
  return words;
}

static const char *totals_of(story *s)
{
  return words_of(s, s->reading->counters.totals);
}

static const char *counters_in(story *s, const char *scope)
{
  const xp_counters *c = &s->reading->counters;
  for (size_t i = 0; i < c->by_scope_count; i++) {
    if (xp_str_is(c->by_scope[i].scope, scope)) {
      return words_of(s, c->by_scope[i].counters);
    }
  }
  return "";
}

/* ---- torch_xla */

static void torch_compiles_count_once(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "XLAGraphExecutor::Compile", 10, 50);
  event(s, "PjRtComputationClient::Compile", 20, 40);
  event(s, "TfrtCpuClient::Compile", 25, 35);
  read_story(s);
  assert_string_equal(totals_of(s), "compiles 1");
}

static void torch_executes_are_those_of_its_client(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "ExecuteComputation", 10, 50);
  event(s, "PjRtComputationClient::ExecuteComputation", 20, 40);
  event(s, "PJRT_LoadedExecutable_Execute", 25, 35);
  event(s, "PjRtComputationClient::ExecuteReplicated", 60, 70);
  event(s, "PJRT_LoadedExecutable_Execute", 80, 90);
  read_story(s);
  assert_string_equal(totals_of(s), "executes 2");
}

static void torch_reads_count_once(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "PjRtComputationClient::TransferFromDevice", 10, 50);
  event(s, "CommonPjRtBuffer::ToLiteralSync", 20, 40);
  event(s, "D2H Dispatch", 22, 24);
  read_story(s);
  assert_string_equal(totals_of(s), "reads 1");
}

static void torch_uploads_are_those_of_its_client(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "PjRtComputationClient::TransferToDevice", 10, 50);
  event(s, "TfrtCpuClient::BufferFromHostBuffer", 20, 40);
  event(s, "H2D Dispatch", 22, 24);
  event(s, "H2D Dispatch", 60, 70);
  read_story(s);
  assert_string_equal(totals_of(s), "uploads 1");
}

static void torch_syncs_are_step_markers(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "StepMarker", 10, 50);
  event(s, "SyncLiveTensorsGraph", 20, 40);
  event(s, "SyncLiveTensorsGraph", 60, 70);
  read_story(s);
  assert_string_equal(totals_of(s), "syncs 1");
}

static void events_of_one_name_inside_each_other_count_once(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "PjRtComputationClient::TransferFromDevice", 10, 50);
  event(s, "PjRtComputationClient::TransferFromDevice", 20, 40);
  event(s, "PjRtComputationClient::TransferFromDevice", 50, 60);
  read_story(s);
  assert_string_equal(totals_of(s), "reads 2");
}

static void events_on_several_threads_count_each(void **state)
{
  story *s = *state;
  thread(s, "a");
  event(s, "PjRtComputationClient::TransferFromDevice", 10, 50);
  line(s, "b");
  event(s, "PjRtComputationClient::TransferFromDevice", 10, 50);
  read_story(s);
  assert_string_equal(totals_of(s), "reads 2");
}

/* ---- JAX */

static void jax_compiles_are_those_of_the_back_end(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "backend_compile", 10, 50);
  event(s, "TfrtCpuClient::Compile", 20, 40);
  event(s, "TfrtCpuClient::Compile", 60, 70);
  read_story(s);
  assert_string_equal(totals_of(s), "compiles 1");
}

static void without_them_jax_compiles_are_those_of_the_client(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "TfrtCpuClient::CompileAndLoad", 20, 40);
  event(s, "TfrtCpuClient::Compile", 25, 35);
  event(s, "PjRtStreamExecutorClient::Compile", 60, 70);
  read_story(s);
  assert_string_equal(totals_of(s), "compiles 2");
}

static void jax_uploads_are_outermost_upload_events(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "DevicePutWithSharding", 10, 50);
  event(s, "TfrtCpuClient::BufferFromHostBuffer", 20, 40);
  event(s, "H2D Dispatch", 60, 70);
  read_story(s);
  assert_string_equal(totals_of(s), "uploads 2");
}

/* "python" uploads from 10 to 50 us and hands a task to the pool at handed_us; the pool thread uploads in it. */
static void upload_on_pool_thread(story *s, int64_t handed_us)
{
  thread(s, "python");
  event(s, "DevicePut", 10, 50);
  event(s, "ThreadpoolListener::Record", handed_us, handed_us);
  produce(s, 15, 7);
  line(s, "pool");
  event(s, "ThreadpoolListener::StartRegion", 70, 70);
  consume(s, 15, 7);
  event(s, "H2D Dispatch", 75, 90);
  event(s, "ThreadpoolListener::StopRegion", 95, 95);
  read_story(s);
}

static void the_half_of_an_upload_that_a_pool_thread_does_is_not_another_one(void **state)
{
  story *s = *state;
  upload_on_pool_thread(s, 30);
  assert_string_equal(totals_of(s), "uploads 1");
}

static void an_upload_on_a_pool_thread_counts_when_no_upload_asked_for_it(void **state)
{
  story *s = *state;
  upload_on_pool_thread(s, 60);
  assert_string_equal(totals_of(s), "uploads 2");
}

static void jax_reads_are_arrays_that_become_numpy(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "np.asarray(jax.Array)", 10, 50);
  event(s, "CommonPjRtBuffer::ToLiteral", 20, 40);
  event(s, "CommonPjRtBuffer::ToLiteral", 60, 70);
  read_story(s);
  assert_string_equal(totals_of(s), "reads 1");
}

static void without_them_jax_reads_are_outermost_literals(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "CommonPjRtBuffer::ToLiteral", 20, 40);
  event(s, "TfrtCpuBuffer::ToLiteralSync", 25, 35);
  event(s, "CommonPjRtBuffer::ToLiteral", 60, 70);
  read_story(s);
  assert_string_equal(totals_of(s), "reads 2");
}

static void jax_executes_are_run_ids_that_were_launched(void **state)
{
  story *s = *state;
  thread(s, "python");
  call(s, 1, 10, 20);
  call(s, 1, 21, 29); /* the same program on another device */
  call(s, 2, 30, 40);
  event(s, "PJRT_LoadedExecutable_Execute", 50, 60);
  read_story(s);
  assert_string_equal(totals_of(s), "executes 2");
}

static void a_wait_for_a_run_is_no_execute(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  thread(s, "python");
  call(s, 1, 10, 20);
  event(s, "Wait for run", 30, 40);
  with(s, "run_id", 9);
  read_story(s);
  assert_string_equal(totals_of(s), "executes 1");
}

static void without_run_ids_jax_executes_are_calls_of_the_asking_thread(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute linkage", 8, 9);
  event(s, "PJRT_LoadedExecutable_Execute", 10, 20);
  event(s, "PjRtStreamExecutorLoadedExecutable::Execute", 12, 18);
  event(s, "CommonPjRtLoadedExecutable::Execute (jit_step)", 30, 40);
  line(s, "tf_pool/1");
  event(s, "PjRtStreamExecutorLoadedExecutable::ExecuteHelper", 13, 17);
  event(s, "PjRtStreamExecutorLoadedExecutable::ExecuteHelper", 41, 47);
  read_story(s);
  assert_string_equal(totals_of(s), "executes 2");
}

/* ---- by step and scope */

static void what_is_counted_belongs_to_its_step_and_scope(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 0, 50);
  event(s, "scheduler.step", 10, 30);
  event(s, "PjRtComputationClient::TransferFromDevice", 12, 20);
  event(s, "PjRtComputationClient::TransferFromDevice", 35, 40);
  event(s, "PjRtComputationClient::TransferFromDevice", 60, 70);
  read_story(s);
  assert_string_equal(words_of(s, s->reading->steps[0].counters), "reads 2");
  assert_string_equal(words_of(s, s->reading->outside_steps_counters), "reads 1");
  assert_string_equal(counters_in(s, "scheduler.step"), "reads 1");
  assert_string_equal(counters_in(s, "train"), "reads 1");
  assert_string_equal(counters_in(s, ""), "reads 1");
}

static void an_execute_belongs_to_where_it_was_asked_for(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 0, 50);
  event(s, "fwd", 20, 45);
  event(s, "ThreadpoolListener::Record", 40, 40);
  produce(s, 15, 5);
  step(s, "train", 2, 50, 100);
  line(s, "pool");
  event(s, "ThreadpoolListener::StartRegion", 60, 60);
  consume(s, 15, 5);
  event(s, "PjRtComputationClient::ExecuteComputation", 61, 63);
  event(s, "ThreadpoolListener::StopRegion", 64, 64);
  read_story(s);
  assert_string_equal(words_of(s, s->reading->steps[0].counters), "executes 1");
  assert_string_equal(words_of(s, s->reading->steps[1].counters), "");
  assert_string_equal(counters_in(s, "fwd"), "executes 1");
}

static void totals_over_whole_steps_leave_cut_ones_out(void **state)
{
  story *s = *state;
  session(s, 100);
  thread(s, "python");
  step(s, "train", 1, -10, 20);
  event(s, "PjRtComputationClient::TransferFromDevice", 5, 10);
  step(s, "train", 2, 30, 60);
  event(s, "PjRtComputationClient::TransferFromDevice", 35, 40);
  event(s, "PjRtComputationClient::TransferFromDevice", 45, 50);
  read_story(s);
  assert_int_equal(s->reading->counters.steps, 1);
  assert_string_equal(words_of(s, s->reading->counters.per_step_totals), "reads 2");
}

static void compiles_after_the_first_step_of_a_name_are_told_apart(void **state)
{
  story *s = *state;
  thread(s, "python");
  for (int i = 0; i < 3; i++) {
    step(s, "train", i, 100 * i + 5, 100 * i + 90);
    event(s, "PjRtComputationClient::Compile", 100 * i + 10, 100 * i + 20);
  }
  step(s, "vae", 0, 305, 390);
  event(s, "PjRtComputationClient::Compile", 310, 320);
  read_story(s);
  assert_int_equal(s->reading->counters.compiles_after_first, 2);
  assert_int_equal(s->reading->counters.steps_after_first, 2);
}

static void programs_and_reads_of_a_step_are_those_of_the_main_name(void **state)
{
  story *s = *state;
  thread(s, "python");
  for (int i = 0; i < 2; i++) {
    step(s, "train", i, 100 * i + 5, 100 * i + 90);
    event(s, "PjRtComputationClient::ExecuteComputation", 100 * i + 10, 100 * i + 20);
    event(s, "PjRtComputationClient::ExecuteComputation", 100 * i + 30, 100 * i + 40);
    event(s, "PjRtComputationClient::TransferFromDevice", 100 * i + 50, 100 * i + 60);
  }
  step(s, "vae", 0, 205, 210);
  read_story(s);
  assert_str(s->reading->counters.main_step, "train");
  assert_true(s->reading->counters.programs_per_step > 1.99 && s->reading->counters.programs_per_step < 2.01);
  assert_true(s->reading->counters.reads_per_step > 0.99 && s->reading->counters.reads_per_step < 1.01);
}

static void without_steps_there_is_no_main_name(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "PjRtComputationClient::TransferFromDevice", 50, 60);
  read_story(s);
  assert_str(s->reading->counters.main_step, "");
  assert_true(s->reading->counters.reads_per_step <= 0);
}

/* ---- cut points */

static const char *cuts_of(story *s)
{
  const xp_counters *c = &s->reading->counters;
  const char *words = "";
  for (size_t i = 0; i < c->cut_count; i++) {
    words = WORDS(s, "%s%s%s in %.*s %llu (%.1f)", words, i ? ", " : "", xp_cut_kind_name(c->cuts[i].kind),
                  XP_STR_ARG(c->cuts[i].scope), (unsigned long long)c->cuts[i].count, c->cuts[i].per_step);
  }
  return words;
}

static void execute(story *s, int64_t at_us)
{
  event(s, "PjRtComputationClient::ExecuteComputation", at_us, at_us + 1);
}

/* A sync of 10 us that starts an execute. */
static void lazy_sync(story *s, int64_t at_us)
{
  event(s, "SyncLiveTensorsGraph", at_us, at_us + 10);
  execute(s, at_us + 5);
}

static void a_sync_that_ends_its_step_is_a_step_end(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 5, 100);
  event(s, "StepMarker", 80, 100);
  lazy_sync(s, 85);
  read_story(s);
  assert_string_equal(cuts_of(s), "step_end in train 1 (1.0)");
}

static void a_sync_that_its_step_only_waits_after_is_a_step_end(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 5, 100);
  event(s, "StepMarker", 60, 80);
  lazy_sync(s, 65);
  event(s, "Wait for executions in flight", 81, 99);
  read_story(s);
  assert_string_equal(cuts_of(s), "step_end in train 1 (1.0)");
}

static void a_sync_that_more_follows_in_its_step_is_a_sync(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 5, 100);
  event(s, "fwd", 10, 40);
  event(s, "StepMarker", 15, 35);
  lazy_sync(s, 20);
  event(s, "more", 50, 60);
  read_story(s);
  assert_string_equal(cuts_of(s), "sync in fwd 1 (1.0)");
}

static void a_sync_for_a_value_is_a_read(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 5, 100);
  event(s, "scheduler.step", 10, 60);
  lazy_sync(s, 20);
  event(s, "PjRtComputationClient::TransferFromDevice", 40, 50);
  read_story(s);
  assert_string_equal(cuts_of(s), "read in scheduler.step 1 (1.0)");
}

static void a_sync_that_nobody_asked_for_is_eager_mode(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 5, 100);
  lazy_sync(s, 10);
  lazy_sync(s, 30);
  read_story(s);
  assert_string_equal(cuts_of(s), "eager in train 2 (2.0)");
}

static void a_read_without_an_execute_cuts_nothing(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 5, 100);
  event(s, "PjRtComputationClient::TransferFromDevice", 40, 50);
  read_story(s);
  assert_string_equal(cuts_of(s), "");
}

static void cut_points_are_counted_by_kind_and_scope_a_step(void **state)
{
  story *s = *state;
  thread(s, "python");
  for (int i = 0; i < 4; i++) {
    int64_t at = 1000 * i;
    step(s, "train", i, at + 5, at + 500);
    event(s, "scheduler.step", at + 10, at + 200);
    for (int k = 0; k < 2; k++) {
      lazy_sync(s, at + 20 + 40 * k);
      event(s, "PjRtComputationClient::TransferFromDevice", at + 35 + 40 * k, at + 40 + 40 * k);
    }
    event(s, "StepMarker", at + 400, at + 500);
    lazy_sync(s, at + 410);
  }
  read_story(s);
  assert_string_equal(cuts_of(s), "read in scheduler.step 8 (2.0), step_end in train 4 (1.0)");
}

static void jax_has_no_cut_points(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 5, 100);
  call(s, 1, 10, 20);
  event(s, "np.asarray(jax.Array)", 30, 40);
  read_story(s);
  assert_string_equal(cuts_of(s), "");
}

/* ---- launches and executions */

/* "launches 3, executions 2": then how many of each lack the other. */
static const char *links_of(story *s)
{
  const xp_counters *c = &s->reading->counters;
  return WORDS(s, "launches %llu, executions %llu, without execution %llu, without launch %llu",
               (unsigned long long)c->launches, (unsigned long long)c->executions,
               (unsigned long long)c->launches_without_execution, (unsigned long long)c->executions_without_launch);
}

static void launches_and_executions_are_held_against_each_other(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({20, 30}, {40, 50}));
  thread(s, "python");
  call(s, 1, 2, 3);
  call(s, 2, 4, 5);
  read_story(s);
  assert_string_equal(links_of(s), "launches 2, executions 2, without execution 0, without launch 0");
}

static void a_launch_without_execution_is_counted(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({20, 30}));
  thread(s, "python");
  call(s, 1, 2, 3);
  call(s, 2, 4, 5);
  call(s, 3, 6, 7);
  read_story(s);
  assert_string_equal(links_of(s), "launches 3, executions 1, without execution 2, without launch 0");
}

static void an_execution_without_launch_is_counted(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({20, 30}, {40, 50}, {60, 70}));
  thread(s, "python");
  call(s, 3, 45, 46);
  read_story(s);
  assert_string_equal(links_of(s), "launches 1, executions 3, without execution 0, without launch 2");
}

static void a_program_on_several_devices_is_one_execution(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({20, 30}, {40, 50}));
  tpu(s, "/device:TPU:1", TIMES({20, 30}, {40, 50}));
  thread(s, "python");
  call(s, 1, 2, 3);
  call(s, 2, 4, 5);
  read_story(s);
  assert_string_equal(links_of(s), "launches 2, executions 2, without execution 0, without launch 0");
}

static void launches_without_any_execution_are_warned_of(void **state)
{
  story *s = *state;
  thread(s, "python");
  for (int i = 0; i < 25; i++) {
    call(s, i, 10 * i, 10 * i + 5);
  }
  read_story(s);
  assert_string_equal(links_of(s), "launches 25, executions 0, without execution 25, without launch 0");
  bool warned = false;
  for (size_t i = 0; i < s->reading->warning_count; i++) {
    warned = warned || xp_str_starts(s->reading->warnings[i], "25 launches, 0 executions seen");
  }
  assert_true(warned);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      STORY(torch_compiles_count_once),
      STORY(torch_executes_are_those_of_its_client),
      STORY(torch_reads_count_once),
      STORY(torch_uploads_are_those_of_its_client),
      STORY(torch_syncs_are_step_markers),
      STORY(events_of_one_name_inside_each_other_count_once),
      STORY(events_on_several_threads_count_each),
      STORY(jax_compiles_are_those_of_the_back_end),
      STORY(without_them_jax_compiles_are_those_of_the_client),
      STORY(jax_uploads_are_outermost_upload_events),
      STORY(the_half_of_an_upload_that_a_pool_thread_does_is_not_another_one),
      STORY(an_upload_on_a_pool_thread_counts_when_no_upload_asked_for_it),
      STORY(jax_reads_are_arrays_that_become_numpy),
      STORY(without_them_jax_reads_are_outermost_literals),
      STORY(jax_executes_are_run_ids_that_were_launched),
      STORY(a_wait_for_a_run_is_no_execute),
      STORY(without_run_ids_jax_executes_are_calls_of_the_asking_thread),
      STORY(what_is_counted_belongs_to_its_step_and_scope),
      STORY(an_execute_belongs_to_where_it_was_asked_for),
      STORY(totals_over_whole_steps_leave_cut_ones_out),
      STORY(compiles_after_the_first_step_of_a_name_are_told_apart),
      STORY(programs_and_reads_of_a_step_are_those_of_the_main_name),
      STORY(without_steps_there_is_no_main_name),
      STORY(a_sync_that_ends_its_step_is_a_step_end),
      STORY(a_sync_that_its_step_only_waits_after_is_a_step_end),
      STORY(a_sync_that_more_follows_in_its_step_is_a_sync),
      STORY(a_sync_for_a_value_is_a_read),
      STORY(a_sync_that_nobody_asked_for_is_eager_mode),
      STORY(a_read_without_an_execute_cuts_nothing),
      STORY(cut_points_are_counted_by_kind_and_scope_a_step),
      STORY(jax_has_no_cut_points),
      STORY(launches_and_executions_are_held_against_each_other),
      STORY(a_launch_without_execution_is_counted),
      STORY(an_execution_without_launch_is_counted),
      STORY(a_program_on_several_devices_is_one_execution),
      STORY(launches_without_any_execution_are_warned_of),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
