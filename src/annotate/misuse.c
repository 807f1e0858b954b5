/* Saying why a trace cannot end here: it is not the innermost one, has ended, or is of another thread.
 *
 * The stack of another thread may change while it is read.  Its name is copied and then the entry is looked at again:
 * if it is still the same trace, so is the copy.
 */
#include "annotate/trace.h"

#include <stdio.h>

#include "annotate/record.h"

enum { SHOWN_BYTES = 128 };

static uint64_t misuse_count;

void xp_misuse_add(void)
{
  __atomic_fetch_add(&misuse_count, 1, __ATOMIC_RELAXED);
}

uint64_t xp_misuse_count(void)
{
  return XP_GET(misuse_count);
}

/* Copies the name of an entry up to a NUL: length and address may be those of two traces. */
__attribute__((no_sanitize("thread"))) static void copy_name(char *to, const xp_tracer *tracer, const xp_entry *entry)
{
  xp_record_open_trace open = xp_record_open_read(tracer, entry);
  const volatile char *name = open.name;
  size_t i = 0;
  while (name != NULL && i < SHOWN_BYTES - 1 && i < open.len && name[i] != '\0') {
    to[i] = name[i];
    i++;
  }
  to[i] = '\0';
  __atomic_thread_fence(__ATOMIC_ACQUIRE); /* the caller's next look comes after the copy */
}

/* The name of an open trace of any thread; false if it is not open there. */
static bool find_open(const xp_tracer *tracer, xp_trace trace, char *name)
{
  if (trace.depth == 0 || trace.depth > __atomic_load_n(&tracer->depth, __ATOMIC_ACQUIRE)) {
    return false;
  }
  const xp_entry *entry = &tracer->stack[trace.depth];
  copy_name(name, tracer, entry);
  return (uint32_t)XP_GET(entry->tag) == trace.serial && trace.depth <= XP_GET(tracer->depth);
}

/* The innermost trace of the calling thread, as part of a sentence. */
static const char *describe_innermost(const xp_tracer *self, char *text)
{
  if (self == NULL || self->depth == 0) {
    return "no trace is open on this thread";
  }
  char name[SHOWN_BYTES];
  copy_name(name, self, &self->stack[self->depth]);
  snprintf(text, SHOWN_BYTES * 2, "the innermost open trace of this thread is \"%s\"", name);
  return text;
}

static xp_status fail_other_thread(const xp_tracer *self, xp_trace trace, xp_error *err)
{
  char name[SHOWN_BYTES], innermost[SHOWN_BYTES * 2];
  bool is_open = false;
  int64_t tid = 0;
  for (const xp_tracer *t = xp_tracer_list_lock(); t != NULL; t = t->next) {
    if (t == trace.thread && t->stack != NULL) {
      is_open = find_open(t, trace, name);
      tid = t->tid;
    }
  }
  xp_tracer_list_unlock();
  const char *here = describe_innermost(self, innermost);
  if (!is_open) {
    return xp_fail(err, XP_ERR_USAGE, "This trace is of another thread and has ended there; %s. Nothing was ended.",
                   here);
  }
  return xp_fail(err, XP_ERR_USAGE, "Trace \"%s\" was begun on thread %lld and must end there; %s. Nothing was ended.",
                 name, (long long)tid, here);
}

xp_status xp_trace_misplaced(const xp_tracer *self, xp_trace trace, xp_error *err)
{
  if (trace.thread != self) {
    return fail_other_thread(self, trace, err);
  }
  char name[SHOWN_BYTES], innermost[SHOWN_BYTES * 2];
  const char *here = describe_innermost(self, innermost);
  if (!find_open(self, trace, name)) {
    return xp_fail(err, XP_ERR_USAGE, "This trace has ended already; %s. Nothing was ended.", here);
  }
  return xp_fail(err, XP_ERR_USAGE, "Trace \"%s\" cannot end yet: %s. End that one first; nothing was ended.", name,
                 here);
}
