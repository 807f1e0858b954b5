/* The programs of a process, and their plane in a capture. */
#include <sys/wait.h>
#include <unistd.h>

#include "ropes.h"
#include "session/programs.h"
#include "xlaprof/session.h"

static void add(const char *module, uint64_t id, const char *proto)
{
  assert_int_equal(xp_session_add_program(module, id, proto, strlen(proto), NULL), XP_OK);
}

typedef struct {
  xp_program_list list;
  xp_arena *arena;
  xp_rope space;
  xp_str bytes;
  xp_capture *capture;
  const xp_plane *plane;
} taken;

static taken take(void)
{
  taken t = {.arena = xp_arena_create()};
  assert_true(xp_programs_take(&t.list));
  xp_rope_init(&t.space, t.arena);
  const xp_plane_frame frame = {1000, 77};
  xp_programs_append(&t.space, &t.list, &frame);
  t.capture = load_rope(&t.space, &t.bytes);
  t.plane = plane_of(t.capture, "/host:metadata");
  return t;
}

static void end(taken *t)
{
  xp_capture_free(t->capture);
  free((void *)(uintptr_t)t->bytes.ptr);
  xp_program_list_free(&t->list);
  xp_arena_destroy(t->arena);
}

/* Names of the programs, in order. */
static void assert_programs(const taken *t, const char *want)
{
  char text[256] = "";
  for (size_t i = 1; i < t->plane->event_meta_count; i++) {
    snprintf(text + strlen(text), sizeof text - strlen(text), "%.*s ", XP_STR_ARG(t->plane->event_meta[i].name));
  }
  assert_string_equal(text, want);
  assert_int_equal(t->list.count, t->plane->event_meta_count - 1);
}

static void drop_all(void)
{
  for (uint64_t id = 0; id < 10; id++) {
    xp_session_drop_program(id);
  }
  xp_session_drop_program(UINT64_MAX);
}

static void a_program_has_its_proto_and_its_number(void **state)
{
  (void)state;
  add("jit_step", UINT64_MAX, "proto of step");
  taken t = take();
  assert_programs(&t, "jit_step(18446744073709551615) ");
  const xp_event_meta *meta = &t.plane->event_meta[1];
  assert_str(meta->display_name, "jit_step(18446744073709551615)");
  xp_stat proto = stat_of(xp_meta_stats(t.plane, meta), "Hlo Proto");
  assert_int_equal(proto.type, XP_STAT_BYTES);
  assert_str(proto.text, "proto of step");
  xp_stat id = stat_of(xp_meta_stats(t.plane, meta), "program_id");
  assert_int_equal(id.type, XP_STAT_UINT64);
  assert_true(id.bits == UINT64_MAX);
  assert_int_equal(stat_of(xp_plane_stats(t.plane), "process_id").bits, 77);
  assert_int_equal(t.plane->line_count, 0);
  end(&t);
  drop_all();
}

static void programs_stand_in_the_order_in_which_they_came(void **state)
{
  (void)state;
  add("b", 2, "x");
  add("a", 1, "y");
  add("c", 0, "z");
  taken t = take();
  assert_programs(&t, "b(2) a(1) c(0) ");
  end(&t);
  drop_all();
}

static void programs_dropped_during_a_session_belong_to_it_and_not_to_the_next(void **state)
{
  (void)state;
  add("a", 1, "x");
  add("b", 2, "y");
  xp_programs_keep_dropped();
  xp_session_drop_program(1);
  add("c", 3, "z");
  xp_session_drop_program(3);
  taken first = take(), second = take();
  assert_programs(&first, "a(1) b(2) c(3) ");
  assert_programs(&second, "b(2) ");
  end(&first);
  end(&second);
  drop_all();
}

static void programs_dropped_before_a_session_are_not_in_it(void **state)
{
  (void)state;
  add("a", 1, "x");
  add("b", 2, "y");
  xp_session_drop_program(1);
  xp_session_drop_program(7); /* there is none */
  xp_programs_keep_dropped();
  taken t = take();
  assert_programs(&t, "b(2) ");
  end(&t);
  drop_all();
}

