/* Prints a metrics report with known numbers in it, for metrics_text.py. */
#include <stdio.h>
#include <stdlib.h>

#include "xlaprof/metrics.h"

int main(void)
{
  xp_metric_handle *execute = xp_metric_get("ExecuteTime", XP_METRIC_TIME);
  xp_metric_add(execute, 16.7e6);
  xp_metric_add(execute, 59.99e9);
  xp_metric_add(execute, 93784e9 + 400);
  xp_metric_add(xp_metric_get("InboundData", XP_METRIC_BYTES), 2.5 * 1024 * 1024);
  xp_metric_add(xp_metric_get("InboundData", XP_METRIC_BYTES), 512.0 * 1024);
  xp_metric_add(xp_metric_get("TensorsGraphSize", XP_METRIC_VALUE), 427);
  xp_metric_add(xp_metric_get("a name\n  TotalSamples: 9", XP_METRIC_VALUE), 1);
  xp_counter_add(xp_counter_get("MarkStep"), 9);
  xp_counter_add(xp_counter_get("aten::nonzero"), 8);
  xp_counter_add(xp_counter_get("Forged\n  Value: 1\nCounter: MarkStep"), 77);
  char *text = xp_metrics_report_text();
  if (text == NULL) {
    return 1;
  }
  fputs(text, stdout);
  free(text);
  return 0;
}
