"""Findings about a dataset that need an encoder: near-duplicates, keys of other pairs above a
query's own, labels that the encoder contradicts, and texts that it cuts off.

A large dataset is sampled with a fixed seed."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from lossprism.explorer.core.label_disagreement import (
    STRONG_RATE,
    Contradictions,
    Disagreement,
    contradictions,
    disagreement,
    disagrees,
)
from lossprism.explorer.core.modality_gap import gap_between
from lossprism.explorer.core.rank_correlation import spearman
from lossprism.explorer.core.remarks import mostly_foreign
from lossprism.explorer.lab.doctor.duplicate_collisions import expected_collisions
from lossprism.explorer.lab.doctor.finding import (
    EVIDENCE,
    NOTE,
    WARNING,
    Cell,
    Fault,
    Value,
    evidence,
    worst_first,
)
from lossprism.explorer.lab.doctor.pair_dataset_checks import MANY_ROWS_SHARE, Check
from lossprism.explorer.lab.doctor.pair_table_profile import Profile
from lossprism.explorer.lab.large.encoder_pair_scores import encoded
from lossprism.explorer.lab.vector_normalisation import directions
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.jobs import Report
from lossprism.explorer.runtime.number_format import display_number, percent, whole_percent
from lossprism.explorer.sources.encoders import Encoder, locate
from lossprism.explorer.sources.encoders.bundled_encoder import EMBEDDED, has_embedded_weights
from lossprism.explorer.sources.encoders.uploaded_vectors import file_of, in_place_of, is_own
from lossprism.losses import LossSpec

NEAR_DUPLICATE_COSINE = 0.95  # cosine from which on two different texts are near-duplicates
MAX_ENCODED_PAIRS = 2**14  # a larger sample gives the same result
USUAL_ENCODED_PAIRS = 2000
ENCODED_LIMITS = (10, MAX_ENCODED_PAIRS)  # of a request
ROWS_AT_ONCE = 2**8  # of the matrix of cosines in memory
# Cosines are shown for each label, or for so many bands of labels if there are more of them.
LABEL_BANDS, MAX_SINGLE_LABELS = 5, 8
# Sample on which the number of counting negatives is measured.
SAMPLED_QUERIES, SAMPLED_NEGATIVES = 64, 2048
TEMPERATURE_LIMITS = (1e-5, 1e3)  # of the search
COUNTED_NEGATIVES = (1.5, 4.0, 16.0, 64.0)  # a temperature is shown for each
WITH_GUIDE = "loss = losses.GISTEmbedLoss(model, guide=guide)"
SHORT_NAMES = {"minilm": EMBEDDED}
_BAND_FIGURES = ("mean", "tenth", "ninth")
MAX_SHOWN_PAIRS = 10  # pairs shown of those on which label and encoder disagree


@dataclass(frozen=True)
class Band:
    """Cosines of the pairs with labels from `low` to `high`: count, mean, and the quantiles at a
    tenth and at nine tenths."""

    low: float
    high: float
    count: int
    mean: float
    tenth: float
    ninth: float

    def written(self, language: str) -> str:
        ends = [display_number(self.low, 3), display_number(self.high, 3)]
        shown = {name: display_number(getattr(self, name), 2) for name in _BAND_FIGURES}
        label = "–".join(dict.fromkeys(ends))
        return say(language, "doctor.band", label=label, count=self.count, **shown)


@dataclass(frozen=True)
class Sharpness:
    """The temperature at which this number of `negatives` of a batch count: e to the entropy of
    their softmax, as the mean over queries."""

    negatives: float
    temperature: float

    def written(self, batch: int, language: str) -> str:
        return say(
            language,
            "doctor.sharpness",
            negatives=display_number(self.negatives),
            others=batch - 1,
            temperature=display_number(self.temperature, 2),
            scale=display_number(1 / self.temperature, 2),
        )


@dataclass(frozen=True)
class RankedPair:
    """A pair, counted from 1, the share of its comparisons that it contradicts (`rate`), and the
    label that would fit its cosine."""

    pair: int
    rate: float
    fitting: float


@dataclass(frozen=True, eq=False)
class EncodedPairs:
    """An encoder's figures of M sampled pairs, for any loss.

    `places` are the indices of the pairs, `cosines` those of each pair [M]. `near` is the number of
    pairs with a text near one of each pair [M], `above` that of other pairs' keys above each
    query's own [M]; their cells are the clearest examples. `negatives` are cosines of queries with
    keys of other pairs [Q, K]. `tokens` are those of the longer text of each pair [M],
    `most_tokens` the encoder's limit; both may be None. `gap` is the modality gap of vectors that
    came with the data, else None.
    """

    encoder: str
    places: np.ndarray
    cosines: np.ndarray
    near: np.ndarray
    near_cells: tuple[Cell, ...]
    above: np.ndarray
    above_cells: tuple[Cell, ...]
    bands: tuple[Band, ...]
    negatives: np.ndarray
    contradicted: Contradictions | None
    usual: Disagreement | None
    tokens: np.ndarray | None = None
    most_tokens: int | None = None
    gap: float | None = None

    def __len__(self) -> int:
        return len(self.places)


def encode_pairs(profile: Profile, encoder: str, max_pairs: int, report: Report) -> EncodedPairs:
    """Encode at most `max_pairs` pairs and compare all with all. Vectors are cached on disk, so
    that an interrupted run continues.

    Raises Problem where there is no such encoder.
    """
    name = in_place_of(full_name(encoder), profile.own_vectors)
    places = sampled_places(len(profile), max_pairs)
    model = locate(name)
    first, second = (
        [side[int(place)] for place in places]
        for side in (profile.columns.first, profile.columns.second)
    )
    cosines, queries, keys = encoded_texts(first, second, model, report)
    read = model.token_lengths([*first, *second], lambda *far: report("tokenizing", *far))
    near = _NearDuplicates(profile, places)
    above = _FalseNegatives(profile, places, cosines)
    for start in range(0, len(places), ROWS_AT_ONCE):
        report("comparing", start, len(places))
        rows = slice(start, start + ROWS_AT_ONCE)
        near.add(rows, queries[rows] @ queries.T, keys[rows] @ keys.T)
        above.add(rows, queries[rows] @ keys.T)
    labels = profile.labels[places]
    judges = profile.labelled and labels.min() < labels.max() and not profile.of_inference
    judges = judges and not (has_embedded_weights(name) and mostly_foreign(first, second))
    contradicted = contradictions(labels, cosines) if judges else None
    usual = None
    if contradicted is not None and len(contradicted.suspects):
        correlation = spearman(labels, cosines)
        usual = disagreement(contradicted, correlation, lambda *far: report("judging", *far))
    return EncodedPairs(
        encoder=file_of(name),
        places=places,
        cosines=cosines,
        near=near.partners,
        near_cells=near.cells(profile),
        above=above.counts,
        above_cells=above.cells(profile),
        bands=_bands(profile, labels, cosines),
        negatives=_negatives(profile, places, queries, keys),
        contradicted=contradicted,
        usual=usual,
        tokens=read and np.maximum(*np.split(read.counts, 2)),
        most_tokens=read and read.most,
        gap=gap_between(first, second, *map(torch.from_numpy, (queries, keys)))
        if is_own(name)
        else None,
    )


def full_name(encoder: str) -> str:
    """Return the full name of an encoder that may be given by a short one."""
    return SHORT_NAMES.get(encoder.strip().casefold(), encoder)


def sampled_places(rows: int, max_rows: int) -> np.ndarray:
    """Return the places of at most `max_rows` of so many rows, in order, drawn with a fixed
    seed."""
    order = np.random.RandomState(0).permutation(rows)
    return np.sort(order[: min(max_rows, MAX_ENCODED_PAIRS)])


def encoded_texts(
    first: Sequence[str], second: Sequence[str], model: Encoder, report: Report
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the cosine of each pair [N], and the unit vectors of both sides [N, D]."""
    scores = encoded(first, second, model, lambda *far: report("encoding", *far), with_vectors=True)
    assert scores.vectors is not None, "they were asked for"
    queries, keys = map(directions, scores.vectors)
    return scores.cosines, queries, keys


