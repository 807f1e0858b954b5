/* Reading varints without a branch for every byte: the decoder of events spends its time here.
 *
 * Eight bytes are loaded at once; the first byte without its top bit set ends the varint.  The 7-bit groups are then
 * pushed together: by one instruction where the processor has a fast one (pext), else in three steps, pairs first.  The
 * caller guarantees that eight bytes can be read.
 */
#ifndef XP_XSPACE_VARINT_H
#define XP_XSPACE_VARINT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define XP_ALWAYS_INLINE static inline __attribute__((always_inline))
#define XP_NOINLINE      __attribute__((noinline)) /* keeps the registers of a hot loop apart from its surroundings */

/* Functions marked XP_TARGET_RECENT may use the bit instructions and 32-byte vectors of processors since 2013; they are
 * only called where xp_cpu_is_recent.  Elsewhere the mark means nothing. */
#if defined(__x86_64__)
#define XP_TARGET_RECENT __attribute__((target("bmi,bmi2,avx2")))
#else
#define XP_TARGET_RECENT
#endif

/* True if those exist and pext is fast: the first two generations of Zen have it in microcode, slower than the three
 * steps. */
static inline bool xp_cpu_is_recent(void)
{
#if defined(__x86_64__)
  __builtin_cpu_init();
  return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("avx2") &&
         !__builtin_cpu_is("znver1") && !__builtin_cpu_is("znver2");
#else
  return false;
#endif
}

XP_ALWAYS_INLINE uint64_t xp_load64(const uint8_t *p)
{
  uint64_t word;
  memcpy(&word, p, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  word = __builtin_bswap64(word);
#endif
  return word;
}

/* The bits of x that `mask` selects: whole groups of 7 bits from the lowest byte on. */
XP_ALWAYS_INLINE uint64_t xp_pack_groups(uint64_t x, uint64_t mask, bool pext)
{
#if defined(__x86_64__)
  if (pext) {
    uint64_t packed;
    __asm__("pextq %2, %1, %0" : "=r"(packed) : "r"(x), "r"(mask)); /* not an intrinsic: those need a target option */
    return packed;
  }
#else
  (void)pext;
#endif
  x &= mask;
  x = (x & UINT64_C(0x007f007f007f007f)) | (x & UINT64_C(0x7f007f007f007f00)) >> 1;
  x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x3fff00003fff0000)) >> 2;
  return (x & UINT64_C(0x000000000fffffff)) | (x & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* A bit for the top of every byte that may end a varint. */
XP_ALWAYS_INLINE uint64_t xp_varint_ends(uint64_t x)
{
  return ~x & UINT64_C(0x8080808080808080);
}

/* Number of bytes of the varint, from its nonzero xp_varint_ends. */
XP_ALWAYS_INLINE unsigned xp_varint_size(uint64_t ends)
{
  return ((unsigned)__builtin_ctzll(ends) >> 3) + 1;
}

/* Reads a varint of at most 8 bytes (56 bits) and moves *pos behind it; false, and nothing moved, if it is longer. */
XP_ALWAYS_INLINE bool xp_varint_fast(const uint8_t **pos, uint64_t *value, bool pext)
{
  uint64_t x = xp_load64(*pos), ends = xp_varint_ends(x);
  if (__builtin_expect(ends == 0, 0)) {
    return false;
  }
  uint64_t mask = (ends ^ (ends - 1)) & UINT64_C(0x7f7f7f7f7f7f7f7f); /* up to the last byte, without the top bits */
  *pos += xp_varint_size(ends);
  *value = xp_pack_groups(x, mask, pext);
  return true;
}

#endif
