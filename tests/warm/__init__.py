"""A Python that has the libraries loaded already, for tests that start many processes.

`Warm()` gives an executable file to be used like `sys.executable`. What it runs (a script,
`-m` a module, `-c` a program) is forked from a process that has imported torch, transformers and
Gradio, which takes ten seconds and more, and nothing of LossPrism. The process that was started
lends its standard streams, arguments, folder and environment; it ends as its work ends, and with
it. How a new process starts is not shown by a test that uses this.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
VARIABLE = "LOSSPRISM_WARM_PYTHON"


class Warm:
    """A warm Python until it is left."""

    def __enter__(self) -> str:
        # A name of a socket has to be short.
        self._folder = Path(tempfile.mkdtemp(prefix="warm-"))
        python, address = self._folder / "python", self._folder / "socket"
        line = [sys.executable, "-IS", HERE / "asking.py", address]
        python.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, line))} "$@"\n')
        python.chmod(0o755)
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(address))
            listening.listen(64)
            descriptor = listening.fileno()
            command = [sys.executable, HERE / "answering.py", descriptor, python]
            self._process = subprocess.Popen(
                [*map(str, command)],
                pass_fds=(descriptor,),
                stdin=subprocess.PIPE,  # it ends when this is closed
                start_new_session=True,
            )
        return str(python)

    def __exit__(self, *_: object) -> None:
        self._process.communicate()
        shutil.rmtree(self._folder)


def python() -> str:
    """The Python of this session of tests."""
    return os.environ[VARIABLE]


def write_kernel(folder: Path) -> None:
    """Make it a kernel of Jupyter, "warm", where JUPYTER_PATH is this folder."""
    spec = {
        "argv": [python(), "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "warm",
        "language": "python",
    }
    kernel = folder / "kernels" / "warm"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(json.dumps(spec))
