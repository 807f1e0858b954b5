/* The capture model: names, columns, flags, stats. */
#include "testing.h"

static void columns_hold_what_the_file_says(void **state)
{
  (void)state;
  /* Numbers read off the file with another reader. */
  xp_capture *capture = load_path(SCENARIOS "s16_negative_offset.xplane.pb");
  const xp_host *host = &capture->hosts[0];
  assert_int_equal(host->plane_count, 4);
  assert_int_equal(capture->events, 18);
  assert_true(capture->has_session);
  assert_int_equal(capture->dur_ps, INT64_C(60000000000));
  const xp_plane *plane = &host->planes[2];
  assert_str(plane->name, "/host:CPU");
  const xp_line *line = &plane->lines[0];
  assert_str(line->name, "python");
  assert_int_equal(line->id, INT64_C(-1472503042444199177));
  assert_int_equal(line->timestamp_ns, 35000000);
  assert_int_equal(line->count, 9);
  assert_int_equal(line->start_ps[0], INT64_C(-2000000000));
  assert_int_equal(xp_event_dur(line, 0), INT64_C(14000000000));
  assert_str(xp_event_name(line, 0), "train_step");
  assert_int_equal(line->first_ps, INT64_C(-2000000000));
  xp_capture_free(capture);
}

static void an_offset_may_be_negative(void **state)
{
  (void)state;
  xp_wire_writer line = {0}, space = {0};
  xp_wire_put_varint(&line, 3, 10);
  put_event(&line, 0, -25000, 5);
  put_plane(&space, "p", &line);
  xp_capture *capture = load_bytes(written(&space));
  assert_int_equal(capture->hosts[0].planes[0].lines[0].start_ps[0], -15000);
  xp_capture_free(capture);
  xp_wire_writer_free(&line);
  xp_wire_writer_free(&space);
}

static void an_unknown_metadata_id_is_counted_and_has_no_name(void **state)
{
  (void)state;
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("p"), 0);
  int64_t known = xp_plane_writer_event(plane, xp_str_c("known"), xp_str_c(""));
  xp_plane_writer_line(plane, 1, xp_str_c("l"), 0);
  xp_plane_writer_add(plane, known, 1, 1);
  xp_plane_writer_add(plane, 77, 2, 1);
  xp_plane_writer_add(plane, INT64_MIN, 3, 1);
  xp_plane_writer_add(plane, 0, 4, 1);
  xp_wire_writer space = {0};
  assert_true(xp_plane_writer_finish(plane, &space));
  xp_capture *capture = load_bytes(written(&space));
  const xp_plane *p = &capture->hosts[0].planes[0];
  assert_int_equal(p->unnamed_events, 3);
  assert_str(xp_event_name(&p->lines[0], 0), "known");
  assert_str(xp_event_name(&p->lines[0], 1), "");
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

static void metadata_ids_may_be_any_number_and_the_last_entry_wins(void **state)
{
  (void)state;
  xp_wire_writer space = {0}, plane = {0}, line = {0};
  static const struct {
    uint64_t key;
    const char *name;
  } entries[] = {{UINT64_C(1) << 63, "far"}, {5, "old"}, {5, "new"}, {0, "zero"}};
  for (size_t i = 0; i < 4; i++) {
    xp_wire_writer entry = {0}, body = {0};
    xp_wire_put_bytes(&body, 2, xp_str_c(entries[i].name));
    xp_wire_put_varint(&entry, 1, entries[i].key);
    xp_wire_put_message(&entry, 2, &body);
    xp_wire_put_message(&plane, 4, &entry);
    xp_wire_writer_free(&entry);
    xp_wire_writer_free(&body);
  }
  put_event(&line, UINT64_C(1) << 63, 1, 1);
  put_event(&line, 5, 2, 1);
  put_event(&line, 0, 3, 1);
  xp_wire_put_message(&plane, 3, &line);
  xp_wire_put_message(&space, 1, &plane);
  xp_capture *capture = load_bytes(written(&space));
  const xp_line *l = &capture->hosts[0].planes[0].lines[0];
  assert_str(xp_event_name(l, 0), "far");
  assert_str(xp_event_name(l, 1), "new");
  assert_str(xp_event_name(l, 2), "zero");
  assert_int_equal(capture->hosts[0].planes[0].unnamed_events, 0);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
  xp_wire_writer_free(&plane);
  xp_wire_writer_free(&line);
}

/* ---- order */

