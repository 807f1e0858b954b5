/* Lazy tensors: a program in C that runs on any XLA device, as torch_xla and JAX programs do, with names on the device.
 *
 *   xl_tensor w = xl_randn(XL_F32, XL_SHAPE(16, 4));
 *   xl_requires_grad(w, true);
 *   for (int i = 0; i < steps; i++) {
 *     XP_STEP("train", i) {
 *       XL_POOL {
 *         XP_TRACE("fwd") { loss = xl_mean(xl_matmul(x, w)); }
 *         XP_TRACE("bwd") { xl_backward(loss); }
 *         XP_TRACE("opt") { XL_NO_GRAD { xl_add_scaled_(w, xl_grad(w), -0.1); } }
 *         xl_zero_grad(w);
 *       }
 *     } // the end of a step is a barrier
 *   }
 *
 * An operation computes nothing: it builds a node of a graph, with the scope that is open (annotate.h) and the line of
 * the caller.  At a barrier (xl_sync, the end of a step), or when a value is asked for (xl_item, xl_to_host), the graph
 * of all live tensors is compiled, unless a program of an equal graph is there already, and is run; the device works
 * while the host goes on.  Equal graphs give one program, whatever the values are.
 *
 * Tensors are handles, passed by value.  One that was freed is told from its successor: using it is an error and
 * nothing else.  A tensor lives until xl_free, or until the end of the pool (XL_POOL) in which it was made.  What is
 * live at a barrier is computed and kept; so end pools before barriers.
 *
 * Errors: an operation that fails gives XL_NONE, and operations on XL_NONE do nothing.  The first error of a thread
 * stays until xl_error, xl_sync or a reading function reports it, with the operation, the shapes, and the line.
 *
 * Threads: every function may be called from any thread; operations of several threads go one after the other.  Pools,
 * errors, xl_no_grad and the position in a compiled region belong to the thread.  After fork the child can use none of
 * its parent's devices and tensors: every call is an error that says so.
 *
 * Behaviour follows torch_xla 2.9 (torch_xla/csrc/xla_graph_executor.cpp) and torch/csrc/lazy, its autograd
 * (torch/csrc/autograd) and functionalisation (aten/src/ATen/FunctionalTensorWrapper.cpp).  What is different, on
 * purpose: names are part of the key of a program; the backward pass inherits the scopes of the forward pass; a barrier
 * inside an open trace is refused before any work is begun.
 */
#ifndef XLAPROF_LAZY_H
#define XLAPROF_LAZY_H

#include "xlaprof/annotate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------- tensors, shapes, places */

typedef struct {
  uint32_t index, generation;
} xl_tensor;

#ifdef __cplusplus
#define XL_NONE (xl_tensor{0, 0})
#else
#define XL_NONE ((xl_tensor){0, 0})
#endif

/* bf16 and bool take two bytes and one on the host. */
typedef enum { XL_F32, XL_BF16, XL_I32, XL_I64, XL_U8, XL_BOOL, XL_TYPE_COUNT } xl_type;

enum { XL_MAX_RANK = 8 };

typedef struct {
  size_t rank;
  int64_t dims[XL_MAX_RANK];
} xl_shape;

/* XL_SHAPE(2, 3): a matrix of two rows.  XL_SCALAR: the shape of a single value. */
#ifdef __cplusplus
extern "C++" {
template <class... T> inline xl_shape xl_shape_of(T... dims)
{
  return xl_shape{sizeof...(dims), {static_cast<int64_t>(dims)...}};
}
}
#define XL_SCALAR     (xl_shape{0, {0}})
#define XL_SHAPE(...) xl_shape_of(__VA_ARGS__)
#else
#define XL_SCALAR     ((xl_shape){0, {0}})
#define XL_SHAPE(...) ((xl_shape){sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t), {__VA_ARGS__}})
#endif

