/* Every option writes one field of the structure; its kind says how the text becomes the value.  A command takes an
 * option only if its output depends on it: an option that did nothing would be believed. */
#include "options.h"

#include <inttypes.h>
#include <stddef.h>

#include "report/format.h"
#include "suggest.h"

typedef enum { KIND_SWITCH, KIND_TEXT, KIND_TIME, KIND_NUMBER, KIND_PERCENT, KIND_BY, KIND_PAIR, KIND_TPU } option_kind;

#define ONLY(id) (1u << CMD_##id)
enum {
  PRINTING = ((1u << CMD_COUNT) - 1) & ~ONLY(VIEW),
  READING = PRINTING & ~(ONLY(CAPTURE) | ONLY(AOT) | ONLY(DEMO)),
  LOADING = READING | ONLY(VIEW),
  TABLES = (READING & ~(ONLY(REPORT) | ONLY(CHECK))) | ONLY(AOT),
  SENTENCES = READING | ONLY(AOT) | ONLY(DEMO),
  EXPLAINING = ONLY(REPORT) | ONLY(GAPS),
  STEPPING = EXPLAINING | ONLY(STEPS),
  TIMED = STEPPING | ONLY(EVENTS),
  NAMING = EXPLAINING | ONLY(OPS) | ONLY(NAMES),
  BY_DEVICE = NAMING | ONLY(STEPS),
  NO_FIELD = 0
};

typedef struct {
  option_help shown;
  option_kind kind;
  size_t value; /* offset of the field */
  size_t given; /* offset of the bool that says that it was given; NO_FIELD: none */
} option;

#define FIELD(name) offsetof(options, name)

