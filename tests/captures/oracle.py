"""What a capture says, recomputed plainly and slowly from its planes: devices, gaps, steps, names, counters.

It follows the definitions (docs/reading.md) and shares no code with the program it checks.  All times are
integers in picoseconds since the session start (of several hosts: since the earliest one).
"""
import re

import wire

US = 1_000_000
ORDER = ["in_program", "compile", "value_request", "wait", "upload", "tracing", "input", "dispatch",
         "host", "launch", "unknown"]

# Classes of events by their whole name.
CLASSES = [(cause, re.compile("|".join("(?:%s)" % p for p in patterns))) for cause, patterns in [
    ("compile", [r"PjRtComputationClient::Compile", r"XLAGraphExecutor::Compile", r"PjRt\w*Client::Compile\w*",
                 r"backend_compile\w*"]),
    ("value_request", [r"PjRtComputationClient::TransferFromDevice", r".*::ToLiteral.*", r".*D2H.*",
                       r"np\.asarray\(jax\.Array\)"]),
    ("wait", [r"Wait for .*", r"TensorCollectionBarrier", r"DeviceBarrier", r".*::Await.*",
              r".*block_until_ready.*", r"ThunkExecutor::Execute \(wait for completion\)"]),
    ("upload", [r".*::TransferToDevice.*", r".*H2D.*", r".*BufferFromHost.*", r"DevicePut.*",
                r"batched_copy_array_to_devices.*"]),
    ("tracing", [r"StepMarker", r"SyncLiveTensorsGraph", r"SyncTensorsGraph.*", r"RunPostOrder",
                 r"CollectSyncTensors", r"ExtractIRAndPrepareXlaData_", r"SetTensorData",
                 r"ScheduleSyncTensorsGraph", r"trace_to_jaxpr.*", r"lower_.*"]),
    ("input", [r"cpu_loader\.next", r"get_batch_from_cpu_queue", r"cpu_data_to_xla_device", r"Iterator::.*"]),
    ("dispatch", [r"PJRT_LoadedExecutable_Execute.*", r"PjRt.*Execute.*", r".*LoadedExecutable::Execute.*",
                  r"ExecuteComputation", r"ExecuteReplicated(\.__call__)?"]),
]]
INPUT_SCOPE = re.compile(r"data|load|loader|dataloader|input")
LOWERING = re.compile(r"trace_to_jaxpr.*|lower_.*")
IDLE_OP = re.compile(r"%?(infeed|outfeed|send|recv)(-done)?([.\d -].*)?")
MEMORY = re.compile(r"(?i)mem(ory)? ?(alloc|free)")
MEMORY_STATS = ("memalloc_details", "MemFree_details", "MemoryResidency_details")
TORCH = re.compile(r"(PjRt|Ifrt)ComputationClient::.*")
JAX_EXECUTE = re.compile(r"PJRT_LoadedExecutable_Execute|.*LoadedExecutable::Execute.*")
LEAD = 50 * US               # a read may end this long before the gap that it triggers, or a tenth of the gap
SHORT_WAIT = 50 * US         # a shorter wait is no trigger


COLLECTIVE = re.compile(r"(all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute)(-start|-done)?")


# ---------------------------------------------------------------- intervals

def union(spans):
    out = []
    for a, b in sorted(spans):
        if b <= a:
            continue
        if out and a <= out[-1][1]:
            out[-1][1] = max(out[-1][1], b)
        else:
            out.append([a, b])
    return out


def length(spans):
    return sum(b - a for a, b in union(spans))


def minus(spans, holes):
    """The union of `spans` without `holes`."""
    out, holes = [], union(holes)
    for a, b in union(spans):
        for x, y in holes:
            if y <= a:
                continue
            if x >= b:
                break
            if x > a:
                out.append((a, x))
            a = max(a, y)
        if a < b:
            out.append((a, b))
    return out


# ---------------------------------------------------------------- names

def shown(component, lazy):
    """A component of an op name as it is shown; '' if it is dropped."""
    if re.fullmatch(r"p?jit\(.*\)", component):
        return ""
    inner = re.fullmatch(r"transpose\(jvp\((.*)\)\)", component) or re.fullmatch(r"jvp\((.*)\)", component)
    if inner:
        component = inner.group(1)
    return re.sub(r"\.\d+$", "", component) if lazy else component


