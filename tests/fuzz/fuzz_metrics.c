/* Fuzz target: the reader of torch_xla's metrics report. */
#include "metrics/report.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  xp_arena *arena = xp_arena_create();
  jmp_buf escape;
  if (!arena || setjmp(escape)) {
    abort();
  }
  xp_arena_set_escape(arena, &escape);
  xp_str text = xp_str_from((const char *)data, size);
  xp_metrics_report report;
  xp_error err;
  xp_metrics_report_probe(text);
  if (xp_metrics_report_read(text, xp_str_c("fuzz"), arena, &report, &err) == XP_OK) {
    for (size_t i = 0; i < report.metric_count; i++) {
      if (report.metrics[i].name.len > size) {
        abort();
      }
    }
  }
  xp_arena_destroy(arena);
  return 0;
}
