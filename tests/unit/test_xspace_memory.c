/* Loading, writing and asking with every allocation failing once. */
#include "failing.h"

#include <zlib.h>

#include "xspace/aggregate.h"
#include "xspace/find.h"
#include "xspace/hlo_names.h"

/* Number of mappings of this process, to see that none is left. */
static int mappings(void)
{
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  int lines = 0;
  for (int c; (c = fgetc(maps)) != EOF;) {
    lines += c == '\n';
  }
  fclose(maps);
  return lines;
}

static xp_status load_all(const char *path)
{
  const xp_load_options options = {.threads = 2};
  xp_capture *capture;
  xp_error err;
  xp_status status = xp_capture_load(path, &options, &capture, &err);
  if (status == XP_OK) {
    touch_capture(capture);
    for (size_t i = 0; i < capture->host_count; i++) {
      status = capture->hosts[i].status == XP_FILE_UNREADABLE ? XP_ERR_MEMORY : status; /* a host could not be mapped */
    }
    xp_capture_free(capture);
  } else {
    assert_null(capture);
    assert_true(err.text[0] != '\0');
  }
  return status;
}

static void loading_survives_any_failing_allocation(void **state)
{
  (void)state;
  fail_each(load_all, SCENARIOS "s03_sdxl_item_nonzero.xplane.pb");
  fail_each(load_all, SCENARIOS "s26_two_hosts");
}

static char packed_path[] = "/tmp/xp_test_memory_XXXXXX";

static void loading_a_packed_file_survives_any_failing_allocation(void **state)
{
  (void)state;
  int fd = mkstemp(packed_path);
  assert_true(fd >= 0);
  close(fd);
  xp_str whole = read_file(CAPTURES "jax_multi.xplane.pb");
  gzFile gz = gzopen(packed_path, "wb");
  assert_int_equal(gzwrite(gz, whole.ptr, (unsigned)whole.len), whole.len);
  gzclose(gz);
  free((void *)(uintptr_t)whole.ptr);
  fail_each(load_all, packed_path);
  unlink(packed_path);
}

static xp_status write_and_load_unsorted(const char *name)
{
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c(name), 0);
  xp_wire_writer space = {0};
  if (plane == NULL) {
    return XP_ERR_MEMORY;
  }
  int64_t id = xp_plane_writer_event(plane, xp_str_c("e"), xp_str_c("shown"));
  int64_t stat = xp_plane_writer_stat(plane, xp_str_c("s"));
  xp_plane_writer_meta_uint(plane, id, stat, 1);
  xp_plane_writer_line(plane, 0, xp_str_c("l"), 0);
  for (int64_t i = 0; i < 5000; i++) {
    xp_plane_writer_add(plane, id, 5000 - i, INT64_C(1) << 40);
    xp_plane_writer_ref(plane, stat, xp_str_c("value"));
  }
  xp_status status = xp_plane_writer_finish(plane, &space) ? XP_OK : XP_ERR_MEMORY;
  if (status == XP_OK) {
    xp_capture *capture;
    xp_error err;
    status = xp_capture_load_memory(written(&space), "x", NULL, &capture, &err);
    if (status == XP_OK) {
      assert_int_equal(capture->hosts[0].planes[0].lines[0].start_ps[0], 1);
    }
    xp_capture_free(capture);
  }
  xp_wire_writer_free(&space);
  return status;
}

static void writing_and_sorting_survive_any_failing_allocation(void **state)
{
  (void)state;
  fail_each(write_and_load_unsorted, "p");
}

typedef struct {
  const xp_capture *capture;
  xp_arena *arena;
  xp_status status;
} questions;

static void ask(void *context)
{
  questions *q = context;
  xp_name_total *rows;
  size_t count;
  xp_aggregate_by_name(q->capture, NULL, NULL, 2, q->arena, &rows, &count);
  assert_true(count > 0);
  xp_hlo_names *names = xp_hlo_names_open(&q->capture->hosts[0], q->arena);
  for (size_t i = 0; i < xp_hlo_program_count(names); i++) {
    touch_bytes(xp_hlo_program_at(names, i)->module);
  }
  xp_run_list list;
  xp_error err;
  q->status = xp_find_runs("tests/data", q->arena, &list, &err);
}

static const xp_capture *asked;

static xp_status ask_all(const char *unused)
{
  (void)unused;
  questions q = {asked, xp_arena_create(), XP_ERR_MEMORY};
  int live_before = atomic_load(&live);
  if (q.arena != NULL) {
    bool had_memory = xp_arena_guard(q.arena, ask, &q);
    q.status = had_memory ? q.status : XP_ERR_MEMORY;
    assert_true(atomic_load(&live) <= live_before + 1); /* but for the first block of the arena itself */
  }
  xp_arena_destroy(q.arena);
  return q.status;
}

static void questions_survive_any_failing_allocation(void **state)
{
  (void)state;
  xp_capture *capture = load_path(CAPTURES "torch_lab_lazy.xplane.pb");
  asked = capture;
  int held = atomic_exchange(&live, 0);
  fail_each(ask_all, NULL);
  atomic_store(&live, held);
  xp_capture_free(capture);
  assert_int_equal(atomic_load(&live), 0);
}

static void no_mapping_is_left_behind(void **state)
{
  (void)state;
  load_all(SCENARIOS "s03_sdxl_item_nonzero.xplane.pb");
  int before = mappings();
  fail_each(load_all, SCENARIOS "s03_sdxl_item_nonzero.xplane.pb");
  assert_in_range(mappings(), 1, before + 4); /* the C library may keep a stack of a thread */
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(loading_survives_any_failing_allocation),
      cmocka_unit_test(loading_a_packed_file_survives_any_failing_allocation),
      cmocka_unit_test(writing_and_sorting_survive_any_failing_allocation),
      cmocka_unit_test(questions_survive_any_failing_allocation),
      cmocka_unit_test(no_mapping_is_left_behind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
