"""The Compare page: two to six losses, or conventions of one, on the same batch."""

from dataclasses import dataclass

from lossprism.explorer.lab.compare.loss_comparison import COMMON_LOSSES
from lossprism.explorer.sources import textbook
from lossprism.explorer.web.pages.compare import request_handlers
from lossprism.explorer.web.pages.compare.experiment_request_handlers import EXPERIMENTS
from lossprism.explorer.web.pages.compare.parity_request import PARITY
from lossprism.explorer.web.pages.compare.questions import OPENING, QUESTIONS, Question
from lossprism.explorer.web.pages.compare.state_entries import compare_table
from lossprism.explorer.web.pages.explore.request_handlers import TAKE
from lossprism.explorer.web.pages.page_data_types import Example
from lossprism.explorer.web.pages.state_entry_type import Entry

SERVED = [*request_handlers.SERVED, PARITY, *EXPERIMENTS, TAKE]


@dataclass(frozen=True, kw_only=True)
class ComparePageData:
    """Facts for Compare: the losses that people train with most, its questions and the one that it
    opens with in each language, and the examples."""

    table: list[Entry]
    usual: list[str]
    opening: dict[str, str]
    questions: dict[str, Question]
    examples: dict[str, Example]


def page_data() -> ComparePageData:
    """Return what the components of this page know from the start."""
    return ComparePageData(
        table=compare_table(),
        usual=list(COMMON_LOSSES),
        questions=QUESTIONS,
        opening=OPENING,
        examples={name: Example(example.note) for name, example in textbook.EXAMPLES.items()},
    )
