"""The Explore page: one loss on one batch, taken apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lossprism.explorer.core import own_loss
from lossprism.explorer.core.library_classes_without_loss import RELATED_CLASSES
from lossprism.explorer.core.loss_lookup import other_names
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export.matrix_rows_and_columns import NAMED_BY_PAIR, PAIRED
from lossprism.explorer.lab.training.parameter_trial_plans import MAX_PAIRS
from lossprism.explorer.lab.variation_over_batches import BATCH_COUNT
from lossprism.explorer.locale import COUNTS
from lossprism.explorer.runtime.limits import EXPLORED_PAIRS, FILE_BYTES, LINK_LETTERS
from lossprism.explorer.sources import drawn_batches, random_batch, textbook
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.sources.encoders.constant_and_orthogonal import ALIKE, APART
from lossprism.explorer.web.page_data import Example, Limits, RelatedClass
from lossprism.explorer.web.pages.explore import requests
from lossprism.explorer.web.pages.explore.loss_facts import describe_losses
from lossprism.explorer.web.pages.explore.state_entries import scenario_table
from lossprism.losses import GROUPS, LOSSES

SERVED = requests.SERVED


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
        own=[name for name in LOSSES if own_loss.own_loss(name)],
        editable=own_loss.may_edit(),
    )


def shared_data(first: Scenario) -> dict[str, Any]:
    """Return the facts for every page: losses, limits, the first scenario."""
    return {
        "counts": sorted(COUNTS),
        "losses": describe_losses(),
        "groups": list(GROUPS),
        "paired": list(PAIRED),
        "by_pair": list(NAMED_BY_PAIR),
        "names": other_names(),
        "related_classes": [
            RelatedClass([one.name, *one.others], one.loss, one.problem().key, one.is_shared)
            for one in RELATED_CLASSES
        ],
        "defaults": first.sent(),
        "examples_in": textbook.IN_LANGUAGE,
        "scenario": scenario_table(),
        "limits": Limits(
            pairs=EXPLORED_PAIRS,
            bytes=FILE_BYTES,
            encoder=EMBEDDED,
            plain_encoders=[APART, ALIKE],
            random=random_batch.RANGES,
            link=LINK_LETTERS,
        ),
    }
