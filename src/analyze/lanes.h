/* Building devices: what devices.c, devices_gpu.c and devices_cpu.c share. */
#ifndef XP_ANALYZE_LANES_H
#define XP_ANALYZE_LANES_H

#include "analyze/ops_table.h"

/* State while devices are built. */
typedef struct {
  xp_devices *all;
  xp_links *links;
  xp_map op_of;           /* hash of what identifies an op -> descriptor */
  xp_map device_programs; /* program ids that run on device planes of the host at hand */
  xp_intern device_modules;
} xp_device_builder;

/* The XLA CPU device "CPU:<ordinal>" of a host, new if it was not there.  The pointer is good until the next call. */
xp_device_data *xp_cpu_device_of(xp_devices *all, uint32_t host, int64_t ordinal);

/* The device of a name, new if it was not there.  The pointer is good until the next call. */
xp_device_data *xp_device_of(xp_devices *all, uint32_t host, xp_str name, xp_device_kind kind, int64_t ordinal);

/* The lane of a line (the last one, or a new one). */
xp_lane *xp_lane_of(xp_devices *all, xp_device_data *device, const xp_line *line);

/* Appends an event; xp_lane_add_run also keeps its run, xp_lane_add_end its end as well. */
void xp_lane_add(xp_devices *all, xp_lane *lane, size_t event, uint32_t op);
void xp_lane_add_run(xp_devices *all, xp_lane *lane, size_t event, uint32_t op, uint32_t run);
void xp_lane_add_end(xp_devices *all, xp_lane *lane, size_t event, uint32_t op, uint32_t run, int64_t end_ps);

/* Makes a run cover a piece of work. */
void xp_device_run_extend(xp_device_run *run, int64_t start_ps, int64_t end_ps);

void xp_device_count_work(xp_device_data *device, xp_role role);

/* True (and counted) for an event whose time cannot be used. */
bool xp_device_event_is_lost(xp_device_data *device, const xp_line *line, size_t i);

/* The descriptor of an op whose stats differ from event to event. */
uint32_t xp_device_op(xp_device_builder *b, uint32_t host, const xp_line *line, size_t i, const xp_device_stats *stats,
                      xp_role role);

void xp_gpu_plane_read(xp_device_builder *b, xp_device_data *device, const xp_plane *plane);
void xp_cpu_devices_read(xp_device_builder *b, uint32_t host);

#endif
