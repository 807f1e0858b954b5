/* The embedded device: a plugin of the PJRT C API inside this library.
 *
 * It runs programs of HLO on the host's processors, on a thread of its own with a queue, so that a program and its
 * device overlap as they do on a chip.  Whoever uses it calls the functions of the table, as of any other plugin; the
 * shared library build/libxlaprof_pjrt.so hands the same table to programs that load plugins by path.
 */
#ifndef XP_DEVICE_PLUGIN_H
#define XP_DEVICE_PLUGIN_H

#include "pjrt/pjrt_abi.h"

/* The table; it lives as long as the process. */
const xp_abi_api *xp_device_api(void);

/* What a caller may chain to the arguments of PJRT_LoadedExecutable_Execute (extension_start): the step that the
 * execution belongs to.  The device's line Steps in a capture comes from it.  Plugins skip extensions that they do not
 * know.  Its size tells its age: one that ends with the number is a step without an id. */
enum { XP_DEVICE_EXTENSION_STEP = 0x787001 };

typedef struct {
  xp_abi_extension base; /* struct_size: sizeof(xp_device_step) */
  int64_t number;        /* at least 0 */
  uint64_t id;           /* tells steps of one number apart; 0: the number alone does */
} xp_device_step;

enum { XP_DEVICE_STEP_NUMBER_SIZE = offsetof(xp_device_step, id) };

#endif
