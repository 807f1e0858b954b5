"""Our gRPC against others, in both directions: grpc_echo.c has both ends of ours."""
import functools
import os
import re
import signal
import subprocess
import sys
import tempfile

from harness import free_port, output_of, same, serving


def digest_of(data):
    """As in grpc_echo.c."""
    digest = 0xcbf29ce484222325
    for i in range(0, len(data), 4096):
        digest = ((digest ^ data[i]) * 0x100000001b3) & (2**64 - 1)
    return digest


def peer_calls_us(programs, group):
    peer = programs.grpc_peer(group)
    with serving(programs.grpc_echo, "serve") as (port, _):
        output_of(*peer, "check", "127.0.0.1:%d" % port)


def we_call_peer(programs, group):
    peer = programs.grpc_peer(group)
    big = (bytes(range(251)) * ((64 << 20) // 251 + 1))[:64 << 20]
    with serving(*peer, "serve") as (port, server):
        call = functools.partial(programs.call, port)
        same("an echo", call("/xlaprof.Test/Echo", "hello"), ("STATUS", 0, 5, digest_of(b"hello"), ""))
        same("an empty echo", call("/xlaprof.Test/Echo", ""), ("STATUS", 0, 0, digest_of(b""), ""))
        same("64 MiB", call("/xlaprof.Test/Big", str(64 << 20)), ("STATUS", 0, 64 << 20, digest_of(big), ""))
        same("an error", call("/xlaprof.Test/Fail", "13 100% na\u00efve \u20ac")[:2] +
             call("/xlaprof.Test/Fail", "13 100% na\u00efve \u20ac")[4:], ("STATUS", 13, "100% na\u00efve \u20ac"))
        same("an unknown method", call("/xlaprof.Test/None")[:2], ("STATUS", 12))
        same("a deadline", call("/xlaprof.Test/Slow", "5000", 300)[0], "TIMEOUT")
        same("a slow answer", call("/xlaprof.Test/Slow", "700")[:3], ("STATUS", 0, 4))
        server.send_signal(signal.SIGSTOP)
        same("a server that is stopped", call("/xlaprof.Test/Echo", "hello", 1000)[0], "TIMEOUT")


def check_grpcio_calls_our_server(programs):
    peer_calls_us(programs, "grpcio")


def check_our_client_calls_grpcio(programs):
    we_call_peer(programs, "grpcio")


def check_grpc_js_calls_our_server(programs):
    peer_calls_us(programs, "grpc-js")


def check_our_client_calls_grpc_js(programs):
    we_call_peer(programs, "grpc-js")


def check_curl_is_told_what_our_grpc_port_is(programs):
    curl = programs.tool("curl", "curl")
    with serving(programs.grpc_echo, "serve") as (port, _):
        url = "http://127.0.0.1:%d/" % port
        text = output_of(curl, "--silent", "--noproxy", "*", url)
        same("HTTP/1.1", "speaks gRPC" in text, True)
        code = ("--output", os.devnull, "--silent", "--noproxy", "*", "--write-out", "%{http_code}")
        same("HTTP/2 GET", output_of(curl, "--http2-prior-knowledge", *code, url), "405")
        # Without a body: curl 7 calls it an error when the answer comes before it has sent all of it.
        same("HTTP/2 POST", output_of(curl, "--http2-prior-knowledge", "--request", "POST", *code, url), "415")


def check_h2load_gets_every_answer_of_our_grpc_server(programs):
    h2load = programs.tool("h2load", "nghttp2-client")
    with serving(programs.grpc_echo, "serve") as (port, _), tempfile.NamedTemporaryFile() as body:
        body.write(b"\0\0\0\0\5hello")
        body.flush()
        said = output_of(h2load, "-n20000", "-c4", "-m10", "-d", body.name, "-H", "te: trailers", "-H",
                         "content-type: application/grpc", "http://127.0.0.1:%d/xlaprof.Test/Echo" % port)
    counts = re.search(r"requests: .*", said).group()
    same("answers", counts, "requests: 20000 total, 20000 started, 20000 done, 20000 succeeded, 0 failed, 0 errored, 0 timeout")


def check_our_grpc_client_knows_http_servers(programs):
    with serving(sys.executable, "-u", "-c", """
import http.server, sys, threading
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(server.server_port)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()""") as (port, _):
        same("Python's HTTP/1 server", programs.call(port, "/x")[0], "NOT_GRPC")
    nghttpd = programs.tool("nghttpd", "nghttp2-server")
    port = free_port()
    server = subprocess.Popen([nghttpd, "--no-tls", "--address=127.0.0.1", str(port)])
    try:
        for _ in range(100):
            answer = programs.call(port, "/x")
            if answer[0] != "NO_LISTENER":
                break
            signal.sigtimedwait([], 0.05)
        same("a web server of HTTP/2", answer[0], "NOT_GRPC")
        same("its status", "HTTP status 404" in answer[4], True)
    finally:
        server.kill()
        server.wait()
