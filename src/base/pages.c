/* See pages.h.  Both sizes of pages are asked for lazily: an address without a touched byte costs nothing. */
#define _GNU_SOURCE
#include "base/pages.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20, LEAST_HUGE = 4 << 20 };

size_t xp_page_bytes(void)
{
  return (size_t)sysconf(_SC_PAGESIZE);
}

/* A last huge page that would stay more than half empty is left to small ones: it would be resident as a whole. */
size_t xp_pages_size(size_t need)
{
  bool is_small = need < LEAST_HUGE || need % HUGE_PAGE <= HUGE_PAGE / 2;
  size_t unit = is_small ? xp_page_bytes() : HUGE_PAGE;
  return (need + unit - 1) / unit * unit;
}

static char *map(size_t size)
{
  void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return pages == MAP_FAILED ? NULL : pages;
}

/* Maps huge pages at a multiple of their size: maps more and cuts both ends off. */
static void *map_huge(size_t size)
{
  size_t reserve = size + HUGE_PAGE;
  char *raw = map(reserve);
  if (raw == NULL) {
    return NULL;
  }
  size_t head = (HUGE_PAGE - (uintptr_t)raw % HUGE_PAGE) % HUGE_PAGE;
  if (head > 0) {
    munmap(raw, head);
  }
  munmap(raw + head + size, reserve - head - size);
  madvise(raw + head, size, MADV_HUGEPAGE); /* advice: without it the memory is only slower */
  return raw + head;
}

void *xp_pages_map(size_t size)
{
  return size < LEAST_HUGE ? map(size) : map_huge(size);
}

void *xp_pages_grow(void *pages, size_t size, size_t larger)
{
  if (larger < LEAST_HUGE) {
    void *moved = mremap(pages, size, larger, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? NULL : moved;
  }
  void *to = map_huge(larger);
  if (to == NULL) {
    return NULL;
  }
  if (mremap(pages, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED) {
    munmap(to, larger);
    return NULL;
  }
  return to;
}

void xp_pages_unmap(void *pages, size_t size)
{
  munmap(pages, size);
}