def scope_of(op_name, lazy):
    """denoise.1/unet.1/aten__mm -> denoise/unet; None where the names of a fusion lie in several scopes."""
    scopes = {"/".join(c for c in (shown(p, lazy) for p in name.split("/")[:-1]) if c)
              for name in op_name.split(";")}
    return scopes.pop() if len(scopes) == 1 else None


# ---------------------------------------------------------------- model

class Work:
    """Work or a copy on a device."""

    def __init__(self, event, key, end=None):
        self.event, self.key = event, key
        self.start, self.end = event.start, event.end if end is None else end
        self.dur = self.self_ps = event.dur
        self.scope = ""
        self.module = event.stats.get("hlo_module")


class Device:
    def __init__(self, host, name):
        self.host, self.name = host, name
        self.kind = "CPU" if name.startswith("CPU:") else name.split(":")[1] if ":" in name else ""
        self.work, self.copies, self.idle, self.modules = [], [], [], []

    def close(self):
        """Busy, copy and gaps, once all work is known."""
        self.busy_spans = minus([(w.start, w.end) for w in self.work], [(w.start, w.end) for w in self.idle])
        copy_spans = [(w.start, w.end) for w in self.copies]
        covered = union(list(self.busy_spans) + copy_spans)
        self.window = (covered[0][0], covered[-1][1]) if covered else None
        if not covered:
            return
        self.busy = length(self.busy_spans)
        self.copy = length(covered) - self.busy
        self.all_gaps = [(x[1], y[0]) for x, y in zip(covered, covered[1:])]
        self.gaps = [g for g in self.all_gaps if g[1] - g[0] >= US]
        self.idle_ps = self.window[1] - self.window[0] - self.busy - self.copy
        self.lead_in = self.window[0] - self.host.start
        self.tail = self.host.stop - self.window[1] if self.host.stop is not None else None


class Run:
    """One run of a program on a device, and the call that launched it."""

    def __init__(self, start, end, key, module):
        self.start, self.end, self.key, self.module = start, end, key, module
        self.call, self.work = None, ()


