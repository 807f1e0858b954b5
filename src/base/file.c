/* A whole file as one slice.
 *
 * Plain files are mapped: pages of the page cache cost nothing to allocate and are shared.  What cannot be mapped
 * (pipes, standard input) is read into pages that grow by mremap.  Packed content is unpacked once, and the packed
 * bytes are given back before the caller sees anything.
 */
#define _GNU_SOURCE
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/pages.h"
#include "base/unpack.h"

enum { READ_PIECE = 1 << 20 };

static xp_status fail_memory(const char *path, xp_status status, xp_error *err)
{
  if (status == XP_ERR_LIMIT) {
    return xp_fail(err, status, "%s: the content is larger than 64 GiB", path);
  }
  return xp_fail(err, status, "%s: out of memory while reading it", path);
}

static void set_buffer(xp_file *file, const xp_page_buffer *buffer)
{
  file->map = buffer->mapped > 0 ? buffer->data : NULL;
  file->mapped = buffer->mapped;
  file->bytes = xp_str_from(buffer->data, buffer->len);
}

static xp_status read_all(int fd, const char *path, xp_file *file, xp_error *err)
{
  xp_page_buffer buffer = {0};
  for (;;) {
    xp_status status = xp_page_buffer_reserve(&buffer, READ_PIECE);
    if (status != XP_OK) {
      xp_page_buffer_free(&buffer);
      return fail_memory(path, status, err);
    }
    ssize_t n = read(fd, buffer.data + buffer.len, buffer.mapped - buffer.len);
    if (n == 0) {
      break;
    }
    if (n < 0 && errno != EINTR) {
      xp_page_buffer_free(&buffer);
      return xp_fail(err, XP_ERR_IO, "%s: cannot read: %s", path, strerror(errno));
    }
    buffer.len += n > 0 ? (size_t)n : 0;
  }
  xp_page_buffer_trim(&buffer);
  set_buffer(file, &buffer);
  file->disk_bytes = buffer.len;
  return XP_OK;
}

static xp_status map_plain(int fd, const char *path, uint64_t size, xp_file *file, xp_error *err)
{
  if (size > SIZE_MAX / 4) {
    return xp_fail(err, XP_ERR_LIMIT, "%s: %llu bytes are more than this machine can address", path,
                   (unsigned long long)size);
  }
  void *map = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (map == MAP_FAILED) {
    if (errno == ENODEV) { /* some file systems cannot map */
      return read_all(fd, path, file, err);
    }
    return xp_fail(err, errno == ENOMEM ? XP_ERR_MEMORY : XP_ERR_IO, "%s: cannot map: %s", path, strerror(errno));
  }
  madvise(map, (size_t)size, MADV_WILLNEED);
  file->map = map;
  file->is_page_cache = true;
  file->mapped = (size_t)size;
  file->bytes = xp_str_from(map, (size_t)size);
  file->disk_bytes = size;
  return XP_OK;
}

static xp_status read_fd(int fd, const char *path, xp_file *file, xp_error *err)
{
  struct stat st;
  if (fstat(fd, &st) != 0) {
    return xp_fail(err, XP_ERR_IO, "%s: cannot stat: %s", path, strerror(errno));
  }
  if (S_ISDIR(st.st_mode)) {
    return xp_fail(err, XP_ERR_USAGE, "%s: is a directory, not a file", path);
  }
  if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode) && !S_ISBLK(st.st_mode) &&
      fd != STDIN_FILENO) {
    return xp_fail(err, XP_ERR_USAGE, "%s: is neither a plain file nor a pipe nor a device", path);
  }
  /* Files of /proc say 0 bytes and hold more: they are read like a pipe.  Standard input may be a file that somebody
   * has read a part of. */
  if (S_ISREG(st.st_mode) && st.st_size > 0 && fd != STDIN_FILENO) {
    return map_plain(fd, path, (uint64_t)st.st_size, file, err);
  }
  return read_all(fd, path, file, err);
}

static xp_status unpack(const char *path, xp_file *file, xp_error *err)
{
  xp_page_buffer buffer = {0};
  const char *what = NULL;
  xp_status status = xp_unpack(file->bytes, &buffer, &what);
  if (status == XP_ERR_MEMORY || status == XP_ERR_LIMIT) {
    xp_page_buffer_free(&buffer);
    return fail_memory(path, status, err);
  }
  if (status != XP_OK) {
    xp_fail(err, status, "%s: %s after %zu unpacked bytes; copy the file again", path, what, buffer.len);
  }
  uint64_t disk_bytes = file->disk_bytes;
  xp_file_close(file);
  xp_page_buffer_trim(&buffer);
  set_buffer(file, &buffer);
  file->disk_bytes = disk_bytes;
  return XP_OK;
}

xp_status xp_file_open(const char *path, xp_file *file, xp_error *err)
{
  memset(file, 0, sizeof *file);
  xp_fail(err, XP_OK, "%s", "");
  bool is_stdin = strcmp(path, "-") == 0;
  int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    xp_status status = errno == ENOENT || errno == ENOTDIR ? XP_ERR_NOT_FOUND : XP_ERR_IO;
    return xp_fail(err, status, "%s: cannot open: %s", path, strerror(errno));
  }
  xp_status status = read_fd(fd, is_stdin ? "standard input" : path, file, err);
  if (!is_stdin) {
    close(fd);
  }
  if (status == XP_OK && xp_is_packed(file->bytes)) {
    status = unpack(is_stdin ? "standard input" : path, file, err);
    if (status != XP_OK) {
      xp_file_close(file);
    }
  }
  return status;
}

void xp_file_close(xp_file *file)
{
  if (file->map != NULL) {
    munmap(file->map, file->mapped);
  }
  memset(file, 0, sizeof *file);
}

void xp_file_forget(const xp_file *file, const void *from, size_t bytes)
{
  if (!file->is_page_cache) {
    return; /* anonymous memory would lose its content */
  }
  uintptr_t page = xp_page_bytes();
  uintptr_t start = ((uintptr_t)from + page - 1) & ~(page - 1), end = ((uintptr_t)from + bytes) & ~(page - 1);
  if (start < end) {
    madvise((void *)start, end - start, MADV_DONTNEED); /* advice: without it the process is only larger */
  }
}
