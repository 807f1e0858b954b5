/* Fuzz target: loading a capture, and everything that can be asked of a loaded
 * one. */
#include "xspace/xspace.h"

#include <stdlib.h>

#include "xspace/aggregate.h"
#include "xspace/hlo_names.h"

static volatile uint64_t sink; /* keeps reads from being optimised away */

static void touch(xp_str s)
{
  for (size_t i = 0; i < s.len; i++) {
    sink += (uint8_t)s.ptr[i];
  }
}

static void read_stats(xp_stats stats)
{
  xp_stat stat;
  while (xp_stats_next(&stats, &stat)) {
    touch(stat.name);
    touch(xp_stat_text(&stat));
    sink += (uint64_t)xp_stat_int(&stat, 0);
  }
}

static void read_line(const xp_line *line)
{
  touch(line->name);
  xp_event_cursor cursor = xp_event_cursor_open(line);
  for (size_t i = 0; i < line->count; i++) {
    if (i > 0 && line->start_ps[i] < line->start_ps[i - 1]) {
      abort();
    }
    sink += (uint64_t)line->start_ps[i] + (uint64_t)xp_event_end(line, i);
    touch(xp_event_name(line, i));
    if (line->meta[i] & XP_EVENT_HAS_STATS) {
      read_stats(xp_event_stats(&cursor, i));
    }
  }
  if (line->count > 1) {
    read_stats(xp_event_stats(&cursor, line->count / 2)); /* backwards */
  }
}

static void read_plane(const xp_plane *plane)
{
  touch(plane->name);
  read_stats(xp_plane_stats(plane));
  for (size_t i = 0; i < plane->event_meta_count; i++) {
    touch(plane->event_meta[i].name);
    read_stats(xp_meta_stats(plane, &plane->event_meta[i]));
  }
  for (size_t i = 0; i < plane->line_count; i++) {
    read_line(&plane->lines[i]);
  }
}

static void read_programs(const xp_host *host, xp_arena *arena)
{
  xp_hlo_names *names = xp_hlo_names_open(host, arena);
  for (size_t i = 0; i < xp_hlo_program_count(names); i++) {
    const xp_hlo_program *program = xp_hlo_program_at(names, i);
    for (size_t k = 0; k < program->count; k++) {
      touch(program->instructions[k].op_name);
      xp_hlo_op_find(names, program->program_id, program->instructions[k].name);
    }
  }
}

static void sum_names(xp_str bytes, xp_arena *arena)
{
  xp_load_options options = {.threads = 1, .no_events = true};
  xp_capture *capture;
  xp_error err;
  if (xp_capture_load_memory(bytes, "fuzz", &options, &capture, &err) != XP_OK) {
    return;
  }
  xp_name_total *rows;
  size_t count;
  xp_aggregate_by_name(capture, NULL, NULL, 1, arena, &rows, &count);
  for (size_t i = 0; i < count; i++) {
    touch(rows[i].name);
  }
  xp_capture_free(capture);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  xp_arena *arena = xp_arena_create();
  jmp_buf escape;
  if (!arena || setjmp(escape)) {
    abort(); /* no input of this size needs much memory */
  }
  xp_arena_set_escape(arena, &escape);
  xp_str bytes = xp_str_from((const char *)data, size);
  xp_load_options options = {.threads = 1};
  xp_capture *capture = NULL;
  xp_error err;
  if (xp_capture_load_memory(bytes, "fuzz", &options, &capture, &err) == XP_OK) {
    for (size_t h = 0; h < capture->host_count; h++) {
      for (size_t p = 0; p < capture->hosts[h].plane_count; p++) {
        read_plane(&capture->hosts[h].planes[p]);
      }
      read_programs(&capture->hosts[h], arena);
    }
  } else if (capture || err.text[0] == '\0') {
    abort();
  }
  xp_capture_free(capture);
  sum_names(bytes, arena);
  xp_arena_destroy(arena);
  return 0;
}
