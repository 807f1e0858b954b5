/* Counting compiles, executes, reads, uploads and syncs: exact, free, and the first thing to read.
 *
 * Nested events of one kind count once, the outermost, on whatever thread the inner ones run.  An execute belongs to
 * the scope and step in which it was asked for, however late the pool thread got to it.
 */
#include "analyze/internal.h"
#include "analyze/link_ids.h"

typedef struct {
  xp_analysis *an;
  xp_intern scopes;
  size_t capacity;
  uint32_t flags[XP_COUNTER_COUNT]; /* names that count; 0: another rule */
  const xp_thread *thread;          /* where the last scope was looked up, for which entries, and its row */
  xp_scope_stretch scoped;
  uint32_t row;
  size_t step_hint;
} counting;

/* The row of the scope that is shown for an entry at a time. */
static uint32_t row_of(counting *c, const xp_thread *t, uint32_t entry, int64_t time)
{
  if (t == c->thread && c->scoped.first <= entry && entry < c->scoped.stop) {
    return c->row;
  }
  xp_counters *out = &c->an->reading->counters;
  xp_str scope = xp_thread_scope_from(t, entry, time);
  c->row = xp_intern_add(&c->scopes, scope);
  if (c->row == out->by_scope_count) {
    out->by_scope = xp_arena_grow(c->an->arena, out->by_scope, c->row, &c->capacity, sizeof *out->by_scope);
    out->by_scope[out->by_scope_count++] = (xp_scope_counters){.scope = scope};
  }
  c->thread = entry == XP_NONE || t->overlaps ? NULL : t;
  if (c->thread) {
    c->scoped = xp_thread_scope_of(t, entry);
  }
  return c->row;
}

/* Counts something that happened on a thread, inside an entry (XP_NONE: in none). */
static void count_at(counting *c, int counter, uint32_t thread, uint32_t entry, int64_t time)
{
  xp_reading *r = c->an->reading;
  xp_counters *out = &r->counters;
  const xp_thread *t = &c->an->threads.threads[thread];
  out->totals[counter]++;
  uint32_t row = row_of(c, t, entry, time);
  out->by_scope[row].counters[counter]++;
  bool annotated = r->step_source == XP_STEPS_ANNOTATION;
  uint32_t step = annotated ? xp_steps_at(c->an, t->host, time, &c->step_hint) : XP_NONE;
  if (step != XP_NONE) {
    r->steps[step].counters[counter]++;
    return;
  }
  r->outside_steps_counters[counter]++;
  step = annotated ? xp_steps_before(c->an, t->host, time) : XP_NONE;
  if (step != XP_NONE) {
    r->steps[step].after[counter]++;
  }
}

static void count_execute(counting *c, uint32_t launch)
{
  const xp_launch *l = &c->an->links.launches[launch];
  uint32_t thread = xp_launch_asker(l);
  bool here = l->hop_count == 1 && l->entry != XP_NONE;
  uint32_t entry = here ? l->entry : xp_thread_innermost(&c->an->threads.threads[thread], l->asked_ps);
  count_at(c, XP_EXECUTES, thread, entry, l->asked_ps);
}

static bool is_upload(const xp_thread *t, uint32_t entry)
{
  return (t->flags[entry] & XP_ENTRY_LISTED) && t->cause[entry] == XP_CAUSE_UPLOAD;
}

/* An upload that another one handed to this thread.  Whether a pool thread or the caller itself does the second half
 * is chance. */
static bool was_handed_over(const counting *c, const xp_thread *t, uint32_t entry)
{
  int64_t from;
  const xp_producer *p = xp_links_asker(&c->an->links, t, xp_entry_start(t, entry), entry, &from);
  if (!p) {
    return false;
  }
  const xp_thread *giver = &c->an->threads.threads[p->thread];
  uint32_t e = xp_thread_innermost(giver, p->time_ps);
  while (e != XP_NONE && !is_upload(giver, e)) {
    e = giver->parent[e];
  }
  return e != XP_NONE;
}

static bool counts(const counting *c, int counter, const xp_thread *t, uint32_t entry, uint32_t name_flags)
{
  if (counter == XP_UPLOADS && !c->flags[counter]) {
    return is_upload(t, entry) && !was_handed_over(c, t, entry);
  }
  return (name_flags & c->flags[counter]) != 0;
}

