/* What the user may have meant. */
#ifndef XLAPROF_SUGGEST_H
#define XLAPROF_SUGGEST_H

#include "options.h"

/* Letters to add, drop or change to make one word of the other; two swapped neighbours count once. */
size_t edit_distance(const char *word, size_t length, const char *other);

/* The name of a command. */
const char *command_name(command_id id);

#endif