class Host:
    """One file: the capture of one host."""

    def __init__(self, data, origin=None, partial=False):
        self.planes, names = wire.load(data, partial)
        self.name = names[0] if names else ""
        env = next((p.stats for p in self.planes if p.name == "Task Environment"), {})
        self.start_ns = env.get("profile_start_time", 0)
        self.stop_ns = env.get("profile_stop_time")
        self.start = (self.start_ns - origin) * 1000 if origin else 0
        self.stop = (self.stop_ns - self.start_ns) * 1000 + self.start if self.stop_ns else None
        self.stray = self.untimed = 0
        for p in self.planes:
            for line in p.lines:
                self._place(line)
        self.hlo = {}
        self._modules()
        self.threads = [line for p in self.planes if p.name == "/host:CPU" for line in p.lines]
        self.devices = {}
        self._planes()
        self._xla_cpu()
        for d in self.devices.values():
            if not d.work and d.modules and d.kind != "CPU":
                d.work = list(d.modules)
            for w in d.work:
                w.scope = self.scope(w.event.stats)
            self._self_times(d)
            d.close()

    # -- reading

    def _place(self, line):
        """Times from the session start; untimed and stray events apart."""
        unix = self.start_ns and line.base_ns >= self.start_ns
        shift = self.start - (self.start_ns * 1000 if unix else 0)
        line.timed = []
        span = self.stop - self.start if self.stop is not None else None
        for e in line.events:
            e.start += shift
            if e.start == self.start and e.dur == 0:
                self.untimed += 1
            elif span and (e.end < self.start - span or e.start > self.stop + span):
                self.stray += 1
            else:
                line.timed.append(e)

    def _modules(self):
        modules = set()
        for p in self.planes:
            if p.name == "/host:metadata":
                for _, _, stats, key in p.metadata.values():
                    if "Hlo Proto" in stats:
                        name, ops = wire.hlo_module(stats["Hlo Proto"])
                        self.hlo[stats.get("program_id", key)] = ops
                        modules.add(name)
            for line in p.lines if p.name.startswith("/device:") else ():
                for e in line.events:
                    if line.name == "XLA Modules":
                        modules.add(e.name)
                    if "hlo_module" in e.stats:
                        modules.add(e.stats["hlo_module"])
        self.lazy = any(m.startswith("SyncTensorsGraph") for m in modules)

    def device(self, name):
        return self.devices.setdefault(name, Device(self, name))

    def _planes(self):
        self.copy_calls = {e.stats["correlation_id"] for t in self.threads for e in t.timed
                           if "correlation_id" in e.stats and re.search("(?i)memcpy", e.name)}
        self.on_device = set()
        for p in self.planes:
            tpu = re.fullmatch(r"/device:TPU:\d+", p.name)
            gpu = re.fullmatch(r"/device:GPU:\d+", p.name)
            custom = p.name.startswith("/device:CUSTOM:") and any(line.timed for line in p.lines)
            if not (tpu or gpu or custom):
                continue
            d = self.device(p.name)
            has_ops = any(line.name == "XLA Ops" and line.timed for line in p.lines)
            for line in p.lines:
                for e in line.events:
                    self.on_device |= {(k, str(e.stats[k])) for k in ("program_id", "hlo_module") if k in e.stats}
                for e in line.timed:
                    if gpu:
                        self._gpu_event(d, line, e)
                    elif line.name == "XLA Modules":
                        d.modules.append(Work(e, e.name))
                    elif line.name == "XLA Ops":
                        name = e.display or e.name
                        (d.idle if IDLE_OP.fullmatch(name) else d.work).append(Work(e, name))
                    elif custom and not has_ops and line.name != "Steps" and not line.name.startswith("Framework"):
                        (d.copies if re.search("(?i)memcpy", e.name) else d.work).append(Work(e, e.name))

    def _gpu_event(self, d, line, e):
        if not line.name.startswith("Stream") or MEMORY.match(e.name) or any(s in e.stats for s in MEMORY_STATS):
            return
        copy = ("memcpy_details" in e.stats or re.match("(?i)memcpy", e.name)
                or e.stats.get("correlation_id") in self.copy_calls)
        (d.copies if copy else d.work).append(Work(e, e.stats.get("hlo_op", e.name)))

    def _xla_cpu(self):
        """XLA CPU: ops on the lines of the host, each until its end marker; programs that run on a device
        plane are launches."""
        marks = {}
        for t in self.threads:
            for e in t.timed:
                if e.name.startswith("end: ") and "_c" in e.stats:
                    marks.setdefault((e.name[5:], e.stats["_c"]), []).append(e.start)
        for t in self.threads:
            for e in t.timed:
                if not self.is_cpu_op(e):
                    continue
                later = [m for m in marks.get((e.name, e.stats.get("_p")), ()) if m >= e.start]
                end = max(e.end, min(later)) if later else e.end
                d = self.device("CPU:%d" % e.stats.get("device_ordinal", 0))
                d.work.append(Work(e, e.stats["hlo_op"], end))

    def is_cpu_op(self, e):
        if "hlo_op" not in e.stats or e.name.startswith("end: "):
            return False
        key = "program_id" if "program_id" in e.stats else "hlo_module"
        return (key, str(e.stats.get(key))) not in self.on_device

    @staticmethod
    def _self_times(d):
        """Self time: the time of an event without that of the events directly inside it on its line."""
        lines = {}
        for w in d.work + d.idle:
            lines.setdefault(id(w.event.line), []).append(w)
        for work in lines.values():
            stack = []
            for w in sorted(work, key=lambda w: (w.start, -w.dur)):
                while stack and stack[-1].event.end <= w.start:
                    stack.pop()
                if stack and w.event.end <= stack[-1].event.end:
                    stack[-1].self_ps -= w.dur
                stack.append(w)

    def op_name(self, stats):
        tf_op = stats.get("tf_op", "")
        if tf_op and tf_op != "XlaModule:":
            return ";".join(re.sub(r":[^:/]*$", "", part) for part in tf_op.split(";"))
        found = self.hlo.get(stats.get("program_id"), {}).get(stats.get("hlo_op"), ("", ""))[1]
        if found:
            return found
        name, prefix = stats.get("name", ""), stats.get("prefix", "")
        if "hlo_op" not in stats or not isinstance(name, str):
            return ""
        return prefix + ("/" if prefix and name and not prefix.endswith("/") else "") + name

    def scope(self, stats):
        return scope_of(self.op_name(stats), self.lazy)


