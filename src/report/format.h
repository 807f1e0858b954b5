/* Numbers for people: every command shows times, counts, sizes and shares in the same way.
 *
 * All functions return a text in the arena (of the printer, with an escape: they cannot fail).
 */
#ifndef XP_REPORT_FORMAT_H
#define XP_REPORT_FORMAT_H

#include "base/arena.h"

/* Units of time; each is 1000 times the one before. */
typedef enum { XP_UNIT_PS, XP_UNIT_NS, XP_UNIT_US, XP_UNIT_MS, XP_UNIT_S, XP_UNIT_COUNT } xp_time_unit;

const char *xp_unit_name(xp_time_unit unit);

/* The unit in which a time has one to three digits before the point (seconds may have more). */
xp_time_unit xp_unit_for(int64_t ps);

/* "211.6 ms", "2.32 ms", "830 ps", "0 s": the unit chosen for the value, three or four digits. */
xp_str xp_format_time(xp_arena *arena, int64_t ps);

/* The number alone, in a given unit with some decimals; a value that would round to zero shows as "<0.01". */
xp_str xp_format_time_in(xp_arena *arena, int64_t ps, xp_time_unit unit, int decimals);

/* The same for a place on an axis, with commas: "9,720.412". */
xp_str xp_format_place_in(xp_arena *arena, int64_t ps, xp_time_unit unit, int decimals);

/* "1,234,567" */
xp_str xp_format_count(xp_arena *arena, uint64_t count);

/* "2.8" for 25 of 9; "3" where nothing is left over; "<0.1". */
xp_str xp_format_rate(xp_arena *arena, double rate);

/* "812 bytes", "98.2 kB", "214 MB" (powers of 1000) */
xp_str xp_format_bytes(xp_arena *arena, uint64_t bytes);

/* "93 %", "7.1 %", "<0.1 %", ">99.9 %": never 0 % for something nor 100 % for less than all.  The share is 0 .. 1; what
 * is not finite shows as "-". */
xp_str xp_format_share(xp_arena *arena, double share);

/* Date and time in UTC with milliseconds, "2025-06-15 15:06:40.123 UTC". */
xp_str xp_format_unix_ns(xp_arena *arena, int64_t unix_ns);

/* "1 gap", "2,000 gaps": the plural gets an s. */
xp_str xp_format_things(xp_arena *arena, uint64_t count, const char *thing);

/* Reads "1.5ms", "200us", "3s", "12345ps", "9,720.412ms", "0"; a number other than 0 needs its unit.  Negative times
 * are allowed. False if the text is no such time. */
bool xp_parse_time(const char *text, int64_t *ps);

#endif
