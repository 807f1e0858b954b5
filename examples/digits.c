/* Numbers come from a counter that is mixed (splitmix64), so that each picture has numbers of its own and none depends
 * on how many were asked for before. */
#include "digits.h"

#include <stdlib.h>
#include <string.h>

enum { GLYPH_ROWS = 7, GLYPH_COLUMNS = 5, NUMBERS = DIGIT_PIXELS + 2 /* of a picture: noise, and its place */ };

static const char glyphs[DIGIT_CLASSES][GLYPH_ROWS][GLYPH_COLUMNS + 1] = {
    {"01110", "10001", "10011", "10101", "11001", "10001", "01110"},
    {"00100", "01100", "00100", "00100", "00100", "00100", "01110"},
    {"01110", "10001", "00001", "00010", "00100", "01000", "11111"},
    {"11111", "00010", "00100", "00010", "00001", "10001", "01110"},
    {"00010", "00110", "01010", "10010", "11111", "00010", "00010"},
    {"11111", "10000", "11110", "00001", "00001", "10001", "01110"},
    {"00110", "01000", "10000", "11110", "10001", "10001", "01110"},
    {"11111", "00001", "00010", "00100", "01000", "01000", "01000"},
    {"01110", "10001", "10001", "01110", "10001", "10001", "01110"},
    {"01110", "10001", "10001", "01111", "00001", "00010", "01100"},
};

float digits_random(uint64_t seed, uint64_t index)
{
  uint64_t z = seed + (index + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return (float)(z >> 40) / (float)(1 << 24);
}

/* A picture of a digit; its numbers begin at `index`. */
static void draw(float *pixels, int64_t digit, uint64_t seed, uint64_t index)
{
  const int x = (int)(digits_random(seed, index) * (DIGIT_SIDE - GLYPH_COLUMNS + 1));
  const int y = (int)(digits_random(seed, index + 1) * (DIGIT_SIDE - GLYPH_ROWS + 1));
  for (int i = 0; i < DIGIT_PIXELS; i++) {
    pixels[i] = digits_random(seed, index + 2 + (uint64_t)i) - 0.5f;
  }
  for (int row = 0; row < GLYPH_ROWS; row++) {
    for (int column = 0; column < GLYPH_COLUMNS; column++) {
      pixels[(y + row) * DIGIT_SIDE + x + column] += (float)(glyphs[digit][row][column] - '0');
    }
  }
}

bool digits_make(digits *made, size_t count, uint64_t seed)
{
  *made = (digits){count, calloc(count, DIGIT_PIXELS * sizeof(float)), calloc(count, sizeof(int64_t))};
  if (made->pixels == NULL || made->labels == NULL) {
    digits_free(made);
    return false;
  }
  for (size_t i = 0; i < count; i++) {
    made->labels[i] = (int64_t)(i % DIGIT_CLASSES);
    draw(made->pixels + i * DIGIT_PIXELS, made->labels[i], seed, i * NUMBERS);
  }
  return true;
}

void digits_free(digits *made)
{
  free(made->pixels);
  free(made->labels);
  memset(made, 0, sizeof *made);
}

/* The arrays point into the pictures: nothing is copied, and nothing has to be released. */
xp_status digits_fetch(void *batches, xl_host_array *arrays, xp_error *err)
{
  digits_batches *b = batches;
  if (b->start + b->size > b->from->count) {
    err->status = XP_ERR_EMPTY;
    return XP_ERR_EMPTY;
  }
  const int64_t size = (int64_t)b->size;
  arrays[0] = (xl_host_array){XL_F32, XL_SHAPE(size, DIGIT_PIXELS), b->from->pixels + b->start * DIGIT_PIXELS};
  arrays[1] = (xl_host_array){XL_I64, XL_SHAPE(size), b->from->labels + b->start};
  b->start += b->size;
  return XP_OK;
}
