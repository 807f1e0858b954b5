/* Small pieces of memory for what a step makes and frees by the thousand: nodes, tensors, arrays.
 *
 * Sizes are rounded to 32 bytes; each size has a list of free pieces; new ones come from large pages.  Pieces over 512
 * bytes come from malloc.  Under the runtime's lock.
 */
#ifndef XL_PIECES_H
#define XL_PIECES_H

#include <stddef.h>

/* Memory as it is, of at least so many bytes, aligned to 32; NULL when memory is out. */
void *xl_piece_take(size_t bytes);

/* The same, zeroed. */
void *xl_piece_take_zeroed(size_t bytes);

/* Gives it back; bytes: as it was asked for.  NULL is allowed. */
void xl_piece_give(void *piece, size_t bytes);

/* Gives all pages back.  No piece may be in use. */
void xl_pieces_end(void);

#endif
