#!/usr/bin/env python3
"""Recompute the answers of an expect.json from the capture itself.

An independent, slow and plain evaluation of the definitions at the head of make_scenarios.py, used to
keep the hand-written expectations honest.  check(data, expect) returns a
list of complaints.

Where the definitions leave room, the capture is evaluated under every reading in READINGS and the
answers have to agree: no scenario may hinge on one of them.
"""
import re
from fractions import Fraction

import xspace

US = 1_000_000
READ_LEAD = 50 * US          # a read or wait may end this long before the gap it triggers
SHORT_WAIT = 50 * US         # waits below are no trigger
ORDER = ["in_program", "compile", "value_request", "wait", "upload", "tracing", "input", "dispatch",
         "host", "launch", "unknown"]

# Class of an event by its whole name, the first that matches.  Scopes: see Capture.classify.
PATTERNS = [(cause, re.compile(pattern)) for cause, pattern in [
    ("compile", r"PjRtComputationClient::Compile|XLAGraphExecutor::Compile|PjRt\w*Client::Compile\w*|"
                r"backend_compile\w*"),
    ("value_request", r"PjRtComputationClient::TransferFromDevice|.+::ToLiteral\w*|.*D2H.*|np\.asarray\(jax\.Array\)"),
    ("wait", r"Wait for .*|TensorCollectionBarrier|DeviceBarrier|.+::Await\w*|.*block_until_ready.*|"
             r"ThunkExecutor::Execute \(wait for completion\)"),
    ("upload", r".+::TransferToDevice\w*|.*H2D.*|.*BufferFromHost\w*|DevicePut.*|batched_copy_array_to_devices.*"),
    ("tracing", r"StepMarker|SyncLiveTensorsGraph|SyncTensorsGraph\w*|RunPostOrder|CollectSyncTensors|"
                r"ExtractIRAndPrepareXlaData_|SetTensorData|ScheduleSyncTensorsGraph|trace_to_jaxpr\w*|lower_\w*"),
    ("input", r"cpu_loader\.next|get_batch_from_cpu_queue|cpu_data_to_xla_device|Iterator::.*|"
              r"data|load|loader|dataloader|input"),
    ("dispatch", r"PjRt.*Execute.*|.*LoadedExecutable::Execute.*|ExecuteComputation|ExecuteReplicated"),
]]
LOWERING = re.compile(r"trace_to_jaxpr\w*|lower_\w*")
IDLE_OP = re.compile(r"%?(infeed|outfeed|send|recv)(-done)?([.\d -].*)?")
ALLOCATION = re.compile(r"(?i)mem(ory)? ?(alloc|free)")
COLLECTIVES = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute"}
COUNTED = [("compiles", r"PjRtComputationClient::Compile|backend_compile\w*"),
           ("executes", r"PjRtComputationClient::Execute(Computation|Replicated)"),
           ("reads", r"PjRtComputationClient::TransferFromDevice|np\.asarray\(jax\.Array\)"),
           ("uploads", r"PjRtComputationClient::TransferToDevice"),
           ("syncs", r"StepMarker")]

# What wins where an event covers the instant and the launch call has returned.
READINGS = ["event", "launch"]


def union(intervals):
    out = []
    for a, b in sorted(intervals):
        if out and a <= out[-1][1]:
            out[-1][1] = max(out[-1][1], b)
        elif b > a:
            out.append([a, b])
    return out


def length(intervals):
    return sum(b - a for a, b in union(intervals))


def minus(intervals, others):
    return length(list(intervals) + list(others)) - length(others)


def cut_out(intervals, holes):
    """The parts of `intervals` outside of `holes`."""
    out = []
    for a, b in union(intervals):
        for x, y in union(holes):
            if y <= a or x >= b:
                continue
            if x > a:
                out.append((a, x))
            a = max(a, y)
        if a < b:
            out.append((a, b))
    return out


