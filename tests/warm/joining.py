"""Joins the namespaces of users and mounts of another process, and runs there what Python was asked
to run.

python joining.py PID PYTHON ARGUMENTS…

It has to be forked anew, with one thread. PYTHON is what this process takes itself to be, so that
those it starts join as well.
"""

import ctypes
import os
import runpy
import sys

CLONE_NEWUSER, CLONE_NEWNS = 0x10000000, 0x00020000


def join(pid):
    libc, here = ctypes.CDLL(None, use_errno=True), os.getcwd()
    kinds = {"user": CLONE_NEWUSER, "mnt": CLONE_NEWNS}
    opened = {kind: os.open(f"/proc/{pid}/ns/{kind}", os.O_RDONLY) for kind in kinds}
    for kind, flag in kinds.items():
        if libc.setns(opened[kind], flag):
            number = ctypes.get_errno()
            raise OSError(number, f"{os.strerror(number)}: the {kind} namespace of {pid}")
        os.close(opened[kind])
    os.chdir(here)


if __name__ == "__main__":
    process, sys.executable, *arguments = sys.argv[1:]
    join(process)
    if arguments[0] == "-u":
        arguments = arguments[1:]
    kind, *rest = arguments
    if kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    elif kind == "-m":
        sys.argv, sys.path[0] = rest, os.getcwd()
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[0] = arguments, os.path.dirname(os.path.abspath(kind))
        runpy.run_path(kind, run_name="__main__")