static const option table[] = {
    {{"--json", NULL, PRINTING, "the result as JSON"}, KIND_SWITCH, FIELD(json), NO_FIELD},
    {{"--csv", NULL, TABLES, "the main table as CSV, times in ps"}, KIND_SWITCH, FIELD(csv), NO_FIELD},
    {{"--html", "FILE", ONLY(REPORT), "the result as a page with pictures, into a new FILE"},
     KIND_TEXT,
     FIELD(html),
     NO_FIELD},
    {{"--duration-ms", "N", ONLY(CAPTURE), "how long to trace (1000)"},
     KIND_NUMBER,
     FIELD(duration_ms),
     FIELD(has_duration)},
    {{"--delay-ms", "N", ONLY(CAPTURE), "begin so long after the request (0)"}, KIND_NUMBER, FIELD(delay_ms), NO_FIELD},
    {{"--timeout-s", "N", ONLY(CAPTURE), "how long to go on asking (120)"},
     KIND_NUMBER,
     FIELD(timeout_s),
     FIELD(has_timeout)},
    {{"--interval-s", "N", ONLY(CAPTURE), "time between rounds of requests (5)"},
     KIND_NUMBER,
     FIELD(interval_s),
     FIELD(has_interval)},
    {{"--attempts", "N", ONLY(CAPTURE), "requests in a round, if captures are empty (3)"},
     KIND_NUMBER,
     FIELD(attempts),
     FIELD(has_attempts)},
    {{"--host-tracer-level", "N", ONLY(CAPTURE), "0 nothing, 1 user's, 2, 3 more of the host (2)"},
     KIND_NUMBER,
     FIELD(host_level),
     FIELD(has_host_level)},
    {{"--device-tracer-level", "N", ONLY(CAPTURE), "0 or 1: trace the devices (1)"},
     KIND_NUMBER,
     FIELD(device_level),
     FIELD(has_device_level)},
    {{"--python-tracer-level", "N", ONLY(CAPTURE), "0 or 1: trace Python calls (the server's choice)"},
     KIND_NUMBER,
     FIELD(python_level),
     FIELD(has_python_level)},
    {{"--session-id", "NAME", ONLY(CAPTURE), "name of the run (date and time)"},
     KIND_TEXT,
     FIELD(session_id),
     NO_FIELD},
    {{"--save-on-server", NULL, ONLY(CAPTURE), "the program writes LOGDIR on its own disk"},
     KIND_SWITCH,
     FIELD(save_on_server),
     NO_FIELD},
    {{"--advanced", "KEY=VALUE", ONLY(CAPTURE), "an option for the devices' profilers"},
     KIND_PAIR,
     FIELD(advanced),
     NO_FIELD},
    {{"--tpu-...", "VALUE", ONLY(CAPTURE), "the same: --tpu-trace-mode X is tpu_trace_mode=X"},
     KIND_TPU,
     FIELD(advanced),
     NO_FIELD},
    {{"--plugin", "FILE", ONLY(AOT) | ONLY(DEMO), "PJRT plugin to use, such as libtpu.so"},
     KIND_TEXT,
     FIELD(plugin),
     NO_FIELD},
    {{"--capture", "LOGDIR", ONLY(DEMO), "keep the capture there; lab: count from it, too"},
     KIND_TEXT,
     FIELD(capture_dir),
     NO_FIELD},
    {{"--fixed", NULL, ONLY(DEMO), "sd21, sdxl: with what leaves the gaps moved away"},
     KIND_SWITCH,
     FIELD(is_fixed),
     NO_FIELD},
    {{"--plain", NULL, ONLY(DEMO), "without annotations"}, KIND_SWITCH, FIELD(is_plain), NO_FIELD},
    {{"--image", "FILE", ONLY(DEMO), "sd21, sdxl: write the picture as PNG"}, KIND_TEXT, FIELD(image), NO_FIELD},
    {{"--program", "FILE", ONLY(DEMO), "lab: write the program of a step (HLO), for aot; --plain: without names"},
     KIND_TEXT,
     FIELD(program),
     NO_FIELD},
    {{"--topology", "NAME", ONLY(AOT), "machine to compile for (v5e:2x2x1)"}, KIND_TEXT, FIELD(topology), NO_FIELD},
    {{"--require-names", NULL, ONLY(AOT), "exit status 1 if no instruction carries a scope"},
     KIND_SWITCH,
     FIELD(require_names),
     NO_FIELD},
    {{"--step", "NAME", ONLY(CHECK), "the step, as the program calls it"}, KIND_TEXT, FIELD(step), NO_FIELD},
    {{"--scopes", "NAME[,NAME..]", ONLY(CHECK), "scopes that instructions must carry"},
     KIND_TEXT,
     FIELD(scopes),
     NO_FIELD},
    {{"--expect", "FILE", ONLY(CHECK), "the predicted gaps, a JSON list of rows"}, KIND_TEXT, FIELD(expect), NO_FIELD},
    {{"--floor", "PERCENT", ONLY(CHECK), "gaps count from this share of the step's period on (2)"},
     KIND_PERCENT,
     FIELD(floor_percent),
     FIELD(has_floor)},
    {{"--port", "N", ONLY(VIEW), "serve on this port of 127.0.0.1 (8080, or the next free one)"},
     KIND_NUMBER,
     FIELD(port),
     FIELD(has_port)},
    {{"--open", NULL, ONLY(VIEW), "open the page with xdg-open"}, KIND_SWITCH, FIELD(open), NO_FIELD},
    {{"--assets", "DIR", ONLY(VIEW), "serve the page from this folder, to change it"},
     KIND_TEXT,
     FIELD(assets),
     NO_FIELD},
    {{"--by", "WHAT", ONLY(OPS), "group by op, scope, category, module or source"}, KIND_BY, FIELD(by), NO_FIELD},
    {{"--match", "REGEX", ONLY(EVENTS), "only events whose name holds this expression"},
     KIND_TEXT,
     FIELD(match),
     NO_FIELD},
    {{"--plane", "NAME", ONLY(EVENTS), "only this plane (the name or a part of it)"},
     KIND_TEXT,
     FIELD(plane),
     NO_FIELD},
    {{"--line", "NAME", ONLY(EVENTS), "only this line, that is thread or stream"}, KIND_TEXT, FIELD(line), NO_FIELD},
    {{"--by-name", NULL, ONLY(EVENTS), "one row a name: count, total, mean, shortest, longest"},
     KIND_SWITCH,
     FIELD(by_name),
     NO_FIELD},
    {{"--limit", "N", ONLY(EVENTS), "at most N rows (100; --by-name: all), 0 for all"},
     KIND_NUMBER,
     FIELD(limit),
     FIELD(has_limit)},
    {{"--from", "TIME", TIMED, "only what overlaps the time after TIME (1.5ms, 20us)"},
     KIND_TIME,
     FIELD(from_ps),
     FIELD(has_from)},
    {{"--to", "TIME", TIMED, "and before TIME, both from the session start"}, KIND_TIME, FIELD(to_ps), FIELD(has_to)},
    {{"--step", "NAME[:NUM]", STEPPING, "only what belongs to this step"}, KIND_TEXT, FIELD(step), NO_FIELD},
    {{"--device", "NAME", BY_DEVICE | ONLY(CHECK), "only this device"}, KIND_TEXT, FIELD(device), NO_FIELD},
    {{"--host", "NAME", LOADING, "only this host of the run"}, KIND_TEXT, FIELD(host), NO_FIELD},
    {{"--run", "NAME", LOADING, "this run instead of the newest"}, KIND_TEXT, FIELD(run), NO_FIELD},
    {{"--min-gap", "TIME", EXPLAINING, "gaps below it are added up, not listed (1us)"},
     KIND_TIME,
     FIELD(min_gap_ps),
     FIELD(has_min_gap)},
    {{"--input", "REGEX", EXPLAINING | ONLY(CHECK), "further names of events that get input data"},
     KIND_TEXT,
     FIELD(input),
     NO_FIELD},
    {{"--metrics", "FILE", ONLY(COUNTERS) | ONLY(REPORT) | ONLY(VIEW), "torch_xla metrics report of the same run"},
     KIND_TEXT,
     FIELD(metrics),
     NO_FIELD},
    {{"--raw-names", NULL, NAMING, "names as they are (fwd.2, not fwd; jvp(x), not x)"},
     KIND_SWITCH,
     FIELD(raw_names),
     NO_FIELD},
    {{"--top", "N", (READING & ~ONLY(EVENTS)) | ONLY(AOT), "at most N rows in each text table, 0 for all"},
     KIND_NUMBER,
     FIELD(top),
     FIELD(has_top)},
    {{"--width", "N", SENTENCES, "columns of text (the terminal's; 80 in a pipe)"},
     KIND_NUMBER,
     FIELD(width),
     NO_FIELD},
    {{"--no-color", NULL, SENTENCES, "no bold headings on a terminal (also: NO_COLOR=1)"},
     KIND_SWITCH,
     FIELD(no_color),
     NO_FIELD},
    {{"--threads", "N", LOADING, "threads to read with (one for each core)"}, KIND_NUMBER, FIELD(threads), NO_FIELD},
};

