/* The order in which locks are taken is that of a stop: the recorder's, then the list's. */
#include "annotate/fork.h"

#include <pthread.h>

static void before(void)
{
  xp_recorder_fork_lock();
  xp_tracer_fork_lock();
}

static void in_parent(void)
{
  xp_tracer_fork_unlock();
  xp_recorder_fork_unlock();
}

static void in_child(void)
{
  xp_recorder_fork_child();
  xp_tracer_fork_child();
}

static void set_handlers(void)
{
  pthread_atfork(before, in_parent, in_child);
}

void xp_fork_prepare(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, set_handlers);
}
