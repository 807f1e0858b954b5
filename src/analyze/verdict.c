/* The first line of a report: one or two sentences that answer why the device waited.
 *
 * Recompilation comes first, since the gaps of a program that compiles all the time picture the wrong problem.  Then
 * the cause with most idle time, and the reads that cut a step into pieces.
 */
#include "analyze/internal.h"
#include "analyze/phrases.h"

static const double COMPILES_TOO_MANY = 0.5, READS_TOO_MANY = 0.5; /* a step */

/* Devices with work. */
static size_t count_windows(const xp_reading *r)
{
  size_t count = 0;
  for (size_t i = 0; i < r->device_count; i++) {
    count += r->devices[i].has_window && r->devices[i].ranked;
  }
  return count;
}

static xp_str percent(xp_analysis *an, double share)
{
  if (share > 0.995 && share < 1) {
    share = 0.99;
  }
  return share >= 0.01 || share == 0 ? xp_text(an, "%.0f %%", share * 100) : xp_text(an, "under 1 %%");
}

static bool recompiles(const xp_counters *c)
{
  return c->steps_after_first && (double)c->compiles_after_first / (double)c->steps_after_first > COMPILES_TOO_MANY;
}

static xp_str compile_sentence(xp_analysis *an)
{
  const xp_counters *c = &an->reading->counters;
  return xp_text(
      an,
      "The program still compiles: %llu compiles in %zu steps after the first. Fix that first; the gaps below "
      "picture the wrong problem.",
      (unsigned long long)c->compiles_after_first, c->steps_after_first);
}

/* Idle time that reads triggered, as a share of all ranked idle time, and the scope with most of it. */
static double read_share(const xp_reading *r, xp_str *scope)
{
  double share = 0, best = 0;
  for (size_t i = 0; i < r->cause_count; i++) {
    const xp_cause_row *row = &r->causes[i];
    if (row->trigger != XP_TRIGGER_VALUE_REQUEST || row->where != XP_WHERE_INSIDE) {
      continue;
    }
    share += row->share;
    if (row->share > best) {
      best = row->share;
      *scope = row->trigger_scope;
    }
  }
  return share;
}

/* The scope with most reads. */
static const xp_scope_counters *reading_scope(const xp_counters *c)
{
  const xp_scope_counters *best = NULL;
  for (size_t i = 0; i < c->by_scope_count; i++) {
    if (!best || c->by_scope[i].counters[XP_READS] > best->counters[XP_READS]) {
      best = &c->by_scope[i];
    }
  }
  return best;
}

/* Share of idle time whose trigger began in a scope. */
static double triggered_in(const xp_reading *r, xp_str scope)
{
  double share = 0;
  for (size_t i = 0; i < r->cause_count; i++) {
    const xp_cause_row *row = &r->causes[i];
    share += row->trigger == XP_TRIGGER_VALUE_REQUEST && xp_str_eq(row->trigger_scope, scope) ? row->share : 0;
  }
  return share;
}

static xp_str reads_sentence(xp_analysis *an)
{
  const xp_reading *r = an->reading;
  const xp_counters *c = &r->counters;
  xp_str scope = {NULL, 0};
  if (c->reads_per_step <= READS_TOO_MANY || read_share(r, &scope) <= 0) {
    return xp_str_from(NULL, 0);
  }
  const xp_scope_counters *most = reading_scope(c);
  scope = most && most->scope.len ? most->scope : scope;
  xp_str pieces = {NULL, 0};
  if (c->programs_per_step > 1.05) {
    pieces = an->threads.torch ? xp_text(an, ", which cut each step into %.3g programs,", c->programs_per_step)
                               : xp_text(an, ", with %.3g programs a step,", c->programs_per_step);
  }
  return xp_text(an, " Reads in `%.*s` (%.3g per `%.*s` step)%.*s trigger %.*s of the idle time.", XP_STR_ARG(scope),
                 c->reads_per_step, XP_STR_ARG(c->main_step), XP_STR_ARG(pieces),
                 XP_STR_ARG(percent(an, triggered_in(r, scope))));
}

/* What the first sentence is about: a cause as a whole, and the row with most of its time. */
typedef struct {
  xp_cause_row whole;
  const xp_cause_row *row;
} finding;

static bool largest_inside(const xp_reading *r, finding *out)
{
  xp_cause_row sums[XP_CAUSE_COUNT] = {{0}};
  const xp_cause_row *largest[XP_CAUSE_COUNT] = {NULL};
  int best = XP_CAUSE_SHORT;
  for (size_t i = 0; i < r->cause_count; i++) { /* largest rows first */
    const xp_cause_row *row = &r->causes[i];
    if (row->where != XP_WHERE_INSIDE || row->cause == XP_CAUSE_SHORT) {
      continue;
    }
    largest[row->cause] = largest[row->cause] ? largest[row->cause] : row;
    sums[row->cause].ps += row->ps;
    sums[row->cause].share += row->share;
  }
  for (int c = 0; c < XP_CAUSE_SHORT; c++) {
    best = sums[c].ps > sums[best].ps ? c : best;
  }
  out->whole = sums[best];
  out->whole.cause = (xp_cause)best;
  out->row = largest[best];
  return out->row != NULL;
}

