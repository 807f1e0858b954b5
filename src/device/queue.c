/* A list under a lock.  The thread takes the whole list at once, so that adding a task and running one seldom meet. */
#define _GNU_SOURCE
#include "device/queue.h"

#include <pthread.h>
#include <stdlib.h>

struct xp_dev_queue {
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  xp_dev_task *first, **end;
  bool ends;
};

/* All waiting tasks; NULL when there are none and there will be none. */
static xp_dev_task *take_all(xp_dev_queue *queue)
{
  pthread_mutex_lock(&queue->lock);
  while (queue->first == NULL && !queue->ends) {
    pthread_cond_wait(&queue->changed, &queue->lock);
  }
  xp_dev_task *tasks = queue->first;
  queue->first = NULL;
  queue->end = &queue->first;
  pthread_mutex_unlock(&queue->lock);
  return tasks;
}

static void *run_queue(void *arg)
{
  xp_dev_queue *queue = arg;
  for (xp_dev_task *task = take_all(queue); task != NULL; task = take_all(queue)) {
    while (task != NULL) {
      xp_dev_task *next = task->next;
      task->run(task);
      task = next;
    }
  }
  return NULL;
}

xp_dev_queue *xp_dev_queue_create(const char *name)
{
  xp_dev_queue *queue = calloc(1, sizeof *queue);
  if (queue == NULL) {
    return NULL;
  }
  queue->end = &queue->first;
  pthread_mutex_init(&queue->lock, NULL);
  pthread_cond_init(&queue->changed, NULL);
  if (pthread_create(&queue->thread, NULL, run_queue, queue) != 0) {
    pthread_cond_destroy(&queue->changed);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
    return NULL;
  }
  pthread_setname_np(queue->thread, name);
  return queue;
}

void xp_dev_queue_add(xp_dev_queue *queue, xp_dev_task *task)
{
  task->next = NULL;
  pthread_mutex_lock(&queue->lock);
  *queue->end = task;
  queue->end = &task->next;
  pthread_cond_signal(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
}

bool xp_dev_queue_is_here(const xp_dev_queue *queue)
{
  return pthread_equal(queue->thread, pthread_self());
}

void xp_dev_queue_destroy(xp_dev_queue *queue)
{
  if (queue == NULL) {
    return;
  }
  pthread_mutex_lock(&queue->lock);
  queue->ends = true;
  pthread_cond_signal(&queue->changed);
  pthread_mutex_unlock(&queue->lock);
  pthread_join(queue->thread, NULL);
  pthread_cond_destroy(&queue->changed);
  pthread_mutex_destroy(&queue->lock);
  free(queue);
}