static void count_thread(counting *c, const xp_thread *t)
{
  int64_t end[XP_COUNTER_COUNT];
  uint32_t wanted = 0;
  for (int k = 0; k < XP_COUNTER_COUNT; k++) {
    end[k] = INT64_MIN;
    wanted |= c->flags[k];
  }
  for (uint32_t e = 0; e < t->count; e++) {
    if (!(t->flags[e] & XP_ENTRY_LISTED)) {
      continue; /* all names that count have a class */
    }
    uint32_t name_flags = xp_entry_class(t, e).flags;
    if (!(name_flags & wanted) && !(c->flags[XP_UPLOADS] == 0 && is_upload(t, e))) {
      continue;
    }
    int64_t start = xp_entry_start(t, e);
    for (int k = 0; k < XP_COUNTER_COUNT; k++) {
      if (!counts(c, k, t, e, name_flags) || start < end[k]) {
        continue;
      }
      end[k] = xp_entry_end(t, e);
      if (k == XP_EXECUTES) {
        count_execute(c, xp_links_around(&c->an->links, t->index, e));
      } else {
        count_at(c, k, t->index, e, start);
      }
    }
  }
}

/* Executes where torch_xla's client does not occur: run ids that were launched, else execute calls. */
static void count_launches(counting *c)
{
  xp_analysis *an = c->an;
  bool any = false;
  xp_id_map seen;
  xp_id_map_init(&seen, an->arena);
  for (size_t i = 0; i < an->links.run_event_count; i++) {
    const xp_run_event *e = &an->links.run_events[i];
    uint32_t *known = e->entry == XP_NONE ? NULL : xp_id_map_entry(&seen, xp_link_key(e->host, e->run_id));
    if (!known || *known != XP_NONE) {
      continue;
    }
    *known = 1;
    uint32_t launch = xp_links_by_run_id(&an->links, e->host, e->run_id, e->ordinal);
    if (launch != XP_NONE) {
      count_execute(c, launch);
      any = true;
    }
  }
  xp_id_map_discard(&seen);
  for (size_t i = 0; !any && i < an->links.asked_count; i++) {
    count_execute(c, an->links.asked[i]);
  }
}

static void count_device_runs(xp_analysis *an, uint32_t device)
{
  const xp_device_data *d = &an->devices.devices[device];
  xp_device *out = &an->reading->devices[device];
  for (size_t r = 0; r < d->run_count; r++) {
    bool linked = d->runs[r].launch != XP_NONE;
    out->runs++;
    out->launches += linked;
    out->runs_without_launch += !linked;
  }
}

/* Runs of a host's devices by run id: one that several devices share counts once, and is linked if it is so on one. */
static void count_shared_runs(xp_analysis *an, uint32_t host)
{
  enum { UNLINKED = 0, LINKED = 1 };
  xp_counters *out = &an->reading->counters;
  xp_id_map seen;
  xp_id_map_init(&seen, an->arena);
  for (size_t i = 0; i < an->devices.count; i++) {
    const xp_device_data *d = &an->devices.devices[i];
    for (size_t r = 0; d->host == host && r < d->run_count; r++) {
      bool linked = d->runs[r].launch != XP_NONE;
      uint32_t *known = xp_id_map_entry(&seen, d->runs[r].run_id);
      out->executions += *known == XP_NONE;
      out->executions_without_launch += *known == XP_NONE && !linked;
      out->executions_without_launch -= *known == UNLINKED && linked;
      *known = *known == LINKED || linked ? LINKED : UNLINKED;
    }
  }
  xp_id_map_discard(&seen);
}

/* Runs of programs on a host, a replicated one once.  Without run ids the device with most runs tells their number. */
static void count_runs(xp_analysis *an, uint32_t host)
{
  xp_counters *out = &an->reading->counters;
  const xp_device *most = NULL;
  size_t devices = 0;
  bool ids = false;
  for (uint32_t i = 0; i < an->devices.count; i++) {
    const xp_device_data *d = &an->devices.devices[i];
    if (d->host == host && d->run_count) {
      count_device_runs(an, i);
      devices++;
      ids = ids || d->runs[0].has_run_id;
      most = !most || an->reading->devices[i].runs > most->runs ? &an->reading->devices[i] : most;
    }
  }
  if (devices > 1 && ids) {
    count_shared_runs(an, host);
  } else if (most) {
    out->executions += most->runs;
    out->executions_without_launch += most->runs_without_launch;
  }
}