class Capture:
    def __init__(self, paths, partial=False):
        blobs = [open(p, "rb").read() for p in paths]
        origin = None
        if len(blobs) > 1:
            starts = [Host(b, partial=partial).start_ns for b in blobs]
            origin = min(starts)
        self.hosts = [Host(b, origin, partial) for b in blobs]
        self.devices = [d for h in self.hosts for d in h.devices.values() if d.window]
        self.lazy = any(h.lazy for h in self.hosts)

    # -- collectives

    def collectives(self, d):
        """(time in collectives, time from their own start to the start of the last participant)."""
        total = wait = 0
        peers = [collective_starts(x) for x in self.devices if x.host is d.host]
        for key, w in collective_starts(d).items():
            total += w.dur
            wait += max(p[key].start for p in peers if key in p) - w.start
        return total, wait

    # -- steps

    def annotations(self):
        """[(host, name, number, event)] of step annotations, in order of start."""
        found = []
        for h in self.hosts:
            for t in h.threads:
                for e in t.timed:
                    stats, name = e.stats, e.name
                    if name.endswith("#") and "#" in name[:-1]:
                        name, pairs = name[:-1].split("#")[:2]
                        stats = dict(stats)
                        for pair in pairs.split(","):
                            key, _, value = pair.partition("=")
                            stats[key.strip()] = int(value) if re.fullmatch(r"-?\d+", value.strip()) else value
                    if stats.get("_r") or "step_num" in stats:
                        found.append((h, name.strip(), stats.get("step_num"), e))
        return sorted(found, key=lambda f: f[3].start)

    def steps(self):
        rows = [{"name": name, "num": num, "start_ps": e.start, "dur_ps": e.dur,
                 "complete": e.start > h.start and (h.stop is None or e.end < h.stop)}
                for h, name, num, e in self.annotations()]
        source = "annotation" if rows else "none"
        if not rows:
            rows = self._module_steps()
            source = "module" if rows else "none"
        return {"source": source, "steps": rows,
                "summary": [summary(name, rows) for name in dict.fromkeys(r["name"] for r in rows)]}

    def _module_steps(self):
        """Runs of the program that ran most often on the first device with runs."""
        for d in self.devices:
            by_name = {}
            for run in runs(d):
                by_name.setdefault(run.module, []).append(run)
            repeated = [r for r in by_name.values() if len(r) > 1]
            if repeated:
                main = max(repeated, key=lambda rs: (len(rs), sum(r.end - r.start for r in rs)))
                return [{"name": r.module, "num": None, "start_ps": r.start, "dur_ps": r.end - r.start,
                         "complete": r.start > d.host.start and (d.host.stop is None or r.end < d.host.stop)}
                        for r in main]
        return []

    # -- names and ops

    def names(self):
        scopes, total, named, mixed = {}, 0, 0, 0
        for d in self.devices:
            for w in d.work:
                total += w.self_ps
                if w.scope is None:
                    mixed += 1
                if not w.scope:
                    continue
                named += w.self_ps
                parts = w.scope.split("/")
                for n in range(len(parts)):
                    row = scopes.setdefault("/".join(parts[:n + 1]), {"ps": 0, "self_ps": 0, "ops": 0})
                    row["ps"] += w.self_ps
                    row["ops"] += 1
                scopes[w.scope]["self_ps"] += w.self_ps
        if named:
            gate = "on"
        else:
            gate = "off" if self.lazy and any(user_scopes(h) for h in self.hosts) else "unknown"
        return {"device_ps": total, "named_ps": named, "unnamed_ps": total - named, "gate": gate,
                "scopes": scopes, "mixed": mixed}

    def ops(self):
        rows, attributed = {}, 0
        for d in self.devices:
            for w in d.work:
                row = rows.setdefault(w.key, {"count": 0, "total_ps": 0, "self_ps": 0})
                row["count"] += 1
                row["total_ps"] += w.dur
                row["self_ps"] += w.self_ps
                if "hlo_op" in w.event.stats or w.event.line.name == "XLA Ops":
                    attributed += w.self_ps
        return {"rows": rows, "total_ps": sum(r["self_ps"] for r in rows.values()), "attributed_ps": attributed}

    # -- counters

    def counted(self):
        """{counter: [(start, thread, event)]}, nested matches once."""
        out = {k: [] for k in ("compiles", "executes", "reads", "uploads", "syncs")}
        for h in self.hosts:
            for key, events in count_host(h).items():
                out[key] += events
        return out

    def counters(self):
        return {k: len(v) for k, v in self.counted().items()}


def collective_starts(d):
    """{(op, run, which of them): work} of the collectives of a device."""
    found, seen = {}, {}
    if d.modules:
        spans = [(m.start, m.end, m.event.stats.get("run_id")) for m in d.modules]
    for w in sorted(d.work, key=lambda w: w.start):
        stats = w.event.stats
        kind = stats.get("hlo_category") or d.host.hlo.get(stats.get("program_id"), {}).get(w.key, ("", ""))[0]
        if COLLECTIVE.fullmatch(kind):
            run = stats.get("run_id")
            if run is None and d.modules:
                run = next((r for a, b, r in spans if a <= w.start < b), None)
            seen[w.key, run] = seen.get((w.key, run), 0) + 1
            found[w.key, run, seen[w.key, run]] = w
    return found


