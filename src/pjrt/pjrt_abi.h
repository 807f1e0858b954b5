/* The PJRT C API in our own words: both sides of it, a program that uses plugins and a plugin.
 *
 * Laid out as in xla/pjrt/c/pjrt_c_api.h, in parts:
 *   pjrt_abi_base.h      versions, codes, types, the forms of arguments that many functions share
 *   pjrt_abi_args.h      arguments with a form of their own
 *   pjrt_abi_table.h     the function table
 *   pjrt_abi_objects.h   what programs read of a plugin's errors and memories
 *   pjrt_abi_profiler.h  the profiler extension
 * Every offset is checked where it is declared or in pjrt_abi_layout.h.
 */
#ifndef XP_PJRT_PJRT_ABI_H
#define XP_PJRT_PJRT_ABI_H

#include "pjrt/pjrt_abi_args.h"
#include "pjrt/pjrt_abi_base.h"
#include "pjrt/pjrt_abi_layout.h"
#include "pjrt/pjrt_abi_objects.h"
#include "pjrt/pjrt_abi_profiler.h"
#include "pjrt/pjrt_abi_table.h"

#endif
