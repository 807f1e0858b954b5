/* Indices that stand in arrays of any integer type. */
#ifndef XP_DEVICE_EVAL_DYNAMIC_H
#define XP_DEVICE_EVAL_DYNAMIC_H

#include "device/eval_plan.h"

/* Index i; those above the range of int64_t become its end. */
int64_t xp_dev_index_at(const void *indices, xp_dev_type type, int64_t i);

bool xp_dev_type_is_index(xp_dev_type type);

#endif