def component(text, lazy):
    """One component of an op name as it is shown; None if it is dropped."""
    if re.fullmatch(r"p?jit\(.*\)", text):
        return None
    inner = re.fullmatch(r"transpose\(jvp\((.*)\)\)|jvp\((.*)\)", text)
    if inner:
        text = inner.group(1) if inner.group(1) is not None else inner.group(2)
    return re.sub(r"\.\d+$", "", text) if lazy else text


def scope_of(op_name, lazy):
    """fwd.2/attn.1/aten__mm -> fwd/attn (lazy: .N is folded); jit(step)/layer/add -> layer."""
    scopes = []
    for name in op_name.split(";"):
        shown = [component(c, lazy) for c in re.sub(r":[^:/]*$", "", name).split("/")[:-1]]
        scopes.append("/".join(c for c in shown if c))
    assert len(set(scopes)) == 1, "a fusion over several scopes: no right answer"
    return scopes[0]


class Work:
    """One device event."""

    def __init__(self, event, start, key, run_id, scope, line, category=None, end=None):
        self.event, self.start, self.end = event, start, start + event.dur_ps if end is None else end
        self.key, self.run_id, self.scope, self.line, self.category = key, run_id, scope, line, category
        self.self_ps = event.dur_ps
        self.names_op = line.name == "XLA Ops" or "hlo_op" in event.stats


class Device:
    def __init__(self, name):
        self.name, self.work, self.copies, self.modules, self.idle, self.untimed = name, [], [], [], [], 0

    def spans(self):
        return cut_out([(w.start, w.end) for w in self.work], [(w.start, w.end) for w in self.idle])

    def copy_spans(self):
        return [(w.start, w.end) for w in self.copies]

    def window(self):
        spans = self.spans() + self.copy_spans()
        return [min(a for a, _ in spans), max(b for _, b in spans)] if spans else None

    def gaps(self):
        covered = union(self.spans() + self.copy_spans())
        return [(a[1], b[0]) for a, b in zip(covered, covered[1:])]


