/* Memory of a device: host memory that is counted against the device's limit, in blocks that are shared.
 *
 * A block is shared by the buffer that shows it, by executions in the queue, and by copies that are under way.
 */
#ifndef XP_DEVICE_BLOCK_H
#define XP_DEVICE_BLOCK_H

#include "device/client.h"

enum { XP_DEV_ALIGNMENT = 64 };

typedef struct xp_dev_block xp_dev_block;

/* A new block of at least one byte with one reference, for `what` ("an input of 12 bytes" in the error's text): its
 * bytes are not set.  XP_ABI_RESOURCE_EXHAUSTED above the device's limit, with what is in use, and when the host has no
 * more. */
xp_abi_error *xp_dev_block_create(xp_abi_device *device, size_t bytes, const char *what, xp_dev_block **block);

xp_dev_block *xp_dev_block_ref(xp_dev_block *block);

/* NULL is allowed. */
void xp_dev_block_unref(xp_dev_block *block);

void *xp_dev_block_data(const xp_dev_block *block);
size_t xp_dev_block_bytes(const xp_dev_block *block);

/* PJRT_Device_MemoryStats, PJRT_Device_ClearMemoryStats */
xp_abi_error *xp_dev_memory_stats(xp_abi_memory_stats_args *args);
xp_abi_error *xp_dev_memory_stats_clear(xp_abi_object_args *args);

#endif
