/* Launches: execute calls, ids that link them to devices, and the way back to the thread that asked. */
#include "readings.h"

typedef struct {
  xp_threads threads;
  xp_links links;
} linked;

static linked *link_story(story *s)
{
  linked *l = xp_arena_alloc(s->arena, sizeof *l);
  xp_threads_open(&l->threads, loaded(s), NULL, s->arena);
  xp_threads_build(&l->threads);
  xp_links_build(&l->links, &l->threads, s->arena);
  return l;
}

static const char *thread_name(story *s, const linked *l, uint32_t thread)
{
  return WORDS(s, "%.*s", XP_STR_ARG(l->threads.threads[thread].line->name));
}

/* "pool from 12, python": who held the chain, latest first. */
static const char *hops_of(story *s, const linked *l, uint32_t launch)
{
  assert_int_not_equal(launch, XP_NONE);
  const xp_launch *x = &l->links.launches[launch];
  const char *words = "";
  for (int i = 0; i < x->hop_count; i++) {
    xp_hop hop = xp_launch_hop(x, i);
    words = WORDS(s, "%s%s%s", words, i ? ", " : "", thread_name(s, l, hop.thread));
    if (hop.from_ps != INT64_MIN) {
      words = WORDS(s, "%s from %s", words, us_of(s, hop.from_ps));
    }
  }
  return words;
}

/* "10..20, asked at 5": of the launch itself. */
static const char *times_of(story *s, const linked *l, uint32_t launch)
{
  assert_int_not_equal(launch, XP_NONE);
  const xp_launch *x = &l->links.launches[launch];
  return WORDS(s, "%s..%s, asked at %s", us_of(s, x->start_ps), us_of(s, x->return_ps), us_of(s, x->asked_ps));
}

/* A task is handed to the thread pool. */
static void hand_over(story *s, int64_t id, int64_t at_us)
{
  event(s, "ThreadpoolListener::Record", at_us, at_us);
  produce(s, 15, id);
}

static void begin_task(story *s, int64_t id, int64_t at_us)
{
  event(s, "ThreadpoolListener::StartRegion", at_us, at_us);
  consume(s, 15, id);
}

static void end_task(story *s, int64_t at_us)
{
  event(s, "ThreadpoolListener::StopRegion", at_us, at_us);
}

/* ---- by run id */

static void a_run_id_finds_its_execute_call(void **state)
{
  story *s = *state;
  thread(s, "python");
  call(s, 1, 10, 20);
  call(s, 2, 30, 40);
  linked *l = link_story(s);
  assert_string_equal(times_of(s, l, xp_links_by_run_id(&l->links, 0, 2, 0)), "30..40, asked at 30");
  assert_string_equal(hops_of(s, l, xp_links_by_run_id(&l->links, 0, 2, 0)), "python");
}

static void a_run_id_that_nobody_carries_finds_nothing(void **state)
{
  story *s = *state;
  thread(s, "python");
  call(s, 1, 10, 20);
  linked *l = link_story(s);
  assert_int_equal(xp_links_by_run_id(&l->links, 0, 2, 0), XP_NONE);
  assert_int_equal(xp_links_by_run_id(&l->links, 1, 1, 0), XP_NONE);
}

static void the_launch_returns_when_the_outermost_execute_event_does(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 10, 50);
  event(s, "PjRtStreamExecutorLoadedExecutable::Execute", 20, 40);
  with(s, "run_id", 1);
  linked *l = link_story(s);
  assert_string_equal(times_of(s, l, xp_links_by_run_id(&l->links, 0, 1, 0)), "10..50, asked at 10");
}

static void of_several_events_with_a_run_id_the_first_launches(void **state)
{
  story *s = *state;
  thread(s, "python");
  call(s, 1, 30, 40);
  call(s, 1, 10, 20);
  linked *l = link_story(s);
  assert_string_equal(times_of(s, l, xp_links_by_run_id(&l->links, 0, 1, 0)), "10..20, asked at 10");
}