enum { OPTION_COUNT = sizeof table / sizeof table[0] };

const option_help *option_at(size_t i)
{
  return i < OPTION_COUNT ? &table[i].shown : NULL;
}

static bool fail(xp_error *err, const char *what, const char *word, const char *hint)
{
  xp_fail(err, XP_ERR_USAGE, "%s \"%.100s\". %s", what, word, hint);
  return false;
}

static bool bad_value(xp_error *err, const option *opt, const char *text, const char *problem)
{
  xp_fail(err, XP_ERR_USAGE, "%s \"%.100s\" %s", opt->shown.name, text, problem);
  return false;
}

/* The option that a word names, "--from" or "--from=1ms"; *value is what follows "=", else NULL.  Of two with one name
 * that of the command. */
static const option *find_option(const options *o, const char *word, const char **value)
{
  const option *other = NULL;
  size_t length = strcspn(word, "=");
  *value = word[length] == '=' ? word + length + 1 : NULL;
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    bool is_family = table[i].kind == KIND_TPU && strncmp(word, "--tpu-", 6) == 0 && length > 6;
    if (is_family || (strlen(table[i].shown.name) == length && strncmp(word, table[i].shown.name, length) == 0)) {
      if (table[i].shown.commands & (1u << o->command)) {
        return &table[i];
      }
      other = &table[i];
    }
  }
  return other;
}

