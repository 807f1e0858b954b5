/* What gather and scatter share: slices of one array at places that another array lists. */
#ifndef XP_DEVICE_EVAL_INDICES_H
#define XP_DEVICE_EVAL_INDICES_H

#include "device/eval_move.h"

/* The lists of a gather or a scatter under one set of names. */
typedef struct {
  xp_hlo_list window_dims;  /* of the windows' array: offset_dims, update_window_dims */
  xp_hlo_list missing_dims; /* of the operand, of 1 in a window: collapsed_slice_dims, inserted_window_dims */
  xp_hlo_list indexed_dims; /* of the operand: start_index_map, scatter_dims_to_operand_dims */
  xp_hlo_list operand_batching, indices_batching;
  int64_t index_vector_dim;
  const int64_t *sizes; /* of a window by dimension of the operand; NULL: as the windows' array has them */
} xp_dev_index_lists;

/* An odometer over all index vectors. */
typedef struct {
  int rank; /* dimensions of the indices without the index vector */
  int64_t dims[XP_HLO_MAX_RANK];
  int64_t index_strides[XP_HLO_MAX_RANK], window_strides[XP_HLO_MAX_RANK];
  int batching[XP_HLO_MAX_RANK]; /* dimension of the operand that moves along; -1: none */
  int vector_length;
  int64_t vector_stride;
  int indexed[XP_HLO_MAX_RANK]; /* dimension of the operand that element i of a vector indexes */
  int operand_rank;
  int64_t limits[XP_HLO_MAX_RANK], operand_strides[XP_HLO_MAX_RANK]; /* limits: the largest start of a window */
  int64_t count;                                                     /* of vectors */
  xp_dev_type type;                                                  /* of the indices */
  int window_rank;                                                   /* the window: dimensions that it does not miss */
  int64_t window[XP_HLO_MAX_RANK], window_in_operand[XP_HLO_MAX_RANK], window_in_array[XP_HLO_MAX_RANK];
} xp_dev_indices;

/* Checks the lists against the three arrays; false if they contradict each other. */
bool xp_dev_indices_prepare(xp_dev_indices *made, const xp_dev_index_lists *lists, xp_dev_leaf operand,
                            xp_dev_leaf indices, xp_dev_leaf windows);

typedef struct {
  int64_t at[XP_HLO_MAX_RANK];
  int64_t index, window; /* elements in the indices and in the windows' array */
} xp_dev_index_cursor;

/* The start of the current window in the operand, in elements; *is_inside tells whether all of the window lies in the
 * operand.  With `clamp`, starts are moved so that it does. */
int64_t xp_dev_indices_start(const xp_dev_indices *indices, const xp_dev_index_cursor *cursor, const void *values,
                             bool clamp, bool *is_inside);

void xp_dev_indices_advance(const xp_dev_indices *indices, xp_dev_index_cursor *cursor);

#endif
