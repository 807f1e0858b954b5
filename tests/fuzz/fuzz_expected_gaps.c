/* Fuzz target: the reader of predicted gaps. */
#include "analyze/expected_gaps.h"

#include <stdlib.h>

static void require(bool holds)
{
  if (!holds) {
    abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  xp_arena *arena = xp_arena_create();
  xp_expected_gap *rows;
  size_t count;
  xp_error err = {0};
  require(arena != NULL);
  xp_str text = xp_str_from((const char *)data, size);
  xp_status status = xp_expected_gaps_read(text, "fuzz", arena, &rows, &count, &err);
  require(status == XP_OK || (status == XP_ERR_FORMAT && err.text[0] != '\0'));
  for (size_t i = 0; status == XP_OK && i < count; i++) {
    const xp_expected_gap *row = &rows[i];
    require(row->least >= 0 && row->least <= row->most && row->min_ps >= 0 && row->min_ps <= row->max_ps);
    require(row->scope.len <= size && row->trigger_scope.len <= size && row->cause < XP_CAUSE_COUNT);
    require(row->line >= 1 && row->line <= size + 1 && (i == 0 || rows[i - 1].line <= row->line));
  }
  xp_arena_destroy(arena);
  return 0;
}