class _NearDuplicates:
    """Different texts of positive pairs that are near each other on one side."""

    def __init__(self, profile: Profile, places: np.ndarray) -> None:
        self.places = places
        self.positive = profile.positive[places]
        self.partners = np.zeros(len(places), dtype=np.int64)
        self.found: list[tuple[float, int, int, bool]] = []
        self.sides = (profile.first[places], profile.second[places])

    def add(self, rows: slice, *cosines: np.ndarray) -> None:
        """Compare these rows with all by their cosines on each side."""
        both = self.positive[rows, None] & self.positive[None, :]
        close = [
            (side >= NEAR_DUPLICATE_COSINE) & (numbers[rows, None] != numbers[None, :]) & both
            for side, numbers in zip(cosines, self.sides, strict=True)
        ]
        self.partners[rows] = (close[0] | close[1]).sum(axis=1)
        for is_first, there, side in zip((True, False), close, cosines, strict=True):
            one, other = np.nonzero(there)
            once = one + rows.start < other
            for i, j in zip(one[once].tolist(), other[once].tolist(), strict=True):
                self.found.append((float(side[i, j]), i + rows.start, j, is_first))
            self.found = sorted(self.found, reverse=True)[:EVIDENCE]

    def cells(self, profile: Profile) -> tuple[Cell, ...]:
        def cell(cosine: float, i: int, j: int, is_first: bool) -> Cell:
            one, other = int(self.places[i]), int(self.places[j])
            side = profile.columns.first if is_first else profile.columns.second
            return Cell(one + 1, other + 1, side[one], side[other], cosine)

        return tuple(cell(*found) for found in self.found)


