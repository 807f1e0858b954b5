#!/usr/bin/env python3
"""grpcio as the other end of our gRPC (grpc_echo.c says what the methods do); messages are bytes, no protobuf.

    grpc_peers.py serve          prints its port, and serves until standard input ends
    grpc_peers.py check TARGET   calls our server; exit status 1 with a traceback if an answer is wrong
"""
import concurrent.futures
import sys
import time

import grpc

SERVICE = "/xlaprof.Test/"
NO_LIMITS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1), ("grpc.enable_http_proxy", 0)]
ERRORS = [(13, "Another profiling session active."), (5, "100% naïve €\n%41"), (14, "")]


def pattern(n):
    return (bytes(range(251)) * (n // 251 + 1))[:n]


# ---------------------------------------------------------------- their server

def fail(request, context):
    code, _, message = request.decode().partition(" ")
    context.abort(next(c for c in grpc.StatusCode if c.value[0] == int(code)), message)


def slow(request, context):
    time.sleep(int(request) / 1000)
    return b"done"


METHODS = {"Echo": lambda request, context: request, "Big": lambda request, context: pattern(int(request)),
           "Slow": slow, "Fail": fail}


class Methods(grpc.GenericRpcHandler):
    def service(self, details):
        method = METHODS.get(details.method.removeprefix(SERVICE))
        return method and grpc.unary_unary_rpc_method_handler(method)


def serve():
    server = grpc.server(concurrent.futures.ThreadPoolExecutor(8), handlers=[Methods()], options=NO_LIMITS)
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    sys.stdin.read()
    server.stop(0)


# ---------------------------------------------------------------- their client

class Client:
    def __init__(self, target, *options):
        self.channel = grpc.insecure_channel(target, options=[*NO_LIMITS, *options])

    def begin(self, method, request, **how):
        return self.channel.unary_unary(SERVICE + method).future(request, **how)

    def call(self, method, request, **how):
        return self.begin(method, request, timeout=how.pop("timeout", 30), **how).result()

    def code(self, method, request, **how):
        """Code and text of an error."""
        try:
            self.call(method, request, **how)
        except grpc.RpcError as error:
            return error.code(), error.details()
        raise AssertionError("%s: no error" % method)

    def cancelled(self):
        return int(self.call("Cancelled", b""))

    def await_cancelled(self, count):
        for _ in range(200):
            if self.cancelled() == count:
                return
            time.sleep(0.01)
        raise AssertionError("%d calls were cancelled, right is %d" % (self.cancelled(), count))


def check(target):
    client = Client(target)
    for n in (0, 1, 4, 70000, 4 << 20, 64 << 20):
        assert client.call("Echo", pattern(n)) == pattern(n), n
    assert client.call("Big", b"%d" % (64 << 20)) == pattern(64 << 20)
    for code, message in ERRORS:
        got, text = client.code("Fail", ("%d %s" % (code, message)).encode())
        assert (got.value[0], text) == (code, message), (got, text)
    assert client.code("None", b"")[0] == grpc.StatusCode.UNIMPLEMENTED
    assert client.code("Echo", bytes(65 << 20))[0] == grpc.StatusCode.RESOURCE_EXHAUSTED
    assert client.code("Echo", bytes(100000), compression=grpc.Compression.Gzip)[0] == grpc.StatusCode.UNIMPLEMENTED
    check_metadata(client)
    check_ends(client)
    calls = [client.begin("Big", b"1000000", timeout=30) for _ in range(300)]
    assert all(c.result() == pattern(1000000) for c in calls)
    patient = Client(target, ("grpc.keepalive_time_ms", 200), ("grpc.keepalive_permit_without_calls", 1))
    assert patient.call("Slow", b"1500") == b"done"


def check_metadata(client):
    assert client.call("Echo", b"x", metadata=[("note", "v" * 3000), ("trace-bin", bytes(range(256)))]) == b"x"
    assert client.code("Echo", b"x", metadata=[("note", "v" * 20000)])[0] == grpc.StatusCode.RESOURCE_EXHAUSTED


def check_ends(client):
    before = client.cancelled()
    assert client.code("Slow", b"5000", timeout=0.2)[0] == grpc.StatusCode.DEADLINE_EXCEEDED
    client.await_cancelled(before + 1)
    call = client.begin("Slow", b"5000")
    time.sleep(0.1)
    call.cancel()
    client.await_cancelled(before + 2)
    call = client.begin("Big", b"1000000000")
    time.sleep(0.05)
    call.cancel()
    assert client.call("Echo", b"still there") == b"still there"


if __name__ == "__main__":
    serve() if sys.argv[1] == "serve" else check(sys.argv[2])
