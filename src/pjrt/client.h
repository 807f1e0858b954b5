/* Running programs on the devices of a PJRT plugin: clients, programs, buffers, events, and compiling ahead of time.
 *
 * Everything that takes time happens behind the caller's back: an upload, an execution and a download are begun, and an
 * event tells when they are over.  The order in which they are begun is the order in which they depend on each other,
 * so nothing needs to be waited for in between; an error of one reaches everything that needs its result.
 *
 * Ownership: what a create, compile, upload, execute or download hands out belongs to the caller and has a destroy,
 * which accepts NULL.  A client is destroyed after all that was made with it.  Destroying a buffer, an event or an
 * executable that work in flight uses is allowed; the plugin keeps what it needs.
 *
 * Errors: XP_ERR_PEER is the plugin's, and the text has the function, the plugin's own words, and its code.  A plugin
 * too old for a call is XP_ERR_FORMAT, with the name of what it lacks.
 *
 * Threads: any thread may call anything at any time, also for one object; only a destroy must be the last call for its
 * object.
 */
#ifndef XP_PJRT_CLIENT_H
#define XP_PJRT_CLIENT_H

#include "base/str.h"
#include "pjrt/plugin.h"
#include "wire/wire.h"

typedef struct xp_pjrt_client xp_pjrt_client;
typedef struct xp_pjrt_executable xp_pjrt_executable;
typedef struct xp_pjrt_buffer xp_pjrt_buffer;
typedef struct xp_pjrt_event xp_pjrt_event;
typedef struct xp_pjrt_topology xp_pjrt_topology;

/* ---------------------------------------------------------------- clients and devices */

/* An option of a plugin; which there are is in its own documentation. */
typedef struct xp_pjrt_option {
  const char *name;
  enum { XP_PJRT_TEXT, XP_PJRT_NUMBER, XP_PJRT_REAL, XP_PJRT_FLAG } type;
  const char *text;
  int64_t number; /* and of a flag, 0 or 1 */
  float real;
} xp_pjrt_option;

/* A device that this process can use. */
typedef struct {
  int32_t id;       /* in the whole run */
  int32_t local_id; /* on this machine; -1 if the plugin does not tell */
  int32_t process_index;
  xp_str kind; /* "TPU v5 lite" */
  xp_str name; /* as the plugin prints it */
  xp_abi_device *handle;
} xp_pjrt_device;

/* Starts the plugin's runtime and finds its devices.  Some plugins allow one client at a time.  Borrows the options for
 * the call. */
xp_status xp_pjrt_client_create(const xp_pjrt_plugin *plugin, const xp_pjrt_option *options, size_t option_count,
                                xp_pjrt_client **client, xp_error *err);
void xp_pjrt_client_destroy(xp_pjrt_client *client);

/* The devices of this process, at least one; they live as long as the client. */
const xp_pjrt_device *xp_pjrt_client_devices(const xp_pjrt_client *client, size_t *count);

/* "cpu", "tpu"; and a text for people.  Both live as long as the client. */
xp_str xp_pjrt_client_platform(const xp_pjrt_client *client);
xp_str xp_pjrt_client_platform_version(const xp_pjrt_client *client);

/* Bytes in use on a device, and how many there are (-1: not told).  Many plugins answer UNIMPLEMENTED. */
xp_status xp_pjrt_device_memory(const xp_pjrt_client *client, const xp_pjrt_device *device, int64_t *used_bytes,
                                int64_t *limit_bytes, xp_error *err);

/* ---------------------------------------------------------------- programs */

/* A program as plugins take it: "hlo" (a serialized HloModuleProto; libtpu before 0.0.52 aborts the process when ids of
 * instructions reach 2^31) or "mlir" (text or bytecode); and as they give it: "hlo_with_config" as a rule. */
typedef struct {
  xp_str format, bytes;
} xp_pjrt_program;

