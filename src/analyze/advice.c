/* What to do: a line for each finding, only where the capture holds evidence for it.  What concerns the program as a
 * whole comes first, then the gaps, the largest share first. */
#include "analyze/internal.h"
#include "analyze/phrases.h"
#include "base/sum.h"

static const double NOTABLE_SHARE = 0.01; /* of the run: less is not worth anybody's time */

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
    {XP_CAUSE_COMPILE,
     "Compile what `%.*s` runs before the loop (a warm-up step), or keep a persistent compilation cache.",
     "Compile before the loop (a warm-up step), or keep a persistent compilation cache."},
    {XP_CAUSE_VALUE_REQUEST,
     "Do not ask for the value in `%.*s`, or ask later: keep it on the device, read every N steps.",
     "Do not ask for values in the loop, or ask later: keep them on the device, read every N steps."},
    {XP_CAUSE_UPLOAD, "Upload ahead of time in `%.*s`: prefetch the next batch while the device works.",
     "Upload ahead of time: prefetch the next batch while the device works."},
    {XP_CAUSE_INPUT, "Get input ahead of time (`%.*s`): prefetch, more loader workers, or a background thread.",
     "Get input ahead of time: prefetch, more loader workers, or a background thread."},
    {XP_CAUSE_HOST,
     "Move the work of `%.*s` off the critical path: to another thread, onto the device, or behind the next launch.",
     "Annotate the host's code, so that its work has a name, and capture again."},
    {XP_CAUSE_DISPATCH, "Make fewer or larger execute calls in `%.*s`: each call costs the host time.",
     "Make fewer or larger execute calls: each call costs the host time."},
    {XP_CAUSE_LAUNCH,
     "Launch further ahead, or in larger programs, around `%.*s`: the calls return, the device starts late.",
     "Launch further ahead, or in larger programs: the calls return, the device starts late."},
    {XP_CAUSE_WAIT, "Do not wait for the device in `%.*s` before the next launch.",
     "Do not wait for the device before the next launch."},
    {XP_CAUSE_UNKNOWN,
     "Annotate the program (steps and scopes) and capture again: the host shows no event here (`%.*s`).",
     "Annotate the program (steps and scopes) and capture again: the host shows no event in these gaps."},
    {XP_CAUSE_IN_PROGRAM, "Nobody on the host can help here: the program itself has holes (`%.*s`); look at its ops.",
     "Nobody on the host can help here: the program itself has holes; look at its ops."},
};

/* ---- groups of rows */

/* Work of the host that follows a read in its own scope is the cause, not the read. */
static bool is_own_work(const xp_cause_row *row)
{
  bool works = row->cause == XP_CAUSE_HOST || row->cause == XP_CAUSE_UPLOAD || row->cause == XP_CAUSE_INPUT;
  return works && xp_str_eq(row->scope, row->trigger_scope);
}

static bool counts_for_trigger(const xp_cause_row *row)
{
  bool triggered = row->trigger == XP_TRIGGER_VALUE_REQUEST || row->trigger == XP_TRIGGER_WAIT;
  return triggered && row->where == XP_WHERE_INSIDE && !is_own_work(row);
}

/* What the host did itself, whatever made it late; what a read or wait made late is told by that. */
static bool counts_for_cause(const xp_cause_row *row)
{
  bool works = row->cause == XP_CAUSE_HOST || row->cause == XP_CAUSE_UPLOAD || row->cause == XP_CAUSE_INPUT;
  return row->cause != XP_CAUSE_TRACING && row->cause != XP_CAUSE_SHORT && (works || !counts_for_trigger(row));
}

typedef struct {
  int64_t ps;
  size_t gaps;
  xp_cause_row row; /* the largest of the group */
} group;

/* Sums the rows that tell the same as row `first`; gaps is 0 if an earlier row told it. */
static group sum_rows(const xp_reading *r, size_t first, bool (*counts)(const xp_cause_row *),
                      bool (*same)(const xp_cause_row *, const xp_cause_row *))
{
  group g = {.row = r->causes[first]};
  for (size_t i = 0; i < r->cause_count; i++) {
    const xp_cause_row *row = &r->causes[i];
    if (!counts(row) || !same(row, &r->causes[first])) {
      continue;
    }
    if (i < first) {
      return (group){0};
    }
    g.ps += row->ps;
    g.gaps += row->gaps;
    g.row.where = row->where == g.row.where ? g.row.where : XP_WHERE_INSIDE; /* of several kinds: say none */
  }
  return g;
}

