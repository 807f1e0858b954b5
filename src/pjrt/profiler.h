/* Tracing the devices of a PJRT plugin through its profiler extension.
 *
 * The calling rules are those that released plugins were built against (docs/formats.md, "PJRT profiler extension"):
 * one profiler object a session; create, start, stop, collect once, destroy; every size is checked before a field is
 * read.  After a failed start nothing is stopped, and after a failed stop nothing is collected: destroying the profiler
 * ends what is left.  Upstream: xla/pjrt/c/pjrt_c_api_profiler_extension.h,
 * xla/backends/profiler/plugin/profiler_c_api.h, plugin_tracer.cc.
 *
 * Threads: a session belongs to one thread at a time; an opened plugin may be used by any number.
 */
#ifndef XP_PJRT_PROFILER_H
#define XP_PJRT_PROFILER_H

#include "base/error.h"
#include "base/str.h"

/* The profiler extension of a plugin, checked. */
typedef struct xp_plugin_profiler xp_plugin_profiler;

/* Finds the extension in what GetPjrtApi returned.  XP_ERR_NOT_FOUND if there is none, XP_ERR_FORMAT if a structure is
 * too small to be one that we know, or a function that every known version has is missing.  Ended by
 * xp_plugin_profiler_free, which does not unload the plugin; the plugin must stay loaded. */
xp_status xp_plugin_profiler_open(const void *pjrt_api, xp_plugin_profiler **plugin, xp_error *err);
void xp_plugin_profiler_free(xp_plugin_profiler *plugin);

/* One session of one plugin; it does not need the xp_plugin_profiler that started it. */
typedef struct xp_plugin_session xp_plugin_session;

/* Creates and starts a profiler with options (a serialized tensorflow.ProfileOptions, borrowed for the call).
 * XP_ERR_PEER, here and below, if the plugin answers with an error: the text has its message and code. */
xp_status xp_plugin_session_start(const xp_plugin_profiler *plugin, xp_str options, xp_plugin_session **session,
                                  xp_error *err);

/* Stops it.  XP_ERR_USAGE the second time. */
xp_status xp_plugin_session_stop(xp_plugin_session *session, xp_error *err);

/* Collects the capture, after a stop that did not fail, once (else XP_ERR_USAGE): a serialized XSpace without the zero
 * bytes that some plugins append.  Its records (planes, errors) are whole, so that several captures can be written one
 * behind the other; what is in the records was not looked at.  XP_ERR_FORMAT or XP_ERR_TRUNCATED if they are not.  The
 * bytes live until xp_plugin_session_free. */
xp_status xp_plugin_session_collect(xp_plugin_session *session, xp_str *xspace, xp_error *err);

/* Stops it if it runs, and destroys the profiler; NULL is allowed. */
void xp_plugin_session_free(xp_plugin_session *session);

#endif
