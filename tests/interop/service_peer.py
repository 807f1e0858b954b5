#!/usr/bin/env python3
"""tensorflow.ProfilerService by grpcio, with the field numbers of profiler_service.proto; no protobuf.

    service_peer.py check TARGET FOLDER     calls our server; exit status 1 with a traceback if an answer is wrong
    service_peer.py serve KIND [CAPTURE]    prints its port; answers Profile as KIND says, until standard input ends

Kinds: xspace (CAPTURE as the reply's xspace), saved, empty, tools, nothing (a reply of no bytes), garbage, cut, busy,
unavailable, broken.  It refuses requests that are not as upstream's clients send them.
"""
import concurrent.futures
import pathlib
import re
import sys
import time

import grpc

SERVICE = "/tensorflow.ProfilerService/"
NO_LIMITS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), ("grpc.enable_http_proxy", 0)]


# ---------------------------------------------------------------- messages

def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes([*out, n])


def message(fields):
    """{number: int, bool, text, bytes or a further {..}} as protobuf writes it."""
    out = b""
    for number, value in fields.items():
        if isinstance(value, int):
            out += varint(number << 3) + varint(int(value))
        else:
            data = message(value) if isinstance(value, dict) else value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(data)) + data
    return out


def fields_of(data):
    """{number: int or bytes}, the last of each; fields of 8 and 4 bytes do not occur."""
    found, at = {}, 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = number()
        value = number()
        if key & 7 == 2:
            value, at = data[at:at + value], at + value
        found[key >> 3] = value
    return found


def profile_request(duration_ms, session="", root="", emit=True, host="localhost:1"):
    return message({1: duration_ms, 2: 1000000, 3: "xplane.pb", 4: {2: 2, 3: 1, 5: 1, 9: duration_ms}, 5: root, 6: session,
                    7: host, 9: emit})


# ---------------------------------------------------------------- their client

class Client:
    def __init__(self, target):
        self.channel = grpc.insecure_channel(target, options=NO_LIMITS)

    def begin(self, method, request, timeout=30, service=SERVICE):
        return self.channel.unary_unary(service + method).future(request, timeout=timeout)

    def call(self, method, request, **how):
        return self.begin(method, request, **how).result()

    def error(self, method, request, **how):
        try:
            self.call(method, request, **how)
        except grpc.RpcError as error:
            return error.code(), error.details()
        raise AssertionError("%s: no error" % method)

    def profile(self, duration_ms=100):
        """A capture in the reply that has something in it."""
        reply = fields_of(self.call("Profile", profile_request(duration_ms)))
        assert reply.get(7, 0) == 0 and b"gradient" in reply[8], reply.keys()


def check_saved(client, folder):
    reply = client.call("Profile", profile_request(100, "a run", folder + "/plugins/profile", False, "some.host:7"))
    assert fields_of(reply).get(7, 0) == 0 and 8 not in fields_of(reply), reply
    files = [str(p.relative_to(folder)) for p in pathlib.Path(folder).rglob("*") if p.is_file()]
    assert files == ["plugins/profile/a run/some.host_7.xplane.pb"], files
    code, text = client.error("Profile", profile_request(50, "a run", "/proc/nowhere", False))
    assert code == grpc.StatusCode.INTERNAL and "/proc/nowhere" in text, (code, text)
    client.profile()


def check_terminate(client):
    start = time.monotonic()
    running = client.begin("Profile", profile_request(20000, "to be ended"))
    time.sleep(0.4)
    assert client.call("Terminate", message({1: "another session"})) == b""
    time.sleep(0.2)
    assert not running.done()
    assert client.call("Terminate", message({1: "to be ended"})) == b""
    assert b"gradient" in fields_of(running.result())[8]
    assert time.monotonic() - start < 5


