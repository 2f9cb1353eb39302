"""Figures that were computed beside, on the embeddings that ship.

Those of ListNet (1.374, 7.691, 1.282), ListMLE (2.458) and of the teacher's divergences (1.152,
0.0322) are of one list that is none of the textbook's; what tells three of them apart holds of any.
"""

import pytest
import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.sources.textbook import load_example
from lossprism.losses import list_net


@pytest.mark.parametrize(
    ("threshold", "loss", "collapse"), [(0.5, 0.304, 0.709), (1, 0.583, 0.401)]
)
def test_multi_similarity_of_the_eight_positive_pairs(threshold, loss, collapse):
    pairs = load_example("hard_negatives")
    rows = tuple((a, b, "1") for a, b, label in pairs.rows if label == "1")
    chosen = (("threshold", threshold), ("mined", False))
    data = Data(source="table", rows=rows)
    found = explore(Scenario(data=data, loss="multi_similarity", parameters=chosen))
    assert [found.loss, found.collapse] == pytest.approx([loss, collapse], abs=5e-4)


def test_a_list_of_raw_labels_is_that_of_normalised_ones_times_their_sum():
    """7.691 is 6 · 1.282: labels that add up to 6."""
    scores, labels = torch.tensor([[0.4, 0.3, 0.2, 0.5]]), torch.tensor([[3.0, 2.0, 1.0, 0.0]])
    raw, shares = (list_net(scores, labels, target=target) for target in ("raw", "normalized"))
    torch.testing.assert_close(raw, 6 * shares)
