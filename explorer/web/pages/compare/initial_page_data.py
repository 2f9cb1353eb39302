"""The Compare page: two to six losses, or conventions of one, on the same batch."""

from dataclasses import dataclass

from lossprism.explorer.lab.compare.loss_comparison import COMMON_LOSSES, MAX_LOSSES, MIN_LOSSES
from lossprism.explorer.sources import textbook
from lossprism.explorer.web.page_data import Entry, Example
from lossprism.explorer.web.pages.compare import requests
from lossprism.explorer.web.pages.compare.experiment_requests import EXPERIMENTS
from lossprism.explorer.web.pages.compare.parity_request import PARITY
from lossprism.explorer.web.pages.compare.questions import OPENING, QUESTIONS, Question
from lossprism.explorer.web.pages.compare.state_entries import BARS, SECTIONS, compare_table
from lossprism.explorer.web.pages.explore.requests import TAKE

SERVED = [*requests.SERVED, PARITY, *EXPERIMENTS, TAKE]


@dataclass(frozen=True, kw_only=True)
class ComparePageData:
    """Facts for Compare: how many losses it takes, those that people train with most, the orders
    of its bars, its sections, its questions and the one that it opens with in each language."""

    table: list[Entry]
    usual: list[str]
    least: int
    most: int
    bars: tuple[str, ...]
    sections: tuple[str, ...]
    opening: dict[str, str]
    questions: dict[str, Question]
    examples: dict[str, Example]


def page_data() -> ComparePageData:
    """Return what the components of this page know from the start."""
    return ComparePageData(
        table=compare_table(),
        usual=list(COMMON_LOSSES),
        least=MIN_LOSSES,
        most=MAX_LOSSES,
        bars=BARS,
        sections=SECTIONS,
        questions=QUESTIONS,
        opening=OPENING,
        examples={name: Example(example.note) for name, example in textbook.EXAMPLES.items()},
    )
