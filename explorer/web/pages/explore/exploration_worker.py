"""Exploration of a request in its turn, by a worker process where there is one."""

from collections.abc import Callable
from typing import TypeVar

from lossprism.explorer.core.explore import seconds_for
from lossprism.explorer.core.resolved_scenario import Resolved
from lossprism.explorer.runtime import jobs, worker_process
from lossprism.explorer.runtime.fair_queue import is_light

Made = TypeVar("Made")


def work_in_turn(
    function: Callable[..., Made | None], resolved: Resolved, name: str, argument: str
) -> Made:
    """Return `function(resolved, argument, …)` of a scenario whose batch has this `name`: one of
    `explorer.export.exploration_and_slider_stop_in_worker`."""
    data = resolved.scenario.data
    batch = None if data.source == "random" else resolved.batch
    seconds = seconds_for(data.random.pairs if batch is None else len(batch))
    worker = worker_process.LIGHT if is_light(seconds) else worker_process.MIDDLING
    with jobs.light_work_turn(seconds):
        made = worker.call(function, resolved, argument, "" if batch is None else name)
        made = made or worker.call(function, resolved, argument, name, batch)
    assert made is not None  # of a batch that was sent
    return made