class Capture:
    def __init__(self, data, partial=False, shift=0, keep=None, origin=None):
        self.space = xspace.decode(data, partial)
        env = next((p.stats for p in self.space.planes if p.name == "Task Environment"), {})
        self.t0 = env.get("profile_start_time", 0)
        self.offset = (self.t0 - origin) * 1000 if origin else 0     # session start of several hosts: the earliest
        self.stop = (env["profile_stop_time"] - self.t0) * 1000 + self.offset if env else None
        self.shift, self.keep = shift, keep
        self.hlo, modules = {}, set()
        for p in self.space.planes:
            if p.name == "/host:metadata":
                for m in p.event_metadata.values():
                    if "Hlo Proto" in m.stats:
                        name, pid, ops = xspace.decode_hlo(m.stats["Hlo Proto"])
                        self.hlo[m.stats.get("program_id", m.id)] = ops
                        modules.add(name)
            for line in p.lines if p.name.startswith("/device:") else ():
                modules |= {e.name for e in line.events if line.name == "XLA Modules"}
                modules |= {e.stats["hlo_module"] for e in line.events if "hlo_module" in e.stats}
        self.lazy = any(m.startswith("SyncTensorsGraph") for m in modules)
        self.threads = [l for p in self.space.planes if p.name == "/host:CPU" for l in p.lines]
        self.cache = {}
        self.devices = list(self._devices().values())
        self.ran = {w.scope for d in self.devices for w in d.work if w.scope}
        self.ran |= {c for scope in self.ran for c in scope.split("/")}
        self.autograd = [(a, b) for t in self.threads if t.name.startswith("pt_autograd_")
                         for a, b, _ in self.host_events(t)]

    # -- devices

    def _start(self, line, e):
        start = e.start_ps - self.t0 * 1000 if self.t0 and line.timestamp_ns >= self.t0 else e.start_ps
        return start + self.offset

    def _scope(self, e):
        stats = {**e.meta_stats, **e.stats}
        name = stats.get("tf_op", "")
        if name in ("", "XlaModule:"):
            name = self.hlo.get(stats.get("program_id"), {}).get(stats.get("hlo_op"), "")
        return scope_of(name, self.lazy)

    def _devices(self):
        devices, on_device = {}, set()
        copy_calls = {e.stats["correlation_id"] for t in self.threads for e in t.events
                      if "correlation_id" in e.stats and re.search("(?i)memcpy", e.name)}
        for p in self.space.planes:
            tpu, gpu = p.name.startswith("/device:TPU:"), p.name.startswith("/device:GPU:")
            if tpu or gpu:
                d = devices.setdefault(p.name, Device(p.name))
                for line in p.lines:
                    for e in line.events:
                        stats = {**e.meta_stats, **e.stats}
                        on_device |= {(k, str(stats[k])) for k in ("program_id", "hlo_module") if k in stats}
                        self._device_event(d, line, e, stats, tpu, copy_calls)
        self._cpu_devices(devices, on_device)
        for d in devices.values():
            if not d.work and d.modules:
                d.work = d.modules
            for w in d.work + d.idle:
                if w.run_id is None:
                    w.run_id = next((m.run_id for m in d.modules if m.start <= w.start < m.end), None)
            self._self_times(d)
        return devices

    def _cpu_devices(self, devices, on_device):
        """XLA CPU: ops on host lines, but not those of programs that run on a device plane (launches)."""
        ends = {}
        for line in self.threads:
            for e in line.events:
                if e.name.startswith("end: "):
                    ends.setdefault((e.name[5:], e.stats.get("_c")), []).append(self._start(line, e))
        for line in self.threads:
            for e in line.events:
                stats = e.stats
                key = "program_id" if "program_id" in stats else "hlo_module"
                if "hlo_op" not in stats or e.name.startswith("end: ") or (key, str(stats.get(key))) in on_device:
                    continue
                name = "CPU:%d" % stats.get("device_ordinal", 0)
                start = self._start(line, e)
                marks = [t for t in ends.get((e.name, stats.get("_p")), []) if t >= start]
                end = max([start + e.dur_ps] + marks[:1])
                d = devices.setdefault(name, Device(name))
                d.work.append(Work(e, start, stats["hlo_op"], stats.get("run_id"), self._scope(e), line, end=end))

    def _device_event(self, d, line, e, stats, tpu, copy_calls):
        start = self._start(line, e) + self.shift
        if self.keep and not self.keep(start, e):
            return
        if e.start_ps == 0 and e.dur_ps == 0:
            d.untimed += 1
            return
        if tpu:
            if line.name == "XLA Modules":
                d.modules.append(Work(e, start, e.name, stats.get("run_id"), "", line))
            elif line.name == "XLA Ops":
                name = e.display or e.name
                target = d.idle if IDLE_OP.fullmatch(name) else d.work
                target.append(Work(e, start, name, None, self._scope(e), line, stats.get("hlo_category")))
        elif line.name.startswith("Stream") and not ALLOCATION.match(e.name):
            copy = ("memcpy_details" in stats or re.match("(?i)memcpy", e.name)
                    or stats.get("correlation_id") in copy_calls)
            target = d.copies if copy else d.work
            key = stats.get("hlo_op", e.name)
            target.append(Work(e, start, key, stats.get("correlation_id"), self._scope(e), line))

    def _self_times(self, d):
        by_line = {}
        for w in d.work + d.idle:
            by_line.setdefault(id(w.line), []).append(w)
        for work in by_line.values():
            stack = []
            for w in sorted(work, key=lambda w: (w.start, -w.event.dur_ps)):
                while stack and stack[-1].start + stack[-1].event.dur_ps <= w.start:
                    stack.pop()
                if stack and w.start + w.event.dur_ps <= stack[-1].start + stack[-1].event.dur_ps:
                    stack[-1].self_ps -= w.event.dur_ps
                stack.append(w)

    def collectives(self, d):
        """(time in collectives, time from the own start of a collective to the start of its last participant)."""
        def occurrences(dev):
            out, seen = {}, {}
            for w in sorted(dev.work, key=lambda w: w.start):
                if w.category in COLLECTIVES:
                    n = seen[w.key, w.run_id] = seen.get((w.key, w.run_id), 0) + 1
                    out[w.key, w.run_id, n] = w
            return out
        every = [occurrences(x) for x in self.devices]
        total = wait = 0
        for key, w in occurrences(d).items():
            total += w.event.dur_ps
            wait += max(o[key].start for o in every if key in o) - w.start
        return total, wait

    def runs(self, d):
        """[(start, end, run id)]: the runs of programs on a device, in order."""
        if d.modules:
            return sorted((m.start, m.end, m.run_id) for m in d.modules)
        groups = {}
        for w in d.work:
            key = w.run_id
            if d.name.startswith("/device:GPU:"):
                key = self._execute_of(w.run_id)
            if key is not None:
                groups.setdefault(key, []).append(w)
        return sorted((min(w.start for w in g), max(w.end for w in g), k) for k, g in groups.items())

    def _execute_of(self, correlation):
        """Start of the host execute event that contains the call with this correlation id."""
        for t in self.threads:
            for a, b, e in self.host_events(t):
                if e.stats.get("correlation_id") == correlation:
                    return next((x for u in self.threads for x, y, o in self.host_events(u)
                                 if x <= a and y >= b and self.listed(o) == "dispatch"), None)
        return None

    # -- gaps

    def host_events(self, thread):
        if id(thread) not in self.cache:
            self.cache[id(thread)] = [
                (self._start(thread, e), self._start(thread, e) + e.dur_ps, e) for e in thread.events
                if not ("hlo_op" in e.stats and "correlation_id" not in e.stats) and not e.name.startswith("end: ")
                and e.dur_ps > 0]
        return self.cache[id(thread)]

    def listed(self, e):
        """Class of an event by the lists alone, or None."""
        if e.stats.get("_r") or e.name.startswith("$"):
            return None
        return next((cause for cause, pattern in PATTERNS if pattern.fullmatch(e.name)), None)

    def classify(self, thread, a, b, e):
        found = self.listed(e)
        if found or e.stats.get("_r") or e.name.startswith("$"):
            return found or "host"
        if e.name.startswith("PjitFunction("):
            inside = any(x >= a and y <= b and LOWERING.fullmatch(o.name) for x, y, o in self.host_events(thread))
            return "tracing" if inside else "dispatch"
        if e.name.replace(":", "_") in self.ran or any(x < b and y > a for x, y in self.autograd):
            return "tracing"
        return "host"

    def launch_call(self, d, run_id):
        """(thread, start, end) of the host event that launched a run on this device."""
        ordinal = int(re.sub(r".*:", "", d.name))
        for t in self.threads:
            for a, b, e in self.host_events(t):
                ids = (e.stats.get("run_id"), e.stats.get("correlation_id"))
                here = e.stats.get("device_ordinal", e.stats.get("device_id", ordinal)) == ordinal
                if run_id is not None and run_id in ids and here:
                    return t, a, self._outer(a, b)
        return None

    def launcher(self, d, gap_end):
        """(thread, end of the launch call) of the work that ends a gap; (None, None) if nothing is known."""
        following = [w for w in d.work + d.copies + d.idle if w.start <= gap_end < w.end]
        following.sort(key=lambda w: -w.start)
        for w in following:
            call = self.launch_call(d, w.run_id)
            if call:
                t = call[0]
                if t.name.startswith("Host Threads/"):      # belongs with the row whose execute contains its calls
                    t = next((u for u in self.threads for x, y, o in self.host_events(u)
                              if u is not t and x <= call[1] and y >= call[1] and self.listed(o) == "dispatch"), t)
                return t, call[2]
        calls = sorted((a, b, t.name, t) for t in self.threads for a, b, e in self.host_events(t)
                       if self.listed(e) == "dispatch" and self._outer(a, b) == b)
        runs = self.runs(d)
        k = next((k for k, (x, y, _) in enumerate(runs) if x <= gap_end < y), None)
        if k is None or k >= len(calls) or len(calls) != len(runs):
            return None, None
        return calls[k][3], calls[k][1]

    def _outer(self, a, b):
        """End of the outermost dispatch event around [a, b)."""
        return max([b] + [y for t in self.threads for x, y, e in self.host_events(t)
                          if x <= a and y >= b and self.listed(e) == "dispatch"])

    def producer(self, thread, at):
        """(thread that scheduled the pool task running at `at`, start of the task), if any."""
        start = [(self._start(thread, e), e.stats["_c"]) for e in thread.events
                 if e.name == "ThreadpoolListener::StartRegion" and self._start(thread, e) <= at]
        if not start:
            return None, None
        begin, ident = max(start)
        for t in self.threads:
            for e in t.events:
                if e.name == "ThreadpoolListener::Record" and e.stats.get("_p") == ident and t is not thread:
                    return t, begin
        return None, None

    def covering(self, thread, x, y):
        """Events of a thread around [x, y), innermost last."""
        cover = [(a, -b, i, e) for i, (a, b, e) in enumerate(self.host_events(thread)) if a <= x and b >= y]
        return [(a, -b, e) for a, b, _, e in sorted(cover, key=lambda c: c[:3])]

    def _device_says(self, d, x, y, runs):
        """Class of an instant that the device alone decides, or None."""
        for w in d.idle:
            if w.start <= x and w.end >= y:
                return "input" if "infeed" in w.key else "undecided"
        for a, b, run_id in runs:
            if a <= x and b >= y:
                if d.name.startswith("/device:GPU:"):
                    out = self._outer(run_id, run_id)
                else:
                    call = self.launch_call(d, run_id)
                    out = call[2] if call else a
                if x >= out:
                    return "in_program"
        return None

    def parts(self, d, a, b, reading):
        """{(cause, scope): ps} over one gap; None where the definitions give no answer."""
        runs = self.runs(d)
        thread, launched = self.launcher(d, b)
        scheduler, handover = self.producer(thread, b) if thread else (None, None)
        others = [t for t in self.threads if t is not thread and t is not scheduler]
        cuts = {a, b, launched, handover} | {t for r in runs for t in r[:2]} | {t for w in d.idle for t in (w.start, w.end)}
        for r in runs:
            call = self.launch_call(d, r[2])
            cuts |= {call[2], self._outer(r[2], r[2])} if call else {self._outer(r[2], r[2])} if r[2] else set()
        for t in self.threads:
            cuts |= {x for s, e, _ in self.host_events(t) for x in (s, e)}
        cuts = sorted(c for c in cuts if c is not None and a <= c <= b)
        out = {}
        for x, y in zip(cuts, cuts[1:]):
            key = self._device_says(d, x, y, runs)
            if key == "undecided":
                return None
            key = (key, None) if key else self._host_says(thread, launched, scheduler, handover, others, x, y, reading)
            out[key] = out.get(key, 0) + y - x
        return out

    def _host_says(self, thread, launched, scheduler, handover, others, x, y, reading):
        if thread is None:
            return ("unknown", None)
        t = scheduler if scheduler and x < handover else thread
        cover = self.covering(t, x, y)
        if launched is not None and x >= launched:     # only a read or wait still open holds the chain now
            held = [self.classify(t, s, e, ev) for s, e, ev in reversed(cover)]
            return (next((c for c in held if c in ("value_request", "wait")), "launch"), None)
        if not cover:                      # the thread with the enclosing step
            t = next((u for u in others if any(e.stats.get("_r") for _, _, e in self.covering(u, x, y))), None)
            if t is None:
                return ("unknown", None)
            cover = self.covering(t, x, y)
        for s, e, ev in reversed(cover):
            cause = self.classify(t, s, e, ev)
            if cause != "host":
                return (cause, None)
        plain = ([c for c in cover if not c[2].stats.get("_r") and not c[2].name.startswith("$")]
                 or [c for c in cover if not c[2].stats.get("_r")] or cover)
        return ("host", plain[-1][2].name)

    def trigger(self, d, a, b):
        thread, launched = self.launcher(d, b)
        if thread is None:
            return "none"
        scheduler, _ = self.producer(thread, b)
        events = [x for t in (thread, scheduler) if t for x in self.host_events(t)]
        calls = [(s, end) for s, end, e in events if self.listed(e) == "dispatch"]
        before = min(b, launched) if launched else b
        lead = max(READ_LEAD, (b - a) // 10)

        def hit(cause, least):
            return any(self.listed(e) == cause and end - s >= least and s < before and end >= a - lead
                       and not (cause == "wait" and any(x <= s and y >= end for x, y in calls))
                       for s, end, e in events)
        if hit("value_request", 0):
            return "value_request"
        if hit("wait", SHORT_WAIT):
            return "wait"
        if any(self.listed(e) == "compile" and s < b and end > a for s, end, e in events):
            return "compile"
        return "none"

    def edge(self, d, where):
        """(length, {cause} over the readings, trigger) of the lead-in or tail; no launch follows a tail."""
        a, b = d.window()
        if where == "tail":
            if any(self.host_events(t) for t in self.threads):
                return self.stop - b, None, None
            return self.stop - b, {"unknown"}, "none"
        causes = set()
        for reading in READINGS:
            parts = self.parts(d, 0, a, reading)
            causes.add(clear_cause(parts) if parts else None)
        return a, causes, self.trigger(d, 0, a)

    # -- steps

    def steps(self):
        found = []
        for t in self.threads:
            for e in t.events:
                stats, name = dict(e.stats), e.name
                if name.endswith("#") and "#" in name[:-1]:
                    name, pairs = name[:-1].split("#")[:2]
                    for pair in pairs.split(","):
                        k, _, v = pair.partition("=")
                        stats[k.strip()] = int(v) if v.strip().lstrip("-").isdigit() else v
                if stats.get("_r") or "step_num" in stats:
                    found.append((name.strip(), stats.get("step_num"), self._start(t, e), e.dur_ps))
        source = "annotation" if found else "none"
        if not found:
            runs = {}
            for d in self.devices[:1]:
                for m in d.modules:
                    runs.setdefault(m.event.name, []).append((None, None, m.start, m.event.dur_ps))
            repeated = [r for r in runs.values() if len(r) > 1]
            if repeated:
                source, found = "module", max(repeated, key=len)
        found.sort(key=lambda s: s[2])
        done = [s[2] > 0 and (self.stop is None or s[2] + s[3] < self.stop) for s in found]
        rows = [{"name": s[0], "num": s[1], "start_ps": s[2], "dur_ps": s[3], "complete": ok}
                for s, ok in zip(found, done)]
        return {"source": source, "steps": rows,
                "summary": [self._summary(n, rows) for n in dict.fromkeys(r["name"] for r in rows)]}

    @staticmethod
    def _summary(name, rows):
        rows = [r for r in rows if r["name"] == name]
        whole = [r for r in rows if r["complete"]]
        out = {"name": name, "complete": len(whole), "partial": len(rows) - len(whole),
               "period_ps": None, "duration_ps": None}
        if whole:
            out["duration_ps"] = Fraction(sum(r["dur_ps"] for r in whole), len(whole))
        if len(whole) > 1:
            out["period_ps"] = Fraction(whole[-1]["start_ps"] - whole[0]["start_ps"], len(whole) - 1)
        return out

    # -- counters

    def counters(self):
        out = {key: self.outermost(pattern) for key, pattern in COUNTED}
        if not out["executes"]:
            launched = {e.stats["run_id"] for t in self.threads for _, _, e in self.host_events(t)
                        if "run_id" in e.stats and self.listed(e) != "wait"}
            out["executes"] = len(launched) or self.outermost(r".*LoadedExecutable::Execute.*")
        return out

    def outermost(self, pattern):
        """Number of events with such a name; nested ones count once."""
        count = 0
        for t in self.threads:
            end = None
            for a, b, e in sorted(self.host_events(t), key=lambda x: (x[0], -x[1])):
                if re.fullmatch(pattern, e.name) and (end is None or a >= end):
                    count += 1
                    end = b
        return count

    # -- names and ops

    def names(self):
        work = [w for d in self.devices for w in d.work]
        scopes = {}
        for w in work:
            parts = w.scope.split("/") if w.scope else []
            for n in range(len(parts)):
                row = scopes.setdefault("/".join(parts[:n + 1]), [0, 0, 0])
                row[0] += w.self_ps
                row[1] += 1
            if parts:
                scopes[w.scope][2] += w.self_ps
        named = sum(w.self_ps for w in work if w.scope)
        total = sum(w.self_ps for w in work)
        entered = any(not self.listed(e) and not e.name.startswith(("$", "PjitFunction(", "tpu::", "cu", "aten::",
                                                                    "ThreadpoolListener::"))
                      for t in self.threads for _, _, e in self.host_events(t))
        gate = "on" if named else "off" if entered and self.lazy else "unknown"
        return {"device_ps": total, "named_ps": named, "unnamed_ps": total - named, "gate": gate,
                "scopes": [{"scope": k, "ps": v[0], "ops": v[1], "self_ps": v[2]} for k, v in scopes.items()]}

    def ops(self):
        rows = {}
        for d in self.devices:
            for w in d.work:
                row = rows.setdefault(w.key, [0, 0, 0])
                row[0] += 1
                row[1] += w.self_ps
                row[2] += w.event.dur_ps
        return {"total_ps": sum(r[1] for r in rows.values()),
                "attributed_ps": sum(w.self_ps for d in self.devices for w in d.work if w.names_op),
                "rows": [{"key": k, "count": r[0], "total_ps": r[2], "self_ps": r[1]} for k, r in rows.items()]}


def cause_of(parts):
    """Cause of a gap from {(cause, scope): ps}."""
    by_cause = {}
    for (cause, _), ps in parts.items():
        by_cause[cause] = by_cause.get(cause, 0) + ps
    top = max(by_cause.values())
    return next(c for c in ORDER if by_cause.get(c) == top), Fraction(top, sum(by_cause.values()))


def clear_cause(parts):
    """The cause if it holds more than half of the time, else None."""
    cause, share = cause_of(parts)
    return cause if share > Fraction(1, 2) else None


def causality(cap):
    """Smallest shift of the devices that puts no module before its launch call."""
    worst = None
    for d in cap.devices:
        for m in d.modules or d.work:
            call = cap.launch_call(d, m.run_id)
            if call:
                worst = max(call[1] - m.start, call[1] - m.start if worst is None else worst)
    return worst


def compare(want, got, where, problems, skip=()):
    """Every value of `want` has to be in `got`; `got` may hold more keys."""
    for k, v in want.items():
        if k in skip:
            continue
        if k not in got:
            problems.append("%s: no %s" % (where, k))
        elif v != got[k]:
            problems.append("%s.%s: expected %r, found %r" % (where, k, v, got[k]))


def match_rows(want, got, keys, where, problems, complete=True):
    index = {tuple(row[k] for k in keys): row for row in got}
    for row in want:
        key = tuple(row[k] for k in keys if k in row)
        if len(key) < len(keys) or key not in index:
            problems.append("%s: row %r not found" % (where, row))
            continue
        compare(row, index[key], "%s%r" % (where, key), problems)
    if complete and len(want) != len(index):
        problems.append("%s: %d rows expected, %d found" % (where, len(want), len(index)))


def check(data, expect, shift=0, keep=None, hinges_on_reading=False, origin=None):
    problems = []
    cap = Capture(data, partial=expect.get("exit_code") == 5, shift=shift, keep=keep, origin=origin)
    if "gaps" in expect:
        check_gaps(cap, expect["gaps"], problems, hinges_on_reading, shift)
    if "steps" in expect:
        got = cap.steps()
        compare(expect["steps"], got, "steps", problems, skip=("steps", "summary"))
        match_rows(expect["steps"].get("steps", []), got["steps"], ["start_ps"], "steps", problems,
                   complete="steps" in expect["steps"])
        for row in expect["steps"].get("summary", []):
            row = {"name": None, **row}
            match_rows([row], got["summary"], ["name"], "steps.summary", problems, complete=False)
        if len(expect["steps"].get("summary", got["summary"])) != len(got["summary"]):
            problems.append("steps.summary: %d rows found" % len(got["summary"]))
    if "names" in expect:
        got = cap.names()
        compare(expect["names"], got, "names", problems, skip=("scopes",))
        match_rows(expect["names"].get("scopes", []), got["scopes"], ["scope"], "names.scopes", problems)
    if "ops" in expect:
        got = cap.ops()
        compare(expect["ops"], got, "ops", problems, skip=("rows",))
        match_rows(expect["ops"].get("rows", []), got["rows"], ["key"], "ops.rows", problems, complete=False)
    if "counters" in expect:
        compare(expect["counters"], cap.counters(), "counters", problems)
    return problems


def check_gaps(cap, want, problems, hinges, shift):
    table, all_gaps = [], []
    for d in cap.devices:
        if not d.window():
            continue
        busy, a, b = length(d.spans()), *d.window()
        copy = minus(d.copy_spans(), d.spans())
        gaps = [g for g in d.gaps() if g[1] - g[0] >= US]
        collective, wait = cap.collectives(d)
        row = {"name": d.name, "window_ps": [a, b], "busy_ps": busy, "copy_ps": copy,
               "idle_ps": b - a - busy - copy, "gap_count": len(gaps),
               "collective_ps": collective, "collective_wait_ps": wait}
        if cap.stop is not None:
            row.update(lead_in_ps=a, tail_ps=cap.stop - b)
        table.append(row)
        all_gaps += [(d, x, y) for x, y in gaps]
    if "devices" in want:
        match_rows(want["devices"], table, ["name"], "devices", problems)
        problems += ["%s works outside the session" % d["name"] for d in want["devices"]
                     if min(d.get("lead_in_ps", 0), d.get("tail_ps", 0)) < 0]
    if "clock" in want:
        worst = causality(cap)
        if worst is None:
            problems.append("clock: no launch can be linked to its work")
        else:
            need = max(0, worst + shift)
            compare({"status": "shifted" if need else "ok", "aligned_ps": need}, want["clock"], "clock", problems)
    for row in want.get("edges", []):
        d = next(d for d in cap.devices if d.name == row["device"])
        dur, causes, trigger = cap.edge(d, row["where"])
        if row["dur_ps"] != dur or causes != {row["cause"]} or row.get("trigger", trigger) != trigger:
            problems.append("edge %r: found %r %r %r" % (row, dur, causes, trigger))
    listed = {(g["device"], g.get("start_ps")): g for g in want.get("gaps", [])}
    if "gaps" in want and len(listed) != len(all_gaps):
        problems.append("gaps: %d expected, %d found" % (len(listed), len(all_gaps)))
    for d, a, b in all_gaps:
        g = listed.get((d.name, a)) if "gaps" in want else None
        if g is None:
            if "gaps" in want:
                problems.append("gap %s %d not expected" % (d.name, a))
            continue
        where = "gap %s %d" % (d.name, a)
        compare({"dur_ps": b - a}, g, where, problems)
        if "parts" not in g:
            continue
        answers = [cap.parts(d, a, b, r) for r in READINGS]
        if any(x != answers[0] for x in answers) and not hinges:
            problems.append("%s: readings differ: %r" % (where, answers))
        parts = {}
        for p in g["parts"]:
            parts[(p["cause"], p.get("scope"))] = p["ps"]
        if parts != answers[0]:
            problems.append("%s: parts expected %r, found %r" % (where, parts, answers[0]))
            continue
        if sum(parts.values()) != b - a:
            problems.append("%s: parts sum to %d of %d" % (where, sum(parts.values()), b - a))
        compare({"cause": cause_of(parts)[0], "trigger": cap.trigger(d, a, b)}, g, where, problems)
        scopes = {s: ps for (c, s), ps in parts.items() if c == "host"}
        if g.get("scope") and g["scope"] != max(scopes, key=scopes.get):
            problems.append("%s: scope %r" % (where, g["scope"]))
