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
    Budget("body_mib", 32, "MiB", "a request", "size of the request; files travel in pieces"),
    # Of two or three bytes each, and many times that in memory.
    Budget("body_values", 1_000_000, "values", "a request", "values in its lists and objects"),
    Budget("body_seconds", 120, "s", "a request", "time until all of it has arrived"),
    Budget("scene_mib", 4, "MiB", "a request", "rows of its scenario, which is kept for a while"),
    Budget("sentence_letters", 20_000, "characters", "a request", "length of a sentence"),
    Budget("answer_mib", 128, "MiB", "a request", "size of its answer"),
    Budget("request_mib", 1500, "MiB", "a request", "estimated memory"),
    Budget(
        "request_cells", 400_000_000, "cells", "a request", "cells of matrices, over all values"
    ),
    # A thread's own: a busy machine makes nothing later.
    Budget("light_seconds", 20, "s", "a request", "processor time of light and middling work"),
    Budget("heavy_seconds", 300, "s", "a request", "time of heavy work, after its wait"),
    Budget("requests_a_second", 60, "requests/s", "a visitor", "requests answered, on average"),
    Budget(
        "requests_at_once", 240, "requests", "a visitor", "requests above that rate, for a moment"
    ),
    Budget("requests_of_one", 8, "requests", "a visitor", "requests answered at a time; more wait"),
    Budget("requests_waiting", 64, "requests", "a visitor", "requests waiting"),
    Budget("middling_of_one", 4, "answers", "a visitor", "middling work in progress or waiting"),
    Budget("heavy_of_one", 3, "jobs", "a visitor", "heavy work in progress or waiting"),
    Budget("uploads_mib", 600, "MiB", "a visitor", "uploaded files"),
    Budget("upload_hours", 1, "hours", "a visitor", "time an upload is kept after its last use"),
    Budget("run_hours", 24, "hours", "a visitor", "time a run is kept after its last write"),
    Budget("runs_of_one", 6, "runs", "a visitor", "runs that train or wait"),
    Budget("training_pairs", 10_000, "pairs", "a run", "pairs to train and measure with"),
    Budget("training_batch", 128, "pairs", "a run", "batch size"),
    Budget(
        "training_seen", 50_000, "pairs", "a run", "pairs through the model: steps × batch size"
    ),
    # Four times as many bytes, and twice that again for the optimiser.
    Budget("training_numbers", 5_000_000, "numbers", "a run", "weights of an encoder from scratch"),
    Budget("training_seconds", 600, "s", "a run", "time from the first step on, with pauses"),
    Budget("training_mib", 4096, "MiB", "a run", "memory of its process"),
    Budget("bodies_mib", 512, "MiB", "all", "requests, until they are answered"),
    Budget("answers_mib", 512, "MiB", "all", "answers, until they are sent"),
    Budget("middling_at_once", 1, "answers", "all", "middling work in progress; the rest waits"),
    Budget("middling_waiting", 32, "answers", "all", "middling work waiting"),
    Budget("heavy_at_once", 2, "jobs", "all", "heavy work in progress; the rest waits"),
    Budget("heavy_waiting", 24, "jobs", "all", "heavy work waiting"),
    Budget("runs", 24, "runs", "all", "runs that train or wait; one trains at a time"),
    Budget("runs_kept", 60, "runs", "all", "ended runs kept; the oldest are deleted"),
    Budget("memory_left_mib", 1024, "MiB", "all", "free memory without which no heavy work starts"),
    Budget("disk_left_mib", 1024, "MiB", "all", "free disk without which no file or run is taken"),
    Budget("encoder_mib", 500, "MiB", "all", "size of an encoder from the hub"),
    Budget("hub_mib", 200, "MiB", "all", "size of a dataset from the hub"),
    Budget("hub_kept", 4, "repositories", "all", "models of the hub kept, and as many datasets"),
    Budget("hub_kept_mib", 2000, "MiB", "all", "models of the hub kept, and as much of datasets"),
    Budget("vectors_mib", 32, "MiB", "all", "sentence vectors kept in memory"),
)
_BY_NAME = {budget.name: budget for budget in BUDGETS}


def budget(name: str) -> float:
    """Return the amount: infinite on the user's own machine."""
    entry = _BY_NAME[name]
    return entry.read() if deployment_policy().has_budgets else math.inf
