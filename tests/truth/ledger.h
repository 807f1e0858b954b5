/* What the host and the device did, by a clock of their own: the truth that a reading of the same time is held against.
 *
 * The host's thread begins and ends stretches, one after the other.  Walks through graphs, launches, runs and
 * operations are noted around the functions that do them (the linker wraps them), where neither the annotations nor the
 * device's tracer have a part; an operation ends where its recording begins.  Asking how long a thread was kept from a
 * processor is a call of the system, at which it may lose it: that is done at marks, and at the ends of runs.
 */
#ifndef XP_TESTS_LEDGER_H
#define XP_TESTS_LEDGER_H

#include <stdint.h>

typedef struct {
  const char *kind;  /* "stretch", "mark", "walk", or what the device did: "execute", "run", "op" */
  const char *class; /* of a stretch: the class of reading.md that it is */
  const char *scope; /* the annotation around it, or "" */
  int device;
  int64_t number;           /* of launches and runs: which of the device */
  int64_t start_ns, end_ns; /* CLOCK_MONOTONIC */
  int64_t late_ns;          /* of marks and runs: how long the thread had been kept from a processor, in all; else -1 */
} ledger_row;

/* Notes what the calling thread does from now on, and that it is done. */
ledger_row ledger_begin(const char *class, const char *scope);
void ledger_end(ledger_row *row);

/* Notes how long the calling thread was kept from a processor so far. */
void ledger_mark(void);

/* LEDGER("wait", "scope") { .. }: a stretch. */
#define LEDGER(class, scope)                                                                                           \
  for (ledger_row ledger_open = ledger_begin(class, scope); ledger_open.kind; ledger_end(&ledger_open))

/* Writes all rows, after a first one with the two clocks; 0, or -1 if the file can't be written or rows were lost. */
int ledger_write(const char *path);

#endif
