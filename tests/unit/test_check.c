/* The two checks of a capture, on captures of a few events. */
#include "readings.h"

#include "analyze/check.h"

/* Ops of a TPU, each with an op name, one after the other: 10 us long, 10 us apart, from 100 us on. */
static void named_ops(story *s, const char *const *op_names, size_t count)
{
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  for (size_t i = 0; i < count; i++) {
    event(s, WORDS(s, "%%op.%zu = f32[] add()", i), 100 + 20 * (int64_t)i, 110 + 20 * (int64_t)i);
    with_text(s, "tf_op", op_names[i]);
  }
}

#define NAMED_OPS(s, ...) named_ops(s, (const char *const[]){__VA_ARGS__}, COUNT(((const char *const[]){__VA_ARGS__})))

/* Makes the program one of torch_xla. */
static void lazy_module(story *s)
{
  plane(s, "/device:TPU:0");
  line(s, "XLA Modules");
  event(s, "SyncTensorsGraph.7(3)", 100, 400);
}

static void user_scope(story *s, const char *name, int64_t from_us, int64_t to_us)
{
  event(s, name, from_us, to_us);
}

static const xp_check *checked_with(story *s, const xp_check_options *options)
{
  xp_check *check = xp_arena_alloc(s->arena, sizeof *check);
  xp_error err;
  read_with(s, NULL);
  assert_int_equal(xp_check_reading(s->reading, options, s->arena, check, &err), XP_OK);
  return check;
}

static const xp_check *checked(story *s, const char *step, const char *scopes)
{
  const xp_check_options options = {.step = xp_str_c(step), .scopes = xp_str_c(scopes), .floor_percent = 2};
  return checked_with(s, &options);
}

/* "fwd 2, opt 0 required": the scopes, with the instructions that carry them. */
static const char *scopes_of(story *s, const xp_check *check)
{
  const char *words = "";
  for (size_t i = 0; i < check->names.scope_count; i++) {
    const xp_checked_name *name = &check->names.scopes[i];
    words = WORDS(s, "%s%s%.*s %zu%s", words, i ? ", " : "", XP_STR_ARG(name->name), name->instructions,
                  name->is_required ? " required" : "");
  }
  return words;
}

/* ---- names */

static void a_step_whose_name_is_on_an_instruction_passes(void **state)
{
  story *s = *state;
  NAMED_OPS(s, "train/fwd/aten__mm:", "aten__add:");
  thread(s, "python");
  step(s, "train", 1, 0, 900);
  const xp_check *check = checked(s, "train", "");
  assert_true(check->names.ok);
  assert_int_equal(check->names.instructions, 2);
  assert_int_equal(check->names.scoped, 1);
  assert_int_equal(check->names.step.instructions, 1);
  assert_int_equal(check->names.step.runs, 1);
  assert_int_equal(check->names.step.entered, 1);
  assert_str(check->names.step.op, "op.0");
  assert_str(check->names.step.op_name, "train/fwd/aten__mm:");
}

static void a_step_on_the_host_alone_fails(void **state)
{
  story *s = *state;
  NAMED_OPS(s, "fwd/aten__mm:");
  thread(s, "python");
  step(s, "train", 1, 0, 900);
  const xp_check *check = checked(s, "train", "");
  assert_false(check->names.ok);
  assert_true(check->names.step.is_required);
  assert_int_equal(check->names.step.instructions, 0);
}

static void the_operation_itself_is_no_name(void **state)
{
  story *s = *state;
  NAMED_OPS(s, "fwd/train:");
  assert_false(checked(s, "train", "")->names.ok);
}

static void a_part_of_a_component_is_no_name(void **state)
{
  story *s = *state;
  NAMED_OPS(s, "train2/fwd/x:", "pretrain/x:");
  assert_false(checked(s, "train", "")->names.ok);
}

