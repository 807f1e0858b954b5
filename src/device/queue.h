/* The queue of a device: tasks, run one after the other by a thread of the device's own.
 *
 * Any thread may add tasks.  They run in the order in which they were added; what a task waits for was always asked for
 * before the task was, on whatever device, so queues cannot wait for each other in a ring.
 */
#ifndef XP_DEVICE_QUEUE_H
#define XP_DEVICE_QUEUE_H

#include <stdbool.h>

typedef struct xp_dev_queue xp_dev_queue;

/* The head of a task; the caller's structure begins with it. */
typedef struct xp_dev_task {
  struct xp_dev_task *next;
  void (*run)(struct xp_dev_task *task); /* owns the task */
} xp_dev_task;

/* Starts the thread; NULL when there is no memory, or no thread to be had.  Its name is for debuggers, at most 15
 * bytes. */
xp_dev_queue *xp_dev_queue_create(const char *name);

void xp_dev_queue_add(xp_dev_queue *queue, xp_dev_task *task);

/* True on the queue's own thread, which must not wait for the queue. */
bool xp_dev_queue_is_here(const xp_dev_queue *queue);

/* Runs what was added, then ends the thread; NULL is allowed. */
void xp_dev_queue_destroy(xp_dev_queue *queue);

#endif