static void count_links(xp_analysis *an)
{
  xp_counters *out = &an->reading->counters;
  for (uint32_t h = 0; h < an->capture->host_count; h++) {
    count_runs(an, h);
  }
  out->launches = out->totals[XP_EXECUTES];
  uint64_t linked = out->executions - out->executions_without_launch;
  out->launches_without_execution = out->launches > linked ? out->launches - linked : 0;
}

/* The step name with most time. */
static const xp_step_summary *main_steps(const xp_reading *r)
{
  const xp_step_summary *best = NULL;
  for (size_t i = 0; i < r->summary_count; i++) {
    const xp_step_summary *s = &r->summaries[i];
    bool more =
        !best || (double)s->duration_ps * (double)s->complete > (double)best->duration_ps * (double)best->complete;
    best = s->complete && more ? s : best;
  }
  return best;
}

/* Executes and reads of the main steps, those between one step and the next included: a loop often reads there. */
static void count_main_steps(xp_analysis *an, const xp_step_summary *main)
{
  xp_reading *r = an->reading;
  uint64_t executes = 0, reads = 0;
  size_t count = 0;
  const xp_step *last = NULL;
  for (size_t i = 0; i < r->step_count; i++) {
    const xp_step *s = &r->steps[i];
    if (!s->complete || !xp_str_eq(s->name, main->name)) {
      continue;
    }
    executes += s->counters[XP_EXECUTES] + s->after[XP_EXECUTES];
    reads += s->counters[XP_READS] + s->after[XP_READS];
    last = s;
    count++;
  }
  if (last && count > 1) { /* what follows the last step is no part of the loop */
    executes -= last->after[XP_EXECUTES];
    reads -= last->after[XP_READS];
  }
  r->counters.main_step = main->name;
  r->counters.programs_per_step = count ? (double)executes / (double)count : 0;
  r->counters.reads_per_step = count ? (double)reads / (double)count : 0;
}

void xp_counters_sum_steps(xp_analysis *an)
{
  xp_reading *r = an->reading;
  xp_counters *out = &r->counters;
  xp_intern seen;
  xp_intern_init(&seen, an->arena);
  for (size_t i = 0; i < r->step_count; i++) {
    const xp_step *s = &r->steps[i];
    size_t names = seen.count;
    bool first = xp_intern_add(&seen, s->name) == names;
    if (!first) {
      out->compiles_after_first += s->counters[XP_COMPILES];
      out->steps_after_first++;
    }
    for (int k = 0; s->complete && k < XP_COUNTER_COUNT; k++) {
      out->per_step_totals[k] += s->counters[k];
    }
    out->steps += s->complete;
  }
  const xp_step_summary *main = main_steps(r);
  if (main) {
    count_main_steps(an, main);
  }
}

void xp_counters_count(xp_analysis *an)
{
  counting c = {.an = an};
  uint32_t any = an->threads.any_flags;
  xp_intern_init(&c.scopes, an->arena);
  c.flags[XP_COMPILES] = any & XP_NAME_COMPILES ? XP_NAME_COMPILES : XP_NAME_CLIENT_COMPILES;
  c.flags[XP_EXECUTES] = any & XP_NAME_EXECUTES;
  c.flags[XP_READS] = any & XP_NAME_READS ? XP_NAME_READS : XP_NAME_LITERAL_READS;
  c.flags[XP_UPLOADS] = an->threads.torch ? XP_NAME_UPLOADS : 0;
  c.flags[XP_SYNCS] = XP_NAME_SYNC;
  for (size_t i = 0; i < an->threads.count; i++) {
    count_thread(&c, &an->threads.threads[i]);
  }
  if (!c.flags[XP_EXECUTES]) {
    count_launches(&c);
  }
  count_links(an);
}
