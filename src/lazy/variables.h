/* Variables of the environment: what the library reads, and what it does not accept. */
#ifndef XL_VARIABLES_H
#define XL_VARIABLES_H

#include "xlaprof/lazy.h"

/* XP_ERR_USAGE with the first of our own variables that has a value which it can't have; XP_ERR_IO if XL_DEBUG_FILE is
 * needed and can't be opened. */
xp_status xl_variables_check(xp_error *err);

/* A number; what is usual, if the variable is not set, or is no number that it can be. */
int64_t xl_variable_number(const char *name, int64_t usual);

/* As torch_xla reads such variables: "true", or a number that is not 0. */
bool xl_variable_is_true(const char *name);

#endif