/* ---- options of the devices' profilers */

static bool add_advanced(options *o, const char *key, const char *value)
{
  if (o->advanced_count == MOST_ADVANCED) {
    return false;
  }
  o->advanced[2 * o->advanced_count] = key;
  o->advanced[2 * o->advanced_count + 1] = value;
  o->advanced_count++;
  return true;
}

/* "key=value" */
static bool add_pair(options *o, const char *text)
{
  char *key = o->advanced_keys[o->advanced_count < MOST_ADVANCED ? o->advanced_count : 0];
  size_t length = strcspn(text, "=");
  if (text[length] != '=' || length == 0 || length >= sizeof o->advanced_keys[0] ||
      o->advanced_count == MOST_ADVANCED) {
    return false;
  }
  snprintf(key, sizeof o->advanced_keys[0], "%.*s", (int)length, text);
  return add_advanced(o, key, text + length + 1);
}

/* "--tpu-trace-mode" and its value. */
static bool add_tpu(options *o, const char *word, const char *value)
{
  char *key = o->advanced_keys[o->advanced_count < MOST_ADVANCED ? o->advanced_count : 0];
  size_t length = strcspn(word, "=") - 2;
  if (length >= sizeof o->advanced_keys[0] || o->advanced_count == MOST_ADVANCED) {
    return false;
  }
  snprintf(key, sizeof o->advanced_keys[0], "%.*s", (int)length, word + 2);
  for (char *c = key; *c != '\0'; c++) {
    *c = *c == '-' ? '_' : *c;
  }
  return add_advanced(o, key, value);
}

static bool unknown_option(const options *o, const char *word, xp_error *err)
{
  const char *best = NULL;
  size_t length = strcspn(word, "="), distance = 3;
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    if (!(table[i].shown.commands & (1u << o->command))) {
      continue;
    }
    size_t d = edit_distance(word, length, table[i].shown.name);
    if (d < distance) {
      distance = d;
      best = table[i].shown.name;
    }
  }
  char hint[160];
  snprintf(hint, sizeof hint, "%s%s%sxlaprof help %s lists the options", best ? "Did you mean " : "", best ? best : "",
           best ? "? " : "", command_name(o->command));
  return fail(err, "There is no option", word, hint);
}

/* An option that another command takes: says which. */
static bool wrong_command(const options *o, const option *opt, xp_error *err)
{
  char names[160] = "";
  size_t length = 0, left = (size_t)__builtin_popcount(opt->shown.commands);
  if (strcmp(opt->shown.name, "--csv") == 0 && o->command == CMD_REPORT) {
    return fail(err, "This command has no option", opt->shown.name,
                "The report is no single table: use gaps, steps, ops, names or counters with --csv, or report --json");
  }
  for (int id = 0; id < CMD_COUNT; id++) {
    if (opt->shown.commands & (1u << id)) {
      left--;
      length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", command_name((command_id)id),
                                 left > 1    ? ", "
                                 : left == 1 ? " and "
                                             : "");
    }
  }
  const char *command = command_name(o->command);
  xp_fail(err, XP_ERR_USAGE, "%s acts on %s, not on %s. xlaprof help %s lists the options that do", opt->shown.name,
          names, command, command);
  return false;
}

static bool read_by(const char *text, xp_ops_by *by)
{
  for (int i = XP_OPS_BY_OP; i <= XP_OPS_BY_SOURCE; i++) {
    if (strcmp(text, xp_ops_by_name((xp_ops_by)i)) == 0) {
      *by = (xp_ops_by)i;
      return true;
    }
  }
  return false;
}

static bool read_number(const char *text, uint64_t *number)
{
  int64_t value;
  if (!xp_str_to_int64(xp_str_c(text), &value) || value < 0) {
    return false;
  }
  *number = (uint64_t)value;
  return true;
}

