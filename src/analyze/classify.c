/* What context says of a host event: which calls and annotations of the user are tracing.
 *
 * The lists of event_classes.c know names; this pass knows neighbours.  A PjitFunction that holds lowering events
 * traces, otherwise it dispatches.  A scope of the user is tracing when it names an instruction that ran (a lazy
 * program runs nothing while it traces), or while gradients are built on an autograd thread.
 */
#include "analyze/internal.h"
#include "analyze/op_names.h"

typedef struct {
  xp_analysis *an;
  xp_intern ran;          /* scopes and components of scopes of instructions that ran */
  xp_map programs;        /* hash(host, program) that ran */
  xp_map backward;        /* of these, those with *_backward instructions without a scope */
  uint8_t *backward_step; /* by step */
} state;

static uint64_t program_key(uint32_t host, uint64_t program)
{
  return (program + 1) * 0x9e3779b97f4a7c15u ^ host;
}

static void add_scope(state *s, xp_str scope)
{
  if (scope.len == 0) {
    return;
  }
  xp_intern_add(&s->ran, scope);
  while (scope.len) {
    size_t n = xp_str_find(scope, '/', 0);
    if (n) {
      xp_intern_add(&s->ran, xp_str_take(scope, n));
    }
    scope = xp_str_skip(scope, n + 1);
  }
}

/* What ran is what has a descriptor; a fusion ran all that is fused into it. */
static void collect_ran(state *s)
{
  xp_analysis *an = s->an;
  for (size_t i = 0; i < an->devices.count; i++) {
    const xp_device_data *d = &an->devices.devices[i];
    for (size_t l = 0; l < d->lane_count; l++) {
      uint32_t last = XP_NONE;
      for (size_t e = 0; e < d->lanes[l].count; e++) {
        uint32_t o = d->lanes[l].op[e];
        const xp_op *op = &an->devices.ops[o];
        if (o == last || op->leaf_input || op->role != XP_ROLE_WORK) {
          continue;
        }
        last = o;
        add_scope(s, op->folded);
        an->names_on = an->names_on || op->scoped;
        if (op->has_program) {
          xp_map_put(&s->programs, program_key(d->host, op->program), 1);
        }
        if (op->has_program && !op->scoped && xp_str_ends(op->base, "_backward")) {
          xp_map_put(&s->backward, program_key(d->host, op->program), 1);
        }
      }
    }
  }
}

static void collect_fused(state *s)
{
  xp_analysis *an = s->an;
  for (uint32_t h = 0; an->devices.lazy && h < an->capture->host_count; h++) {
    for (size_t p = 0; p < xp_hlo_program_count(an->devices.hlo[h]); p++) {
      const xp_hlo_program *program = xp_hlo_program_at(an->devices.hlo[h], p);
      bool ran = xp_map_get(&s->programs, program_key(h, program->program_id)) != XP_NONE;
      for (size_t i = 0; ran && i < program->count; i++) {
        const xp_hlo_op *x = &program->instructions[i];
        for (size_t f = 0; f < x->fused_count && xp_str_is(x->opcode, "fusion"); f++) {
          add_scope(s, xp_op_scope_of(x->fused_names[f], true, false, an->arena).scope);
        }
      }
    }
  }
}

/* Steps whose programs ran such instructions. */
static void collect_backward_steps(state *s)
{
  const xp_analysis *an = s->an;
  s->backward_step = xp_arena_array(an->arena, an->reading->step_count, 1);
  for (size_t i = 0; s->backward.count && i < an->devices.count; i++) {
    const xp_device_data *d = &an->devices.devices[i];
    for (size_t r = 0; r < d->run_count; r++) {
      const xp_device_run *run = &d->runs[r];
      const xp_module *module = &an->devices.modules[run->module];
      if (run->step != XP_NONE && module->has_program &&
          xp_map_get(&s->backward, program_key(d->host, module->program)) != XP_NONE) {
        s->backward_step[run->step] = 1;
      }
    }
  }
}

