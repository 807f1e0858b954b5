/* A plugin for tests of what plugins do wrong: the embedded device, but it refuses to compile.  The variable
 * XL_TEST_PLUGIN_MINOR is the minor version that it says it has.
 */
#include <stdlib.h>

#include "device/fault.h"
#include "device/plugin.h"

const xp_abi_api *GetPjrtApi(void);

static xp_abi_error *refuse(xp_abi_client_compile_args *args)
{
  (void)args;
  return xp_dev_fail(XP_ABI_UNIMPLEMENTED, "this compiler has a bad day");
}

__attribute__((visibility("default"))) const xp_abi_api *GetPjrtApi(void)
{
  static xp_abi_api api;
  const char *minor = getenv("XL_TEST_PLUGIN_MINOR");
  api = *xp_device_api();
  api.client_compile = refuse;
  if (minor != NULL) {
    api.version.minor = atoi(minor);
  }
  return &api;
}
