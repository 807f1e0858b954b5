/* Copying arrays with strides.
 *
 * Dimensions are sorted so that the target runs fastest in the last one, and joined where both sides allow it.  Then
 * the two innermost dimensions are done by a loop for each element size: rows of memcpy, fills, or the tiles of a
 * transpose.
 */
#include "device/eval_move.h"

#include "device/eval_element.h"

#define TILE 16

void xp_dev_strides(const xp_hlo_shape *shape, int64_t strides[XP_HLO_MAX_RANK])
{
  int64_t stride = 1;
  for (int d = shape->rank - 1; d >= 0; d--) {
    strides[d] = stride;
    stride *= shape->dims[d];
  }
}

static void swap_dims(xp_dev_move *m, int a, int b)
{
  xp_dev_move old = *m;
  m->dims[a] = old.dims[b], m->dims[b] = old.dims[a];
  m->to[a] = old.to[b], m->to[b] = old.to[a];
  m->from[a] = old.from[b], m->from[b] = old.from[a];
}

void xp_dev_move_simplify(xp_dev_move *move)
{
  xp_dev_move m = {0, move->size, {0}, {0}, {0}};
  for (int d = 0; d < move->rank; d++) {
    if (move->dims[d] != 1) {
      m.dims[m.rank] = move->dims[d], m.to[m.rank] = move->to[d], m.from[m.rank++] = move->from[d];
    }
  }
  for (int i = 1; i < m.rank; i++) {
    for (int k = i; k > 0 && m.to[k] > m.to[k - 1]; k--) {
      swap_dims(&m, k, k - 1);
    }
  }
  int kept = 0;
  for (int d = 1; d < m.rank; d++) {
    if (m.to[kept] == m.to[d] * m.dims[d] && m.from[kept] == m.from[d] * m.dims[d]) {
      m.dims[kept] *= m.dims[d], m.to[kept] = m.to[d], m.from[kept] = m.from[d];
    } else {
      kept++;
      m.dims[kept] = m.dims[d], m.to[kept] = m.to[d], m.from[kept] = m.from[d];
    }
  }
  m.rank = m.rank > 0 ? kept + 1 : 0;
  *move = m;
}

/* Two nested loops of one element type, in tiles.  In a transpose, a tile goes through a small array: rows of a matrix
 * may all be at the same place of the cache, so each row is read and written once, as a whole. */
#define PLANE(T)                                                                                                       \
  static inline void turn_##T(T *to, const T *from, int64_t rows, int64_t columns, int64_t to_row, int64_t from_row)   \
  {                                                                                                                    \
    T tile[TILE][TILE];                                                                                                \
    for (int64_t j = 0; j < columns; j++) {                                                                            \
      memcpy(tile[j], from + j * from_row, (size_t)rows * sizeof(T));                                                  \
    }                                                                                                                  \
    for (int64_t i = 0; i < rows; i++) {                                                                               \
      for (int64_t j = 0; j < columns; j++) {                                                                          \
        to[i * to_row + j] = tile[j][i];                                                                               \
      }                                                                                                                \
    }                                                                                                                  \
  }                                                                                                                    \
  static void plane_##T(T *to, const T *from, const int64_t *dims, const int64_t *ts, const int64_t *fs)               \
  {                                                                                                                    \
    bool is_turn = ts[1] == 1 && fs[0] == 1;                                                                           \
    for (int64_t i0 = 0; i0 < dims[0]; i0 += TILE) {                                                                   \
      int64_t i1 = i0 + TILE < dims[0] ? i0 + TILE : dims[0];                                                          \
      for (int64_t j0 = 0; j0 < dims[1]; j0 += TILE) {                                                                 \
        int64_t j1 = j0 + TILE < dims[1] ? j0 + TILE : dims[1];                                                        \
        if (is_turn && i1 - i0 == TILE && j1 - j0 == TILE) {                                                           \
          turn_##T(to + i0 * ts[0] + j0, from + j0 * fs[1] + i0, TILE, TILE, ts[0],                                    \
                   fs[1]); /* known extents are fast */                                                                \
          continue;                                                                                                    \
        }                                                                                                              \
        if (is_turn) {                                                                                                 \
          turn_##T(to + i0 * ts[0] + j0, from + j0 * fs[1] + i0, i1 - i0, j1 - j0, ts[0], fs[1]);                      \
          continue;                                                                                                    \
        }                                                                                                              \
        for (int64_t i = i0; i < i1; i++) {                                                                            \
          for (int64_t j = j0; j < j1; j++) {                                                                          \
            to[i * ts[0] + j * ts[1]] = from[i * fs[0] + j * fs[1]];                                                   \
          }                                                                                                            \
        }                                                                                                              \
      }                                                                                                                \
    }                                                                                                                  \
  }

