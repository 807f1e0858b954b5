/* The blocked matrix product.
 *
 * c is made in tiles that stay in registers (kernels/tile.c).  For that, a block of b of DEPTH x WIDTH is packed into
 * panels of a tile's columns, then blocks of a of HEIGHT x DEPTH into panels of a tile's rows: the tile kernel reads
 * both straight through.  The block of a stays in the second cache, a panel of b in the first.  Packing takes any
 * strides and turns f16 and bf16 into f32, so transposed operands cost nothing more.  Products of integers are plain
 * loops.
 */
#include "device/eval_matmul.h"

#define DEPTH  256
#define HEIGHT 96 /* a multiple of 4, 6 and 8 */
#define WIDTH  1024

static bool is_tiled(xp_dev_type type)
{
  return type == XP_DEV_F32 || type == XP_DEV_F64;
}

static int64_t least(int64_t a, int64_t b)
{
  return a < b ? a : b;
}

/* The scratch: panels of b, panels of a, and a panel of either before its elements are widened. */
typedef struct {
  char *b, *a, *narrow;
} packing;

static packing packing_at(void *scratch, size_t size)
{
  char *at = scratch;
  return (packing){at, at + DEPTH * WIDTH * size, at + DEPTH * (WIDTH + HEIGHT) * size};
}

size_t xp_dev_matmul_bytes(const xp_dev_matmul *product)
{
  size_t size = xp_dev_type_sizes[product->type];
  return is_tiled(product->type) ? DEPTH * (WIDTH + HEIGHT) * size + DEPTH * (size_t)XP_DEV_TILE_MAX_COLUMNS * 2 : 0;
}

/* to[p * width + i] = from[i * across + p * along] for i < count, 0 up to width. */
#define PACK(name, T)                                                                                                  \
  static void name(T *to, const T *from, int64_t along, int64_t across, int64_t depth, int64_t count, int64_t width)   \
  {                                                                                                                    \
    for (int64_t p = 0; p < depth; p++, to += width, from += along) {                                                  \
      int64_t i = 0;                                                                                                   \
      if (across == 1) {                                                                                               \
        for (; i < count; i++) {                                                                                       \
          to[i] = from[i];                                                                                             \
        }                                                                                                              \
      } else {                                                                                                         \
        for (; i < count; i++) {                                                                                       \
          to[i] = from[i * across];                                                                                    \
        }                                                                                                              \
      }                                                                                                                \
      for (; i < width; i++) {                                                                                         \
        to[i] = 0;                                                                                                     \
      }                                                                                                                \
    }                                                                                                                  \
  }

PACK(pack_16, uint16_t)
PACK(pack_32, uint32_t)
PACK(pack_64, uint64_t)

/* One panel, from elements of type `from_type`. */
static void pack_panel(const xp_dev_kernels *kernels, xp_dev_type from_type, char *narrow, char *to, const char *from,
                       int64_t along, int64_t across, int64_t depth, int64_t count, int64_t width)
{
  if (from_type == XP_DEV_F64) {
    pack_64((uint64_t *)to, (const uint64_t *)from, along, across, depth, count, width);
  } else if (from_type == XP_DEV_F32) {
    pack_32((uint32_t *)to, (const uint32_t *)from, along, across, depth, count, width);
  } else {
    pack_16((uint16_t *)narrow, (const uint16_t *)from, along, across, depth, count, width);
    const void *in[1] = {narrow};
    kernels->convert[from_type][XP_DEV_F32](to, in, depth * width);
  }
}

typedef struct {
  const xp_dev_kernels *kernels;
  const xp_dev_matmul *product;
  const xp_dev_tile_kernel *tile;
  packing pack;
  size_t size;
} blocks;

static void pack_b(const blocks *w, const char *b, int64_t p0, int64_t depth, int64_t j0, int64_t width)
{
  const xp_dev_matmul *x = w->product;
  int64_t columns = w->tile->columns, size = xp_dev_type_sizes[x->b_type];
  for (int64_t j = 0; j < width; j += columns) {
    pack_panel(w->kernels, x->b_type, w->pack.narrow, w->pack.b + (size_t)(j * depth) * w->size,
               b + (p0 * x->b_row + (j0 + j) * x->b_column) * size, x->b_row, x->b_column, depth,
               least(columns, width - j), columns);
  }
}

static void pack_a(const blocks *w, const char *a, int64_t i0, int64_t height, int64_t p0, int64_t depth)
{
  const xp_dev_matmul *x = w->product;
  int64_t rows = w->tile->rows, size = xp_dev_type_sizes[x->a_type];
  for (int64_t i = 0; i < height; i += rows) {
    pack_panel(w->kernels, x->a_type, w->pack.narrow, w->pack.a + (size_t)(i * depth) * w->size,
               a + ((i0 + i) * x->a_row + p0 * x->a_column) * size, x->a_column, x->a_row, depth,
               least(rows, height - i), rows);
  }
}

