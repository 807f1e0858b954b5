/* A count under a lock. */
#include "device/content.h"

#include <stdlib.h>

struct xp_dev_content {
  unsigned refs, readers;
  xp_dev_block *block;
  xp_abi_event *ready;
  pthread_mutex_t lock;
  pthread_cond_t unread;
};

xp_dev_content *xp_dev_content_create(xp_dev_block *block, xp_abi_event *ready)
{
  xp_dev_content *content = calloc(1, sizeof *content);
  if (content == NULL) {
    xp_dev_block_unref(block);
    xp_dev_event_unref(ready);
    return NULL;
  }
  *content = (xp_dev_content){.refs = 1, .block = block, .ready = ready};
  pthread_mutex_init(&content->lock, NULL);
  pthread_cond_init(&content->unread, NULL);
  return content;
}

xp_dev_content *xp_dev_content_ref(xp_dev_content *content)
{
  __atomic_fetch_add(&content->refs, 1, __ATOMIC_RELAXED);
  return content;
}

void xp_dev_content_unref(xp_dev_content *content)
{
  if (content == NULL || __atomic_sub_fetch(&content->refs, 1, __ATOMIC_ACQ_REL) > 0) {
    return;
  }
  xp_dev_block_unref(content->block);
  xp_dev_event_unref(content->ready);
  pthread_cond_destroy(&content->unread);
  pthread_mutex_destroy(&content->lock);
  free(content);
}

xp_dev_block *xp_dev_content_block(const xp_dev_content *content)
{
  return content->block;
}

xp_abi_event *xp_dev_content_ready(const xp_dev_content *content)
{
  return content->ready;
}

void xp_dev_content_read_begin(xp_dev_content *content)
{
  pthread_mutex_lock(&content->lock);
  content->readers++;
  pthread_mutex_unlock(&content->lock);
}

void xp_dev_content_read_end(xp_dev_content *content)
{
  pthread_mutex_lock(&content->lock);
  if (--content->readers == 0) {
    pthread_cond_broadcast(&content->unread);
  }
  pthread_mutex_unlock(&content->lock);
}

void xp_dev_content_await_readers(xp_dev_content *content)
{
  pthread_mutex_lock(&content->lock);
  while (content->readers > 0) {
    pthread_cond_wait(&content->unread, &content->lock);
  }
  pthread_mutex_unlock(&content->lock);
}
