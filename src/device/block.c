/* The limit is one of accounting: the memory is the host's.  A request is counted before it is allocated, so the sum
 * never exceeds the limit, and the peak is what the device would have needed.
 */
#include "device/block.h"

#include <stdlib.h>

struct xp_dev_block {
  unsigned refs;
  xp_abi_device *device;
  void *data;
  size_t bytes; /* as counted */
};

/* ---------------------------------------------------------------- the account of a device */

static bool account_take(xp_dev_account *account, int64_t bytes, int64_t *in_use)
{
  pthread_mutex_lock(&account->lock);
  *in_use = account->in_use;
  bool fits = bytes <= account->limit - account->in_use;
  if (fits) {
    account->in_use += bytes;
    account->peak = account->in_use > account->peak ? account->in_use : account->peak;
    account->largest = bytes > account->largest ? bytes : account->largest;
    account->allocations++;
  }
  pthread_mutex_unlock(&account->lock);
  return fits;
}

static void account_give_back(xp_dev_account *account, int64_t bytes)
{
  pthread_mutex_lock(&account->lock);
  account->in_use -= bytes;
  pthread_mutex_unlock(&account->lock);
}

xp_abi_error *xp_dev_memory_stats(xp_abi_memory_stats_args *args)
{
  xp_dev_account *account = &args->device->account;
  pthread_mutex_lock(&account->lock);
  args->bytes_in_use = account->in_use;
  args->peak_bytes_in_use.value = account->peak;
  args->num_allocs.value = account->allocations;
  args->largest_alloc_size.value = account->largest;
  args->bytes_limit.value = account->limit;
  pthread_mutex_unlock(&account->lock);
  args->peak_bytes_in_use.is_set = true;
  args->num_allocs.is_set = true;
  args->largest_alloc_size.is_set = true;
  args->bytes_limit.is_set = true;
  args->bytes_reserved.is_set = false;
  args->peak_bytes_reserved.is_set = false;
  args->bytes_reservable_limit.is_set = false;
  args->largest_free_block_bytes.is_set = false;
  args->pool_bytes.is_set = false;
  args->peak_pool_bytes.is_set = false;
  if (XP_ABI_HAS(args, peak_allocated_bytes.is_set)) { /* newer than the others */
    args->peak_allocated_bytes.is_set = false;
  }
  return NULL;
}

xp_abi_error *xp_dev_memory_stats_clear(xp_abi_object_args *args)
{
  xp_dev_account *account = &((xp_abi_device *)args->object)->account;
  pthread_mutex_lock(&account->lock);
  account->peak = account->in_use;
  account->largest = 0;
  account->allocations = 0;
  pthread_mutex_unlock(&account->lock);
  return NULL;
}

/* ---------------------------------------------------------------- blocks */

static size_t counted(size_t bytes)
{
  const size_t step = XP_DEV_ALIGNMENT;
  return bytes == 0 ? step : (bytes + step - 1) / step * step;
}

static xp_dev_block *allocate(xp_abi_device *device, size_t size)
{
  xp_dev_block *block = calloc(1, sizeof *block);
  void *data = aligned_alloc(XP_DEV_ALIGNMENT, size);
  if (block == NULL || data == NULL) {
    free(block);
    free(data);
    return NULL;
  }
  *block = (xp_dev_block){.refs = 1, .device = device, .data = data, .bytes = size};
  xp_dev_client_ref(device->client);
  return block;
}

xp_abi_error *xp_dev_block_create(xp_abi_device *device, size_t bytes, const char *what, xp_dev_block **block)
{
  int64_t in_use = 0;
  if (bytes > (size_t)INT64_MAX - XP_DEV_ALIGNMENT ||
      !account_take(&device->account, (int64_t)counted(bytes), &in_use)) {
    return xp_dev_fail(
        XP_ABI_RESOURCE_EXHAUSTED,
        "Out of memory of device %d: %s needs %zu bytes, %lld of %lld are in use.  Delete buffers, or raise "
        "memory_limit_bytes (XLAPROF_DEVICE_MEMORY_LIMIT_BYTES).",
        device->ordinal, what, bytes, (long long)in_use, (long long)device->account.limit);
  }
  *block = allocate(device, counted(bytes));
  if (*block == NULL) {
    account_give_back(&device->account, (int64_t)counted(bytes));
    return xp_dev_fail_memory();
  }
  return NULL;
}

xp_dev_block *xp_dev_block_ref(xp_dev_block *block)
{
  __atomic_fetch_add(&block->refs, 1, __ATOMIC_RELAXED);
  return block;
}

void xp_dev_block_unref(xp_dev_block *block)
{
  if (block == NULL || __atomic_sub_fetch(&block->refs, 1, __ATOMIC_ACQ_REL) > 0) {
    return;
  }
  xp_abi_client *client = block->device->client;
  account_give_back(&block->device->account, (int64_t)block->bytes);
  free(block->data);
  free(block);
  xp_dev_client_unref(client);
}

void *xp_dev_block_data(const xp_dev_block *block)
{
  return block->data;
}

size_t xp_dev_block_bytes(const xp_dev_block *block)
{
  return block->bytes;
}
