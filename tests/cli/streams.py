#!/usr/bin/env python3
"""A program that is started without stderr must not write its messages into the file or socket that it opens next.

    streams.py XLAPROF

A silent server takes the connection of `xlaprof capture`; then the program's stderr must be /dev/null, not the socket.
"""
import os
import socket
import subprocess
import sys
import tempfile

with tempfile.TemporaryDirectory() as logdir, socket.create_server(("127.0.0.1", 0)) as server:
    server.settimeout(60)
    target = "127.0.0.1:%d" % server.getsockname()[1]
    program = subprocess.Popen(["sh", "-c", 'exec "$0" "$@" 2>&-', sys.argv[1], "capture", target, logdir],
                               stdout=subprocess.DEVNULL)
    connection, _ = server.accept()
    stderr = os.readlink("/proc/%d/fd/2" % program.pid)
    program.terminate()
    program.wait()
    connection.close()
if stderr != "/dev/null":
    sys.exit("stderr is %s" % stderr)
