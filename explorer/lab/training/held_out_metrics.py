"""Metrics of a model on held-out pairs: correlations, retrieval, histograms by label, geometry."""

from __future__ import annotations

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from lossprism.explorer.core.rank_correlation import TIE_LIMIT, mid_ranks, rank_correlation
from lossprism.explorer.lab.training.data import Pair
from lossprism.explorer.lab.training.pair_sources import DRAW_SEED
from lossprism.explorer.lab.training.run_json_types import LiveHistogram
from lossprism.explorer.lab.training.trainer_rows import LEAST_CANDIDATES, by_first

if TYPE_CHECKING:
    from lossprism.explorer.lab.training.starting_model import Encoder

MAX_LIVE, MAX_PROBE, MAX_BANDS, BINS = 128, 64, 6, 40
# Rows of a similarity matrix that are computed together.
TEXTS_AT_ONCE = 2**10


@contextmanager
def keeps_random_state() -> Iterator[None]:
    """Restore every random stream, so that measuring a run does not change its dropout and
    batches."""
    python, arrays = random.getstate(), np.random.get_state()
    with torch.random.fork_rng():
        yield
    random.setstate(python)
    np.random.set_state(arrays)


@runtime_checkable
class Encodes(Protocol):
    """The method that distinguishes a bi-encoder from a cross-encoder."""

    def encode(self, *given: Any, **named: Any) -> Any: ...


