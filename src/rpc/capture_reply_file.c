/* Bytes go from the connection into a temporary file as they come.  A part ends where the next one begins, so a file
 * gets its name when the next begins or the reply ends: never before all its bytes are there.
 *
 * Servers with a runtime of their own (libtpu) may send their results as tool_data, the capture among them under the
 * name "xplane.pb" (xla/tsl/profiler/rpc/client/save_profile.cc).
 */
#include "rpc/capture_reply_file.h"

#include <stdio.h>

static bool fail(xp_reply_file *f, xp_status status)
{
  f->status = f->status != XP_OK ? f->status : status;
  return false;
}

/* Gives the open file its name. */
static bool close_part(xp_reply_file *f)
{
  char path[XP_PATH_ROOM];
  if (!f->is_open) {
    return true;
  }
  f->is_open = false;
  xp_status status = xp_new_file_publish(&f->file, f->host, f->suffix, path, &f->err);
  if (status != XP_OK) {
    return fail(f, status);
  }
  if (strcmp(f->suffix, ".xplane.pb") == 0) {
    snprintf(f->path, sizeof f->path, "%s", path);
    f->has_capture = true;
  }
  return true;
}

static bool open_part(xp_reply_file *f, const char *suffix)
{
  if (!close_part(f)) {
    return false;
  }
  snprintf(f->suffix, sizeof f->suffix, "%s", suffix);
  xp_status status = xp_new_file_open(f->job->directory, &f->file, &f->err);
  f->is_open = status == XP_OK;
  return f->is_open || fail(f, status);
}

static bool write_part(xp_reply_file *f, xp_str piece)
{
  xp_status status = xp_new_file_write(&f->file, piece.ptr, piece.len, &f->err);
  return status == XP_OK || fail(f, status);
}

/* ---- the parts of a reply */

/* Several captures in one reply are one XSpace in pieces: they go into one file. */
static bool begin_capture(void *context, uint64_t bytes)
{
  xp_reply_file *f = context;
  if (bytes == 0) {
    return true;
  }
  return (f->is_open && strcmp(f->suffix, ".xplane.pb") == 0) || open_part(f, ".xplane.pb");
}

static bool add_capture(void *context, xp_str piece)
{
  xp_reply_file *f = context;
  f->capture_bytes += piece.len;
  return write_part(f, piece);
}

static bool begin_tool(void *context, xp_str name, uint64_t bytes)
{
  xp_reply_file *f = context;
  char suffix[300];
  if (bytes == 0 || name.len == 0 || xp_str_ends(name, "tf_stats_helper_result")) { /* upstream skips it, too */
    return close_part(f);
  }
  snprintf(suffix, sizeof suffix, ".%.*s", XP_STR_ARG(name));
  for (char *c = suffix; *c != '\0'; c++) {
    *c = *c == '/' || (unsigned char)*c < 0x20 ? '_' : *c;
  }
  return open_part(f, suffix);
}

static bool add_tool(void *context, xp_str piece)
{
  xp_reply_file *f = context;
  if (!f->is_open) {
    return true;
  }
  f->capture_bytes += strcmp(f->suffix, ".xplane.pb") == 0 ? piece.len : 0;
  return write_part(f, piece);
}

/* ---- the whole */

void xp_reply_file_init(xp_reply_file *f, xp_capture_job *job, const char *host)
{
  *f = (xp_reply_file){.job = job, .host = host, .file = {.fd = -1}};
  f->sink = (xp_profile_reply_sink){begin_capture, add_capture, begin_tool, add_tool, f};
}

bool xp_reply_file_sink(void *context, uint64_t total, xp_str bytes)
{
  xp_reply_file *f = context;
  if (f->reply.sink == NULL) {
    xp_profile_reply_open(&f->reply, total, &f->sink);
  }
  xp_error err = {0};
  xp_status status = xp_profile_reply_feed(&f->reply, bytes, &err);
  if (status != XP_OK && status != XP_ERR_CANCELLED) { /* cancelled: by one of the functions above, which said why */
    f->err = err;
    fail(f, status);
  }
  return f->status == XP_OK;
}

void xp_reply_file_discard(xp_reply_file *f)
{
  xp_new_file_discard(&f->file);
  f->is_open = false;
}

xp_status xp_reply_file_finish(xp_reply_file *f, xp_error *err)
{
  if (f->status == XP_OK && f->reply.sink != NULL) {
    f->status = xp_profile_reply_end(&f->reply, &f->err);
  }
  if (f->status == XP_OK) {
    close_part(f);
  }
  xp_reply_file_discard(f);
  if (f->status != XP_OK && err != NULL) {
    *err = f->err;
  }
  return f->status;
}
