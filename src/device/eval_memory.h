/* Where the arrays of a program lie. */
#ifndef XP_DEVICE_EVAL_MEMORY_H
#define XP_DEVICE_EVAL_MEMORY_H

#include "device/eval_plan.h"

/* Drops steps that nobody needs and gives every slot its place.  aliases: by output, the input whose memory it may be
 * given, or -1; NULL if outputs never lie in inputs. */
xp_status xp_dev_memory_plan(xp_dev_context *context, const int64_t *aliases);

#endif