static void events_are_sorted_by_start_then_longest_first_then_file_order(void **state)
{
  (void)state;
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("p"), 0);
  static const struct {
    const char *name;
    int64_t start, dur;
  } events[] = {{"late", 50, 1}, {"short", 10, 1}, {"first twin", 10, 5}, {"early", -3, 2}, {"second twin", 10, 5}};
  int64_t number = xp_plane_writer_stat(plane, xp_str_c("number"));
  xp_plane_writer_line(plane, 1, xp_str_c("l"), 0);
  for (size_t i = 0; i < 5; i++) {
    int64_t id = xp_plane_writer_event(plane, xp_str_c(events[i].name), xp_str_c(""));
    xp_plane_writer_add(plane, id, events[i].start, events[i].dur);
    xp_plane_writer_uint(plane, number, i);
  }
  xp_wire_writer space = {0};
  assert_true(xp_plane_writer_finish(plane, &space));
  xp_capture *capture = load_bytes(written(&space));
  const xp_line *line = &capture->hosts[0].planes[0].lines[0];
  static const struct {
    const char *name;
    uint64_t number;
  } want[] = {{"early", 3}, {"first twin", 2}, {"second twin", 4}, {"short", 1}, {"late", 0}};
  assert_false(line->sorted_in_file);
  xp_event_cursor cursor = xp_event_cursor_open(line);
  for (size_t i = 0; i < 5; i++) {
    xp_stat stat;
    xp_stats stats = xp_event_stats(&cursor, i);
    assert_str(xp_event_name(line, i), want[i].name);
    assert_true(xp_stats_next(&stats, &stat) && stat.bits == want[i].number);
  }
  assert_int_equal(line->first_ps, -3);
  assert_int_equal(line->last_ps, 51);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

/* Event i of a line of this many, in the order that it has in time. */
static int64_t start_of(size_t i)
{
  return (int64_t)i * 1000 + 7;
}

/* A line of `count` events, of which every 16th has a stat; in reverse if asked.  Long enough to be cut into pieces. */
static xp_wire_writer long_line(size_t count, bool reversed)
{
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("p"), 0);
  int64_t number = xp_plane_writer_stat(plane, xp_str_c("number"));
  int64_t id = xp_plane_writer_event(plane, xp_str_c("e"), xp_str_c(""));
  xp_plane_writer_line(plane, 1, xp_str_c("l"), 0);
  for (size_t k = 0; k < count; k++) {
    size_t i = reversed ? count - 1 - k : k;
    xp_plane_writer_add(plane, id, start_of(i), i % 1000 == 0 ? INT64_C(1) << 40 : (int64_t)(i % 300));
    if (i % 16 == 0) {
      xp_plane_writer_uint(plane, number, i);
      xp_plane_writer_text(plane, number, xp_str_c("\"\x08\x01\x10\x02\"\x08\x01\x10\x02")); /* looks like events */
    }
  }
  xp_wire_writer space = {0};
  assert_true(xp_plane_writer_finish(plane, &space));
  return space;
}

static void check_long_line(const xp_line *line, size_t count)
{
  assert_int_equal(line->count, count);
  xp_event_cursor cursor = xp_event_cursor_open(line);
  for (size_t i = 0; i < count; i++) {
    if (line->start_ps[i] != start_of(i) ||
        xp_event_dur(line, i) != (i % 1000 == 0 ? INT64_C(1) << 40 : (int64_t)(i % 300))) {
      fail_msg("event %zu is wrong", i);
    }
    if (i % 16 == 0) {
      xp_stats stats = xp_event_stats(&cursor, i);
      xp_stat stat;
      assert_true(line->meta[i] & XP_EVENT_HAS_STATS);
      assert_true(xp_stats_next(&stats, &stat) && stat.bits == i);
    }
  }
}

static void a_long_line_is_the_same_on_any_number_of_threads(void **state)
{
  (void)state;
  enum { COUNT = 200000 };
  for (int reversed = 0; reversed < 2; reversed++) {
    xp_wire_writer space = long_line(COUNT, reversed);
    for (int threads = 1; threads <= 4; threads++) {
      const xp_load_options options = {.threads = threads};
      xp_capture *capture;
      xp_error err;
      assert_int_equal(xp_capture_load_memory(written(&space), "x", &options, &capture, &err), XP_OK);
      const xp_line *line = &capture->hosts[0].planes[0].lines[0];
      assert_int_equal(line->sorted_in_file, !reversed);
      check_long_line(line, COUNT);
      xp_capture_free(capture);
    }
    xp_wire_writer_free(&space);
  }
}