static void a_run_id_with_an_ordinal_is_of_that_device_alone(void **state)
{
  story *s = *state;
  thread(s, "a");
  call(s, 1, 10, 20);
  with(s, "device_ordinal", 0);
  line(s, "b");
  call(s, 1, 15, 25);
  with(s, "device_ordinal", 1);
  linked *l = link_story(s);
  assert_string_equal(hops_of(s, l, xp_links_by_run_id(&l->links, 0, 1, 0)), "a");
  assert_string_equal(hops_of(s, l, xp_links_by_run_id(&l->links, 0, 1, 1)), "b");
  assert_int_equal(xp_links_by_run_id(&l->links, 0, 1, 2), XP_NONE);
}

static void a_run_id_without_an_ordinal_is_of_every_device(void **state)
{
  story *s = *state;
  thread(s, "python");
  call(s, 1, 10, 20);
  linked *l = link_story(s);
  uint32_t first = xp_links_by_run_id(&l->links, 0, 1, 0);
  assert_int_not_equal(first, XP_NONE);
  assert_int_equal(xp_links_by_run_id(&l->links, 0, 1, 7), first);
}

static void a_wait_with_a_run_id_launches_nothing_and_bounds_the_end(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  thread(s, "python");
  event(s, "Wait for run", 5, 80);
  with(s, "run_id", 1);
  call(s, 1, 10, 20);
  linked *l = link_story(s);
  assert_string_equal(times_of(s, l, xp_links_by_run_id(&l->links, 0, 1, 0)), "10..20, asked at 10");
  assert_int_equal(xp_links_run_start(&l->links, 0, 1, 0), US(10));
  assert_int_equal(xp_links_wait_end(&l->links, 0, 1, 0), US(80));
  assert_int_equal(xp_links_wait_end(&l->links, 0, 2, 0), INT64_MIN);
}

/* ---- by flow */

/* An execute call whose id the device's run consumes. */
static void producing_call(story *s, int64_t id, int64_t from_us, int64_t to_us)
{
  event(s, "PjRtComputationClient::ExecuteComputation", from_us, to_us);
  produce(s, 14, id);
}

static void a_flow_finds_the_execute_call_that_produces_it(void **state)
{
  story *s = *state;
  thread(s, "python");
  producing_call(s, 8, 10, 20);
  producing_call(s, 9, 30, 40);
  linked *l = link_story(s);
  assert_string_equal(times_of(s, l, xp_links_by_flow(&l->links, 0, 14, 9, US(50))), "30..40, asked at 30");
  assert_int_equal(xp_links_by_flow(&l->links, 0, 14, 7, US(50)), XP_NONE);
  assert_int_equal(xp_links_by_flow(&l->links, 0, 15, 9, US(50)), XP_NONE); /* another kind of flow */
  assert_int_equal(xp_links_by_flow(&l->links, 1, 14, 9, US(50)), XP_NONE); /* another host */
}

static void a_flow_that_an_event_inside_the_call_produces_is_the_calls(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "PjRtComputationClient::ExecuteComputation", 10, 20);
  event(s, "PJRT_LoadedExecutable_Execute linkage", 12, 18);
  produce(s, 14, 9);
  event(s, "an event outside of calls", 30, 40);
  produce(s, 14, 10);
  linked *l = link_story(s);
  assert_string_equal(times_of(s, l, xp_links_by_flow(&l->links, 0, 14, 9, US(50))), "10..20, asked at 10");
  assert_int_equal(xp_links_by_flow(&l->links, 0, 14, 10, US(50)), XP_NONE);
}

static void of_several_calls_with_a_flow_the_latest_before_the_run_launched_it(void **state)
{
  story *s = *state;
  thread(s, "python");
  producing_call(s, 9, 10, 20);
  producing_call(s, 9, 30, 40);
  linked *l = link_story(s);
  assert_string_equal(times_of(s, l, xp_links_by_flow(&l->links, 0, 14, 9, US(25))), "10..20, asked at 10");
  assert_string_equal(times_of(s, l, xp_links_by_flow(&l->links, 0, 14, 9, US(45))), "30..40, asked at 30");
}

