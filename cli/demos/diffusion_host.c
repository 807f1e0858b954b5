/* Byte pair encoding and the spectrum of blocks, each as its definition has it. */
#include "diffusion_host.h"

#include <math.h>
#include <string.h>

enum { TEXT_MAX = 8192, BLOCK = 8, KINDS_MAX = 4096 };

/* ---------------------------------------------------------------- tokens */

/* How often the pair that begins at `at` occurs. */
static size_t occurrences(const uint16_t *ids, size_t len, size_t at)
{
  size_t count = 0;
  for (size_t i = 0; i + 1 < len; i++) {
    count += ids[i] == ids[at] && ids[i + 1] == ids[at + 1];
  }
  return count;
}

/* The place of the most frequent pair, the first of equals; len if none comes twice. */
static size_t most_frequent(const uint16_t *ids, size_t len)
{
  size_t best = len, most = 1;
  for (size_t i = 0; i + 1 < len; i++) {
    const size_t count = occurrences(ids, len, i);
    if (count > most) {
      most = count;
      best = i;
    }
  }
  return best;
}

static size_t merge(uint16_t *ids, size_t len, uint16_t first, uint16_t second, uint16_t merged)
{
  size_t out = 0;
  for (size_t i = 0; i < len; i++) {
    const bool is_pair = i + 1 < len && ids[i] == first && ids[i + 1] == second;
    ids[out++] = is_pair ? merged : ids[i];
    i += is_pair;
  }
  return out;
}

void tokenize(const char *text, size_t most, int64_t *tokens, size_t count)
{
  static uint16_t ids[TEXT_MAX];
  size_t len = strlen(text);
  len = len < TEXT_MAX ? len : TEXT_MAX;
  for (size_t i = 0; i < len; i++) {
    ids[i] = (unsigned char)text[i];
  }
  for (uint16_t merged = 256; merged < KINDS_MAX; merged++) {
    const size_t at = most_frequent(ids, len);
    if (at == len) {
      break;
    }
    len = merge(ids, len, ids[at], ids[at + 1], merged);
  }
  for (size_t i = 0; i < count; i++) {
    tokens[i] = i < len ? (int64_t)(ids[i] % most) : 0;
  }
}

/* ---------------------------------------------------------------- watermark */

/* The orthonormal cosine transform of 8 values: out = basis in, or its transpose. */
static void make_basis(float basis[BLOCK][BLOCK])
{
  const double pi = 3.14159265358979323846;
  for (int k = 0; k < BLOCK; k++) {
    for (int n = 0; n < BLOCK; n++) {
      basis[k][n] = (float)(sqrt((k == 0 ? 1.0 : 2.0) / BLOCK) * cos(pi * (n + 0.5) * k / BLOCK));
    }
  }
}

/* block = basis block basis^T, or basis^T block basis. */
static void transform(float block[BLOCK][BLOCK], float basis[BLOCK][BLOCK], bool is_inverse)
{
  float half[BLOCK][BLOCK] = {{0}}, whole[BLOCK][BLOCK] = {{0}};
  for (int i = 0; i < BLOCK; i++) {
    for (int j = 0; j < BLOCK; j++) {
      for (int k = 0; k < BLOCK; k++) {
        half[i][j] += (is_inverse ? basis[k][i] : basis[i][k]) * block[k][j];
      }
    }
  }
  for (int i = 0; i < BLOCK; i++) {
    for (int j = 0; j < BLOCK; j++) {
      for (int k = 0; k < BLOCK; k++) {
        whole[i][j] += half[i][k] * (is_inverse ? basis[k][j] : basis[j][k]);
      }
    }
  }
  memcpy(block, whole, sizeof whole);
}

static void mark_block(float *corner, size_t size, float basis[BLOCK][BLOCK], float strength)
{
  float block[BLOCK][BLOCK];
  for (size_t i = 0; i < BLOCK; i++) {
    memcpy(block[i], corner + i * size, sizeof block[i]);
  }
  transform(block, basis, false);
  block[3][4] += strength;
  block[4][3] -= strength;
  transform(block, basis, true);
  for (size_t i = 0; i < BLOCK; i++) {
    for (size_t j = 0; j < BLOCK; j++) {
      corner[i * size + j] = fminf(fmaxf(block[i][j], 0), 1);
    }
  }
}

void watermark(float *image, size_t size, int rounds)
{
  float basis[BLOCK][BLOCK];
  make_basis(basis);
  for (int round = 0; round < rounds; round++) {
    for (size_t y = 0; y + BLOCK <= 3 * size; y += BLOCK) {
      for (size_t x = 0; x + BLOCK <= size; x += BLOCK) {
        const float sign = (x / BLOCK + y / BLOCK) % 2 == 0 ? 1.0f : -1.0f;
        mark_block(image + y * size + x, size, basis, sign * 0.002f);
      }
    }
  }
}
