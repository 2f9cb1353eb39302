"""The Explore page: one loss on one batch, taken apart."""

from __future__ import annotations

from explorer.core import own_loss
from explorer.core.loss_lookup import other_names
from explorer.core.related_classes import RELATED_CLASSES
from explorer.core.scenario import Scenario
from explorer.export.matrix_layout import NAMED_BY_PAIR, PAIRED
from explorer.lab.training.parameter_trials import MAX_PAIRS
from explorer.lab.variation_over_batches import COUNT
from explorer.locale import COUNTS
from explorer.runtime.limits import EXPLORED_PAIRS, FILE_BYTES, LINK_LETTERS
from explorer.sources import batches, random_batch, textbook
from explorer.sources.encoders import EMBEDDED
from explorer.sources.encoders.constant_and_orthogonal import ALIKE, APART
from explorer.web.pages.explore import requests
from explorer.web.pages.explore.loss_facts import describe_losses
from explorer.web.pages.explore.state import scenario_table
from losses import GROUPS, LOSSES

SERVED = requests.SERVED


def page_data() -> dict[str, object]:
    """Return the facts for this page, beside those of all pages."""
    return {
        "examples": {
            name: {"note": example.note, "encoder": example.encoder}
            for name, example in textbook.EXAMPLES.items()
        },
        "samplers": batches.SAMPLERS,
        "ranges": batches.RANGES,
        "spread": COUNT,
        "tried": MAX_PAIRS,
        "own": [name for name in LOSSES if own_loss.own_loss(name)],
        "editable": own_loss.may_edit(),
    }


def shared_data(first: Scenario) -> dict[str, object]:
    """Return the facts for every page: losses, limits, the first scenario."""
    return {
        "counts": sorted(COUNTS),
        "losses": describe_losses(),
        "groups": list(GROUPS),
        "paired": list(PAIRED),
        "by_pair": list(NAMED_BY_PAIR),
        "names": other_names(),
        "related_classes": [
            {
                "names": [one.name, *one.others],
                "loss": one.loss,
                "key": one.problem().key,
                "shared": one.is_shared,
            }
            for one in RELATED_CLASSES
        ],
        "defaults": first.to_json(),
        "scenario": scenario_table(),
        "limits": {
            "pairs": EXPLORED_PAIRS,
            "bytes": FILE_BYTES,
            "encoder": EMBEDDED,
            "plain_encoders": [APART, ALIKE],
            "random": random_batch.RANGES,
            "link": LINK_LETTERS,
        },
    }
