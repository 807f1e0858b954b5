/* Who is answered and who is refused, and where files of the page may lie. */
#define _GNU_SOURCE
#include "folders.h"
#include "viewing.h"

#include <fcntl.h>
#include <pthread.h>

#include "web/assets.h"

#define PAGE "/" TOKEN "/"

static unsigned get(show *w, const char *target)
{
  xp_request request = page_request(target);
  return answer_to(w, &request);
}

static void the_page_and_its_data_are_served_behind_the_token(void **state)
{
  show *w = *state;
  two_runs(w->s);
  open_story(w);
  assert_int_equal(get(w, PAGE), 200);
  assert_string_equal(w->reply.type, "text/html; charset=utf-8");
  assert_int_equal(get(w, PAGE "index.html"), 200);
  assert_int_equal(get(w, PAGE "data/meta"), 200);
  assert_int_equal(get(w, "/proxy/8080" PAGE "data/meta"), 200);
}

static void without_the_right_token_nothing_is_told(void **state)
{
  static const char *const bad[] = {"/",
                                    "/data/meta",
                                    "/index.html",
                                    "/" TOKEN,
                                    "/0123456789abcdef0123456789abcdee/data/meta",
                                    "/0123456789ABCDEF0123456789ABCDEF/",
                                    "/" TOKEN "0/",
                                    "/0123456789abcdef0123456789abcde/",
                                    "//",
                                    "/?" TOKEN,
                                    "/a?/" TOKEN "/data/meta"};
  show *w = *state;
  two_runs(w->s);
  open_story(w);
  for (size_t i = 0; i < COUNT(bad); i++) {
    if (get(w, bad[i]) != 403) {
      fail_msg("%s: status %u", bad[i], w->reply.status);
    }
  }
}

static void tokens_differ_and_are_hexadecimal(void **state)
{
  char a[XP_TOKEN_BYTES + 1], b[XP_TOKEN_BYTES + 1];
  xp_error err;
  (void)state;
  assert_int_equal(xp_token_make(a, &err), XP_OK);
  assert_int_equal(xp_token_make(b, &err), XP_OK);
  assert_string_not_equal(a, b);
  assert_int_equal(strspn(a, "0123456789abcdef"), XP_TOKEN_BYTES);
}

static void only_names_of_the_loopback_interface_are_hosts(void **state)
{
  static const char *const good[] = {"localhost",       "LocalHost:80", "127.0.0.1",
                                     "127.0.0.1:65535", "[::1]",        "[::1]:8080"};
  static const char *const bad[] = {"",
                                    "example.com",
                                    "localhost.example.com",
                                    "localhost:8080.example.com",
                                    "localhost:",
                                    "localhost:0",
                                    "localhost:65536",
                                    "localhost:8o",
                                    "localhost:-1",
                                    "127.0.0.1.example.com",
                                    "127.0.0.2",
                                    "::1",
                                    "[::1]:x",
                                    "0.0.0.0",
                                    "user@localhost",
                                    "localhost:1:2"};
  (void)state;
  for (size_t i = 0; i < COUNT(good); i++) {
    assert_true(xp_host_is_local(xp_str_c(good[i])));
  }
  for (size_t i = 0; i < COUNT(bad); i++) {
    if (xp_host_is_local(xp_str_c(bad[i]))) {
      fail_msg("%s is taken for the loopback interface", bad[i]);
    }
  }
}

