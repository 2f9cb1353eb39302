"""`python app.py` whose runs need not load torch and transformers: they are forked from a process
that has, which the first of them starts. All else of a run is as usual; how one is started is
shown where a server is `app.py`.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
from multiprocessing import process
from pathlib import Path
from types import SimpleNamespace
from typing import BinaryIO

WARM = multiprocessing.get_context("forkserver")
LOADED = ["tests.browser.finetune.loaded"]


def work(run: str, options: list[str], environment: dict[str, str]) -> None:
    """What the process of a run does once it is there."""
    os.setsid()
    os.environ.update(environment)
    with (Path(run) / "worker.txt").open("ab") as said:
        os.dup2(said.fileno(), 1)
        os.dup2(said.fileno(), 2)
    from explorer.lab.training.worker import main

    sys.exit(main(run, *options))


class Forked:
    """What `Runs` asks of a `subprocess.Popen`."""

    def __init__(
        self,
        command: list[str],
        *,
        stdout: BinaryIO,
        stderr: BinaryIO,
        env: dict[str, str],
        start_new_session: bool,
    ) -> None:
        place = command.index("explorer.lab.training.worker") + 1
        run, *options = command[place:]
        self._process = WARM.Process(target=work, args=(run, options, env))
        self._process.start()
        process._children.discard(self._process)  # it outlives the server
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self) -> int | None:
        self._process.join()
        return self._process.exitcode

    def kill(self) -> None:
        self._process.kill()


def main() -> int:
    WARM.set_forkserver_preload(LOADED)
    from explorer.cli import main as app
    from explorer.lab.training import runs

    runs.subprocess = SimpleNamespace(Popen=Forked)
    return app()


if __name__ == "__main__":
    sys.exit(main())
