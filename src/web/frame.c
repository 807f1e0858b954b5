/* The size is known before anything is written; a write beyond it would be a mistake here, and is left out. */
#include "web/frame.h"

#include <stdlib.h>

bool xp_frame_open(xp_frame *frame, size_t size)
{
  *frame = (xp_frame){calloc(1, size > 0 ? size : 1), size, 0};
  return frame->bytes != NULL;
}

static void put(xp_frame *frame, const uint8_t *bytes, size_t count)
{
  if (count > 0 && count <= frame->size - frame->used) {
    memcpy(frame->bytes + frame->used, bytes, count);
    frame->used += count;
  }
}

void xp_frame_u32(xp_frame *frame, uint32_t value)
{
  const uint8_t bytes[] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
  put(frame, bytes, sizeof bytes);
}

void xp_frame_f32(xp_frame *frame, float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  xp_frame_u32(frame, bits);
}

void xp_frame_f64(xp_frame *frame, double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  xp_frame_u32(frame, (uint32_t)bits);
  xp_frame_u32(frame, (uint32_t)(bits >> 32));
}

void xp_frame_bytes(xp_frame *frame, xp_str bytes)
{
  put(frame, (const uint8_t *)bytes.ptr, bytes.len);
}

void xp_frame_align(xp_frame *frame)
{
  static const uint8_t zeros[8];
  put(frame, zeros, xp_frame_aligned(frame->used) - frame->used);
}
