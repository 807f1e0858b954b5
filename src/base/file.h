/* Reading a whole file: mapped where it is plain, unpacked into memory where it is compressed. */
#ifndef XP_BASE_FILE_H
#define XP_BASE_FILE_H

#include "base/error.h"
#include "base/str.h"

typedef struct {
  xp_str bytes;       /* the content, unpacked */
  void *map;          /* NULL if the content lies in no mapping */
  size_t mapped;      /* bytes of the mapping */
  bool is_page_cache; /* the mapping is of the file itself: its pages can be given back and read again */
  uint64_t disk_bytes;
} xp_file;

/* Opens a file and maps it read-only.  Files that begin as gzip or zstd are unpacked into anonymous memory (huge
 * pages); their content may be at most 64 GiB.  "-" reads standard input to its end.  A file of 0 bytes is no error:
 * its slice is empty.  Directories and what is not a plain file, FIFO or device give XP_ERR_USAGE with a text.
 * A packed stream that ends early or is damaged gives what could be unpacked, and XP_ERR_TRUNCATED or XP_ERR_FORMAT
 * in *err although the function returns XP_OK (err->status tells).
 * The caller closes the file with xp_file_close; slices into it die then. */
xp_status xp_file_open(const char *path, xp_file *file, xp_error *err);

void xp_file_close(xp_file *file);

/* Takes the whole pages of a part out of the memory of this process.  They come back from the page cache when somebody
 * reads them again.  Does nothing where that is not possible. */
void xp_file_forget(const xp_file *file, const void *from, size_t bytes);

#endif
