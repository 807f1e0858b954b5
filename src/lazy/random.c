/* As torch_xla has it: within a step each seed is computed from the one before, on the device; every step begins with
 * the host's seed, which is an array, and not part of the program.  In eager mode every operation gets a seed of the
 * host, so that it is not compiled again; it is the one that the device would have computed. */
#include "lazy/random.h"

#include "lazy/data.h"
#include "lazy/op_elements.h"

static const xl_shape scalar = XL_SCALAR;

/* Linear congruential sequences; their bits are stirred by the generator that takes them.  The one from step to step
 * is another than that within a step, or a step would begin with the second seed of the step before. */
enum { NEXT_FACTOR = 214013, NEXT_OFFSET = 2531011, STEP_FACTOR = 7012063, STEP_OFFSET = 1012031 };

static xl_node *upload_seed(xl_device *device)
{
  xp_error err = {0};
  const int64_t seed = (int64_t)device->next_seed;
  xl_node *node = xl_data_upload_leaf(device, XL_I64, &scalar, &seed, sizeof seed, &err);
  return node != NULL ? node : xl_refuse_with(&err);
}

xl_var *xl_random_seed(xl_device *device)
{
  xl_node *node = device->seed_node;
  device->seed_node = NULL;
  if (xl_runs_eagerly()) {
    xl_node_drop(node);
    node = NULL;
  }
  node = node != NULL ? node : upload_seed(device);
  if (node == NULL) {
    return NULL;
  }
  device->next_seed = device->next_seed * NEXT_FACTOR + NEXT_OFFSET;
  xl_var *seed = xl_made(xl_var_create_inner(device, XL_I64, &scalar, node));
  if (!xl_runs_eagerly()) {
    xl_var *next = xl_op_binary_number(XL_OP_ADD, xl_op_binary_number(XL_OP_MUL, seed, NEXT_FACTOR), NEXT_OFFSET);
    device->seed_node = next != NULL ? xl_node_hold(next->storage->cell.value) : NULL;
  }
  return seed;
}

void xl_random_forget(xl_device *device)
{
  xl_node_drop(device->seed_node);
  device->seed_node = NULL;
}

void xl_random_step(xl_device *device)
{
  xl_random_forget(device);
  device->seed = device->seed * STEP_FACTOR + STEP_OFFSET;
  device->next_seed = device->seed;
}

void xl_manual_seed(uint64_t seed)
{
  static const xl_entry entry = {"manual_seed", NULL};
  xp_error err = {0};
  xl_lock_for(&entry, NULL);
  xl_device *device = xl_device_current(&err);
  if (device != NULL) {
    xl_random_forget(device);
    device->seed = device->next_seed = seed;
  } else {
    xl_refuse_with(&err);
  }
  xl_unlock();
}
