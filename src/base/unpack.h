/* Memory that grows by moving pages, and unpacking gzip and zstd into it.  Used by file.c alone. */
#ifndef XP_BASE_UNPACK_H
#define XP_BASE_UNPACK_H

#include "base/error.h"
#include "base/str.h"

#define XP_UNPACK_LIMIT ((size_t)64 << 30)

/* A mapping whose first `len` bytes are in use. */
typedef struct {
  char *data;
  size_t len, mapped;
} xp_page_buffer;

/* Makes room for at least `more` bytes behind len.  XP_ERR_MEMORY, or XP_ERR_LIMIT above XP_UNPACK_LIMIT. */
xp_status xp_page_buffer_reserve(xp_page_buffer *buffer, size_t more);

/* Gives back the pages behind len. */
void xp_page_buffer_trim(xp_page_buffer *buffer);

void xp_page_buffer_free(xp_page_buffer *buffer);

/* True if the bytes begin as a gzip or zstd stream. */
bool xp_is_packed(xp_str bytes);

/* Appends the content of all members (gzip) or frames (zstd) to the buffer.  XP_ERR_TRUNCATED and XP_ERR_FORMAT: *what
 * says what is wrong with the stream, and the buffer holds what came before. */
xp_status xp_unpack(xp_str packed, xp_page_buffer *buffer, const char **what);

#endif
