/* Source positions that a module keeps once for all its instructions (StackFrameIndexProto).  Used by hlo_proto.c
 * alone. */
#ifndef XP_XSPACE_HLO_FRAMES_H
#define XP_XSPACE_HLO_FRAMES_H

#include "base/arena.h"

typedef struct {
  xp_str *files;
  size_t file_count, file_room;
  struct xp_hlo_location *locations;
  size_t location_count, location_room;
  uint64_t *frames; /* number of the location of each frame */
  size_t frame_count, frame_room;
} xp_hlo_frames;

/* Appends what a StackFrameIndexProto message holds.  False if it is damaged.  Memory comes from the arena, with its
 * escape. */
bool xp_hlo_frames_read(xp_hlo_frames *frames, xp_str message, xp_arena *arena);

/* The position of a frame; ids count from 1.  False, and nothing stored, if the module does not say. */
bool xp_hlo_frames_find(const xp_hlo_frames *frames, uint64_t id, xp_str *file, int64_t *line);

#endif
