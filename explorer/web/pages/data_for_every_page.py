"""The facts that every page opens with: losses, names, limits, the first scenario."""

from typing import Any

from lossprism.explorer.core.library_classes_without_loss import RELATED_CLASSES
from lossprism.explorer.core.loss_lookup import other_names
from lossprism.explorer.core.scenario import Scenario
from lossprism.explorer.export.rows_and_columns_of_step_matrix import NAMED_BY_PAIR, PAIRED
from lossprism.explorer.locale import COUNTS
from lossprism.explorer.runtime.limits import EXPLORED_PAIRS, FILE_BYTES, LINK_LETTERS
from lossprism.explorer.sources import random_batch, textbook
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.sources.encoders.constant_and_orthogonal import ALIKE, APART
from lossprism.explorer.web.pages.explore.loss_facts import describe_losses
from lossprism.explorer.web.pages.explore.state_entries import scenario_table
from lossprism.explorer.web.pages.page_data_types import Limits, RelatedClass
from lossprism.losses import GROUPS


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