static void records_are_found_in_any_order(void **state)
{
  (void)state;
  xp_wire_writer space = long_line(1000, false);
  xp_capture *capture = load_bytes(written(&space));
  const xp_line *line = &capture->hosts[0].planes[0].lines[0];
  xp_event_cursor cursor = xp_event_cursor_open(line);
  for (size_t k = 0; k < 1000; k++) {
    size_t i = k * 617 % 1000;
    xp_wire_reader r = xp_wire_open(xp_event_record(&cursor, i));
    xp_wire_field f;
    assert_true(xp_wire_next(&r, &f) && xp_wire_next(&r, &f));
    assert_int_equal(f.value, start_of(i));
  }
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

static void fields_of_a_line_may_follow_its_events(void **state)
{
  (void)state;
  xp_wire_writer line = {0}, space = {0};
  put_event(&line, 0, 1, 1);
  xp_wire_put_varint(&line, 1, 42);
  put_event(&line, 0, 2, 1);
  xp_wire_put_bytes(&line, 11, xp_str_c("shown"));
  xp_wire_put_bytes(&line, 2, xp_str_c("name"));
  xp_wire_put_varint(&line, 3, 1);
  put_plane(&space, "p", &line);
  xp_capture *capture = load_bytes(written(&space));
  const xp_line *l = &capture->hosts[0].planes[0].lines[0];
  assert_int_equal(l->id, 42);
  assert_str(l->name, "name");
  assert_str(l->display_name, "shown");
  assert_int_equal(l->start_ps[1], 1002);
  xp_event_cursor cursor = xp_event_cursor_open(l);
  assert_int_equal(xp_event_record(&cursor, 1).len, 6);
  xp_capture_free(capture);
  xp_wire_writer_free(&line);
  xp_wire_writer_free(&space);
}

static void line_ids_and_plane_names_may_repeat(void **state)
{
  (void)state;
  xp_capture *capture = load_path(SCENARIOS "s17_duplicate_line_ids_and_planes.xplane.pb");
  const xp_host *host = &capture->hosts[0];
  size_t same_names = 0, same_ids = 0;
  for (size_t i = 0; i < host->plane_count; i++) {
    assert_int_equal(host->planes[i].index, i);
    for (size_t k = i + 1; k < host->plane_count; k++) {
      same_names += xp_str_eq(host->planes[i].name, host->planes[k].name);
    }
    for (size_t k = 1; k < host->planes[i].line_count; k++) {
      same_ids += host->planes[i].lines[k].id == host->planes[i].lines[k - 1].id;
      assert_ptr_equal(host->planes[i].lines[k].plane, &host->planes[i]);
    }
  }
  assert_true(same_names > 0 && same_ids > 0);
  xp_capture_free(capture);
}

/* ---- flags */

static uint32_t flags_with(const char *name, const char *key, int64_t value)
{
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("p"), 0);
  int64_t id = xp_plane_writer_event(plane, xp_str_c(name), xp_str_c(""));
  xp_plane_writer_line(plane, 1, xp_str_c("l"), 0);
  xp_plane_writer_add(plane, id, 1, 1);
  if (key != NULL) {
    xp_plane_writer_int(plane, xp_plane_writer_stat(plane, xp_str_c(key)), value);
  }
  xp_wire_writer space = {0};
  assert_true(xp_plane_writer_finish(plane, &space));
  xp_capture *capture = load_bytes(written(&space));
  const xp_line *line = &capture->hosts[0].planes[0].lines[0];
  uint32_t flags = line->meta[0] & ~(uint32_t)XP_EVENT_META_MASK;
  assert_int_equal(line->flags, flags);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
  return flags;
}

static void flags_tell_which_stats_an_event_has(void **state)
{
  (void)state;
  assert_int_equal(flags_with("e", NULL, 0), 0);
  assert_int_equal(flags_with("e", "flops", 1), XP_EVENT_HAS_STATS);
  assert_int_equal(flags_with("e", "hlo_op", 1), XP_EVENT_HAS_STATS | XP_EVENT_HLO_OP);
  assert_int_equal(flags_with("e", "step_num", 0), XP_EVENT_HAS_STATS | XP_EVENT_STEP);
  assert_int_equal(flags_with("e", "run_id", 0), XP_EVENT_HAS_STATS | XP_EVENT_LINK);
  assert_int_equal(flags_with("e", "correlation_id", 3), XP_EVENT_HAS_STATS | XP_EVENT_LINK);
  assert_int_equal(flags_with("e", "_p", 3), XP_EVENT_HAS_STATS | XP_EVENT_FLOW);
  assert_int_equal(flags_with("e", "_c", -3), XP_EVENT_HAS_STATS | XP_EVENT_FLOW);
}