static void a_flow_is_followed_by_a_device_whose_clock_is_behind(void **state)
{
  story *s = *state;
  thread(s, "python");
  producing_call(s, 9, 10, 20);
  linked *l = link_story(s);
  assert_string_equal(times_of(s, l, xp_links_by_flow(&l->links, 0, 14, 9, US(5))), "10..20, asked at 10");
}

/* ---- through thread pools */

static void a_pool_task_leads_back_to_the_thread_that_handed_it_over(void **state)
{
  story *s = *state;
  thread(s, "python");
  hand_over(s, 5, 10);
  line(s, "pool");
  begin_task(s, 5, 12);
  call(s, 1, 15, 25);
  end_task(s, 30);
  linked *l = link_story(s);
  uint32_t launch = xp_links_by_run_id(&l->links, 0, 1, 0);
  assert_string_equal(hops_of(s, l, launch), "pool from 12, python");
  assert_string_equal(times_of(s, l, launch), "15..25, asked at 10");
  assert_string_equal(thread_name(s, l, xp_launch_asker(&l->links.launches[launch])), "python");
}

static void a_task_that_is_over_leads_nowhere(void **state)
{
  story *s = *state;
  thread(s, "python");
  hand_over(s, 5, 10);
  line(s, "pool");
  begin_task(s, 5, 12);
  end_task(s, 14);
  call(s, 1, 15, 25);
  linked *l = link_story(s);
  assert_string_equal(hops_of(s, l, xp_links_by_run_id(&l->links, 0, 1, 0)), "pool");
}

static void a_task_that_a_thread_handed_to_itself_is_no_hop(void **state)
{
  story *s = *state;
  thread(s, "pool");
  hand_over(s, 5, 10);
  begin_task(s, 5, 12);
  call(s, 1, 15, 25);
  end_task(s, 30);
  linked *l = link_story(s);
  assert_string_equal(hops_of(s, l, xp_links_by_run_id(&l->links, 0, 1, 0)), "pool");
}

static void an_id_that_is_used_again_belongs_to_the_latest_task(void **state)
{
  story *s = *state;
  thread(s, "first");
  hand_over(s, 5, 1);
  line(s, "second");
  hand_over(s, 5, 10);
  line(s, "third");
  hand_over(s, 5, 50);
  line(s, "pool");
  begin_task(s, 5, 12);
  call(s, 1, 15, 25);
  end_task(s, 30);
  linked *l = link_story(s);
  assert_string_equal(hops_of(s, l, xp_links_by_run_id(&l->links, 0, 1, 0)), "pool from 12, second");
}

static void a_consumer_leads_back_to_its_producer_on_another_thread(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute linkage", 10, 11);
  produce(s, 14, 9);
  line(s, "client");
  event(s, "PJRT_LoadedExecutable_Execute", 13, 20);
  with(s, "run_id", 1);
  consume(s, 14, 9);
  linked *l = link_story(s);
  uint32_t launch = xp_links_by_run_id(&l->links, 0, 1, 0);
  assert_string_equal(hops_of(s, l, launch), "client from 13, python");
  assert_string_equal(times_of(s, l, launch), "13..20, asked at 10");
}

static void a_consumer_inside_the_execute_event_links_it_too(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "request", 10, 11);
  produce(s, 5, 9);
  line(s, "client");
  event(s, "PJRT_LoadedExecutable_Execute", 13, 20);
  with(s, "run_id", 1);
  event(s, "PjRtCpuExecutable::ExecuteHelper", 14, 18);
  consume(s, 5, 9);
  linked *l = link_story(s);
  assert_string_equal(hops_of(s, l, xp_links_by_run_id(&l->links, 0, 1, 0)), "client from 13, python");
}

static void a_consumer_of_another_type_is_not_linked(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "request", 10, 11);
  produce(s, 5, 9);
  line(s, "client");
  event(s, "PJRT_LoadedExecutable_Execute", 13, 20);
  with(s, "run_id", 1);
  consume(s, 6, 9);
  linked *l = link_story(s);
  assert_string_equal(hops_of(s, l, xp_links_by_run_id(&l->links, 0, 1, 0)), "client");
}