/* "2", "0.5": 0 to 100, whatever the language says of the decimal point. */
static bool read_percent(const char *text, double *percent)
{
  double value = 0, place = 1;
  size_t digits = strspn(text, "0123456789"), fraction = 0;
  if (text[digits] == '.') {
    fraction = strspn(text + digits + 1, "0123456789");
    digits += 1 + fraction;
  }
  if (digits == 0 || text[digits] != '\0' || digits > 20 || text[0] == '.') {
    return false;
  }
  for (const char *p = text; *p != '\0'; p++) {
    value = *p == '.' ? value : value * 10 + (*p - '0');
  }
  for (size_t i = 0; i < fraction; i++) {
    place *= 10;
  }
  *percent = value / place;
  return *percent <= 100;
}

static bool set_value(options *o, const option *opt, const char *word, const char *text, xp_error *err)
{
  char *field = (char *)o + opt->value;
  if (opt->given != NO_FIELD) {
    *(bool *)((char *)o + opt->given) = true;
  }
  switch (opt->kind) {
  case KIND_SWITCH:
    *(bool *)field = true;
    return true;
  case KIND_TEXT:
    *(const char **)field = text;
    return true;
  case KIND_TIME:
    return xp_parse_time(text, (int64_t *)field) ||
           bad_value(err, opt, text, "is no time. Write it with its unit: 12.5ms, 300us, 2s, 40ns, 7000ps");
  case KIND_NUMBER:
    return read_number(text, (uint64_t *)field) ||
           bad_value(err, opt, text, "is no number. Write a whole number, 0 or more");
  case KIND_PERCENT:
    return read_percent(text, (double *)field) ||
           bad_value(err, opt, text, "is no share in percent. Write a number from 0 to 100, such as 2 or 0.5");
  case KIND_PAIR:
    return add_pair(o, text) || bad_value(err, opt, text, "is no KEY=VALUE, or there are more than 32 of them");
  case KIND_TPU:
    return add_tpu(o, word, text) || bad_value(err, opt, word, "is too long, or there are more than 32 of them");
  default:
    return read_by(text, (xp_ops_by *)field) ||
           bad_value(err, opt, text, "is unknown. Write op, scope, category, module or source");
  }
}

/* Reads the option in words[*i] with its argument, which may be the next word. */
static bool read_option(options *o, int count, char **words, int *i, xp_error *err)
{
  const char *value;
  const option *opt = find_option(o, words[*i], &value);
  const char *word = words[*i];
  char hint[160];
  if (opt == NULL) {
    return unknown_option(o, words[*i], err);
  }
  if (!(opt->shown.commands & (1u << o->command))) {
    return wrong_command(o, opt, err);
  }
  snprintf(hint, sizeof hint, "xlaprof help %s lists its options", command_name(o->command));
  if (opt->kind == KIND_SWITCH && value != NULL) {
    return fail(err, "No value belongs behind the option", opt->shown.name, hint);
  }
  if (opt->kind != KIND_SWITCH && value == NULL) {
    if (*i + 1 >= count) {
      return fail(err, "A value is missing behind the option", opt->shown.name, hint);
    }
    value = words[++*i];
  }
  return set_value(o, opt, word, value, err);
}

static bool check_capture(const options *o, xp_error *err)
{
  if (o->path == NULL || o->logdir == NULL) {
    return fail(err, o->path == NULL ? "Nobody is named to" : "No directory for the capture is given to", "capture",
                "Write xlaprof capture HOST:PORT LOGDIR");
  }
  const struct {
    const char *name;
    bool is_set;
    uint64_t value, least, most;
  } numbers[] = {
      {"--duration-ms", o->has_duration, o->duration_ms, 1, INT64_MAX / 1000000},
      {"--attempts", o->has_attempts, o->attempts, 1, UINT32_MAX},
      {"--interval-s", o->has_interval, o->interval_s, 1, INT32_MAX},
      {"--timeout-s", o->has_timeout, o->timeout_s, 0, INT32_MAX},
      {"--host-tracer-level", o->has_host_level, o->host_level, 0, 3},
      {"--device-tracer-level", o->has_device_level, o->device_level, 0, UINT32_MAX},
      {"--python-tracer-level", o->has_python_level, o->python_level, 0, INT32_MAX},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    if (numbers[i].is_set && (numbers[i].value < numbers[i].least || numbers[i].value > numbers[i].most)) {
      char hint[64];
      snprintf(hint, sizeof hint, "It goes from %" PRIu64 " to %" PRIu64, numbers[i].least, numbers[i].most);
      return fail(err, "This number is not possible:", numbers[i].name, hint);
    }
  }
  return true;
}