PLANE(uint8_t)
PLANE(uint16_t)
PLANE(uint32_t)
PLANE(uint64_t)

static void move_plane(size_t size, char *to, const char *from, const int64_t *dims, const int64_t *ts,
                       const int64_t *fs)
{
  if (ts[1] == 1 && (fs[1] == 1 || fs[1] == 0)) {
    for (int64_t i = 0; i < dims[0]; i++) {
      char *t = to + i * ts[0] * (int64_t)size;
      const char *f = from + i * fs[0] * (int64_t)size;
      if (fs[1] == 1) {
        memcpy(t, f, (size_t)dims[1] * size);
      } else {
        xp_dev_fill(t, f, size, dims[1]);
      }
    }
    return;
  }
  switch (size) {
  case 1:
    plane_uint8_t((uint8_t *)to, (const uint8_t *)from, dims, ts, fs);
    break;
  case 2:
    plane_uint16_t((uint16_t *)to, (const uint16_t *)from, dims, ts, fs);
    break;
  case 4:
    plane_uint32_t((uint32_t *)to, (const uint32_t *)from, dims, ts, fs);
    break;
  default:
    plane_uint64_t((uint64_t *)to, (const uint64_t *)from, dims, ts, fs);
    break;
  }
}

/* The dimension outside of the last one in which the source runs fastest, so that the plane has both fast sides. */
static void order_plane(xp_dev_move *m)
{
  int best = m->rank - 2;
  for (int d = 0; d < m->rank - 1; d++) {
    int64_t stride = m->from[d] < 0 ? -m->from[d] : m->from[d];
    int64_t least = m->from[best] < 0 ? -m->from[best] : m->from[best];
    if (stride != 0 && (least == 0 || stride < least)) {
      best = d;
    }
  }
  if (m->from[m->rank - 1] != 1 && best != m->rank - 2) {
    swap_dims(m, best, m->rank - 2);
  }
}

void xp_dev_move_run(const xp_dev_move *move, void *to, const void *from)
{
  xp_dev_move m = *move;
  for (int d = 0; d < m.rank; d++) {
    if (m.dims[d] == 0) {
      return;
    }
  }
  while (m.rank < 2) { /* missing dimensions are of 1 element */
    m.dims[m.rank] = 1, m.to[m.rank] = m.from[m.rank] = m.rank == 0 ? 0 : 1;
    if (m.rank++ == 1) {
      swap_dims(&m, 0, 1);
    }
  }
  order_plane(&m);
  int outer = m.rank - 2;
  int64_t index[XP_HLO_MAX_RANK] = {0}, t = 0, f = 0, size = (int64_t)m.size;
  for (;;) {
    move_plane(m.size, (char *)to + t * size, (const char *)from + f * size, m.dims + outer, m.to + outer,
               m.from + outer);
    int d = outer - 1;
    for (; d >= 0; d--) {
      t += m.to[d], f += m.from[d];
      if (++index[d] < m.dims[d]) {
        break;
      }
      t -= index[d] * m.to[d], f -= index[d] * m.from[d];
      index[d] = 0;
    }
    if (d < 0) {
      return;
    }
  }
}
