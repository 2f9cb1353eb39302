"""Similarities of a large file's pairs: encoded part by part, each part kept on disk.

An interrupted run goes on with the first part that is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from explorer.device import all_cores
from explorer.lab.large import store
from explorer.lab.large.tiles import Progress
from explorer.sources import encoders
from explorer.sources.model_folders import locate

# Pairs of one part: a few seconds of work at most are lost.
PART = 256


@dataclass(frozen=True, eq=False)
class Encoded:
    """`scores` [N]; `vectors`, of the first and the second sentences, where they were wanted."""

    scores: np.ndarray
    vectors: tuple[np.ndarray, np.ndarray] | None


def encoded(
    first: Sequence[str],
    second: Sequence[str],
    encoder: str,
    progress: Progress,
    *,
    with_vectors: bool,
) -> Encoded:
    """The cosine of each pair under the encoder, and the sentences' vectors if wanted.

    `progress` hears of pairs done after each part and may raise to stop; what is done stays.
    """
    identity = locate(encoder).identity
    key = store.digest([identity, str(with_vectors), *first, *second])
    folder = store.folder("scores") / key
    folder.mkdir(exist_ok=True)
    parts = []
    for start in range(0, len(first), PART):
        progress(start, len(first))
        path = folder / f"{start:08d}.npy"
        if not path.exists():
            part = slice(start, start + PART)
            store.save_array(path, _part(first[part], second[part], encoder, with_vectors))
        parts.append(np.load(path, allow_pickle=False))
    progress(len(first), len(first))
    store.prune()
    if not with_vectors:
        return Encoded(np.concatenate(parts), None)
    vectors = np.concatenate(parts)
    sides = vectors[:, 0], vectors[:, 1]
    return Encoded(np.einsum("nd,nd->n", *sides, dtype=np.float64), sides)


def _part(
    first: Sequence[str], second: Sequence[str], encoder: str, with_vectors: bool
) -> np.ndarray:
    """Cosines [n], or unit vectors [n, 2, D]."""
    distinct = list(dict.fromkeys([*first, *second]))
    with all_cores():
        rows = encoders.encode(distinct, encoder)
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
    place = {sentence: at for at, sentence in enumerate(distinct)}
    pairs = np.stack([rows[[place[s] for s in side]] for side in (first, second)], axis=1)
    if with_vectors:
        return pairs
    return np.einsum("nd,nd->n", pairs[:, 0], pairs[:, 1], dtype=np.float64)
