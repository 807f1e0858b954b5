/* Two tracepoints of LTTng-UST, for comparison. */
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER xlaprof_bench

#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "lttng_probe.h"

#if !defined(LTTNG_PROBE_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_PROBE_H

#include <lttng/tracepoint.h>

TRACEPOINT_EVENT(xlaprof_bench, begin, TP_ARGS(const char *, name), TP_FIELDS(ctf_string(name, name)))
TRACEPOINT_EVENT(xlaprof_bench, end, TP_ARGS(const char *, name), TP_FIELDS(ctf_string(name, name)))

#endif

#include <lttng/tracepoint-event.h>
