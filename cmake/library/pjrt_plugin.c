/* The embedded device as a plugin that other programs load by path: build/libxlaprof_pjrt.so.
 *
 * This is all that the library shows; the table itself is in src/device.
 */
#include "device/plugin.h"

__attribute__((visibility("default"))) const xp_abi_api *GetPjrtApi(void);

const xp_abi_api *GetPjrtApi(void)
{
  return xp_device_api();
}
