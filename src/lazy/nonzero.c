/* Positions of elements that are not 0: the one operation whose shape depends on values, so the host computes it, in
 * two calls.  The first computes the operand; then its array is waited for outside of the lock; the second one uploads
 * the result.
 */
#include <stdlib.h>

#include "lazy/barrier.h"

#define CAUSE "aten::nonzero, which the host computes"

/* An array that is on its way to the host. */
typedef struct {
  xl_data *data; /* a reference */
  xl_device *device;
  xl_type type;
  xl_shape shape;
} fetch;

/* Launches what the operand needs; false with an error of the thread. */
static bool begin(xl_tensor tensor, const xl_location *at, fetch *f)
{
  xp_error err = {0};
  xl_var *x = xl_arg(tensor);
  if (x == NULL) {
    return false;
  }
  xl_measure_lock();
  xl_count(XL_COUNT_NONZERO, 1);
  *f = (fetch){xl_barrier_value(x, CAUSE, at, &err), xl_var_device(x), x->type, x->shape};
  return f->data != NULL || xl_refuse_with(&err) != NULL;
}

/* Truth of an element: anything but 0 and -0. */
static bool is_nonzero(const unsigned char *element, xl_type type)
{
  const size_t bytes = xl_type_facts[type].bytes;
  const unsigned char last = xl_is_float(type) ? element[bytes - 1] & 0x7f : element[bytes - 1];
  unsigned char any = last;
  for (size_t i = 0; i + 1 < bytes; i++) {
    any |= element[i];
  }
  return any != 0;
}

/* The positions, a row of `rank` numbers each; NULL when memory is out. */
static int64_t *find(const unsigned char *values, const fetch *f, int64_t *rows)
{
  const size_t elements = (size_t)xl_shape_elements(&f->shape), bytes = xl_type_facts[f->type].bytes;
  const size_t rank = f->shape.rank;
  size_t count = 0;
  for (size_t i = 0; i < elements; i++) {
    count += is_nonzero(values + i * bytes, f->type);
  }
  *rows = (int64_t)count;
  int64_t *positions = calloc(count * rank + 1, sizeof *positions), *row = positions;
  for (size_t i = 0; i < elements && positions != NULL; i++) {
    if (is_nonzero(values + i * bytes, f->type)) {
      int64_t place = (int64_t)i;
      for (size_t d = rank; d > 0; d--) {
        row[d - 1] = place % f->shape.dims[d - 1];
        place /= f->shape.dims[d - 1];
      }
      row += rank;
    }
  }
  return positions;
}

/* Downloads and looks, without the lock. */
static int64_t *compute(const fetch *f, int64_t *rows, xp_error *err)
{
  const size_t bytes = (size_t)xl_shape_elements(&f->shape) * xl_type_facts[f->type].bytes;
  unsigned char *values = malloc(bytes + 1);
  int64_t *positions = NULL;
  if (values == NULL) {
    xp_fail(err, XP_ERR_MEMORY, "There is no memory for the %zu bytes of the tensor.", bytes);
  } else if (xl_barrier_download(f->data, values, bytes, err) == XP_OK) {
    positions = find(values, f, rows);
    if (positions == NULL) {
      xp_fail(err, XP_ERR_MEMORY, "There is no memory for the positions.");
    }
  }
  free(values);
  return positions;
}

static xl_var *upload(const fetch *f, const int64_t *positions, int64_t rows, xp_error *err)
{
  const xl_shape shape = XL_SHAPE(rows, (int64_t)f->shape.rank);
  xl_node *leaf = positions != NULL ? xl_data_upload_leaf(f->device, XL_I64, &shape, positions,
                                                          (size_t)xl_shape_elements(&shape) * sizeof *positions, err)
                                    : NULL;
  return leaf != NULL ? xl_made(xl_var_create(f->device, XL_I64, &shape, leaf)) : xl_refuse_with(err);
}

xl_tensor xl_nonzero_at(const xl_location *at, xl_tensor tensor)
{
  static xl_entry entry = {"nonzero", NULL};
  fetch f;
  xl_begin(&entry, at);
  const bool is_begun = begin(tensor, at, &f);
  xl_end_with_nothing();
  if (!is_begun) {
    return XL_NONE;
  }
  xp_error err = {0};
  int64_t rows = 0;
  int64_t *positions = compute(&f, &rows, &err);
  xl_resume(&entry, at);
  xl_var *result = upload(&f, positions, rows, &err);
  xl_data_drop(f.data);
  free(positions);
  return xl_end(result);
}