/* Some gradient is built on an autograd thread of the host meanwhile. */
static bool overlaps_autograd(const xp_analysis *an, uint32_t host, int64_t start_ps, int64_t end_ps)
{
  for (size_t i = 0; i < an->threads.autograd_thread_count; i++) {
    const xp_thread *t = &an->threads.threads[an->threads.autograd_threads[i]];
    if (t->host != host) {
      continue;
    }
    uint32_t next = xp_thread_first_from(t, start_ps);
    if ((next < t->count && xp_entry_start(t, next) < end_ps) || xp_thread_innermost(t, start_ps) != XP_NONE) {
      return true;
    }
  }
  return false;
}

static bool names_instruction(const state *s, xp_str name)
{
  char text[256];
  if (xp_str_find(name, ':', 0) < name.len && name.len < sizeof text) {
    for (size_t i = 0; i < name.len; i++) {
      text[i] = name.ptr[i] == ':' ? '_' : name.ptr[i];
    }
    name = xp_str_from(text, name.len);
  }
  return xp_intern_find(&s->ran, name) != XP_NONE;
}

/* The step that a scope lies in. */
static uint32_t step_of(const state *s, const xp_thread *t, uint32_t entry)
{
  uint32_t p = t->parent[entry];
  while (p != XP_NONE && !(t->flags[p] & XP_ENTRY_STEP)) {
    p = t->parent[p];
  }
  return p != XP_NONE ? xp_steps_at(s->an, t->host, xp_entry_start(t, entry), NULL) : XP_NONE;
}

static bool scope_traces(const state *s, const xp_thread *t, uint32_t entry)
{
  const xp_analysis *an = s->an;
  if (!xp_classes_need_work(an)) {
    return false;
  }
  if (names_instruction(s, xp_entry_name(t, entry)) ||
      overlaps_autograd(an, t->host, xp_entry_start(t, entry), xp_entry_end(t, entry))) {
    return true;
  }
  uint32_t step = an->names_on && s->backward.count ? step_of(s, t, entry) : XP_NONE;
  return step != XP_NONE && s->backward_step[step];
}

static void classify_entry(const state *s, xp_thread *t, uint32_t entry)
{
  uint8_t flags = t->flags[entry];
  if ((flags & XP_ENTRY_PJIT) && !(flags & XP_ENTRY_STEP)) {
    uint32_t p = xp_thread_outer(t, entry, xp_entry_start(t, entry));
    bool inside_tracing = p != XP_NONE && t->cause[p] == XP_CAUSE_TRACING;
    bool traces = (flags & XP_ENTRY_LOWERS) || inside_tracing;
    t->cause[entry] = traces ? XP_CAUSE_TRACING : XP_CAUSE_DISPATCH;
  } else if ((flags & XP_ENTRY_SCOPE) && t->cause[entry] == XP_CAUSE_HOST && scope_traces(s, t, entry)) {
    t->cause[entry] = XP_CAUSE_TRACING;
  }
}

bool xp_classes_need_work(const xp_analysis *an)
{
  /* elsewhere a program is compiled once: a scope of its name is no tracing */
  return an->devices.lazy || an->threads.torch;
}

void xp_classify(xp_analysis *an)
{
  state s = {.an = an};
  xp_intern_init(&s.ran, an->arena);
  xp_map_init(&s.programs, an->arena);
  xp_map_init(&s.backward, an->arena);
  if (xp_classes_need_work(an)) {
    collect_ran(&s);
    collect_fused(&s);
    collect_backward_steps(&s);
  }
  for (size_t i = 0; i < an->threads.count; i++) {
    for (uint32_t e = 0; e < an->threads.threads[i].count; e++) { /* parents come before their children */
      classify_entry(&s, &an->threads.threads[i], e);
    }
  }
}
