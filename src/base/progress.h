/* A progress line on stderr for work that takes over a second; nothing otherwise, nothing in a pipe.
 *
 * Library code reports through this callback and does not know who listens; NULL means that nobody does.
 */
#ifndef XP_BASE_PROGRESS_H
#define XP_BASE_PROGRESS_H

#include <stdint.h>

typedef struct {
  /* done of total units of work named by `what` ("reading", "analysing") are finished.  Called from one thread at a
   * time, at most a few hundred times a second. */
  void (*report)(void *context, const char *what, uint64_t done, uint64_t total);
  void *context;
} xp_progress;

#endif
