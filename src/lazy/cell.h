/* A place that holds a value which a barrier must compute: the memory of a tensor, or a view's own copy of it. */
#ifndef XL_CELL_H
#define XL_CELL_H

#include "lazy/node.h"

typedef struct xl_cell xl_cell;

struct xl_cell {
  xl_cell *next, *prev; /* ring of its device */
  xl_node *value;       /* a reference */
  xl_data *last;        /* what it held at the last barrier, if its value is newer: that may be donated.  A reference */
};

/* Puts a cell at the end of a device's ring, with a value (takes the reference). */
void xl_cell_open(xl_device *device, xl_cell *cell, xl_node *value);

/* Takes it out of the ring and drops what it holds. */
void xl_cell_close(xl_cell *cell);

/* Gives it a newer value (takes the reference). */
void xl_cell_set(xl_cell *cell, xl_node *value);

#endif
