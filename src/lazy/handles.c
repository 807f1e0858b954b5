/* The table of handles, and pools.
 *
 * A handle is an index and the generation of its slot, which grows when the slot is freed: a handle that is older than
 * its slot is dead.  Generations of a slot wrap after four billion uses.  Pools are lists of handles of a thread, and
 * end with it; a handle that was freed or kept meanwhile is passed over at the end.
 */
#include <stdlib.h>

#include "lazy/runtime.h"

typedef struct {
  xl_var *var; /* a reference; NULL: free */
  uint32_t generation;
  uint32_t next_free;
  bool is_kept;
} slot;

static struct {
  slot *slots; /* slot 0 stands for XL_NONE */
  uint32_t count, capacity, first_free;
  uint32_t first_generation; /* of new slots: none that was given out before */
} table = {.first_generation = 1};

static bool grow(void)
{
  const uint32_t capacity = table.capacity > 0 ? 2 * table.capacity : 256;
  slot *slots = capacity > table.capacity ? realloc(table.slots, capacity * sizeof *slots) : NULL;
  if (slots == NULL) {
    return false;
  }
  table.slots = slots;
  table.capacity = capacity;
  if (table.count == 0) {
    slots[table.count++] = (slot){NULL, 0, 0, false};
  }
  return true;
}

/* The index of a free slot; 0 when memory is out. */
static uint32_t take_slot(void)
{
  if (table.first_free != 0) {
    const uint32_t index = table.first_free;
    table.first_free = table.slots[index].next_free;
    return index;
  }
  if (table.count == table.capacity && !grow()) {
    return 0;
  }
  table.slots[table.count] = (slot){NULL, table.first_generation, 0, false};
  return table.count++;
}

static void give_slot(uint32_t index)
{
  table.slots[index].var = NULL;
  table.slots[index].generation++;
  table.slots[index].next_free = table.first_free;
  table.first_free = index;
}

static slot *find(xl_tensor tensor)
{
  slot *s = tensor.index > 0 && tensor.index < table.count ? &table.slots[tensor.index] : NULL;
  return s != NULL && s->var != NULL && s->generation == tensor.generation ? s : NULL;
}

/* A pool begins with a mark, which is no handle: its index is 0 and its generation the depth. */

static pthread_key_t pooled_key;
static bool has_pooled_key;

static void end_pools(void *thread);

static void make_pooled_key(void)
{
  has_pooled_key = pthread_key_create(&pooled_key, end_pools) == 0;
}

/* Has the pools of a thread end with it. */
static bool follow_thread(xl_thread *thread)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_pooled_key);
  return has_pooled_key && pthread_setspecific(pooled_key, thread) == 0;
}

/* Puts a tensor or a mark at the end of the thread's list; false when memory is out. */
static bool pool_add(xl_thread *thread, xl_tensor tensor)
{
  if (thread->pooled_count == thread->pooled_capacity) {
    const size_t capacity = thread->pooled_capacity > 0 ? 2 * thread->pooled_capacity : 256;
    const bool is_followed = thread->pooled != NULL || follow_thread(thread);
    xl_tensor *grown = is_followed ? realloc(thread->pooled, capacity * sizeof *grown) : NULL;
    if (grown == NULL) {
      return false;
    }
    thread->pooled = grown;
    thread->pooled_capacity = capacity;
  }
  thread->pooled[thread->pooled_count++] = tensor;
  return true;
}

xl_tensor xl_handle_create(xl_var *var)
{
  const uint32_t index = take_slot();
  const xl_tensor tensor = {index, index > 0 ? table.slots[index].generation : 0};
  if (index == 0 || (xl_rt.thread->pool_depth > 0 && !pool_add(xl_rt.thread, tensor))) {
    if (index > 0) {
      give_slot(index);
    }
    xl_refuse(XP_ERR_MEMORY, "there is no memory for the handle");
    return XL_NONE;
  }
  table.slots[index].var = xl_var_hold(var);
  table.slots[index].is_kept = false;
  return tensor;
}

xl_var *xl_handle_find(xl_tensor tensor)
{
  const slot *s = find(tensor);
  return s != NULL ? s->var : NULL;
}

bool xl_handle_free(xl_tensor tensor)
{
  slot *s = find(tensor);
  if (s == NULL) {
    return false;
  }
  xl_var *var = s->var;
  give_slot(tensor.index);
  xl_var_drop(var);
  return true;
}

void xl_handle_keep(xl_tensor tensor)
{
  slot *s = find(tensor);
  if (s != NULL) {
    s->is_kept = true;
  }
}

void xl_handles_end(void)
{
  uint32_t newest = table.first_generation;
  for (uint32_t i = 1; i < table.count; i++) {
    if (table.slots[i].var != NULL) {
      xl_var *var = table.slots[i].var;
      give_slot(i);
      xl_var_drop(var);
    }
    newest = table.slots[i].generation > newest ? table.slots[i].generation : newest;
  }
  free(table.slots);
  memset(&table, 0, sizeof table);
  table.first_generation = newest;
}

/* ---------------------------------------------------------------- public */

void xl_free_at(const xl_location *at, xl_tensor tensor)
{
  static xl_entry entry = {"free", NULL};
  if (tensor.index == 0) {
    return;
  }
  xl_lock_for(&entry, at);
  if (!xl_handle_free(tensor)) {
    xl_refuse(XP_ERR_USAGE, "tensor %u.%u was freed already", tensor.index, tensor.generation);
  }
  xl_unlock();
}

bool xl_is_alive(xl_tensor tensor)
{
  xl_lock();
  const bool is_alive = find(tensor) != NULL;
  xl_unlock();
  return is_alive;
}

xl_tensor xl_keep(xl_tensor tensor)
{
  xl_lock();
  xl_handle_keep(tensor);
  xl_unlock();
  return tensor;
}

/* Without memory for its mark, a pool is one with the pool around it. */
xl_pool xl_pool_begin(void)
{
  xl_thread *thread = xl_thread_here();
  const bool is_added = pool_add(thread, (xl_tensor){0, (uint32_t)thread->pool_depth + 1});
  return (xl_pool){is_added ? ++thread->pool_depth : 0};
}

void xl_pool_end(xl_pool pool)
{
  xl_thread *thread = xl_thread_here();
  if (pool.depth == 0 || pool.depth > thread->pool_depth) {
    return;
  }
  xl_lock();
  while (thread->pool_depth >= pool.depth) {
    const xl_tensor tensor = thread->pooled[--thread->pooled_count];
    const slot *s = find(tensor);
    if (tensor.index == 0) {
      thread->pool_depth--;
    } else if (s != NULL && !s->is_kept) {
      xl_handle_free(tensor);
    }
  }
  xl_unlock();
}

static void end_pools(void *context)
{
  xl_thread *thread = context;
  xl_pool_end((xl_pool){thread->pool_depth > 0});
  free(thread->pooled);
  thread->pooled = NULL;
  thread->pooled_capacity = 0;
}
