/* Windows at listed places.
 *
 * The array of windows has the dimensions of the indices (without the one in which an index vector lies) and those of a
 * window, mixed.  A window lacks the operand's dimensions that are collapsed, inserted or batching.
 */
#include "device/eval_indices.h"

#include "device/eval_dynamic.h"

/* Bits of a list of dimensions; false if one is outside or listed twice. */
static bool bits_of(xp_hlo_list list, int rank, unsigned *bits)
{
  *bits = 0;
  for (size_t i = 0; i < list.count; i++) {
    int64_t d = list.values[i];
    if (d < 0 || d >= rank || (*bits >> d & 1)) {
      return false;
    }
    *bits |= 1u << d;
  }
  return true;
}

/* The dimensions of the indices that are no index vector, with the windows' dimensions that go with them. */
static bool read_batches(xp_dev_indices *m, const xp_dev_index_lists *lists, const xp_hlo_shape *indices,
                         const xp_hlo_shape *windows, unsigned window_bits)
{
  int64_t strides[XP_HLO_MAX_RANK], window_strides[XP_HLO_MAX_RANK];
  xp_dev_strides(indices, strides);
  xp_dev_strides(windows, window_strides);
  int w = 0;
  m->count = 1;
  for (int d = 0; d < indices->rank; d++) {
    if (d == lists->index_vector_dim) {
      continue;
    }
    while (w < windows->rank && (window_bits >> w & 1)) {
      w++;
    }
    if (w >= windows->rank || windows->dims[w] != indices->dims[d]) {
      return false;
    }
    m->dims[m->rank] = indices->dims[d];
    m->index_strides[m->rank] = strides[d];
    m->window_strides[m->rank] = window_strides[w++];
    m->batching[m->rank] = -1;
    for (size_t b = 0; b < lists->indices_batching.count; b++) {
      if (lists->indices_batching.values[b] == d) {
        m->batching[m->rank] = (int)lists->operand_batching.values[b];
      }
    }
    m->count *= indices->dims[d];
    m->rank++;
  }
  return m->rank + __builtin_popcount(window_bits) == windows->rank;
}

static bool read_vector(xp_dev_indices *m, const xp_dev_index_lists *lists, const xp_hlo_shape *indices)
{
  bool is_scalar = lists->index_vector_dim == indices->rank; /* each element is a vector of one */
  int64_t strides[XP_HLO_MAX_RANK];
  xp_dev_strides(indices, strides);
  if (lists->index_vector_dim < 0 || lists->index_vector_dim > indices->rank) {
    return false;
  }
  int64_t length = is_scalar ? 1 : indices->dims[lists->index_vector_dim];
  if ((uint64_t)length != lists->indexed_dims.count) {
    return false;
  }
  m->vector_length = (int)length;
  m->vector_stride = is_scalar ? 0 : strides[lists->index_vector_dim];
  for (int i = 0; i < m->vector_length; i++) {
    m->indexed[i] = (int)lists->indexed_dims.values[i];
  }
  return true;
}

static bool read_window(xp_dev_indices *m, const xp_dev_index_lists *lists, const xp_hlo_shape *operand,
                        const xp_hlo_shape *windows, unsigned missing)
{
  int64_t window_strides[XP_HLO_MAX_RANK];
  xp_dev_strides(operand, m->operand_strides);
  xp_dev_strides(windows, window_strides);
  m->operand_rank = operand->rank;
  for (int d = 0; d < operand->rank; d++) {
    bool is_missing = missing >> d & 1;
    int64_t size = 1;
    if (!is_missing) {
      if ((size_t)m->window_rank >= lists->window_dims.count) {
        return false;
      }
      int64_t w = lists->window_dims.values[m->window_rank];
      size = windows->dims[w];
      m->window[m->window_rank] = size;
      m->window_in_operand[m->window_rank] = m->operand_strides[d];
      m->window_in_array[m->window_rank++] = window_strides[w];
    }
    m->limits[d] = operand->dims[d] - size;
    bool is_listed = lists->sizes == NULL || lists->sizes[d] == size || (is_missing && lists->sizes[d] == 0);
    if (!is_listed || (m->limits[d] < 0 && lists->sizes != NULL)) {
      return false;
    }
  }
  return (size_t)m->window_rank == lists->window_dims.count;
}

bool xp_dev_indices_prepare(xp_dev_indices *made, const xp_dev_index_lists *lists, xp_dev_leaf operand,
                            xp_dev_leaf indices, xp_dev_leaf windows)
{
  unsigned window_bits, missing, indexed, batching, indices_batching;
  if (!xp_dev_type_is_index(indices.type) || !bits_of(lists->window_dims, windows.shape->rank, &window_bits) ||
      !bits_of(lists->missing_dims, operand.shape->rank, &missing) ||
      !bits_of(lists->indexed_dims, operand.shape->rank, &indexed) ||
      !bits_of(lists->operand_batching, operand.shape->rank, &batching) ||
      !bits_of(lists->indices_batching, indices.shape->rank, &indices_batching) ||
      lists->operand_batching.count != lists->indices_batching.count || (missing & batching) || (indexed & batching)) {
    return false;
  }
  for (size_t b = 0; b < lists->operand_batching.count; b++) {
    int64_t d = lists->indices_batching.values[b];
    if (d == lists->index_vector_dim ||
        indices.shape->dims[d] != operand.shape->dims[lists->operand_batching.values[b]]) {
      return false;
    }
  }
  *made = (xp_dev_indices){.type = indices.type};
  return read_vector(made, lists, indices.shape) &&
         read_batches(made, lists, indices.shape, windows.shape, window_bits) &&
         read_window(made, lists, operand.shape, windows.shape, missing | batching);
}

int64_t xp_dev_indices_start(const xp_dev_indices *indices, const xp_dev_index_cursor *cursor, const void *values,
                             bool clamp, bool *is_inside)
{
  int64_t start[XP_HLO_MAX_RANK] = {0}, first = 0;
  for (int i = 0; i < indices->rank; i++) {
    if (indices->batching[i] >= 0) {
      start[indices->batching[i]] = cursor->at[i];
    }
  }
  for (int i = 0; i < indices->vector_length; i++) {
    start[indices->indexed[i]] = xp_dev_index_at(values, indices->type, cursor->index + i * indices->vector_stride);
  }
  *is_inside = true;
  for (int d = 0; d < indices->operand_rank; d++) {
    int64_t most = indices->limits[d], at = start[d];
    if (clamp) {
      at = at > most ? most : at;
      at = at < 0 ? 0 : at;
    } else if (at < 0 || at > most) {
      *is_inside = false;
      return 0;
    }
    first += at * indices->operand_strides[d];
  }
  return first;
}

void xp_dev_indices_advance(const xp_dev_indices *indices, xp_dev_index_cursor *cursor)
{
  for (int d = indices->rank - 1; d >= 0; d--) {
    cursor->index += indices->index_strides[d];
    cursor->window += indices->window_strides[d];
    if (++cursor->at[d] < indices->dims[d]) {
      return;
    }
    cursor->index -= cursor->at[d] * indices->index_strides[d];
    cursor->window -= cursor->at[d] * indices->window_strides[d];
    cursor->at[d] = 0;
  }
}