def check_busy(client):
    running = client.begin("Profile", profile_request(1500))
    time.sleep(0.4)
    code, text = client.error("Profile", profile_request(100))
    left = re.fullmatch(r"Another profiling session active\. Held by a remote capture since \d\d:\d\d:\d\d, "
                        r"for another (\d\.\d) s", text)
    assert code == grpc.StatusCode.INTERNAL and left and 0.2 < float(left.group(1)) < 1.2, (code, text)
    assert b"gradient" in fields_of(running.result())[8]
    client.profile()


def check_ends(client):
    for _ in range(10):
        running = client.begin("Profile", profile_request(20000))
        time.sleep(0.1)
        running.cancel()
        client.profile(20)
    assert client.error("Profile", profile_request(20000), timeout=0.4)[0] == grpc.StatusCode.DEADLINE_EXCEEDED
    client.profile(20)


def check(target, folder):
    client = Client(target)
    client.profile()
    check_saved(client, folder)
    check_terminate(client)
    check_busy(client)
    check_ends(client)
    report = fields_of(client.call("Monitor", message({1: 100, 2: 1})))[1].decode()
    assert re.search(r"^Counter: Steps\n  Value: \d+$", report, re.M), report
    for method in ("StartContinuousProfiling", "StopContinuousProfiling", "GetSnapshot"):
        assert client.error(method, b"")[0] == grpc.StatusCode.UNIMPLEMENTED, method
    assert client.error("NewSession", b"", service="/tensorflow.ProfileAnalysis/")[0] == grpc.StatusCode.UNIMPLEMENTED
    assert client.error("Profile", b"\x0a\xff\xff")[0] == grpc.StatusCode.INVALID_ARGUMENT
    other = Client(target)
    running = other.begin("Profile", profile_request(20000))
    time.sleep(0.3)
    other.channel.close()  # as if the client had died
    assert running.exception() is not None
    time.sleep(0.1)
    client.profile(20)


# ---------------------------------------------------------------- their server

def refuse_strange(request, context, emits):
    """What every server may rely on: the time in both places, a version of the options, names of run, root and host."""
    got = fields_of(request)
    options = fields_of(got[4])
    right = (got[1] == options[9] == 300 and options[5] == 1 and options[2] == 2 and options[3] == 1
             and got.get(9, 0) == emits and got[5].endswith(b"/plugins/profile") and len(got[6]) > 0
             and got[7].startswith(b"127.0.0.1"))
    if not right:
        context.abort(grpc.StatusCode.INVALID_ARGUMENT, "strange request: %r" % got)


def answer(kind, capture):
    space = pathlib.Path(capture).read_bytes() if capture else b""
    return {"xspace": lambda: message({8: space, 7: False}), "saved": lambda: message({7: 0}),
            "empty": lambda: message({7: 1}), "nothing": lambda: b"",
            "tools": lambda: message({6: {1: "trace_viewer.json", 2: b"{}"}}) + message({6: {1: "notes.txt", 2: b"abc"}}),
            "garbage": lambda: b"\xff" * 40, "cut": lambda: message({8: space})[:-7]}[kind]


ERRORS = {"busy": (grpc.StatusCode.INTERNAL, "Another profiling session active."),
          "unavailable": (grpc.StatusCode.UNAVAILABLE, "come back later"),
          "broken": (grpc.StatusCode.INTERNAL, "no profiler here: 100% \u20ac")}


def serve(kind, capture=None):
    make = None if kind in ERRORS else answer(kind, capture)

    def profile(request, context):
        refuse_strange(request, context, kind != "saved")
        if kind in ERRORS:
            context.abort(*ERRORS[kind])
        return make()

    class Methods(grpc.GenericRpcHandler):
        def service(self, details):
            return grpc.unary_unary_rpc_method_handler(profile) if details.method == SERVICE + "Profile" else None

    server = grpc.server(concurrent.futures.ThreadPoolExecutor(8), handlers=[Methods()], options=NO_LIMITS)
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    sys.stdin.read()
    server.stop(0)


if __name__ == "__main__":
    {"check": check, "serve": serve}[sys.argv[1]](*sys.argv[2:])