def summary(name, rows):
    rows = [r for r in rows if r["name"] == name]
    whole = [r for r in rows if r["complete"]]
    out = {"name": name, "complete": len(whole), "partial": len(rows) - len(whole),
           "period_ps": None, "duration_ps": None}
    if whole:
        out["duration_ps"] = sum(r["dur_ps"] for r in whole) / len(whole)
    if len(whole) > 1:
        out["period_ps"] = (whole[-1]["start_ps"] - whole[0]["start_ps"]) / (len(whole) - 1)
    return out


def host_events(host, thread):
    """Events of a thread with a length, without XLA CPU's ops and their markers."""
    cache = thread.__dict__.setdefault("host_events", None)
    if cache is None:
        cache = thread.host_events = sorted(
            (e for e in thread.timed if e.dur > 0 and not e.name.startswith("end: ") and not host.is_cpu_op(e)),
            key=lambda e: (e.start, -e.dur))
    return cache


def outermost(host, pattern, threads=None):
    found = []
    for t in host.threads if threads is None else threads:
        end = None
        for e in host_events(host, t):
            if pattern.fullmatch(e.name) and (end is None or e.start >= end):
                found.append((e.start, t, e))
                end = e.end
    return found


def count_host(h):
    def of(*patterns):
        return outermost(h, re.compile("|".join("(?:%s)" % p for p in patterns)))
    torch = any(TORCH.fullmatch(e.name) or e.name == "StepMarker" for t in h.threads for e in t.timed)
    if torch:
        client = r"(PjRt|Ifrt)ComputationClient::"
        return {"compiles": of(client + "Compile"), "executes": of(client + "Execute(Computation|Replicated)"),
                "reads": of(client + "TransferFromDevice"), "uploads": of(client + "Transfer(Shards)?ToDevice"),
                "syncs": of("StepMarker")}
    launched = {}
    for t in h.threads:
        for e in host_events(h, t):
            if "run_id" in e.stats and class_of(e.name) != "wait":
                launched.setdefault(e.stats["run_id"], (e.start, t, e))
    executes = list(launched.values())
    if not executes:
        executes = [c for c in outermost(h, JAX_EXECUTE)
                    if not (c[2].name.rsplit("::", 1)[-1].startswith("ExecuteHelper") and is_pool(c[1]))]
    return {"compiles": of(r"backend_compile\w*") or of(r"PjRt\w*Client::Compile\w*"), "executes": executes,
            "reads": of(r"np\.asarray\(jax\.Array\)") or of(r".*ToLiteral.*"),
            "uploads": outermost(h, dict(CLASSES)["upload"]), "syncs": []}


def is_pool(thread):
    return "/" in thread.name


def class_of(name):
    """Class by the lists alone, or None."""
    if name.startswith("$"):
        return "wait" if re.fullmatch(r"\$.* block_until_ready", name) else None
    return next((cause for cause, pattern in CLASSES if pattern.fullmatch(name)), None)


def user_scopes(h):
    """Names of user scopes."""
    found = set()
    for t in h.threads:
        events = host_events(h, t)
        if not any(e.stats.get("_r") or e.name.startswith("$") for e in events) and is_pool(t):
            continue
        cover = None
        for e in events:
            cause = class_of(e.name)
            if cause in ("dispatch", "compile", "upload") or e.name.startswith("PjitFunction("):
                cover = max(cover or 0, e.end)
            elif not (cause or e.stats.get("_r") or "::" in e.name or e.name.startswith("$")
                      or (cover is not None and e.end <= cover)):
                found.add(e.name)
    return found


# ---------------------------------------------------------------- runs of programs

def runs(d):
    """Runs of programs on a device, in order of start."""
    if d.modules:
        return sorted((Run(m.start, m.end, m.event.stats.get("run_id"), m.key) for m in d.modules),
                      key=lambda r: r.start)
    if d.kind == "GPU":
        return gpu_runs(d)
    groups = {}
    for w in d.work:
        groups.setdefault(w.event.stats.get("run_id"), []).append(w)
    if None in groups:
        return waited_runs(d)
    return sorted((Run(min(w.start for w in g), max(w.end for w in g), k, g[0].module) for k, g in groups.items()),
                  key=lambda r: r.start)


