/* The command line: which options there are, which commands they serve, and what the user gave.
 *
 * One table holds every option with the commands that know it; parsing and help both come from it.
 */
#ifndef XLAPROF_OPTIONS_H
#define XLAPROF_OPTIONS_H

#include "report/report.h"

typedef enum {
  CMD_REPORT,
  CMD_INFO,
  CMD_COUNTERS,
  CMD_STEPS,
  CMD_GAPS,
  CMD_OPS,
  CMD_NAMES,
  CMD_EVENTS,
  CMD_VIEW,
  CMD_CAPTURE,
  CMD_AOT,
  CMD_CHECK,
  CMD_DEMO,
  CMD_COUNT
} command_id;

enum { MOST_ADVANCED = 32 };

typedef struct {
  command_id command;
  const char *path;
  bool json, csv, no_color, raw_names, by_name;
  const char *host, *run, *device, *step, *input, *metrics;
  const char *match, *plane, *line;
  const char *html;
  bool has_from, has_to, has_limit, has_min_gap;
  int64_t from_ps, to_ps, min_gap_ps;
  uint64_t limit, top, width, threads;
  bool has_top;
  xp_ops_by by;
  /* view */
  const char *assets;
  bool open, has_port;
  uint64_t port;
  /* aot */
  const char *plugin, *topology;
  bool require_names;
  /* check, with step and input */
  const char *expect, *scopes;
  bool has_floor;
  double floor_percent;
  /* demo */
  const char *capture_dir, *image, *program;
  bool is_fixed, is_plain;
  /* capture */
  const char *logdir; /* its second operand */
  const char *session_id;
  bool save_on_server, has_python_level;
  uint64_t duration_ms, attempts, host_level, device_level, python_level, delay_ms, timeout_s, interval_s;
  bool has_duration, has_attempts, has_host_level, has_device_level, has_timeout, has_interval;
  const char *advanced[2 * MOST_ADVANCED + 1]; /* key and value in turn, NULL at the end */
  size_t advanced_count;
  char advanced_keys[MOST_ADVANCED][64]; /* of --tpu-..: the words with _ for - */
} options;

typedef struct {
  const char *name;     /* "--from" */
  const char *argument; /* "TIME"; NULL for a switch */
  unsigned commands;    /* bit for each command_id */
  const char *help;
} option_help;

/* Option i of the table; NULL behind the last. */
const option_help *option_at(size_t i);

/* Reads words[0..count-1], options in any place, into *o, whose command is set.  False with a text if something is
 * wrong. */
bool options_parse(options *o, int count, char **words, xp_error *err);

#endif
