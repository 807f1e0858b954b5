/* Demonstrations: small programs on lazy tensors that show one thing each, and check that they show it. */
#ifndef XLAPROF_DEMO_H
#define XLAPROF_DEMO_H

#include "options.h"

/* Each returns the exit status: 1 if what it shows is not what it was written to show. */
int demo_lab(const options *o);
int demo_sd21(const options *o);
int demo_sdxl(const options *o);

#endif
