/* Writing very many things of which each takes some work, such as gaps: on all cores, in order. */
#ifndef XP_REPORT_PIECES_H
#define XP_REPORT_PIECES_H

#include "report/print.h"

/* Writes things [first, end).  Called by several threads, each with a printer of its own. */
typedef void xp_piece_write(const void *context, const xp_printer *printer, size_t first, size_t end);

/* Writes things 0 .. count-1 to the printer.  Few are written by the caller itself, with this printer; otherwise pieces
 * of them into memory, side by side, and from there in order.  The memory that this takes does not grow with the count.
 * Takes the escape of the printer's arena if memory is out. */
void xp_pieces_write(const xp_printer *printer, size_t count, xp_piece_write *write, const void *context);

#endif
