/* Making, finding and ending the threads' tracers.
 *
 * A tracer is made at a thread's first trace or event and listed.  When its thread ends it is freed, or, if it recorded
 * in the session that is running, kept until the session stops.  The stack is a mapping whose pages come as they are
 * touched, so that a deep stack needs no allocation on the way; it goes as soon as the thread ends.
 */
#define _GNU_SOURCE
#include "annotate/tracer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "annotate/fork.h"
#include "annotate/record.h"

static const size_t stack_bytes = (XP_STACK_ENTRIES + 1) * sizeof(xp_entry) + XP_STACK_TEXT_BYTES;

__thread xp_scope_stack *xp_scopes_of_thread __attribute__((tls_model("initial-exec")));

XP_API uint64_t xp_scope_mode;

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static xp_tracer *list;
static uint64_t joined_count; /* atomic: order of the threads' first events */

static pthread_once_t end_key_once = PTHREAD_ONCE_INIT;
static pthread_key_t end_key; /* its destructor sees threads end */
static bool has_end_key;

/* ---------------------------------------------------------------- list */

xp_tracer *xp_tracer_list_lock(void)
{
  pthread_mutex_lock(&list_lock);
  return list;
}

void xp_tracer_list_unlock(void)
{
  pthread_mutex_unlock(&list_lock);
}

static void list_add(xp_tracer *tracer)
{
  tracer->next = list;
  tracer->link = &list;
  if (list != NULL) {
    list->link = &tracer->next;
  }
  list = tracer;
}

static void list_remove(xp_tracer *tracer)
{
  *tracer->link = tracer->next;
  if (tracer->next != NULL) {
    tracer->next->link = tracer->link;
  }
}

static void destroy(xp_tracer *tracer)
{
  list_remove(tracer);
  if (tracer->stack != NULL) {
    munmap(tracer->stack, stack_bytes);
  }
  free(tracer);
}

void xp_tracer_free_ended(void)
{
  for (xp_tracer *tracer = list, *next; tracer != NULL; tracer = next) {
    next = tracer->next;
    if (tracer->last_ticks != 0) {
      destroy(tracer);
    }
  }
}

static void end_thread(void *of_thread)
{
  xp_tracer *self = of_thread;
  xp_scopes_of_thread = NULL;
  xp_tracer_list_lock();
  if (self->joined != (XP_GET(xp_scope_mode) & ~(uint64_t)XP_MODE_HOOK)) {
    destroy(self);
  } else {
    munmap(self->stack, stack_bytes);
    self->stack = NULL;
    self->depth = 0;
    self->last_ticks = xp_clock_read();
  }
  xp_tracer_list_unlock();
}

/* ---------------------------------------------------------------- making one */

static void make_end_key(void)
{
  has_end_key = pthread_key_create(&end_key, end_thread) == 0;
  xp_fork_prepare();
}

static xp_tracer *create(void)
{
  size_t bytes = (sizeof(xp_tracer) + 127) / 64 * 64; /* no other thread's data in its cache lines */
  xp_tracer *self = aligned_alloc(64, bytes);
  if (self == NULL) {
    return NULL;
  }
  memset(self, 0, bytes);
  self->stack = mmap(NULL, stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (self->stack == MAP_FAILED) {
    free(self);
    return NULL;
  }
  self->texts = (char *)(self->stack + XP_STACK_ENTRIES + 1);
  self->joined = UINT64_MAX; /* no mode is like this */
  self->generation = XP_NO_CHUNK;
  self->tid = syscall(SYS_gettid);
  return self;
}

xp_tracer *xp_tracer_make(void)
{
  pthread_once(&end_key_once, make_end_key);
  xp_tracer *self = has_end_key ? create() : NULL;
  if (self == NULL) {
    return NULL;
  }
  if (pthread_setspecific(end_key, self) != 0) {
    munmap(self->stack, stack_bytes);
    free(self);
    return NULL;
  }
  /* Traces of a later thread at the same address must not look like those of this one. */
  self->serial = (uint32_t)xp_generation_new() * 0x9e3779b1u;
  xp_tracer_list_lock();
  list_add(self);
  xp_tracer_list_unlock();
  xp_scopes_of_thread = (xp_scope_stack *)(void *)self;
  return self;
}

/* ---------------------------------------------------------------- sessions */

/* Gives each trace that was open before the session an event that begins with it. */
static void record_open(xp_tracer *self)
{
  for (uint32_t i = 1; i <= self->depth; i++) {
    xp_entry *entry = &self->stack[i];
    xp_record_open_trace open = xp_record_open_read(self, entry);
    char *at = xp_record_room(self, xp_record_open_bytes(&open));
    entry->generation = 0;
    if (at == NULL) {
      self->dropped++;
      continue;
    }
    entry->slot = xp_record_open(at, &open, xp_record_first_ticks);
    entry->generation = self->generation;
    self->written++;
  }
}

void xp_tracer_join(xp_tracer *self, uint64_t mode)
{
  self->pos = self->limit = NULL;
  self->first = self->current = NULL;
  self->generation = XP_NO_CHUNK;
  self->written = self->dropped = 0;
  self->order = __atomic_add_fetch(&joined_count, 1, __ATOMIC_RELAXED);
  memset(self->name, 0, sizeof self->name);
  prctl(PR_GET_NAME, self->name);
  XP_SET(self->joined, mode);
  record_open(self);
}

bool xp_tracer_enter_slow(xp_tracer *self, uint64_t mode)
{
  const uint64_t without_hook = ~(uint64_t)XP_MODE_HOOK;
  if (mode & XP_MODE_FENCE) {
    /* One order of both for all threads: this store before this load, or the stop sees the store. */
    __atomic_store_n(&self->busy, 1, __ATOMIC_SEQ_CST);
    mode = __atomic_load_n(&xp_scope_mode, __ATOMIC_SEQ_CST) & without_hook;
  } else {
    mode = __atomic_load_n(&xp_scope_mode, __ATOMIC_ACQUIRE) & without_hook;
  }
  if (!(mode & XP_MODE_RECORD)) {
    xp_tracer_leave(self);
    return false;
  }
  if (mode != self->joined) {
    xp_tracer_join(self, mode);
  }
  return true;
}

/* ---------------------------------------------------------------- fork */

void xp_tracer_fork_lock(void)
{
  pthread_mutex_lock(&list_lock);
}

void xp_tracer_fork_unlock(void)
{
  pthread_mutex_unlock(&list_lock);
}

void xp_tracer_fork_child(void)
{
  for (xp_tracer *tracer = list, *next; tracer != NULL; tracer = next) {
    next = tracer->next;
    if (tracer != xp_tracer_here()) {
      destroy(tracer);
    }
  }
  if (xp_tracer_here() != NULL) {
    xp_tracer_here()->tid = syscall(SYS_gettid);
    xp_tracer_here()->busy = 0;
  }
  pthread_mutex_init(&list_lock, NULL);
}
