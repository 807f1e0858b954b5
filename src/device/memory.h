/* The memory of a device as an object: the host may hang data of its own on it. */
#ifndef XP_DEVICE_MEMORY_H
#define XP_DEVICE_MEMORY_H

#include "device/client.h"

void xp_dev_memory_init(xp_abi_memory *memory, xp_abi_device *device);

/* Destroys what the host hung on it. */
void xp_dev_memory_end(xp_abi_memory *memory);

#endif
