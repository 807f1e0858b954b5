/* One row an option: names and range.  Every option is a number, and all are read the same way: a value of the caller
 * may be an integer, a real number or a text; one of the environment is a text.
 */
#include "device/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT, LATENCY, DISPATCH, PAUSE, PAUSE_BEFORE, SLOWDOWN, MEMORY, OPTION_COUNT };
enum { NUMBER_MAX = 64, NAMES_MAX = 256, MOST_US = 10000000 };

typedef struct {
  const char *name, *variable;
  double least, most, usual;
} option_row;

static const option_row rows[OPTION_COUNT] = {
    [COUNT] = {"device_count", "XLAPROF_DEVICE_COUNT", 1, XP_DEV_MAX_DEVICES, 1},
    [LATENCY] = {"launch_latency_us", "XLAPROF_DEVICE_LAUNCH_LATENCY_US", 0, MOST_US, 0},
    [DISPATCH] = {"dispatch_us", "XLAPROF_DEVICE_DISPATCH_US", 0, MOST_US, 0},
    [PAUSE] = {"pause_us", "XLAPROF_DEVICE_PAUSE_US", 0, MOST_US, 0},
    [PAUSE_BEFORE] = {"pause_before", "XLAPROF_DEVICE_PAUSE_BEFORE", 0, 1e9, 1},
    [SLOWDOWN] = {"slowdown", "XLAPROF_DEVICE_SLOWDOWN", 1, 1000, 1},
    [MEMORY] = {"memory_limit_bytes", "XLAPROF_DEVICE_MEMORY_LIMIT_BYTES", 0, 0x1p52, 0x1p34},
};

static bool parse_number(const char *text, size_t len, double *number)
{
  char copy[NUMBER_MAX], *end;
  if (len == 0 || len >= sizeof copy) {
    return false;
  }
  memcpy(copy, text, len);
  copy[len] = '\0';
  *number = strtod(copy, &end);
  return *end == '\0' && isfinite(*number);
}

static bool number_of(const xp_abi_named_value *value, double *number)
{
  switch (value->type) {
  case XP_ABI_VALUE_INT64:
    *number = (double)value->value.number;
    return true;
  case XP_ABI_VALUE_FLOAT:
    *number = (double)value->value.real;
    return true;
  case XP_ABI_VALUE_STRING:
    return parse_number(value->value.text, value->value_size, number);
  default:
    return false;
  }
}

static xp_abi_error *refuse(const char *name, const option_row *row)
{
  return xp_dev_fail(XP_ABI_INVALID_ARGUMENT, "%s: it must be a number from %.15g to %.15g.", name, row->least,
                     row->most);
}

static xp_abi_error *check(const char *name, bool is_number, double number, const option_row *row, double *result)
{
  if (!is_number || !(number >= row->least && number <= row->most)) {
    return refuse(name, row);
  }
  *result = number;
  return NULL;
}

static xp_abi_error *read_environment(double numbers[OPTION_COUNT])
{
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    const char *text = getenv(rows[i].variable);
    numbers[i] = rows[i].usual;
    if (text != NULL && *text != '\0') {
      double number = 0;
      bool is_number = parse_number(text, strlen(text), &number);
      xp_abi_error *error = check(rows[i].variable, is_number, number, &rows[i], &numbers[i]);
      if (error != NULL) {
        return error;
      }
    }
  }
  return NULL;
}

static xp_abi_error *read_value(const xp_abi_named_value *value, double numbers[OPTION_COUNT])
{
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    if (value->name_size == strlen(rows[i].name) && memcmp(value->name, rows[i].name, value->name_size) == 0) {
      double number = 0;
      bool is_number = number_of(value, &number);
      return check(rows[i].name, is_number, number, &rows[i], &numbers[i]);
    }
  }
  char names[NAMES_MAX] = "";
  for (size_t i = 0, used = 0; i < OPTION_COUNT && used < sizeof names; i++) {
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "", rows[i].name);
  }
  int length = value->name_size > 100 ? 100 : (int)value->name_size;
  return xp_dev_fail(XP_ABI_INVALID_ARGUMENT, "The device has no option %.*s; there are: %s.", length, value->name,
                     names);
}

xp_abi_error *xp_dev_options_read(const xp_abi_named_value *values, size_t count, xp_dev_options *options)
{
  double numbers[OPTION_COUNT];
  xp_abi_error *error = read_environment(numbers);
  for (size_t i = 0; i < count && error == NULL; i++) {
    error = read_value(&values[i], numbers);
  }
  if (error == NULL) {
    *options = (xp_dev_options){.device_count = (int64_t)numbers[COUNT],
                                .launch_latency_ns = (int64_t)(numbers[LATENCY] * 1000),
                                .dispatch_ns = (int64_t)(numbers[DISPATCH] * 1000),
                                .pause_ns = (int64_t)(numbers[PAUSE] * 1000),
                                .pause_before = (int64_t)numbers[PAUSE_BEFORE],
                                .slowdown = numbers[SLOWDOWN],
                                .memory_limit = (int64_t)numbers[MEMORY]};
  }
  return error;
}