/* Each option acts on some of the demonstrations. */
static bool check_demo(const options *o, xp_error *err)
{
  if (o->path == NULL) {
    return fail(err, "No demonstration is named to", "demo", "Write xlaprof demo lab, demo sd21 or demo sdxl");
  }
  const bool is_lab = strcmp(o->path, "lab") == 0;
  if (is_lab && (o->is_fixed || o->image != NULL)) {
    return fail(err, "demo lab has no", o->is_fixed ? "--fixed" : "--image", "It acts on demo sd21 and demo sdxl");
  }
  if (is_lab && o->is_plain && o->program == NULL) {
    return fail(err, "demo lab needs another option for", "--plain",
                "Its counts are without names; --program FILE --plain writes its program without them, too");
  }
  if (!is_lab && o->program != NULL) {
    return fail(err, "Only demo lab has", "--program", "Leave it out, or write xlaprof demo lab --program FILE");
  }
  return true;
}

static bool check(const options *o, xp_error *err)
{
  if (o->command == CMD_CAPTURE) {
    return check_capture(o, err);
  }
  if (o->command == CMD_AOT && (o->path == NULL || o->plugin == NULL || o->topology == NULL)) {
    return fail(err, "Something is missing for", "aot",
                "Write xlaprof aot PROGRAM --plugin libtpu.so --topology v5e:2x2x1");
  }
  if (o->command == CMD_CHECK && (o->path == NULL || o->step == NULL)) {
    return fail(err, "Something is missing for", "check", "Write xlaprof check PATH --step NAME");
  }
  if (o->command == CMD_DEMO && !check_demo(o, err)) {
    return false;
  }
  if (o->path == NULL) {
    return fail(err, "No capture is given to", command_name(o->command),
                "Name a file *.xplane.pb, or a directory that holds some: xlaprof report PATH");
  }
  if (o->json && o->csv) {
    return fail(err, "Only one of two is possible:", "--json --csv", "Leave one of them out");
  }
  if (o->json && o->html != NULL) {
    return fail(err, "Only one of two is possible:", "--json --html", "Leave one of them out");
  }
  if (o->has_from && o->has_to && o->from_ps >= o->to_ps) {
    return fail(err, "The time is empty:", "--from --to", "Give a --from that is before --to");
  }
  if (o->width != 0 && (o->width < 40 || o->width > 10000)) {
    return fail(err, "This does not work:", "--width", "Give a width from 40 to 10000");
  }
  if (o->has_port && (o->port == 0 || o->port > UINT16_MAX)) {
    return fail(err, "This does not work:", "--port", "Give a port from 1 to 65535");
  }
  if (o->threads > 1024) {
    return fail(err, "This does not work:", "--threads", "Give at most 1024 threads");
  }
  return true;
}

bool options_parse(options *o, int count, char **words, xp_error *err)
{
  bool only_paths = false;
  for (int i = 0; i < count; i++) {
    const char *word = words[i];
    if (!only_paths && strcmp(word, "--") == 0) {
      only_paths = true;
    } else if (!only_paths && word[0] == '-' && word[1] != '\0') {
      if (!read_option(o, count, words, &i, err)) {
        return false;
      }
    } else if (o->path == NULL) {
      o->path = word;
    } else if (o->command == CMD_CAPTURE) {
      if (o->logdir != NULL) {
        return fail(err, "There is a third word:", word, "Write several programs as HOST:PORT,HOST:PORT");
      }
      o->logdir = word;
    } else if (o->command == CMD_DEMO) {
      return fail(err, "One demonstration runs at a time, and there is a second word:", word,
                  "Write xlaprof demo lab, demo sd21 or demo sdxl");
    } else {
      return fail(err, "One capture is read at a time, and there is a second:", word,
                  "To read several hosts together, name the directory that holds them");
    }
  }
  return check(o, err);
}
