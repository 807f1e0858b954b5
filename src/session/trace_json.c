/* The planes of the host and of one family of devices; the process of a plane and the thread of a line have the numbers
 * that upstream gives them.  JSON goes through a stream into zlib, so no event is held in memory but for the columns.
 */
#define _GNU_SOURCE
#include "session/trace_json.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

#include "json/writer.h"
#include "session/trace_choice.h"

enum { HOST_PID = 701, FIRST_DEVICE_PID = 1 };

typedef struct {
  xp_trace_choice choice;
  xp_json json;
} writing;

/* ---- names of processes and threads */

static int64_t pid_of(const xp_plane *plane)
{
  return xp_trace_is_host(plane) ? HOST_PID : FIRST_DEVICE_PID + plane->id;
}

/* Ids of threads that are hashes are cut to 32 bits, as upstream does. */
static uint32_t tid_of(const xp_line *line)
{
  return (uint32_t)line->id;
}

static void put_meta(writing *w, const char *name, int64_t pid, const uint32_t *tid, const char *key, xp_str text,
                     int64_t number)
{
  xp_json *j = &w->json;
  xp_json_object_line(j);
  xp_json_key(j, "ph");
  xp_json_text(j, "M");
  xp_json_key(j, "pid");
  xp_json_int(j, pid);
  if (tid != NULL) {
    xp_json_key(j, "tid");
    xp_json_uint(j, *tid);
  }
  xp_json_key(j, "name");
  xp_json_text(j, name);
  xp_json_key(j, "args");
  xp_json_object_line(j);
  xp_json_key(j, key);
  if (text.ptr != NULL) {
    xp_json_str(j, text);
  } else {
    xp_json_int(j, number);
  }
  xp_json_object_end(j);
  xp_json_object_end(j);
}

static void put_thread(writing *w, const xp_line *line)
{
  int64_t pid = pid_of(line->plane);
  uint32_t tid = tid_of(line);
  xp_str name = line->display_name.len > 0 ? line->display_name : line->name, none = {0};
  if (name.len > 0) {
    put_meta(w, "thread_name", pid, &tid, "name", name, 0);
  }
  put_meta(w, "thread_sort_index", pid, &tid, "sort_index", none,
           xp_trace_is_host(line->plane) ? (int64_t)line->index + 1 : tid);
}

static void put_process(void *context, const xp_plane *plane)
{
  writing *w = context;
  int64_t pid = pid_of(plane);
  xp_str none = {0};
  put_meta(w, "process_name", pid, NULL, "name", plane->name, 0);
  put_meta(w, "process_sort_index", pid, NULL, "sort_index", none, pid);
  for (size_t i = 0; i < plane->line_count; i++) {
    put_thread(w, &plane->lines[i]);
  }
}

/* ---- events */

/* Stats that only programs read (xplane_schema.cc, IsInternalStat). */
static bool is_internal(xp_str name)
{
  static const char *const internal[] = {"_pt", "_p", "_ct", "_c", "_r", "flops", "program_id", "symbol_id"};
  for (size_t i = 0; i < sizeof internal / sizeof *internal; i++) {
    if (xp_str_is(name, internal[i])) {
      return true;
    }
  }
  return false;
}

static void put_arg(xp_json *j, const xp_stat *stat)
{
  char text[32];
  xp_json_key_str(j, stat->name);
  switch (stat->type) {
  case XP_STAT_DOUBLE:
    snprintf(text, sizeof text, "%g", stat->real);
    xp_json_text(j, text);
    break;
  case XP_STAT_UINT64:
    snprintf(text, sizeof text, "%llu", (unsigned long long)stat->bits);
    xp_json_text(j, text);
    break;
  case XP_STAT_INT64:
    snprintf(text, sizeof text, "%lld", (long long)stat->bits);
    xp_json_text(j, text);
    break;
  case XP_STAT_STRING:
    xp_json_str(j, stat->text);
    break;
  default:
    xp_json_text(j, "<opaque bytes>");
  }
}

enum { MOST_ARGS = 64 };

static int by_name(const void *a, const void *b)
{
  return xp_str_cmp(((const xp_stat *)a)->name, ((const xp_stat *)b)->name);
}

/* The first of equal names counts (an event's own before those of its name); names are sorted. */
static size_t read_args(xp_event_cursor *cursor, size_t i, xp_stat args[MOST_ARGS])
{
  size_t count = 0;
  xp_stat stat;
  for (xp_stats stats = xp_event_stats(cursor, i); count < MOST_ARGS && xp_stats_next(&stats, &stat);) {
    bool is_new = stat.type != XP_STAT_NONE && !is_internal(stat.name);
    for (size_t k = 0; k < count; k++) {
      is_new = is_new && !xp_str_eq(args[k].name, stat.name);
    }
    if (is_new) {
      args[count++] = stat;
    }
  }
  if (count > 1) {
    qsort(args, count, sizeof *args, by_name);
  }
  return count;
}