static void a_chain_of_three_threads_is_followed_to_its_beginning(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "ScheduleSyncTensorsGraph", 5, 12);
  hand_over(s, 5, 10);
  line(s, "worker");
  begin_task(s, 5, 14);
  event(s, "ExecuteComputation", 15, 19);
  event(s, "PjRtComputationClient::ExecuteComputation", 16, 18);
  produce(s, 14, 8);
  end_task(s, 21);
  line(s, "client");
  event(s, "PJRT_LoadedExecutable_Execute", 20, 30);
  with(s, "run_id", 1);
  consume(s, 14, 8);
  linked *l = link_story(s);
  uint32_t launch = xp_links_by_run_id(&l->links, 0, 1, 0);
  assert_string_equal(hops_of(s, l, launch), "client from 20, worker from 14, python");
  assert_string_equal(times_of(s, l, launch), "20..30, asked at 10");
}

/* a hands to b, b to a, and so on: the chain is cut, not followed for ever. */
static void a_chain_that_never_ends_is_cut(void **state)
{
  story *s = *state;
  enum { TURNS = 20 };
  thread(s, "a");
  for (int i = 0; i < TURNS; i += 2) {
    begin_task(s, i, 10 * i);
    hand_over(s, i + 1, 10 * i + 5);
    end_task(s, 10 * i + 6);
  }
  line(s, "b");
  for (int i = 1; i < TURNS; i += 2) {
    begin_task(s, i, 10 * i);
    hand_over(s, i + 1, 10 * i + 5);
    end_task(s, 10 * i + 9);
  }
  event(s, "PJRT_LoadedExecutable_Execute", 10 * (TURNS - 1) + 6, 10 * (TURNS - 1) + 8);
  with(s, "run_id", 1);
  linked *l = link_story(s);
  uint32_t launch = xp_links_by_run_id(&l->links, 0, 1, 0);
  assert_int_equal(l->links.launches[launch].hop_count, XP_MAX_HOPS);
}

static void an_execute_call_that_another_one_asked_for_is_not_asked_by_the_program(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 10, 20);
  hand_over(s, 5, 15);
  line(s, "pool");
  begin_task(s, 5, 16);
  event(s, "PjRtCpuLoadedExecutable::Execute", 17, 18);
  end_task(s, 19);
  linked *l = link_story(s);
  assert_int_equal(l->links.asked_count, 1);
  assert_string_equal(times_of(s, l, l->links.asked[0]), "10..20, asked at 10");
}

static void nested_execute_events_are_one_call(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 10, 50);
  event(s, "PjRtStreamExecutorLoadedExecutable::Execute", 20, 40);
  linked *l = link_story(s);
  assert_int_equal(l->links.asked_count, 1);
}

static void calls_of_all_threads_stand_in_the_order_of_time(void **state)
{
  story *s = *state;
  thread(s, "a");
  event(s, "PJRT_LoadedExecutable_Execute", 30, 40);
  event(s, "PJRT_LoadedExecutable_Execute", 10, 20);
  line(s, "b");
  event(s, "PJRT_LoadedExecutable_Execute", 21, 29);
  linked *l = link_story(s);
  assert_int_equal(l->links.asked_count, 3);
  assert_string_equal(times_of(s, l, l->links.asked[0]), "10..20, asked at 10");
  assert_string_equal(times_of(s, l, l->links.asked[1]), "21..29, asked at 21");
  assert_string_equal(times_of(s, l, l->links.asked[2]), "30..40, asked at 30");
}

/* ---- by correlation id */

static void kernel_call(story *s, int64_t id, int64_t from_us, int64_t to_us)
{
  event(s, "cuLaunchKernel", from_us, to_us);
  with(s, "correlation_id", id);
}

static void an_api_call_inside_an_execute_event_belongs_to_it(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 10, 20);
  kernel_call(s, 7, 12, 13);
  linked *l = link_story(s);
  assert_string_equal(times_of(s, l, xp_links_by_correlation(&l->links, 0, 7)), "10..20, asked at 10");
}