/* The largest cause inside the windows, unless a lead-in or tail is more than twice as long. */
static bool largest_cause(const xp_reading *r, finding *out)
{
  const xp_cause_row *edge = NULL;
  for (size_t i = r->cause_count; i > 0; i--) {
    edge = r->causes[i - 1].where != XP_WHERE_INSIDE ? &r->causes[i - 1] : edge;
  }
  bool inside = largest_inside(r, out);
  if (edge && (!inside || edge->ps > 2 * out->whole.ps)) {
    *out = (finding){*edge, edge};
    return true;
  }
  return inside;
}

/* Lead-in and tail of all devices that are ranked, beside the idle time inside. */
static double idle_share(const xp_reading *r)
{
  double idle = 0, all = 0;
  for (size_t i = 0; i < r->device_count; i++) {
    const xp_device *d = &r->devices[i];
    if (d->has_window && d->ranked) {
      idle += (double)d->idle_ps;
      all += (double)(d->window_ps[1] - d->window_ps[0]);
    }
  }
  for (size_t i = 0; i < r->gap_count; i++) {
    const xp_gap *g = &r->gaps[i];
    if (g->where != XP_WHERE_INSIDE && g->ranked) {
      idle += (double)(g->dur_ps - g->profiler_ps);
      all += (double)(g->dur_ps - g->profiler_ps);
    }
  }
  return all > 0 ? idle / all : 0;
}

/* Tracing is the limit where most of the row's time lies in gaps that nothing but tracing explains. */
static bool is_tracing_bound(const xp_reading *r, const xp_cause_row *row)
{
  int64_t bound = 0;
  for (size_t i = 0; i < r->gap_count; i++) {
    const xp_gap *g = &r->gaps[i];
    bound += g->tracing_bound && xp_str_eq(g->scope, row->scope) ? g->dur_ps : 0;
  }
  return row->cause == XP_CAUSE_TRACING && row->trigger == XP_TRIGGER_NONE && bound * 2 > row->ps;
}

/* "the host compiled in `lab`" where that is nearly all of it, else "the host compiled (58 % in `lab`)". */
static xp_str what_happened(xp_analysis *an, const finding *f)
{
  static const double NEARLY_ALL = 0.95;
  xp_cause_row plain = {.cause = f->whole.cause, .where = f->whole.where};
  if ((double)f->row->ps >= NEARLY_ALL * (double)f->whole.ps) {
    return xp_phrase_cause(an, f->row);
  }
  xp_str what = xp_phrase_cause(an, &plain), place = xp_phrase_place(an, f->row);
  return place.len ? xp_text(an, "%.*s (%.*s%.*s)", XP_STR_ARG(what), XP_STR_ARG(percent(an, f->row->share)),
                             XP_STR_ARG(place))
                   : what;
}

static xp_str cause_sentence(xp_analysis *an, const finding *f)
{
  const xp_reading *r = an->reading;
  const char *s = count_windows(r) > 1 ? "s" : "";
  xp_str waited = percent(an, idle_share(r)), share = percent(an, f->whole.share), what = what_happened(an, f);
  if (f->whole.where != XP_WHERE_INSIDE) {
    return xp_text(an, "The device%s waited %.*s of the time, most of all (%.*s of the session) for this: %.*s.", s,
                   XP_STR_ARG(waited), XP_STR_ARG(share), XP_STR_ARG(what));
  }
  const char *limit =
      is_tracing_bound(r, f->row) ? " Tracing itself is the limit: no rearranging of the loop removes it." : "";
  return xp_text(an, "The device%s waited %.*s of the time. %.*s of that idle time: %.*s.%s", s, XP_STR_ARG(waited),
                 XP_STR_ARG(share), XP_STR_ARG(what), limit);
}

void xp_verdict_write(xp_analysis *an)
{
  xp_reading *r = an->reading;
  finding found;
  bool any = largest_cause(r, &found);
  if (count_windows(r) == 0) {
    bool launched = r->counters.launches > 0;
    r->verdict = launched ? xp_text(an,
                                    "No device work was recorded, although the host launched %llu programs: capture "
                                    "again with device tracing on.",
                                    (unsigned long long)r->counters.launches)
                          : xp_text(an, "No device work was recorded: nothing can be said about why a device waits.");
  } else if (recompiles(&r->counters)) {
    r->verdict = compile_sentence(an);
  } else if (!any || idle_share(r) < 0.005) {
    r->verdict = xp_text(an, "The device%s hardly waited: %.*s of the time. Make the device work itself faster.",
                         count_windows(r) > 1 ? "s" : "", XP_STR_ARG(percent(an, idle_share(r))));
  } else {
    xp_str cause = cause_sentence(an, &found), reads = reads_sentence(an);
    r->verdict = xp_text(an, "%.*s%.*s", XP_STR_ARG(cause), XP_STR_ARG(reads));
  }
}