static void a_root_level_of_zero_is_no_step(void **state)
{
  (void)state;
  assert_int_equal(flags_with("e", "_r", 1), XP_EVENT_HAS_STATS | XP_EVENT_STEP);
  assert_int_equal(flags_with("e", "_r", 0), XP_EVENT_HAS_STATS);
  assert_int_equal(flags_with("e#_r=0#", NULL, 0), 0);
}

static void pairs_in_a_name_set_flags_and_read_as_stats(void **state)
{
  (void)state;
  assert_int_equal(flags_with("train#_r=1,step_num=3#", NULL, 0), XP_EVENT_STEP);
  assert_int_equal(flags_with("x#_pt=5,_p=1#", NULL, 0), XP_EVENT_FLOW);
  assert_int_equal(flags_with("x#run_id=1#", NULL, 0), XP_EVENT_LINK);
  assert_int_equal(flags_with("x#hlo_op=dot.1#", NULL, 0), XP_EVENT_HLO_OP);
  assert_int_equal(flags_with("train#_r=1,step_num=3", NULL, 0), 0); /* no '#' at the end: a plain name */
}

/* ---- stats */

/* Events behind the ones that are looked at: the last records of a file are read with more care. */
static void numbers_of_any_size_set_flags_and_are_picked(void **state)
{
  (void)state;
  static const int64_t values[] = {0,         127, 128,        INT64_C(1) << 48, INT64_C(1) << 56,
                                   INT64_MAX, -1,  -811193179, INT64_MIN};
  enum { COUNT = sizeof values / sizeof *values, BEHIND = 8 };
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("p"), 0);
  int64_t id = xp_plane_writer_event(plane, xp_str_c("e"), xp_str_c(""));
  int64_t run = xp_plane_writer_stat(plane, xp_str_c("run_id")), flops = xp_plane_writer_stat(plane, xp_str_c("flops"));
  xp_plane_writer_line(plane, 1, xp_str_c("l"), 0);
  for (int64_t i = 0; i < COUNT + BEHIND; i++) {
    xp_plane_writer_add(plane, id, i + 1, 1);
    xp_plane_writer_int(plane, flops, values[i % COUNT]);
    xp_plane_writer_int(plane, run, values[i % COUNT]);
  }
  xp_wire_writer space = {0};
  assert_true(xp_plane_writer_finish(plane, &space));
  xp_capture *capture = load_bytes(written(&space));
  const xp_line *line = &capture->hosts[0].planes[0].lines[0];
  xp_event_cursor cursor = xp_event_cursor_open(line);
  static const xp_stat_picker picker = {.slot = {[XP_KEY_RUN_ID] = 1}};
  for (size_t i = 0; i < COUNT; i++) {
    assert_int_equal(line->meta[i] & ~(uint32_t)XP_EVENT_META_MASK, XP_EVENT_HAS_STATS | XP_EVENT_LINK);
    xp_stat stat;
    xp_stats_pick(&cursor, i, &picker, &stat, 1);
    assert_int_equal(stat.type, XP_STAT_INT64);
    assert_int_equal(stat.bits, (uint64_t)values[i]);
  }
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

static void assert_args(const char *name, const char *want_name, const char *const *want)
{
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("p"), 0);
  xp_plane_writer_line(plane, 1, xp_str_c("l"), 0);
  xp_plane_writer_add(plane, xp_plane_writer_event(plane, xp_str_c(name), xp_str_c("")), 0, 1);
  xp_wire_writer space = {0};
  assert_true(xp_plane_writer_finish(plane, &space));
  xp_capture *capture = load_bytes(written(&space));
  const xp_line *line = &capture->hosts[0].planes[0].lines[0];
  assert_str(xp_event_name(line, 0), want_name);
  xp_event_cursor cursor = xp_event_cursor_open(line);
  xp_stats stats = xp_event_stats(&cursor, 0);
  for (; *want != NULL; want += 2) {
    xp_stat stat;
    assert_true(xp_stats_next(&stats, &stat));
    assert_str(stat.name, want[0]);
    char text[40];
    if (stat.type == XP_STAT_STRING) {
      assert_str(stat.text, want[1]);
    } else if (stat.type == XP_STAT_DOUBLE) {
      snprintf(text, sizeof text, "d%g", stat.real);
      assert_string_equal(text, want[1]);
    } else {
      snprintf(text, sizeof text, stat.type == XP_STAT_INT64 ? "i%lld" : "u%llu", (long long)stat.bits);
      assert_string_equal(text, want[1]);
    }
  }
  xp_stat stat;
  assert_false(xp_stats_next(&stats, &stat));
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

