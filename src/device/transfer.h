/* Bytes between host and devices. */
#ifndef XP_DEVICE_TRANSFER_H
#define XP_DEVICE_TRANSFER_H

#include "device/buffer.h"

/* PJRT_Client_BufferFromHostBuffer, and the PJRT_Buffer_* that copy */
xp_abi_error *xp_dev_from_host(xp_abi_from_host_args *args);
xp_abi_error *xp_dev_to_host(xp_abi_to_host_args *args);
xp_abi_error *xp_dev_copy_raw_to_host(xp_abi_copy_raw_args *args);
xp_abi_error *xp_dev_copy_to_device(xp_abi_copy_args *args);
xp_abi_error *xp_dev_copy_to_memory(xp_abi_copy_args *args);

#endif
