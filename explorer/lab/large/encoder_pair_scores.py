"""Similarities of a large file's pairs: encoded part by part, each part kept on disk.

An interrupted run goes on with the first part that is missing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.lab.large.batch import angles, cosines
from lossprism.explorer.lab.large.tile_survey import Progress
from lossprism.explorer.runtime.cache_folder import cache_folder, digest, prune
from lossprism.explorer.runtime.saved_arrays import load_array, save_array
from lossprism.explorer.runtime.torch_threads import all_cores
from lossprism.explorer.sources.encoders import Encoder

# Pairs of one part: an interruption loses a few seconds of work at most.
PAIRS_IN_PART = 256


@dataclass(frozen=True, eq=False)
class EncodedScores:
    """`cosines` and `angles` (AnglE's scores) [N]; `vectors` of the first and the second sentences,
    if requested."""

    cosines: np.ndarray
    angles: np.ndarray
    vectors: tuple[np.ndarray, np.ndarray] | None


def encoded(
    first: Sequence[str],
    second: Sequence[str],
    encoder: Encoder,
    progress: Progress,
    *,
    with_vectors: bool,
) -> EncodedScores:
    """Return the scores of each pair under the encoder, and the sentences' vectors if requested.

    `progress` hears of pairs done after each part and may raise to stop; finished parts stay
    cached.
    """
    step = max(len(first), 1) if encoder.reads_whole_batch else PAIRS_IN_PART
    key = digest([encoder.identity, "vectors" if with_vectors else "scores", *first, *second])
    parts = []
    for start in range(0, len(first), step):
        progress(start, len(first))
        path = cache_folder("scores") / f"{key}-{start:08d}.npy"
        scores = load_array(path)
        if scores is None:
            part = slice(start, start + step)
            scores = _part(first[part], second[part], encoder, with_vectors)
            save_array(path, scores)
        parts.append(scores)
    progress(len(first), len(first))
    prune()
    joined = np.concatenate(parts)
    if not with_vectors:
        return EncodedScores(joined[:, 0], joined[:, 1], None)
    sides = joined[:, 0], joined[:, 1]
    return EncodedScores(cosines(*sides), angles(*sides), sides)


def _part(
    first: Sequence[str], second: Sequence[str], encoder: Encoder, with_vectors: bool
) -> np.ndarray:
    """Cosine and angle [n, 2], or vectors [n, 2, D]."""
    distinct = list(dict.fromkeys([*first, *second]))
    with all_cores():
        rows = encoder.encode(distinct)
    place = {sentence: at for at, sentence in enumerate(distinct)}
    sides = [rows[[place[s] for s in side]] for side in (first, second)]
    return np.stack(sides if with_vectors else [cosines(*sides), angles(*sides)], axis=1)
