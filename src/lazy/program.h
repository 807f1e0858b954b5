/* Compiled programs, kept for equal graphs: the least recently used leaves when there are too many. */
#ifndef XL_PROGRAM_H
#define XL_PROGRAM_H

#include "lazy/graph.h"

typedef struct xl_program xl_program;
struct xl_program {
  xl_key key;
  xl_device *device;
  xp_pjrt_executable *executable;
  char hash[33];             /* the key as text */
  xl_program *newer, *older; /* in the order of use */
  xl_program *next;          /* in its bucket */
};

/* The program of a key on a device, now the most recently used; NULL if there is none. */
xl_program *xl_program_find(xl_key key, const xl_device *device);

/* Keeps an executable (takes it) as the program of a key.  NULL with an error when memory is out. */
xl_program *xl_program_add(xl_key key, xl_device *device, xp_pjrt_executable *executable, xp_error *err);

/* Two halves in hexadecimal, as torch_xla writes hashes of graphs. */
void xl_key_text(xl_key key, char text[33]);

/* Forgets all programs. */
void xl_programs_end(void);

#endif
