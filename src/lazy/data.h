/* Arrays on a device, as graphs see them: a buffer, counted, with the one node (xla::device_data) that stands for it.
 *
 * The node holds its array; the array knows its node as long as that lives, so that an array is one node in every
 * graph.  All under the runtime's lock.
 */
#ifndef XL_DATA_H
#define XL_DATA_H

#include "lazy/device.h"
#include "lazy/node.h"

struct xl_data {
  uint32_t refs;
  uint32_t uses;          /* operands that the last walk found to be this array's node */
  uint32_t parameter;     /* its number in the last walk */
  xl_device *device;      /* holds one reference of it */
  xp_pjrt_buffer *buffer; /* NULL: donated, or its device is closed */
  xl_node *leaf;          /* its node; NULL if it has none now; not a reference */
};

/* An array with one reference, which belongs to the caller.  Takes the buffer, also when memory is out (NULL). */
xl_data *xl_data_create(xl_device *device, xp_pjrt_buffer *buffer);

static inline xl_data *xl_data_hold(xl_data *data)
{
  data->refs++;
  return data;
}

void xl_data_drop(xl_data *data);

/* What a node that goes does to its array. */
void xl_data_leaf_gone(xl_data *data);

/* A reference to the array's node, of this type and shape; NULL when memory is out. */
xl_node *xl_data_leaf(xl_data *data, xl_type type, const xl_shape *shape);

/* Uploads an array of the host: an array with one reference, NULL with an error.  Needs no lock. */
xl_data *xl_data_upload(xl_device *device, xl_type type, const xl_shape *shape, const void *bytes, size_t size,
                        xp_error *err);

/* The same, and the reference to its node.  Under the lock. */
xl_node *xl_data_upload_leaf(xl_device *device, xl_type type, const xl_shape *shape, const void *bytes, size_t size,
                             xp_error *err);

/* The node of a number: 0, 1 and -1 are constants of the program; others are arrays, of which the latest 128 are kept
 * for each device, so that programs do not depend on them.  A reference; NULL with an error. */
xl_node *xl_number_node(xl_device *device, xl_type type, double value, xp_error *err);

#endif
