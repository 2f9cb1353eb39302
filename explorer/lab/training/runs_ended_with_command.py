"""End of a command's runs when the command is terminated."""

import contextlib
import signal
from collections.abc import Iterator

from lossprism.explorer.lab.training.run_control import Runs

# The signals that end a command from outside; Windows has no SIGHUP.
TERMINATING_SIGNALS = ("SIGTERM", "SIGHUP")


@contextlib.contextmanager
def runs_ended_with_command(runs: Runs) -> Iterator[list[str]]:
    """Yield a list for the names of runs. Each has a process that outlives this one: when the
    command is terminated, or its terminal closed, those of these runs are ended."""

    def leave(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)  # the shell's convention

    names: list[str] = []
    signals = [getattr(signal, name) for name in TERMINATING_SIGNALS if hasattr(signal, name)]
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
