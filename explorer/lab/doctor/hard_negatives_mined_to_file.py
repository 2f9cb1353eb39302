"""Hard negatives of a dataset, mined by sentence-transformers' own utility, as a file.

The utility is handed vectors that are kept on disk, in place of a model that would encode anew; and
of texts that are equal but for case, width and blanks the first for all of them, so that the key of
a twin is no negative.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tqdm import trange

from lossprism.explorer.lab.doctor.pair_dataset_checks_by_encoder import (
    encoded_texts,
    full_name,
    sampled_places,
)
from lossprism.explorer.lab.doctor.pair_table_profile import Profile
from lossprism.explorer.runtime.jobs import Report
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_parent_classes import Whole
from lossprism.explorer.sources.encoders import locate
from lossprism.explorer.sources.encoders.uploaded_vectors import in_place_of

NEGATIVES_RANGE, USUAL_NEGATIVES = (1, 10), 1  # negatives of a query: limits and default
# Distance of a negative below the positive's cosine, as a share of that: limits and default.
MARGIN_RANGE, USUAL_MARGIN = (0.0, 0.9), 0.05
_ROWS_AT_ONCE = 2**8  # of the matrix of cosines in memory
HEADS = ("anchor", "positive", "negative")


@dataclass(frozen=True)
class Mined:
    """Triplets of texts, those of a query together. Of the examined `pairs`, `without` have no
    negative below their own key by the margin."""

    triplets: tuple[tuple[str, str, str], ...]
    pairs: int
    without: int

    def answered(self) -> MinedNegatives:
        """Return the answer for programs."""
        triplets = [MinedTriplet(*texts) for texts in self.triplets]
        return MinedNegatives(triplets, self.pairs, self.without)


@dataclass(frozen=True)
class MinedTriplet(Whole):
    """A pair, and a text of another one that is near it."""

    anchor: str
    positive: str
    negative: str


@dataclass(frozen=True)
class MinedNegatives(Whole):
    """Hard negatives; of the examined `pairs`, `without` have none."""

    triplets: list[MinedTriplet]
    pairs: int
    without: int


def mine(
    profile: Profile, encoder: str, max_pairs: int, each: int, margin: float, report: Report
) -> Mined:
    """Mine hard negatives for at most `max_pairs` positive pairs, up to `each` of the nearest keys
    that are not their own.

    A negative stays below the pair's own cosine by the relative `margin` (0: no limit).

    Raises Problem where there is no such encoder, or no two positive pairs.
    """
    from datasets import Dataset
    from sentence_transformers.util import hard_negatives

    if not NEGATIVES_RANGE[0] <= each <= NEGATIVES_RANGE[1]:
        raise Problem("mine_each", value=each, least=NEGATIVES_RANGE[0], most=NEGATIVES_RANGE[1])
    if not MARGIN_RANGE[0] <= margin <= MARGIN_RANGE[1]:
        raise Problem(
            "mine_margin", value=f"{margin:g}", least=MARGIN_RANGE[0], most=MARGIN_RANGE[1]
        )
    places = sampled_places(len(profile), max_pairs)
    places = places[profile.positive[places]]
    first = [profile.columns.first[at] for at in _first_of(profile.first, places)]
    second = [profile.columns.second[at] for at in _first_of(profile.second, places)]
    if len(dict.fromkeys(second)) < 2:
        raise Problem("mine_too_few")
    name = in_place_of(full_name(encoder), profile.own_vectors)
    _, queries, keys = encoded_texts(first, second, locate(name), report)
    model = _StoredVectors(first, second, queries, keys, report)
    data = Dataset.from_dict({"anchor": first, "positive": second})
    distinct = len(dict.fromkeys(zip(first, second, strict=True)))
    # The utility cannot hide its progress bar, only tqdm can: `report` shows the progress.
    hard_negatives.trange = partial(trange, disable=True)  # type: ignore[reportPrivateImportUsage]
    result = hard_negatives.mine_hard_negatives(
        data,
        model,  # type: ignore[arg-type]  # it has all methods that are called here
        num_negatives=each,
        relative_margin=margin or None,
        output_format="triplet",
        faiss_batch_size=_ROWS_AT_ONCE,
        use_faiss=False,
        verbose=False,
    )
    triplets = tuple(zip(*(result[name] for name in HEADS), strict=True))
    have = len({(anchor, positive) for anchor, positive, _ in triplets})
    return Mined(triplets, distinct, distinct - have)


def _first_of(numbers: np.ndarray, places: np.ndarray) -> list[int]:
    """Return, for each place, the first place whose text has the same number."""
    _, first, back = np.unique(numbers[places], return_index=True, return_inverse=True)
    return places[first[back]].tolist()


class _StoredVectors:
    """Stand-in for the model that the utility expects: returns stored vectors, and reports the
    progress at each part of the comparison."""

    device = torch.device("cpu")

    def __init__(
        self,
        first: Sequence[str],
        second: Sequence[str],
        queries: np.ndarray,
        keys: np.ndarray,
        report: Report,
    ) -> None:
        self._queries = dict(zip(first, queries, strict=True))
        self._keys = dict(zip(second, keys, strict=True))
        self._report, self._done = report, 0

    def encode_query(self, texts: Sequence[str], **_: Any) -> np.ndarray:
        return np.stack([self._queries[text] for text in texts])

    def encode_document(self, texts: Sequence[str], **_: Any) -> np.ndarray:
        return np.stack([self._keys[text] for text in texts])

    def similarity(self, queries: np.ndarray, keys: torch.Tensor) -> torch.Tensor:
        self._report("comparing", self._done, len(self._queries))
        self._done += len(queries)
        return torch.as_tensor(queries) @ keys.T

    def similarity_pairwise(self, queries: np.ndarray, keys: torch.Tensor) -> torch.Tensor:
        return (torch.as_tensor(queries) * torch.as_tensor(keys)).sum(dim=1)


def write_mined(mined: Mined, path: Path) -> Path:
    """Write triplets as a table that sentence-transformers and every page here can read. Raises
    Problem without any."""
    if not mined.triplets:
        raise Problem("mine_none", pairs=mined.pairs)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(HEADS)
        for triplet in mined.triplets:
            writer.writerow([" ".join(text.split()) for text in triplet])
    return path
