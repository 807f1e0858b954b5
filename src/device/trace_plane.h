/* What a session recorded, as planes of an XSpace. */
#ifndef XP_DEVICE_TRACE_PLANE_H
#define XP_DEVICE_TRACE_PLANE_H

#include "device/tracer.h"
#include "wire/wire.h"

/* Appends a plane `/device:CUSTOM:xlaprof:N` for each device that ran something, and `/host:metadata` with the programs
 * that ran, if `with_programs`.  False when memory is out. */
bool xp_dev_trace_write(const xp_dev_trace *trace, bool with_programs, xp_wire_writer *space);

#endif