static void names_are_split_by_the_rules_of_the_tracer(void **state)
{
  (void)state;
  assert_args(" a b #k=v#", "a b", (const char *const[]){"k", "v", NULL});
  assert_args("a#k=v#later=1#", "a", (const char *const[]){"k", "v", NULL});
  assert_args("a#", "a", (const char *const[]){NULL});
  assert_args("#", "", (const char *const[]){NULL});
  assert_args("a#b", "a#b", (const char *const[]){NULL});
  assert_args("a# k = v , =x, y=, z, q=1=2#", "a", (const char *const[]){"k", "v", "q", "1=2", NULL});
}

static void commas_inside_of_brackets_and_quotes_do_not_split(void **state)
{
  (void)state;
  assert_args("a#s=f32[2,3]{1,0},t=(1,2),u='x,y',v=\"p,q\"#", "a",
              (const char *const[]){"s", "f32[2,3]{1,0}", "t", "(1,2)", "u", "'x,y'", "v", "\"p,q\"", NULL});
  assert_args("a#s=1],t=2#", "a", (const char *const[]){"s", "1]", "t", "i2", NULL}); /* an unmatched closer is text */
}

static void values_take_the_first_type_that_fits(void **state)
{
  (void)state;
  assert_args("a#i=-5,u=18446744073709551615,d=2.5,e=1e3,s=0x10,big=18446744073709551616#", "a",
              (const char *const[]){"i", "i-5", "u", "u18446744073709551615", "d", "d2.5", "e", "d1000", "s", "0x10",
                                    "big", "d1.84467e+19", NULL});
}

static void the_stat_of_an_event_wins_over_its_name_and_its_metadata(void **state)
{
  (void)state;
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("p"), 0);
  int64_t run = xp_plane_writer_stat(plane, xp_str_c("run_id"));
  int64_t id = xp_plane_writer_event(plane, xp_str_c("a#run_id=2#"), xp_str_c(""));
  xp_plane_writer_meta_uint(plane, id, run, 3);
  xp_plane_writer_line(plane, 1, xp_str_c("l"), 0);
  xp_plane_writer_add(plane, id, 0, 1);
  xp_plane_writer_add(plane, id, 1, 1);
  xp_plane_writer_uint(plane, run, 1);
  xp_plane_writer_uint(plane, run, 9);
  xp_wire_writer space = {0};
  assert_true(xp_plane_writer_finish(plane, &space));
  xp_capture *capture = load_bytes(written(&space));
  xp_event_cursor cursor = xp_event_cursor_open(&capture->hosts[0].planes[0].lines[0]);
  xp_stat stat;
  assert_true(xp_stats_find(xp_event_stats(&cursor, 0), XP_KEY_RUN_ID, &stat));
  assert_int_equal(xp_stat_int(&stat, -1), 2);
  assert_true(xp_stats_find(xp_event_stats(&cursor, 1), XP_KEY_RUN_ID, &stat));
  assert_int_equal(xp_stat_int(&stat, -1), 1);
  assert_false(xp_stats_find(xp_event_stats(&cursor, 1), XP_KEY_STEP_NUM, &stat));
  assert_int_equal(stat.type, XP_STAT_NONE);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

static void a_number_is_read_from_any_type(void **state)
{
  (void)state;
  const xp_stat of_text = {.type = XP_STAT_STRING, .text = xp_str_c("-12")};
  const xp_stat of_word = {.type = XP_STAT_STRING, .text = xp_str_c("x")};
  const xp_stat of_real = {.type = XP_STAT_DOUBLE, .real = 7.9};
  const xp_stat of_huge = {.type = XP_STAT_DOUBLE, .real = 1e300};
  const xp_stat none = {.type = XP_STAT_NONE};
  assert_int_equal(xp_stat_int(&of_text, 1), -12);
  assert_int_equal(xp_stat_int(&of_word, 1), 1);
  assert_int_equal(xp_stat_int(&of_real, 1), 7);
  assert_int_equal(xp_stat_int(&of_huge, 1), 1);
  assert_int_equal(xp_stat_int(&none, 1), 1);
  assert_int_equal(xp_stat_text(&of_real).len, 0);
}

