/* Every allocation of a server and its clients fails once, nghttp2's too: calls end, nothing crashes or stays behind.
 *
 * The test has its own malloc, which takes the place of the C library's for all libraries.  Sanitizers have theirs, so
 * nothing is done under them.
 */
#include "grpc_testing.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HAS_OWN_MALLOC 0
#endif
#endif
#ifndef HAS_OWN_MALLOC
#define HAS_OWN_MALLOC 1
#endif

#if HAS_OWN_MALLOC

static atomic_int left; /* allocations until one fails; negative: none does */

static bool fails(void)
{
  if (atomic_load(&left) < 0 || atomic_fetch_sub(&left, 1) != 0) {
    return false;
  }
  errno = ENOMEM;
  return true;
}

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
  return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
  return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
  return fails() ? NULL : __libc_realloc(old, size);
}

static void call(const char *path, const char *text, int *answered)
{
  xp_grpc_answer answer;
  reply_check reply = {0};
  xp_grpc_request request = request_of(path, xp_str_c(text), &reply);
  request.timeout_ns = 3u * (uint64_t)XP_NS_IN_S;
  xp_grpc_unary(&request, &answer);
  *answered += answer.end == XP_GRPC_END_STATUS;
  if (answer.end == XP_GRPC_END_TIMEOUT || answer.end == XP_GRPC_END_NOT_GRPC) {
    fail_msg("%s: %s", path, answer.message);
  }
}

/* A server, and four calls while one allocation fails.  Returns how many calls the server answered; false if no
 * allocation was left to fail. */
static bool run_with_failure(int number, int *answered)
{
  *answered = 0;
  int before = count_fds();
  xp_grpc_server_options options = server_options();
  xp_error err;
  atomic_store(&left, number);
  if (xp_grpc_server_start(&options, &bench.server, &err) == XP_OK) {
    call("/t/Echo", "hello", answered);
    call("/t/Big", "300000", answered);
    call("/t/Fail", "13 text", answered);
    call("/t/Echo", "hello", answered);
  }
  bool has_failed = atomic_exchange(&left, -1) < 0;
  xp_grpc_server_stop(bench.server);
  bench.server = NULL;
  assert_int_equal(atomic_load(&bench.bodies_open), 0);
  assert_int_equal(count_fds(), before);
  return has_failed;
}

static void every_allocation_may_fail(void **state)
{
  (void)state;
  int number = 0, answered = 0;
  while (run_with_failure(number, &answered)) {
    assert_true(number < 5000);
    number++;
  }
  assert_int_equal(answered, 4); /* the last round had no failure */
  assert_true(number > 50);
}

#else

static void every_allocation_may_fail(void **state)
{
  (void)state;
  skip();
}

#endif

int main(void)
{
#if HAS_OWN_MALLOC
  atomic_store(&left, -1);
#endif
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_allocation_may_fail),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
