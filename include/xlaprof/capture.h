/* Asking running programs for a capture, over the network: the client of a profiler server (server.h, torch_xla's,
 * JAX's).
 *
 * Threads: every function may be called from any thread; a capture blocks its caller.
 * Protocol: tensorflow.ProfilerService (xla/tsl/profiler/protobuf/profiler_service.proto).
 */
#ifndef XLAPROF_CAPTURE_H
#define XLAPROF_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "xlaprof/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Begin with XP_CAPTURE_OPTIONS_INIT.  All texts are borrowed for the call. */
typedef struct {
  size_t size;          /* sizeof(xp_capture_options) */
  uint64_t duration_ms; /* how long each program is traced; at least 1 */
  uint32_t host_tracer_level;
  uint32_t device_tracer_level;
  int32_t python_tracer_level; /* -1: as the server decides */
  uint32_t attempts;           /* requests in one round, at least 1 */
  uint64_t delay_ms;           /* collecting begins so long after the request */
  uint64_t interval_ms;        /* between rounds */
  uint64_t timeout_ms;         /* of wall time, after which no request is sent any more */
  bool save_on_server;    /* the server writes the file, into logdir on its own disk, as upstream's clients ask it to */
  const char *session_id; /* name of the run; NULL: YYYY_MM_DD_HH_MM_SS, local time */
  const char *const *advanced; /* further options (tpu_..), key and value in turn, NULL at the end; may be NULL */
  /* Told before each wait and each try, and why the last one failed; NULL: nobody. */
  void (*tell)(void *context, const char *message);
  void *tell_context;
  const volatile int *cancel; /* NULL, or set to non-zero (from a signal handler, too) to give everything up */
} xp_capture_options;

#define XP_CAPTURE_OPTIONS_INIT                                                                                        \
  {                                                                                                                    \
    sizeof(xp_capture_options), 1000, 2, 1, -1, 3, 0, 5000, 120000, false, NULL, NULL, NULL, NULL, NULL                \
  }

/* How it went with one program. */
typedef enum {
  XP_CAPTURE_SAVED,        /* here, at path */
  XP_CAPTURE_SAVED_THERE,  /* on the server's disk, at path as seen from there */
  XP_CAPTURE_EMPTY,        /* it collected, but there was no event */
  XP_CAPTURE_NO_ADDRESS,   /* the name cannot be resolved, or is no HOST:PORT */
  XP_CAPTURE_NO_LISTENER,  /* nothing listens on the port */
  XP_CAPTURE_NO_PROFILER,  /* something listens, but it is no profiler server */
  XP_CAPTURE_BUSY,         /* another session runs there */
  XP_CAPTURE_SERVER_ERROR, /* the server answered with an error */
  XP_CAPTURE_LOST,         /* the connection broke, or the server did not answer in time */
  XP_CAPTURE_DISK,         /* the reply could not be written here */
  XP_CAPTURE_CANCELLED     /* the caller gave it up */
} xp_capture_outcome;

typedef struct {
  const char *target; /* HOST:PORT as given */
  xp_capture_outcome outcome;
  uint64_t bytes; /* of the capture */
  uint32_t tries;
  char *path;    /* NULL if there is none */
  char *message; /* what happened, for a person */
} xp_capture_result;

/* Captures count programs at the same time, into logdir/plugins/profile/<run>/<host>.xplane.pb, one file each.  Returns
 * XP_OK if all were saved; else the status of the first that was not, with its message in err.  *results has count rows
 * in any case but XP_ERR_MEMORY and XP_ERR_USAGE; the caller gives it to xp_capture_results_free. */
XP_API xp_status xp_capture_run(const char *const *targets, size_t count, const char *logdir,
                                const xp_capture_options *options, xp_capture_result **results, xp_error *err);

XP_API void xp_capture_results_free(xp_capture_result *results, size_t count);

/* Asks a program for its metrics report (Monitor).  *text is the caller's, freed with free().  XP_ERR_PEER if the
 * server has none, as upstream's. */
XP_API xp_status xp_capture_metrics(const char *target, uint64_t timeout_ms, char **text, xp_error *err);

#ifdef __cplusplus
}
#endif

#endif
