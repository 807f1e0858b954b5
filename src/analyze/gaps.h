/* The work around a gap: what ran before and after it, and who launched that. */
#ifndef XP_ANALYZE_GAPS_H
#define XP_ANALYZE_GAPS_H

#include "analyze/internal.h"

/* The work that is running at a time, the latest to start; lane is XP_NONE if there is none.  *hint (0 at first; may be
 * NULL) makes it quick to ask for one time after another. */
xp_work xp_work_from(const xp_device_data *device, int64_t time_ps, size_t *hint);

/* The work that ended at a time; the hint as above. */
xp_work xp_work_before(const xp_device_data *device, int64_t time_ps, size_t *hint);

/* The launch of a piece of work, and its run; XP_NONE where not known.  May add a launch. */
uint32_t xp_work_launch(xp_analysis *an, const xp_device_data *device, const xp_work *work, uint32_t *run);

/* How the work is shown. */
xp_work_name xp_work_names(const xp_analysis *an, const xp_device_data *device, const xp_work *work);

#endif
