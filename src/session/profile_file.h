/* Writing a profile's capture into a directory. */
#ifndef XP_SESSION_PROFILE_FILE_H
#define XP_SESSION_PROFILE_FILE_H

#include "session/profile.h"
#include "session/run_files.h"

/* Writes directory/<host>.xplane.pb and its path.  progress (may be NULL) is told bytes done and in all. */
xp_status xp_profile_write(xp_profile *profile, const char *directory, const char *host, char path[XP_PATH_ROOM],
                           void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes), void *context,
                           xp_error *err);

#endif