def waited_runs(d):
    """XLA CPU without run ids: from the first op, on any thread, after the thread that waits for completion
    took up the run, to the end of that wait."""
    found = []
    ops = sorted(d.work, key=lambda w: w.start)
    for t in d.host.threads:
        begins = sorted(x.start for x in t.timed
                        if x.name in ("ThreadpoolListener::StartRegion", "PjRtCpuExecutable::ExecuteHelper"))
        last = 0
        for e in host_events(d.host, t):
            if e.name == "ThunkExecutor::Execute (wait for completion)":
                begin = max([last] + [x for x in begins if x <= e.start][-1:])
                own = [w for w in ops if w.event.line is t and begin <= w.start < e.start]
                module = own[0].event.stats.get("program_id") if own else None
                inside = [w for w in ops if begin <= w.start < e.end
                          and (module is None or w.event.stats.get("program_id") == module)]
                if inside:
                    found.append(Run(inside[0].start, e.end, None, inside[0].module))
                last = e.end
    return sorted(found, key=lambda r: r.start)


def rows_of_calls(h):
    """{id of a 'Host Threads/N' row: the TraceMe row of the same thread}."""
    if hasattr(h, "call_rows"):
        return h.call_rows
    traced = {}
    for t in h.threads:
        spans = [e for e in host_events(h, t) if e.name.endswith("::ExecuteThunks")]
        if spans:
            traced[id(t)] = (t, spans)
    if not traced:
        for t in h.threads:
            spans = [e for e in host_events(h, t) if class_of(e.name) == "dispatch"]
            if spans and not t.name.startswith("Host Threads/"):
                traced[id(t)] = (t, spans)
    h.call_rows = {}
    for row in h.threads:
        if not row.name.startswith("Host Threads/"):
            continue
        calls = ([e for e in row.timed if "hlo_module" in e.stats or "program_id" in e.stats]
                 or [e for e in row.timed if "correlation_id" in e.stats
                     and e.stats["correlation_id"] not in h.copy_calls])
        fits = [t for t, spans in traced.values()
                if calls and all(any(s.start <= c.start <= s.end for s in spans) for c in calls)]
        if len(fits) == 1:
            h.call_rows[id(row)] = fits[0]
    return h.call_rows


def rows_of_copies(h):
    """{id of a 'Host Threads/N' row with memcpy calls: the pool thread whose tasks are around all of them}; of
    several that fit, the one that fits no other row."""
    if hasattr(h, "copy_rows"):
        return h.copy_rows
    tasks = {id(t): [e for e in host_events(h, t) if "_c" in e.stats] for t in h.threads if "thread_pool" in t.name}
    fits = {}
    for row in h.threads:
        calls = [e for e in row.timed if e.stats.get("correlation_id") in h.copy_calls]
        if row.name.startswith("Host Threads/") and calls:
            fits[id(row)] = [t for t in h.threads if id(t) in tasks and all(
                any(s.start <= c.start and s.end >= c.end for s in tasks[id(t)]) for c in calls)]
    h.copy_rows = {}
    while True:
        sure = [(row, found[0]) for row, found in fits.items() if len(found) == 1]
        if not sure:
            return h.copy_rows
        h.copy_rows.update(sure)
        taken = {id(t) for _, t in sure}
        fits = {row: [t for t in found if id(t) not in taken] for row, found in fits.items()
                if row not in h.copy_rows}


def gpu_runs(d):
    """The kernels whose launch calls lie in one host execute event."""
    rows = rows_of_calls(d.host)
    call_of, groups = {}, {}
    for t in d.host.threads:
        for e in t.timed:
            if "correlation_id" in e.stats:
                call_of.setdefault(e.stats["correlation_id"], (e, rows.get(id(t), t)))
    for w in d.work:
        call, thread = call_of.get(w.event.stats.get("correlation_id"), (None, None))
        if not call:
            continue
        around = [e for e in host_events(d.host, thread)
                  if e.start <= call.start <= e.end and class_of(e.name) == "dispatch"]
        if around:
            groups.setdefault((id(thread), around[0].start), (around[0], thread, []))[2].append(w)
    found = []
    for event, thread, work in groups.values():
        run = Run(min(w.start for w in work), max(w.end for w in work), None,
                  next((w.module for w in work if w.module), None))
        run.work = work
        run.call = (event, thread)
        found.append(run)
    return sorted(found, key=lambda r: r.start)
