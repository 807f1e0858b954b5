/* What every test of the lower layers includes: cmocka, and short ways to make and load captures in memory. */
#ifndef XP_TESTS_TESTING_H
#define XP_TESTS_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wire/wire.h"
#include "xspace/write.h"
#include "xspace/xspace.h"

#define SCENARIOS "tests/data/scenarios/"
#define CAPTURES  "tests/data/captures/"

/* The emulator that runs the tests of a build for another processor; NULL if none does. */
static inline const char *emulator(void)
{
  return getenv("XLAPROF_EMULATOR");
}

/* Leaves a test out where an emulator runs it and cannot do what it needs; `why` goes on behind "the emulator". */
static inline void skip_if_emulated(const char *why)
{
  if (emulator() != NULL) {
    print_message("[          ] the emulator %s\n", why);
    skip();
  }
}

static inline void assert_str(xp_str s, const char *want)
{
  if (!xp_str_is(s, want)) {
    fail_msg("\"%.*s\" is not \"%s\"", XP_STR_ARG(s), want);
  }
}

static inline void assert_contains(const char *text, const char *part)
{
  if (strstr(text, part) == NULL) {
    fail_msg("\"%s\" does not contain \"%s\"", text, part);
  }
}

static inline void assert_str_contains(xp_str text, const char *part)
{
  if (xp_str_find_text(text, part) == text.len) {
    fail_msg("\"%.*s\" does not contain \"%s\"", XP_STR_ARG(text), part);
  }
}

static inline xp_str written(const xp_wire_writer *w)
{
  return xp_str_from((const char *)w->data, w->len);
}

/* Loads bytes that must be readable. */
static inline xp_capture *load_bytes(xp_str bytes)
{
  xp_capture *capture;
  xp_error err;
  if (xp_capture_load_memory(bytes, "test.xplane.pb", NULL, &capture, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  return capture;
}

static inline xp_capture *load_path(const char *path)
{
  xp_capture *capture;
  xp_error err;
  if (xp_capture_load(path, NULL, &capture, &err) != XP_OK) {
    fail_msg("%s", err.text);
  }
  return capture;
}

/* Appends a plane with one line of the given message to the space. */
static inline void put_plane(xp_wire_writer *space, const char *name, const xp_wire_writer *line)
{
  xp_wire_writer plane = {0};
  xp_wire_put_bytes(&plane, 2, xp_str_c(name));
  if (line != NULL) {
    xp_wire_put_message(&plane, 3, line);
  }
  xp_wire_put_message(space, 1, &plane);
  xp_wire_writer_free(&plane);
}

/* Appends an event record to a line. */
static inline void put_event(xp_wire_writer *line, uint64_t id, int64_t offset_ps, int64_t dur_ps)
{
  xp_wire_writer event = {0};
  xp_wire_put_varint(&event, 1, id);
  xp_wire_put_varint(&event, 2, (uint64_t)offset_ps);
  xp_wire_put_varint(&event, 3, (uint64_t)dur_ps);
  xp_wire_put_message(line, 4, &event);
  xp_wire_writer_free(&event);
}

/* Appends the plane that says when the session was. */
static inline void put_session(xp_wire_writer *space, uint64_t start_ns, uint64_t stop_ns)
{
  xp_plane_writer *plane = xp_plane_writer_create(xp_str_c("Task Environment"), 0);
  xp_plane_writer_uint(plane, xp_plane_writer_stat(plane, xp_str_c("profile_start_time")), start_ns);
  xp_plane_writer_uint(plane, xp_plane_writer_stat(plane, xp_str_c("profile_stop_time")), stop_ns);
  assert_true(xp_plane_writer_finish(plane, space));
}

/* The whole of a file; the caller frees it. */
static inline xp_str read_file(const char *path)
{
  FILE *f = fopen(path, "rb");
  assert_non_null(f);
  assert_int_equal(fseek(f, 0, SEEK_END), 0);
  long size = ftell(f);
  rewind(f);
  char *data = malloc((size_t)size + 1);
  assert_non_null(data);
  assert_int_equal(fread(data, 1, (size_t)size, f), size);
  fclose(f);
  return xp_str_from(data, (size_t)size);
}

static inline void write_file(const char *path, const void *data, size_t size)
{
  FILE *f = fopen(path, "wb");
  assert_non_null(f);
  assert_int_equal(fwrite(data, 1, size, f), size);
  assert_int_equal(fclose(f), 0);
}

/* Looks at everything that a capture holds, so that a sanitizer sees what is not there.  Returns a sum over it. */
static inline uint64_t touch_bytes(xp_str s)
{
  uint64_t sum = s.len;
  for (size_t i = 0; i < s.len; i++) {
    sum = sum * 31 + (uint8_t)s.ptr[i];
  }
  return sum;
}

static inline uint64_t touch_stats(xp_stats stats)
{
  uint64_t sum = 0;
  for (xp_stat stat; xp_stats_next(&stats, &stat);) {
    sum += touch_bytes(stat.name) + touch_bytes(stat.text) + stat.bits;
  }
  return sum;
}

static inline uint64_t touch_line(const xp_line *line)
{
  uint64_t sum = touch_bytes(line->name) + touch_bytes(line->display_name);
  xp_event_cursor cursor = xp_event_cursor_open(line);
  for (size_t i = 0; i < line->count; i++) {
    sum += (uint64_t)line->start_ps[i] * 3 + (uint64_t)xp_event_end(line, i) + touch_bytes(xp_event_name(line, i));
    sum += touch_stats(xp_event_stats(&cursor, i));
  }
  return sum;
}

static inline uint64_t touch_capture(const xp_capture *capture)
{
  uint64_t sum = 0;
  for (size_t h = 0; h < capture->host_count; h++) {
    const xp_host *host = &capture->hosts[h];
    sum += touch_bytes(host->name) + touch_bytes(host->problem);
    for (size_t i = 0; i < host->plane_count; i++) {
      const xp_plane *plane = &host->planes[i];
      sum += touch_bytes(plane->name) + touch_stats(xp_plane_stats(plane));
      for (size_t k = 0; k < plane->event_meta_count; k++) {
        sum += touch_bytes(plane->event_meta[k].name) + touch_stats(xp_meta_stats(plane, &plane->event_meta[k]));
      }
      for (size_t k = 0; k < plane->line_count; k++) {
        sum += touch_line(&plane->lines[k]);
      }
    }
  }
  return sum;
}

#endif
