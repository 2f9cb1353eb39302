"""The Explore page: one loss on one batch, taken apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from explorer.core import own_loss
from explorer.core.loss_lookup import other_names
from explorer.core.related_classes import RELATED_CLASSES
from explorer.core.scenario import Scenario
from explorer.export.matrix_layout import NAMED_BY_PAIR, PAIRED
from explorer.lab.training.parameter_trials import MAX_PAIRS
from explorer.lab.variation_over_batches import COUNT
from explorer.locale import COUNTS
from explorer.runtime.limits import EXPLORED_PAIRS, FILE_BYTES, LINK_LETTERS
from explorer.sources import drawn_batches, random_batch, textbook
from explorer.sources.encoders import EMBEDDED
from explorer.sources.encoders.constant_and_orthogonal import ALIKE, APART
from explorer.web.page_facts import Example, Facts, Limits, RelatedClass
from explorer.web.pages.explore import requests
from explorer.web.pages.explore.loss_facts import describe_losses
from explorer.web.pages.explore.state_entries import scenario_table
from losses import GROUPS, LOSSES

SERVED = requests.SERVED


@dataclass(frozen=True)
class ExploreExample(Example):
    """A textbook example; `encoder` made its vectors, where that is not the embedded one."""

    encoder: str


@dataclass(frozen=True, kw_only=True)
class ExploreOwn:
    """Facts for Explore alone; `own` are the losses of the user's own, `editable`: their files can
    be edited in the page; `tried` is the largest number of pairs of a file for the trials."""

    examples: dict[str, ExploreExample]
    samplers: tuple[str, ...]
    ranges: Mapping[str, tuple[float, float]]
    spread: int
    tried: int
    own: list[str]
    editable: bool


@dataclass(frozen=True, kw_only=True)
class ExploreFacts(Facts):
    """Facts for Explore."""

    explore: ExploreOwn


FACTS = ExploreFacts


def page_data() -> ExploreOwn:
    """Return the facts for this page, beside those of all pages."""
    return ExploreOwn(
        examples={
            name: ExploreExample(example.note, example.encoder)
            for name, example in textbook.EXAMPLES.items()
        },
        samplers=drawn_batches.SAMPLERS,
        ranges=drawn_batches.RANGES,
        spread=COUNT,
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
