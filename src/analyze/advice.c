/* What to do: a line for each finding, only where the capture holds evidence for it, the largest share first. */
#include "analyze/internal.h"
#include "analyze/phrases.h"

static const double NOTABLE_SHARE = 0.02; /* of the idle time */

static void advise(xp_analysis *an, double share, xp_str text, xp_str evidence)
{
  xp_reading *r = an->reading;
  r->advice = xp_arena_grow(an->arena, r->advice, r->advice_count, &an->advice_capacity, sizeof *r->advice);
  r->advice[r->advice_count++] = (xp_advice){text, evidence, share};
}

typedef struct {
  xp_cause cause;
  const char *scoped, *plain; /* scoped has one %.*s: the scope */
} cause_advice;

static const cause_advice by_cause[] = {
    {XP_CAUSE_COMPILE, "Keep shapes constant in `%.*s` (pad or bucket inputs), so that programs are compiled once.",
     "Keep shapes constant (pad or bucket inputs), so that programs are compiled once."},
    {XP_CAUSE_VALUE_REQUEST, "Do not ask for the value in `%.*s`, or ask later: keep it on the device, read every N steps.",
     "Do not ask for values in the loop, or ask later: keep them on the device, read every N steps."},
    {XP_CAUSE_UPLOAD, "Upload ahead of time in `%.*s`: prefetch the next batch while the device works.",
     "Upload ahead of time: prefetch the next batch while the device works."},
    {XP_CAUSE_INPUT, "Get input ahead of time (`%.*s`): prefetch, more loader workers, or a background thread.",
     "Get input ahead of time: prefetch, more loader workers, or a background thread."},
    {XP_CAUSE_HOST, "Move the work of `%.*s` off the critical path: to another thread, onto the device, or behind the next launch.",
     "Annotate the host's code, so that its work has a name, and capture again."},
    {XP_CAUSE_DISPATCH, "Make fewer or larger execute calls in `%.*s`: each call costs the host time.",
     "Make fewer or larger execute calls: each call costs the host time."},
    {XP_CAUSE_LAUNCH, "Launch further ahead, or in larger programs, around `%.*s`: the calls return, the device starts late.",
     "Launch further ahead, or in larger programs: the calls return, the device starts late."},
    {XP_CAUSE_WAIT, "Do not wait for the device in `%.*s` before the next launch.",
     "Do not wait for the device before the next launch."},
    {XP_CAUSE_UNKNOWN, "Annotate the program (steps and scopes) and capture again: the host shows no event here (`%.*s`).",
     "Annotate the program (steps and scopes) and capture again: the host shows no event in these gaps."},
    {XP_CAUSE_IN_PROGRAM, "Nobody on the host can help here: the program itself has holes (`%.*s`); look at its ops.",
     "Nobody on the host can help here: the program itself has holes; look at its ops."},
};

static xp_str evidence_of(xp_analysis *an, const xp_cause_row *row)
{
  return xp_text(an, "%zu gap%s, %.3f ms: %.*s", row->gaps, row->gaps == 1 ? "" : "s", (double)row->ps / 1e9,
                 XP_STR_ARG(xp_phrase_cause(an, row)));
}

static void advise_cause(xp_analysis *an, const xp_cause_row *row)
{
  for (size_t i = 0; i < sizeof by_cause / sizeof *by_cause; i++) {
    if (by_cause[i].cause == row->cause) {
      xp_str text = row->scope.len ? xp_arena_format(an->arena, by_cause[i].scoped, XP_STR_ARG(row->scope))
                                   : xp_str_c(by_cause[i].plain);
      advise(an, row->share, text, evidence_of(an, row));
    }
  }
}

