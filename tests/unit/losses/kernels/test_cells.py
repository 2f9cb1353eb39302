"""The cells of blocks, put together, are the loss."""

import math

import pytest
import torch

from lossprism.losses import LOSSES
from lossprism.losses.duplicate_text_masks import same_text
from lossprism.losses.geometry import cosine_matrix
from lossprism.losses.kernels.cell_terms import (
    log_logistic_weights,
    logistic_terms,
    logistic_weights_,
    mistaken_,
    only_others_,
    share_of_others,
)

MADE = torch.Generator().manual_seed(5)
QUERIES, KEYS = torch.randn(2, 7, 5, generator=MADE).double()
# Keys 2 and 5 hold one text, and query 3 that of key 0.
OF_QUERIES = torch.tensor([10, 11, 12, 0, 14, 15, 16])
OF_KEYS = torch.tensor([0, 1, 2, 3, 4, 2, 6])
BANDS = [(0, 3), (3, 4), (4, 7)]


def same(found, expected, atol=0.0):
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=atol)


def blocks(texts):
    """Rows, columns, the logits of a block at scale 9, where its own cells lie, and what its texts
    leave out."""
    logits = 9 * cosine_matrix(QUERIES, KEYS)
    absent = same_text(OF_QUERIES, OF_KEYS, OF_KEYS) if texts else None
    for top, bottom in BANDS:
        for left, right in BANDS:
            part = (slice(top, bottom), slice(left, right))
            yield *part, logits[part].clone(), top - left, None if absent is None else absent[part]


@pytest.mark.parametrize("texts", [False, True])
def test_blocks_come_to_the_definition(texts):
    """Its value, what each own logit is pulled by, and how a softmax is shared."""
    known = {"query_texts": OF_QUERIES, "key_texts": OF_KEYS} if texts else {}
    own = 9 * torch.cosine_similarity(QUERIES, KEYS)
    sums, pulls, yes_or_no = torch.zeros(7).double(), [], 0.0
    for rows, columns, logits, offset, absent in blocks(texts):
        mistaken = mistaken_(logits - 2, offset, absent)
        yes_or_no += logistic_terms(mistaken).sum() / 7
        if rows == columns:
            pulls.append(logistic_weights_(mistaken).diagonal())
        sums[rows] += only_others_(logits, [offset], absent, own[rows]).exp().sum(dim=1)
    expected = LOSSES["siglip"].definition(QUERIES, KEYS, scale=9.0, bias=-2.0, **known)
    same(yes_or_no, expected)
    same(torch.cat(pulls), (2 - own).sigmoid())
    per_row = logistic_terms(sums.log())
    expected = LOSSES["info_nce"].definition(QUERIES, KEYS, temperature=1 / 9, **known)
    same(per_row.mean(), expected)
    same(share_of_others(per_row), sums / (1 + sums))


def test_a_logistic_cell_keeps_its_digits():
    far = [-700.0, -40.5, -39.5, -3.0, 0.0, 3.0, 39.5, 40.5, 700.0]
    x = torch.tensor(far, dtype=torch.float64)
    terms = logistic_terms(x)
    # log(1 + eˣ) = max(x, 0) + log(1 + e^−|x|)
    expected = [max(one, 0) + math.log1p(math.exp(-abs(one))) for one in far]
    same(terms, torch.tensor(expected, dtype=torch.float64))
    same(log_logistic_weights(x), torch.tensor(expected, dtype=torch.float64).flip(0).neg())
    same(log_logistic_weights(x, terms), log_logistic_weights(x), atol=1e-13)
    same(logistic_weights_(x.clone()), log_logistic_weights(x).exp())
