"""The Fine-tune page: plan a short training, watch it, compare runs, take the model away."""

from __future__ import annotations

from explorer.lab.training import published_experiment
from explorer.lab.training.plan import (
    AUGMENTATIONS,
    SCHEDULES,
    SCRATCH,
)
from explorer.lab.training.runs import MORE_EVALUATIONS
from explorer.runtime.response_types import Json
from explorer.sources import textbook
from explorer.sources.batches import SAMPLERS
from explorer.sources.encoders import EMBEDDED
from explorer.sources.practice import PRACTICE
from explorer.web.pages.finetune import requests
from explorer.web.pages.finetune.state import finetune_table

SERVED = requests.SERVED
# What the first button trains: small enough to be done in seconds.
QUICK = {
    "encoder": SCRATCH,
    "steps": 120,
    "batch_size": 32,
    "learning_rate": 0.05,
    "evaluations": 24,
}


def page_data() -> Json:
    """Return the facts for this page."""
    return {
        "table": finetune_table(),
        "quick": QUICK,
        "more_evaluations": MORE_EVALUATIONS,
        "schedules": SCHEDULES,
        "samplers": SAMPLERS,
        "augmentations": AUGMENTATIONS,
        "practice": list(PRACTICE),
        "examples": [
            name
            for name, example in textbook.EXAMPLES.items()
            if example.encodable and not example.encoder
        ],
        "scratch": SCRATCH,
        "embedded": EMBEDDED,
        "source": _printed(),
    }


def _printed() -> Json:
    """The figures of the source's table, row by row."""
    rows = {
        figure: [
            {
                "model": model,
                "loss": loss,
                "values": [*values, published_experiment.AVERAGES[figure][model, loss]],
            }
            for (model, loss), values in table.items()
        ]
        for figure, table in published_experiment.FIGURES.items()
    }
    return {
        "citation": published_experiment.CITATION,
        "sets": published_experiment.DATA_SETS,
        **rows,
    }