/* The stat step_name stands above all names. */
static xp_str shown_name(const xp_event_meta *meta, const xp_stat *args, size_t count)
{
  for (size_t k = 0; k < count; k++) {
    if (xp_str_is(args[k].name, "step_name") && args[k].type == XP_STAT_STRING) {
      return args[k].text;
    }
  }
  return meta->display_name.len > 0 ? meta->display_name : meta->name;
}

static void put_event(writing *w, const xp_line *line, xp_event_cursor *cursor, size_t i)
{
  xp_json *j = &w->json;
  const xp_event_meta *meta = xp_event_meta_of(line, i);
  bool is_long = meta->display_name.len > 0;
  xp_stat args[MOST_ARGS];
  size_t count = read_args(cursor, i, args);
  int64_t dur_ps = xp_event_dur(line, i);
  xp_json_object_line(j);
  xp_json_key(j, "ph");
  xp_json_text(j, "X");
  xp_json_key(j, "pid");
  xp_json_int(j, pid_of(line->plane));
  xp_json_key(j, "tid");
  xp_json_uint(j, tid_of(line));
  xp_json_key(j, "ts");
  xp_json_decimal(j, line->start_ps[i], 6);
  xp_json_key(j, "dur");
  xp_json_decimal(j, dur_ps > 0 ? dur_ps : 1, 6); /* the viewer does not show events without length */
  xp_json_key(j, "name");
  xp_json_str(j, shown_name(meta, args, count));
  if (count > 0 || is_long) {
    xp_json_key(j, "args");
    xp_json_object_line(j);
    for (size_t k = 0; k < count; k++) {
      put_arg(j, &args[k]);
    }
    if (is_long) {
      xp_json_key(j, "long_name");
      xp_json_str(j, meta->name);
    }
    xp_json_object_end(j);
  }
  xp_json_object_end(j);
}

static void put_line(writing *w, const xp_line *line)
{
  xp_event_cursor cursor = xp_event_cursor_open(line);
  for (size_t i = 0; xp_trace_shows_line(line) && i < line->count; i++) {
    if (xp_trace_shows_event(line, i) && xp_trace_keeps(&w->choice, line->start_ps[i])) {
      put_event(w, line, &cursor, i);
    }
  }
}

static void put_events(void *context, const xp_plane *plane)
{
  writing *w = context;
  for (size_t i = 0; i < plane->line_count; i++) {
    put_line(w, &plane->lines[i]);
  }
}

static void put_all(writing *w)
{
  xp_json *j = &w->json;
  xp_json_object(j);
  xp_json_key(j, "displayTimeUnit");
  xp_json_text(j, "ns");
  xp_json_key(j, "metadata");
  xp_json_object_line(j);
  xp_json_key(j, "highres-ticks");
  xp_json_bool(j, true);
  xp_json_object_end(j);
  xp_json_key(j, "traceEvents");
  xp_json_array(j);
  xp_trace_each_plane(&w->choice, put_process, w);
  xp_trace_each_plane(&w->choice, put_events, w);
  xp_json_object_line(j);
  xp_json_object_end(j);
  xp_json_array_end(j);
  xp_json_object_end(j);
  xp_json_finish(j);
}

/* The program may have set a locale with a decimal comma; readers want a point.  False if memory is out. */
static bool put_all_with_point(writing *w)
{
  locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
  if (plain == (locale_t)0) {
    return false;
  }
  locale_t callers = uselocale(plain);
  put_all(w);
  uselocale(callers);
  freelocale(plain);
  return true;
}

/* ---- gzip behind a stream */

static ssize_t write_packed(void *cookie, const char *bytes, size_t count)
{
  return gzwrite(cookie, bytes, (unsigned)count) == (int)count ? (ssize_t)count : 0;
}

static xp_status write_stream(writing *w, gzFile packed, xp_error *err)
{
  FILE *out = fopencookie(packed, "w", (cookie_io_functions_t){.write = write_packed});
  if (out == NULL) {
    gzclose(packed);
    return xp_fail(err, XP_ERR_MEMORY, "No memory for writing the trace.json.gz");
  }
  setvbuf(out, NULL, _IOFBF, 64 << 10);
  xp_json_begin(&w->json, out);
  bool failed = !put_all_with_point(w) || ferror(out) != 0;
  failed |= fclose(out) != 0;
  failed |= gzclose(packed) != Z_OK;
  return failed ? xp_fail(err, XP_ERR_IO, "Cannot write the trace.json.gz: is the disk full?") : XP_OK;
}

xp_status xp_trace_json_write(const xp_capture *capture, int fd, uint64_t most, xp_error *err)
{
  writing w = {0};
  if (!xp_trace_choose(&w.choice, capture, most != 0 ? most : XP_TRACE_JSON_EVENTS)) {
    return xp_fail(err, XP_ERR_MEMORY, "No memory for choosing the events of the trace.json.gz");
  }
  int copy = dup(fd);
  gzFile packed = copy >= 0 ? gzdopen(copy, "wb1") : NULL; /* the fastest: such files are read once */
  if (packed == NULL) {
    if (copy >= 0) {
      close(copy);
    }
    return xp_fail(err, XP_ERR_MEMORY, "No memory for writing the trace.json.gz");
  }
  return write_stream(&w, packed, err);
}
