"""`app.py` as a process of its own, on a free port."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import ClassVar

from tests import warm

ROOT = Path(__file__).resolve().parents[2]
START_S, STOP_S = 600, 300  # on a machine that has other things to do
# Below those that systems give to connections: such a port stays free until it is listened at.
PORTS = range(10_000, 32_000)


def free_port() -> int:
    while True:
        port = random.SystemRandom().choice(PORTS)
        with socket.socket() as listening, contextlib.suppress(OSError):
            listening.bind(("127.0.0.1", port))
            return port


def command(*arguments: str, python: str = sys.executable) -> list[str]:
    return [python, str(ROOT / "app.py"), "--no-browser", *arguments]


class Server:
    """Started on entering, stopped with Ctrl-C on leaving.

    It and its runs are forked from a process that has the libraries loaded, unless another
    `python` is given: `sys.executable` is what a user starts.
    """

    running: ClassVar[list[Server]] = []

    def __init__(
        self,
        folder: Path,
        *arguments: str,
        port: int | None = None,
        python: str = "",
    ) -> None:
        self.python = python or warm.python()
        self.port = port or free_port()
        self.arguments = ("--host", "127.0.0.1", "--port", str(self.port), *arguments)
        self._log = folder / f"server-{self.port}.log"
        self.cache = folder / "cache"  # not the user's own
        self.said = ""
        self.address = ""

    def __enter__(self) -> Server:
        with self._log.open("a") as log:
            self.process = subprocess.Popen(
                command(*self.arguments, python=self.python),
                cwd=ROOT,
                env={
                    **os.environ,
                    "GRADIO_ANALYTICS_ENABLED": "False",
                    "LOSSPRISM_CACHE": str(self.cache),
                    "XDG_DATA_HOME": str(self.cache.parent / "data"),  # nor the user's own runs
                },
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        too_long = threading.Timer(START_S, self.process.kill)
        too_long.start()
        self.said = self.process.stdout.readline()
        too_long.cancel()
        found = re.search(r"http://\S+", self.said)
        if not found:
            self.stop()
            raise RuntimeError(f"No address, but {self.said!r} and {self.complaints!r}")
        self.address = found.group()
        self.running.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def complaints(self) -> str:
        """What the process wrote to its standard error."""
        return self._log.read_text()

    def stop(self) -> int:
        """Ctrl-C; the exit status."""
        if self in self.running:
            self.running.remove(self)
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            rest, _ = self.process.communicate(timeout=STOP_S)
            self.said += rest
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
        except ValueError:  # stopped before: its output is closed
            pass
        return self.process.returncode
