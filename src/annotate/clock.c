/* Which clock, and how fast its ticks are.
 *
 * On x86-64 the counter (TSC) counts if the processor says that it runs at one rate in all states of sleep (CPUID
 * 0x80000007, EDX bit 8) and the kernel has not found it different between processors: then it takes "tsc" off its list
 * of clocks.  On arm64 the architecture promises both.  Where the list cannot be read, the processor's word is taken.
 *
 * A pair is read several times and the tightest one is kept, so that an interrupt between the two clocks does not
 * count.
 */
#define _GNU_SOURCE
#include "annotate/clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "xlaprof/annotate.h"

enum { PAIR_READINGS = 16, NS_PER_S = 1000000000 };

int xp_clock_source = XP_CLOCK_UNKNOWN;

static int64_t system_ns(clockid_t id)
{
  struct timespec now;
  clock_gettime(id, &now);
  return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

#if defined(__x86_64__)
static bool processor_says_even(void)
{
  unsigned a, b, c, d;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
}

static bool kernel_trusts_counter(void)
{
  char names[256];
  int fd = open("/sys/devices/system/clocksource/clocksource0/available_clocksource", O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return true;
  }
  ssize_t n = read(fd, names, sizeof names - 1);
  close(fd);
  if (n <= 0) {
    return true;
  }
  names[n] = '\0';
  return strncmp(names, "tsc ", 4) == 0 || strstr(names, " tsc ") != NULL || strcmp(names, "tsc\n") == 0 ||
         strstr(names, " tsc\n") != NULL;
}
#endif

static int find_source(void)
{
#if defined(__x86_64__)
  return processor_says_even() && kernel_trusts_counter() ? XP_CLOCK_COUNTER : XP_CLOCK_SYSTEM;
#else
  return XP_HAS_COUNTER ? XP_CLOCK_COUNTER : XP_CLOCK_SYSTEM;
#endif
}

uint64_t xp_clock_read_slow(void)
{
  int source = __atomic_load_n(&xp_clock_source, __ATOMIC_RELAXED);
  if (source == XP_CLOCK_UNKNOWN) {
    source = find_source(); /* the same on every thread that comes here at once */
    __atomic_store_n(&xp_clock_source, source, __ATOMIC_RELAXED);
  }
  return source == XP_CLOCK_COUNTER ? xp_clock_counter() : (uint64_t)system_ns(CLOCK_MONOTONIC);
}

uint64_t xp_clock_ticks(void)
{
  return xp_clock_read();
}

xp_clock_pair xp_clock_pair_read(void)
{
  xp_clock_pair best = {0, 0};
  uint64_t best_width = UINT64_MAX;
  for (int i = 0; i < PAIR_READINGS; i++) {
    uint64_t before = xp_clock_read();
    int64_t ns = system_ns(CLOCK_MONOTONIC);
    uint64_t width = xp_clock_read() - before;
    if (width < best_width) {
      best_width = width;
      best = (xp_clock_pair){before + width / 2, ns};
    }
  }
  return best;
}

int64_t xp_clock_unix_ns_at(xp_clock_pair pair)
{
  int64_t best = 0, best_width = INT64_MAX;
  for (int i = 0; i < PAIR_READINGS; i++) {
    int64_t before = system_ns(CLOCK_MONOTONIC);
    int64_t unix_ns = system_ns(CLOCK_REALTIME);
    int64_t width = system_ns(CLOCK_MONOTONIC) - before;
    if (width < best_width) {
      best_width = width;
      best = unix_ns - (before + width / 2);
    }
  }
  return pair.monotonic_ns + best;
}

xp_clock_scale xp_clock_scale_between(xp_clock_pair first, xp_clock_pair last)
{
  const uint64_t ps_per_ns_32 = (uint64_t)1000 << 32;
  xp_clock_scale scale = {first.ticks, ps_per_ns_32};
  bool is_counter = __atomic_load_n(&xp_clock_source, __ATOMIC_RELAXED) == XP_CLOCK_COUNTER;
  if (is_counter && last.ticks > first.ticks && last.monotonic_ns > first.monotonic_ns) {
    __extension__ typedef unsigned __int128 wide;
    wide ns = (wide)(last.monotonic_ns - first.monotonic_ns);
    wide rate = ns * ps_per_ns_32 / (last.ticks - first.ticks);
    scale.ps_per_tick_32 = rate > UINT64_MAX ? UINT64_MAX : (uint64_t)rate;
  }
  return scale;
}
