/* Pages of memory from the kernel: mapped, moved to where there is room for more, and zero until they are touched.
 *
 * Mappings of 4 MiB and more lie at multiples of 2 MiB and are marked for huge pages: the kernel then clears memory 2
 * MiB at a time.  In smaller ones much of a huge page would be cleared and never used.
 */
#ifndef XP_BASE_PAGES_H
#define XP_BASE_PAGES_H

#include <stddef.h>

/* The system's smallest page: 4 KiB on x86-64; 4, 16 or 64 KiB on arm64, as the kernel was built. */
size_t xp_page_bytes(void);

/* The size of a mapping that holds `need` bytes. */
size_t xp_pages_size(size_t need);

/* Maps `size` bytes, as xp_pages_size gives it; NULL when memory is out. */
void *xp_pages_map(size_t size);

/* Makes a mapping larger; its pages move, their bytes are not touched.  NULL, and nothing moved, when memory is out. */
void *xp_pages_grow(void *pages, size_t size, size_t larger);

void xp_pages_unmap(void *pages, size_t size);

#endif
