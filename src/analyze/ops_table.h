/* Op descriptors: what the stats of a device event say of the instruction that ran, looked up once for each
 * instruction.
 */
#ifndef XP_ANALYZE_OPS_TABLE_H
#define XP_ANALYZE_OPS_TABLE_H

#include "analyze/devices.h"

/* The stats of one device event that matter. */
typedef struct {
  xp_str hlo_op, tf_op, name, prefix, category, source, hlo_module;
  uint64_t program, run_id, correlation, producer, consumer;
  int64_t ordinal, consumer_type;
  bool has_program, has_run_id, has_correlation, has_producer, has_consumer, has_memcpy;
} xp_device_stats;

/* Reads them from an event (own stats, then those of its metadata), or from a metadata entry alone. */
void xp_device_stats_read(xp_stats stats, xp_device_stats *out);

/* The descriptor for an event: of a line of ops (XLA Ops) if `ops_line`. */
uint32_t xp_ops_table_add(xp_devices *devices, uint32_t host, const xp_event_meta *meta, const xp_device_stats *stats,
                          xp_role role, bool ops_line);

#endif