static void numbers_of_torch_xla_do_not_matter(void **state)
{
  story *s = *state;
  lazy_module(s);
  NAMED_OPS(s, "train.1/fwd.2/aten__mm:");
  assert_true(checked(s, "train", "fwd")->names.ok);
  assert_true(checked(s, "train.1", "fwd.2")->names.ok);
  assert_false(checked(s, "train.2", "")->names.ok);
}

static void numbers_of_others_belong_to_the_name(void **state)
{
  story *s = *state;
  NAMED_OPS(s, "train.1/x:");
  assert_false(checked(s, "train", "")->names.ok);
}

static void colons_arrive_as_underscores(void **state)
{
  story *s = *state;
  NAMED_OPS(s, "my_step/x:");
  assert_true(checked(s, "my:step", "")->names.ok);
}

static void every_name_of_a_fusion_counts_and_the_fusion_once(void **state)
{
  story *s = *state;
  NAMED_OPS(s, "train/fwd/a;train/opt/b:");
  const xp_check *check = checked(s, "train", "fwd,opt,bwd");
  assert_string_equal(scopes_of(s, check), "bwd 0 required, fwd 1 required, opt 1 required");
  assert_int_equal(check->names.step.instructions, 1);
}

static void a_name_with_slashes_is_as_many_components(void **state)
{
  story *s = *state;
  NAMED_OPS(s, "train/unet/attn/x:", "a/unet;attn/b/x:");
  assert_string_equal(scopes_of(s, checked(s, "train", "unet/attn,train/unet/attn,attn/unet,unet/attn/x")),
                      "attn/unet 0 required, unet/attn/x 0 required, train/unet/attn 1 required, unet/attn 1 required");
}

static void names_of_a_fusion_are_no_path_together(void **state)
{
  story *s = *state;
  NAMED_OPS(s, "train/a/x;b/y:", "train/a/b/c/x:");
  assert_string_equal(scopes_of(s, checked(s, "train", "a/b,a/b/c,b/c/x")),
                      "b/c/x 0 required, a/b 1 required, a/b/c 1 required");
}

static void a_path_may_have_16_components(void **state)
{
  story *s = *state;
  const char *path = "a";
  for (int i = 1; i < 16; i++) {
    path = WORDS(s, "%s/a", path);
  }
  NAMED_OPS(s, WORDS(s, "train/%s/x:", path));
  assert_true(checked(s, "train", path)->names.ok);
  assert_false(checked(s, "train", WORDS(s, "%s/a", path))->names.ok);
}

static void what_jax_wraps_around_a_scope_does_not_matter(void **state)
{
  story *s = *state;
  NAMED_OPS(s, "jit(f)/transpose(jvp(mlp))/dot:");
  assert_string_equal(scopes_of(s, checked(s, "train", "mlp")), "mlp 1 required");
}

static void a_step_of_jax_need_not_be_on_instructions(void **state)
{
  story *s = *state;
  NAMED_OPS(s, "jit(f)/mlp/dot:");
  thread(s, "python");
  step(s, "train", 1, 0, 900);
  const xp_check *check = checked(s, "train", "");
  assert_int_equal(check->names.frontend, XP_FRONTEND_JAX);
  assert_false(check->names.step.is_required);
  assert_true(check->names.ok);
  assert_false(checked(s, "train", "attn")->names.ok);
}

static void a_step_of_jax_that_the_host_does_not_know_fails(void **state)
{
  story *s = *state;
  NAMED_OPS(s, "jit(f)/mlp/dot:");
  thread(s, "python");
  step(s, "train", 1, 0, 900);
  assert_false(checked(s, "trian", "")->names.ok);
}