static void api_calls_on_a_line_of_their_own_belong_to_the_thread_that_contains_them(void **state)
{
  story *s = *state;
  thread(s, "other");
  event(s, "GpuExecutable::ExecuteThunks", 5, 8);
  line(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 10, 20);
  event(s, "GpuExecutable::ExecuteThunks", 11, 19);
  event(s, "PJRT_LoadedExecutable_Execute", 30, 40);
  event(s, "GpuExecutable::ExecuteThunks", 31, 39);
  line(s, "Host Threads/77");
  kernel_call(s, 7, 12, 13);
  kernel_call(s, 8, 32, 33);
  linked *l = link_story(s);
  assert_string_equal(hops_of(s, l, xp_links_by_correlation(&l->links, 0, 8)), "python");
  assert_string_equal(times_of(s, l, xp_links_by_correlation(&l->links, 0, 8)), "30..40, asked at 30");
}

/* Both threads are in an execute call when the kernels are launched; only one of them runs thunks then. */
static void thunks_tell_two_threads_in_execute_calls_apart(void **state)
{
  story *s = *state;
  thread(s, "waiting");
  event(s, "PJRT_LoadedExecutable_Execute", 0, 100);
  line(s, "working");
  event(s, "PJRT_LoadedExecutable_Execute", 10, 20);
  event(s, "GpuExecutable::ExecuteThunks", 11, 19);
  line(s, "Host Threads/77");
  kernel_call(s, 7, 12, 13);
  linked *l = link_story(s);
  assert_string_equal(hops_of(s, l, xp_links_by_correlation(&l->links, 0, 7)), "working");
}

static void many_api_calls_belong_to_the_thread_that_contains_them_as_well(void **state)
{
  enum { CALLS = 3000 };
  story *s = *state;
  thread(s, "python");
  for (int i = 0; i < CALLS; i++) {
    event(s, "PJRT_LoadedExecutable_Execute", 10 * i, 10 * i + 8);
    event(s, "GpuExecutable::ExecuteThunks", 10 * i + 1, 10 * i + 7);
  }
  line(s, "Host Threads/77");
  for (int i = 0; i < CALLS; i++) {
    kernel_call(s, i, 10 * i + 2, 10 * i + 3);
  }
  linked *l = link_story(s);
  assert_string_equal(hops_of(s, l, xp_links_by_correlation(&l->links, 0, CALLS - 1)), "python");
}

static void api_calls_that_no_thread_contains_stand_for_themselves(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 10, 20);
  event(s, "GpuExecutable::ExecuteThunks", 11, 19);
  line(s, "Host Threads/77");
  kernel_call(s, 7, 32, 33);
  kernel_call(s, 8, 42, 43);
  linked *l = link_story(s);
  uint32_t launch = xp_links_by_correlation(&l->links, 0, 7);
  assert_string_equal(hops_of(s, l, launch), "Host Threads/77");
  assert_false(xp_launch_is_execute(&l->links.launches[launch]));
}

/* A thread of another host with the same times must not be taken. */
static void a_correlation_id_that_nobody_carries_finds_nothing(void **state)
{
  story *s = *state;
  thread(s, "python");
  kernel_call(s, 7, 12, 13);
  linked *l = link_story(s);
  assert_int_equal(xp_links_by_correlation(&l->links, 0, 8), XP_NONE);
  assert_int_equal(xp_links_by_correlation(&l->links, 1, 7), XP_NONE);
}

static void the_same_call_is_always_the_same_launch(void **state)
{
  story *s = *state;
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 10, 20);
  kernel_call(s, 7, 12, 13);
  kernel_call(s, 8, 14, 15);
  kernel_call(s, 9, 24, 25);
  linked *l = link_story(s);
  uint32_t first = xp_links_by_correlation(&l->links, 0, 7), alone = xp_links_by_correlation(&l->links, 0, 9);
  assert_int_equal(xp_links_by_correlation(&l->links, 0, 8), first);
  assert_int_equal(xp_links_by_correlation(&l->links, 0, 9), alone);
  assert_int_not_equal(first, alone);
}