static void a_proto_lives_as_long_as_a_list_holds_it(void **state)
{
  (void)state;
  add("a", 1, "proto");
  xp_program_list list;
  assert_true(xp_programs_take(&list));
  xp_session_drop_program(1);
  xp_arena *arena = xp_arena_create();
  xp_rope space;
  const xp_plane_frame frame = {0, 1};
  xp_rope_init(&space, arena);
  xp_programs_append(&space, &list, &frame);
  xp_str bytes = read_rope(&space, 100);
  assert_str_contains(bytes, "proto");
  free((void *)(uintptr_t)bytes.ptr);
  xp_arena_destroy(arena);
  xp_program_list_free(&list);
  xp_program_list_free(&list); /* empty now */
}

static void a_large_proto_is_not_copied_into_the_capture(void **state)
{
  (void)state;
  enum { LARGE = 3 << 20 };
  char *proto = malloc(LARGE);
  memset(proto, 'p', LARGE);
  assert_int_equal(xp_session_add_program("m", 1, proto, LARGE, NULL), XP_OK);
  memset(proto, 'q', LARGE); /* but it was copied when it came */
  free(proto);
  taken t = take();
  assert_true(xp_arena_bytes(t.arena) < LARGE / 2);
  xp_stat stat = stat_of(xp_meta_stats(t.plane, &t.plane->event_meta[1]), "Hlo Proto");
  assert_int_equal(stat.text.len, LARGE);
  assert_int_equal(stat.text.ptr[0], 'p');
  assert_int_equal(stat.text.ptr[LARGE - 1], 'p');
  end(&t);
  drop_all();
}

static void an_empty_proto_and_any_name_are_taken(void **state)
{
  (void)state;
  assert_int_equal(xp_session_add_program("m\xff", 4, NULL, 0, NULL), XP_OK);
  assert_int_equal(xp_session_add_program("", 5, NULL, 0, NULL), XP_OK);
  taken t = take();
  assert_programs(&t, "m\xef\xbf\xbd(4) (5) ");
  assert_int_equal(stat_of(xp_meta_stats(t.plane, &t.plane->event_meta[1]), "Hlo Proto").text.len, 0);
  end(&t);
  drop_all();
}

static void missing_arguments_are_refused(void **state)
{
  (void)state;
  xp_error err;
  assert_int_equal(xp_session_add_program(NULL, 1, "x", 1, &err), XP_ERR_USAGE);
  assert_int_equal(xp_session_add_program("m", 1, NULL, 1, &err), XP_ERR_USAGE);
  assert_contains(err.text, "HLO proto");
}

static void a_child_has_the_programs_but_not_those_kept_for_its_parent(void **state)
{
  (void)state;
  add("a", 1, "x");
  add("b", 2, "y");
  xp_programs_keep_dropped();
  xp_session_drop_program(1);
  pid_t child = fork();
  if (child == 0) {
    xp_program_list list;
    bool is_right = xp_programs_take(&list) && list.count == 1;
    xp_program_list_free(&list);
    _exit(is_right ? 0 : 1);
  }
  int status;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  taken t = take();
  assert_programs(&t, "a(1) b(2) ");
  end(&t);
  drop_all();
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_program_has_its_proto_and_its_number),
      cmocka_unit_test(programs_stand_in_the_order_in_which_they_came),
      cmocka_unit_test(programs_dropped_during_a_session_belong_to_it_and_not_to_the_next),
      cmocka_unit_test(programs_dropped_before_a_session_are_not_in_it),
      cmocka_unit_test(a_proto_lives_as_long_as_a_list_holds_it),
      cmocka_unit_test(a_large_proto_is_not_copied_into_the_capture),
      cmocka_unit_test(an_empty_proto_and_any_name_are_taken),
      cmocka_unit_test(missing_arguments_are_refused),
      cmocka_unit_test(a_child_has_the_programs_but_not_those_kept_for_its_parent),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
