/* Applying an operation to tensors: a node is built (and run in eager mode), and what gradients need is kept. */
#ifndef XL_APPLY_H
#define XL_APPLY_H

#include "lazy/runtime.h"

/* Most operations have few inputs; those with many (concatenation) pass an array. */
typedef struct {
  xl_op op;
  xl_type type;
  xl_shape shape;
  const void *attrs; /* padding must be 0 */
  size_t attr_bytes;
} xl_result;

/* The result of an operation on some tensors.  NULL if an input is NULL, and with an error (also for a result that is
 * too large to be). */
xl_var *xl_apply(const xl_result *result, xl_var *const *inputs, size_t count);

static inline xl_var *xl_apply_1(const xl_result *result, xl_var *x)
{
  return xl_apply(result, &x, 1);
}

static inline xl_var *xl_apply_2(const xl_result *result, xl_var *x, xl_var *y)
{
  xl_var *const inputs[] = {x, y};
  return xl_apply(result, inputs, 2);
}

static inline xl_var *xl_apply_3(const xl_result *result, xl_var *x, xl_var *y, xl_var *z)
{
  xl_var *const inputs[] = {x, y, z};
  return xl_apply(result, inputs, 3);
}

/* The same for an operation whose result shares the memory of x. */
xl_var *xl_apply_view(const xl_result *result, xl_var *x);

/* A node, run in eager mode; a reference.  NULL with an error. */
xl_node *xl_build(const xl_node_parts *parts, xl_device *device);

/* A tensor of its own with the value of x and no history: costs nothing, since values do not change. */
xl_var *xl_copy(xl_var *x);

/* The same with the history of x, if gradients are recorded: x before it is updated.  What gradients keep of it must
 * not change with x, and must not hold x, which holds its history. */
xl_var *xl_copy_before(xl_var *x);

/* Gives x the value of another tensor of its type and shape, in place; gives x back. */
xl_var *xl_update(xl_var *x, xl_var *value);

/* Tensors of a number: as an operand (0, 1 and -1 are constants in the program, others arrays, which the device keeps),
 * and as one that was allocated, filled with it. */
xl_var *xl_number(xl_type type, double value);
xl_var *xl_filled(xl_type type, const xl_shape *shape, double value);

/* What eager mode does before an operation fills fresh memory: as in torch_xla it is filled with zeros, by a program of
 * its own.  False with an error. */
bool xl_allocate(xl_type type, const xl_shape *shape);

/* Shapes and types from outside: at most XL_MAX_RANK extents, none negative, and a size that can be.  False with an
 * error. */
bool xl_check_shape(const xl_shape *shape);
bool xl_check_type(xl_type type);

/* A tensor of an array that is on its device. */
xl_var *xl_of_data(xl_data *data, xl_type type, const xl_shape *shape);

/* Runs a node as a program of its own, in eager mode: *value becomes the node of the array that comes out.  False with
 * an error. */
bool xl_run_eagerly(xl_device *device, xl_node **value);

#endif
