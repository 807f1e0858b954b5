/* One profiling session of this process: what the annotations recorded, what the devices' plugins traced, and the
 * programs that ran, written as a capture (XSpace) that xlaprof, XProf, TensorBoard and JAX read.
 *
 *   xp_session_options options = XP_SESSION_OPTIONS_INIT;
 *   options.logdir = "/tmp/log";
 *   if (xp_session_start(&options, &err) != XP_OK) ..
 *   ..
 *   if (xp_session_save(NULL, NULL, &err) != XP_OK) ..
 *
 * There is one session a process at a time, whoever starts it: the program or its profiler server (server.h).
 * Threads: every function may be called from any thread.  After fork the child has no session and no plugins; it can
 * add plugins and start a session of its own.  Profiles and exports that began before belong to the parent.
 * Behaviour follows tsl::ProfilerSession (xla/tsl/profiler/lib/profiler_session.cc) and torch_xla's start_trace and
 * stop_trace.
 */
#ifndef XLAPROF_SESSION_H
#define XLAPROF_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xlaprof/error.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { XP_KEEP_OLDEST, XP_KEEP_NEWEST } xp_keep;

/* Values mean what they say: 0 is 0.  Begin with XP_SESSION_OPTIONS_INIT. */
typedef struct {
  size_t size;                  /* sizeof(xp_session_options) */
  uint32_t host_tracer_level;   /* 0: nothing of the host; 1 user, 2 info, 3 verbose */
  uint32_t device_tracer_level; /* 0: plugins are told to trace no device */
  uint32_t python_tracer_level; /* passed to plugins */
  bool enable_hlo_proto;        /* put the programs' HLO protos into the capture */
  xp_keep keep;                 /* which events stay when the buffers are full */
  uint64_t buffer_limit_bytes;  /* memory for events of the host */
  const char *holder;           /* who starts it, told to others who try: "in-process session"; borrowed for the call */
  uint64_t expected_ns;         /* how long it will run; 0: not known.  Told to others who try. */
  const char *logdir;           /* where xp_session_save writes; NULL: nowhere.  Checked by the start, copied */
  const char *const *advanced;  /* further options for plugins, key and value in turn, NULL at the end; may be NULL */
} xp_session_options;

#define XP_SESSION_OPTIONS_INIT                                                                                        \
  {                                                                                                                    \
    sizeof(xp_session_options), 2, 1, 0, true, XP_KEEP_OLDEST, (uint64_t)512 << 20, NULL, 0, NULL, NULL                \
  }

/* Starts the session.  XP_ERR_BUSY with "Profile has already been started. Only one profile may be run at a time." and
 * who holds it since when, if one runs.  Plugins that fail to start do not fail the session; the capture tells. */
XP_API xp_status xp_session_start(const xp_session_options *options, xp_error *err);

/* What a session collected; immutable. */
typedef struct xp_profile xp_profile;

/* Ends the session and takes what it collected.  XP_ERR_IDLE with "No profile started" if none runs.  *profile is the
 * caller's, ended by xp_profile_free; unset on an error. */
XP_API xp_status xp_session_stop(xp_profile **profile, xp_error *err);

/* True while a session runs. */
XP_API bool xp_session_is_running(void);

XP_API void xp_profile_free(xp_profile *profile);

/* True if no line of any plane has an event. */
XP_API bool xp_profile_is_empty(const xp_profile *profile);

/* Events that found no room, of all threads. */
XP_API uint64_t xp_profile_dropped(const xp_profile *profile);

/* Size of the capture as a serialized XSpace; 0 when memory is out.  The first call takes a pass over all events. */
XP_API uint64_t xp_profile_bytes(xp_profile *profile);

/* ---------------------------------------------------------------- writing it */

typedef struct {
  size_t size;           /* sizeof(xp_export_options) */
  const char *run;       /* name of the run; NULL: YYYY_MM_DD_HH_MM_SS, local time, with a suffix where it exists */
  const char *host;      /* name of the host in the file's name; NULL: gethostname() */
  bool write_trace_json; /* also <host>.trace.json.gz */
} xp_export_options;

#define XP_EXPORT_OPTIONS_INIT                                                                                         \
  {                                                                                                                    \
    sizeof(xp_export_options), NULL, NULL, true                                                                        \
  }

/* An export that goes on in a thread of its own. */
typedef struct xp_export xp_export;

/* Writes logdir/plugins/profile/<run>/<host>.xplane.pb (and .trace.json.gz).  Takes the profile, also when it fails.
 * Nothing that exists is overwritten (a name that is taken gets _2 behind it); files appear under their names when they
 * are whole; if the trace.json.gz fails, the capture stays.  "scheme://" paths are refused (XP_ERR_USAGE).  The thread
 * that writes blocks all signals.  *handle is ended by xp_export_wait. */
XP_API xp_status xp_profile_export(xp_profile *profile, const char *logdir, const xp_export_options *options,
                                   xp_export **handle, xp_error *err);

/* Bytes written so far, and in all (0: not known yet). */
XP_API void xp_export_progress(const xp_export *handle, uint64_t *done_bytes, uint64_t *total_bytes);

/* Waits for the end and frees the handle.  path (may be NULL): the absolute path of the .xplane.pb, cut at room bytes.
 */
XP_API xp_status xp_export_wait(xp_export *handle, char *path, size_t room, xp_error *err);

/* xp_session_stop, and xp_profile_export into the session's logdir.  With handle NULL it waits for the files.  options
 * may be NULL. */
XP_API xp_status xp_session_save(const xp_export_options *options, xp_export **handle, xp_error *err);

/* ---------------------------------------------------------------- devices */

/* Adds a PJRT plugin (what its GetPjrtApi returned) to every later session: its profiler extension traces its devices.
 * XP_ERR_NOT_FOUND if it has none; XP_ERR_FORMAT if its structures have sizes that no known version has.  The plugin
 * must stay loaded.  Adding one twice has no effect. */
XP_API xp_status xp_session_add_plugin(const void *pjrt_api, xp_error *err);

/* Gives a program's HLO proto (serialized xla.HloProto, copied) to every later session and the running one, under
 * "module(program_id)" in the plane /host:metadata.  xp_session_drop_program takes it from later ones. */
XP_API xp_status xp_session_add_program(const char *module, uint64_t program_id, const void *hlo_proto, size_t bytes,
                                        xp_error *err);
XP_API void xp_session_drop_program(uint64_t program_id);

#ifdef __cplusplus
}
#endif

#endif
