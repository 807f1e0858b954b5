/* Data by the address of a key, in a list: hosts hang one or two things on a memory. */
#include "device/memory.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct xp_dev_user_data {
  struct xp_dev_user_data *next;
  const void *key;
  void *data;
  void (*destructor)(void *data);
} user_data;

static user_data *find(const xp_abi_memory *memory, const void *key)
{
  user_data *entry = memory->user_data;
  while (entry != NULL && entry->key != key) {
    entry = entry->next;
  }
  return entry;
}

static void *get_user_data(xp_abi_memory *memory, const void *key)
{
  pthread_mutex_lock(&memory->lock);
  const user_data *entry = find(memory, key);
  void *data = entry == NULL ? NULL : entry->data;
  pthread_mutex_unlock(&memory->lock);
  return data;
}

static void destroy_data(const user_data *entry)
{
  if (entry->destructor != NULL) {
    entry->destructor(entry->data);
  }
}

/* What was there under the key is destroyed.  The function cannot say that memory is out: the data are destroyed then,
 * so that the host finds none. */
static void set_user_data(xp_abi_memory *memory, const void *key, void *data, void (*destructor)(void *data))
{
  user_data old = {.destructor = NULL};
  pthread_mutex_lock(&memory->lock);
  user_data *entry = find(memory, key);
  if (entry != NULL) {
    old = *entry;
  } else if ((entry = calloc(1, sizeof *entry)) != NULL) {
    entry->next = memory->user_data;
    memory->user_data = entry;
  }
  if (entry != NULL) {
    entry->key = key;
    entry->data = data;
    entry->destructor = destructor;
  } else {
    old = (user_data){.data = data, .destructor = destructor};
  }
  pthread_mutex_unlock(&memory->lock);
  destroy_data(&old);
}

static const xp_abi_memory_table table = {.struct_size = sizeof table,
                                          .instance_size = sizeof(xp_abi_memory),
                                          .get_user_data = get_user_data,
                                          .set_user_data = set_user_data};

void xp_dev_memory_init(xp_abi_memory *memory, xp_abi_device *device)
{
  memory->head.table = &table;
  memory->device = device;
  snprintf(memory->text, sizeof memory->text, "XlaprofMemory(id=%d, kind=device)", device->ordinal);
  pthread_mutex_init(&memory->lock, NULL);
}

void xp_dev_memory_end(xp_abi_memory *memory)
{
  while (memory->user_data != NULL) {
    user_data *entry = memory->user_data;
    memory->user_data = entry->next;
    destroy_data(entry);
    free(entry);
  }
  pthread_mutex_destroy(&memory->lock);
}