/* Where in a program's source an operation stands.  Functions that may fail are macros that pass their place to a
 * function of the name with _at behind it; callers from other languages pass NULL or their own, which is borrowed until
 * the process ends. */
typedef xp_location xl_location;
#define XL_HERE XP_HERE

/* Facts about a tensor; none of them needs its value.  type and shape may be NULL.  XP_ERR_USAGE if there is no such
 * tensor. */
#define xl_describe(...) xl_describe_at(XL_HERE, __VA_ARGS__)
XP_API xp_status xl_describe_at(const xl_location *at, xl_tensor tensor, xl_type *type, xl_shape *shape, xp_error *err);
XP_API bool xl_is_alive(xl_tensor tensor);

/* Frees a tensor, on any thread; XL_NONE is allowed.  Freeing one twice is an error of the thread. */
#define xl_free(...) xl_free_at(XL_HERE, __VA_ARGS__)
XP_API void xl_free_at(const xl_location *at, xl_tensor tensor);

/* Tensors that the calling thread makes belong to its innermost open pool and are freed at its end.  Pools that are
 * open when the thread ends, end with it. */
typedef struct {
  size_t depth;
} xl_pool;
XP_API xl_pool xl_pool_begin(void);
XP_API void xl_pool_end(xl_pool pool);

/* Takes a tensor out of its pool: it lives until xl_free.  Gives it back, for `return xl_keep(x)`. */
XP_API xl_tensor xl_keep(xl_tensor tensor);

/* The first error of the calling thread since the last report, or XP_OK; it is reported then. */
XP_API xp_status xl_error(xp_error *err);

/* ---------------------------------------------------------------- devices */

typedef struct xl_device xl_device;

typedef struct {
  size_t size;                /* sizeof(xl_device_options) */
  const char *plugin;         /* path of a PJRT plugin; "embedded"; NULL: the variable XL_PJRT_PLUGIN, else embedded */
  int number;                 /* which of the plugin's devices */
  const char *const *options; /* of the plugin: name and value in turn, NULL at the end; may be NULL.  Whole numbers,
                                 decimals, true and false are passed as such, the rest as text */
} xl_device_options;

#define XL_DEVICE_OPTIONS_INIT                                                                                         \
  {                                                                                                                    \
    sizeof(xl_device_options), NULL, 0, NULL                                                                           \
  }

/* Opens a device and makes it the one that new tensors are made on, of all threads.  The first operation of a program
 * that opened none opens one with the options above.  options may be NULL.  Opening the same again gives the same. */
XP_API xp_status xl_device_open(const xl_device_options *options, xl_device **device, xp_error *err);

/* Makes it the one that new tensors are made on. */
XP_API void xl_device_use(xl_device *device);

/* The plugin's name and the device's, for people; lives as long as the device. */
XP_API const char *xl_device_name(const xl_device *device);

/* Ends all loaders, waits for all work, frees all tensors and programs and closes all devices.  What handles remain are
 * dead.  No other thread may be inside a function of this library. */
XP_API void xl_shutdown(void);

/* ---------------------------------------------------------------- barriers and values */

/* The barrier: computes what is live on the device in use, and marks a step.  With is_waiting it returns when the
 * device is done.  XP_ERR_USAGE, "Expecting scope to be empty but it is fwd", if a trace is open; nothing is begun
 * then.  The end of a step (XP_STEP) calls it. */
#define xl_sync(...) xl_sync_at(XL_HERE, __VA_ARGS__)
XP_API xp_status xl_sync_at(const xl_location *at, bool is_waiting, xp_error *err);

/* Computes some tensors alone, of one device; marks no step, and may be called inside a trace.  Borrows the list.  The
 * first error of the thread comes out here, as it does of xl_sync and of what reads; XP_ERR_USAGE if one of them was
 * freed or is XL_NONE. */
