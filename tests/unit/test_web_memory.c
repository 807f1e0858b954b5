/* The viewer with every allocation failing once: the capture is not opened, or an answer says that memory ran out, and
 * what comes after is answered as ever. */
#include "failing_links.h"

#include "web/site.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

static const char *const questions[] = {
    "meta",
    "summary",
    "tracks",
    "window?from=0&to=300000000000&width=300&tracks=0,1,2,3&match=1",
    "minimap?from=0&to=300000000000&width=100",
    "item?track=0&item=1",
    "item?track=1&item=3",
    "next?track=0&at=0&dir=next",
    "sums?from=0&to=300000000000&tracks=0,1,2",
    "search?q=e&limit=20",
    "search?q=x.*y&mode=regex",
    "table/steps",
    "table/gaps?limit=5",
    "table/ops?by=scope&format=csv",
};

static unsigned ask(const xp_site *site, const char *question)
{
  char target[200];
  xp_reply reply = {0};
  snprintf(target, sizeof target, "/" TOKEN "/data/%s", question);
  const xp_request request = {.method = xp_str_c("GET"), .target = xp_str_c(target), .host = xp_str_c("localhost")};
  xp_site_answer(site, &request, &reply);
  unsigned status = reply.status;
  assert_true(reply.size > 0 && (reply.bytes != NULL || reply.fixed != NULL));
  xp_reply_clear(&reply);
  return status;
}

/* Opens the capture and asks everything; true if nothing failed. */
static bool show(const char *path)
{
  xp_viewer *viewer;
  xp_error err;
  bool whole = true;
  const xp_viewer_options options = {.path = path, .threads = 1, .version = "0"};
  if (xp_viewer_open(&options, &viewer, &err) != XP_OK) {
    assert_int_equal(err.status, XP_ERR_MEMORY);
    return false;
  }
  if (xp_viewer_wait(viewer, XP_VIEW_READY, -1) == XP_VIEW_READY) {
    const xp_site site = {.viewer = viewer, .folder = -1, .token = TOKEN};
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
      unsigned status = ask(&site, questions[i]);
      assert_true(status == 200 || status == 404 || status == 500); /* a capture may have no such item */
      whole = whole && status != 500;
    }
    first_to_fail = 0;
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
      assert_int_not_equal(ask(&site, questions[i]), 500);
    }
  } else {
    assert_int_equal(viewer->error.status, XP_ERR_MEMORY);
    whole = false;
  }
  xp_viewer_close(viewer);
  return whole;
}

static void fail_each_once(const char *path, bool alone)
{
  bool whole = false;
  for (int n = 1; !whole; n += 1 + n / 200) { /* all of the first ones, a sample of the many of the answers */
    assert_true(n < 1000000);
    atomic_store(&calls, 0);
    first_to_fail = n;
    last_to_fail = alone ? n : INT32_MAX;
    whole = show(path) && atomic_load(&calls) < n;
    first_to_fail = 0;
  }
}

static void a_capture_of_a_tpu_is_shown_or_memory_is_out(void **state)
{
  (void)state;
  fail_each_once(SCENARIOS "s03_sdxl_item_nonzero.xplane.pb", true);
  fail_each_once(SCENARIOS "s03_sdxl_item_nonzero.xplane.pb", false);
}

static void a_capture_of_xla_cpu_is_shown_or_memory_is_out(void **state)
{
  (void)state;
  fail_each_once(SCENARIOS "s10_cpu_thunks.xplane.pb", true);
  fail_each_once(SCENARIOS "s10_cpu_thunks.xplane.pb", false);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_capture_of_a_tpu_is_shown_or_memory_is_out),
      cmocka_unit_test(a_capture_of_xla_cpu_is_shown_or_memory_is_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
