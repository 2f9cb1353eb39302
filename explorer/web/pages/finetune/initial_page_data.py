"""The Fine-tune page: plan a short training, watch it, compare runs, take the model away."""

from dataclasses import dataclass

from lossprism.explorer.lab.training import published_cosent_results
from lossprism.explorer.lab.training.plan import AUGMENTATIONS, SCHEDULES, SCRATCH
from lossprism.explorer.lab.training.run_control import MORE_EVALUATIONS
from lossprism.explorer.sources import textbook
from lossprism.explorer.sources.drawn_batches import SAMPLERS
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.sources.practice_sentences import PRACTICE
from lossprism.explorer.web.pages.finetune import request_handlers
from lossprism.explorer.web.pages.finetune.state_entries import finetune_table
from lossprism.explorer.web.pages.state_entry_type import Entry

SERVED = request_handlers.SERVED


@dataclass(frozen=True, kw_only=True)
class QuickPlan:
    """The plan of the first button."""

    encoder: str
    steps: int
    batch_size: int
    learning_rate: float
    evaluations: int


@dataclass(frozen=True)
class PrintedRow:
    """A row of the source's table: a figure on each dataset, and their mean."""

    model: str
    loss: str
    values: list[float]


@dataclass(frozen=True, kw_only=True)
class Printed:
    """The source's table."""

    citation: str
    sets: list[str]
    spearman: list[PrintedRow]
    accuracy: list[PrintedRow]


@dataclass(frozen=True, kw_only=True)
class FinetuneOwn:
    """Facts for the Fine-tune page alone."""

    table: list[Entry]
    quick: QuickPlan
    more_evaluations: int
    schedules: tuple[str, ...]
    samplers: tuple[str, ...]
    augmentations: tuple[str, ...]
    practice: list[str]
    examples: list[str]
    scratch: str
    embedded: str
    source: Printed


# What the first button trains: small enough to be done in seconds.
QUICK = QuickPlan(encoder=SCRATCH, steps=120, batch_size=32, learning_rate=0.05, evaluations=24)


def page_data() -> FinetuneOwn:
    """Return the facts for this page."""
    return FinetuneOwn(
        table=finetune_table(),
        quick=QUICK,
        more_evaluations=MORE_EVALUATIONS,
        schedules=SCHEDULES,
        samplers=SAMPLERS,
        augmentations=AUGMENTATIONS,
        practice=list(PRACTICE),
        examples=[
            name
            for name, example in textbook.EXAMPLES.items()
            if example.encodable and not example.encoder
        ],
        scratch=SCRATCH,
        embedded=EMBEDDED,
        source=_printed(),
    )


def _printed() -> Printed:
    """The figures of the source's table, row by row."""
    return Printed(
        citation=published_cosent_results.CITATION,
        sets=list(published_cosent_results.DATA_SETS),
        spearman=_rows("spearman"),
        accuracy=_rows("accuracy"),
    )


def _rows(figure: str) -> list[PrintedRow]:
    means = published_cosent_results.PRINTED_AVERAGES[figure]
    table = published_cosent_results.PRINTED_FIGURES[figure]
    return [
        PrintedRow(model, loss, [*values, means[model, loss]])
        for (model, loss), values in table.items()
    ]