/* A tile at the edge of c is made beside it and added as far as c goes. */
#define ADD_EDGE(T)                                                                                                    \
  for (int64_t i = 0; i < rows; i++) {                                                                                 \
    for (int64_t j = 0; j < columns; j++) {                                                                            \
      ((T *)c)[i * c_row + j] += ((const T *)edge)[i * w->tile->columns + j];                                          \
    }                                                                                                                  \
  }

static void make_edge(const blocks *w, void *c, const void *a, const void *b, int64_t depth, int64_t rows,
                      int64_t columns)
{
  double edge[XP_DEV_TILE_MAX_ROWS * XP_DEV_TILE_MAX_COLUMNS] = {0};
  int64_t c_row = w->product->c_row;
  w->tile->run(edge, w->tile->columns, a, b, depth);
  if (w->size == sizeof(float)) {
    ADD_EDGE(float)
  } else {
    ADD_EDGE(double)
  }
}

/* Multiplies a packed block of a with a packed block of b. */
static void multiply_blocks(const blocks *w, char *c, int64_t i0, int64_t height, int64_t j0, int64_t width,
                            int64_t depth)
{
  int64_t rows = w->tile->rows, columns = w->tile->columns, c_row = w->product->c_row;
  for (int64_t j = 0; j < width; j += columns) {
    const char *b = w->pack.b + (size_t)(j * depth) * w->size;
    for (int64_t i = 0; i < height; i += rows) {
      const char *a = w->pack.a + (size_t)(i * depth) * w->size;
      char *to = c + (size_t)((i0 + i) * c_row + j0 + j) * w->size;
      if (height - i >= rows && width - j >= columns) {
        w->tile->run(to, c_row, a, b, depth);
      } else {
        make_edge(w, to, a, b, depth, least(rows, height - i), least(columns, width - j));
      }
    }
  }
}

static void multiply_tiled(const xp_dev_kernels *kernels, const xp_dev_matmul *x, char *c, const char *a, const char *b,
                           void *scratch)
{
  size_t size = xp_dev_type_sizes[x->type];
  blocks w = {kernels, x, x->type == XP_DEV_F32 ? &kernels->tile_f32 : &kernels->tile_f64, packing_at(scratch, size),
              size};
  for (int64_t i = 0; i < x->m; i++) {
    memset(c + (size_t)(i * x->c_row) * size, 0, (size_t)x->n * size);
  }
  for (int64_t j = 0; j < x->n; j += WIDTH) {
    int64_t width = least(WIDTH, x->n - j);
    for (int64_t p = 0; p < x->k; p += DEPTH) {
      int64_t depth = least(DEPTH, x->k - p);
      pack_b(&w, b, p, depth, j, width);
      for (int64_t i = 0; i < x->m; i += HEIGHT) {
        int64_t height = least(HEIGHT, x->m - i);
        pack_a(&w, a, i, height, p, depth);
        multiply_blocks(&w, c, i, height, j, width, depth);
      }
    }
  }
}

/* Row by row of c; sums wrap. */
#define PLAIN(name, T, U, sum)                                                                                         \
  static void name(const xp_dev_matmul *x, T *c, const T *a, const T *b)                                               \
  {                                                                                                                    \
    for (int64_t i = 0; i < x->m; i++) {                                                                               \
      T *row = c + i * x->c_row;                                                                                       \
      memset(row, 0, (size_t)x->n * sizeof(T));                                                                        \
      for (int64_t p = 0; p < x->k; p++) {                                                                             \
        T u = a[i * x->a_row + p * x->a_column];                                                                       \
        const T *from = b + p * x->b_row;                                                                              \
        for (int64_t j = 0; j < x->n; j++) {                                                                           \
          T v = from[j * x->b_column];                                                                                 \
          row[j] = (T)(sum);                                                                                           \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }

PLAIN(plain_pred, uint8_t, uint32_t, row[j] | (u & v))
PLAIN(plain_8, uint8_t, uint32_t, row[j] + (uint32_t)u * v)
PLAIN(plain_16, uint16_t, uint32_t, row[j] + (uint32_t)u * v)
PLAIN(plain_32, uint32_t, uint32_t, row[j] + u * v)
PLAIN(plain_64, uint64_t, uint64_t, row[j] + u * v)

void xp_dev_matmul_run(const xp_dev_kernels *kernels, const xp_dev_matmul *product, void *c, const void *a,
                       const void *b, void *scratch)
{
  if (product->m == 0 || product->n == 0) {
    return;
  }
  if (is_tiled(product->type)) {
    multiply_tiled(kernels, product, c, a, b, scratch);
    return;
  }
  switch (product->type == XP_DEV_PRED ? 0 : xp_dev_type_sizes[product->type]) {
  case 0:
    plain_pred(product, c, a, b);
    break;
  case 1:
    plain_8(product, c, a, b);
    break;
  case 2:
    plain_16(product, c, a, b);
    break;
  case 4:
    plain_32(product, c, a, b);
    break;
  default:
    plain_64(product, c, a, b);
    break;
  }
}