static void calls_that_copy_are_marked(void **state)
{
  story *s = *state;
  thread(s, "Host Threads/77");
  event(s, "hipMemcpyAsync", 10, 20);
  with(s, "correlation_id", 1);
  event(s, "cuMemcpyHtoDAsync_v2", 30, 40);
  with(s, "correlation_id", 2);
  kernel_call(s, 3, 50, 60);
  linked *l = link_story(s);
  assert_true(xp_links_call(&l->links, 0, 1)->memcpy_call);
  assert_true(xp_links_call(&l->links, 0, 2)->memcpy_call);
  assert_false(xp_links_call(&l->links, 0, 3)->memcpy_call);
  assert_null(xp_links_call(&l->links, 0, 4));
}

/* ---- runs of a device and their launches, as a reading links them */

static const char *launches_of_runs(story *s, uint32_t device)
{
  const xp_device_data *d = &s->reading->analysis->devices.devices[device];
  const char *words = "";
  for (size_t r = 0; r < d->run_count; r++) {
    uint32_t launch = d->runs[r].launch;
    const char *start = launch == XP_NONE ? "-" : us_of(s, s->reading->analysis->links.launches[launch].start_ps);
    words = WORDS(s, "%s%s%s", words, r ? " " : "", start);
  }
  return words;
}

/* A TPU without run ids. */
static void anonymous_tpu(story *s, const int64_t (*runs)[2], size_t count)
{
  plane(s, "/device:TPU:0");
  line(s, "XLA Modules");
  for (size_t i = 0; i < count; i++) {
    event(s, "jit_step(7)", runs[i][0], runs[i][1]);
  }
}

static void runs_with_ids_are_launched_by_the_events_that_carry_them(void **state)
{
  story *s = *state;
  tpu(s, "/device:TPU:0", TIMES({20, 30}, {40, 50}));
  thread(s, "python");
  call(s, 2, 2, 3);
  call(s, 1, 4, 5);
  read_story(s);
  assert_string_equal(launches_of_runs(s, 0), "4 2");
}

static void without_ids_the_kth_call_is_the_kth_run(void **state)
{
  story *s = *state;
  anonymous_tpu(s, TIMES({20, 30}, {40, 50}, {60, 70}));
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 1, 2);
  event(s, "PJRT_LoadedExecutable_Execute", 3, 4);
  event(s, "PJRT_LoadedExecutable_Execute", 55, 56);
  read_story(s);
  assert_string_equal(launches_of_runs(s, 0), "1 3 55");
}

static void a_run_before_the_first_call_was_launched_before_the_session(void **state)
{
  story *s = *state;
  anonymous_tpu(s, TIMES({20, 30}, {40, 50}, {60, 70}));
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 32, 33);
  event(s, "PJRT_LoadedExecutable_Execute", 55, 56);
  read_story(s);
  assert_string_equal(launches_of_runs(s, 0), "- 32 55");
}

static void calls_that_follow_the_last_run_have_none(void **state)
{
  story *s = *state;
  anonymous_tpu(s, TIMES({20, 30}));
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 1, 2);
  event(s, "PJRT_LoadedExecutable_Execute", 55, 56);
  read_story(s);
  assert_string_equal(launches_of_runs(s, 0), "1");
}

static void each_device_counts_its_own_runs(void **state)
{
  story *s = *state;
  anonymous_tpu(s, TIMES({20, 30}, {40, 50}));
  plane(s, "/device:TPU:1");
  line(s, "XLA Modules");
  event(s, "jit_step(7)", 21, 31);
  event(s, "jit_step(7)", 41, 51);
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 1, 2);
  event(s, "PJRT_LoadedExecutable_Execute", 3, 4);
  read_story(s);
  assert_string_equal(launches_of_runs(s, 0), "1 3");
  assert_string_equal(launches_of_runs(s, 1), "1 3");
}

static void helpers_on_pool_threads_are_no_calls_to_count_runs_by(void **state)
{
  story *s = *state;
  anonymous_tpu(s, TIMES({20, 30}, {40, 50}));
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 1, 2);
  event(s, "PJRT_LoadedExecutable_Execute", 34, 35);
  line(s, "pool");
  event(s, "PjRtStreamExecutorLoadedExecutable::ExecuteHelper", 3, 4);
  event(s, "PjRtStreamExecutorLoadedExecutable::ExecuteHelper", 36, 37);
  read_story(s);
  assert_string_equal(launches_of_runs(s, 0), "1 34");
}

