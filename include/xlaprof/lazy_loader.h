/* The device loader: batches of the host become tensors while the device works.  Do not include this file; lazy.h does.
 *
 * One thread fetches batches (trace cpu_loader.next), one uploads them (cpu_data_to_xla_device), and xl_loader_next
 * (get_batch_from_cpu_queue) hands them out.  There is exactly one barrier a batch: xl_loader_next has it, unless a
 * step (XP_STEP) ended or began since the last batch, whose end is the barrier then.  Behaviour follows
 * torch_xla/distributed/parallel_loader.py.
 */
#ifndef XLAPROF_LAZY_LOADER_H
#define XLAPROF_LAZY_LOADER_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  xl_type type;
  xl_shape shape;
  const void *values; /* row after row */
} xl_host_array;

typedef struct {
  size_t size;        /* sizeof(xl_loader_options) */
  size_t array_count; /* of a batch, 1 to 16 */

  /* Fills in the arrays of the next batch; XP_ERR_EMPTY: there are no more; another status, with a text in err, is an
   * error that xl_loader_next reports.  Called on a thread of the loader, one call at a time. */
  xp_status (*fetch)(void *context, xl_host_array *arrays, xp_error *err);

  /* The values of a batch are not needed any more (they are from fetch on); may be NULL.  Called on another thread. */
  void (*release)(void *context, const xl_host_array *arrays);

  void *context;
  size_t batches_ahead; /* fetched and not uploaded, and uploaded and not taken, at most; 0: 8 */
} xl_loader_options;

typedef struct xl_loader xl_loader;

/* Starts the threads, for the device in use.  Copies the options. */
XP_API xp_status xl_loader_open(const xl_loader_options *options, xl_loader **loader, xp_error *err);

/* The next batch: array_count tensors, which belong to the innermost pool of the caller.  XP_ERR_EMPTY at the end of
 * the data, after the last batch's barrier.  Errors of fetch, uploads and the barrier come out here.  One call at a
 * time. */
#define xl_loader_next(...) xl_loader_next_at(XL_HERE, __VA_ARGS__)
XP_API xp_status xl_loader_next_at(const xl_location *at, xl_loader *loader, xl_tensor *tensors, xp_error *err);

/* Ends the threads (waiting for a call of fetch that runs) and frees what was not taken.  NULL is allowed.  No other
 * thread may be in xl_loader_next of this loader. */
XP_API void xl_loader_close(xl_loader *loader);

#ifdef __cplusplus
}
#endif

#endif
