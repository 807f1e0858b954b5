/* Reading ropes back, and planes and lines made by hand: what the tests of sessions share. */
#ifndef XP_TESTS_ROPES_H
#define XP_TESTS_ROPES_H

#include "session/rope.h"
#include "testing.h"

/* All bytes of a rope, read with room for `chunk` bytes at a time; the caller frees ptr. */
static inline xp_str read_rope(const xp_rope *rope, size_t chunk)
{
  assert_false(rope->failed);
  char *bytes = malloc((size_t)rope->bytes + chunk + 1);
  assert_non_null(bytes);
  xp_rope_reader reader = xp_rope_open(rope);
  size_t len = 0;
  for (size_t taken; (taken = xp_rope_read(&reader, bytes + len, chunk)) > 0;) {
    len += taken;
    assert_true(len <= rope->bytes);
  }
  xp_rope_close(&reader);
  assert_int_equal(len, rope->bytes);
  return xp_str_from(bytes, len);
}

/* The bytes of a rope as a capture; the caller frees both. */
static inline xp_capture *load_rope(const xp_rope *rope, xp_str *bytes)
{
  *bytes = read_rope(rope, 4096);
  return load_bytes(*bytes);
}

static inline xp_str owned(xp_wire_writer *w, xp_arena *arena)
{
  assert_false(w->failed);
  xp_str copy = xp_arena_copy(arena, written(w));
  xp_wire_writer_free(w);
  return copy;
}

/* ---- messages by hand, in an arena */

static inline void put_text(xp_wire_writer *w, uint32_t field, const char *text)
{
  xp_wire_put_bytes(w, field, xp_str_c(text));
}

/* An entry of a table of names: event metadata (4) or stat metadata (5). */
static inline void put_name(xp_wire_writer *plane, uint32_t field, int64_t id, const char *name)
{
  xp_wire_writer message = {0}, entry = {0};
  xp_wire_put_varint(&message, 1, (uint64_t)id);
  put_text(&message, 2, name);
  xp_wire_put_varint(&entry, 1, (uint64_t)id);
  xp_wire_put_message(&entry, 2, &message);
  xp_wire_put_message(plane, field, &entry);
  xp_wire_writer_free(&message);
  xp_wire_writer_free(&entry);
}

/* A stat with a number: 3 uint64, 4 int64, 7 a reference. */
static inline void put_stat(xp_wire_writer *to, uint32_t field, int64_t id, uint32_t kind, uint64_t value)
{
  xp_wire_writer stat = {0};
  xp_wire_put_varint(&stat, 1, (uint64_t)id);
  xp_wire_put_varint(&stat, kind, value);
  xp_wire_put_message(to, field, &stat);
  xp_wire_writer_free(&stat);
}

/* ---- what was read */

static inline const xp_plane *plane_of(const xp_capture *capture, const char *name)
{
  for (size_t i = 0; i < capture->hosts[0].plane_count; i++) {
    if (xp_str_is(capture->hosts[0].planes[i].name, name)) {
      return &capture->hosts[0].planes[i];
    }
  }
  fail_msg("there is no plane %s", name);
  return NULL;
}

static inline const xp_line *line_of(const xp_plane *plane, const char *name)
{
  for (size_t i = 0; i < plane->line_count; i++) {
    if (xp_str_is(plane->lines[i].name, name)) {
      return &plane->lines[i];
    }
  }
  fail_msg("there is no line %s", name);
  return NULL;
}

/* A stat by its name; false if there is none. */
static inline bool find_stat(xp_stats stats, const char *name, xp_stat *found)
{
  while (xp_stats_next(&stats, found)) {
    if (xp_str_is(found->name, name)) {
      return true;
    }
  }
  return false;
}

static inline xp_stat stat_of(xp_stats stats, const char *name)
{
  xp_stat found;
  if (!find_stat(stats, name, &found)) {
    fail_msg("there is no stat %s", name);
  }
  return found;
}

static inline size_t count_stats(xp_stats stats, const char *name)
{
  size_t count = 0;
  for (xp_stat stat; xp_stats_next(&stats, &stat);) {
    count += xp_str_is(stat.name, name);
  }
  return count;
}

/* Fails unless a line's events are these: "name start duration;" for each, in picoseconds. */
static inline void assert_events(const xp_line *line, const char *want)
{
  char text[2048] = "";
  size_t len = 0;
  for (size_t i = 0; i < line->count && len < sizeof text; i++) {
    len += (size_t)snprintf(text + len, sizeof text - len, "%.*s %lld %lld;", XP_STR_ARG(xp_event_name(line, i)),
                            (long long)line->start_ps[i], (long long)xp_event_dur(line, i));
  }
  assert_string_equal(text, want);
}

#endif