#define xl_sync_tensors(...) xl_sync_tensors_at(XL_HERE, __VA_ARGS__)
XP_API xp_status xl_sync_tensors_at(const xl_location *at, const xl_tensor *tensors, size_t count, bool is_waiting,
                                    xp_error *err);

/* Waits until the devices have done everything, and the metrics know. */
XP_API xp_status xl_wait(xp_error *err);

/* The value of a tensor of one element; it waits for the device.  XP_ERR_USAGE if it has more, or was freed, and for
 * xl_item_integer of a type with fractions; value is left alone then. */
#define xl_item(...) xl_item_at(XL_HERE, __VA_ARGS__)
XP_API xp_status xl_item_at(const xl_location *at, xl_tensor tensor, double *value, xp_error *err);
#define xl_item_integer(...) xl_item_integer_at(XL_HERE, __VA_ARGS__)
XP_API xp_status xl_item_integer_at(const xl_location *at, xl_tensor tensor, int64_t *value, xp_error *err);

/* Copies all elements to the target, row after row; it waits for the device.  XP_ERR_USAGE unless bytes is what they
 * take; errors of the device while it ran come out as well. */
#define xl_to_host(...) xl_to_host_at(XL_HERE, __VA_ARGS__)
XP_API xp_status xl_to_host_at(const xl_location *at, xl_tensor tensor, void *target, size_t bytes, xp_error *err);

/* ---------------------------------------------------------------- modes */

/* Eager: every operation is compiled and run as it is called, for all threads.  Off at first. */
XP_API void xl_set_eager(bool is_eager);
XP_API bool xl_is_eager(void);

/* A region that is lazy inside eager mode: a barrier at both ends, as torch_xla.compile has.  name (may be NULL;
 * static) is that of the program.  Regions belong to the thread.  Errors are those of xl_sync: a region is not begun
 * then, but it is ended; and XP_ERR_USAGE for an end without a beginning. */
#define xl_compiled_begin(...) xl_compiled_begin_at(XL_HERE, __VA_ARGS__)
XP_API xp_status xl_compiled_begin_at(const xl_location *at, const char *name, xp_error *err);
#define xl_compiled_end(...) xl_compiled_end_at(XL_HERE, __VA_ARGS__)
XP_API xp_status xl_compiled_end_at(const xl_location *at, xp_error *err);

/* The gate of names: nodes record scope and place, and programs carry them, only while it is open.  It is open from
 * the start if XLA_HLO_DEBUG or XLA_IR_DEBUG says so ("true" or a number that is not 0). */
XP_API void xl_set_ir_debug(bool is_open);
XP_API bool xl_ir_debug(void);

/* A prefix for the op names of a tensor's node, in place of its scope and as it stands (no slash is added), and of the
 * nodes before it that have none.  max_depth 0: no source lines.  Copies the prefix.  False if the tensor has a value
 * already; false with an error of the thread if it was freed, or prefix is NULL. */
#define xl_set_op_name_prefix(...) xl_set_op_name_prefix_at(XL_HERE, __VA_ARGS__)
XP_API bool xl_set_op_name_prefix_at(const xl_location *at, xl_tensor tensor, const char *prefix, int max_depth);

/* How far the host may run ahead: a barrier, or an operation of eager mode, returns when at most so many executions are
 * not done, itself included.  32 at first; at least 1. */
XP_API void xl_set_most_in_flight(size_t count);

/* A view of a tensor that was updated in place is computed a second time at its first use, as torch does.  True takes
 * what is there.  Off at first. */
XP_API void xl_set_fresh_views(bool is_fresh);

/* ---------------------------------------------------------------- gradients */

/* Says of a leaf whether its gradient is wanted.  An error of the thread, if its type has no fractions,
 * it was freed, or is no leaf. */
#define xl_requires_grad(...) xl_requires_grad_at(XL_HERE, __VA_ARGS__)
XP_API void xl_requires_grad_at(const xl_location *at, xl_tensor tensor, bool is_wanted);

