/* Names are taken by link(2), which fails if the name exists: two programs that write at the same moment get two names.
 */
#define _GNU_SOURCE
#include "session/run_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_SUFFIXES = 1000 };

static xp_status fail_io(xp_error *err, const char *what, const char *path)
{
  int code = errno;
  return xp_fail(err, XP_ERR_IO, "%s %.500s: %s", what, path, strerror(code));
}

/* ---- directories */

static bool has_scheme(const char *path)
{
  const char *end = strstr(path, "://");
  return end != NULL && end != path && memchr(path, '/', (size_t)(end - path)) == NULL;
}

static bool is_directory(const char *path)
{
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* True if the directory is there now. */
static bool make_directory(const char *path)
{
  if (mkdir(path, 0777) == 0) {
    return true;
  }
  if (errno != EEXIST) {
    return false;
  }
  bool is_there = is_directory(path);
  errno = ENOTDIR; /* unless it is */
  return is_there;
}

/* mkdir -p; the text is changed while it works, and put back. */
static xp_status make_directories(char *path, xp_error *err)
{
  for (char *slash = path + 1;; slash++) {
    char *end = strchr(slash, '/');
    slash = end != NULL ? end : slash + strlen(slash);
    char kept = *slash;
    *slash = '\0';
    bool failed = !make_directory(path);
    xp_status status = failed ? fail_io(err, "Cannot make the directory", path) : XP_OK;
    *slash = kept;
    if (failed || kept == '\0') {
      return status;
    }
  }
}

static xp_status check_path(const char *path, xp_error *err)
{
  if (path[0] == '\0') {
    return xp_fail(err, XP_ERR_USAGE, "The directory for captures is empty: give a path");
  }
  if (has_scheme(path)) {
    return xp_fail(err, XP_ERR_USAGE,
                   "%.300s is not on a file system of this machine: give a local directory, and copy the run", path);
  }
  return XP_OK;
}

static xp_status make_root(const char *logdir, char root[XP_PATH_ROOM], xp_error *err)
{
  xp_status status = check_path(logdir, err);
  if (status != XP_OK) {
    return status;
  }
  if (snprintf(root, XP_PATH_ROOM, "%s/plugins/profile", logdir) >= XP_PATH_ROOM - 256) {
    return xp_fail(err, XP_ERR_USAGE, "The path %.100s.. is too long", logdir);
  }
  return make_directories(root, err);
}

xp_status xp_logdir_check(const char *logdir, xp_error *err)
{
  char root[XP_PATH_ROOM];
  xp_status status = make_root(logdir, root, err);
  if (status == XP_OK && access(root, W_OK | X_OK) != 0) {
    status = fail_io(err, "Cannot write to", root);
  }
  return status;
}

void xp_run_name_now(char name[XP_RUN_ROOM])
{
  time_t now = time(NULL);
  struct tm local;
  localtime_r(&now, &local);
  strftime(name, XP_RUN_ROOM, "%Y_%m_%d_%H_%M_%S", &local);
}

/* A directory that was not there before. */
static xp_status make_new_run(const char *root, char path[XP_PATH_ROOM], xp_error *err)
{
  char name[XP_RUN_ROOM];
  xp_run_name_now(name);
  for (int i = 1; i <= MOST_SUFFIXES; i++) {
    char number[16] = "";
    if (i > 1) {
      snprintf(number, sizeof number, "_%d", i);
    }
    if (snprintf(path, XP_PATH_ROOM, "%s/%s%s", root, name, number) >= XP_PATH_ROOM) {
      return xp_fail(err, XP_ERR_USAGE, "The path %.100s.. is too long", root);
    }
    if (mkdir(path, 0777) == 0) {
      return XP_OK;
    }
    if (errno != EEXIST) {
      return fail_io(err, "Cannot make the directory", path);
    }
  }
  return xp_fail(err, XP_ERR_IO, "Too many runs of the same second in %.300s", root);
}

static xp_status make_named_run(const char *root, const char *run, char path[XP_PATH_ROOM], xp_error *err)
{
  if (run[0] == '\0' || strchr(run, '/') != NULL || strcmp(run, ".") == 0 || strcmp(run, "..") == 0) {
    return xp_fail(err, XP_ERR_USAGE,
                   "\"%.100s\" cannot be the name of a run: it is the name of a directory, without /", run);
  }
  if (snprintf(path, XP_PATH_ROOM, "%s/%s", root, run) >= XP_PATH_ROOM) {
    return xp_fail(err, XP_ERR_USAGE, "The path %.100s.. is too long", root);
  }
  return make_directories(path, err);
}

static xp_status make_absolute(char path[XP_PATH_ROOM], xp_error *err)
{
  char *absolute = realpath(path, NULL);
  if (absolute == NULL || strlen(absolute) >= XP_PATH_ROOM) {
    free(absolute);
    return fail_io(err, "Cannot find", path);
  }
  snprintf(path, XP_PATH_ROOM, "%s", absolute);
  free(absolute);
  return XP_OK;
}

xp_status xp_run_directory_make(const char *root, const char *run, char path[XP_PATH_ROOM], xp_error *err)
{
  char copy[XP_PATH_ROOM];
  xp_status status = check_path(root, err);
  if (status == XP_OK && snprintf(copy, sizeof copy, "%s", root) >= XP_PATH_ROOM - 256) {
    status = xp_fail(err, XP_ERR_USAGE, "The path %.100s.. is too long", root);
  }
  if (status == XP_OK) {
    status = make_directories(copy, err);
  }
  if (status == XP_OK) {
    status = run != NULL ? make_named_run(root, run, path, err) : make_new_run(root, path, err);
  }
  return status == XP_OK ? make_absolute(path, err) : status;
}

xp_status xp_logdir_run_make(const char *logdir, const char *run, char path[XP_PATH_ROOM], xp_error *err)
{
  char root[XP_PATH_ROOM];
  xp_status status = make_root(logdir, root, err);
  return status == XP_OK ? xp_run_directory_make(root, run, path, err) : status;
}

/* ---- files */

/* Nobody knows the temporary name. */
static xp_status fail_file(xp_error *err, const xp_new_file *file)
{
  return file->chosen != NULL ? fail_io(err, "Cannot write", file->chosen)
                              : fail_io(err, "Cannot write into", file->directory);
}

xp_status xp_new_file_open(const char *directory, const char *chosen, xp_new_file *file, xp_error *err)
{
  static atomic_uint number;
  file->fd = -1;
  file->chosen = chosen;
  file->temporary[0] = '\0';
  if (snprintf(file->directory, sizeof file->directory, "%s", directory) >= XP_PATH_ROOM - 256) {
    return xp_fail(err, XP_ERR_USAGE, "The path %.100s.. is too long", directory);
  }
  /* Programs of other machines and containers may write here, too, and have the same process id. */
  for (int i = 0; i < MOST_SUFFIXES && file->fd < 0 && (i == 0 || errno == EEXIST); i++) {
    snprintf(file->temporary, sizeof file->temporary, "%s/.xlaprof-%ld-%u.tmp", directory, (long)getpid(),
             atomic_fetch_add(&number, 1));
    file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (file->fd < 0) {
    file->temporary[0] = '\0';
    return fail_file(err, file);
  }
  return XP_OK;
}

xp_status xp_new_file_write(xp_new_file *file, const void *bytes, size_t count, xp_error *err)
{
  const char *from = bytes;
  while (count > 0) {
    ssize_t written = write(file->fd, from, count);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return fail_file(err, file);
    }
    from += written;
    count -= (size_t)written;
  }
  return XP_OK;
}

xp_status xp_new_file_close(xp_new_file *file, xp_error *err)
{
  if (file->fd < 0) {
    return XP_OK;
  }
  int closed = close(file->fd); /* some file systems tell here that the disk is full */
  file->fd = -1;
  return closed == 0 ? XP_OK : fail_file(err, file);
}

void xp_new_file_discard(xp_new_file *file)
{
  xp_new_file_close(file, NULL);
  if (file->temporary[0] != '\0') {
    unlink(file->temporary);
    file->temporary[0] = '\0';
  }
}

/* Cut at 200 bytes, but not inside a character of UTF-8. */
static void clean_stem(const char *stem, char clean[256])
{
  size_t len = 0;
  for (; stem[len] != '\0' && len < 200; len++) {
    unsigned char c = (unsigned char)stem[len];
    clean[len] = c == '/' || c == ':' || c < 0x20 || c == 0x7f ? '_' : (char)c;
  }
  for (int i = 0; i < 3 && len > 0 && (stem[len] & 0xc0) == 0x80; i++) {
    len--;
  }
  clean[len] = '\0';
  if (len == 0 || clean[0] == '.') { /* files of that kind are hidden */
    memmove(clean + 1, clean, len + 1);
    clean[0] = '_';
  }
}

/* For file systems without links: an empty file takes the name, and is replaced at once. */
static bool claim_and_rename(const xp_new_file *file, const char *path)
{
  int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) {
    return false;
  }
  close(fd);
  if (rename(file->temporary, path) == 0) {
    return true;
  }
  int code = errno;
  unlink(path);
  errno = code;
  return false;
}

