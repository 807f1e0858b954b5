/* Binary answers: headers and columns, little-endian, every column at a multiple of 8 bytes (docs/view-protocol.md). */
#ifndef XP_WEB_FRAME_H
#define XP_WEB_FRAME_H

#include "base/arena.h"

/* What is written, front to back. */
typedef struct {
  uint8_t *bytes;
  size_t size, used;
} xp_frame;

/* Room for that many bytes; false if memory is out.  The caller frees frame->bytes, or hands it to a reply. */
bool xp_frame_open(xp_frame *frame, size_t size);

void xp_frame_u32(xp_frame *frame, uint32_t value);
void xp_frame_f32(xp_frame *frame, float value);
void xp_frame_f64(xp_frame *frame, double value);
void xp_frame_bytes(xp_frame *frame, xp_str bytes);

/* Zero bytes up to a multiple of 8. */
void xp_frame_align(xp_frame *frame);

static inline size_t xp_frame_aligned(size_t bytes)
{
  return (bytes + 7) / 8 * 8;
}

#endif
