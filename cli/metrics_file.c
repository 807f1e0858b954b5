/* A report is a small text file; the strings of what was read are slices of it, so it stays open. */
#include "metrics_file.h"

#include <sys/stat.h>

#include "base/file.h"
#include "terminal.h"

enum { PROBE_BYTES = 1 << 16 };

static bool is_plain_file(const char *path)
{
  struct stat s;
  return stat(path, &s) == 0 && S_ISREG(s.st_mode);
}

bool metrics_file_probe(const char *path)
{
  char start[PROBE_BYTES];
  FILE *file = is_plain_file(path) ? fopen(path, "rb") : NULL;
  if (file == NULL) {
    return false;
  }
  size_t n = fread(start, 1, sizeof start, file);
  fclose(file);
  /* a capture begins with the tag of a plane, an error or a host name (field 1 to 4, bytes) or is packed */
  return n > 0 && (start[0] == '\t' || start[0] == '\n' || start[0] == '\r' || (uint8_t)start[0] >= 0x20) &&
         memchr(start, '\0', n) == NULL && xp_metrics_report_probe(xp_str_from(start, n));
}

xp_status metrics_file_read(metrics_file *m, const char *path, xp_error *err)
{
  metrics_file_close(m);
  snprintf(m->path, sizeof m->path, "%s", path);
  m->arena = xp_arena_create();
  if (m->arena == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out while the metrics report was read");
  }
  xp_status status = xp_file_open(path, &m->file, err);
  if (status == XP_OK) {
    status = xp_metrics_report_read(m->file.bytes, xp_str_c(m->path), m->arena, &m->report, err);
  } else {
    memset(&m->file, 0, sizeof m->file);
  }
  m->found = status == XP_OK;
  return status;
}

xp_status metrics_file_take(metrics_file *m, const char *text, const char *name, xp_error *err)
{
  metrics_file_close(m);
  snprintf(m->path, sizeof m->path, "%s", name);
  m->arena = xp_arena_create();
  if (m->arena == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "Memory ran out while the metrics report was read");
  }
  xp_status status = xp_metrics_report_read(xp_str_c(text), xp_str_c(m->path), m->arena, &m->report, err);
  m->found = status == XP_OK;
  return status;
}

static bool read_if_there(metrics_file *m, const char *path)
{
  xp_error err = {0};
  if (!is_plain_file(path) || !metrics_file_probe(path)) {
    return false;
  }
  if (metrics_file_read(m, path, &err) == XP_OK) {
    return true;
  }
  complain("warning: ", xp_str_c(err.text));
  return false;
}

/* The path without .xplane.pb and .gz or .zst. */
static xp_str stem_of(xp_str path)
{
  static const char *const endings[] = {".gz", ".zst", ".pb", ".xplane"};
  for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
    if (xp_str_ends(path, endings[i])) {
      path.len -= strlen(endings[i]);
    }
  }
  return path;
}

void metrics_file_find(metrics_file *m, const xp_capture *capture)
{
  char path[4096];
  if (capture->host_count == 0) {
    return;
  }
  xp_str first = capture->hosts[0].path, stem = stem_of(first);
  size_t slash = xp_str_rfind(first, '/');
  xp_str folder = slash < first.len ? xp_str_take(first, slash + 1) : xp_str_c("");
  snprintf(path, sizeof path, "%.*s.metrics.txt", XP_STR_ARG(stem));
  if (read_if_there(m, path)) {
    return;
  }
  snprintf(path, sizeof path, "%.*smetrics.txt", XP_STR_ARG(folder));
  read_if_there(m, path);
}

void metrics_file_close(metrics_file *m)
{
  xp_file_close(&m->file);
  xp_arena_destroy(m->arena);
  memset(m, 0, sizeof *m);
}
