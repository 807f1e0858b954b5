/* What a session collected, and the XSpace that it makes. */
#ifndef XP_SESSION_PROFILE_H
#define XP_SESSION_PROFILE_H

#include <pthread.h>

#include "annotate/recorder.h"
#include "pjrt/profiler.h"
#include "session/programs.h"
#include "xlaprof/session.h"

/* What one plugin collected. */
typedef struct {
  xp_plugin_session *session; /* owns the bytes; may be NULL */
  xp_str xspace;
} xp_collected;

struct xp_profile {
  xp_arena *arena;         /* without escape */
  xp_recording *recording; /* NULL: the host was not traced */
  xp_collected *plugins;
  size_t plugin_count;
  xp_program_list programs;
  xp_str options; /* serialized ProfileOptions; in the arena */
  xp_str *errors; /* sentences about plugins that failed; in the arena */
  size_t error_count, error_capacity;
  bool lost_error; /* memory ran out for one of them: the profile cannot tell the truth any more */
  int64_t start_unix_ns, stop_unix_ns;
  pthread_mutex_t layout_lock;
  bool is_laid_out;
  xp_rope space;
};

/* An empty profile; NULL when memory is out. */
xp_profile *xp_profile_create(void);

/* Keeps a sentence for XSpace.errors (copied).  Without memory for it there will be no XSpace. */
void xp_profile_add_error(xp_profile *profile, const char *text);

/* Lays the XSpace out in profile->space; scratch for the time of the call.  Called once, by xp_profile_space. */
void xp_profile_lay_out(xp_profile *profile, xp_arena *scratch);

/* The serialized XSpace, laid out at the first call: a pass over all events.  NULL (XP_ERR_MEMORY) when memory is out.
 * Lives as long as the profile; any number of threads may read it. */
const xp_rope *xp_profile_space(xp_profile *profile, xp_error *err);

#endif
