/* Fork: the child has no session and no other threads; the traces of the thread that forked are as they were. */
#ifndef XP_ANNOTATE_FORK_H
#define XP_ANNOTATE_FORK_H

/* Makes every later fork do so.  Called once in a process, by the first of who has something to lose. */
void xp_fork_prepare(void);

/* What the two files with state do around a fork: lock before, unlock in the parent, begin anew in the child. */
void xp_tracer_fork_lock(void);
void xp_tracer_fork_unlock(void);
void xp_tracer_fork_child(void);
void xp_recorder_fork_lock(void);
void xp_recorder_fork_unlock(void);
void xp_recorder_fork_child(void);

#endif