static bool same_cause(const xp_cause_row *a, const xp_cause_row *b)
{
  return a->cause == b->cause && xp_str_eq(a->scope, b->scope);
}

static bool same_trigger(const xp_cause_row *a, const xp_cause_row *b)
{
  return a->trigger == b->trigger && xp_str_eq(a->trigger_scope, b->trigger_scope);
}

/* Time of the run on all devices with work: the base of the shares. */
static double run_ps(const xp_reading *r)
{
  double sum = 0;
  for (size_t i = 0; i < r->device_count; i++) {
    const xp_device *d = &r->devices[i];
    int64_t window = d->window_ps[1] - d->window_ps[0];
    sum += d->has_window && d->ranked ? (double)(d->session_ps > window ? d->session_ps : window) : 0;
  }
  return sum;
}

static double share_of_run(const xp_reading *r, int64_t ps)
{
  double run = run_ps(r);
  return run > 0 ? (double)ps / run : 0;
}

/* The same of what concerns the program as a whole; without device work there is no run to have a share of. */
static double share_of_program(const xp_reading *r, int64_t ps)
{
  return run_ps(r) > 0 ? share_of_run(r, ps) : -1;
}

static xp_str seen(xp_analysis *an, const group *g, xp_str what)
{
  return xp_text(an, "%.*s gap%s, %.*s: %.*s", XP_STR_ARG(xp_phrase_count(an, g->gaps)), g->gaps == 1 ? "" : "s",
                 XP_STR_ARG(xp_phrase_time(an, g->ps)), XP_STR_ARG(what));
}

static bool recompiles(const xp_counters *c)
{
  return c->compiles_after_first * 2 > c->steps_after_first;
}

static void advise_cause(xp_analysis *an, const group *g)
{
  bool said = g->row.cause == XP_CAUSE_COMPILE && recompiles(&an->reading->counters);
  for (size_t i = 0; i < sizeof by_cause / sizeof *by_cause; i++) {
    if (by_cause[i].cause == g->row.cause && !said) {
      xp_str text = g->row.scope.len ? xp_arena_format(an->arena, by_cause[i].scoped, XP_STR_ARG(g->row.scope))
                                     : xp_str_c(by_cause[i].plain);
      advise(an, share_of_run(an->reading, g->ps), text, seen(an, g, xp_phrase_cause(an, &g->row)));
    }
  }
}

static void advise_trigger(xp_analysis *an, const group *g)
{
  xp_str scope = g->row.trigger_scope;
  xp_str where = scope.len ? xp_text(an, " in `%.*s`", XP_STR_ARG(scope)) : xp_str_from(NULL, 0);
  double share = share_of_run(an->reading, g->ps);
  if (g->row.trigger == XP_TRIGGER_VALUE_REQUEST) {
    advise(an, share,
           xp_text(an, "Avoid the reads%.*s (%s): keep the value on the device.", XP_STR_ARG(where),
                   an->threads.torch ? ".item(), .nonzero(), .cpu(), float(), printing a tensor"
                                     : "float(), np.asarray(), jax.device_get(), printing an array"),
           seen(an, g, xp_text(an, "after a value was read back%.*s", XP_STR_ARG(where))));
  } else {
    advise(an, share,
           xp_text(an, "Let the host run ahead: it waits for the device%.*s before it prepares the next program.",
                   XP_STR_ARG(where)),
           seen(an, g,
                xp_text(an, "the host had waited%.*s until the device was done, then began its own work",
                        XP_STR_ARG(where))));
  }
}

static void advise_tracing(xp_analysis *an)
{
  const xp_reading *r = an->reading;
  group g = {0};
  for (size_t i = 0; i < r->gap_count; i++) {
    if (r->gaps[i].tracing_bound) {
      g.ps += r->gaps[i].dur_ps;
      g.gaps++;
    }
  }
  if (share_of_run(r, g.ps) >= NOTABLE_SHARE) {
    advise(
        an, share_of_run(r, g.ps),
        xp_str_c(
            "Tracing itself is the limit; no rearranging of the loop removes it. What helps: bigger graphs (larger "
            "batches, several steps in one graph), a scan over layers, fewer operations."),
        seen(an, &g, xp_str_c("the host built the graph all the time and asked for no value since the launch before")));
  }
}

