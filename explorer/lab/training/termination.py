"""What becomes of the runs of a command that somebody terminates."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator

from explorer.lab.training.runs import Runs

# The signals that end a command from outside; Windows has no SIGHUP.
ENDING = ("SIGTERM", "SIGHUP")


@contextlib.contextmanager
def ended_with_us(runs: Runs) -> Iterator[list[str]]:
    """A list for the names of runs. Each has a process that outlives this one: where somebody
    terminates the command, or closes its terminal, those of these runs are ended."""

    def leave(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)  # as a shell says it

    names: list[str] = []
    signals = [getattr(signal, name) for name in ENDING if hasattr(signal, name)]
    before = {number: signal.signal(number, leave) for number in signals}
    try:
        yield names
    except SystemExit:
        for name in names:
            runs.folder(name).end_process()
        raise
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
