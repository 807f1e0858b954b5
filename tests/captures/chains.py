"""Why a device waited, recomputed: the parts, the cause and the trigger of a gap.

Plain and slow.  A run of a program is linked with its launch call by run id, by the correlation ids of its
kernels, or else as the k-th call of the k-th run; a copy with its memcpy call by correlation id.  From the call
the chain goes back through the thread pools to the thread that asked.
"""
import re

import oracle
from oracle import host_events, class_of, INPUT_SCOPE, LEAD, LOWERING, ORDER, SHORT_WAIT

CALLS = re.compile(r"(PjRt|Ifrt)ComputationClient::Execute(Computation|Replicated)")


class Chains:
    def __init__(self, capture, device):
        self.capture, self.d, self.h = capture, device, device.host
        self.runs = oracle.runs(device)
        self.calls = sorted(oracle.outermost(self.h, CALLS) or oracle.outermost(self.h, oracle.JAX_EXECUTE),
                            key=lambda c: c[0])
        self._link()
        self.named = {c for d in capture.devices for w in d.work if w.scope for c in w.scope.split("/")}
        self.backward = bool(self.named) and any(
            not w.scope and self.h.op_name(w.event.stats).split("/")[-1].endswith("_backward") for w in device.work)
        self.autograd = [(e.start, e.end) for t in self.h.threads if t.name.startswith("pt_autograd_")
                         for e in host_events(self.h, t)]
        self.steps = capture.annotations()
        self.profiler = [e for t in self.h.threads for e in t.timed
                         if re.fullmatch(r"\$profiler\.py:\d+ (start|stop)_trace", e.name)]
        self.classes, self.scopes = {}, {}
        self.scope_names = {e.name for t in self.h.threads for e in host_events(self.h, t)
                            if e.stats.get("_r") or self.is_scope(t, e)}
        self.gap, self.around = (0, 0), {}

    def _link(self):
        """The launch call of every run, the first rule that applies."""
        ordinal = int(self.d.name.rsplit(":", 1)[1])
        launches = {}
        for t in self.h.threads:
            for e in host_events(self.h, t):
                here = e.stats.get("device_ordinal", ordinal) == ordinal
                if "run_id" in e.stats and here and class_of(e.name) != "wait":
                    exact = "device_ordinal" in e.stats
                    found = launches.get(e.stats["run_id"])
                    if found is None or (exact, -e.start) > found[:2]:
                        launches[e.stats["run_id"]] = (exact, -e.start, e, t)
        for run in self.runs:
            if run.call is None and run.key in launches:
                run.call = self.outer(*launches[run.key][2:])
        if not any(r.call for r in self.runs) and len(self.calls) == len(self.runs):
            for run, (_, thread, event) in zip(self.runs, self.calls):
                run.call = self.outer(event, thread)
        self.linked = all(r.call for r in self.runs)

    # -- links

    def outer(self, event, thread):
        """(outermost execute event around an event, its thread): the launch call."""
        around = [o for o in host_events(self.h, thread) if o.start <= event.start and o.end >= event.end
                  and class_of(o.name) == "dispatch"]
        return around[0] if around else event, thread

    def next_run(self, gap_end):
        """The run of the work that ends the gap."""
        return next((r for r in self.runs if r.start <= gap_end < max(r.end, r.start + 1)), None)

    def next_launch(self, gap_end):
        """What ends the gap, a run or a copy, with its call; None if it has none."""
        if self.d.kind == "GPU":
            work = [w for w in self.d.work + self.d.copies if w.start == gap_end]
            if work and not any(w in r.work for w in work for r in self.runs):
                return next(filter(None, map(self.lone, work)), None)
        run = self.next_run(gap_end)
        return run if run is not None and run.call else None

    def lone(self, work):
        """A copy, or a kernel of no run, as a run: launched by the call with its correlation id, which belongs
        with a task of a pool."""
        ident = work.event.stats.get("correlation_id")
        for row in self.h.threads:
            for call in row.timed:
                if call.stats.get("correlation_id") == ident and call.dur > 0:
                    run = oracle.Run(work.start, work.end, None, None)
                    run.call = (call, oracle.rows_of_copies(self.h).get(id(row), row))
                    return run
        return None

    def segments(self, run):
        """[(from, thread)]: which thread held the chain, the one that asked first."""
        event, thread = run.call
        out, at = [], event.start
        for _ in range(8):
            hop = self.pool_hop(thread, at) or (self.run_hop(thread, event) if thread is run.call[1] else None)
            if hop is None:
                break
            out.append((hop[0], thread))
            at, thread = hop[1:]
        out.append((None, thread))
        return out[::-1]

    def asked(self, run):
        """(when, by which thread) a run was asked for."""
        event, thread = run.call
        at, call = event.start, True
        for _ in range(8):
            hop = self.pool_hop(thread, at) or (self.run_hop(thread, event) if call else None)
            if hop is None:
                break
            (at, thread), call = hop[1:], False
        return at, thread

    def asked_for(self, event, thread):
        """The same for an execute event."""
        run = oracle.Run(event.start, event.end, None, None)
        run.call = self.outer(event, thread)
        return self.asked(run)

    def step_of(self, run):
        """(name, number, start) of the step that launched a run, None for none."""
        if run is None or run.call is None:
            return None
        at, thread = self.asked(run)
        open_then = [(e.line is not thread, -e.start, name, num) for h, name, num, e in self.steps
                     if h is self.h and e.start <= at < e.end]
        return (*min(open_then)[2:], -min(open_then)[1]) if open_then else None

    def step_busy(self):
        """{step: time in which the device did work that this step launched}."""
        spans = {}
        for run in self.runs:
            work = run.work or [w for w in self.d.work if run.start <= w.start < run.end
                                and run.key in (None, w.event.stats.get("run_id"))]
            spans.setdefault(self.step_of(run), []).extend((w.start, w.end) for w in work)
        return {step: oracle.length(s) for step, s in spans.items()}

    def pool_hop(self, thread, at):
        """(start of the pool task that runs at `at`, when it was handed over, by which thread)."""
        regions = [e for e in thread.timed if e.name == "ThreadpoolListener::StartRegion" and e.start <= at]
        if not regions:
            return None
        region = max(regions, key=lambda e: e.start)
        return next(((region.start, e.start, t) for t in self.h.threads if t is not thread for e in t.timed
                     if e.name == "ThreadpoolListener::Record" and e.stats.get("_p") == region.stats.get("_c")), None)

    def run_hop(self, thread, call):
        """The same for a launch call that took up a run (_ct, _c) which another thread began (_pt, _p)."""
        for o in host_events(self.h, thread):
            if o.start >= call.start and o.end <= call.end and o.stats.get("_ct") not in (None, 0, 15):
                found = self.producer(o, thread)
                if found:
                    return call.start, *found
        return None

    def producer(self, consumer, thread):
        """(when, thread) of the event with the ids of a consumer."""
        ident = consumer.stats["_ct"], consumer.stats["_c"]
        return next(((e.start, t) for t in self.h.threads if t is not thread for e in t.timed
                     if (e.stats.get("_pt"), e.stats.get("_p")) == ident and e.start <= consumer.start), None)

    # -- classes

    def classify(self, thread, e):
        key = id(e)
        if key not in self.classes:
            self.classes[key] = self._classify(thread, e)
        return self.classes[key]

    def _classify(self, thread, e):
        if e.stats.get("_r"):
            return "host"
        found = class_of(e.name)
        if found or e.name.startswith("$"):
            return found or "host"
        if e.name.startswith("PjitFunction("):
            return "tracing" if self.lowers(thread, e) or any(
                o.name.startswith("PjitFunction(") and o.start <= e.start and o.end >= e.end and self.lowers(thread, o)
                for o in host_events(self.h, thread)) else "dispatch"
        around = [o for o in host_events(self.h, thread) if o.start <= e.start and o.end >= e.end and o is not e]
        if not self.is_scope(thread, e):
            return "host"
        if INPUT_SCOPE.fullmatch(e.name):
            return "input"
        if e.name.replace(":", "_") in self.named or any(x < e.end and y > e.start for x, y in self.autograd):
            return "tracing"
        if self.backward and any(o.stats.get("_r") for o in around):
            return "tracing"
        return "host"

    def lowers(self, thread, e):
        """Whether a PjitFunction holds an event that traces or lowers."""
        return any(LOWERING.fullmatch(o.name) and o.start >= e.start and o.end <= e.end
                   for o in host_events(self.h, thread))

    def is_scope(self, thread, e):
        """Whether an event is a user scope (those called data, load, input, ... are, too)."""
        if id(e) not in self.scopes:
            self.scopes[id(e)] = self._is_scope(thread, e)
        return self.scopes[id(e)]

    def _is_scope(self, thread, e):
        if (e.stats.get("_r") or class_of(e.name) or "::" in e.name or "/" in thread.name
                or e.name.startswith(("$", "PjitFunction("))):
            return False
        return not any(class_of(o.name) in ("dispatch", "compile", "upload") or o.name.startswith("PjitFunction(")
                       for o in host_events(self.h, thread)
                       if o is not e and o.start <= e.start and o.end >= e.end)

    def scope_at(self, thread, x, y):
        """The innermost user scope, else the step, that is open on a thread."""
        cover = self.covering(thread, x, y)
        for e in reversed(cover):
            if self.is_scope(thread, e):
                return e.name
        return next((e.name for e in reversed(cover) if e.stats.get("_r")), None)

    def says(self, thread, x, y):
        """(class, scope) of a thread over [x, y), or None without an event."""
        cover = self.covering(thread, x, y)
        if not cover:
            return None
        scope = self.scope_at(thread, x, y)
        for e in reversed(cover):
            cause = self.classify(thread, e)
            if cause != "host":
                return cause, scope
        plain = [e for e in cover if not e.name.startswith("$")] or cover
        return "host", scope or plain[-1].name

    def covering(self, thread, x, y):
        """Events of a thread around [x, y) within the gap in hand, outermost first."""
        events = self.near(thread) if self.gap[0] <= x and y <= self.gap[1] else host_events(self.h, thread)
        return [e for e in events if e.start <= x and e.end >= y]

    def near(self, thread):
        """Events of a thread that overlap the gap in hand."""
        key = id(thread)
        if key not in self.around:
            self.around[key] = [e for e in host_events(self.h, thread)
                                if e.start < self.gap[1] and e.end > self.gap[0]]
        return self.around[key]

    # -- gaps

    def parts(self, a, b):
        """{(class, scope): ps}; the scope of class host is the event where no scope and no step is open."""
        run = self.next_launch(b)
        return self._parts(a, b, self.segments(run) if run else [], run.call[0].end if run else None)

    def tail(self, a, b):
        """The same for the time after the last work, read off the thread of the last launch."""
        calls = [(r.call[0].start, n) for n, r in enumerate(self.runs) if r.call]
        if not calls:
            return {("unknown", None): b - a}
        run = self.runs[max(calls)[1]]
        return self._parts(a, b, [(None, self.asked(run)[1])], b)

    def _parts(self, a, b, segments, launched):
        self.gap, self.around = (a, b), {}
        threads = [t for _, t in segments]
        cuts = {a, b, a if launched is None else launched} | {s for s, _ in segments if s is not None}
        for r in self.runs:
            cuts |= {r.start, r.end}
            if r.call:
                cuts.add(r.call[0].end)
        for t in self.h.threads:
            if t in threads or any(e.stats.get("_r") for e in self.near(t)):
                cuts |= {x for e in self.near(t) for x in (e.start, e.end)}
        cuts |= {x for w in [w.event for w in self.d.idle] + self.profiler for x in (w.start, w.end)}
        cuts = sorted(c for c in cuts if a <= c <= b)
        out = {}
        for x, y in zip(cuts, cuts[1:]):
            key = self._instant(x, y, segments, launched)
            out[key] = out.get(key, 0) + y - x
        return out

    def _instant(self, x, y, segments, launched):
        if any(e.start <= x and e.end >= y for e in self.profiler):
            return "profiler", None
        for w in self.d.idle:
            if w.start <= x and w.end >= y:
                return ("input" if "infeed" in w.key else "host"), None
        if any(r.start <= x and y <= r.end and (r.call is None or x >= r.call[0].end) for r in self.runs):
            return "in_program", None
        if not segments:
            return "unknown", None
        thread = [t for s, t in segments if s is None or s <= x][-1]
        if x >= launched:
            held = [self.classify(thread, e) for e in self.covering(thread, x, y)]
            cause = next((c for c in reversed(held) if c in ("value_request", "wait")), "launch")
            return cause, self.scope_at(thread, x, y)
        found = self.says(thread, x, y)
        if not found:
            held = [t for _, t in segments]
            other = next((t for t in self.h.threads if t not in held and
                          any(e.stats.get("_r") for e in self.covering(t, x, y))), None)
            found = self.says(other, x, y) if other else None
        return found or ("unknown", None)

    def triggers(self, a, b):
        """(trigger, scopes in which the reads or waits began)."""
        run = self.next_launch(b)
        if run is None:
            return "none", set()
        threads = [t for _, t in self.segments(run)]
        launched = min(b, run.call[0].end)
        lead = max(LEAD, (b - a) // 10)
        events = [(t, e) for t in threads for e in host_events(self.h, t)]
        calls = [e for _, e in events if class_of(e.name) == "dispatch" and not e.stats.get("_r")]

        def late(cause, least):
            return {self.scope_at(t, e.start, e.start) for t, e in events
                    if class_of(e.name) == cause and not e.stats.get("_r") and e.dur >= least
                    and e.start < launched and e.end >= a - lead
                    and not (cause == "wait" and any(c.start <= e.start and c.end >= e.end for c in calls))}
        found = late("value_request", 0)
        if found:
            return "value_request", found
        found = late("wait", SHORT_WAIT)
        if found:
            return "wait", found
        if any(class_of(e.name) == "compile" and e.start < b and e.end > a for _, e in events):
            return "compile", set()
        return "none", set()


def cause_of(parts):
    """Class with the largest sum, ties in the order of the table; from {class: ps}."""
    top = max(parts.values())
    return next(c for c in ORDER if parts.get(c) == top)


def by_class(parts):
    out = {}
    for (cause, _), ps in parts.items():
        out[cause] = out.get(cause, 0) + ps
    return out
