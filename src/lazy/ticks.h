/* The time of calls that take a tenth of a microsecond, from the recorder's clock: readings of the system's would be a
 * third of what such a call costs.  Under the runtime's lock. */
#ifndef XL_TICKS_H
#define XL_TICKS_H

#include <stdint.h>

/* Finds out how long a tick is; takes some 20 us, once. */
void xl_ticks_open(void);

/* Nanoseconds of CLOCK_MONOTONIC at a reading of xp_clock_ticks.  Of several readings the latest is asked about first,
 * just after it was taken. */
int64_t xl_ticks_ns(uint64_t ticks);

/* Nanoseconds that so many ticks take. */
double xl_ticks_dur_ns(uint64_t ticks);

#endif
