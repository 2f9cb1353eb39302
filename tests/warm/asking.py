"""What is started in place of Python: asks for a fork, passes signals on, ends as the fork ends.

python -IS asking.py ADDRESS ARGUMENTS…
"""

import json
import os
import signal
import socket
import sys

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(address, *arguments):
    request = {"arguments": arguments, "cwd": os.getcwd(), "environment": dict(os.environ)}
    request["pid"] = os.getpid()
    line = socket.socket(socket.AF_UNIX)
    for number in PASSED_ON:
        signal.signal(number, lambda number, _: line.sendall(bytes([number])))
    line.connect(address)
    text = json.dumps(request).encode()
    socket.send_fds(line, [len(text).to_bytes(4, "big")], [0, 1, 2])
    line.sendall(text)
    ended = line.recv(4)
    if len(ended) < 4:
        sys.exit("the process that forks has gone")
    status = int.from_bytes(ended, "big", signed=True)
    if status < 0:
        signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    # Nothing is left to be written, and whoever waits need not wait for an interpreter's end.
    os._exit(status)


if __name__ == "__main__":
    main(*sys.argv[1:])
