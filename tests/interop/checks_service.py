"""The profiler service itself, by another implementation of gRPC, in both directions: service_peer.py."""
import pathlib
import tempfile

from harness import HERE, free_port, must, only_file, output_of, same, serving


def check_grpcio_gets_right_answers_of_our_profiler_server(programs):
    with programs.training() as port, tempfile.TemporaryDirectory() as folder:
        output_of(programs.python_of("grpcio"), HERE / "service_peer.py", "check", "127.0.0.1:%d" % port, folder)


def check_grpc_js_gets_right_answers_of_our_profiler_server(programs):
    with programs.training() as port:
        output_of("node", HERE / "service_peer.js", programs.peer("grpc-js"), "check", "127.0.0.1:%d" % port)


def answered(programs, kind, *options, capture=None, peer="grpcio"):
    """What our client says of a server of one kind, and the files that it made."""
    command = ([programs.python_of(peer), HERE / "service_peer.py"] if peer == "grpcio" else
               ["node", HERE / "service_peer.js", programs.peer(peer)])
    command += ["serve", kind, *([capture] if capture else [])]
    with serving(*command) as (port, _), tempfile.TemporaryDirectory() as logdir:
        result = programs.capture("127.0.0.1:%d" % port, logdir, "--attempts", "2", "--timeout-s", "3", *options)
        return result, {p.name: p.read_bytes() for p in pathlib.Path(logdir).rglob("*") if p.is_file()}


def check_our_client_understands_every_answer_of_grpcio(programs):
    with tempfile.TemporaryDirectory() as folder:
        output_of(programs.built("record_pattern"), "here", folder)
        capture = only_file(folder, "*.xplane.pb")
        data = capture.read_bytes()
        result, files = answered(programs, "xspace", capture=capture)
        same("a capture in the reply", (result["outcome"], result["status"], result["bytes"]), ("saved", 0, len(data)))
        same("its bytes", list(files.values()), [data])
        result, files = answered(programs, "cut", capture=capture)
        must("a reply that is cut is a server's error: %r" % result, result["outcome"] == "server_error" and not files)
    for kind, options, outcome, status, word in (
            ("saved", ["--save-on-server"], "saved_on_server", 0, ""), ("empty", [], "empty", 10, "the capture is empty"),
            ("garbage", [], "server_error", 9, ""), ("busy", [], "busy", 8, "Another profiling session active."),
            ("broken", [], "server_error", 9, "no profiler here: 100% \u20ac"),
            ("unavailable", [], "server_error", 9, "come back later")):
        result, files = answered(programs, kind, *options)
        same("the answer %s" % kind, (result["outcome"], result["status"]), (outcome, status))
        same("%s is asked again" % kind, result["tries"] > 1, kind in ("empty", "busy", "unavailable"))
        must("%s: %r tells %r" % (kind, result["message"], word), word in (result["message"] or ""))
        same("files after the answer %s" % kind, files, {})


def check_our_client_understands_answers_of_grpc_js(programs):
    with tempfile.TemporaryDirectory() as folder:
        output_of(programs.built("record_pattern"), "here", folder)
        capture = only_file(folder, "*.xplane.pb")
        result, files = answered(programs, "xspace", capture=capture, peer="grpc-js")
        same("a capture in the reply", (result["outcome"], list(files.values())), ("saved", [capture.read_bytes()]))
    result, _ = answered(programs, "busy", peer="grpc-js")
    same("a busy server", (result["outcome"], result["status"]), ("busy", 8))


def check_what_a_server_without_emit_xspace_does_is_told_apart(programs):
    """Servers before 2025-09 ignore emit_xspace and save the capture where they are."""
    result, files = answered(programs, "nothing")
    same("a reply without a capture", (result["outcome"], result["status"]), ("saved_on_server", 0))
    same("files here", files, {})
    result, files = answered(programs, "tools")
    must("tool data are saved: %r" % result, sorted(files.values()) == [b"abc", b"{}"])


def check_nothing_listens_and_no_profiler_are_told_apart(programs):
    with tempfile.TemporaryDirectory() as logdir:
        target = "127.0.0.1:%d" % free_port()
        result = programs.capture(target, logdir, "--timeout-s", "1")
        same("nothing listens", (result["outcome"], result["status"]), ("no_listener", 4))
        with serving(programs.grpc_echo, "serve") as (port, _):
            result = programs.capture("127.0.0.1:%d" % port, logdir, "--timeout-s", "1")
        same("another service of gRPC", (result["outcome"], result["status"]), ("no_profiler", 7))
