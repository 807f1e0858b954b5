/* Mappings on systems whose pages are not 4 KiB.  The file is compiled in here, with the system's answer replaced; such
 * sizes are whole pages of 4 KiB, too, so the mappings work here as they do there. */
#define _GNU_SOURCE
#include "testing.h"

#include <sys/mman.h>
#include <unistd.h>

static long page_bytes;

static long fake_sysconf(int name)
{
  assert_int_equal(name, _SC_PAGESIZE);
  return page_bytes;
}

#define sysconf fake_sysconf
#include "../../src/base/pages.c"
#undef sysconf

static const long kernels[] = {4096, 16384, 65536};

static void small_mappings_are_whole_pages_of_the_system(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    page_bytes = kernels[i];
    const size_t page = (size_t)page_bytes;
    assert_int_equal(xp_page_bytes(), page);
    assert_int_equal(xp_pages_size(1), page);
    assert_int_equal(xp_pages_size(page), page);
    assert_int_equal(xp_pages_size(page + 1), 2 * page);
    assert_int_equal(xp_pages_size((size_t)1 << 20), 1 << 20);
    assert_int_equal(xp_pages_size(((size_t)1 << 20) + 1), (1 << 20) + page);
  }
}

static void large_mappings_are_huge_pages_but_for_a_small_rest_on_every_system(void **state)
{
  (void)state;
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    page_bytes = kernels[i];
    assert_int_equal(xp_pages_size((size_t)4 << 20), 4 << 20);
    assert_int_equal(xp_pages_size(((size_t)4 << 20) + 1), (4 << 20) + page_bytes);
    assert_int_equal(xp_pages_size((size_t)5 << 20), 5 << 20);
    assert_int_equal(xp_pages_size(((size_t)5 << 20) + 1), 6 << 20);
  }
}

/* Small to small, small to large, large to large. */
static void a_grown_mapping_keeps_its_bytes_and_is_zero_behind_them(void **state)
{
  (void)state;
  static const size_t needs[] = {1, 100000, 2000000, 5000000, 9000000};
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
    page_bytes = kernels[i];
    size_t size = xp_pages_size(needs[0]);
    unsigned char *pages = xp_pages_map(size);
    assert_non_null(pages);
    for (size_t k = 1; k < sizeof needs / sizeof *needs; k++) {
      memset(pages, (int)k, size);
      const size_t larger = xp_pages_size(needs[k]);
      pages = xp_pages_grow(pages, size, larger);
      assert_non_null(pages);
      assert_int_equal(pages[0], k);
      assert_int_equal(pages[size - 1], k);
      assert_int_equal(pages[size], 0);
      assert_int_equal(pages[larger - 1], 0);
      size = larger;
    }
    xp_pages_unmap(pages, size);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(small_mappings_are_whole_pages_of_the_system),
      cmocka_unit_test(large_mappings_are_huge_pages_but_for_a_small_rest_on_every_system),
      cmocka_unit_test(a_grown_mapping_keeps_its_bytes_and_is_zero_behind_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
