"""Batches that claims are executed on: the sources' own, random ones, and the batch at hand."""

import functools
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.lab.claims.claim import ClaimBatch

MAX_PAIRS = 256
RANDOM_BATCHES = 24
SCALES = (0.5, 5.0, 20.0, 100.0)


def batch_of_scored_pairs(
    scores: Sequence[float] | Tensor,
    labels: Sequence[float] | Tensor,
    scale: float = 20.0,
    printed: Mapping[str, Sequence[float]] | None = None,
) -> ClaimBatch:
    """Return a batch of scored pairs [N] without vectors, each of two sentences of its own."""
    scores, labels = (torch.as_tensor(one, dtype=torch.float64) for one in (scores, labels))
    places = torch.arange(len(scores))
    return ClaimBatch(
        scores,
        labels,
        is_positive(labels),
        2 * places,
        2 * places + 1,
        scale=scale,
        printed=printed or {},
    )


def batch_of_sentence_vectors(
    vectors: Tensor, pairs: list[tuple[int, int]], labels: list[float] | Tensor, **rest: object
) -> ClaimBatch:
    """Return a batch of pairs of sentences with these vectors [S, D], scored by their cosines."""
    vectors = vectors.double()
    labels = torch.as_tensor(labels, dtype=torch.float64)
    first, second = torch.tensor(pairs).T
    scores = torch.nn.functional.cosine_similarity(vectors[first], vectors[second])
    return ClaimBatch(
        scores,
        labels,
        is_positive(labels),
        first,
        second,
        vectors,
        **rest,  # type: ignore[arg-type]
    )


def claim_batch(batch: Batch, scale: float) -> ClaimBatch:
    """Return the batch at hand, off the device and in float64; of more than MAX_PAIRS pairs the
    first ones, for some claims take the time of all pairs of pairs at each λ of a curve."""
    vectors = None if batch.vectors is None else batch.vectors.detach().cpu().double()
    return ClaimBatch(
        scores=torch.from_numpy(batch.plain_scores[:MAX_PAIRS]),
        labels=torch.from_numpy(batch.plain_labels[:MAX_PAIRS]),
        positive=batch.positive[:MAX_PAIRS].cpu(),
        first=batch.first[:MAX_PAIRS].cpu(),
        second=batch.second[:MAX_PAIRS].cpu(),
        vectors=vectors,
        scale=scale,
    )


def is_positive(labels: Tensor) -> Tensor:
    """Mark the labels in the upper half of their range, all of them where they are equal."""
    return labels >= (labels.min() + labels.max()) / 2


# S0: four scores with 0/1 labels, and every step that it prints of them at λ = 20, row by row.
S0_EXAMPLE = batch_of_scored_pairs(
    [0.1, 0.2, 0.8, 0.9],
    [0, 0, 1, 1],
    printed={
        "scaled": [2, 4, 16, 18],
        "differences": [0, -2, -14, -16, 2, 0, -12, -14, 14, 12, 0, -2, 16, 14, 2, 0],
        "ordered": [0, 0, 1, 1] * 2 + [0] * 8,
        "masked": [-1e12, -1e12, -14, -16, -1e12, -1e12, -12, -14] + [-1e12] * 8,
        "terms": [-14, -16, -12, -14],
    },
)
# S1 eq. 46: four sentences in three dimensions, rounded as printed; four labelled pairs. The
# source prints the cosines of eq. 47 in the order of the pairs, and the loss of eq. 48.
S1_EXAMPLE = batch_of_sentence_vectors(
    torch.tensor([[0.577, 0.577, 0.577], [0.707, 0.707, 0], [0, 0, 1], [0.5, 0.5, 0.707]]).double(),
    [(0, 1), (0, 2), (1, 2), (0, 3)],
    [0.9, 0.2, 0.1, 0.5],
    printed={"cosines": [0.816, 0.577, 0, 0.816], "loss": [0.698]},
)


def random_batch(seed: int) -> ClaimBatch:
    """Return a small random batch: 2 to 11 pairs of sentences in 2 to 8 dimensions, with 0/1 labels
    for even seeds and five grades for odd ones."""
    generator = torch.Generator().manual_seed(seed)
    count, width = (
        int(torch.randint(low, high, (), generator=generator)) for low, high in ((2, 12), (2, 9))
    )
    vectors = torch.randn(2 * count, width, generator=generator, dtype=torch.float64)
    pairs = [(2 * pair, 2 * pair + 1) for pair in range(count)]
    grades = 2 if seed % 2 == 0 else 5
    labels = torch.randint(grades, (count,), generator=generator).double() / (grades - 1)
    return batch_of_sentence_vectors(vectors, pairs, labels, scale=SCALES[seed % len(SCALES)])


@functools.cache
def random_batches() -> tuple[ClaimBatch, ...]:
    """Return the random batches that every claim about a batch is tried on."""
    return tuple(map(random_batch, range(RANDOM_BATCHES)))