static void scopes_inside_the_step_are_looked_for(void **state)
{
  story *s = *state;
  lazy_module(s);
  NAMED_OPS(s, "train.1/fwd.2/x:");
  thread(s, "python");
  step(s, "train", 1, 0, 400);
  user_scope(s, "fwd", 10, 100);
  user_scope(s, "log", 200, 300);
  user_scope(s, "deep", 220, 280);
  user_scope(s, "outside", 500, 600);
  const xp_check *check = checked(s, "train", "");
  assert_string_equal(scopes_of(s, check), "fwd 1, deep 0, log 0");
  assert_true(check->names.ok);
}

static void a_capture_without_work_fails(void **state)
{
  story *s = *state;
  thread(s, "python");
  step(s, "train", 1, 0, 400);
  assert_false(checked(s, "train", "")->names.ok);
}

/* ---- gaps */

/* A gap of 100 us in the scope "save", and one of 30 us in none; steps of 200 us. */
static void two_gaps(story *s)
{
  tpu(s, "/device:TPU:0", TIMES({10, 20}, {120, 130}, {160, 400}));
  thread(s, "python");
  call(s, 1, 2, 4);
  user_scope(s, "save", 20, 110);
  call(s, 2, 110, 115);
  call(s, 3, 158, 159);
  step(s, "train", 1, 1, 201);
  step(s, "train", 2, 201, 401);
}

static const xp_gaps_check *predicted(story *s, double floor_percent, const xp_expected_gap *rows, size_t count)
{
  xp_expected_gap *copy = xp_arena_array(s->arena, count, sizeof *copy);
  for (size_t i = 0; i < count; i++) {
    copy[i] = rows[i];
    copy[i].max_ps = rows[i].max_ps > 0 ? rows[i].max_ps : INT64_MAX;
    copy[i].most = rows[i].most > 0 || rows[i].least < 0 ? rows[i].most : INT64_MAX;
    copy[i].least = rows[i].least < 0 ? 0 : rows[i].least;
  }
  const xp_check_options options = {.step = xp_str_c("train"),
                                    .expected = copy,
                                    .expected_count = count,
                                    .has_expected = true,
                                    .floor_percent = floor_percent};
  return &checked_with(s, &options)->gaps;
}

#define PREDICTED(s, floor, ...)                                                                                       \
  predicted(s, floor, (const xp_expected_gap[]){__VA_ARGS__}, COUNT(((const xp_expected_gap[]){__VA_ARGS__})))

#define SAVE .has_scope = true, .scope = xp_str_c("save")

static void gaps_that_are_all_predicted_pass(void **state)
{
  story *s = *state;
  two_gaps(s);
  const xp_gaps_check *gaps = PREDICTED(s, 2, {SAVE, .least = 1, .most = 1}, {.max_ps = US(50), .least = 1});
  assert_true(gaps->ok);
  assert_int_equal(gaps->rows[0].found, 1);
  assert_int_equal(gaps->rows[0].ps, US(100));
  assert_int_equal(gaps->rows[0].longest->start_ps, US(20));
  assert_int_equal(gaps->rows[1].found, 1);
  assert_int_equal(gaps->rows[1].ps, US(30));
  assert_int_equal(gaps->unexpected_count, 0);
}

static void a_gap_that_no_row_matches_fails(void **state)
{
  story *s = *state;
  two_gaps(s);
  const xp_gaps_check *gaps = PREDICTED(s, 2, {.max_ps = US(50), .least = 1});
  assert_false(gaps->ok);
  assert_true(gaps->rows[0].ok);
  assert_int_equal(gaps->unexpected_count, 1);
  assert_int_equal(gaps->unexpected[0]->dur_ps, US(100));
  assert_int_equal(gaps->unexpected_ps, US(100));
}

static void unexpected_gaps_stand_longest_first(void **state)
{
  story *s = *state;
  two_gaps(s);
  const xp_gaps_check *gaps = predicted(s, 2, NULL, 0);
  assert_int_equal(gaps->unexpected_count, 2);
  assert_int_equal(gaps->unexpected[0]->dur_ps, US(100));
  assert_int_equal(gaps->unexpected[1]->dur_ps, US(30));
  assert_int_equal(gaps->unexpected_ps, US(130));
}

