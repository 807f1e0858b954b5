/* Names are checked before anything is opened, and the kernel is asked to follow no link: every part of a name is
 * opened by itself, in the folder of the part before. */
#include "web/assets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_NAME = 255, MOST_FILE = 16 << 20 };

static const char *type_of(xp_str name)
{
  static const struct {
    const char *end, *type;
  } types[] = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".json", "application/json"},
      {".txt", "text/plain; charset=utf-8"},
  };
  for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
    if (xp_str_ends(name, types[i].end)) {
      return types[i].type;
    }
  }
  return "application/octet-stream";
}

/* Letters, digits, "-", "_", "." and slashes; no part is empty or begins with a dot. */
static bool is_plain(xp_str name)
{
  bool at_start = true;
  for (size_t i = 0; i < name.len; i++) {
    char c = name.ptr[i];
    bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
    if (!word && (at_start || (c != '.' && c != '/'))) {
      return false;
    }
    at_start = c == '/';
  }
  return name.len > 0 && name.len <= MOST_NAME && !at_start;
}

xp_status xp_assets_open_folder(const char *path, int *folder, xp_error *err)
{
  *folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (*folder >= 0) {
    return XP_OK;
  }
  return xp_fail(err, errno == ENOENT ? XP_ERR_NOT_FOUND : XP_ERR_USAGE,
                 "The folder %.300s for the page cannot be opened: %s", path, strerror(errno));
}

/* Opens the file of a plain name, part by part; -1 if there is none. */
static int open_file(int folder, xp_str name)
{
  char part[MOST_NAME + 1];
  int at = dup(folder);
  while (at >= 0 && name.len > 0) {
    size_t slash = xp_str_find(name, '/', 0);
    bool is_last = slash == name.len;
    memcpy(part, name.ptr, slash);
    part[slash] = '\0';
    int next = openat(at, part, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | (is_last ? 0 : O_DIRECTORY));
    close(at);
    at = next;
    name = xp_str_skip(name, slash + 1);
  }
  return at;
}

/* Reads an open file whole; false if it is none, or too large. */
static bool read_file(int file, xp_reply *reply)
{
  struct stat s;
  if (fstat(file, &s) != 0 || !S_ISREG(s.st_mode) || s.st_size > MOST_FILE) {
    return false;
  }
  size_t size = (size_t)s.st_size, got = 0;
  char *bytes = malloc(size > 0 ? size : 1);
  while (bytes != NULL && got < size) {
    ssize_t n = read(file, bytes + got, size - got);
    if (n <= 0) {
      break; /* it became shorter, or cannot be read: what there is */
    }
    got += (size_t)n;
  }
  reply->bytes = bytes;
  reply->size = got;
  return bytes != NULL;
}

static bool answer_from_folder(int folder, xp_str name, xp_reply *reply)
{
  int file = open_file(folder, name);
  bool done = file >= 0 && read_file(file, reply);
  if (file >= 0) {
    close(file);
  }
  return done;
}

static bool answer_from_program(xp_str name, xp_reply *reply)
{
  for (const xp_asset *asset = xp_assets; asset->name[0] != '\0'; asset++) {
    if (xp_str_is(name, asset->name)) {
      reply->fixed = (const char *)asset->bytes;
      reply->size = asset->size;
      return true;
    }
  }
  return false;
}

void xp_assets_answer(int folder, xp_str name, xp_reply *reply)
{
  xp_reply_clear(reply);
  name = name.len > 0 ? name : xp_str_c("index.html");
  bool found =
      is_plain(name) && (folder >= 0 ? answer_from_folder(folder, name, reply) : answer_from_program(name, reply));
  if (!found) {
    xp_reply_fail(reply, 404, "The page has no such file");
    return;
  }
  reply->status = 200;
  reply->type = type_of(name);
}
