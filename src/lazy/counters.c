/* Handles of the counters and metrics, asked for once: the look-up goes through the name. */
#include "lazy/counters.h"

xp_counter_handle *xl_counters[XL_COUNT_COUNT];
xp_metric_handle *xl_metrics[XL_METRIC_COUNT];

void xl_counters_open(void)
{
#define XL_OPEN_COUNT(id, name)        xl_counters[XL_COUNT_##id] = xp_counter_get(name);
#define XL_OPEN_METRIC(id, name, unit) xl_metrics[XL_METRIC_##id] = xp_metric_get(name, XP_METRIC_##unit);
  XL_COUNTS(XL_OPEN_COUNT)
  XL_METRICS(XL_OPEN_METRIC)
}