@dataclass(frozen=True)
class HeldOut:
    """Held-out pairs. `first` and `second` [N] are indices into the distinct `sentences` [S];
    `bands` are ranges of labels for the histogram. If a model does not encode both `sides_alike`, a
    text on both sides is two sentences."""

    labels: np.ndarray
    sentences: tuple[str, ...]
    first: Tensor
    second: Tensor
    bands: tuple[tuple[float, float], ...]
    threshold: float
    sides_alike: bool = True

    @classmethod
    def of(
        cls,
        pairs: Sequence[Pair],
        bands: tuple[tuple[float, float], ...],
        threshold: float,
        sides_alike: bool = True,
    ) -> HeldOut:
        second_side = 0 if sides_alike else 1
        places: dict[tuple[int, str], int] = {}
        for a, b, _ in pairs:  # in the order of Pairs.sentences
            places.setdefault((0, a), len(places))
            places.setdefault((second_side, b), len(places))
        first = torch.tensor([places[0, a] for a, _, _ in pairs])
        second = torch.tensor([places[second_side, b] for _, b, _ in pairs])
        labels = np.array([label for *_, label in pairs])
        sentences = tuple(text for _, text in places)
        return cls(labels, sentences, first, second, bands, threshold, sides_alike)

    @property
    def is_positive(self) -> bool:
        """True if all pairs are positives of one label: nothing to rank, but queries and keys."""
        label = float(self.labels.max(initial=0.0))
        return label > 0 and label >= self.threshold and label == float(self.labels.min())

    def places(self, vectors: np.ndarray | Tensor | None) -> np.ndarray | None:
        """Return the rank of each pair's key among all keys, [N], from 1 (`own_places`); None if
        labels differ or vectors are not finite."""
        if vectors is None or not self.is_positive:
            return None
        unit = _normed(torch.as_tensor(vectors))
        if not unit.isfinite().all():
            return None
        return own_places(unit, self.first, self.second, self.sentences)

    def ends(self, scores: np.ndarray, vectors: np.ndarray | None) -> tuple[float, float]:
        """Return the smallest and largest of the similarities that are equal at collapse: of all
        first with all second sentences, since pairs alone may be equal without a collapse; for a
        cross-encoder, the scores of the pairs."""
        if vectors is None:
            return float(scores.min()), float(scores.max())
        unit = _normed(torch.as_tensor(vectors))
        seconds = unit[self.second.unique()].T
        # The matrix of all held-out sentences may exceed the memory.
        ends = [
            (part @ seconds).aminmax() for part in unit[self.first.unique()].split(TEXTS_AT_ONCE)
        ]
        return min(float(one.min) for one in ends), max(float(one.max) for one in ends)

    def figures(self, model: Encoder) -> tuple[dict, np.ndarray, np.ndarray | None]:
        """Return the figures, the score of each pair, and the vectors [S, D] of a bi-encoder."""
        scores, encoded = self.scored(model)
        if encoded is None:
            nothing = {**retrieval(None), **dict.fromkeys(GEOMETRY)}
            return {**self._ranks(scores), **nothing}, scores, None
        vectors = _normed(encoded)
        finite = bool(vectors.isfinite().all())
        lie = geometry(vectors, self) if finite else dict.fromkeys(GEOMETRY)
        arrays = encoded.numpy()
        return {**self._ranks(scores), **retrieval(self.places(arrays)), **lie}, scores, arrays

    def scored(
        self, model: Encoder, at_once: int = 0, report: Callable[[int], None] = lambda done: None
    ) -> tuple[np.ndarray, Tensor | None]:
        """Return the score of each pair, [n], and the vectors [S, D] of a bi-encoder.

        The model gets at most `at_once` `items` per call, or all for 0; `report` receives the
        number of scored items after each call.
        """
        items = self.items(model)
        some = at_once or len(items)
        parts = []
        for begin in range(0, len(items), some):
            end = min(begin + some, len(items))
            parts.append(self._answers(model, items[begin:end], range(begin, end)))
            report(end)
        output = torch.cat(parts)
        if not isinstance(model, Encodes):
            return output.double().reshape(-1).numpy(), None
        vectors = _normed(output)
        cosines = (vectors[self.first] * vectors[self.second]).sum(dim=1)
        return cosines.clamp(-1, 1).numpy(), output

    def items(self, model: Encoder) -> list:
        """Return the inputs of the model: sentences for a bi-encoder, pairs for a cross-encoder."""
        if isinstance(model, Encodes):
            return list(self.sentences)
        ends = zip(self.first.tolist(), self.second.tolist(), strict=True)
        return [(self.sentences[a], self.sentences[b]) for a, b in ends]

    def _answers(self, model: Encoder, items: list, places: Iterable[int]) -> Tensor:
        """Return the vectors of the sentences at these places, or the scores of pairs."""
        if not isinstance(model, Encodes):
            scores = model.predict(
                items, show_progress_bar=False, activation_fn=torch.nn.Identity()
            )
            return torch.from_numpy(np.asarray(scores))
        if self.sides_alike:
            return _encoded(model, items, "query")
        queries = set(self.first.tolist())
        is_query = torch.tensor([place in queries for place in places])
        sides = {"query": is_query, "document": ~is_query}
        parts = [
            _encoded(model, [items[at] for at in chosen.nonzero().flatten().tolist()], name)
            for name, chosen in sides.items()
            if chosen.any()
        ]
        order = torch.cat([chosen.nonzero().flatten() for chosen in sides.values()])
        return torch.cat(parts)[order.argsort()]

    def _ranks(self, scores: np.ndarray) -> dict[str, object]:
        finite = bool(np.isfinite(scores).all())
        accuracy = auc = bound = None
        if finite and is_binary(self.labels):
            accuracy, bound = best_accuracy(scores, self.labels)
            auc = area_under_curve(scores, self.labels)
        return {
            "pairs": len(self.labels),
            **correlations(scores if finite else np.zeros_like(scores), self.labels),
            "accuracy": accuracy,
            "accuracy_threshold": bound,
            "auc": auc,
            "histogram": self._histogram(scores) if finite else None,
        }

    def _histogram(self, scores: np.ndarray) -> LiveHistogram:
        low, high = (-1.0, 1.0) if np.abs(scores).max() <= 1 else (scores.min(), scores.max())
        edges = np.linspace(low, high, BINS + 1)
        within = [(self.labels >= a) & (self.labels <= b) for a, b in self.bands]
        counts = [np.histogram(scores[band], edges)[0].tolist() for band in within]
        return LiveHistogram(edges=edges.tolist(), counts=counts)


