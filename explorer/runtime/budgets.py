"""Budgets of a hosted page for one request, one visitor, one run, and all: each defined once.

On the user's own machine nothing is limited. A host changes a budget by its environment variable.
"""

import math
import os
from dataclasses import dataclass
from typing import Literal

from lossprism.explorer.runtime.deployment_policy import deployment_policy


@dataclass(frozen=True)
class Budget:
    """An amount in this `unit` for each `of` these; `about` describes it."""

    name: str
    default: float
    unit: str
    of: Literal["a request", "a visitor", "a run", "all"]
    about: str

    @property
    def variable(self) -> str:
        return f"LOSSPRISM_{self.name.upper()}"

    def read(self) -> float:
        """Return its value on a hosted page. Raises ValueError if the variable is no number above
        0."""
        text = os.environ.get(self.variable)
        if not text:
            return self.default
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not 0 < value < math.inf:
            raise ValueError(f"{self.variable} is {text!r}; a number above 0 is accepted.")
        return int(value) if value.is_integer() else value


BUDGETS = (
    Budget("body_mib", 32, "MiB", "a request", "what a request sends; files travel in pieces"),
    # Of two or three bytes each, and many times that in memory.
    Budget("body_values", 1_000_000, "values", "a request", "of lists and objects that it sends"),
    Budget("body_seconds", 120, "s", "a request", "until all that it sends has arrived"),
    Budget("scene_mib", 4, "MiB", "a request", "of a scenario's rows; those of many are kept"),
    Budget("sentence_letters", 20_000, "characters", "a request", "of one sentence"),
    Budget("answer_mib", 128, "MiB", "a request", "of its answer"),
    Budget("request_mib", 1500, "MiB", "a request", "of memory that it is estimated to take"),
    Budget("request_cells", 400_000_000, "cells", "a request", "of matrices, at all values of it"),
    # A thread's own: a busy machine makes nothing later.
    Budget("light_seconds", 20, "s", "a request", "of the processor for work that is not heavy"),
    Budget("heavy_seconds", 300, "s", "a request", "of heavy work, from its turn on"),
    Budget("requests_a_second", 60, "requests/s", "a visitor", "that are answered, on average"),
    Budget("requests_at_once", 240, "requests", "a visitor", "that may come faster than that"),
    Budget("requests_of_one", 8, "requests", "a visitor", "answered at a time; more wait"),
    Budget("requests_waiting", 64, "requests", "a visitor", "that wait for those"),
    Budget("middling_of_one", 4, "answers", "a visitor", "middling work under way or waiting"),
    Budget("heavy_of_one", 3, "jobs", "a visitor", "heavy work under way or waiting"),
    Budget("uploads_mib", 600, "MiB", "a visitor", "of files handed in"),
    Budget("upload_hours", 1, "hours", "a visitor", "an upload is kept after its last use"),
    Budget("run_hours", 24, "hours", "a visitor", "a run is kept after it last wrote something"),
    Budget("runs_of_one", 6, "runs", "a visitor", "that train or wait"),
    Budget("training_pairs", 10_000, "pairs", "a run", "to train and measure with"),
    Budget("training_batch", 128, "pairs", "a run", "in a batch"),
    Budget("training_seen", 50_000, "pairs", "a run", "that go through the model: steps × batch"),
    # Four times as many bytes, and twice that again for the optimiser.
    Budget("training_numbers", 5_000_000, "numbers", "a run", "in an encoder from scratch"),
    Budget("training_seconds", 600, "s", "a run", "from the first step on, pauses included"),
    Budget("training_mib", 4096, "MiB", "a run", "of memory for its process"),
    Budget("bodies_mib", 512, "MiB", "all", "of what requests send, until they are answered"),
    Budget("answers_mib", 512, "MiB", "all", "of answers, until they are sent"),
    Budget("middling_at_once", 1, "answers", "all", "middling work under way; the rest waits"),
    Budget("middling_waiting", 32, "answers", "all", "middling work that waits"),
    Budget("heavy_at_once", 2, "jobs", "all", "heavy work under way; the rest waits its turn"),
    Budget("heavy_waiting", 24, "jobs", "all", "heavy work that waits"),
    Budget("runs", 24, "runs", "all", "that train or wait; one trains"),
    Budget("runs_kept", 60, "runs", "all", "that have ended; the oldest leave"),
    Budget("memory_left_mib", 1024, "MiB", "all", "of memory left; with less no heavy work begins"),
    Budget(
        "disk_left_mib", 1024, "MiB", "all", "of disk left; with less no file and no run is taken"
    ),
    Budget("encoder_mib", 500, "MiB", "all", "an encoder of the hub"),
    Budget("hub_mib", 200, "MiB", "all", "a dataset of the hub"),
    Budget("hub_kept", 4, "repositories", "all", "models of the hub kept, and as many datasets"),
    Budget("hub_kept_mib", 2000, "MiB", "all", "of models of the hub, and as much of datasets"),
    Budget("vectors_mib", 32, "MiB", "all", "of sentences' vectors kept in memory"),
)
_BY_NAME = {budget.name: budget for budget in BUDGETS}


def budget(name: str) -> float:
    """Return the amount: infinite on the user's own machine."""
    found = _BY_NAME[name]
    return found.read() if deployment_policy().bounded else math.inf
