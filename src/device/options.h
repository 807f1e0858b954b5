/* How a client of the embedded device is set up.
 *
 * Each option has a name for PJRT_Client_Create and one in the environment; the former wins:
 *   device_count        XLAPROF_DEVICE_COUNT              devices of the client, 1 to 64; each has its own thread (1)
 *   launch_latency_us   XLAPROF_DEVICE_LAUNCH_LATENCY_US  a program starts no earlier than this after its launch (0)
 *   dispatch_us         XLAPROF_DEVICE_DISPATCH_US        the call that launches a program takes this much longer (0)
 *   pause_us            XLAPROF_DEVICE_PAUSE_US           the device pauses so long inside each program (0)
 *   pause_before        XLAPROF_DEVICE_PAUSE_BEFORE       the operation that the pause is in front of, from 0 on (1)
 *   slowdown            XLAPROF_DEVICE_SLOWDOWN           each operation takes this many times as long, 1 to 1000 (1)
 *   memory_limit_bytes  XLAPROF_DEVICE_MEMORY_LIMIT_BYTES of each device (16 GiB)
 */
#ifndef XP_DEVICE_OPTIONS_H
#define XP_DEVICE_OPTIONS_H

#include "device/fault.h"

enum { XP_DEV_MAX_DEVICES = 64 };

typedef struct {
  int64_t device_count, launch_latency_ns, dispatch_ns, pause_ns, pause_before, memory_limit;
  double slowdown;
} xp_dev_options;

/* Reads both.  An option that is not known, of the wrong type or out of range is an error that says what there is. */
xp_abi_error *xp_dev_options_read(const xp_abi_named_value *values, size_t count, xp_dev_options *options);

#endif