class _FalseNegatives:
    """Keys of other pairs with a higher cosine than a query's own."""

    def __init__(self, profile: Profile, places: np.ndarray, own: np.ndarray) -> None:
        self.places, self.own = places, own
        self.first, self.second = profile.first[places], profile.second[places]
        self.positive = profile.positive[places]
        self.counts = np.zeros(len(places), dtype=np.int64)
        self.found: list[tuple[float, int, int, float]] = []

    def add(self, rows: slice, cosines: np.ndarray) -> None:
        own = self.own[rows, None]
        other = (self.first[rows, None] != self.first) & (self.second[rows, None] != self.second)
        beaten = other & (cosines > own) & self.positive & self.positive[rows, None]
        self.counts[rows] = beaten.sum(axis=1)
        lead = np.where(beaten, cosines - own, -np.inf)
        best = lead.argmax(axis=1)
        for i in np.flatnonzero(beaten.any(axis=1)).tolist():
            j = int(best[i])
            at = i + rows.start
            self.found.append((float(lead[i, j]), at, j, float(cosines[i, j])))
        self.found = sorted(self.found, reverse=True)[:EVIDENCE]

    def cells(self, profile: Profile) -> tuple[Cell, ...]:
        def cell(_lead: float, i: int, j: int, cosine: float) -> Cell:
            one, other = int(self.places[i]), int(self.places[j])
            texts = profile.columns.first[one], profile.columns.second[other]
            return Cell(one + 1, other + 1, *texts, cosine, float(self.own[i]))

        return tuple(cell(*found) for found in self.found)


def _bands(profile: Profile, labels: np.ndarray, cosines: np.ndarray) -> tuple[Band, ...]:
    """Return the cosines by label, or, with many degrees, by equal parts of their scale."""
    levels = np.unique(labels)
    if len(levels) <= MAX_SINGLE_LABELS:
        ends = [(level, level) for level in levels.tolist()]
        inside = [labels == level for level, _ in ends]
    else:
        edges = np.linspace(*profile.label_range, LABEL_BANDS + 1)
        which = np.clip(np.searchsorted(edges, labels, side="right") - 1, 0, LABEL_BANDS - 1)
        ends = list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
        inside = [which == band for band in range(LABEL_BANDS)]
    bands = []
    for (low, high), there in zip(ends, inside, strict=True):
        if there.any():
            tenth, ninth = np.quantile(cosines[there], [0.1, 0.9]).tolist()
            mean = float(cosines[there].mean())
            bands.append(Band(low, high, int(there.sum()), mean, tenth, ninth))
    return tuple(bands)


def _negatives(
    profile: Profile, places: np.ndarray, queries: np.ndarray, keys: np.ndarray
) -> np.ndarray:
    """Return cosines of sampled positive queries with keys of other pairs [Q, K], in random order;
    NaN for their own."""
    draw = np.random.RandomState(1)
    rows = draw.permutation(np.flatnonzero(profile.positive[places]))[:SAMPLED_QUERIES]
    others = draw.permutation(len(places))[:SAMPLED_NEGATIVES]
    cosines = queries[rows] @ keys[others].T
    same = (profile.first[places][rows, None] == profile.first[places][others]) | (
        profile.second[places][rows, None] == profile.second[places][others]
    )
    return np.where(same, np.nan, cosines.astype(np.float64))


def counted(negatives: np.ndarray, temperature: float) -> float:
    """Return how many of the negatives [Q, K] count at a temperature: e to the entropy of their
    softmax, as the mean over queries. NaN is not a negative."""
    there = ~np.isnan(negatives)
    logits = np.where(there, negatives, -np.inf) / temperature
    logits -= logits.max(axis=1, keepdims=True)
    weights = np.exp(logits)
    weights /= weights.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = -np.where(weights > 0, weights * np.log(weights), 0.0).sum(axis=1)
    return float(np.exp(entropy).mean())


def sharpness(seen: EncodedPairs, batch: int) -> tuple[Sharpness, ...]:
    """Return the temperatures at which `COUNTED_NEGATIVES` of a batch of this size count.

    There is one only if the batch has more negatives than that, and fewer equally close ones.
    """
    negatives = seen.negatives[:, : batch - 1]
    negatives = negatives[(~np.isnan(negatives)).sum(axis=1) > 1]
    if not len(negatives):
        return ()
    there = float((~np.isnan(negatives)).sum(axis=1).min())
    fewest, largest = (counted(negatives, end) for end in TEMPERATURE_LIMITS)
    return tuple(
        Sharpness(count, _temperature(negatives, count))
        for count in COUNTED_NEGATIVES
        if fewest < count < min(largest, 0.9 * there)
    )


