#!/usr/bin/env python3
"""Generate ../scenarios/<name>.xplane.pb and <name>.expect.json: small captures with known answers.

    make_scenarios.py [--out DIR]            write the files
    make_scenarios.py --check [--jax PYTHON] write nothing; decode the files, recompute every answer,
                                             and open each file with the JAX reader of that interpreter

s26_two_hosts is a log directory with one capture a host.

expect.json holds any of the keys gaps, steps, ops, names, counters, warnings_contain, exit_code, accept
(key -> list of other complete answers that are right, too), note.  Times are integer picoseconds since
the session start.  A report may hold more keys than the expectation.  Lists are complete unless said
otherwise, and their order means nothing: devices are told apart by name (and host, where given), gaps by
device and start_ps, steps by start_ps, rows of a summary by name, rows by key, scopes by scope; ops.rows
lists only some rows.  gaps.gaps are those inside the window of their device; gaps.edges are lead-ins and
tails, only where more than half of the time has one cause under every reading.  The parts of a gap are
summed per cause, for cause "host" per cause and scope; longest first here.

Definitions (the whole of them: docs/reading.md at the top of the tree)
  device    plane /device:TPU:n, /device:GPU:n, /device:CUSTOM:*; for XLA CPU the events on /host:CPU
            lines with a stat hlo_op, by stat device_ordinal (absent = 0), called "CPU:n", but not those
            of programs that run on a device plane.  Planes of one name are one device.
  work      TPU: events of the lines "XLA Ops" ("XLA Modules" if no ops line has events), without infeed,
            outfeed, send and recv, which are idle time also under an op that covers them.  GPU: events of
            the "Stream .." lines except copies (stat memcpy_details, name Memcpy.., or launched by a
            Memcpy call with the same correlation id) and memory events.  XLA CPU: each op until its
            marker "end: <op>" with the same id (_c = _p of the op) starts, if that is later than its end.
  busy      union of the work on all lines of the device; copy_ps = time covered by copies alone.
  window    from the start of the first work or copy to the end of the last.
  idle      window - busy - copy_ps.  Gap = maximal interval of the window without work or copy; gaps
            of at least 1 us are listed and counted, shorter ones only count in idle_ps.
  lead-in   session start to window, tail: window to session end; where the capture has session bounds.
  untimed   events with start 0 and duration 0: outside window and busy, counted in a warning.
  parts     disjoint, they sum to the gap.  First the device alone: infeed is input; in_program is time
            inside one run of a program, but not before its launch call has returned.  Else the host
            thread that launched the next work (run_id, correlation_id, _p/_c; else k-th execute call =
            k-th run) is looked at: its innermost event that has a class other than host gives the class,
            else its innermost event gives host ("scope" is its name).  Scopes are tracing if they name an
            instruction that ran, or while a pt_autograd_* line has events; steps (_r = 1) and Python
            frames ($..) are only ever host.  Where no event covers the instant: launch if the launch call
            has ended, else unknown.
  cause     the class with most time; ties by the order in_program, compile, value_request, wait, upload,
            tracing, input, dispatch, host, launch, unknown.
  trigger   value_request if a device-to-host read of that thread ended inside the gap, or up to 50 us
            before it, or runs inside it; wait likewise for waits of at least 50 us; else compile if a
            compile lies in the gap; else none.
  steps     from step events, else runs of a repeated module.  A step that the session cuts is partial.
            A summary for each name: period = mean distance between the starts of consecutive complete
            steps, duration = mean duration of the complete steps (null: too few steps).
  ops       key = HLO instruction (the kernel's name if it has none), count = executions on all devices;
            total_ps of the table = sum of self times; attributed = that of events that name an instruction.
  names     op names are split at ";"; scope = all but the last component; .N of a component is folded away
            where modules are called SyncTensorsGraph*; jit(f) is dropped.  A scope's time and ops include
            those of the scopes inside.  named_ps = time of ops that have a scope.
  counters  outermost events of the client: Compile, Execute*, TransferFromDevice, TransferToDevice;
            syncs = StepMarker.  JAX: backend_compile*; run ids of the execute calls.
"""
import argparse
import json
import os
import subprocess
import sys

import expect_check
from xspace import Instr, Ref, Space, U64, decode, hlo_proto, put_bytes

T0 = 1_750_000_000_123_456_789          # Unix ns of the session start
SCENARIOS = {}


def scenario(fn):
    SCENARIOS[fn.__name__] = fn
    return fn


def ms(x):
    """Milliseconds to integer picoseconds."""
    return round(x * 1e9)


# ---------------------------------------------------------------- pieces of a capture

class Program:
    """A compiled module; ops = [(instruction, op_name or "", opcode, hlo_category)]."""

    def __init__(self, name, id, ops, named=True):
        self.name, self.id = name, id
        self.ops = [(i, n if named else "", o, c) for i, n, o, c in ops]

    def hlo(self):
        def instr(name, op_name, opcode):
            op_type = op_name.rsplit("/", 1)[-1]
            return Instr(name, opcode, op_type, op_name)
        fused = [("fused_computation.%d" % n, [instr(i + ".in", "", "parameter"), instr(i + ".root", name, "add")])
                 for n, (i, name, opcode, _) in enumerate(self.ops) if opcode == "fusion"]
        entry = [instr("p0.1", "", "parameter")] + [instr(i, name, opcode) for i, name, opcode, _ in self.ops]
        return hlo_proto(self.name, self.id, fused + [("main.%d" % (len(entry) + 1), entry)])


class Tpu:
    """A TensorCore plane with the lines XLA Modules and XLA Ops."""

    def __init__(self, space, n=0, bases=(4_100, 4_100), ids=(1, 2), kind=("TPU v5 lite", 197.0, 819.2)):
        self.plane = space.plane("/device:TPU:%d" % n, id=n + 2)
        self.plane.stat("device_type_string", kind[0])
        self.plane.stat("peak_teraflops_per_second", kind[1])
        self.plane.stat("peak_hbm_bw_gigabytes_per_second", kind[2])
        self.modules = self.plane.line("XLA Modules", id=ids[0], timestamp_ns=bases[0])
        self.op_line = self.plane.line("XLA Ops", id=ids[1], timestamp_ns=bases[1])

    def op(self, line, program, index, start, dur):
        inst, op_name, opcode, category = program.ops[index]
        stats = {"hlo_category": Ref(category), "program_id": U64(program.id), "symbol_id": U64(index + 1),
                 "flops": U64(1000 * (index + 1)), "bytes_accessed": U64(4096)}
        if op_name:
            stats["tf_op"] = Ref(op_name + ":")
        text = "%%%s = bf16[2,4096,320]{2,1,0:T(8,128)} %s(bf16[2,4096,320]{2,1,0} %%p0.1)" % (inst, opcode)
        meta = self.plane.event_metadata(text, inst, stats, key=(program.id, inst))
        line.event(None, start, dur, meta=meta)

    def module(self, program, run_id, start, dur):
        self.modules.event("%s(%d)" % (program.name, program.id), start, dur,
                           {"run_id": run_id, "queue_id": 1})

    def run(self, program, run_id, start, durs):
        """One execution from `start` (ms); durs[i] ms for op i, or (hole, dur) for a hole before it."""
        t = begin = ms(start)
        for index, d in enumerate(durs):
            hole, dur = d if isinstance(d, tuple) else (0, d)
            t += ms(hole)
            self.op(self.op_line, program, index, t, ms(dur))
            t += ms(dur)
        self.module(program, run_id, begin, t - begin)


class Gpu:
    def __init__(self, space, n=0, base=900):
        self.plane, self.base = space.plane("/device:GPU:%d" % n, id=n + 1), base
        self.plane.stat("device_vendor", "Nvidia")
        self.plane.stat("clock_rate", 1_410_000)
        self.plane.stat("core_count", 108)
        self.plane.stat("memory_bandwidth", U64(2_039_000_000_000))
        self.correlation = 100

    def stream(self, id, kinds):
        return self.plane.line("Stream #%d(%s)" % (id, kinds), id=id, timestamp_ns=self.base)

    def kernel(self, line, name, a, b, program=None, index=None, **stats):
        self.correlation += 1
        out = {"correlation_id": U64(self.correlation), "context_id": Ref("$$1"),
               "kernel_details": Ref("regs:64 static_shared:0 dynamic_shared:0 grid:128,1,1 block:256,1,1 occ_pct:50"),
               **stats}
        if program:
            out.update({"tf_op": Ref("XlaModule:"), "hlo_op": Ref(program.ops[index][0]),
                        "hlo_module": Ref(program.name), "program_id": program.id})
        line.event(name, ms(a), ms(b) - ms(a), out)

    def copy(self, line, kind, a, b, size=1 << 20):
        self.correlation += 1
        line.event("Memcpy" + kind, ms(a), ms(b) - ms(a),
                   {"correlation_id": U64(self.correlation),
                    "memcpy_details": Ref("kind_src:pinned kind_dst:device size:%d dest:0 async:1" % size)})


class Host:
    """The /host:CPU plane; threads are made on demand."""

    def __init__(self, space):
        self.plane = space.plane("/host:CPU", id=1)
        self.threads = {}

    def thread(self, name="python", id=-1472503042444199177, base=21_300):
        if name not in self.threads:
            self.threads[name] = Thread(self.plane.line(name, id=id, timestamp_ns=base))
        return self.threads[name]


class Thread:
    def __init__(self, line):
        self.line = line

    def ev(self, name, a, b, **stats):
        self.line.event(name, ms(a), ms(b) - ms(a), stats)

    def step(self, name, num, a, b):
        self.ev(name, a, b, _r=1, step_num=num)

    def execute(self, a, b, run_id=None, name="PjRtComputationClient::ExecuteComputation", ordinals=(0,)):
        """The execute call, with the runtime's own launch events inside."""
        self.ev(name, a, b)
        if run_id is None:
            return
        width = (b - a) / 2 / len(ordinals)
        for n, ordinal in enumerate(ordinals):
            self.ev("tpu::System::Execute", a + 0.01 + n * width, a + 0.01 + (n + 1) * width,
                    run_id=run_id, device_ordinal=ordinal, queue_id=1)

    def sync(self, a, b, compile=None, record=None, marker=True):
        """The tracing events of one lazy sync; compile = (start, end) inside, record = _p of a pool task.

        marker: the program asked for it (a step marker); otherwise a read did.
        """
        if marker:
            self.ev("StepMarker", a, b)
            self.ev("SyncLiveTensorsGraph", a + 0.0005, b)
            self.ev("SyncTensorsGraph", a + 0.001, b - 0.0002)
            a, b = a + 0.002, b - 0.001
        self.ev("SyncTensorsGraphInternal", a, b)
        w = (compile[0] if compile else b) - a
        self.ev("CollectSyncTensors", a + 0.05 * w, a + 0.10 * w)
        self.ev("ExtractIRAndPrepareXlaData_", a + 0.12 * w, a + 0.18 * w)
        self.ev("RunPostOrder", a + 0.20 * w, a + 0.60 * w)
        if compile:
            self.ev("XLAGraphExecutor::Compile", *compile, graph_hash=Ref("8e1c33f0a95dd2b107c4e25f6a10b97"))
            self.ev("PjRtComputationClient::Compile", compile[0] + 0.4, compile[1] - 0.2)
            a, w = compile[1], b - compile[1]
        self.ev("SetTensorData", a + 0.65 * w, a + 0.75 * w)
        self.ev("ScheduleSyncTensorsGraph", a + 0.80 * w, a + 0.95 * w)
        if record is not None:
            self.ev("ThreadpoolListener::Record", a + 0.9 * w, a + 0.9 * w, _pt=15, _p=record)

    def read(self, a, b):
        self.ev("PjRtComputationClient::TransferFromDevice", a, b)
        self.ev("CommonPjRtBuffer::ToLiteral", a + 0.005, b)

    def upload(self, a, b):
        self.ev("PjRtComputationClient::TransferToDevice", a, b)
        self.ev("BufferFromHostBuffer", a + 0.02, b - 0.02)