static void the_floor_is_a_share_of_the_period(void **state)
{
  story *s = *state;
  two_gaps(s);
  const xp_gaps_check *gaps = PREDICTED(s, 15, {SAVE, .least = 1}); /* 15 % of 200 us: 30 us */
  assert_int_equal(gaps->base, XP_BASE_PERIOD);
  assert_int_equal(gaps->base_ps, US(200));
  assert_int_equal(gaps->floor_ps, US(30));
  assert_false(gaps->ok);
  gaps = PREDICTED(s, 15.5, {SAVE, .least = 1});
  assert_true(gaps->ok);
  assert_int_equal(gaps->small_count, 1);
  assert_int_equal(gaps->small_ps, US(30));
}

static void rows_match_gaps_below_the_floor_too(void **state)
{
  story *s = *state;
  two_gaps(s);
  const xp_gaps_check *gaps = PREDICTED(s, 100, {.max_ps = US(50), .least = 1, .most = 1});
  assert_true(gaps->ok);
  assert_int_equal(gaps->small_ps, US(100));
}

static void without_a_whole_step_the_floor_is_of_the_window(void **state)
{
  story *s = *state;
  two_runs(s);
  const xp_gaps_check *gaps = PREDICTED(s, 10, {.least = 1});
  assert_int_equal(gaps->base, XP_BASE_WINDOW);
  assert_int_equal(gaps->floor_ps, US(12));
}

static void with_one_step_the_floor_is_of_its_length(void **state)
{
  story *s = *state;
  two_runs(s);
  step(s, "train", 1, 1, 151);
  const xp_gaps_check *gaps = PREDICTED(s, 10, {.least = 1});
  assert_int_equal(gaps->base, XP_BASE_LENGTH);
  assert_int_equal(gaps->floor_ps, US(15));
}

static void too_few_and_too_many_fail(void **state)
{
  story *s = *state;
  two_gaps(s);
  const xp_gaps_check *gaps =
      PREDICTED(s, 2, {.least = 3, .most = 5}, {.least = 1, .most = 1}, {.least = 2, .most = 2});
  assert_false(gaps->ok);
  assert_false(gaps->rows[0].ok);
  assert_false(gaps->rows[1].ok);
  assert_true(gaps->rows[2].ok);
}

static void a_row_may_predict_that_there_are_none(void **state)
{
  story *s = *state;
  two_gaps(s);
  const xp_gaps_check *gaps = PREDICTED(s, 2, {SAVE, .least = -1}, {.least = 2});
  assert_false(gaps->rows[0].ok);
  assert_false(gaps->ok);
  gaps = PREDICTED(s, 2, {.has_cause = true, .cause = XP_CAUSE_COMPILE, .least = -1}, {.least = 2});
  assert_true(gaps->ok);
}

static void the_nearest_gap_tells_which_key_is_wrong(void **state)
{
  story *s = *state;
  two_gaps(s);
  const xp_gaps_check *gaps = PREDICTED(
      s, 2, {SAVE, .has_cause = true, .cause = XP_CAUSE_UPLOAD, .least = 1}, {SAVE, .min_ps = US(101), .least = 1},
      {.has_scope = true, .scope = xp_str_c("x"), .has_cause = true, .cause = XP_CAUSE_UPLOAD, .least = 1});
  assert_string_equal(gaps->rows[0].differs, "cause");
  assert_int_equal(gaps->rows[0].nearest->dur_ps, US(100));
  assert_string_equal(gaps->rows[1].differs, "min_ps");
  assert_null(gaps->rows[2].nearest);
}

