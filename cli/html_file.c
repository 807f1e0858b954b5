/* A stream of its own over the new file: the sections write to streams, and say nothing of a disk that is full; the
 * flush before the file is named asks for that. */
#include "html_file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/run_files.h"

static xp_status find_directory(const char *path, char directory[XP_PATH_ROOM], xp_error *err)
{
  struct stat info;
  size_t slash = xp_str_rfind(xp_str_c(path), '/'), length = strlen(path);
  if (length == 0 || slash + 1 == length || length >= XP_PATH_ROOM) {
    return xp_fail(err, XP_ERR_USAGE, "--html \"%.100s\" is no name of a file. Write --html report.html", path);
  }
  if (lstat(path, &info) == 0) {
    return xp_fail(err, XP_ERR_IO, "%.500s exists: remove it, or choose another name", path);
  }
  snprintf(directory, XP_PATH_ROOM, "%.*s",
           slash == length ? 1
           : slash == 0    ? 1
                           : (int)slash,
           slash == length ? "." : path);
  return XP_OK;
}

static xp_status write_stream(xp_new_file *file, const xp_output *output, xp_reading *reading, xp_error *err)
{
  int fd = dup(file->fd);
  FILE *stream = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (stream == NULL) {
    xp_status failed = xp_fail(err, XP_ERR_IO, "Cannot write %.500s: %s", file->chosen, strerror(errno));
    if (fd >= 0) {
      close(fd);
    }
    return failed;
  }
  xp_output page = *output;
  page.out = stream;
  page.form = XP_FORM_HTML;
  xp_status status = xp_section_write(XP_SECTION_REPORT, &page, reading, err);
  bool failed = ferror(stream) != 0;
  failed = fclose(stream) != 0 || failed;
  return status == XP_OK && failed ? xp_fail(err, XP_ERR_IO, "Cannot write %.500s: %s", file->chosen, strerror(errno))
                                   : status;
}

xp_status html_file_write(const char *path, const xp_output *output, xp_reading *reading, xp_error *err)
{
  char directory[XP_PATH_ROOM];
  xp_new_file file = {.fd = -1};
  xp_status status = find_directory(path, directory, err);
  if (status == XP_OK) {
    status = xp_new_file_open(directory, path, &file, err);
  }
  if (status == XP_OK) {
    status = write_stream(&file, output, reading, err);
  }
  if (status == XP_OK) {
    status = xp_new_file_publish_chosen(&file, err);
  }
  xp_new_file_discard(&file);
  return status;
}
