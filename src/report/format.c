/* Times are integers and stay integers until the last digit: a value is divided by its unit with rounding half up, so
 * that sums that are equal look equal.  A value that rounds up to 1000 moves to the next unit. */
#include "report/format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

static const int64_t unit_ps[XP_UNIT_COUNT] = {1, 1000, 1000000, 1000000000, 1000000000000};

const char *xp_unit_name(xp_time_unit unit)
{
  static const char *const names[XP_UNIT_COUNT] = {"ps", "ns", "us", "ms", "s"};
  return names[unit];
}

/* |ps| without the overflow of INT64_MIN. */
static uint64_t magnitude(int64_t ps)
{
  return ps < 0 ? 0 - (uint64_t)ps : (uint64_t)ps;
}

/* Half a unit of the last digit is left out of the limit: 999.96 us is 1.00 ms. */
xp_time_unit xp_unit_for(int64_t ps)
{
  uint64_t size = magnitude(ps);
  for (int unit = XP_UNIT_PS; unit < XP_UNIT_S; unit++) {
    uint64_t limit = (uint64_t)unit_ps[unit] * 1000;
    if (size < limit - limit / 20000) {
      return (xp_time_unit)unit;
    }
  }
  return XP_UNIT_S;
}

static uint64_t power_of_ten(int exponent)
{
  uint64_t power = 1;
  while (exponent-- > 0) {
    power *= 10;
  }
  return power;
}

enum { TIME_BYTES = 48 };

/* Writes a number in at least so many digits before `end`; returns where it begins. */
static char *digits_before(char *end, uint64_t number, int least)
{
  for (; number > 0 || least > 0; number /= 10, least--) {
    *--end = (char)('0' + number % 10);
  }
  return end;
}

/* Reports hold very many times, which is why they are put together by hand.  Returns the length; no NUL. */
static size_t write_time(char text[TIME_BYTES], int64_t ps, xp_time_unit unit, int decimals)
{
  uint64_t size = magnitude(ps), scale = power_of_ten(decimals);
  while (scale > (uint64_t)unit_ps[unit]) { /* nothing is finer than a picosecond */
    scale /= 10;
    decimals--;
  }
  uint64_t step = (uint64_t)unit_ps[unit] / scale; /* ps in one unit of the last digit */
  uint64_t digits = size / step + (size % step >= step - step / 2 ? 1 : 0);
  bool is_less = digits == 0 && size > 0; /* than what the digits can say: "<0.01" */
  digits += is_less ? 1 : 0;
  char *end = text + TIME_BYTES, *at = end;
  if (decimals > 0) {
    at = digits_before(at, digits % scale, decimals);
    *--at = '.';
  }
  at = digits_before(at, digits / scale, 1);
  if (is_less) {
    *--at = '<';
  }
  if (ps < 0) {
    *--at = '-';
  }
  size_t length = (size_t)(end - at);
  memmove(text, at, length);
  return length;
}

xp_str xp_format_time_in(xp_arena *arena, int64_t ps, xp_time_unit unit, int decimals)
{
  char text[TIME_BYTES];
  return xp_arena_copy(arena, xp_str_from(text, write_time(text, ps, unit, decimals)));
}

xp_str xp_format_place_in(xp_arena *arena, int64_t ps, xp_time_unit unit, int decimals)
{
  xp_str plain = xp_format_time_in(arena, ps, unit, decimals);
  size_t begin = xp_str_starts(plain, "-") ? 1 : 0, end = xp_str_find(plain, '.', 0);
  char *text = xp_arena_array(arena, plain.len, 2), *out = text;
  for (size_t i = 0; i < plain.len; i++) {
    if (i > begin && i < end && (end - i) % 3 == 0) {
      *out++ = ',';
    }
    *out++ = plain.ptr[i];
  }
  return xp_str_from(text, (size_t)(out - text));
}

xp_str xp_format_time(xp_arena *arena, int64_t ps)
{
  if (ps == 0) {
    return xp_str_c("0 s");
  }
  xp_time_unit unit = xp_unit_for(ps);
  uint64_t tens = magnitude(ps) / (uint64_t)unit_ps[unit]; /* digits before the point */
  int decimals = unit == XP_UNIT_PS ? 0 : tens < 10 ? 2 : 1;
  char text[TIME_BYTES + 4];
  size_t length = write_time(text, ps, unit, decimals);
  const char *name = xp_unit_name(unit);
  text[length++] = ' ';
  memcpy(text + length, name, strlen(name));
  return xp_arena_copy(arena, xp_str_from(text, length + strlen(name)));
}

xp_str xp_format_count(xp_arena *arena, uint64_t count)
{
  char text[32];
  size_t at = sizeof text;
  int digits = 0;
  do {
    if (digits > 0 && digits % 3 == 0) {
      text[--at] = ',';
    }
    text[--at] = (char)('0' + count % 10);
    count /= 10;
    digits++;
  } while (count > 0);
  return xp_arena_copy(arena, xp_str_from(text + at, sizeof text - at));
}

