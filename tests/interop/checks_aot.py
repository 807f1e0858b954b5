"""xlaprof aot with the compiler of libtpu, without a TPU: which names a training step of JAX keeps."""
import fcntl
import json
import pathlib
import subprocess
import tempfile

from harness import HERE, same


def aot(programs, program, *options):
    libtpu = programs.plugin("libtpu", "0.0.52", "libtpu/libtpu.so")
    run = subprocess.run([programs.xlaprof, "aot", program, "--plugin", libtpu, "--topology", "v5e:2x2x1", *options],
                         capture_output=True, text=True)
    return run.returncode, run.stdout, run.stderr


def check_aot_tells_which_scopes_reach_a_tpu(programs):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        programs.in_peers(HERE / "aot_programs.py", folder)
        for program in ("named.pb", "named.mlir"):
            status, out, err = aot(programs, folder / program, "--json", "--require-names")
            same(program + " exit status", (status, err), (0, ""))
            answer = json.loads(out)
            rows = {r["scope"]: r for r in answer["scopes"]}
            kept = [i for i in answer["instructions"] if i["scope"] is not None]
            same(program + " lists what is executed, and what kept a scope", (len(answer["instructions"]), len(kept)),
                 (answer["executed"], answer["executed_with_scope"]))
            same(program + " lists each scope as often as it is counted",
                 {s: sum(i["scope"] == s for i in kept) for s in rows if s}, {s: r["compiled"] for s, r in rows.items() if s})
            same(program + " scopes", {"fwd", "fwd/head", "loss", "sgd"} - set(rows), set())
            same(program + " scopes that are lost", [s for s, r in rows.items() if r["lost"]], [])
            same(program + " has the matrix products under their scopes",
                 rows["fwd"]["compiled"] > 0 and rows["fwd/head"]["compiled"] > 0, True)
        status, out, _ = aot(programs, folder / "plain.pb", "--json", "--require-names")
        same("a program without scopes", (status, json.loads(out)["executed_with_scope"]), (1, 0))
        status, _, err = aot(programs, folder / "named.pb", "--require-names", "--top", "0")
        same("without --json", (status, err), (0, ""))
        with open("/tmp/libtpu_lockfile", "a", encoding="ascii") as lock:  # as a program has it that uses the TPU
            fcntl.flock(lock, fcntl.LOCK_EX)
            same("beside a program with the TPU", aot(programs, folder / "named.pb", "--require-names")[0], 0)
        run = subprocess.run([programs.xlaprof, "aot", folder / "named.pb", "--plugin",
                              programs.plugin("libtpu", "0.0.52", "libtpu/libtpu.so"), "--topology", "v99:1"],
                             capture_output=True, text=True)
        same("a machine that does not exist", (run.returncode, "v99" in run.stderr), (3, True))