static void foreign_hosts_and_pages_are_refused(void **state)
{
  show *w = *state;
  two_runs(w->s);
  open_story(w);
  xp_request request = page_request(PAGE "data/meta");
  request.origin = xp_str_c("http://localhost:8080");
  request.fetch_site = xp_str_c("same-origin");
  assert_int_equal(answer_to(w, &request), 200);
  request.fetch_site = xp_str_c("none");
  assert_int_equal(answer_to(w, &request), 200);
  request.fetch_site = xp_str_c("same-site"); /* another port of this machine */
  assert_int_equal(answer_to(w, &request), 403);
  request.fetch_site = xp_str_c("cross-site");
  assert_int_equal(answer_to(w, &request), 403);
  request.fetch_site.ptr = NULL;
  request.origin = xp_str_c("http://localhost:8081");
  assert_int_equal(answer_to(w, &request), 403);
  request.origin = xp_str_c("null");
  assert_int_equal(answer_to(w, &request), 403);
  request.origin.ptr = NULL;
  request.host = xp_str_c("evil.example:8080");
  assert_int_equal(answer_to(w, &request), 403);
  request.host.ptr = NULL;
  assert_int_equal(answer_to(w, &request), 403);
  request.host = xp_str_c("localhost");
  request.has_two_hosts = true;
  assert_int_equal(answer_to(w, &request), 403);
}

static void other_methods_and_bodies_are_refused(void **state)
{
  show *w = *state;
  two_runs(w->s);
  open_story(w);
  xp_request request = page_request(PAGE "data/meta");
  request.method = xp_str_c("HEAD");
  assert_int_equal(answer_to(w, &request), 200);
  request.method = xp_str_c("POST");
  assert_int_equal(answer_to(w, &request), 405);
  request.method = xp_str_c("GET");
  request.has_body = true;
  assert_int_equal(answer_to(w, &request), 413);
}

static void addresses_that_are_none_are_refused(void **state)
{
  static char target[9000];
  show *w = *state;
  two_runs(w->s);
  open_story(w);
  assert_int_equal(get(w, PAGE "data/meta?x=%zz"), 400);
  assert_int_equal(get(w, PAGE "data/"), 404);
  assert_int_equal(get(w, PAGE "data/nothing"), 404);
  assert_int_equal(get(w, PAGE "data/meta/"), 404);
  assert_int_equal(get(w, PAGE "data/table/"), 404);
  assert_int_equal(get(w, PAGE "data/table/steps/x"), 404);
  memset(target, 'a', sizeof target - 1);
  memcpy(target, PAGE, strlen(PAGE));
  assert_int_equal(get(w, target), 414);
}

/* A pipe that nobody writes to keeps the capture from being read. */
static void what_is_not_there_yet_is_told_as_such(void **state)
{
  show *w = *state;
  int ends[2];
  char path[32];
  xp_error err;
  assert_int_equal(pipe(ends), 0);
  snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
  const xp_viewer_options options = {.path = path, .version = "0"};
  assert_int_equal(xp_viewer_open(&options, &w->site.viewer, &err), XP_OK);
  assert_string_equal(xp_view_state_name(xp_viewer_wait(w->site.viewer, XP_VIEW_ANALYSING, 1)), "reading");
  assert_contains(ask(w, "meta"), "\"state\": \"reading\"");
  assert_int_equal(status_of(w, "summary"), 503);
  assert_int_equal(status_of(w, "window?from=0&to=1&width=1&tracks=0"), 503);
  close(ends[1]);
  assert_int_equal(xp_viewer_wait(w->site.viewer, XP_VIEW_READY, -1), XP_VIEW_FAILED);
  assert_contains(ask(w, "meta"), "\"state\": \"failed\"");
  assert_int_equal(status_of(w, "summary"), 503);
  assert_contains(body(w), "0 bytes");
  close(ends[0]);
}

/* ---- files of the page */

static void write_text(const char *folder, const char *name, const char *text)
{
  char path[1024];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  assert_int_equal(fclose(file), 0);
}