def _temperature(negatives: np.ndarray, target: float) -> float:
    """Find by bisection between `TEMPERATURE_LIMITS` the temperature at which `target` negatives
    count."""
    low, high = map(math.log, TEMPERATURE_LIMITS)
    for _ in range(40):
        middle = (low + high) / 2
        below = counted(negatives, math.exp(middle)) < target
        low, high = (middle, high) if below else (low, middle)
    return math.exp((low + high) / 2)


def ranked(seen: EncodedPairs) -> tuple[RankedPair, ...]:
    """Return the pairs on which label and encoder disagree, worst first, even if as many do in
    other datasets."""
    contradicted = seen.contradicted
    if contradicted is None:
        return ()
    return tuple(
        RankedPair(
            int(seen.places[at]) + 1, float(contradicted.rates[at]), float(contradicted.fitting[at])
        )
        for at in contradicted.suspects.tolist()
    )


def examine_encoded(
    profile: Profile, seen: EncodedPairs, spec: LossSpec, batch: int
) -> tuple[tuple[Fault, ...], tuple[Check, ...]]:
    """Return the findings from the encoder's cosines for this loss in batches of this size, the
    worst first, and the checks."""
    takes_others = spec.negatives_of_batch
    checks = (
        Check("near_duplicates", takes_others),
        Check("false_negatives", takes_others),
        Check("disagreement", seen.contradicted is not None),
        Check("tokens", seen.tokens is not None),
    )
    faults = [*_disagreement(seen), *_cut_off(seen)]
    if takes_others:
        faults = [*_near_faults(seen, batch), *_above_faults(profile, seen, batch), *faults]
    return worst_first(faults), checks


def _near_faults(seen: EncodedPairs, batch: int) -> Iterator[Fault]:
    count = int((seen.near > 0).sum())
    if not count:
        return
    met = expected_collisions(seen.near, min(batch, len(seen)))
    share = met.rows / min(batch, len(seen))
    values: dict[str, Value] = {
        **_whole(seen),
        "count": count,
        "level": display_number(NEAR_DUPLICATE_COSINE),
        "batch": batch,
        "met": percent(share),
    }
    severity = WARNING if share >= MANY_ROWS_SHARE else NOTE
    rows = _rows(seen, seen.near_cells, seen.near > 0)
    yield Fault("near_duplicates", severity, values, rows, (), seen.near_cells)


def _above_faults(profile: Profile, seen: EncodedPairs, batch: int) -> Iterator[Fault]:
    count = int((seen.above > 0).sum())
    if not count:
        return
    size = min(batch, len(seen))
    share = expected_collisions(seen.above, size).rows / size
    values: dict[str, Value] = {
        **_whole(seen),
        "count": count,
        "positives": int(profile.positive[seen.places].sum()),
        "batch": batch,
        "met": percent(share),
    }
    severity = WARNING if share >= MANY_ROWS_SHARE else NOTE
    rows = _rows(seen, seen.above_cells, seen.above > 0)
    yield Fault("false_negatives", severity, values, rows, (WITH_GUIDE,), seen.above_cells)


def _rows(seen: EncodedPairs, cells: Iterable[Cell], places: np.ndarray) -> tuple[int, ...]:
    """Return the numbers of the pairs of these cells, then of the others with the finding [M]."""
    first = (row for cell in cells for row in (cell.row, cell.other))
    return tuple(dict.fromkeys((*first, *evidence(seen.places[places]))))


def _disagreement(seen: EncodedPairs) -> Iterator[Fault]:
    contradicted, usual = seen.contradicted, seen.usual
    if contradicted is None or usual is None or not disagrees(len(contradicted.strong), usual):
        return
    values: dict[str, Value] = {
        **_whole(seen),
        "count": len(contradicted.strong),
        "rate": whole_percent(STRONG_RATE),
        "most": usual.most_strong,
    }
    yield Fault("disagreement", WARNING, values, evidence(seen.places[contradicted.strong]))


def _cut_off(seen: EncodedPairs) -> Iterator[Fault]:
    """Find texts of more tokens than the encoder reads, by its own tokenizer."""
    if seen.tokens is None or seen.most_tokens is None:
        return
    cut = np.flatnonzero(seen.tokens > seen.most_tokens)
    if len(cut):
        longest = int(seen.tokens.max())
        values: dict[str, Value] = {**_whole(seen), "count": len(cut), "longest": longest}
        rows = evidence(seen.places[cut])
        yield Fault("tokens_cut_off", WARNING, {**values, "most": seen.most_tokens}, rows)


def _whole(seen: EncodedPairs) -> dict[str, Value]:
    return {"encoder": seen.encoder, "all": len(seen)}
