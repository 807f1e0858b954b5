/* XL_DEBUG, XL_CACHE_SIZE, XL_SCOPE_NUMBERING and XL_DEBUG_FILE are checked when a device is opened, where an error is
 * noticed: a setting that is not taken without a word costs its user more time than one that is refused.  What
 * XLA_HLO_DEBUG and XLA_IR_DEBUG may be is for torch_xla to say, which takes any text; XL_PJRT_PLUGIN is checked by
 * loading it (lazy/device.c). */
#include "lazy/variables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

typedef struct {
  const char *name;
  int64_t least, most;
} number_row;

static const number_row numbers[] = {
    {"XL_DEBUG", 0, 2},
    {"XL_CACHE_SIZE", 1, INT32_MAX},
};

/* An empty value is none. */
static const char *value_of(const char *name)
{
  const char *text = getenv(name);
  return text != NULL && *text != '\0' ? text : NULL;
}

static bool parse(const char *text, const number_row *row, int64_t *number)
{
  char *end;
  errno = 0;
  *number = strtoll(text, &end, 10);
  return *end == '\0' && errno == 0 && *number >= row->least && *number <= row->most;
}

int64_t xl_variable_number(const char *name, int64_t usual)
{
  const char *text = value_of(name);
  for (size_t i = 0; text != NULL && i < sizeof numbers / sizeof numbers[0]; i++) {
    int64_t number;
    if (strcmp(numbers[i].name, name) == 0 && parse(text, &numbers[i], &number)) {
      return number;
    }
  }
  return usual;
}

bool xl_variable_is_true(const char *name)
{
  const char *text = getenv(name);
  return text != NULL && (strcmp(text, "true") == 0 || atoi(text) != 0);
}

static xp_status check_numbers(xp_error *err)
{
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    const number_row *row = &numbers[i];
    const char *text = value_of(row->name);
    int64_t number;
    if (text != NULL && !parse(text, row, &number)) {
      return xp_fail(err, XP_ERR_USAGE, "The variable %s is \"%.60s\"; it takes a number from %lld to %lld.", row->name,
                     text, (long long)row->least, (long long)row->most);
    }
  }
  return XP_OK;
}

static xp_status check_truth(const char *name, xp_error *err)
{
  const char *text = value_of(name);
  if (text == NULL || strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ||
      text[strspn(text, "0123456789")] == '\0') {
    return XP_OK;
  }
  return xp_fail(err, XP_ERR_USAGE, "The variable %s is \"%.60s\"; it takes true, false or a number.", name, text);
}

/* That what XL_DEBUG asks for can be written. */
static xp_status check_file(xp_error *err)
{
  const char *path = value_of("XL_DEBUG_FILE");
  if (path == NULL || xl_variable_number("XL_DEBUG", 0) == 0) {
    return XP_OK;
  }
  FILE *file = fopen(path, "a");
  if (file == NULL) {
    return xp_fail(err, XP_ERR_IO, "The variable XL_DEBUG_FILE is \"%.300s\", which can't be opened: %m.", path);
  }
  fclose(file);
  return XP_OK;
}

xp_status xl_variables_check(xp_error *err)
{
  xp_status status = check_numbers(err);
  status = status == XP_OK ? check_truth("XL_SCOPE_NUMBERING", err) : status;
  return status == XP_OK ? check_file(err) : status;
}
