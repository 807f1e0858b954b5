/* What the files of kernels share.  Each is compiled several times, with XP_DEV_ISA set to a suffix of its names and
 * the compiler told to use that instruction set. */
#ifndef XP_DEVICE_ISA_H
#define XP_DEVICE_ISA_H

#include "device/kernels/kernels.h"

#ifndef XP_DEV_ISA
#define XP_DEV_ISA base
#endif

#define XP_DEV_JOIN_(name, isa) name##_##isa
#define XP_DEV_JOIN(name, isa)  XP_DEV_JOIN_(name, isa)
#define XP_DEV_NAME(name)       XP_DEV_JOIN(name, XP_DEV_ISA)

/* In front of a loop whose iterations do not depend on each other, although the compiler cannot see it. */
#ifdef __clang__
#define XP_DEV_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define XP_DEV_INDEPENDENT _Pragma("GCC ivdep")
#endif

/* The larger and the smaller one of two floats: NaN wins; of zeros, +0 is the larger one. */
#define XP_DEV_GREATER(T, a, b)                                                                                        \
  ((a) != (a) || (a) > (b) ? (a) : (b) != (b) || (b) > (a) ? (b) : (T)(signbit(a) ? (b) : (a)))
#define XP_DEV_LESSER(T, a, b)                                                                                         \
  ((a) != (a) || (a) < (b) ? (a) : (b) != (b) || (b) < (a) ? (b) : (T)(signbit(a) ? (a) : (b)))

/* Each puts its kernels into the table. */
void XP_DEV_NAME(xp_dev_fill_float)(xp_dev_kernels *k);
void XP_DEV_NAME(xp_dev_fill_integer)(xp_dev_kernels *k);
void XP_DEV_NAME(xp_dev_fill_convert)(xp_dev_kernels *k);
void XP_DEV_NAME(xp_dev_fill_fold)(xp_dev_kernels *k);
void XP_DEV_NAME(xp_dev_fill_window)(xp_dev_kernels *k);
void XP_DEV_NAME(xp_dev_fill_taps)(xp_dev_kernels *k);
void XP_DEV_NAME(xp_dev_fill_tile)(xp_dev_kernels *k);

#endif
