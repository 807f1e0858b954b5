/* Sums by name, against sums over the columns and against sums by hand. */
#include "testing.h"

#include "xspace/aggregate.h"

typedef struct {
  xp_arena *arena;
  xp_capture *capture;
  xp_name_total *rows;
  size_t count;
} sums;

static sums sums_of(xp_str bytes, const char *path, bool (*wanted)(void *, const xp_line *), void *context, int threads)
{
  sums s = {.arena = xp_arena_create()};
  xp_error err;
  const xp_load_options options = {.no_events = true, .threads = threads};
  xp_status status = path != NULL ? xp_capture_load(path, &options, &s.capture, &err)
                                  : xp_capture_load_memory(bytes, "x", &options, &s.capture, &err);
  assert_int_equal(status, XP_OK);
  xp_aggregate_by_name(s.capture, wanted, context, threads, s.arena, &s.rows, &s.count);
  return s;
}

static void free_sums(sums *s)
{
  xp_capture_free(s->capture);
  xp_arena_destroy(s->arena);
}

/* Plane p: a 5, a 7, b 12, (unnamed) 1; plane q: a 100, c -3. */
static xp_wire_writer two_planes(void)
{
  xp_wire_writer space = {0};
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("p"), 0);
  int64_t a = xp_plane_writer_event(plane, xp_str_c("a"), xp_str_c(""));
  int64_t b = xp_plane_writer_event(plane, xp_str_c("b#k=1#"), xp_str_c(""));
  xp_plane_writer_line(plane, 1, xp_str_c("first"), 0);
  xp_plane_writer_add(plane, a, 0, 5);
  xp_plane_writer_add(plane, b, 1, 12);
  xp_plane_writer_line(plane, 2, xp_str_c("second"), 0);
  xp_plane_writer_add(plane, a, -5, 7);
  xp_plane_writer_add(plane, 99, 0, 1);
  assert_true(xp_plane_writer_finish(plane, &space));
  plane = xp_plane_writer_create(xp_str_c("q"), 0);
  int64_t c = xp_plane_writer_event(plane, xp_str_c("c"), xp_str_c(""));
  a = xp_plane_writer_event(plane, xp_str_c("a"), xp_str_c(""));
  xp_plane_writer_line(plane, 1, xp_str_c("first"), 0);
  xp_plane_writer_add(plane, a, 0, 100);
  xp_plane_writer_add(plane, c, 0, -3);
  assert_true(xp_plane_writer_finish(plane, &space));
  return space;
}

static void assert_row(const xp_name_total *row, const char *name, uint64_t count, int64_t total, int64_t min,
                       int64_t max)
{
  assert_str(row->name, name);
  assert_true(row->count == count && row->total_ps == total && row->min_ps == min && row->max_ps == max);
}

static void equal_names_of_all_planes_are_one_row_largest_first(void **state)
{
  (void)state;
  xp_wire_writer space = two_planes();
  sums s = sums_of(written(&space), NULL, NULL, NULL, 2);
  assert_int_equal(s.count, 4);
  assert_row(&s.rows[0], "a", 3, 112, 5, 100);
  assert_row(&s.rows[1], "b", 1, 12, 12, 12);
  assert_row(&s.rows[2], "", 1, 1, 1, 1);
  assert_row(&s.rows[3], "c", 1, 0, 0, 0); /* a negative duration counts as 0 */
  free_sums(&s);
  xp_wire_writer_free(&space);
}

static bool is_called(void *context, const xp_line *line)
{
  return xp_str_is(line->name, context);
}

static void only_wanted_lines_are_summed(void **state)
{
  (void)state;
  xp_wire_writer space = two_planes();
  char name[] = "second";
  sums s = sums_of(written(&space), NULL, is_called, name, 1);
  assert_int_equal(s.count, 2);
  assert_row(&s.rows[0], "a", 1, 7, 7, 7);
  free_sums(&s);
  xp_wire_writer_free(&space);
}

static void totals_saturate(void **state)
{
  (void)state;
  xp_wire_writer space = {0}, line = {0};
  put_event(&line, 0, 1, INT64_MAX);
  put_event(&line, 0, 2, INT64_MAX);
  put_plane(&space, "p", &line);
  sums s = sums_of(written(&space), NULL, NULL, NULL, 1);
  assert_int_equal(s.count, 1);
  assert_row(&s.rows[0], "", 2, INT64_MAX, INT64_MAX, INT64_MAX);
  free_sums(&s);
  xp_wire_writer_free(&space);
  xp_wire_writer_free(&line);
}

static void nothing_gives_no_rows(void **state)
{
  (void)state;
  sums s = sums_of(xp_str_from("\x0a\x00", 2), NULL, NULL, NULL, 2);
  assert_int_equal(s.count, 0);
  free_sums(&s);
}

/* The sum over the columns of all events of one name. */
static void assert_row_is_sum(const xp_capture *capture, const xp_name_total *row)
{
  uint64_t count = 0;
  int64_t total = 0;
  for (size_t i = 0; i < capture->hosts[0].plane_count; i++) {
    const xp_plane *plane = &capture->hosts[0].planes[i];
    for (size_t k = 0; k < plane->line_count; k++) {
      for (size_t e = 0; e < plane->lines[k].count; e++) {
        if (xp_str_eq(xp_event_name(&plane->lines[k], e), row->name)) {
          count++;
          total += xp_event_dur(&plane->lines[k], e);
        }
      }
    }
  }
  assert_true(row->count == count && row->total_ps == total);
}

static void sums_agree_with_the_columns_of_real_captures(void **state)
{
  (void)state;
  static const char *const paths[] = {CAPTURES "torch_lab_lazy.xplane.pb", CAPTURES "rocm_attention_1gpu.xplane.pb"};
  for (size_t p = 0; p < 2; p++) {
    sums s = sums_of(xp_str_from(NULL, 0), paths[p], NULL, NULL, 2);
    xp_capture *capture = load_path(paths[p]);
    uint64_t events = 0;
    for (size_t i = 0; i < s.count; i++) {
      events += s.rows[i].count;
      assert_row_is_sum(capture, &s.rows[i]);
    }
    assert_int_equal(events, capture->events);
    xp_capture_free(capture);
    free_sums(&s);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_names_of_all_planes_are_one_row_largest_first),
      cmocka_unit_test(only_wanted_lines_are_summed),
      cmocka_unit_test(totals_saturate),
      cmocka_unit_test(nothing_gives_no_rows),
      cmocka_unit_test(sums_agree_with_the_columns_of_real_captures),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
