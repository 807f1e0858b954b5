/* Bytes go from the connection into temporary files as they come, one for each part of the reply.  All get their names
 * when the reply has ended well, so a reply that breaks off leaves nothing, and asking again finds the names free.
 *
 * Servers with a runtime of their own (libtpu) may send their results as tool_data, the capture among them under the
 * name "xplane.pb" (xla/tsl/profiler/rpc/client/save_profile.cc).
 */
#include "rpc/capture_reply_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_PARTS = 256 }; /* upstream has a dozen tools */

static bool fail(xp_reply_file *f, xp_status status)
{
  f->status = f->status != XP_OK ? f->status : status;
  return false;
}

static xp_reply_part *open_one(xp_reply_file *f)
{
  return f->is_open ? &f->parts[f->part_count - 1] : NULL;
}

static bool is_capture(const xp_reply_part *part)
{
  return part != NULL && strcmp(part->suffix, ".xplane.pb") == 0;
}

static bool close_part(xp_reply_file *f)
{
  xp_reply_part *part = open_one(f);
  f->is_open = false;
  xp_status status = part != NULL ? xp_new_file_close(&part->file, &f->err) : XP_OK;
  return status == XP_OK || fail(f, status);
}

static xp_reply_part *add_part(xp_reply_file *f)
{
  if (f->part_count == MOST_PARTS) {
    fail(f, xp_fail(&f->err, XP_ERR_FORMAT, "it has more than %d parts", MOST_PARTS));
    return NULL;
  }
  xp_reply_part *parts = realloc(f->parts, (f->part_count + 1) * sizeof *parts);
  if (parts == NULL) {
    fail(f, xp_fail(&f->err, XP_ERR_MEMORY, "No memory for the reply"));
    return NULL;
  }
  f->parts = parts;
  return &parts[f->part_count];
}

static bool open_part(xp_reply_file *f, const char *suffix)
{
  xp_reply_part *part = close_part(f) ? add_part(f) : NULL;
  if (part == NULL) {
    return false;
  }
  snprintf(part->suffix, sizeof part->suffix, "%s", suffix);
  part->path[0] = '\0';
  xp_status status = xp_new_file_open(f->job->directory, NULL, &part->file, &f->err);
  f->is_open = status == XP_OK;
  f->part_count += f->is_open;
  return f->is_open || fail(f, status);
}

static bool write_part(xp_reply_file *f, xp_str piece)
{
  xp_status status = xp_new_file_write(&open_one(f)->file, piece.ptr, piece.len, &f->err);
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
  return is_capture(open_one(f)) || open_part(f, ".xplane.pb");
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
  f->capture_bytes += is_capture(open_one(f)) ? piece.len : 0;
  return write_part(f, piece);
}

/* ---- the whole */

void xp_reply_file_init(xp_reply_file *f, xp_capture_job *job, const char *host)
{
  *f = (xp_reply_file){.job = job, .host = host};
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

/* Takes away what there is, under whatever name. */
static void remove_parts(xp_reply_file *f)
{
  for (size_t i = 0; i < f->part_count; i++) {
    xp_new_file_discard(&f->parts[i].file);
    if (f->parts[i].path[0] != '\0') {
      unlink(f->parts[i].path);
    }
  }
}

void xp_reply_file_discard(xp_reply_file *f)
{
  remove_parts(f);
  free(f->parts);
  f->parts = NULL;
  f->part_count = 0;
  f->is_open = false;
}

/* Gives all parts their names. */
static xp_status publish(xp_reply_file *f)
{
  xp_status status = XP_OK;
  for (size_t i = 0; i < f->part_count && status == XP_OK; i++) {
    xp_reply_part *part = &f->parts[i];
    char path[XP_PATH_ROOM];
    status = xp_new_file_publish(&part->file, f->host, part->suffix, path, &f->err);
    if (status == XP_OK) {
      memcpy(part->path, path, sizeof path);
    }
    if (status == XP_OK && is_capture(part)) {
      memcpy(f->path, path, sizeof path);
      f->has_capture = true;
    }
  }
  return status;
}

xp_status xp_reply_file_finish(xp_reply_file *f, xp_error *err)
{
  if (f->status == XP_OK && f->reply.sink != NULL) {
    f->status = xp_profile_reply_end(&f->reply, &f->err);
  }
  if (f->status == XP_OK && close_part(f)) {
    f->status = publish(f);
  }
  if (f->status == XP_OK) {
    f->part_count = 0; /* they stay */
  }
  xp_reply_file_discard(f);
  if (f->status != XP_OK && err != NULL) {
    *err = f->err;
  }
  return f->status;
}
