/* Single elements of arrays, as numbers. */
#ifndef XP_HLO_ELEMENT_H
#define XP_HLO_ELEMENT_H

#include "hlo/type.h"

/* A float as a double (exact); of a complex type its real part.  0 for other types. */
double xp_hlo_element_to_double(xp_hlo_type type, const void *bytes);

/* The nearest float of a type (ties to even, overflow to infinity) into bytes; complex types get the imaginary part 0;
 * integers are cut, and held in their range.  False for floats of 8 bits and less, and for what has no elements. */
bool xp_hlo_element_from_double(xp_hlo_type type, double value, void *bytes);

/* An integer or pred; a u64 keeps its bits.  0 for other types. */
int64_t xp_hlo_element_to_int64(xp_hlo_type type, const void *bytes);

#endif