/* Appends the CompileOptionsProto of a program for one device, whose id is given; -1: whichever the plugin takes. */
void xp_pjrt_put_compile_options(xp_wire_writer *w, int32_t device_id);

/* Compiles for a device of the client (NULL: its first) and waits for it.  Borrows the program for the call. */
xp_status xp_pjrt_compile(xp_pjrt_client *client, const xp_pjrt_device *device, xp_pjrt_program program,
                          xp_pjrt_executable **executable, xp_error *err);
void xp_pjrt_executable_destroy(xp_pjrt_executable *executable);

/* Type and dimensions of one array.  Sizes are in elements, the slowest first. */
typedef struct {
  xp_abi_type type;
  size_t rank;
  const int64_t *dimensions;
} xp_pjrt_shape;

/* Bytes of an array on the host, row after row: small types (S4, U4, S2, U2, S1, U1) take a byte each.  False if the
 * type has no size (tokens, types that are not known), a dimension is negative, or the number does not fit. */
bool xp_pjrt_shape_bytes(xp_pjrt_shape shape, size_t *bytes);

/* How many arrays an execution gives: the elements of a tuple one by one. */
size_t xp_pjrt_executable_output_count(const xp_pjrt_executable *executable);

/* Fills in the shapes of all outputs; dimensions live as long as the executable. */
xp_status xp_pjrt_executable_output_shapes(const xp_pjrt_executable *executable, xp_pjrt_shape *shapes, xp_error *err);

/* Name of the program, and a text that is equal for equal results of a compilation. */
xp_status xp_pjrt_executable_name(const xp_pjrt_executable *executable, xp_str *name, xp_error *err);
xp_status xp_pjrt_executable_fingerprint(const xp_pjrt_executable *executable, xp_str *fingerprint, xp_error *err);

/* The program as the compiler left it.  A copy: xp_pjrt_program_free ends it. */
xp_status xp_pjrt_executable_optimized(const xp_pjrt_executable *executable, xp_pjrt_program *program, xp_error *err);
void xp_pjrt_program_free(xp_pjrt_program *program);

/* ---------------------------------------------------------------- execution */

typedef struct {
  const size_t *kept; /* numbers of arguments that are not donated although the program would let them be */
  size_t kept_count;
  int32_t launch_id;                 /* for the plugin's profiler; 0: none */
  const xp_abi_extension *extension; /* chained to the arguments; plugins skip those that they do not know */
} xp_pjrt_execute_options;

/* Begins an execution on the device that the program was compiled for.
 *
 * Donation is the program's: an argument that it aliases to an output, or lists as a donor, is deleted by the execution
 * unless it is among the kept ones.  Its xp_pjrt_buffer must be destroyed all the same.
 *
 * outputs: room for xp_pjrt_executable_output_count buffers, whose contents come later.  done (may be NULL): an event
 * for the end of the work on the device.  options may be NULL.  XP_ERR_USAGE for a program that was compiled ahead of
 * time.  */
xp_status xp_pjrt_execute(const xp_pjrt_executable *executable, xp_pjrt_buffer *const *arguments, size_t argument_count,
                          const xp_pjrt_execute_options *options, xp_pjrt_buffer **outputs, xp_pjrt_event **done,
                          xp_error *err);

/* ---------------------------------------------------------------- buffers: arrays on a device */

/* Begins to copy an array (row after row, `size` bytes, which must be what its shape takes) to a device (NULL: the
 * first).
 *
 * released NULL: the plugin has read the bytes when this returns.  Else it may read them later (which spares a copy),
 * and they must stay as they are until the event *released is ready. */
xp_status xp_pjrt_upload(xp_pjrt_client *client, const xp_pjrt_device *device, xp_pjrt_shape shape, const void *bytes,
                         size_t size, xp_pjrt_buffer **buffer, xp_pjrt_event **released, xp_error *err);

/* Begins to copy a buffer to the host, row after row.  size must be what xp_pjrt_shape_bytes tells.  The target must
 * stay until the event is ready; with done NULL this waits for it. */