/* All work of the devices whose windows are the run: none of it has a name. */
static void advise_names(xp_analysis *an)
{
  const xp_reading *r = an->reading;
  int64_t busy_ps = 0;
  for (size_t i = 0; i < r->device_count; i++) {
    xp_sum_add(&busy_ps, r->devices[i].has_window && r->devices[i].ranked ? r->devices[i].busy_ps : 0);
  }
  if (r->names.gate != XP_GATE_OFF) {
    return;
  }
  advise(
      an, share_of_program(r, busy_ps),
      xp_str_c("Switch names on and capture again: set XLA_HLO_DEBUG=1 (or XLA_IR_DEBUG=1) before the program starts. "
               "Then device time shows your scopes, and tracing can be told from other host work."),
      xp_text(an,
              "the host entered %zu scope%s of yours, and no device operation carries one: %.*s of device work "
              "without a name",
              r->names.host_only_count, r->names.host_only_count == 1 ? "" : "s",
              XP_STR_ARG(xp_phrase_time(an, busy_ps))));
}

/* Time of the gaps that have one of some causes. */
static int64_t gaps_of(const xp_reading *r, const xp_cause *causes, size_t count)
{
  int64_t ps = 0;
  for (size_t i = 0; i < r->cause_count; i++) {
    for (size_t k = 0; k < count; k++) {
      xp_sum_add(&ps, r->causes[i].cause == causes[k] ? r->causes[i].ps : 0);
    }
  }
  return ps;
}

static void advise_compiles(xp_analysis *an)
{
  static const xp_cause compiles[] = {XP_CAUSE_COMPILE};
  const xp_counters *c = &an->reading->counters;
  if (recompiles(c)) {
    int64_t ps = gaps_of(an->reading, compiles, 1);
    advise(an, share_of_program(an->reading, ps),
           xp_str_c("Keep shapes constant (pad or bucket inputs), so that programs are compiled once."),
           xp_text(an, "%llu compiles in %zu steps after the first; the devices were idle for %.*s meanwhile",
                   (unsigned long long)c->compiles_after_first, c->steps_after_first,
                   XP_STR_ARG(xp_phrase_time(an, ps))));
  }
}

/* Most programs of a step hold one operation.  What each program costs the host is what larger ones save. */
static void advise_eager(xp_analysis *an)
{
  static const xp_cause costs[] = {XP_CAUSE_TRACING, XP_CAUSE_DISPATCH, XP_CAUSE_LAUNCH};
  const xp_counters *c = &an->reading->counters;
  uint64_t eager = 0, all = 0;
  for (size_t i = 0; i < c->cut_count; i++) {
    all += c->cuts[i].count;
    eager += c->cuts[i].kind == XP_CUT_EAGER ? c->cuts[i].count : 0;
  }
  if (eager * 2 > all) {
    int64_t ps = gaps_of(an->reading, costs, sizeof costs / sizeof *costs);
    advise(an, share_of_program(an->reading, ps),
           xp_str_c("Leave eager mode, or wrap the step in torch_xla.compile: operations run one at a time now."),
           xp_text(an,
                   "%llu of %llu programs were started by single operations, not by a sync or a read; the devices "
                   "were idle for %.*s while the host built and launched programs",
                   (unsigned long long)eager, (unsigned long long)all, XP_STR_ARG(xp_phrase_time(an, ps))));
  }
}

/* Largest share first, from an index on. */
static void sort_advice(xp_reading *r, size_t first)
{
  for (size_t i = first; i < r->advice_count; i++) {
    xp_advice a = r->advice[i];
    size_t k = i;
    for (; k > first && a.share > r->advice[k - 1].share; k--) {
      r->advice[k] = r->advice[k - 1];
    }
    r->advice[k] = a;
  }
}

void xp_advice_write(xp_analysis *an)
{
  enum { MOST = 8, MOST_ROWS = 64 };
  xp_reading *r = an->reading;
  advise_compiles(an);
  advise_eager(an);
  advise_names(an);
  size_t general = r->advice_count;
  advise_tracing(an);
  for (size_t i = 0; i < r->cause_count && i < MOST_ROWS; i++) {
    group g = counts_for_trigger(&r->causes[i]) ? sum_rows(r, i, counts_for_trigger, same_trigger) : (group){0};
    if (g.gaps && share_of_run(r, g.ps) >= NOTABLE_SHARE) {
      advise_trigger(an, &g);
    }
    g = counts_for_cause(&r->causes[i]) ? sum_rows(r, i, counts_for_cause, same_cause) : (group){0};
    if (g.gaps && share_of_run(r, g.ps) >= NOTABLE_SHARE) {
      advise_cause(an, &g);
    }
  }
  sort_advice(r, general);
  r->advice_count = r->advice_count < MOST ? r->advice_count : MOST;
}
