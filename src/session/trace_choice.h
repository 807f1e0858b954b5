/* Which planes and events of a capture go into a trace.json.gz. */
#ifndef XP_SESSION_TRACE_CHOICE_H
#define XP_SESSION_TRACE_CHOICE_H

#include "xspace/xspace.h"

typedef struct {
  const xp_capture *capture;
  const char *family; /* prefix of the planes of devices; NULL: there are none */
  int64_t last_ps;    /* events that start later are left out */
  uint64_t ties;      /* of those that start at it, so many stay */
} xp_trace_choice;

/* Chooses the planes, and the earliest `most` events.  False when memory is out. */
bool xp_trace_choose(xp_trace_choice *choice, const xp_capture *capture, uint64_t most);

/* Calls visit with every chosen plane, in order. */
void xp_trace_each_plane(const xp_trace_choice *choice, void (*visit)(void *context, const xp_plane *plane),
                         void *context);

bool xp_trace_is_host(const xp_plane *plane);

/* Lines and events that upstream leaves out, too. */
bool xp_trace_shows_line(const xp_line *line);
bool xp_trace_shows_event(const xp_line *line, size_t i);

/* True if there is room for an event with this start.  Asked once for each event that is shown. */
bool xp_trace_keeps(xp_trace_choice *choice, int64_t start_ps);

#endif
