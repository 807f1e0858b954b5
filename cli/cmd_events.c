/* `xlaprof events`: needs no analysis, and for sums by name not even the columns of events. */
#include "commands.h"
#include "report/events.h"
#include "terminal.h"

enum { ROWS = 100 };

static uint64_t find_limit(const options *o)
{
  if (!o->has_limit) {
    return o->by_name ? UINT64_MAX : ROWS;
  }
  return o->limit == 0 ? UINT64_MAX : o->limit;
}

int run_events(const options *o)
{
  int status;
  xp_error err = {0};
  xp_event_query query = {
      .match = o->match,
      .plane = o->plane,
      .line = o->line,
      .has_from = o->has_from,
      .has_to = o->has_to,
      .from_ps = o->from_ps,
      .to_ps = o->to_ps,
      .limit = find_limit(o),
      .by_name = o->by_name,
      .threads = (int)o->threads,
  };
  xp_capture *capture = load_capture(o, !xp_event_query_needs_times(&query), &status);
  if (capture == NULL) {
    return status;
  }
  terminal_progress_end();
  xp_output output = terminal_output(o);
  status = exit_status(xp_events_write(capture, &query, &output, &err));
  if (status != 0) {
    complain("", xp_str_c(err.text));
  }
  status = finish_capture(capture, status);
  xp_capture_free(capture);
  return status;
}
