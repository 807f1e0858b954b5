/* The programs of this process, whose HLO protos go into captures: xp_session_add_program and xp_session_drop_program.
 *
 * A session takes those that lived at any time while it ran.  Protos are shared, not copied: each lives as long as
 * somebody holds it.  Any thread may call.
 */
#ifndef XP_SESSION_PROGRAMS_H
#define XP_SESSION_PROGRAMS_H

#include "session/plane_copy.h"

typedef struct xp_program xp_program;

/* Programs dropped from now on are kept for the session that begins. */
void xp_programs_keep_dropped(void);

typedef struct {
  xp_program **programs;
  size_t count;
} xp_program_list;

/* The programs that live, or lived since the last xp_programs_keep_dropped, which ends with this.  False when memory is
 * out (the list is empty then).  Ended by xp_program_list_free. */
bool xp_programs_take(xp_program_list *list);
void xp_program_list_free(xp_program_list *list);

/* Appends the plane /host:metadata as field 1 of an XSpace; borrows the protos. */
void xp_programs_append(xp_rope *space, const xp_program_list *list, const xp_plane_frame *frame);

#endif