static void kernels_of_one_execute_event_are_one_run(void **state)
{
  story *s = *state;
  plane(s, "/device:GPU:0");
  line(s, "Stream #1(Compute)");
  for (int i = 0; i < 4; i++) {
    event(s, "kernel", 20 + 10 * i, 25 + 10 * i);
    with(s, "correlation_id", i);
  }
  thread(s, "python");
  event(s, "PJRT_LoadedExecutable_Execute", 1, 5);
  event(s, "PJRT_LoadedExecutable_Execute", 10, 15);
  line(s, "Host Threads/77");
  kernel_call(s, 0, 2, 3);
  kernel_call(s, 1, 3, 4);
  kernel_call(s, 2, 11, 12);
  kernel_call(s, 3, 12, 13);
  read_story(s);
  assert_string_equal(launches_of_runs(s, 0), "1 10");
  const xp_device_run *run = &s->reading->analysis->devices.devices[0].runs[0];
  assert_int_equal(run->start_ps, US(20));
  assert_int_equal(run->end_ps, US(35));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      STORY(a_run_id_finds_its_execute_call),
      STORY(a_run_id_that_nobody_carries_finds_nothing),
      STORY(the_launch_returns_when_the_outermost_execute_event_does),
      STORY(of_several_events_with_a_run_id_the_first_launches),
      STORY(a_run_id_with_an_ordinal_is_of_that_device_alone),
      STORY(a_run_id_without_an_ordinal_is_of_every_device),
      STORY(a_wait_with_a_run_id_launches_nothing_and_bounds_the_end),
      STORY(a_flow_finds_the_execute_call_that_produces_it),
      STORY(a_flow_that_an_event_inside_the_call_produces_is_the_calls),
      STORY(of_several_calls_with_a_flow_the_latest_before_the_run_launched_it),
      STORY(a_flow_is_followed_by_a_device_whose_clock_is_behind),
      STORY(a_pool_task_leads_back_to_the_thread_that_handed_it_over),
      STORY(a_task_that_is_over_leads_nowhere),
      STORY(a_task_that_a_thread_handed_to_itself_is_no_hop),
      STORY(an_id_that_is_used_again_belongs_to_the_latest_task),
      STORY(a_consumer_leads_back_to_its_producer_on_another_thread),
      STORY(a_consumer_inside_the_execute_event_links_it_too),
      STORY(a_consumer_of_another_type_is_not_linked),
      STORY(a_chain_of_three_threads_is_followed_to_its_beginning),
      STORY(a_chain_that_never_ends_is_cut),
      STORY(an_execute_call_that_another_one_asked_for_is_not_asked_by_the_program),
      STORY(nested_execute_events_are_one_call),
      STORY(calls_of_all_threads_stand_in_the_order_of_time),
      STORY(an_api_call_inside_an_execute_event_belongs_to_it),
      STORY(api_calls_on_a_line_of_their_own_belong_to_the_thread_that_contains_them),
      STORY(thunks_tell_two_threads_in_execute_calls_apart),
      STORY(many_api_calls_belong_to_the_thread_that_contains_them_as_well),
      STORY(api_calls_that_no_thread_contains_stand_for_themselves),
      STORY(a_correlation_id_that_nobody_carries_finds_nothing),
      STORY(the_same_call_is_always_the_same_launch),
      STORY(calls_that_copy_are_marked),
      STORY(runs_with_ids_are_launched_by_the_events_that_carry_them),
      STORY(without_ids_the_kth_call_is_the_kth_run),
      STORY(a_run_before_the_first_call_was_launched_before_the_session),
      STORY(calls_that_follow_the_last_run_have_none),
      STORY(each_device_counts_its_own_runs),
      STORY(helpers_on_pool_threads_are_no_calls_to_count_runs_by),
      STORY(kernels_of_one_execute_event_are_one_run),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