static void the_misspelt_name_of_hlo_protos_is_known(void **state)
{
  (void)state;
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("p"), 0);
  xp_plane_writer_text(plane, xp_plane_writer_stat(plane, xp_str_c("HLO Proto")), xp_str_c("x"));
  xp_wire_writer space = {0};
  assert_true(xp_plane_writer_finish(plane, &space));
  xp_capture *capture = load_bytes(written(&space));
  xp_stat stat;
  assert_true(xp_stats_find(xp_plane_stats(&capture->hosts[0].planes[0]), XP_KEY_HLO_PROTO, &stat));
  assert_string_equal(xp_key_name(XP_KEY_HLO_PROTO), "Hlo Proto");
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

static void without_columns_counts_and_records_are_there(void **state)
{
  (void)state;
  xp_wire_writer space = long_line(300, false);
  const xp_load_options options = {.no_events = true};
  xp_capture *capture;
  xp_error err;
  assert_int_equal(xp_capture_load_memory(written(&space), "x", &options, &capture, &err), XP_OK);
  const xp_line *line = &capture->hosts[0].planes[0].lines[0];
  assert_int_equal(capture->events, 300);
  assert_int_equal(line->count, 300);
  assert_null(line->start_ps);
  xp_event_cursor cursor = xp_event_cursor_open(line);
  xp_stats stats = xp_event_stats(&cursor, 160);
  xp_stat stat;
  assert_true(xp_stats_next(&stats, &stat) && stat.bits == 160);
  stats = xp_event_stats(&cursor, 16);
  assert_true(xp_stats_next(&stats, &stat) && stat.bits == 16);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

static void count_reports(void *context, const char *what, uint64_t done, uint64_t total)
{
  assert_string_equal(what, "reading");
  assert_true(done <= total);
  ++*(int *)context;
}

static void progress_is_told_while_reading(void **state)
{
  (void)state;
  xp_wire_writer space = long_line(200000, false);
  int reports = 0;
  const xp_progress progress = {count_reports, &reports};
  const xp_load_options options = {.threads = 1, .progress = &progress};
  xp_capture *capture;
  xp_error err;
  assert_int_equal(xp_capture_load_memory(written(&space), "x", &options, &capture, &err), XP_OK);
  assert_in_range(reports, 2, 300);
  xp_capture_free(capture);
  xp_wire_writer_free(&space);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(columns_hold_what_the_file_says),
      cmocka_unit_test(an_offset_may_be_negative),
      cmocka_unit_test(an_unknown_metadata_id_is_counted_and_has_no_name),
      cmocka_unit_test(metadata_ids_may_be_any_number_and_the_last_entry_wins),
      cmocka_unit_test(events_are_sorted_by_start_then_longest_first_then_file_order),
      cmocka_unit_test(a_long_line_is_the_same_on_any_number_of_threads),
      cmocka_unit_test(records_are_found_in_any_order),
      cmocka_unit_test(fields_of_a_line_may_follow_its_events),
      cmocka_unit_test(line_ids_and_plane_names_may_repeat),
      cmocka_unit_test(flags_tell_which_stats_an_event_has),
      cmocka_unit_test(a_root_level_of_zero_is_no_step),
      cmocka_unit_test(pairs_in_a_name_set_flags_and_read_as_stats),
      cmocka_unit_test(numbers_of_any_size_set_flags_and_are_picked),
      cmocka_unit_test(names_are_split_by_the_rules_of_the_tracer),
      cmocka_unit_test(commas_inside_of_brackets_and_quotes_do_not_split),
      cmocka_unit_test(values_take_the_first_type_that_fits),
      cmocka_unit_test(the_stat_of_an_event_wins_over_its_name_and_its_metadata),
      cmocka_unit_test(a_number_is_read_from_any_type),
      cmocka_unit_test(the_misspelt_name_of_hlo_protos_is_known),
      cmocka_unit_test(without_columns_counts_and_records_are_there),
      cmocka_unit_test(progress_is_told_while_reading),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
