/* As torch_xla has it: within a step each seed is computed from the one before, on the device; every step begins with
 * the host's seed, which is an array, and not part of the program.  In eager mode every operation gets a seed of the
 * host, so that it is not compiled again. */
#include "lazy/random.h"

#include "lazy/data.h"
#include "lazy/op_elements.h"

static const xl_shape scalar = XL_SCALAR;

/* A linear congruential sequence; its bits are stirred by the generator that takes them. */
static uint64_t next_seed(uint64_t seed)
{
  return seed * 214013 + 2531011;
}

static xl_node *upload_seed(xl_device *device)
{
  xp_error err = {0};
  const int64_t seed = (int64_t)device->seed;
  xl_node *node = xl_data_upload_leaf(device, XL_I64, &scalar, &seed, sizeof seed, &err);
  device->seed = next_seed(device->seed);
  return node != NULL ? node : xl_refuse_with(&err);
}

xl_var *xl_random_seed(xl_device *device)
{
  const bool is_kept = !xl_runs_eagerly();
  xl_node *node = is_kept && device->seed_node != NULL ? device->seed_node : upload_seed(device);
  if (node == NULL) {
    return NULL;
  }
  xl_var *seed = xl_made(xl_var_create(device, XL_I64, &scalar, node));
  if (is_kept) {
    xl_var *next = xl_op_binary_number(XL_OP_ADD, xl_op_binary_number(XL_OP_MUL, seed, 214013), 2531011);
    device->seed_node = next != NULL ? xl_node_hold(next->storage->cell.value) : NULL;
  }
  return seed;
}

void xl_random_step(xl_device *device)
{
  xl_node_drop(device->seed_node);
  device->seed_node = NULL;
}

void xl_manual_seed(uint64_t seed)
{
  xp_error err = {0};
  xl_lock();
  xl_device *device = xl_device_current(&err);
  if (device != NULL) {
    xl_random_step(device);
    device->seed = seed;
  } else {
    xl_refuse_with(&err);
  }
  xl_unlock();
}