def finish(space, stop_ms, programs=(), sequential_ids=True):
    """Add /host:metadata and Task Environment, in the order real captures have."""
    if programs:
        space.hlo_metadata([(p.name, p.id, p.hlo()) for p in programs], sequential_ids)
        space.planes.insert(0, space.planes.pop())
    space.task_environment(T0, T0 + ms(stop_ms) // 1000)
    return space.encode()


# ---------------------------------------------------------------- pieces of an expectation

def device(name, window, busy, gap_count, copy=0):
    a, b = ms(window[0]), ms(window[1])
    return {"name": name, "window_ps": [a, b], "busy_ps": ms(busy), "copy_ps": ms(copy),
            "idle_ps": b - a - ms(busy) - ms(copy), "gap_count": gap_count}


def gap(device, start, dur, cause=None, trigger=None, host=None, **parts):
    """Without a cause only start and length are expected; parts: cause = ms; host = {scope: ms}."""
    out = {"device": device, "start_ps": ms(start), "dur_ps": ms(dur)}
    if cause:
        rows = [{"cause": c, "ps": ms(x)} for c, x in parts.items()]
        rows += [{"cause": "host", "ps": ms(x), "scope": s} for s, x in (host or {}).items()]
        assert sum(r["ps"] for r in rows) == out["dur_ps"], (start, rows)
        out.update(cause=cause, trigger=trigger, parts=rows)
        if cause == "host":
            out["scope"] = max(host, key=host.get)
    return out


def edge(device, where, dur, cause, trigger=None):
    """A lead-in or tail."""
    out = {"device": device, "where": where, "dur_ps": ms(dur), "cause": cause}
    return {**out, "trigger": trigger} if trigger else out


def gaps(devices, rows=None, clock=True, edges=None):
    out = {"devices": devices}
    if rows is not None:
        out["gaps"] = rows
    if edges:
        out["edges"] = edges
    if clock:
        out["clock"] = {"status": "ok", "aligned_ps": 0}
    return out


def step(name, num, start, dur, complete=True):
    return {"name": name, "num": num, "start_ps": ms(start), "dur_ps": ms(dur), "complete": complete}


def steps(source, rows, complete, partial, period, duration):
    """Steps of one name (none for steps by module: rows may be left out)."""
    row = {"name": rows[0]["name"]} if rows and "name" in rows[0] else {}
    row.update(complete=complete, partial=partial, period_ps=None if period is None else ms(period),
               duration_ps=None if duration is None else ms(duration))
    return {"source": source, **({} if rows is None else {"steps": rows}), "summary": [row] if complete + partial else []}


def counters(**counts):
    return {**dict.fromkeys(("compiles", "executes", "reads", "uploads", "syncs"), 0), **counts}


def names(total, named, scopes, **more):
    """scopes = [(scope, ms, ops or None)]; ops only where every op ran once."""
    return {**more, "device_ps": ms(total), "named_ps": ms(named), "unnamed_ps": ms(total) - ms(named),
            "scopes": [{"scope": s, "ps": ms(x), **({} if n is None else {"ops": n})} for s, x, n in scopes]}


def note(what, naive):
    return {"what": what, "naive": naive}


NO_STEPS = steps("none", [], 0, 0, None, None)


# ---------------------------------------------------------------- diffusion pipelines

def sd21(variant):
    """Stable Diffusion 2.1: text encoder, 10 denoise steps, one gap, VAE.  variant: tracing, host, bare."""
    named = variant != "bare"
    first = "prepare_latents_for_vae.1/aten__div" if variant == "tracing" else "aten__div"
    text = Program("SyncTensorsGraph.50", 0x3A51_77C0_1D2E_9F04,
                   [("fusion.11", "text_encoder.1/aten__addmm", "fusion", "convolution fusion")], named)
    unet = Program("SyncTensorsGraph.133", 0x5B06_E2D9_44A1_7C88,
                   [("fusion.21", "unet.1/aten__convolution", "fusion", "convolution fusion"),
                    ("fusion.22", "unet.1/aten__bmm", "fusion", "convolution fusion"),
                    ("add.23", "unet.1/aten__add", "add", "non-fusion elementwise")], named)
    vae = Program("SyncTensorsGraph.208", 0x11F3_90AB_C6D5_E217,
                  [("fusion.31", first, "fusion", "loop fusion"),
                   ("fusion.32", "vae.decode.1/aten__convolution", "fusion", "convolution fusion")], named)
    space = Space()
    tpu = Tpu(space)
    tpu.run(text, 900, 10, [14])
    for k in range(10):
        tpu.run(unet, 901 + k, 24 + 40 * k + 0.0003 * (k + 1), [25, 13, 2])
    tpu.run(vae, 911, 490, [0.5, 54.5])
    main = Host(space).thread()

    def scope(name, a, b):
        if named:
            main.ev(name, a, b)
    scope("text_encoder", 2, 8)
    main.sync(8.1, 8.9)
    main.execute(9, 9.4, 900)
    starts = [12 + 40 * k + (0.3 if k % 2 and k < 9 else 0) for k in range(10)]
    for k, s in enumerate(starts):
        if named:
            main.step("denoise", k, s, s + (7.2 if k % 2 else 6.8))
        scope("unet", s + 0.1, s + 4.1)
        main.sync(s + 4.4, s + 5.6)
        main.execute(s + 5.8, s + 6.3, 901 + k)
    scope("prepare_latents_for_vae", 415, 487)
    scope("vae.decode", 487.05, 488.55)
    main.sync(488.6, 489.4)
    main.execute(489.45, 489.85, 911)
    data = finish(space, 560, [text, unet, vae])

    g = {"tracing": lambda: gap("/device:TPU:0", 424.003, 65.997, "tracing", "none",
                                tracing=65.297, dispatch=0.4, launch=0.15, unknown=0.15),
         "host": lambda: gap("/device:TPU:0", 424.003, 65.997, "host", "none", host={"prepare_latents_for_vae": 62.997},
                             tracing=2.3, dispatch=0.4, launch=0.15, unknown=0.15),
         "bare": lambda: gap("/device:TPU:0", 424.003, 65.997, "unknown", "none",
                             tracing=0.8, dispatch=0.4, launch=0.15, unknown=64.647)}[variant]()
    first_cause = "unknown" if variant == "bare" else "tracing"
    expect = {"gaps": gaps([device("/device:TPU:0", (10, 545), 469, 1)], [g],
                           edges=[edge("/device:TPU:0", "lead_in", 10, first_cause, "none")])}
    if named:
        expect["steps"] = steps("annotation", [step("denoise", k, s, 7.2 if k % 2 else 6.8)
                                               for k, s in enumerate(starts)], 10, 0, 40, 7)
        scopes = [("text_encoder", 14, None), ("unet", 400, None), ("vae.decode", 54.5, None)]
        if variant == "tracing":
            scopes.append(("prepare_latents_for_vae", 0.5, None))
        expect["names"] = names(469, 469 if variant == "tracing" else 468.5, scopes)
    else:
        expect["names"] = names(469, 0, [])
        expect["steps"] = steps("module", None, 10, 0, 40.0003, 40)
    expect["counters"] = counters(executes=12, syncs=12)
    return data, expect


@scenario
def s01_sd21_one_gap():
    data, expect = sd21("tracing")
    expect["note"] = note(
        "SD 2.1 on TPU: one gap between the denoise loop and the VAE; the host traces prepare_latents_for_vae, "
        "whose name prefixes an op of the VAE module",
        "72 ms (whole length of the scope) as the size of the gap; 11 gaps (the ten of 300 ns between modules); "
        "period 7 ms (mean length of the step events)")
    return data, expect


@scenario
def s01_sd21_one_gap_host():
    data, expect = sd21("host")
    expect["note"] = note(
        "as s01_sd21_one_gap, but no device op carries the scope's name: plain host work",
        "tracing, because every user scope is taken for tracing")
    return data, expect


@scenario
def s01b_sd21_unannotated():
    data, expect = sd21("bare")
    expect["note"] = note(
        "as s01_sd21_one_gap without annotations and op names: the cause cannot be known",
        "tracing (0.8 ms, the largest named part) or dispatch (last event before the device starts)")
    return data, expect


@scenario
def s02_sdxl_watermark():
    unet = Program("SyncTensorsGraph.412", 0x2C44_1AF0_77E3_0B19,
                   [("fusion.5", "unet.1/aten__convolution", "fusion", "convolution fusion")])
    vae = Program("SyncTensorsGraph.590", 0x6D10_55C2_9E8B_F3A7,
                  [("fusion.7", "vae.1/aten__convolution", "fusion", "convolution fusion")])
    space = Space()
    tpu = Tpu(space)
    for k in range(3):
        tpu.run(unet, 40 + k, 20 + 40 * k, [40])
    tpu.run(vae, 43, 1040, [60])
    host = Host(space)
    main = host.thread()
    frame = "$pipeline_sdxl.py:88 __call__"
    main.ev(frame, 5, 1101)
    for k in range(3):
        main.ev("unet", 12 + 30 * k, 15 + 30 * k)
        main.sync(15.1 + 30 * k, 16.1 + 30 * k)
        main.execute(16.2 + 30 * k, 16.6 + 30 * k, 40 + k)
    main.read(101, 143.2)
    main.ev("watermark", 143.3, 1021.3)
    main.upload(1021.4, 1033.9)
    main.ev("vae", 1034, 1036)
    main.sync(1036.1, 1038.1)
    main.execute(1038.2, 1040.3, 43)
    other = host.thread("Thread-3", id=7219988301224410023, base=33_000)
    other.ev("preview_encode", 139, 1060)
    data = finish(space, 1120, [unet, vae])
    expect = {
        "gaps": gaps([device("/device:TPU:0", (20, 1100), 180, 1)],
                     [gap("/device:TPU:0", 140, 900, "host", "value_request",
                          host={"watermark": 878, frame: 0.5}, value_request=3.2, upload=12.5,
                          tracing=4, dispatch=1.8)]),
        "counters": counters(executes=4, reads=1, uploads=1, syncs=4),
        "note": note("SDXL: a read of the result starts a 900 ms gap, filled by host image work, then an upload "
                     "and the dispatch",
                     "value_request (first event of the gap, 42.2 ms long); the pipeline frame that covers the "
                     "whole gap; preview_encode, the longest event, on a thread that launches nothing")}
    return data, expect


@scenario
def s03_sdxl_item_nonzero():
    unet = Program("SyncTensorsGraph.611", 0x0F7A_3321_E4D4_51C6,
                   [("fusion.1", "unet.1/aten__convolution", "fusion", "convolution fusion"),
                    ("fusion.2", "unet.1/aten__bmm", "fusion", "convolution fusion")])
    mask = Program("SyncTensorsGraph.9", 0x4419_8B7E_0A6C_D2F5,
                   [("compare.3", "scheduler.step.2/aten__eq", "compare", "non-fusion elementwise")])
    cast = Program("SyncTensorsGraph.4", 0x7733_0C1B_52E0_9A4D,
                   [("convert.2", "scheduler.step.2/aten___to_copy", "convert", "data formatting")])
    scale = Program("SyncTensorsGraph.27", 0x1E5D_64FA_B890_3327,
                    [("fusion.6", "scheduler.step.2/aten__mul", "fusion", "loop fusion")])
    vae = Program("SyncTensorsGraph.590", 0x6D10_55C2_9E8B_F3A7,
                  [("fusion.7", "vae.1/aten__convolution", "fusion", "convolution fusion")])
    space = Space()
    tpu = Tpu(space)
    main = Host(space).thread()
    base = [30 + 52 * i for i in range(21)]
    run = 500
    rows, step_rows = [], []
    begin = 26.0
    main.ev("unet", 26.1, 28.6)
    main.sync(28.7, 29.5)
    main.execute(29.6, 30.05, run)
    for i in range(20):
        b, even = base[i], i % 2 == 0
        # device: unet, mask, cast | gap A | scale, cast | gap B
        tpu.run(unet, run, b, [20, (0.0004, 23.6496)])
        tpu.run(mask, run + 1, b + 43.65, [0.3])
        tpu.run(cast, run + 2, b + 43.95, [0.05])
        ga, n = b + 44, (b + 47.1 if even else b + 46.2)
        gb = b + 48.5 if even else b + 49.0
        tpu.run(scale, run + 3, n, [gb - n - 0.05])
        tpu.run(cast, run + 4, gb - 0.05, [0.05])
        # host: nonzero() waits for the mask, item() for the scale
        read_end = ga - 0.02 if even else ga + 0.08
        main.ev("aten::nonzero", b + 0.25, read_end)
        main.sync(b + 0.3, b + 0.8, marker=False)
        main.execute(b + 0.9, b + 1.2, run + 1)
        main.execute(b + 1.25, b + 1.4, run + 2)
        main.read(b + 1.5, read_end)
        if even:
            main.sync(ga + 2.0, ga + 2.6, marker=False)
            main.execute(ga + 2.65, ga + 3.15, run + 3)
            rows.append(gap("/device:TPU:0", ga, 3.1, "tracing", "value_request", tracing=2.65, dispatch=0.45))
        else:
            main.sync(ga + 1.5, ga + 1.9, marker=False)
            main.execute(ga + 1.95, ga + 2.25, run + 3)
            rows.append(gap("/device:TPU:0", ga, 2.2, "tracing", "value_request",
                            value_request=0.08, tracing=1.87, dispatch=0.25))
        main.execute(n + 0.06, n + 0.2, run + 4)
        item_end = gb + 0.06 if even else gb - 0.03
        main.ev("aten::_local_scalar_dense", n + 0.25, item_end)
        main.read(n + 0.3, item_end)
        main.ev("scheduler.step", b + 0.2, gb + (0.9 if even else 0.6))
        end = gb + (1.0 if even else 0.7)
        main.step("denoise", i, begin, end)
        step_rows.append(step("denoise", i, begin, end - begin))
        begin = end + 0.02
        last = i == 19
        if even:
            main.ev("unet", gb + 1.05, gb + 2.55)
            main.sync(gb + 2.6, gb + 3.1)
            main.execute(gb + 3.12, gb + 3.55, run + 5)
            rows.append(gap("/device:TPU:0", gb, 3.5, "tracing", "value_request", host={"denoise": 0.2},
                            value_request=0.06, tracing=2.84, unknown=0.02, dispatch=0.38))
        else:
            main.ev("vae" if last else "unet", gb + 0.75, gb + 2.0)
            main.sync(gb + 2.05, gb + 2.6)
            main.execute(gb + 2.62, gb + 3.05, run + 5)
            rows.append(gap("/device:TPU:0", gb, 3.0, "tracing", "value_request",
                            host={"denoise": 0.1 if last else 0.2},
                            tracing=2.4, unknown=0.12 if last else 0.02, dispatch=0.38))
        run += 5
    tpu.run(vae, run, base[20], [30])
    data = finish(space, 1110, [unet, mask, cast, scale, vae])
    expect = {
        "gaps": gaps([device("/device:TPU:0", (30, 1100), 951.992, 40)], rows),
        "steps": steps("annotation", step_rows, 20, 0, 52.08, 52.066),
        "names": names(951.992, 951.992, [("unet", 872.992, None), ("scheduler.step", 49, None), ("vae", 30, None)]),
        "counters": counters(executes=101, reads=40, syncs=21),
        "note": note("SDXL: 20 denoise steps; nonzero() and item() in scheduler.step cause two gaps of 2 to 4 ms each; "
                     "some reads end up to 30 us before the gap they trigger",
                     "value_request as the cause, because the reads last over 42 ms of every 52 ms step; triggers of the "
                     "gaps whose read ended just before them missed; scope \"scheduler\" if .step is folded away")}
    return data, expect


# ---------------------------------------------------------------- tracing, compilation, input, launch

def train_program(id=0x39C2_0E8D_715B_AF60, name="SyncTensorsGraph.133"):
    return Program(name, id, [("fusion.1", "fwd.1/aten__addmm", "fusion", "convolution fusion"),
                              ("fusion.2", "aten__mm", "fusion", "convolution fusion"),
                              ("fusion.3", "opt.3/aten__add", "fusion", "loop fusion")])


@scenario
def s04_tracing_bound():
    program = train_program()
    space = Space()
    tpu = Tpu(space)
    host = Host(space)
    main = host.thread()
    autograd = host.thread("pt_autograd_0", id=8120034417755092613, base=30_000)
    rows = []
    for k in range(6):
        t = 27 * k
        main.step("train_step", k, t + 2.8, t + 26.8)
        main.ev("fwd", t + 3, t + 10)
        main.ev("bwd", t + 10, t + 19)
        autograd.ev("backward_node", t + 10, t + 19)
        main.ev("opt", t + 19, t + 20)
        main.sync(t + 20, t + 25)
        main.execute(t + 25, t + 26.5, 70 + k)
        tpu.run(program, 70 + k, t + 26, [9, 6, 2])
        if k:
            rows.append(gap("/device:TPU:0", t + 16, 10, "tracing", "none", tracing=9, dispatch=1))
    data = finish(space, 200, [program])
    expect = {
        "gaps": gaps([device("/device:TPU:0", (26, 178), 102, 5)], rows,
                     edges=[edge("/device:TPU:0", "lead_in", 26, "tracing", "none")]),
        "steps": steps("annotation", [step("train_step", k, 27 * k + 2.8, 24) for k in range(6)], 6, 0, 27, 24),
        "counters": counters(executes=6, syncs=6),
        "note": note("tracing takes 22 ms of a 27 ms step, the device needs 17: five gaps of 10 ms, 9 of them tracing; "
                     "no op carries the name of scope bwd, but gradients are built while it is open",
                     "132 ms of tracing (sum over the capture); 22 ms a gap; step time 24 ms; 3 ms of host in scope bwd")}
    return data, expect


@scenario
def s05_tracing_hidden():
    program = train_program()
    space = Space()
    tpu = Tpu(space)
    main = Host(space).thread()
    for k in range(6):
        t = 33 * k
        main.step("train_step", k, t + 2.8, t + 26.8)
        main.ev("fwd", t + 3, t + 12)
        main.ev("opt", t + 12, t + 20)
        main.sync(t + 20, t + 25)
        main.execute(t + 25, t + 26.5, 70 + k)
        tpu.run(program, 70 + k, t + 26, [19, 11, 2.9998])
    data = finish(space, 240, [program])
    expect = {
        "gaps": gaps([device("/device:TPU:0", (26, 223.9998), 197.9988, 0)], [],
                     edges=[edge("/device:TPU:0", "lead_in", 26, "tracing", "none")]),
        "steps": steps("annotation", [step("train_step", k, 33 * k + 2.8, 24) for k in range(6)], 6, 0, 33, 24),
        "counters": counters(executes=6, syncs=6),
        "note": note("the same tracing behind a busy device: nothing waits, five holes of 200 ns are below the limit",
                     "tracing-bound (22 ms of tracing in each step); 5 gaps")}
    return data, expect


@scenario
def s06_recompile_every_step():
    program = train_program()
    space = Space()
    tpu = Tpu(space)
    main = Host(space).thread()
    rows, step_rows, t, end = [], [], 5, None
    for k, c in enumerate([310, 320, 305, 315, 300, 340]):
        main.step("train_step", 20 + k, t, t + 16 + c)
        step_rows.append(step("train_step", 20 + k, t, 16 + c))
        main.ev("fwd", t + 0.5, t + 12.5)
        main.sync(t + 13, t + 14.2 + c, compile=(t + 13.6, t + 13.6 + c))
        main.execute(t + 14.3 + c, t + 15.3 + c, 300 + k)
        start = t + 15.2 + c
        tpu.run(program, 300 + k, start, [16, 11, 3])
        if k:
            rows.append(gap("/device:TPU:0", end, start - end, "compile", "compile", host={"train_step": 0.1},
                            compile=c - 6.6, tracing=0.6, dispatch=0.9))
        end = start + 30
        t += 25 + c
    data = finish(space, 2100, [program])
    expect = {
        "gaps": gaps([device("/device:TPU:0", (330.2, 2065.2), 180, 5)], rows,
                     edges=[edge("/device:TPU:0", "lead_in", 330.2, "compile", "compile")]),
        "steps": steps("annotation", step_rows, 6, 0, 335, 331),
        "counters": counters(compiles=6, executes=6, syncs=6),
        "note": note("each of 6 steps compiles again; the device waits for five of the compilations",
                     "3776.4 ms of compilation (both of the nested Compile events, and the first step's)")}
    return data, expect


@scenario
def s07_input_bound():
    program = train_program()
    space = Space()
    tpu = Tpu(space)
    host = Host(space)
    main = host.thread()
    loader = host.thread("Thread-5 (_worker)", id=5106622130045718211, base=40_100)
    evaluator = host.thread("Thread-9 (eval)", id=-811190215526663401, base=40_200)
    rows = []
    for k in range(5):
        t = 50 * k
        main.step("train_step", 1000 + k, t + 1, t + 45)
        main.ev("get_batch_from_cpu_queue", t + 2, t + 38)
        main.ev("fwd", t + 38.1, t + 42.1)
        main.sync(t + 42.2, t + 43.2)
        main.execute(t + 43.4, t + 44.2)
        tpu.run(program, 70 + k, t + 44, [6, 4, 2])
        loader.ev("cpu_loader.next", t + 2.5, t + 30)
        loader.ev("cpu_data_to_xla_device", t + 30, t + 37.8)
        loader.upload(t + 30.5, t + 37.5)
        if k < 4:
            rows.append(gap("/device:TPU:0", t + 56, 38, "input", "none", host={"train_step": 0.4},
                            input=32, tracing=5, dispatch=0.6))
    evaluator.ev("eval_loop", 1, 260)
    data = finish(space, 270, [program])
    expect = {
        "gaps": gaps([device("/device:TPU:0", (44, 256), 60, 4)], rows, clock=False,
                     edges=[edge("/device:TPU:0", "lead_in", 44, "input", "none")]),
        "steps": steps("annotation", [step("train_step", 1000 + k, 50 * k + 1, 44) for k in range(5)], 5, 0, 50, 44),
        "counters": counters(executes=5, uploads=5, syncs=5),
        "note": note("the training thread waits for the loader; launches carry no ids, so the thread is found by its "
                     "last execute call",
                     "upload (TransferToDevice on the loader thread); eval_loop, longest of all, on a thread "
                     "without launches; 36 ms of input a gap (4 of them while the device was busy)")}
    return data, expect


@scenario
def s07b_input_bound_infeed():
    program = Program("SyncTensorsGraph.77", 0x5E22_B0C9_61D4_8F13,
                      [("infeed.1", "", "infeed", "infeed"),
                       ("fusion.2", "fwd.1/aten__addmm", "fusion", "convolution fusion"),
                       ("outfeed.3", "", "outfeed", "outfeed")])
    space = Space()
    tpu = Tpu(space)
    main = Host(space).thread()
    rows = []
    for k in range(4):
        t = 50 * k
        main.sync(t + 7, t + 9.8)
        main.execute(t + 10, t + 10.6, 20 + k)
        main.ev("get_batch_from_cpu_queue", t + 10.6, t + 44.2)
        tpu.run(program, 20 + k, t + 10.6, [33.4, 14] + [0.5] * (k == 3))
        if k < 3:
            rows.append(gap("/device:TPU:0", t + 58, 36, "input", "none",
                            input=33.4, tracing=1.8, dispatch=0.6, unknown=0.2))
    data = finish(space, 230, [program])
    expect = {
        "gaps": gaps([device("/device:TPU:0", (44, 208), 56, 3)], rows,
                     edges=[edge("/device:TPU:0", "lead_in", 44, "input", "none")]),
        "counters": counters(executes=4, syncs=4),
        "note": note("each run starts with an infeed that waits for the loader, the last one ends with an outfeed: "
                     "idle time",
                     "busy 190.1 ms with infeed and outfeed; gaps of 2.6 ms between the modules; window 10.6 to 208.5")}
    return data, expect


@scenario
def s08_launch_latency():
    program = train_program()
    space = Space()
    tpu = Tpu(space)
    main = Host(space).thread()
    main.ev("fwd", 2, 4.5)
    for k in range(8):
        main.execute(5 + 0.5 * k, 5.4 + 0.5 * k, 600 + k)
    at, rows = ms(10), []
    holes = [12_000_000, 12_000_000, 1_000_000, 12_000_000, 999_999, 12_000_000, 12_000_000, 0]   # ps
    for k, hole in enumerate(holes):
        for index, dur in enumerate((ms(1.2), ms(0.9), ms(0.4))):
            tpu.op(tpu.op_line, program, index, at, dur)
            at += dur
        tpu.module(program, 600 + k, at - ms(2.5), ms(2.5))
        if hole >= 1_000_000:
            rows.append(gap("/device:TPU:0", at / 1e9, hole / 1e9, "launch", "none", launch=hole / 1e9))
        at += hole
    data = finish(space, 40, [program])
    expect = {
        "gaps": gaps([device("/device:TPU:0", (10, 30.061999999), 20, 6)], rows),
        "counters": counters(executes=8),
        "note": note("8 executions queued early; the device pauses 12 us between them, once 1 us, once 1 ps less",
                     "dispatch (last host event); 7 gaps; latency 5 to 19 ms (launch call to start, queueing)")}
    return data, expect


# ---------------------------------------------------------------- GPU and CPU

@scenario
def s09_two_streams_gpu():
    space = Space()
    gpu = Gpu(space)
    a, b = gpu.stream(13, "Compute"), gpu.stream(20, "Compute")
    h2d, d2h = gpu.stream(14, "MemcpyH2D"), gpu.stream(15, "MemcpyD2H")
    gpu.kernel(a, "ampere_bf16_s16816gemm_bf16_128x128", 5, 11)
    gpu.kernel(b, "loop_add_fusion", 10, 16)
    gpu.kernel(a, "ampere_bf16_s16816gemm_bf16_128x128", 15, 20)
    gpu.copy(h2d, "H2D", 18, 24)
    gpu.kernel(b, "loop_multiply_fusion", 24.5, 30)
    gpu.copy(h2d, "H2D", 29, 31)
    gpu.kernel(a, "input_reduce_fusion", 31, 34)
    gpu.copy(d2h, "D2H", 34, 36)
    gpu.kernel(a, "redzone_copy_kernel", 36, 37)             # a kernel, but a Memcpy call launched it
    a.event("MemoryAlloc", ms(24.2), ms(0.1), {"correlation_id": U64(300)})
    b.event("MemoryFree", ms(37.5), ms(0.2), {"correlation_id": U64(301)})
    overhead = gpu.plane.line("CUPTI overhead", id=900, timestamp_ns=gpu.base)
    overhead.event("Activity Buffer Request", ms(24.1), ms(0.3))
    api = Host(space).thread("Host Threads/4711", id=4711, base=900)
    kernel, h2d, d2h, d2d = "cuLaunchKernel", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2"
    for n, (name, t) in enumerate([(kernel, 4.2), (kernel, 4.4), (kernel, 4.6), (h2d, 5.0), (kernel, 24.3),
                                   (h2d, 24.5), (kernel, 25.1), (d2h, 25.4), (d2d, 25.6)]):
        api.ev(name, t, t + 0.1, device_id=0, correlation_id=U64(101 + n))
    data = finish(space, 40)
    expect = {
        "gaps": {"devices": [device("/device:GPU:0", (5, 37), 23.5, 1, copy=8)],
                 "gaps": [gap("/device:GPU:0", 24, 0.5)]},
        "note": note("a stream that pauses while another one works is no gap; time with copies alone is copy time; so is a "
                     "kernel that a Memcpy call launched; allocation events are neither",
                     "stream 13 idle 17 ms of 32; busy 25.5 ms (sum of the kernels) or 24.5 (the copy kernel taken for "
                     "work); idle 8.5 ms with copies counted as idle, or busy 31.5 ms with copies counted as work; two "
                     "gaps around MemoryAlloc; window to 37.7")}
    return data, expect


@scenario
def s10_cpu_thunks():
    program = Program("jit_step", 6, [("dot.1", "jit(step)/dot_general", "dot", ""),
                                      ("add_fusion", "jit(step)/add", "fusion", ""),
                                      ("call", "jit(step)/reduce_sum", "call", ""),
                                      ("copy.clone", "", "copy", "")])
    space = Space()
    host = Host(space)
    main = host.thread()
    pool = [host.thread("tf_XLAEigen/5494475455083339641", id=5494475455083339641, base=300),
            host.thread("tf_XLAPjRtCpuClient/-3945551288177124444", id=-3945551288177124444, base=12_000),
            host.thread("tf_XLAPjRtCpuClient/-8946003229074993086", id=-8946003229074993086, base=12_700)]
    ident = 12884901888

    def thunk(thread, op, a, b, run, ordinal):
        nonlocal ident
        stats = {"hlo_op": Ref(op), "hlo_module": Ref("jit_step"), "program_id": 6, "run_id": run,
                 "_pt": 0, "_p": ident}
        if ordinal is not None:
            stats["device_ordinal"] = ordinal
        pool[thread].ev(op, a, b, **stats)
        pool[thread].ev("end: " + op, b - 0.0002, b + 0.0003, _ct=0, _c=ident)
        ident += 1
    thunk(0, "dot.1", 10, 14, 101, None)              # no ordinal: device 0
    thunk(1, "add_fusion", 13, 15.5, 101, 0)
    thunk(0, "call", 15.5, 18, 101, None)
    thunk(0, "copy.clone", 15.7, 17.9, 101, None)     # nested
    thunk(2, "dot.1", 22, 27, 102, 0)
    thunk(1, "dot.1", 11, 13, 101, 1)
    thunk(2, "add_fusion", 16, 19.25, 103, 1)
    thunk(1, "call", 19.25, 21, 103, 1)

    def execute(name, a, b, run):
        main.ev("CommonPjRtLoadedExecutable::Execute (%s)" % name, a, b, run_id=run, num_replicas=1, num_partitions=2)
    execute("jit_step", 9, 9.8, 101)
    main.ev("PjitFunction(step)", 14, 16.3)
    main.ev("trace_to_jaxpr", 14.1, 14.6)
    execute("jit_step", 14.8, 16.2, 103)
    main.ev("load", 16.5, 19.7)
    main.ev("PjitFunction(step)", 20, 22.5)
    main.ev("trace_to_jaxpr", 20.05, 20.4)
    execute("jit_step", 20.5, 22.3, 102)
    data = finish(space, 30, [program], sequential_ids=False)
    expect = {
        "gaps": gaps([device("CPU:0", (10, 27), 13, 1), device("CPU:1", (11, 21), 7, 1)],
                     [gap("CPU:0", 18, 4, "input", "none", input=1.7, unknown=0.3, tracing=0.5, dispatch=1.5),
                      gap("CPU:1", 13, 3, "dispatch", "none", unknown=1, tracing=0.8, dispatch=1.2)]),
        "counters": counters(executes=3),
        "note": note("XLA CPU: no device plane, the ops of two devices lie on three thread lines",
                     "one device with a single gap of 1 ms (ordinals merged); busy 16.2 ms on device 0 (sum of "
                     "durations); gaps per thread line; gap from 18.0003 (the end marker taken for work)")}
    return data, expect


# ---------------------------------------------------------------- names

def names_tpu(named):
    program = Program("SyncTensorsGraph.57", 0x2B7E_1516_28AE_D2A6,
                      [("fusion.1", "fwd.1/aten__addmm", "fusion", "convolution fusion"),
                       ("fusion.2", "fwd.2/attn.1/aten__bmm", "fusion", "convolution fusion"),
                       ("fusion.3", "fwd.2/aten__relu;fwd.2/aten__add", "fusion", "loop fusion"),
                       ("fusion.4", "aten__mm", "fusion", "convolution fusion"),
                       ("fusion.5", "aten__threshold_backward", "fusion", "loop fusion"),
                       ("fusion.6", "opt.3/aten__add", "fusion", "loop fusion"),
                       ("copy.7", "", "copy", "data formatting")], named)
    space = Space()
    tpu = Tpu(space)
    main = Host(space).thread()
    main.step("train_step", 412, 1, 9)
    main.ev("fwd", 1.1, 3.1)
    main.ev("fwd", 3.2, 4.0)
    main.ev("attn", 3.3, 3.6)
    main.ev("bwd", 4.1, 6.0)
    main.ev("opt", 6.1, 7.0)
    main.sync(7.1, 8.3)
    main.execute(8.4, 8.9, 31)
    tpu.run(program, 31, 9.2, [2.5, 1.25, 0.25, 3.25, 0.75, 1.5, 0.5])
    data = finish(space, 25, [program])
    return data, {"gaps": gaps([device("/device:TPU:0", (9.2, 19.2), 10, 0)], []),
                  "steps": steps("annotation", [step("train_step", 412, 1, 8)], 1, 0, None, 8),
                  "counters": counters(executes=1, syncs=1)}


@scenario
def s11_names_on_tpu():
    data, expect = names_tpu(True)
    expect["names"] = names(10, 5.5, [("fwd", 4, 3), ("fwd/attn", 1.25, 1), ("opt", 1.5, 1)], gate="on")
    expect["note"] = note("op names in the metadata stat tf_op; backward ops have an op type but no scope; "
                          "fusion.3 has two names, both in fwd",
                          "rows fwd.1 and fwd.2, or fwd/aten__relu;fwd; named 9.5 ms (every op with a tf_op); a row "
                          "bwd from the host scope; "
                          "copy.7 as a copy and not as work")
    return data, expect


@scenario
def s12_names_off_tpu():
    data, expect = names_tpu(False)
    expect["names"] = names(10, 0, [], gate="off")
    expect["note"] = note("the program of s11_names_on_tpu with op names switched off",
                          "an empty table without a total, or time booked on host scopes by overlap")
    return data, expect


def names_gpu(named):
    step_program = Program("SyncTensorsGraph.57", 3,
                           [("fusion.1", "fwd.1/aten__addmm", "fusion", ""),
                            ("gemm_fusion_dot.2", "fwd.2/aten__mm", "fusion", ""),
                            ("fusion.4", "aten__mm", "fusion", ""),
                            ("custom-call.5", "", "custom-call", "")], named)
    opt_program = Program("SyncTensorsGraph.88", 5, [("fusion.1", "opt.1/aten__add", "fusion", "")], named)
    space = Space()
    gpu = Gpu(space)
    gpu.plane.map_order = "reverse"
    s = gpu.stream(13, "Compute,Memset")
    gpu.kernel(s, "loop_add_fusion", 10, 12, step_program, 0)
    gpu.kernel(s, "gemm_fusion_dot_2", 12, 15, step_program, 1)
    gpu.kernel(s, "gemm_fusion_dot_4", 15, 16, step_program, 2)
    gpu.kernel(s, "void cudnn::bn_bw_1C11_kernel_new<float>", 16, 17.5, step_program, 3)
    gpu.kernel(s, "loop_add_fusion", 17.5, 18.25, opt_program, 0)
    s.event("Memset", ms(18.25), ms(0.25), {"correlation_id": U64(200),
                                            "Memset_details": Ref("kind:device num_bytes:4096 async:1")})
    api = Host(space).thread("Host Threads/4711", id=4711, base=900)
    for n, (p, index) in enumerate([(step_program, i) for i in range(4)] + [(opt_program, 0)]):
        api.ev("cuLaunchKernel", 9 + 0.1 * n, 9.05 + 0.1 * n, device_id=0, correlation_id=U64(101 + n),
               tf_op=Ref("XlaModule:"), hlo_op=Ref(p.ops[index][0]), hlo_module=Ref(p.name), program_id=p.id)
    data = finish(space, 20, [step_program, opt_program], sequential_ids=named)
    return data, {"gaps": {"devices": [device("/device:GPU:0", (10, 18.5), 8.5, 0)], "gaps": []}}


@scenario
def s11_names_on_gpu():
    data, expect = names_gpu(True)
    expect["names"] = names(8.5, 5.75, [("fwd", 5, 2), ("opt", 0.75, 1)], gate="on")
    expect["note"] = note("op names in the HLO protos, by program id and instruction; two programs have a fusion.1",
                          "fwd 5.75 ms, opt 0 (instruction looked up without the program); a scope \"XlaModule\"; a "
                          "device CPU:0 (the host's API calls carry hlo_op, too)")
    return data, expect


@scenario
def s12_names_off_gpu():
    data, expect = names_gpu(False)
    expect["names"] = names(8.5, 0, [])
    expect["note"] = note("the programs of s11_names_on_gpu with op names switched off; HLO protos are still there",
                          "a scope \"XlaModule\" from the stat tf_op; hlo_op taken for a name (8.25 ms named)")
    return data, expect


# ---------------------------------------------------------------- damaged and odd captures

@scenario
def s13_untimed_events():
    space = Space()
    gpu = Gpu(space, base=0)
    s = gpu.stream(7, "Compute")
    rows = []
    for k in range(12):
        gpu.kernel(s, "loop_add_fusion", 200 + 3 * k, 201.5 + 3 * k)
        if k < 7:
            gpu.kernel(s, "loop_multiply_fusion", 0, 0)
        if k < 11:
            rows.append(gap("/device:GPU:0", 201.5 + 3 * k, 1.5, "unknown", "none", unknown=1.5))
    data = finish(space, 300)
    return data, {
        "gaps": gaps([device("/device:GPU:0", (200, 234.5), 18, 11)], rows, clock=False,
                     edges=[edge("/device:GPU:0", "lead_in", 200, "unknown", "none"),
                            edge("/device:GPU:0", "tail", 65.5, "unknown", "none")]),
        "steps": NO_STEPS,
        "warnings_contain": ["7 untimed"],
        "note": note("12 timed kernels and 7 with start 0 and duration 0; no host plane",
                     "window from 0: idle 216.5 ms, 12 gaps; 19 kernels in the window")}


@scenario
def s14_no_device_plane_but_launches():
    space = Space()
    main = Host(space).thread()
    for k in range(25):
        t = 40 * k
        main.step("train_step", k, t + 3, t + 20)
        main.ev("fwd", t + 4, t + 14)
        main.sync(t + 14.5, t + 16)
        main.execute(t + 16.5, t + 17.5, k)
    data = finish(space, 1000)
    return data, {
        "gaps": {"devices": [], "gaps": []},
        "steps": steps("annotation", [step("train_step", k, 40 * k + 3, 17) for k in range(25)], 25, 0, 40, 17),
        "counters": counters(executes=25, syncs=25),
        "warnings_contain": ["25 launches"],
        "note": note("25 launches on the host, no device plane: the device trace is missing",
                     "device idle 100 %; 50 launches (the execute call and the runtime's event inside it)")}


@scenario
def s15_plane_ends_early():
    program = train_program()
    space = Space()
    first, second = Tpu(space, 0), Tpu(space, 1)
    main = Host(space).thread()
    rows = []
    for k in range(20):
        t = 60 * k
        main.ev("fwd", t + 20, t + 45)
        main.execute(t + 45.5, t + 50.2, 800 + k, name="PjRtComputationClient::ExecuteReplicated", ordinals=(0, 1))
        for n, tpu in enumerate((first, second)):
            if n and k > 7:
                continue
            tpu.run(program, 800 + k, t + 50, [28, 15, 5])
            if k:
                rows.append(gap("/device:TPU:%d" % n, t + 38, 12, "tracing", "none",
                                tracing=7, unknown=0.5, dispatch=4.5))
    data = finish(space, 1295, [program])
    return data, {
        "gaps": gaps([device("/device:TPU:0", (50, 1238), 960, 19),
                      device("/device:TPU:1", (50, 518), 384, 7)], rows),
        "counters": counters(executes=20),
        "warnings_contain": ["/device:TPU:1"],
        "note": note("the second device has no event after 518 ms, 40 % of the capture, although launches go on",
                     "device 1 idle 804 ms of 1188, with a gap of 720 ms at its end")}


@scenario
def s16_negative_offset():
    program = train_program()
    space = Space()
    tpu = Tpu(space, bases=(1_000, 40_000_000))
    host = Host(space)
    main = host.thread(base=35_000_000)
    other = host.thread("tf_data_iterator", id=611, base=1_000)
    other.ev("Iterator::Prefetch", 0.0005, 0.0007)        # stored as offset -500000 ps
    main.step("train_step", 4, -2, 12)
    main.step("train_step", 5, 12.5, 33)
    main.step("train_step", 6, 33, 54)
    main.execute(29.4, 30.2, 5)
    main.upload(36.2, 37.5)
    main.execute(37.6, 38.1, 6)
    tpu.run(program, 5, 30, [4, 1.5, 0.5])
    tpu.run(program, 6, 38, [7, 5, 2])
    data = finish(space, 60, [program])
    return data, {
        "gaps": gaps([device("/device:TPU:0", (30, 52), 20, 1)],
                     [gap("/device:TPU:0", 36, 2, "upload", "none", host={"train_step": 0.3},
                          upload=1.3, dispatch=0.4)]),
        "steps": steps("annotation", [step("train_step", 4, -2, 14, False), step("train_step", 5, 12.5, 20.5),
                                      step("train_step", 6, 33, 21)], 2, 1, 20.5, 20.75),
        "counters": counters(executes=2, uploads=1),
        "note": note("events before the base of their line have negative offsets; one step began before the session",
                     "starts near 1.8e19 ps (offset read as unsigned) or at the base of the line, 40 ms (clamped); "
                     "step 4 counted as complete: period 17.5")}


@scenario
def s17_duplicate_line_ids_and_planes():
    program = Program("SyncTensorsGraph.33", 0x21D0_7F35_6A9C_BE48,
                      [("fusion.%d" % n, "fwd.1/aten__addmm", "fusion", "convolution fusion") for n in range(5)])
    space = Space()
    main = Host(space).thread(id=7)          # the id of a device line, on the host
    one = Tpu(space, ids=(0, 0))             # two lines with one id in one plane
    two = Tpu(space, ids=(7, 7))             # the same plane once more
    again = two.plane.line("XLA Ops", id=7, timestamp_ns=4_100)
    one.op(one.op_line, program, 0, ms(10), ms(10))
    one.op(one.op_line, program, 1, ms(22), ms(8))
    two.op(two.op_line, program, 2, ms(20), ms(2))
    two.op(again, program, 3, ms(25), ms(7))
    two.op(two.op_line, program, 4, ms(35), ms(5))
    one.module(program, 1, ms(10), ms(12))
    one.module(program, 2, ms(22), ms(11))
    two.module(program, 3, ms(34.5), ms(5.5))
    main.execute(8, 9, 1)
    main.execute(19, 20.5, 2)
    main.ev("DeviceBarrier", 21, 32)
    main.ev("load", 32.05, 34.4)
    main.execute(34.45, 35.2, 3)
    data = finish(space, 50, [program])
    return data, {
        "gaps": gaps([device("/device:TPU:0", (10, 40), 27, 1)],
                     [gap("/device:TPU:0", 32, 3, "input", "wait", in_program=1, input=1.4, unknown=0.05, dispatch=0.55)]),
        "counters": counters(executes=3),
        "note": note("a device plane that occurs twice, lines that share an id with another line, two XLA Ops lines; the "
                     "gap begins inside a run and ends inside the next, whose launch call has not returned",
                     "gaps per plane (2 ms at 20; 3 ms at 22 and 32); gap [33, 34.5) if lines of one id are merged; "
                     "busy 32 ms (sum of durations); in_program 1.5 ms")}


@scenario
def s18_steps_by_module():
    setup = Program("SyncTensorsGraph.12", 0x0C83_5E1A_D4F7_6B29,
                    [("fusion.1", "aten__normal", "fusion", "loop fusion")])
    program = train_program()
    space = Space()
    tpu = Tpu(space)
    main = Host(space).thread()
    runs = [(12, 80), (113, 82), (212, 78), (315, 81), (412, 79)]
    main.execute(1.2, 1.9, 10)
    tpu.run(setup, 10, 2, [5])
    rows, end = [], 7
    for k, (start, dur) in enumerate(runs):
        main.sync(start - 6, start - 1)
        main.execute(start - 0.9, start + 0.1, 11 + k)
        tpu.run(program, 11 + k, start, [dur - 50, 40, 10])
        if k:
            rows.append(gap("/device:TPU:0", end, start - end, "unknown", "none",
                            tracing=5, dispatch=0.9, unknown=start - end - 5.9))
        else:
            rows.append(gap("/device:TPU:0", 7, 5, "tracing", "none", tracing=4, unknown=0.1, dispatch=0.9))
        end = start + dur
    data = finish(space, 500, [setup, program])
    return data, {
        "gaps": gaps([device("/device:TPU:0", (2, 491), 405, 5)], rows),
        "steps": steps("module", [{"start_ps": ms(a), "dur_ps": ms(d), "complete": True} for a, d in runs],
                       5, 0, 100, 80),
        "counters": counters(executes=6, syncs=5),
        "note": note("no annotations: the five runs of the repeated module are the steps",
                     "no steps at all; 6 steps (the setup module too); step time 80 ms (mean duration)")}


@scenario
def s19_multi_device_skewless_collective():
    program = Program("SyncTensorsGraph.140", 0x7A61_03BE_58CF_D914,
                      [("fusion.1", "fwd.1/aten__addmm", "fusion", "convolution fusion"),
                       ("all-reduce.2", "opt.3/xla__cross_replica_sum", "all-reduce", "all-reduce"),
                       ("copy-start.5", "", "copy-start", "copy-start")])
    space = Space()
    rows = []
    for d in range(4):
        tpu = Tpu(space, d)
        tpu.run(program, 1, 10, [8 + 1.5 * d, 6 - 1.5 * d])
        tpu.run(program, 2, 26, [12.5 - 1.5 * d, 1.5 + 1.5 * d])
        tpu.op(tpu.plane.line("Async XLA Ops", id=3, timestamp_ns=4_100), program, 2, ms(23), ms(4))
        rows.append(gap("/device:TPU:%d" % d, 24, 2, "tracing", "value_request", host={"batch": 0.5},
                        value_request=0.4, tracing=0.6, dispatch=0.5))
    main = Host(space).thread()
    main.execute(8.5, 9.5, 1, name="PjRtComputationClient::ExecuteReplicated", ordinals=range(4))
    main.read(11, 24.4)
    main.ev("batch", 24.4, 24.9)
    main.sync(24.9, 25.5)
    main.execute(25.5, 26.3, 2, name="PjRtComputationClient::ExecuteReplicated", ordinals=range(4))
    data = finish(space, 50, [program])
    return data, {
        "gaps": gaps([{**device("/device:TPU:%d" % d, (10, 40), 28, 1), "collective_ps": ms(7.5),
                       "collective_wait_ps": ms(4.5)} for d in range(4)], rows),
        "counters": counters(executes=2, reads=1, syncs=1),
        "ops": {"total_ps": ms(112), "rows": [{"key": "fusion.1", "count": 8, "total_ps": ms(82)},
                                              {"key": "all-reduce.2", "count": 8, "total_ps": ms(30)}]},
        "note": note("4 devices reach an all-reduce at different times and leave it together; an async copy spans "
                     "the gap",
                     "no gap (the event on \"Async XLA Ops\" taken for work); the wait inside the all-reduce as idle "
                     "time; one gap for all devices; collective wait 7.5 ms (the whole of the collectives); "
                     "input in scope batch")}


@scenario
def s20_truncated():
    program = train_program()
    space = Space()
    main = Host(space).thread()
    for n in range(2):
        tpu = Tpu(space, n)
        tpu.run(program, 1, 10, [4, 3, 1])
        tpu.run(program, 2, 21, [4, 3, 2])
    main.execute(9, 10.1, 1, name="PjRtComputationClient::ExecuteReplicated", ordinals=range(2))
    main.read(12, 18.5)
    main.ev("log", 18.5, 19)
    main.ev("fwd", 19, 20.4)
    main.execute(20.4, 21.3, 2, name="PjRtComputationClient::ExecuteReplicated", ordinals=range(2))
    data = space.encode()
    ops = put_bytes(3, space.planes[2].lines[1].encode())
    cut = data.rindex(ops) + len(ops) // 2           # among the events of its second line
    return data[:cut], {
        "gaps": gaps([device("/device:TPU:0", (10, 30), 17, 1)],
                     [gap("/device:TPU:0", 18, 3, "tracing", "value_request", host={"log": 0.5},
                          value_request=0.5, tracing=1.4, dispatch=0.6)]),
        "counters": counters(executes=2, reads=1),
        "warnings_contain": ["truncated"],
        "exit_code": 5,
        "note": note("a capture of 3 planes cut inside the third: the two planes before the cut are read",
                     "nothing read at all, or a third device without names")}


@scenario
def s21_worker_launch():
    program = train_program()
    space = Space()
    tpu = Tpu(space)
    host = Host(space)
    main = host.thread()
    worker = host.thread("tf_pytorchxla/-409463834180935176", id=-409463834180935176, base=55_000)
    rows = []
    for k in range(5):
        t = 30 * k
        main.ev("fwd", t + 2, t + 14)
        main.ev("opt", t + 14, t + 17)
        main.sync(t + 17, t + 22, record=100 + k)
        main.ev("TensorCollectionBarrier", t + 17.1, t + 17.12)
        worker.ev("ThreadpoolListener::StartRegion", t + 22, t + 22, _ct=15, _c=100 + k)
        worker.execute(t + 22.05, t + 23.5, 40 + k)
        worker.ev("ThreadpoolListener::StopRegion", t + 23.6, t + 23.6)
        tpu.run(program, 40 + k, t + 23, [9, 5, 2])
        if k:
            rows.append(gap("/device:TPU:0", t + 9, 14, "tracing", "none", tracing=12.98, wait=0.02,
                            unknown=0.05, dispatch=0.95))
    data = finish(space, 170, [program])
    return data, {
        "gaps": gaps([device("/device:TPU:0", (23, 159), 80, 4)], rows,
                     edges=[edge("/device:TPU:0", "lead_in", 23, "tracing", "none")]),
        "counters": counters(executes=5, syncs=5),
        "note": note("the execute call runs as a pool task; before the task starts, the thread that scheduled it "
                     "(_p/_c of the task) is the one the device waits for; a barrier of 20 us inside the tracing",
                     "unknown 13.05 ms, because the pool thread has no event before its task; trigger wait")}


# ---------------------------------------------------------------- further captures

V4_STARTS = (87_151.854, 88_912.162, 90_673.429, 92_434.408, 94_195.692)      # us, device 0
V4_SKEW = (0, 0.3, 0.1, 0.4, 0.2, 0.5, 0.1, 0.3)                              # us, per device
V4_OPS = [("copy-start", 0.004, ""), ("copy-done", 17.9, ""),
          ("convert_reduce_fusion.5", 267.4, "layer_0/dot_general"),
           ("psum_invariant.42", 13.0, "layer_0/normalize/psum_invariant"),
          ("convert_reduce_fusion.4", 271.3, "layer_1/dot_general"),
           ("psum_invariant.43", 12.1, "layer_1/normalize/psum_invariant"),
          ("convert_reduce_fusion.3", 271.0, "layer_2/dot_general"), ("psum.44", 12.0, "layer_2/normalize/psum"),
          ("convert_reduce_fusion.2", 271.2, "layer_3/dot_general"), ("psum.45", 12.0, "layer_3/normalize/psum"),
          ("convert_reduce_fusion.1", 271.4, "layer_4/dot_general"), ("psum.46", 12.1, "layer_4/normalize/psum"),
          ("convert_reduce_fusion", 271.2, "layer_5/dot_general"), ("psum.47", 12.0, "layer_5/normalize/psum"),
          ("broadcast_divide_fusion", 17.5, "div")]


def v4_metadata(plane, index, program_id):
    """Id of the metadata entry of one op: the HLO text as its name, the instruction as its display name."""
    inst, _, scope = V4_OPS[index]
    wide, flat = "bf16[512,4096]{1,0:T(8,128)(2,1)}", "f32[512]{0:T(512)}"
    if inst.startswith("psum"):
        category = "all-reduce"
        text = ("%%%s = %s all-reduce(%s %%convert_reduce_fusion.5), channel_id=%d, "
                "replica_groups={{0,1,2,3,4,5,6,7}}, use_global_device_ids=true, to_apply=%%region_0.1"
                % (inst, flat, flat, index))
    elif inst.startswith("copy"):
        category = inst
        text = "%%%s = %s %s(%s %%param.1)" % (inst, flat, inst, flat)
    else:
        category = "convolution fusion" if inst.startswith("convert") else "loop fusion"
        text = ("%%%s = %s fusion(%s %%param.2, %s %%copy-done), kind=kOutput, calls=%%fused_computation.%d"
                % (inst, flat, wide, flat, index))
    stats = {"hlo_category": Ref(category), "program_id": U64(program_id), "symbol_id": U64(index + 1),
             "flops": U64(2 * 512 * 4096 * (index + 1)), "bytes_accessed": U64(4_196_352),
             "source": Ref("train.py:%d" % (40 + index))}
    if scope:
        stats["tf_op"] = Ref("jit(step)/shard_map/%s:" % scope)
    return plane.event_metadata(text, inst, stats)


@scenario
def s22_tpu_v4_like():
    program_id, number = 0x6B1F_9A24_D07C_358E, len(V4_STARTS)
    space = Space()
    rows, devices, edges = [], [], []
    for n, skew in enumerate(V4_SKEW):
        tpu = Tpu(space, n, bases=(86_000_000, 86_000_000), kind=("TPU v4", 275.0, 1228.8))
        barriers = tpu.plane.line("XLA TraceMe", id=3, timestamp_ns=86_000_000)
        busy, end, first, collective = 0, None, None, 0
        for k, begin in enumerate(V4_STARTS):
            begin = at = ms((begin + skew) / 1000)
            wait = ms((64.5 if k == 0 else 3.4) / 1000)
            barriers.event("barrier-cores", begin - wait, ms((2.8 + 0.1 * (k + n) % 0.4) / 1000))
            if end is not None:
                rows.append(gap("/device:TPU:%d" % n, end / 1e9, (begin - end) / 1e9, "launch", "none",
                                launch=(begin - end) / 1e9))
            first = begin if first is None else first
            for index, (inst, us, _) in enumerate(V4_OPS):
                if k == 0 and inst == "copy-start":
                    continue
                dur = ms((31.0 if k == 0 and inst == "psum_invariant.42" else us) / 1000)
                tpu.op_line.event(None, at, dur, meta=v4_metadata(tpu.plane, index, program_id))
                busy += dur
                collective += dur if inst.startswith("psum") else 0
                end = at + dur
                at = end + 500_000 + 100_000 * (index % 3)
            tpu.modules.event("jit_step(%d)" % program_id, begin, end - begin, {"run_id": 7300 + k, "queue_id": 0})
        devices.append({**device("/device:TPU:%d" % n, (first / 1e9, end / 1e9), busy / 1e9, number - 1),
                        "collective_ps": collective, "collective_wait_ps": ms(30 * (0.5 - skew) / 1000)})
        edges.append(edge("/device:TPU:%d" % n, "lead_in", first / 1e9, "unknown"))
    main = Host(space).thread(base=86_000_000)
    for k in range(number):
        t = 86.9 + 0.2 * k
        main.step("train", k, t, t + 0.18)
        main.ev("PjitFunction(step)", t + 0.01, t + 0.17)
        main.execute(t + 0.02, t + 0.15, 7300 + k, name="CommonPjRtLoadedExecutable::Execute", ordinals=range(8))
    data = finish(space, 97)
    us = {inst: d * 8 * number for inst, d, _ in V4_OPS}
    us["copy-start"] -= 8 * 0.004
    us["psum_invariant.42"] += 8 * 18
    scopes = {}
    for inst, _, scope in V4_OPS:
        path = ("shard_map/" + scope).split("/")[:-1] if scope else []
        for n in range(len(path)):
            name = "/".join(path[:n + 1])
            scopes[name] = scopes.get(name, 0) + us[inst]
    total = sum(us.values())
    return data, {
        "gaps": gaps(devices, rows, edges=edges),
        "steps": steps("annotation", [step("train", k, 86.9 + 0.2 * k, 0.18) for k in range(number)], number, 0, 0.2, 0.18),
        "ops": {"total_ps": ms(total / 1000),
                "rows": [{"key": i, "count": 32 if i == "copy-start" else 40, "total_ps": ms(us[i] / 1000)} for i in us]},
        "names": names(total / 1000, scopes["shard_map"] / 1000, [(s, t / 1000, None) for s, t in scopes.items()]),
        "counters": counters(executes=number),
        "note": note("a shard_map program on 8 TensorCores, laid out as on a TPU v4-8; all 5 steps are launched before "
                     "the first one ends, so that the 2 to 20 us between them are launch time",
                     "about 70 gaps a device (the half microseconds between ops); a step of 200 us (annotations of a "
                     "host that runs ahead) as device time; scopes \"jit(step)/..\" or a trailing colon; barrier-cores as work; "
                     "HLO text as the key of an op")}


@scenario
def s23_gate_off_torch():
    program = Program("SyncTensorsGraph.133", 0x39C2_0E8D_715B_AF60,
                      [("fusion.%d" % n, "", "fusion", "convolution fusion") for n in (1, 2, 3)], named=False)
    space = Space()
    tpu = Tpu(space)
    main = Host(space).thread()
    rows = []
    for k in range(6):
        t = 40 * k
        main.step("train_step", k, t + 1, t + 38)
        main.ev("load", t + 1.5, t + 3.5)
        main.ev("fwd", t + 4, t + 16)
        main.ev("opt", t + 16, t + 24)
        main.sync(t + 24, t + 27)
        main.execute(t + 27, t + 28.5, 40 + k)
        tpu.run(program, 40 + k, t + 28, [9, 7, 2])
        if k:
            rows.append(gap("/device:TPU:0", t + 6, 22, "host", "none", host={"fwd": 10, "opt": 8}, tracing=3, dispatch=1))
            for part in rows[-1]["parts"]:
                if part["cause"] == "host":
                    part["maybe"] = "tracing"
    data = finish(space, 260, [program])
    return data, {
        "gaps": gaps([device("/device:TPU:0", (28, 246), 108, 5)], rows,
                     edges=[edge("/device:TPU:0", "lead_in", 28, "host", "none")]),
        "steps": steps("annotation", [step("train_step", k, 40 * k + 1, 37) for k in range(6)], 6, 0, 40, 37),
        "names": names(108, 0, [], gate="off"),
        "counters": counters(executes=6, syncs=6),
        "note": note("torch_xla scopes on the host, no op names on the device: whether fwd and opt trace cannot be told",
                     "tracing 21 ms a gap, as if the scopes named instructions; host without a word about the names gate")}


@scenario
def s24_cpu_end_markers():
    program = Program("jit_step", 7, [("dot.1", "jit(step)/dot_general", "dot", ""),
                                      ("dot.2", "jit(step)/dot_general", "dot", ""),
                                      ("add_fusion", "jit(step)/add", "fusion", "")])
    space = Space()
    host = Host(space)
    main = host.thread()
    pool = host.thread("tf_XLAEigen/5494475455083339641", id=5494475455083339641, base=300)
    other = host.thread("tf_XLAEigen/-7711905320417713325", id=-7711905320417713325, base=300)
    ident = 8589934592
    for run, t in ((201, 10), (202, 27)):
        main.ev("PjitFunction(step)", t - 1.1, t - 0.1)
        main.ev("CommonPjRtLoadedExecutable::Execute (jit_step)", t - 0.8, t - 0.1, run_id=run, num_replicas=1,
                num_partitions=1)
        for op, a, dur in (("dot.1", t, 0.15), ("dot.2", t + 5.15, 0.2), ("add_fusion", t + 10.65, 0.15)):
            pool.ev(op, a, a + dur, hlo_op=Ref(op), hlo_module=Ref("jit_step"), program_id=7, run_id=run, _pt=0, _p=ident)
            other.ev("end: " + op, a + dur + 5, a + dur + 5.0005, _ct=0, _c=ident)
            ident += 1
    main.ev("batched_copy_array_to_devices", 25.8, 25.88)
    main.ev("np.asarray(jax.Array)", 43, 43.6)
    main.ev("CommonPjRtBuffer::ToLiteral", 43.1, 43.5)
    data = finish(space, 50, [program], sequential_ids=False)
    return data, {
        "gaps": gaps([device("CPU:0", (10, 42.8), 31, 3)],
                     [gap("CPU:0", 20.35, 0.3, "in_program", "none", in_program=0.3),
                      gap("CPU:0", 25.8, 1.2, "dispatch", "none", upload=0.08, unknown=0.02, dispatch=1, launch=0.1),
                      gap("CPU:0", 37.35, 0.3, "in_program", "none", in_program=0.3)],
                     edges=[edge("CPU:0", "lead_in", 10, "unknown", "none")]),
        "counters": {"compiles": 0, "executes": 2, "reads": 1, "syncs": 0},
        "note": note("XLA CPU ops hand their work to a pool: each ends 5 ms after its event, with the marker of its id",
                     "busy 1 ms and idle 26.95 (the events alone); dot.1 busy to 32.15 (the marker of another id)")}


@scenario
def s25_while_infeed():
    program = Program("SyncTensorsGraph.61", 0x4D1E_7B92_0C35_A8F6,
                      [("while.1", "", "while", "while"),
                       ("fusion.2", "loop.1/aten__addmm", "fusion", "convolution fusion"),
                       ("infeed.3", "", "infeed", "infeed"), ("recv-done.4", "", "recv-done", "recv-done")])
    space = Space()
    tpu = Tpu(space)
    main = Host(space).thread()
    LOOP, BODY, INFEED, RECV = range(4)
    runs = [(1, 10, 60, [(BODY, 10.5, 12), (INFEED, 12, 20), (BODY, 20, 30), (INFEED, 30, 42), (BODY, 42, 50),
                         (RECV, 50, 53), (BODY, 53, 59.5)]),
            (2, 66, 96, [(BODY, 66.5, 80), (INFEED, 80, 84), (BODY, 84, 95)])]
    for run, a, b, body in runs:
        tpu.module(program, run, ms(a), ms(b - a))
        for index, x, y in [(LOOP, a, b)] + body:
            tpu.op(tpu.op_line, program, index, ms(x), ms(y - x))
    main.execute(9, 9.9, 1)
    main.ev("get_batch_from_cpu_queue", 60.2, 63.8)
    main.execute(64, 64.8, 2)
    data = finish(space, 110, [program])

    def infeed(a, b):
        return gap("/device:TPU:0", a, b - a, "input", "none", input=b - a)
    return data, {
        "gaps": gaps([device("/device:TPU:0", (10, 96), 53, 5)],
                     [infeed(12, 20), infeed(30, 42), gap("/device:TPU:0", 50, 3), infeed(80, 84),
                      gap("/device:TPU:0", 60, 6, "input", "none", input=3.6, unknown=0.4, dispatch=0.8, launch=1.2)]),
        "counters": counters(executes=2),
        "note": note("a loop on the device waits for its infeed in the middle; the while op covers that time, but it "
                     "is idle",
                     "busy 80 ms and one gap (while taken for work throughout); in_program for the infeed")}


@scenario
def s26_two_hosts():
    def capture(host, start_ns, stop_ms, begins, dur, before):
        program = train_program()
        space = Space()
        tpu = Tpu(space)
        main = Host(space).thread()
        for k, t in enumerate(begins):
            before(main, t)
            main.execute(t - 1, t + 0.1, 500 + k)
            tpu.run(program, 500 + k, t, [dur - 15, 10, 5])
        space.hlo_metadata([(program.name, program.id, program.hlo())])
        space.task_environment(start_ns, start_ns + ms(stop_ms) // 1000)
        space.hostnames.append(host)
        return space.encode()
    files = {
        "alpha": capture("alpha", T0, 700, (40, 140, 240), 60, lambda m, t: m.ev("load", t - 30, t - 5)),
        "beta": capture("beta", T0 + 250_000_000, 450, (40, 120, 200), 50, lambda m, t: m.sync(t - 28, t - 3))}
    tpu = "/device:TPU:0"
    devices = [{**device(tpu, (40, 300), 180, 2), "host": "alpha"}, {**device(tpu, (290, 500), 150, 2), "host": "beta"}]
    rows = [{**gap(tpu, t, 40, "input", "none", input=25, unknown=14, dispatch=1), "host": "alpha"} for t in (100, 200)]
    rows += [{**gap(tpu, t, 30, "tracing", "none", tracing=25, unknown=4, dispatch=1), "host": "beta"} for t in (340, 420)]
    return {"plugins/profile/2025_06_15_15_06_40/%s.xplane.pb" % h: data for h, data in files.items()}, {
        "gaps": gaps(devices, rows),
        "counters": counters(executes=6, syncs=3),
        "note": note("two hosts of one run; the second one began to record 250 ms later; run ids are the same on both",
                     "times of beta 250 ms early; one device (both are called /device:TPU:0); launches linked "
                     "across hosts")}


@scenario
def s27_lead_in_compile():
    program = Program("jit_step", 0x2A77_C3E0_915D_4B68,
                      [("fusion.1", "jit(step)/jvp(layer_0)/dot_general", "fusion", "convolution fusion"),
                       ("fusion.2", "jit(step)/transpose(jvp(layer_0))/dot_general", "fusion", "convolution fusion"),
                       ("fusion.3", "jit(step)/block.1/add", "fusion", "loop fusion")])
    space = Space()
    tpu = Tpu(space)
    main = Host(space).thread()
    main.ev("PjitFunction(step)", 1, 126.1)
    main.ev("trace_to_jaxpr_dynamic", 1.1, 2.2)
    main.ev("lower_sharding_computation", 2.2, 3)
    main.ev("backend_compile_and_load", 3, 125)
    main.ev("PjRtCApiClient::CompileAndLoad", 3.2, 124.8)
    main.execute(125.2, 126.1, 1, name="CommonPjRtLoadedExecutable::Execute")
    for run, t in ((2, 126.4), (3, 127.2)):
        main.ev("PjitFunction(step)", t, t + 0.5)
        main.execute(t + 0.1, t + 0.4, run, name="CommonPjRtLoadedExecutable::Execute")
    for k in range(3):
        tpu.run(program, 1 + k, 126 + 12 * k, [4, 6, 2])
    data = finish(space, 164, [program])
    return data, {
        "gaps": gaps([device("/device:TPU:0", (126, 162), 36, 0)], [],
                     edges=[edge("/device:TPU:0", "lead_in", 126, "compile", "compile")]),
        "steps": steps("module", None, 3, 0, 12, 12),
        "names": names(36, 36, [("layer_0", 30, None), ("block.1", 6, None)]),
        "counters": counters(compiles=1, executes=3),
        "note": note("122 ms of compilation before 36 ms of work: the device has no gap, and stood for most of the session",
                     "100 % busy and no cause; 2 compiles (nested events); scopes jvp(layer_0) and "
                     "transpose(jvp(layer_0)), or "
                     "block (only torch_xla numbers its scopes)")}


@scenario
def s28_gpu_one_run():
    space = Space()
    gpu = Gpu(space)
    s = gpu.stream(13, "Compute")
    for a, b in ((10.1, 10.6), (11, 12.2), (12.7, 15), (15.4, 17), (20.2, 24)):
        gpu.kernel(s, "loop_add_fusion", a, b)
    host = Host(space)
    main = host.thread()
    main.execute(9.5, 14)
    main.ev("load", 14.2, 19)
    main.execute(19.5, 21)
    api = host.thread("Host Threads/4711", id=4711, base=900)
    for n, t in enumerate((10, 10.8, 12.5, 13, 20)):
        api.ev("cuLaunchKernel", t, t + 0.05, device_id=0, correlation_id=U64(101 + n))
    data = finish(space, 30)
    gpu0 = "/device:GPU:0"
    return data, {
        "gaps": gaps([device(gpu0, (10.1, 24), 9.4, 4)],
                     [gap(gpu0, 10.6, 0.4, "dispatch", "none", dispatch=0.4),
                      gap(gpu0, 12.2, 0.5, "dispatch", "none", dispatch=0.5),
                      gap(gpu0, 15, 0.4, "in_program", "none", in_program=0.4),
                      gap(gpu0, 17, 3.2, "input", "none", input=2, unknown=0.5, dispatch=0.7)]),
        "counters": counters(executes=2),
        "note": note("one execute call launches four kernels: while it runs the gaps between them are dispatch, then the "
                     "device alone is to blame; calls and execute events lie on different rows of the same thread",
                     "in_program for all three gaps; unknown, because the row of the calls has no event")}


@scenario
def s29_cpu_beside_gpu():
    program = Program("jit_step", 3, [("fusion.1", "jit(step)/mlp/add", "fusion", ""),
                                      ("fusion.2", "jit(step)/mlp/mul", "fusion", "")])
    before = Program("jit_prepare", 8, [("dot.1", "", "dot", ""), ("add.2", "", "add", "")])
    space = Space()
    gpu = Gpu(space)
    s = gpu.stream(13, "Compute")
    gpu.kernel(s, "loop_add_fusion", 10, 12, program, 0)
    gpu.kernel(s, "loop_multiply_fusion", 12, 15, program, 1)
    host = Host(space)
    main = host.thread()
    main.ev("CommonPjRtLoadedExecutable::Execute (jit_prepare)", 3, 3.8, run_id=31)
    main.ev("PjRtStreamExecutorLoadedExecutable::Execute", 8.5, 9.8, run_id=32)
    api = host.thread("Host Threads/4711", id=4711, base=900)
    for n, t in enumerate((9, 9.2)):
        api.ev("cuLaunchKernel", t, t + 0.05, device_id=0, correlation_id=U64(101 + n), tf_op=Ref("XlaModule:"),
               hlo_op=Ref(program.ops[n][0]), hlo_module=Ref(program.name), program_id=program.id)
    pool = host.thread("tf_XLAEigen/5494475455083339641", id=5494475455083339641, base=300)
    for n, (a, b) in enumerate(((4, 6), (6.5, 7))):
        pool.ev(before.ops[n][0], a, b, hlo_op=Ref(before.ops[n][0]), hlo_module=Ref(before.name), program_id=8, run_id=31)
    data = finish(space, 20, [program, before])
    return data, {
        "gaps": gaps([device("/device:GPU:0", (10, 15), 5, 0), device("CPU:0", (4, 7), 2.5, 1)],
                     [gap("CPU:0", 6, 0.5, "in_program", "none", in_program=0.5)]),
        "names": names(7.5, 5, [("mlp", 5, 2)]),
        "counters": counters(executes=2),
        "note": note("one program runs on the GPU, another one on the CPU in the same process",
                     "a device CPU:0 with the API calls that launch kernels (they carry hlo_op, too), or no CPU:0 at all")}


# ---------------------------------------------------------------- main

def session_bounds(data):
    """(start, stop) of a capture in Unix ns, or None."""
    env = next((p.stats for p in decode(data, partial=True).planes if p.name == "Task Environment"), None)
    return (env["profile_start_time"], env["profile_stop_time"]) if env else None


def add_session(expect, data):
    """Give every device its lead-in and tail.  Of several hosts only those that the common session bounds."""
    captures = data if isinstance(data, dict) else {None: data}
    bounds = {os.path.basename(path or "").split(".")[0]: session_bounds(raw) for path, raw in captures.items() if raw}
    bounds = {host: b for host, b in bounds.items() if b}
    if not bounds:
        return
    first, last = min(b[0] for b in bounds.values()), max(b[1] for b in bounds.values())
    answers = [expect] + [{"gaps": g} for g in expect.get("accept", {}).get("gaps", [])]
    for d in (d for a in answers for d in a.get("gaps", {}).get("devices", [])):
        start, stop = bounds[d.get("host", next(iter(bounds)))]
        if start == first:
            d["lead_in_ps"] = d["window_ps"][0]
        if stop == last:
            d["tail_ps"] = (stop - first) * 1000 - d["window_ps"][1]


def build():
    for name, fn in SCENARIOS.items():
        data, expect = fn()
        add_session(expect, data)
        yield name, data, expect


def to_json(expect):
    for answer in [expect.get("gaps", {})] + expect.get("accept", {}).get("gaps", []):
        answer.get("devices", []).sort(key=lambda d: (d.get("host", ""), d["name"]))
        answer.get("gaps", []).sort(key=lambda g: (g.get("host", ""), g["device"], g["start_ps"]))
        for g in answer.get("gaps", []):
            g.get("parts", []).sort(key=lambda p: (-p["ps"], expect_check.ORDER.index(p["cause"])))
    if "note" in expect:
        expect = {**{k: v for k, v in expect.items() if k != "note"}, "note": expect["note"]}
    return json.dumps(expect, indent=1, ensure_ascii=False) + "\n"


def of_host(expect, host):
    """The part of an expectation that one host's capture has to give."""
    def mine(rows):
        return [{k: v for k, v in r.items() if k != "host"} for r in rows if r["host"] == host]
    return {"gaps": {**expect["gaps"], "devices": mine(expect["gaps"]["devices"]), "gaps": mine(expect["gaps"]["gaps"])}}


def check_stored(data, expect, **options):
    """Complaints about one scenario as stored: a capture, or {path: capture} of several hosts."""
    if not isinstance(data, dict):
        return expect_check.check(data, expect, **options)
    problems, total = [], {}
    origin = min(session_bounds(raw)[0] for raw in data.values())
    for path, raw in data.items():
        host = os.path.basename(path).split(".")[0]
        problems += [host + ": " + p for p in expect_check.check(raw, of_host(expect, host), origin=origin, **options)]
        for k, n in expect_check.Capture(raw).counters().items():
            total[k] = total.get(k, 0) + n
    expect_check.compare(expect.get("counters", {}), total, "counters", problems)
    return problems


def jax_reads(python, path):
    """Planes, lines and events as the JAX reader sees them: [(plane, line, count, sum of durations in ns)]."""
    code = ("import sys,json\nfrom jax.profiler import ProfileData\nd=ProfileData.from_file(sys.argv[1])\n"
            "print(json.dumps([[p.name,l.name,len(es),round(sum(e.duration_ns for e in es))] for p in d.planes "
            "for l in p.lines for es in [list(l.events)]]))")
    run = subprocess.run([python, "-c", code, path], capture_output=True, text=True)
    return json.loads(run.stdout) if run.returncode == 0 else run.stderr.strip().splitlines()[-1:]


def jax_check(python, path, data, partial=False):
    got = jax_reads(python, path)
    want = [[p.name, l.name, len(l.events), round(sum(e.dur_ps for e in l.events) / 1000)]
            for p in decode(data, partial).planes for l in p.lines]
    if partial:
        return []
    return [] if got == want else ["JAX reader: %r, expected %r" % (got, want)]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default=os.path.join(here, "..", "scenarios"))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--jax", metavar="PYTHON", help="interpreter that has jax")
    args = parser.parse_args()
    os.makedirs(args.out, exist_ok=True)
    bad = 0
    for name, data, expect in build():
        files = {os.path.join(args.out, name, path): raw for path, raw in data.items()} if isinstance(data, dict) else {
            os.path.join(args.out, name + ".xplane.pb"): data}
        expect_path = os.path.join(args.out, name + ".expect.json")
        if not args.check:
            for path, raw in files.items():
                os.makedirs(os.path.dirname(path), exist_ok=True)
                with open(path, "wb") as f:
                    f.write(raw)
            with open(expect_path, "w", encoding="utf-8") as f:
                f.write(to_json(expect))
            continue
        stored = {}
        for path in files:
            with open(path, "rb") as f:
                stored[path] = f.read()
        with open(expect_path, encoding="utf-8") as f:
            wanted = json.load(f)
        problems = check_stored(stored if isinstance(data, dict) else stored[next(iter(files))], wanted)
        if stored != files or wanted != json.loads(to_json(expect)):
            problems.append("files differ from what this script generates")
        for path, raw in stored.items():
            if args.jax:
                problems += jax_check(args.jax, path, raw, partial=wanted.get("exit_code") == 5)
        bad += bool(problems)
        print("%-40s %7d bytes  %s" % (name, sum(map(len, stored.values())), "ok" if not problems else ""))
        for p in problems:
            print("    " + p)
    if bad:
        sys.exit("%d scenarios with problems" % bad)


if __name__ == "__main__":
    main()
