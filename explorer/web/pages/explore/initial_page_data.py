"""The Explore page: one loss on one batch, taken apart."""

from collections.abc import Mapping
from dataclasses import dataclass

from lossprism.explorer.core import own_loss_from_python_file
from lossprism.explorer.lab.training.parameter_trial_plans import MAX_PAIRS
from lossprism.explorer.lab.variation_over_batches import BATCH_COUNT
from lossprism.explorer.sources import drawn_batches, textbook
from lossprism.explorer.web.pages.explore import request_handlers
from lossprism.explorer.web.pages.page_data_types import Example
from lossprism.losses import LOSSES

SERVED = request_handlers.SERVED


@dataclass(frozen=True)
class ExploreExample(Example):
    """A textbook example; `encoder` made its vectors, where that is not the embedded one."""

    encoder: str


@dataclass(frozen=True, kw_only=True)
class ExplorePageData:
    """Facts for Explore alone; `own` are the losses of the user's own, `editable`: their files can
    be edited in the page; `tried` is the largest number of pairs of a file for the trials."""

    examples: dict[str, ExploreExample]
    samplers: tuple[str, ...]
    ranges: Mapping[str, tuple[float, float]]
    spread: int
    tried: int
    own: list[str]
    editable: bool


def page_data() -> ExplorePageData:
    """Return the facts for this page, beside those of all pages."""
    return ExplorePageData(
        examples={
            name: ExploreExample(example.note, example.encoder)
            for name, example in textbook.EXAMPLES.items()
        },
        samplers=drawn_batches.SAMPLERS,
        ranges=drawn_batches.RANGES,
        spread=BATCH_COUNT,
        tried=MAX_PAIRS,
        own=[name for name in LOSSES if own_loss_from_python_file.own_loss(name)],
        editable=own_loss_from_python_file.may_edit(),
    )