/* Gaps that a read triggered are one line a scope of reads, whatever the host did then. */
static bool advise_reads(xp_analysis *an, size_t first)
{
  const xp_reading *r = an->reading;
  const xp_cause_row *row = &r->causes[first];
  for (size_t i = 0; i < first; i++) {
    if (r->causes[i].trigger == row->trigger && xp_str_eq(r->causes[i].trigger_scope, row->trigger_scope)) {
      return true; /* said already */
    }
  }
  double share = 0;
  size_t gaps = 0;
  int64_t ps = 0;
  for (size_t i = first; i < r->cause_count; i++) {
    if (r->causes[i].trigger == row->trigger && xp_str_eq(r->causes[i].trigger_scope, row->trigger_scope)) {
      share += r->causes[i].share;
      gaps += r->causes[i].gaps;
      ps += r->causes[i].ps;
    }
  }
  if (share < NOTABLE_SHARE) {
    return true;
  }
  xp_str where = row->trigger_scope.len ? xp_text(an, " in `%.*s`", XP_STR_ARG(row->trigger_scope)) : xp_str_from(NULL, 0);
  advise(an, share,
         xp_text(an, "Avoid the reads%.*s (.item(), .nonzero(), .cpu(), float(), printing a tensor): keep the value on the device.",
                 XP_STR_ARG(where)),
         xp_text(an, "%zu gap%s, %.3f ms, began with a read%.*s", gaps, gaps == 1 ? "" : "s", (double)ps / 1e9,
                 XP_STR_ARG(where)));
  return row->cause != XP_CAUSE_HOST && row->cause != XP_CAUSE_UPLOAD && row->cause != XP_CAUSE_INPUT;
}

static void advise_tracing(xp_analysis *an)
{
  const xp_reading *r = an->reading;
  int64_t bound_ps = 0, ranked_ps = 0;
  size_t gaps = 0;
  for (size_t i = 0; i < r->gap_count; i++) {
    ranked_ps += r->gaps[i].where == XP_WHERE_INSIDE || r->gaps[i].ranked ? r->gaps[i].dur_ps : 0;
    if (r->gaps[i].tracing_bound) {
      bound_ps += r->gaps[i].dur_ps;
      gaps++;
    }
  }
  double share = ranked_ps ? (double)bound_ps / (double)ranked_ps : 0;
  if (share < NOTABLE_SHARE) {
    return;
  }
  advise(an, share,
         xp_str_c("Tracing itself is the limit; no rearranging of the loop removes it. What helps: bigger graphs (larger "
                  "batches, several steps in one graph), a scan over layers, fewer operations."),
         xp_text(an, "%zu gaps, %.3f ms: the host built the graph all the time and asked for no value since the launch before",
                 gaps, (double)bound_ps / 1e9));
}

static void advise_names(xp_analysis *an)
{
  const xp_reading *r = an->reading;
  if (r->names.gate != XP_GATE_OFF) {
    return;
  }
  advise(an, -1,
         xp_str_c("Switch names on and capture again: set XLA_HLO_DEBUG=1 (or XLA_IR_DEBUG=1) before the program starts. "
                  "Then device time shows your scopes, and tracing can be told from other host work."),
         xp_text(an, "the host entered %zu scopes of yours, and no device operation carries one", r->names.host_only_count));
}

static void advise_compiles(xp_analysis *an)
{
  const xp_counters *c = &an->reading->counters;
  if (c->steps_after_first && c->compiles_after_first * 2 > c->steps_after_first) {
    advise(an, -1, xp_str_c("Keep shapes constant (pad or bucket inputs), so that programs are compiled once."),
           xp_text(an, "%llu compiles in %zu steps after the first", (unsigned long long)c->compiles_after_first,
                   c->steps_after_first));
  }
}

void xp_advice_write(xp_analysis *an)
{
  const xp_reading *r = an->reading;
  advise_compiles(an);
  for (size_t i = 0; i < r->cause_count && r->advice_count < 8; i++) {
    const xp_cause_row *row = &r->causes[i];
    if (row->trigger == XP_TRIGGER_VALUE_REQUEST && row->where == XP_WHERE_INSIDE && advise_reads(an, i)) {
      continue;
    }
    if (row->share >= NOTABLE_SHARE && row->cause != XP_CAUSE_TRACING) {
      advise_cause(an, row);
    }
  }
  advise_tracing(an);
  advise_names(an);
}
