/* The one runtime of the process: its lock, its modes, and the call that holds the lock.
 *
 * Every public operation is a call: xl_begin takes the lock, xl_arg turns handles into tensors, xl_end turns the result
 * into a handle and drops what else was made.  Inside a call functions pass tensors (xl_var *), own none of them, and
 * give NULL after an error; NULL in gives NULL out, so that they can be composed without checks.
 */
#ifndef XL_RUNTIME_H
#define XL_RUNTIME_H

#include "lazy/counters.h"
#include "lazy/native.h"
#include "lazy/tensor.h"

enum { XL_COMPILED_NAMES = 16 };

/* What belongs to a thread; zeroed memory is one that did nothing yet. */
typedef struct {
  xp_error error; /* the first that was not reported */
  bool grad_is_off;
  bool is_step_marked; /* a step ended since the loader last gave a batch (see lazy/loader.c) */
  uint32_t seen_step;  /* serial of the step that the loader saw open */
  uint32_t sent_step;  /* serial of the step that the last launch was in, */
  uint64_t sent_id;    /* and what the device knows it by */
  xl_scope_memory scope;
  uint32_t compiled_depth;                       /* open compiled regions, */
  const char *compiled_names[XL_COMPILED_NAMES]; /* and their names, the innermost last; deeper ones have none */
  xl_tensor *pooled; /* of all open pools, in order: a mark (see handles.c), and its tensors */
  size_t pooled_count, pooled_capacity, pool_depth;
} xl_thread;

/* A public operation, for its messages and its counter. */
typedef struct {
  const char *name;        /* "add" of xl_add */
  const xl_native *native; /* NULL before the first call */
} xl_entry;

typedef struct {
  pthread_mutex_t lock;
  bool is_open, is_eager, names_are_open, views_are_fresh;
  const char *graph_name;      /* of the compiled region whose barrier is running */
  size_t most_in_flight;       /* executions, behind a barrier */
  xl_device *devices, *device; /* all, and the one in use */

  /* The call that holds the lock. */
  xl_thread *thread;
  const xl_entry *entry;
  const char *ending_step; /* "XP_STEP train 7", for messages, where a step's end is the call */
  xl_device *call_device;  /* of its first tensor; NULL: it has none so far */
  const xl_location *place;
  const xl_scope *scope; /* of nodes that it builds, if names are open */
  uint64_t start_ticks;
  double lock_wait_ns; /* as far as it was measured; 0 once it was counted */
  bool counts_parts;   /* see lazy/native.h */
  xl_var **made;       /* what it made and nobody holds yet: a reference each */
  size_t made_count, made_capacity;
} xl_runtime;

extern xl_runtime xl_rt;

/* The calling thread's. */
xl_thread *xl_thread_here(void);

/* Takes the lock without a call, for functions that build nothing; xl_lock_for: for those whose errors name them. */
void xl_lock(void);
void xl_lock_for(const xl_entry *entry, const xl_location *place);
void xl_unlock(void);

/* Measures how long the call that began last waited for the lock, as of which launches count it.  What may launch does
 * that, just after it has the lock. */
void xl_measure_lock(void);

/* Counts that wait, once for each launch that there might be.  torch_xla measures it twice: in the lock of a device and
 * in what takes it. */
void xl_count_lock_wait(void);

/* Has forks wait for the call that holds the lock.  Handlers run in the reverse order of their registration, and a call
 * takes locks of the layers above, so this comes after theirs: once the first device is open. */
void xl_hold_forks(void);

/* Begins and ends a call.  xl_end_with_nothing: of one that gives no tensor. */
void xl_begin(xl_entry *entry, const xl_location *place);
xl_tensor xl_end(xl_var *result);
void xl_end_with_nothing(void);

/* Takes the lock again for an operation that waited outside of it; ends like a call. */
void xl_resume(const xl_entry *entry, const xl_location *place);

/* The tensor of a handle, borrowed; NULL with an error if it was freed, and without one for XL_NONE after an error. */
xl_var *xl_arg(xl_tensor tensor);

/* The same for one that may be XL_NONE: then NULL, and *is_given false. */
xl_var *xl_arg_or_none(xl_tensor tensor, bool *is_given);

/* The device of the call: that of its first tensor, else the one in use.  NULL with an error. */
xl_device *xl_call_device(void);

/* Keeps an error of the call, unless there is one already: "xl_add: ...", with the caller's place.  Gives NULL. */
void *xl_refuse(xp_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Keeps an error of a lower layer in the same form.  Gives NULL. */
void *xl_refuse_with(const xp_error *err);

/* What a public function that reports errors puts them into: the caller's, or its own if the caller gave NULL; empty.
 */
static inline xp_error *xl_error_to(xp_error *err, xp_error *own)
{
  err = err != NULL ? err : own;
  err->status = XP_OK;
  err->text[0] = '\0';
  return err;
}

/* The status of the error that is kept with the thread.  A function that fails with it leaves its err empty. */
static inline xp_status xl_kept(void)
{
  return xl_thread_here()->error.status;
}

/* The end of such a function, which failed unless the status is XP_OK.  An err of lower layers gets the same form:
 * "xl_sync: ..", with the place (may be NULL); an empty one takes the error that is kept.  Gives the status. */
xp_status xl_tell(xp_error *err, xp_status status, const char *name, const xl_location *place);

static inline bool xl_failed(void)
{
  return xl_rt.thread->error.status != XP_OK;
}

/* Gives a new tensor (a reference, or NULL when memory was out) to the call: it is dropped at its end. */
xl_var *xl_made(xl_var *var);

/* Drops those that were given to the call after the first `count`. */
void xl_made_drop(size_t count);

/* Whether operations run as they are called. */
static inline bool xl_runs_eagerly(void)
{
  return xl_rt.is_eager && xl_rt.thread->compiled_depth == 0;
}

/* The tensor that a new handle stands for, and the handle's end. */
xl_tensor xl_handle_create(xl_var *var);
bool xl_handle_free(xl_tensor tensor);
xl_var *xl_handle_find(xl_tensor tensor);
void xl_handle_keep(xl_tensor tensor);
void xl_handles_end(void);

#endif