xp_str xp_format_rate(xp_arena *arena, double rate)
{
  if (!isfinite(rate) || rate < 0) {
    return xp_str_c("-");
  }
  if (rate > 0 && rate < 0.05) {
    return xp_str_c("<0.1");
  }
  double rounded = round(rate * 10) / 10;
  if (rounded >= 1000 && rounded < 1e18) {
    return xp_format_count(arena, (uint64_t)llround(rounded));
  }
  return xp_arena_format(arena, fabs(rounded - round(rounded)) < 0.05 ? "%.0f" : "%.1f", rounded);
}

xp_str xp_format_bytes(xp_arena *arena, uint64_t bytes)
{
  static const char *const names[] = {"kB", "MB", "GB", "TB"};
  double value = (double)bytes;
  int unit = -1;
  if (bytes < 1000) {
    return xp_arena_format(arena, "%" PRIu64 " %s", bytes, bytes == 1 ? "byte" : "bytes");
  }
  while (value >= 999.5 && unit < 3) {
    value /= 1000;
    unit++;
  }
  return xp_arena_format(arena, value < 99.95 ? "%.1f %s" : "%.0f %s", value, names[unit]);
}

xp_str xp_format_share(xp_arena *arena, double share)
{
  double percent = share * 100;
  if (!isfinite(percent)) {
    return xp_str_c("-");
  }
  if (percent == 0) {
    return xp_str_c("0 %");
  }
  if (percent < 0.1) {
    return percent > 0 ? xp_str_c("<0.1 %") : xp_arena_format(arena, "%.1f %%", percent);
  }
  if (percent < 9.95) {
    return xp_arena_format(arena, "%.1f %%", percent);
  }
  if (percent < 99.5 || percent >= 100) {
    return xp_arena_format(arena, "%.0f %%", percent);
  }
  return percent < 99.95 ? xp_arena_format(arena, "%.1f %%", percent) : xp_str_c(">99.9 %");
}

xp_str xp_format_unix_ns(xp_arena *arena, int64_t unix_ns)
{
  struct tm parts;
  time_t seconds = (time_t)(unix_ns / 1000000000);
  if (unix_ns < 0 || gmtime_r(&seconds, &parts) == NULL) {
    return xp_str_c("-");
  }
  return xp_arena_format(arena, "%04d-%02d-%02d %02d:%02d:%02d.%03d UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                         parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec,
                         (int)(unix_ns % 1000000000 / 1000000));
}

xp_str xp_format_things(xp_arena *arena, uint64_t count, const char *thing)
{
  xp_str number = xp_format_count(arena, count);
  return xp_arena_format(arena, "%.*s %s%s", XP_STR_ARG(number), thing, count == 1 ? "" : "s");
}

/* The digits behind the point, scaled to picoseconds of a unit; digits finer than 1 ps are dropped. */
static int64_t read_fraction(const char **text, int64_t unit)
{
  int64_t ps = 0;
  for (; **text >= '0' && **text <= '9'; (*text)++) {
    unit /= 10;
    ps += (**text - '0') * unit;
  }
  return ps;
}

/* A comma with digits before it and three behind it, as places have them. */
static bool is_group(const char *start, const char *p)
{
  return *p == ',' && p > start && strspn(p + 1, "0123456789") == 3;
}

bool xp_parse_time(const char *text, int64_t *ps)
{
  bool negative = *text == '-';
  const char *start = text + (negative ? 1 : 0), *digits_end = start + strspn(start, "0123456789.,");
  int unit = XP_UNIT_COUNT;
  for (int i = 0; i < XP_UNIT_COUNT; i++) {
    if (strcmp(digits_end, xp_unit_name((xp_time_unit)i)) == 0) {
      unit = i;
    }
  }
  int64_t whole = 0, fraction = 0;
  const char *p = start;
  for (; (*p >= '0' && *p <= '9') || is_group(start, p); p++) {
    if (*p == ',') {
      continue;
    }
    if (__builtin_mul_overflow(whole, 10, &whole) || __builtin_add_overflow(whole, *p - '0', &whole)) {
      return false;
    }
  }
  bool zero = unit == XP_UNIT_COUNT && *digits_end == '\0' && whole == 0;
  if (p == start || (unit == XP_UNIT_COUNT && !zero)) {
    return false;
  }
  if (*p == '.') {
    p++;
    fraction = read_fraction(&p, zero ? 1 : unit_ps[unit]);
  }
  if (p != digits_end || __builtin_mul_overflow(whole, zero ? 1 : unit_ps[unit], &whole) ||
      __builtin_add_overflow(whole, fraction, ps)) {
    return false;
  }
  *ps = negative ? -*ps : *ps;
  return true;
}