xp_status xp_pjrt_download(const xp_pjrt_buffer *buffer, void *target, size_t size, xp_pjrt_event **done,
                           xp_error *err);

/* Begins to copy a buffer to another device of the same client. */
xp_status xp_pjrt_copy(const xp_pjrt_buffer *buffer, const xp_pjrt_device *device, xp_pjrt_buffer **copy,
                       xp_error *err);

/* Dimensions live as long as the buffer. */
xp_status xp_pjrt_buffer_shape(const xp_pjrt_buffer *buffer, xp_pjrt_shape *shape, xp_error *err);

/* Bytes on the device, with what its layout adds. */
xp_status xp_pjrt_buffer_device_bytes(const xp_pjrt_buffer *buffer, size_t *bytes, xp_error *err);

/* An event for the time when the contents are there. */
xp_status xp_pjrt_buffer_ready(const xp_pjrt_buffer *buffer, xp_pjrt_event **ready, xp_error *err);

/* Address of the contents on the device; good while xp_pjrt_buffer_hold is in effect. */
xp_status xp_pjrt_buffer_address(const xp_pjrt_buffer *buffer, uintptr_t *address, xp_error *err);

/* While held, the memory of a buffer stays although the buffer is deleted or donated.  Each hold wants one let_go. */
xp_status xp_pjrt_buffer_hold(const xp_pjrt_buffer *buffer, xp_error *err);
xp_status xp_pjrt_buffer_let_go(const xp_pjrt_buffer *buffer, xp_error *err);

/* Gives the memory back at once, or when the work that uses it is over; after that only destroy makes sense. */
xp_status xp_pjrt_buffer_delete(const xp_pjrt_buffer *buffer, xp_error *err);
xp_status xp_pjrt_buffer_is_deleted(const xp_pjrt_buffer *buffer, bool *is_deleted, xp_error *err);
void xp_pjrt_buffer_destroy(xp_pjrt_buffer *buffer);

/* ---------------------------------------------------------------- events */

/* Is called once: at once by the thread that asks, or later by a thread of the plugin, which it must not hold up.
 * status and err (never NULL) are of the work that the event is about; err is gone when it returns. */
typedef void xp_pjrt_callback(void *context, xp_status status, const xp_error *err);

/* Waits until the event is ready; fails with the error of the work that it is about. */
xp_status xp_pjrt_event_wait(const xp_pjrt_event *event, xp_error *err);
xp_status xp_pjrt_event_is_ready(const xp_pjrt_event *event, bool *is_ready, xp_error *err);

/* Calls back when it is ready.  If this fails, nothing is called. */
xp_status xp_pjrt_event_on_ready(const xp_pjrt_event *event, xp_pjrt_callback *callback, void *context, xp_error *err);

/* Callbacks that were asked for are still called. */
void xp_pjrt_event_destroy(xp_pjrt_event *event);

/* ---------------------------------------------------------------- ahead of time, without a device */

/* A machine by name ("v5e:2x2x1" for libtpu). */
xp_status xp_pjrt_topology_create(const xp_pjrt_plugin *plugin, const char *name, const xp_pjrt_option *options,
                                  size_t option_count, xp_pjrt_topology **topology, xp_error *err);
void xp_pjrt_topology_destroy(xp_pjrt_topology *topology);

/* "tpu"; lives as long as the topology. */
xp_status xp_pjrt_topology_platform(const xp_pjrt_topology *topology, xp_str *platform, xp_error *err);

/* Number of devices that it has. */
xp_status xp_pjrt_topology_device_count(const xp_pjrt_topology *topology, size_t *count, xp_error *err);

/* Compiles for one device of the topology.  What comes out can be looked at and not be executed. */
xp_status xp_pjrt_topology_compile(const xp_pjrt_topology *topology, xp_pjrt_program program,
                                   xp_pjrt_executable **executable, xp_error *err);

#endif
