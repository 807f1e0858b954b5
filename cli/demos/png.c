/* The plainest form of PNG (W3C recommendation, 2003): one IDAT chunk, rows without a filter. */
#include "png.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "session/run_files.h"

enum { SIGNATURE_SIZE = 8, HEADER_SIZE = 13, AROUND_CHUNK = 12 };

static void put_u32(uint8_t *to, uint32_t value)
{
  for (int i = 0; i < 4; i++) {
    to[i] = (uint8_t)(value >> (24 - 8 * i));
  }
}

/* Length, type, bytes and sum; gives the place behind it. */
static uint8_t *put_chunk(uint8_t *to, const char *type, const uint8_t *bytes, size_t size)
{
  put_u32(to, (uint32_t)size);
  memcpy(to + 4, type, 4);
  memcpy(to + 8, bytes, size);
  put_u32(to + 8 + size, (uint32_t)crc32(crc32(0, NULL, 0), to + 4, (uInt)size + 4));
  return to + AROUND_CHUNK + size;
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

/* The whole file.  NULL when memory is out. */
static uint8_t *encoded(const uint8_t *pixels, uint32_t width, uint32_t height, size_t *size)
{
  static const uint8_t signature[SIGNATURE_SIZE] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  uint8_t header[HEADER_SIZE] = {[8] = 8, [9] = 2}; /* 8 bits a sample, RGB */
  uLongf packed;
  uint8_t *rows = deflated(pixels, width, height, &packed);
  if (rows == NULL) {
    return NULL;
  }
  *size = SIGNATURE_SIZE + HEADER_SIZE + packed + (size_t)3 * AROUND_CHUNK;
  uint8_t *file = malloc(*size);
  if (file != NULL) {
    put_u32(header, width);
    put_u32(header + 4, height);
    memcpy(file, signature, sizeof signature);
    uint8_t *end = put_chunk(file + SIGNATURE_SIZE, "IHDR", header, sizeof header);
    end = put_chunk(end, "IDAT", rows, packed);
    put_chunk(end, "IEND", header, 0);
  }
  free(rows);
  return file;
}

xp_status png_write(const char *path, const uint8_t *pixels, uint32_t width, uint32_t height, xp_error *err)
{
  size_t size;
  uint8_t *bytes = encoded(pixels, width, height, &size);
  if (bytes == NULL) {
    return xp_fail(err, XP_ERR_MEMORY, "There is no memory for the picture.");
  }
  const xp_status status = xp_new_file_save(path, bytes, size, err);
  free(bytes);
  return status;
}