def own_places(
    vectors: Tensor, first: Tensor, second: Tensor, sentences: Sequence[Hashable] = ()
) -> np.ndarray:
    """Return the ranks of the pairs' keys (second sentences) among all keys, by the cosine to the
    query (first sentence): [N], from 1.

    `vectors` [S, D] are unit vectors, `first` and `second` [N] index them; `sentences` [S] are
    their texts, if one text may have two vectors. Other keys of the query and the query itself do
    not count. A wrong key with an equal cosine ranks first, so that collapse is no success.
    """
    keys, key = second.unique(return_inverse=True)
    keys_of: dict[int, list[int]] = {}
    for query, at in zip(first.tolist(), key.tolist(), strict=True):
        keys_of.setdefault(query, []).append(at)
    texts = sentences or range(len(vectors))
    column = {texts[sentence]: at for at, sentence in enumerate(keys.tolist())}
    ranks = []
    for rows in torch.arange(len(first)).split(max(CELLS_AT_ONCE // len(keys), 1)):
        cosines = vectors[first[rows]] @ vectors[keys].T
        own = cosines.gather(1, key[rows, None])
        is_excluded = torch.zeros_like(cosines, dtype=torch.bool)
        for row, query in enumerate(first[rows].tolist()):
            itself = [column[texts[query]]] if texts[query] in column else []
            is_excluded[row, [*keys_of[query], *itself]] = True
        ranks.append(1 + ((cosines >= own - TIE_LIMIT) & ~is_excluded).sum(dim=1))
    return torch.cat(ranks).numpy()


# Ranks that count in the mean reciprocal rank.
MAX_PLACES = 10
# Cosines that are computed together.
CELLS_AT_ONCE = 2**24


def retrieval(places: np.ndarray | None) -> dict[str, float | None]:
    """Return the share of queries whose key ranks first, and the mean reciprocal rank up to
    `MAX_PLACES`; None without ranks."""
    if places is None:
        return {"accuracy_at_1": None, "mrr_at_10": None}
    return {
        "accuracy_at_1": float((places == 1).mean()),
        "mrr_at_10": float(reciprocal(places).mean()),
    }


def reciprocal(places: np.ndarray) -> np.ndarray:
    return np.where(places <= MAX_PLACES, 1 / places, 0.0)


def _encoded(model: Encodes, texts: list, side: str) -> Tensor:
    """Encode the texts with the prompt of their side."""
    vectors = model.encode(texts, prompt_name=side, convert_to_tensor=True, show_progress_bar=False)
    return vectors.cpu()


def _normed(vectors: Tensor) -> Tensor:
    return torch.nn.functional.normalize(vectors.float(), dim=1)


GEOMETRY = ("alignment", "uniformity", "effective_rank", "mean_cosine")


def geometry(vectors: Tensor, held_out: HeldOut) -> dict[str, float | None]:
    """Return the geometry of unit vectors [S, D]: alignment and uniformity (Wang & Isola 2020), the
    exponential of the entropy of the singular values, and the mean cosine of two sentences."""
    positive = torch.from_numpy(held_out.labels >= held_out.threshold)
    differences = vectors[held_out.first] - vectors[held_out.second]
    distances = differences.square().sum(dim=1)[positive]
    cosines = vectors @ vectors.T
    upper = cosines[torch.triu(torch.ones_like(cosines, dtype=torch.bool), diagonal=1)]
    spread = (2 * (2 * upper - 2)).logsumexp(dim=0) - np.log(max(len(upper), 1))
    values = torch.linalg.svdvals(vectors)
    shares = values / values.sum().clamp_min(1e-30)
    rank = float((-torch.special.xlogy(shares, shares).sum()).exp())
    return {
        "alignment": float(distances.mean()) if len(distances) else None,
        "uniformity": float(spread) if len(upper) else None,
        "effective_rank": rank,
        "mean_cosine": float(upper.mean()) if len(upper) else None,
    }


def correlations(scores: np.ndarray, labels: np.ndarray) -> dict[str, float | None]:
    if len(scores) < 2 or scores.min() == scores.max() or labels.min() == labels.max():
        return {"spearman": None, "pearson": None}
    return {
        "spearman": rank_correlation(scores, labels),
        "pearson": float(np.corrcoef(scores, labels)[0, 1]),
    }


def is_binary(labels: np.ndarray) -> bool:
    """True if the labels are 0 and 1, and both occur."""
    return np.array_equal(np.unique(labels), (0, 1))


def best_accuracy(scores: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Return the accuracy at the best threshold, and that threshold."""
    order = np.argsort(-scores, kind="stable")
    ranked, right = scores[order], labels[order] == 1
    # hits[k]: correct pairs if the first k are taken as positive.
    hits = np.concatenate([[0], right.cumsum()]) + np.concatenate(
        [(~right)[::-1].cumsum()[::-1], [0]]
    )
    cuts = np.concatenate([[True], ranked[1:] != ranked[:-1], [True]])  # not between equal scores
    best = int(np.where(cuts, hits, -1).argmax())
    if best == 0:
        return float(hits[0] / len(scores)), float(np.nextafter(ranked[0], np.inf))
    bound = ranked[best - 1] if best == len(scores) else (ranked[best - 1] + ranked[best]) / 2
    return float(hits[best] / len(scores)), float(bound)


def area_under_curve(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the share of comparisons in which a positive scores higher; a tie counts half."""
    ranks, positive = mid_ranks(scores), labels == 1
    count, others = positive.sum(), (~positive).sum()
    return float((ranks[positive].sum() - count * (count + 1) / 2) / (count * others))


def bands_of(labels: Sequence[float]) -> tuple[tuple[float, float], ...]:
    """Return each label as a band if there are at most `MAX_BANDS`, else equal parts of their
    range."""
    distinct = sorted(set(labels))
    if len(distinct) <= MAX_BANDS:
        return tuple((label, label) for label in distinct)
    edges = np.linspace(distinct[0], distinct[-1], MAX_BANDS).tolist()
    lows = [edges[0], *(float(np.nextafter(edge, np.inf)) for edge in edges[1:-1])]
    return tuple(zip(lows, edges[1:], strict=True))


def live_sample(
    pairs: Sequence[Pair], in_lists: bool = False, sides_alike: bool = True
) -> tuple[list[Pair], int]:
    """Return the pairs that are measured during a run, and how many of the first are the probe
    batch.

    The choice depends on the pairs alone, and takes lists (pairs with one first sentence) whole.
    For a loss on lists the probe batch has lists, if there are any; else it repeats no sentence as
    far as possible. If the model does not encode both `sides_alike`, it has no list with a
    candidate that is also a first sentence, since that text has two vectors.
    """
    groups = by_first(pairs)
    random.Random(DRAW_SEED).shuffle(groups)
    kept = _within(groups, MAX_LIVE)
    if in_lists:
        queries = set() if sides_alike else {first for first, *_ in pairs}
        listed = [
            places
            for places in kept
            if len(places) >= LEAST_CANDIDATES and queries.isdisjoint(pairs[p][1] for p in places)
        ]
        if probe := [place for places in _within(listed, MAX_PROBE) for place in places]:
            probed = set(probe)
            others = [p for places in kept for p in places if p not in probed]
            return [pairs[place] for place in (*probe, *others)], len(probe)
    chosen = [pairs[place] for places in kept for place in places]
    seen: set[str] = set()
    distinct, again = [], []
    for pair in chosen:
        fresh = pair[0] not in seen and pair[1] not in seen and pair[0] != pair[1]
        (distinct if fresh else again).append(pair)
        seen.update(pair[:2])
    return [*distinct, *again], min(len(distinct) or 1, MAX_PROBE)


def _within(groups: Sequence[list[int]], limit: int) -> list[list[int]]:
    """Return the groups that fit into `limit` pairs, in order; if none fits, the first `limit`
    pairs of the first group."""
    kept: list[list[int]] = []
    left = limit
    for places in groups:
        if len(places) <= left:
            kept.append(places)
            left -= len(places)
    return kept or [places[:limit] for places in groups[:1]]
