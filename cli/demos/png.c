/* The plainest form of PNG (W3C recommendation, 2003): one IDAT chunk, rows without a filter. */
#include "png.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#include "base/error.h"

static void put_u32(uint8_t *to, uint32_t value)
{
  for (int i = 0; i < 4; i++) {
    to[i] = (uint8_t)(value >> (24 - 8 * i));
  }
}

static void put_chunk(FILE *file, const char *type, const uint8_t *bytes, size_t size)
{
  uint8_t head[8], tail[4];
  put_u32(head, (uint32_t)size);
  memcpy(head + 4, type, 4);
  uLong crc = crc32(0, head + 4, 4);
  if (size > 0) {
    crc = crc32(crc, bytes, (uInt)size);
  }
  put_u32(tail, (uint32_t)crc);
  fwrite(head, 1, sizeof head, file);
  fwrite(bytes, 1, size, file);
  fwrite(tail, 1, sizeof tail, file);
}

/* The rows with a 0 (no filter) in front of each, deflated.  NULL when memory is out. */
static uint8_t *deflated(const uint8_t *pixels, uint32_t width, uint32_t height, uLongf *size)
{
  const size_t row = (size_t)width * 3;
  uint8_t *rows = calloc(height, row + 1);
  *size = compressBound((uLong)((row + 1) * height));
  uint8_t *bytes = rows != NULL ? malloc(*size) : NULL;
  for (size_t y = 0; bytes != NULL && y < height; y++) {
    memcpy(rows + y * (row + 1) + 1, pixels + y * row, row);
  }
  if (bytes != NULL && compress2(bytes, size, rows, (uLong)((row + 1) * height), 9) != Z_OK) {
    free(bytes);
    bytes = NULL;
  }
  free(rows);
  return bytes;
}

static bool write_file(FILE *file, const uint8_t *bytes, size_t size, uint32_t width, uint32_t height)
{
  static const uint8_t signature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  uint8_t header[13] = {[8] = 8, [9] = 2}; /* 8 bits a sample, RGB */
  put_u32(header, width);
  put_u32(header + 4, height);
  fwrite(signature, 1, sizeof signature, file);
  put_chunk(file, "IHDR", header, sizeof header);
  put_chunk(file, "IDAT", bytes, size);
  put_chunk(file, "IEND", header, 0);
  return !ferror(file);
}

enum { PATH_ROOM = 4096 };

/* Where the picture is until it is whole. */
static xp_status name_temporary(const char *path, char temporary[PATH_ROOM], xp_error *err)
{
  if (snprintf(temporary, PATH_ROOM, "%s.tmp", path) >= PATH_ROOM) {
    return xp_fail(err, XP_ERR_USAGE, "The path %.80s.. is too long.", path);
  }
  return XP_OK;
}

xp_status png_check(const char *path, xp_error *err)
{
  char temporary[PATH_ROOM];
  struct stat there;
  if (name_temporary(path, temporary, err) != XP_OK) {
    return err->status;
  }
  if (stat(path, &there) == 0 && S_ISDIR(there.st_mode)) {
    return xp_fail(err, XP_ERR_IO, "%s: it is a folder. Name a file for the picture, such as %s/picture.png.", path,
                   path);
  }
  FILE *file = fopen(temporary, "wb");
  if (file == NULL) {
    return xp_fail(err, XP_ERR_IO, "%s: the picture can't be written: %m.", path);
  }
  fclose(file);
  remove(temporary);
  return XP_OK;
}

xp_status png_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height, xp_error *err)
{
  char temporary[PATH_ROOM];
  if (name_temporary(path, temporary, err) != XP_OK) {
    return err->status;
  }
  uLongf size;
  uint8_t *bytes = deflated(pixels, width, height, &size);
  if (bytes == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for the picture.");
  }
  FILE *file = fopen(temporary, "wb");
  bool is_written = file != NULL && write_file(file, bytes, size, width, height);
  is_written = file != NULL && fclose(file) == 0 && is_written;
  free(bytes);
  if (!is_written || rename(temporary, path) != 0) {
    xp_fail(err, XP_ERR_IO, "%s: the picture can't be written: %m.", path);
    remove(temporary);
    return XP_ERR_IO;
  }
  return XP_OK;
}
