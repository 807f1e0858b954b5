/* Frames point to locations, locations to file names, all by numbers that count from 1.
 *
 * Newer compilers write only the number of a frame into the metadata of an instruction; older ones the file and line
 * themselves.  Parents of frames are not followed: the frame itself is where the operation was made.
 */
#include "xspace/hlo_frames.h"

#include "wire/wire.h"

typedef struct xp_hlo_location {
  uint64_t file;
  int64_t line;
} location;

static bool read_location(xp_str message, location *to)
{
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.type == XP_WIRE_VARINT && f.number == 1) {
      to->file = f.value;
    } else if (f.type == XP_WIRE_VARINT && f.number == 3) {
      to->line = (int64_t)f.value;
    }
  }
  return r.status == XP_WIRE_OK;
}

static bool read_frame(xp_str message, uint64_t *to)
{
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.type == XP_WIRE_VARINT && f.number == 1) {
      *to = f.value;
    }
  }
  return r.status == XP_WIRE_OK;
}

bool xp_hlo_frames_read(xp_hlo_frames *h, xp_str message, xp_arena *arena)
{
  bool is_good = true;
  xp_wire_reader r = xp_wire_open(message);
  for (xp_wire_field f; xp_wire_next(&r, &f);) {
    if (f.type != XP_WIRE_BYTES) {
      continue;
    }
    if (f.number == 1) {
      h->files = xp_arena_grow(arena, h->files, h->file_count, &h->file_room, sizeof *h->files);
      h->files[h->file_count++] = f.bytes;
    } else if (f.number == 3) {
      h->locations = xp_arena_grow(arena, h->locations, h->location_count, &h->location_room, sizeof *h->locations);
      h->locations[h->location_count] = (location){0, 0};
      is_good &= read_location(f.bytes, &h->locations[h->location_count++]);
    } else if (f.number == 4) {
      h->frames = xp_arena_grow(arena, h->frames, h->frame_count, &h->frame_room, sizeof *h->frames);
      h->frames[h->frame_count] = 0;
      is_good &= read_frame(f.bytes, &h->frames[h->frame_count++]);
    }
  }
  return is_good && r.status == XP_WIRE_OK;
}

bool xp_hlo_frames_find(const xp_hlo_frames *h, uint64_t id, xp_str *file, int64_t *line)
{
  if (id == 0 || id > h->frame_count) {
    return false;
  }
  uint64_t number = h->frames[id - 1];
  if (number == 0 || number > h->location_count) {
    return false;
  }
  const location *at = &h->locations[number - 1];
  if (at->file == 0 || at->file > h->file_count) {
    return false;
  }
  *file = h->files[at->file - 1];
  *line = at->line;
  return true;
}
