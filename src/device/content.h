/* What a buffer shows: a block of memory, the event after which its bytes are there (or are known never to be), and the
 * host's copies that read it.
 *
 * The memory may be given to an execution for one of its outputs.  The output is another content of the same block: the
 * execution waits until nobody reads the old one, and copies of the new one wait for the execution.
 */
#ifndef XP_DEVICE_CONTENT_H
#define XP_DEVICE_CONTENT_H

#include "device/block.h"
#include "device/event.h"

typedef struct xp_dev_content xp_dev_content;

/* Takes over a reference to the block and one to the event; NULL when memory is out, with both given back. */
xp_dev_content *xp_dev_content_create(xp_dev_block *block, xp_abi_event *ready);

xp_dev_content *xp_dev_content_ref(xp_dev_content *content);

/* NULL is allowed. */
void xp_dev_content_unref(xp_dev_content *content);

/* Borrowed. */
xp_dev_block *xp_dev_content_block(const xp_dev_content *content);
xp_abi_event *xp_dev_content_ready(const xp_dev_content *content);

/* The host reads the content between these. */
void xp_dev_content_read_begin(xp_dev_content *content);
void xp_dev_content_read_end(xp_dev_content *content);

/* Waits until the host reads it no more. */
void xp_dev_content_await_readers(xp_dev_content *content);

#endif
