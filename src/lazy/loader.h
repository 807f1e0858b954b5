/* What the runtime's end asks of loaders. */
#ifndef XL_LOADER_H
#define XL_LOADER_H

/* Ends the threads of all loaders; what is left of a loader is for xl_loader_close.  Outside of the runtime's lock. */
void xl_loaders_end(void);

#endif
