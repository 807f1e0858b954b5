/* From the text behind an option to the field that it sets. */
#include "options_table.h"

#include <inttypes.h>

#include "report/format.h"

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

/* ---- values */

static bool bad_value(xp_error *err, const option_row *row, const char *text, const char *problem)
{
  xp_fail(err, XP_ERR_USAGE, "%s \"%.100s\" %s", row->shown.name, text, problem);
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

/* Whole numbers that have limits; the others are 0 or more. */
static const struct {
  const char *name;
  int64_t least, most;
} limits[] = {
    {"--duration-ms", 1, INT64_MAX / 1000000},
    {"--attempts", 1, UINT32_MAX},
    {"--interval-s", 1, INT32_MAX},
    {"--timeout-s", 0, INT32_MAX},
    {"--host-tracer-level", 0, 3},
    {"--device-tracer-level", 0, UINT32_MAX},
    {"--python-tracer-level", 0, INT32_MAX},
    {"--port", 1, UINT16_MAX},
    {"--width", 40, 10000},
    {"--threads", 0, 1024},
};

static bool read_number(const option_row *row, const char *text, uint64_t *number, xp_error *err)
{
  int64_t least = 0, most = INT64_MAX, value;
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    bool is_it = strcmp(row->shown.name, limits[i].name) == 0;
    least = is_it ? limits[i].least : least;
    most = is_it ? limits[i].most : most;
  }
  if (xp_str_to_int64(xp_str_c(text), &value) && value >= least && value <= most) {
    *number = (uint64_t)value;
    return true;
  }
  char problem[128] = "does not work. Write a whole number, 0 or more";
  if (most < INT64_MAX) {
    snprintf(problem, sizeof problem, "does not work. Write a whole number from %" PRId64 " to %" PRId64, least, most);
  }
  return bad_value(err, row, text, problem);
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

bool options_set(options *o, const option_row *row, const char *word, const char *text, xp_error *err)
{
  char *field = (char *)o + row->value;
  if (row->given != NO_FIELD) {
    *(bool *)((char *)o + row->given) = true;
  }
  switch (row->kind) {
  case KIND_SWITCH:
    *(bool *)field = true;
    return true;
  case KIND_TEXT:
    *(const char **)field = text;
    return true;
  case KIND_TIME:
    return xp_parse_time(text, (int64_t *)field) ||
           bad_value(err, row, text, "is no time. Write it with its unit: 12.5ms, 300us, 2s, 40ns, 7000ps");
  case KIND_NUMBER:
    return read_number(row, text, (uint64_t *)field, err);
  case KIND_PERCENT:
    return read_percent(text, (double *)field) ||
           bad_value(err, row, text, "is no share in percent. Write a number from 0 to 100, such as 2 or 0.5");
  case KIND_PAIR:
    return add_pair(o, text) || bad_value(err, row, text, "is no KEY=VALUE, or there are more than 32 of them");
  case KIND_TPU:
    return add_tpu(o, word, text) || bad_value(err, row, word, "is too long, or there are more than 32 of them");
  default:
    return read_by(text, (xp_ops_by *)field) ||
           bad_value(err, row, text, "is unknown. Write op, scope, category, module or source");
  }
}