/* Adds the gradients of a scalar to all leaves that it depends on, and frees what was kept for that.  An error of the
 * thread, if it is no single value, depends on no such leaf, or a value that is needed was updated in place. */
#define xl_backward(...) xl_backward_at(XL_HERE, __VA_ARGS__)
XP_API void xl_backward_at(const xl_location *at, xl_tensor loss);

/* The same for any shape, with the gradient of the tensor itself; keep_graph: backward may be called again. */
#define xl_backward_from(...) xl_backward_from_at(XL_HERE, __VA_ARGS__)
XP_API void xl_backward_from_at(const xl_location *at, xl_tensor tensor, xl_tensor gradient, bool keep_graph);

/* The gradient of a leaf, by a new handle that belongs to the innermost pool, or is the caller's to free; XL_NONE if
 * there is none, and with an error of the thread if the leaf was freed. */
#define xl_grad(...) xl_grad_at(XL_HERE, __VA_ARGS__)
XP_API xl_tensor xl_grad_at(const xl_location *at, xl_tensor leaf);

/* Forgets the gradient of a leaf; what xl_grad gave stays.  An error of the thread, if the leaf was freed. */
#define xl_zero_grad(...) xl_zero_grad_at(XL_HERE, __VA_ARGS__)
XP_API void xl_zero_grad_at(const xl_location *at, xl_tensor leaf);

/* While off, nothing is recorded for gradients.  Gives what it was. */
XP_API bool xl_set_grad_mode(bool is_on);

/* ---------------------------------------------------------------- looking at graphs */

/* The graph of some tensors as text: its nodes ("%3 = f32[16,4] aten::addmm(%2, %1, %0), scope=fwd"), and the program
 * that it is lowered to, as XLA prints it.  The caller frees them with free(); NULL after an error. */
XP_API char *xl_graph_text(const xl_tensor *tensors, size_t count, xp_error *err);
XP_API char *xl_program_text(const xl_tensor *tensors, size_t count, xp_error *err);

/* Writes that program to a new file (HloModuleProto), for `xlaprof aot`: XP_ERR_IO if there is one at the path.  NULL
 * tensors: all that are live, as xl_sync would. */
XP_API xp_status xl_program_save(const xl_tensor *tensors, size_t count, const char *path, xp_error *err);

/* Programs that are kept for equal graphs: how many there are, may be (the variable XL_CACHE_SIZE, 2048), and what
 * happened so far. */
typedef struct {
  size_t count, limit;
  uint64_t hits, misses, evictions;
} xl_cache_state;
XP_API xl_cache_state xl_cache(void);

/* Bytes of the nodes that are alive, and their number (count may be NULL). */
XP_API size_t xl_node_bytes(size_t *count);

/* ---------------------------------------------------------------- blocks */

#define XL_BLOCK(variable, type, begin, end) XL_BLOCK_OF(variable, type, begin, end)
#define XL_BLOCK_OF(variable, type, begin, end)                                                                        \
  for (type variable __attribute__((cleanup(end))) = begin, *variable##_once = &variable; variable##_once != NULL;     \
       variable##_once = NULL)

static inline void xl_pool_leave(xl_pool *pool)
{
  xl_pool_end(*pool);
}

static inline void xl_grad_mode_leave(bool *was_on)
{
  xl_set_grad_mode(*was_on);
}

/* XL_POOL { .. }: a block in a pool.  XL_NO_GRAD { .. }: a block that records nothing for gradients. */
#define XL_POOL    XL_BLOCK(XP_UNIQUE(xl_pool_), xl_pool, xl_pool_begin(), xl_pool_leave)
#define XL_NO_GRAD XL_BLOCK(XP_UNIQUE(xl_no_grad_), bool, xl_set_grad_mode(false), xl_grad_mode_leave)

#ifdef __cplusplus
}
#endif

#include "xlaprof/lazy_loader.h"
#include "xlaprof/lazy_ops.h"

#endif
