/* Which kernels run here: asked once, at first use, of the processor.
 *
 * On x86-64 the files of kernels are compiled for the base instruction set, for AVX2 with FMA, and for AVX-512.  Other
 * machines have the base only, which for arm64 has vectors of 128 bits.
 */
#include <pthread.h>

#include "device/kernels/kernels.h"

#define XP_DEV_DECLARE(isa)                                                                                            \
  void xp_dev_fill_float_##isa(xp_dev_kernels *k);                                                                     \
  void xp_dev_fill_integer_##isa(xp_dev_kernels *k);                                                                   \
  void xp_dev_fill_convert_##isa(xp_dev_kernels *k);                                                                   \
  void xp_dev_fill_fold_##isa(xp_dev_kernels *k);                                                                      \
  void xp_dev_fill_window_##isa(xp_dev_kernels *k);                                                                    \
  void xp_dev_fill_taps_##isa(xp_dev_kernels *k);                                                                      \
  void xp_dev_fill_tile_##isa(xp_dev_kernels *k);                                                                      \
  static void fill_##isa(xp_dev_kernels *k)                                                                            \
  {                                                                                                                    \
    xp_dev_fill_float_##isa(k);                                                                                        \
    xp_dev_fill_integer_##isa(k);                                                                                      \
    xp_dev_fill_convert_##isa(k);                                                                                      \
    xp_dev_fill_fold_##isa(k);                                                                                         \
    xp_dev_fill_window_##isa(k);                                                                                       \
    xp_dev_fill_taps_##isa(k);                                                                                         \
    xp_dev_fill_tile_##isa(k);                                                                                         \
  }

XP_DEV_DECLARE(base)
#ifdef XP_DEV_X86_KERNELS
XP_DEV_DECLARE(avx2)
XP_DEV_DECLARE(avx512)
#endif

static xp_dev_kernels kernels;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static xp_dev_isa limit = XP_DEV_ISA_BEST;

void xp_dev_kernels_limit(xp_dev_isa most)
{
  limit = most;
}

static void choose(void)
{
#ifdef XP_DEV_X86_KERNELS
  __builtin_cpu_init();
  if (limit >= XP_DEV_ISA_BEST && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    fill_avx512(&kernels);
    return;
  }
  if (limit >= XP_DEV_ISA_AVX2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    fill_avx2(&kernels);
    return;
  }
#endif
  fill_base(&kernels);
}

const xp_dev_kernels *xp_dev_kernels_get(void)
{
  pthread_once(&once, choose);
  return &kernels;
}