static void a_folder_of_the_page_is_read_for_every_request(void **state)
{
  char folder[256], path[300];
  show *w = *state;
  xp_error err;
  two_runs(w->s);
  open_story(w);
  folder_make(folder);
  write_text(folder, "index.html", "one");
  snprintf(path, sizeof path, "%s/parts", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  write_text(path, "a.js", "1;");
  assert_int_equal(xp_assets_open_folder(folder, &w->site.folder, &err), XP_OK);
  assert_int_equal(get(w, PAGE), 200);
  assert_memory_equal(body(w), "one", 3);
  write_text(folder, "index.html", "two");
  assert_int_equal(get(w, PAGE), 200);
  assert_memory_equal(body(w), "two", 3);
  assert_int_equal(get(w, PAGE "parts/a.js"), 200);
  assert_string_equal(w->reply.type, "text/javascript; charset=utf-8");
  assert_int_equal(get(w, PAGE "parts"), 404);
  assert_int_equal(get(w, PAGE "none.js"), 404);
  close(w->site.folder);
  folder_remove(folder);
}

static void nothing_outside_of_the_folder_can_be_named(void **state)
{
  static const char *const bad[] = {"../secret",     "..%2fsecret",   "%2e%2e/secret",     "parts/../../secret",
                                    "/etc/passwd",   "//etc/passwd",  ".hidden",           "parts/.hidden",
                                    "./index.html",  "link",          "parts/link/secret", "index.html/",
                                    "a\\b",          "index.html%0a", "way/secret",        "pipe",
                                    "%c0%ae/secret", "parts//a",      "index.html::$DATA"};
  char top[256], folder[300], path[600];
  show *w = *state;
  xp_error err;
  two_runs(w->s);
  open_story(w);
  folder_make(top);
  write_text(top, "secret", "secret");
  snprintf(folder, sizeof folder, "%s/page", top);
  assert_int_equal(mkdir(folder, 0700), 0);
  write_text(folder, "index.html", "page");
  write_text(folder, ".hidden", "hidden");
  snprintf(path, sizeof path, "%s/parts", folder);
  assert_int_equal(mkdir(path, 0700), 0);
  write_text(path, "a", "a");
  write_text(path, ".hidden", "hidden");
  snprintf(path, sizeof path, "%s/link", folder);
  assert_int_equal(symlink("../secret", path), 0);
  snprintf(path, sizeof path, "%s/way", folder);
  assert_int_equal(symlink("..", path), 0);
  snprintf(path, sizeof path, "%s/parts/link", folder);
  assert_int_equal(symlink("../..", path), 0);
  snprintf(path, sizeof path, "%s/pipe", folder);
  assert_int_equal(mkfifo(path, 0600), 0);
  assert_int_equal(xp_assets_open_folder(folder, &w->site.folder, &err), XP_OK);
  for (size_t i = 0; i < COUNT(bad); i++) {
    snprintf(path, sizeof path, PAGE "%s", bad[i]);
    if (get(w, path) != 404) {
      fail_msg("%s: status %u, %.*s", bad[i], w->reply.status, (int)w->reply.size, body(w));
    }
  }
  close(w->site.folder);
  folder_remove(top);
}

static void a_folder_that_is_none_is_refused_with_its_name(void **state)
{
  int folder;
  xp_error err;
  (void)state;
  assert_int_equal(xp_assets_open_folder("/nonexistent/web", &folder, &err), XP_ERR_NOT_FOUND);
  assert_contains(err.text, "/nonexistent/web");
  assert_int_equal(xp_assets_open_folder("/dev/null", &folder, &err), XP_ERR_USAGE);
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      SHOW(the_page_and_its_data_are_served_behind_the_token),
      SHOW(without_the_right_token_nothing_is_told),
      cmocka_unit_test(tokens_differ_and_are_hexadecimal),
      cmocka_unit_test(only_names_of_the_loopback_interface_are_hosts),
      SHOW(foreign_hosts_and_pages_are_refused),
      SHOW(other_methods_and_bodies_are_refused),
      SHOW(addresses_that_are_none_are_refused),
      SHOW(what_is_not_there_yet_is_told_as_such),
      SHOW(a_folder_of_the_page_is_read_for_every_request),
      SHOW(nothing_outside_of_the_folder_can_be_named),
      cmocka_unit_test(a_folder_that_is_none_is_refused_with_its_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
