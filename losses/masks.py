"""Masks of candidates: rules for the cells [N, K] of rows against candidates.

Row i's own candidate is in column i. The first N columns are the batch's, further ones given
negatives. Each rule returns a mask [N, K], True for cells that count.
"""

import torch
from torch import Tensor
from torch.nn.functional import pad

from lossprism.losses.duplicate_text_masks import same_text as holds_same_text
from lossprism.losses.joined_mask_and_bias_rules import Rules


def own_pair(cells: Tensor) -> Tensor:
    """Select only the own candidate of each row."""
    return torch.eye(*cells.shape, dtype=torch.bool, device=cells.device)


def every_cell(cells: Tensor) -> Tensor:
    """Select all candidates, including the own one."""
    return torch.ones_like(cells, dtype=torch.bool)


def others_of_row(cells: Tensor) -> Tensor:
    """Select all but the row's own candidate."""
    return ~torch.eye(*cells.shape, dtype=torch.bool, device=cells.device)


def given_only(cells: Tensor) -> Tensor:
    """Select given negatives, and no other candidate of the batch."""
    place = torch.arange(cells.shape[1], device=cells.device)
    return (place >= len(cells)).expand_as(cells)


def below_own(cells: Tensor, own: Tensor, mask_above: float) -> Tensor:
    """Select similarities of at most that of the row's own pair [N] + `mask_above`."""
    return cells <= ceiling(own, mask_above)[:, None]


def ceiling(own: Tensor, mask_above: float) -> Tensor:
    """Return the similarity above which a cell is left out: that of the own pair + `mask_above`.

    A tolerance for rounding keeps duplicates of the own key.
    """
    own = own.detach()
    return own + mask_above + 8 * torch.finfo(own.dtype).eps * own.abs().clamp_min(1)


def rows_differ(cells: Tensor, same_text: Tensor) -> Tensor:
    """Select rows of other numbers [N] than the row's, and all given negatives."""
    alike = same_text[:, None] == same_text
    return ~pad(alike, (0, cells.shape[1] - len(alike)))


def texts_differ(
    cells: Tensor, query_texts: Tensor, key_texts: Tensor, negative_texts: Tensor | None = None
) -> Tensor:
    """Select keys and negatives with neither text of the row's pair."""
    texts = key_texts if negative_texts is None else torch.cat((key_texts, negative_texts))
    alike = holds_same_text(query_texts, key_texts, texts)
    return ~pad(alike, (0, cells.shape[1] - len(texts)))


def query_texts_differ(cells: Tensor, query_texts: Tensor, key_texts: Tensor) -> Tensor:
    """Select queries with neither text of the row's pair."""
    return ~holds_same_text(query_texts, key_texts, query_texts)


def owned_only(cells: Tensor, negative_owners: Tensor) -> Tensor:
    """Select given negatives that are the row's own or nobody's (−1 in [Q])."""
    place = torch.arange(len(cells), device=cells.device)
    foreign = (negative_owners >= 0) & (negative_owners != place[:, None])
    return ~pad(foreign, (cells.shape[1] - len(negative_owners), 0))


def not_own(cells: Tensor, negative_owners: Tensor) -> Tensor:
    """Select all but the row's own hard negatives."""
    return ~own_negatives(cells, negative_owners)


def own_negatives(cells: Tensor, negative_owners: Tensor) -> Tensor:
    """Select the row's own hard negatives, given the owner of each of the last Q columns."""
    place = torch.arange(len(cells), device=cells.device)
    return pad(place[:, None] == negative_owners, (cells.shape[1] - len(negative_owners), 0))


OTHERS = Rules("&", (others_of_row,))
EVERY_CELL = Rules("&", (every_cell,))
