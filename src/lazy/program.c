/* The table of programs: buckets by key, and a list in the order of use. */
#include "lazy/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "lazy/runtime.h"
#include "lazy/variables.h"

enum { BUCKETS = 4096, USUAL_LIMIT = 2048 };

static struct {
  xl_program *buckets[BUCKETS];
  xl_program *newest, *oldest;
  size_t count, limit;
  uint64_t hits, misses, evictions;
} cache;

static xl_program **bucket_of(xl_key key)
{
  return &cache.buckets[key.low % BUCKETS];
}

static void unlink_use(xl_program *program)
{
  *(program->newer != NULL ? &program->newer->older : &cache.newest) = program->older;
  *(program->older != NULL ? &program->older->newer : &cache.oldest) = program->newer;
}

static void link_newest(xl_program *program)
{
  program->newer = NULL;
  program->older = cache.newest;
  *(cache.newest != NULL ? &cache.newest->newer : &cache.oldest) = program;
  cache.newest = program;
}

static void forget(xl_program *program)
{
  xl_program **link = bucket_of(program->key);
  while (*link != program) {
    link = &(*link)->next;
  }
  *link = program->next;
  unlink_use(program);
  cache.count--;
  if (!program->device->is_lost) {
    xp_pjrt_executable_destroy(program->executable);
  }
  free(program);
}

static size_t limit(void)
{
  if (cache.limit == 0) {
    cache.limit = (size_t)xl_variable_number("XL_CACHE_SIZE", USUAL_LIMIT);
  }
  return cache.limit;
}

xl_program *xl_program_find(xl_key key, const xl_device *device)
{
  for (xl_program *program = *bucket_of(key); program != NULL; program = program->next) {
    if (program->key.low == key.low && program->key.high == key.high && program->device == device) {
      unlink_use(program);
      link_newest(program);
      cache.hits++;
      return program;
    }
  }
  cache.misses++;
  return NULL;
}

void xl_key_text(xl_key key, char text[33])
{
  snprintf(text, 33, "%" PRIx64 "%016" PRIx64, key.high, key.low);
}

xl_program *xl_program_add(xl_key key, xl_device *device, xp_pjrt_executable *executable, xp_error *err)
{
  xl_program *program = calloc(1, sizeof *program);
  if (program == NULL) {
    xp_pjrt_executable_destroy(executable);
    xp_fail(err, XP_ERR_MEMORY, "There is no memory for a program.");
    return NULL;
  }
  while (cache.count >= limit()) {
    forget(cache.oldest);
    cache.evictions++;
  }
  program->key = key;
  program->device = device;
  program->executable = executable;
  xl_key_text(key, program->hash);
  program->next = *bucket_of(key);
  *bucket_of(key) = program;
  link_newest(program);
  cache.count++;
  return program;
}

void xl_programs_end(void)
{
  while (cache.oldest != NULL) {
    forget(cache.oldest);
  }
  memset(&cache, 0, sizeof cache);
}

xl_cache_state xl_cache(void)
{
  xl_lock();
  const xl_cache_state state = {cache.count, limit(), cache.hits, cache.misses, cache.evictions};
  xl_unlock();
  return state;
}
