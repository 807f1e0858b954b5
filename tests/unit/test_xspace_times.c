/* Times: sessions, bases of lines, hosts against each other, saturation, events whose time is not to be used. */
#include "testing.h"

#define START_NS INT64_C(1750000000123456789)

/* A line with this base and one event at an offset of 2500 ps. */
static void put_line(xp_wire_writer *space, int64_t timestamp_ns)
{
  xp_wire_writer line = {0};
  xp_wire_put_varint(&line, 3, (uint64_t)timestamp_ns);
  put_event(&line, 0, 2500, 1);
  put_plane(space, "p", &line);
  xp_wire_writer_free(&line);
}

/* The start of the only event of the first plane that has one. */
static int64_t first_start(const xp_capture *capture, size_t host)
{
  const xp_host *h = &capture->hosts[host];
  for (size_t i = 0; i < h->plane_count; i++) {
    if (h->planes[i].line_count > 0) {
      return h->planes[i].lines[0].start_ps[0];
    }
  }
  fail_msg("no line");
  return 0;
}

static void assert_start(int64_t timestamp_ns, bool has_session, int64_t want)
{
  xp_wire_writer space = {0};
  put_line(&space, timestamp_ns);
  if (has_session) {
    put_session(&space, START_NS, START_NS + 1000);
  }
  xp_capture *capture = load_bytes(written(&space));
  assert_int_equal(capture->has_session, has_session);
  assert_true(first_start(capture, 0) == want);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

static void a_base_below_the_session_start_is_relative_to_it(void **state)
{
  (void)state;
  assert_start(7, true, 9500);
  assert_start(START_NS - 1, true, INT64_MAX); /* 1.75 * 10^18 ns are more ps than fit */
}

static void a_base_at_or_above_the_session_start_is_a_unix_time(void **state)
{
  (void)state;
  assert_start(START_NS, true, 2500);
  assert_start(START_NS + 3, true, 5500);
}

static void without_a_session_the_earliest_unix_base_is_the_start(void **state)
{
  (void)state;
  xp_wire_writer space = {0};
  put_line(&space, START_NS + 9);
  put_line(&space, START_NS);
  put_line(&space, 4);
  xp_capture *capture = load_bytes(written(&space));
  const xp_plane *planes = capture->hosts[0].planes;
  assert_false(capture->has_session);
  assert_true(capture->start_unix_ns == START_NS);
  assert_int_equal(planes[0].lines[0].start_ps[0], 11500);
  assert_int_equal(planes[1].lines[0].start_ps[0], 2500);
  assert_int_equal(planes[2].lines[0].start_ps[0], 6500);
  assert_int_equal(capture->dur_ps, 11501);
  assert_int_equal(capture->hosts[0].start_ps, 2500);
  assert_int_equal(capture->hosts[0].stop_ps, 11501);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

static void without_any_start_bases_count_from_zero(void **state)
{
  (void)state;
  assert_start(7, false, 9500);
  assert_start(-7, false, -4500);
}

static void the_session_of_the_earliest_host_is_the_origin(void **state)
{
  (void)state;
  xp_capture *capture = load_path(SCENARIOS "s26_two_hosts");
  assert_str(capture->run, "2025_06_15_15_06_40");
  assert_int_equal(capture->host_count, 2);
  const xp_host *alpha = &capture->hosts[0], *beta = &capture->hosts[1];
  assert_str(alpha->name, "alpha");
  assert_str(beta->name, "beta");
  assert_true(capture->start_unix_ns == START_NS);
  assert_true(beta->start_unix_ns == START_NS + 250000000);
  assert_int_equal(beta->start_ps, INT64_C(250000000000));
  assert_int_equal(beta->stop_ps, INT64_C(700000000000));
  assert_int_equal(capture->dur_ps, INT64_C(700000000000));
  assert_int_equal(first_start(capture, 1), INT64_C(290000000000)); /* 250 ms + 40 ms */
  xp_capture_free(capture);
}

static void arithmetic_on_absurd_times_saturates(void **state)
{
  (void)state;
  xp_wire_writer space = {0}, line = {0};
  xp_wire_put_varint(&line, 3, INT64_MAX / 1000 + 1);
  put_event(&line, 0, 0, INT64_MAX);
  put_event(&line, 0, INT64_MAX, INT64_MAX);
  put_plane(&space, "p", &line);
  line.len = 0;
  xp_wire_put_varint(&line, 3, (uint64_t)INT64_MIN);
  put_event(&line, 0, INT64_MIN, 1);
  put_plane(&space, "q", &line);
  put_session(&space, 1, 2);
  xp_capture *capture = load_bytes(written(&space));
  const xp_plane *planes = capture->hosts[0].planes;
  assert_true(planes[0].lines[0].start_ps[1] == INT64_MAX);
  assert_true(xp_event_end(&planes[0].lines[0], 0) == INT64_MAX);
  assert_true(xp_event_dur(&planes[0].lines[0], 0) == INT64_MAX);
  assert_true(planes[1].lines[0].start_ps[0] == INT64_MIN);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
  xp_wire_writer_free(&line);
}

static void durations_of_any_size_are_kept(void **state)
{
  (void)state;
  static const int64_t durs[] = {0, 1,          0x7fffffff, 0x80000000,       0x80000001, INT64_C(1) << 40,
                                 5, 0xffffffff, 0x7ffffffe, INT64_C(1) << 56, INT64_MAX};
  enum { COUNT = sizeof durs / sizeof *durs };
  xp_wire_writer space = {0}, line = {0};
  for (int64_t i = 0; i < COUNT; i++) {
    put_event(&line, 0, i + 1, durs[i]);
  }
  put_plane(&space, "p", &line);
  xp_capture *capture = load_bytes(written(&space));
  const xp_line *l = &capture->hosts[0].planes[0].lines[0];
  for (size_t i = 0; i < COUNT; i++) {
    assert_true(xp_event_dur(l, i) == durs[i]);
  }
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
  xp_wire_writer_free(&line);
}

static void an_event_at_zero_for_zero_is_untimed(void **state)
{
  (void)state;
  xp_capture *capture = load_path(SCENARIOS "s13_untimed_events.xplane.pb");
  const xp_line *line = &capture->hosts[0].planes[0].lines[0];
  assert_int_equal(line->count, 19);
  assert_int_equal(line->untimed, 7);
  assert_int_equal(line->stray, 0);
  assert_int_equal(line->first_ps, INT64_C(200000000000));
  assert_int_equal(line->last_ps, INT64_C(234500000000));
  for (size_t i = 0; i < line->count; i++) {
    assert_int_equal((line->meta[i] & XP_EVENT_UNTIMED) != 0, i < 7);
  }
  xp_capture_free(capture);
}

static void an_instant_event_elsewhere_is_not_untimed(void **state)
{
  (void)state;
  xp_wire_writer space = {0}, line = {0};
  xp_wire_put_varint(&line, 3, 4677);
  put_event(&line, 0, 0, 0);        /* 4677 ns */
  put_event(&line, 0, -4677000, 0); /* 0 as stored: untimed */
  put_event(&line, 0, -4677000, 1); /* it has a duration */
  put_plane(&space, "p", &line);
  xp_capture *capture = load_bytes(written(&space));
  const xp_line *l = &capture->hosts[0].planes[0].lines[0];
  assert_int_equal(l->untimed, 1);
  assert_int_equal(l->first_ps, 0);
  assert_int_equal(l->last_ps, 4677000);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
  xp_wire_writer_free(&line);
}

static void a_negative_duration_reads_as_zero_and_untimed(void **state)
{
  (void)state;
  xp_wire_writer space = {0}, line = {0};
  put_event(&line, 0, 5, -1);
  put_plane(&space, "p", &line);
  xp_capture *capture = load_bytes(written(&space));
  const xp_line *l = &capture->hosts[0].planes[0].lines[0];
  assert_int_equal(l->untimed, 1);
  assert_int_equal(xp_event_dur(l, 0), 0);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
  xp_wire_writer_free(&line);
}

static void events_that_reach_farther_than_the_session_is_long_are_stray(void **state)
{
  (void)state;
  /* A session of 1000 ns = 10^6 ps: times from -10^6 to 2*10^6 belong to it. */
  static const struct {
    int64_t start, dur;
    bool is_stray;
  } events[] = {{-1000005, 4, true}, {-1000001, 5, true}, {-1000000, 0, false},          {500, 5, false},
                {2000000, 9, true},  {1999991, 9, false}, {500, INT64_C(1) << 40, true}, {9000000, 9, true}};
  enum { COUNT = sizeof events / sizeof *events };
  xp_wire_writer space = {0}, line = {0};
  for (size_t i = 0; i < COUNT; i++) {
    put_event(&line, 0, events[i].start, events[i].dur);
  }
  put_plane(&space, "p", &line);
  put_session(&space, START_NS, START_NS + 1000);
  xp_capture *capture = load_bytes(written(&space));
  const xp_line *l = &capture->hosts[0].planes[0].lines[0];
  size_t stray = 0;
  for (size_t i = 0; i < l->count; i++) {
    stray += (l->meta[i] & XP_EVENT_STRAY) != 0;
  }
  assert_int_equal(stray, 5);
  assert_int_equal(l->stray, 5);
  assert_int_equal(l->first_ps, -1000000);
  assert_int_equal(l->last_ps, 2000000);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
  xp_wire_writer_free(&line);
}

static void without_a_session_times_of_more_than_three_days_are_stray(void **state)
{
  (void)state;
  xp_wire_writer space = {0}, line = {0};
  put_event(&line, 0, INT64_MIN, 1);
  put_event(&line, 0, INT64_MAX, 1);
  put_event(&line, 0, 1, INT64_MAX);
  put_event(&line, 0, INT64_C(1) << 57, INT64_C(1) << 57);
  put_plane(&space, "p", &line);
  xp_capture *capture = load_bytes(written(&space));
  assert_int_equal(capture->hosts[0].planes[0].lines[0].stray, 3);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
  xp_wire_writer_free(&line);
}

static void assert_session(int64_t length_ns, bool want)
{
  xp_wire_writer space = {0};
  put_line(&space, START_NS + 1);
  put_session(&space, START_NS, (uint64_t)(START_NS + length_ns));
  xp_capture *capture = load_bytes(written(&space));
  assert_int_equal(capture->has_session, want);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

static void a_session_of_more_than_three_days_is_none(void **state)
{
  (void)state;
  assert_session(INT64_C(3) * 24 * 3600 * 1000000000, true);
  assert_session(INT64_C(3) * 24 * 3600 * 1000000000 + 1, false);
}

static void a_session_that_ends_before_it_starts_is_none(void **state)
{
  (void)state;
  xp_wire_writer space = {0};
  put_line(&space, START_NS + 1);
  put_session(&space, START_NS, START_NS - 1);
  xp_capture *capture = load_bytes(written(&space));
  assert_false(capture->has_session);
  assert_true(capture->start_unix_ns == START_NS);
  assert_int_equal(first_start(capture, 0), 3500); /* the start is of use still */
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_base_below_the_session_start_is_relative_to_it),
      cmocka_unit_test(a_base_at_or_above_the_session_start_is_a_unix_time),
      cmocka_unit_test(without_a_session_the_earliest_unix_base_is_the_start),
      cmocka_unit_test(without_any_start_bases_count_from_zero),
      cmocka_unit_test(the_session_of_the_earliest_host_is_the_origin),
      cmocka_unit_test(arithmetic_on_absurd_times_saturates),
      cmocka_unit_test(durations_of_any_size_are_kept),
      cmocka_unit_test(an_event_at_zero_for_zero_is_untimed),
      cmocka_unit_test(an_instant_event_elsewhere_is_not_untimed),
      cmocka_unit_test(a_negative_duration_reads_as_zero_and_untimed),
      cmocka_unit_test(events_that_reach_farther_than_the_session_is_long_are_stray),
      cmocka_unit_test(without_a_session_times_of_more_than_three_days_are_stray),
      cmocka_unit_test(a_session_of_more_than_three_days_is_none),
      cmocka_unit_test(a_session_that_ends_before_it_starts_is_none),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
