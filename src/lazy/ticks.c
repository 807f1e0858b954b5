/* A line through two moments that were read by both clocks, for the next millisecond.
 *
 * Then both are read again and a new line is drawn, so an error of the rate, or a jump of the counter, moves no time by
 * more than what it comes to in a millisecond.
 */
#include "lazy/ticks.h"

#include "base/clock.h"
#include "xlaprof/annotate.h"

enum { FIRST_NS = 20000, GOOD_NS = 1000000 };

static struct {
  uint64_t ticks; /* the later moment */
  int64_t ns;
  double ns_per_tick;
  int64_t good_ticks; /* how long the line is good */
} line;

static void draw(uint64_t ticks, int64_t ns)
{
  const int64_t ticks_apart = (int64_t)(ticks - line.ticks);
  if (ticks_apart > 0 && ns > line.ns) {
    line.ns_per_tick = (double)(ns - line.ns) / (double)ticks_apart;
    line.good_ticks = (int64_t)(GOOD_NS / line.ns_per_tick);
  }
  line.ticks = ticks;
  line.ns = ns;
}

void xl_ticks_open(void)
{
  line.ticks = xp_clock_ticks(); /* before the other clock, since the first reading of all is slow */
  line.ns = xp_monotonic_ns();
  uint64_t ticks;
  int64_t ns;
  do {
    ticks = xp_clock_ticks();
    ns = xp_monotonic_ns();
  } while (ns - line.ns < FIRST_NS);
  draw(ticks, ns);
}

int64_t xl_ticks_ns(uint64_t ticks)
{
  const int64_t since = (int64_t)(ticks - line.ticks); /* below 0: before the line was drawn */
  if (__builtin_expect(since > line.good_ticks, 0)) {
    draw(ticks, xp_monotonic_ns());
    return line.ns;
  }
  return line.ns + (int64_t)((double)since * line.ns_per_tick);
}

double xl_ticks_dur_ns(uint64_t ticks)
{
  return (double)(int64_t)ticks * line.ns_per_tick;
}