/* True if the file has this name now; errno says why not. */
static bool take(const xp_new_file *file, const char *path)
{
  if (link(file->temporary, path) == 0) {
    return true;
  }
  bool has_links = errno != EPERM && errno != ENOTSUP && errno != ENOSYS;
  return !has_links && claim_and_rename(file, path);
}

/* Takes the first free name. */
static xp_status take_name(const xp_new_file *file, const char *stem, const char *suffix, char path[XP_PATH_ROOM],
                           xp_error *err)
{
  for (int i = 1; i <= MOST_SUFFIXES; i++) {
    char number[16] = "";
    if (i > 1) {
      snprintf(number, sizeof number, "_%d", i);
    }
    if (snprintf(path, XP_PATH_ROOM, "%s/%s%s%s", file->directory, stem, number, suffix) >= XP_PATH_ROOM) {
      return xp_fail(err, XP_ERR_USAGE, "The path %.100s.. is too long", file->directory);
    }
    if (take(file, path)) {
      return XP_OK;
    }
    if (errno != EEXIST) {
      return fail_io(err, "Cannot write", path);
    }
  }
  return xp_fail(err, XP_ERR_IO, "Too many files of one name in %.300s", file->directory);
}

xp_status xp_new_file_publish(xp_new_file *file, const char *stem, const char *suffix, char path[XP_PATH_ROOM],
                              xp_error *err)
{
  char clean[256], name[XP_PATH_ROOM];
  clean_stem(stem, clean);
  xp_status status = xp_new_file_close(file, err);
  if (status == XP_OK) {
    status = take_name(file, clean, suffix, path != NULL ? path : name, err);
  }
  xp_new_file_discard(file);
  return status;
}

xp_status xp_new_file_publish_chosen(xp_new_file *file, xp_error *err)
{
  xp_status status = xp_new_file_close(file, err);
  if (status == XP_OK && !take(file, file->chosen)) {
    status = errno == EEXIST ? xp_fail(err, XP_ERR_IO, "%.500s exists: remove it, or choose another name", file->chosen)
                             : fail_file(err, file);
  }
  xp_new_file_discard(file);
  return status;
}