static void triggers_and_their_scopes_are_compared(void **state)
{
  story *s = *state;
  two_runs_in_a_step(s);
  user_scope(s, "loss", 14, 25);
  event(s, "PjRtComputationClient::TransferFromDevice", 15, 24);
  const xp_gaps_check *gaps = PREDICTED(s, 2, {.has_trigger = true, .trigger = XP_TRIGGER_VALUE_REQUEST, .least = 1},
                                        {.has_trigger_scope = true, .trigger_scope = xp_str_c("loss"), .least = 1},
                                        {.has_trigger = true, .trigger = XP_TRIGGER_NONE, .least = -1},
                                        {.has_trigger_scope = true, .trigger_scope = xp_str_c("fwd"), .least = -1});
  assert_true(gaps->ok);
}

static void time_before_and_after_the_work_is_no_gap(void **state)
{
  story *s = *state;
  two_gaps(s);
  session(s, 2000);
  const xp_gaps_check *gaps = PREDICTED(s, 2, {.least = 2, .most = 2});
  assert_true(gaps->ok);
}

static void gaps_too_short_for_the_reading_are_in_the_sum(void **state)
{
  story *s = *state;
  plane(s, "/device:TPU:0");
  line(s, "XLA Ops");
  event_ps(s, "%op.1 = f32[] add()", US(1), US(10));
  event_ps(s, "%op.1 = f32[] add()", US(10) + 300000, US(20));
  event_ps(s, "%op.1 = f32[] add()", US(60), US(100));
  const xp_gaps_check *gaps = PREDICTED(s, 2, {.least = 1});
  assert_true(gaps->ok);
  assert_int_equal(gaps->small_count, 1);
  assert_int_equal(gaps->small_ps, 300000);
}

static void kinds_of_gaps_reach_the_floor(void **state)
{
  story *s = *state;
  two_gaps(s);
  const xp_check_options options = {.step = xp_str_c("train"), .floor_percent = 20};
  const xp_gaps_check *gaps = &checked_with(s, &options)->gaps;
  assert_true(gaps->ok && !gaps->asked);
  assert_int_equal(gaps->kind_count, 1);
  assert_str(gaps->kinds[0]->scope, "save");
  assert_int_equal(gaps->kinds[0]->gaps, 1);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      STORY(a_step_whose_name_is_on_an_instruction_passes),
      STORY(a_step_on_the_host_alone_fails),
      STORY(the_operation_itself_is_no_name),
      STORY(a_part_of_a_component_is_no_name),
      STORY(numbers_of_torch_xla_do_not_matter),
      STORY(numbers_of_others_belong_to_the_name),
      STORY(colons_arrive_as_underscores),
      STORY(every_name_of_a_fusion_counts_and_the_fusion_once),
      STORY(a_name_with_slashes_is_as_many_components),
      STORY(names_of_a_fusion_are_no_path_together),
      STORY(a_path_may_have_16_components),
      STORY(what_jax_wraps_around_a_scope_does_not_matter),
      STORY(a_step_of_jax_need_not_be_on_instructions),
      STORY(a_step_of_jax_that_the_host_does_not_know_fails),
      STORY(scopes_inside_the_step_are_looked_for),
      STORY(a_capture_without_work_fails),
      STORY(gaps_that_are_all_predicted_pass),
      STORY(a_gap_that_no_row_matches_fails),
      STORY(unexpected_gaps_stand_longest_first),
      STORY(the_floor_is_a_share_of_the_period),
      STORY(rows_match_gaps_below_the_floor_too),
      STORY(without_a_whole_step_the_floor_is_of_the_window),
      STORY(with_one_step_the_floor_is_of_its_length),
      STORY(too_few_and_too_many_fail),
      STORY(a_row_may_predict_that_there_are_none),
      STORY(the_nearest_gap_tells_which_key_is_wrong),
      STORY(triggers_and_their_scopes_are_compared),
      STORY(time_before_and_after_the_work_is_no_gap),
      STORY(gaps_too_short_for_the_reading_are_in_the_sum),
      STORY(kinds_of_gaps_reach_the_floor),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
