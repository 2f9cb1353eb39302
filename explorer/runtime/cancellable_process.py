"""A call in a process of its own, which ends with the job that waits for it.

For a library that cannot be interrupted: its thread would go on for nobody.
"""

import signal
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.child_process_start import spawn
from lossprism.explorer.runtime.problem import Problem, logged

POLL_S = 0.25


def call_in_process(what: str, function: Callable[..., Any], *arguments: object) -> Any:
    """Return the result of a function that is found by name in its module. Meanwhile the job
    reports `what`.

    Raises:
        jobs.Cancelled, Problem: as `Job.check`; the process is killed.
        Problem: if the process ends without a result, as one does that takes too much memory.
        RuntimeError: with what the function raised.
    """
    process, line = spawn(_serve, function, arguments)
    try:
        while not line.poll(POLL_S):
            jobs.step(what)
        is_done, result = line.recv()
    except EOFError as gone:
        raise logged(Problem("process_ended", about="again")) from gone
    finally:
        line.close()
        process.kill()
        process.join()
    if not is_done:
        raise RuntimeError(result)
    return result


def _serve(line: Connection, function: Callable[..., Any], arguments: tuple[object, ...]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends this
    try:
        answer = True, function(*arguments)
    except Exception as error:
        answer = False, f"{type(error).__name__}: {error}"
    line.send(answer)
