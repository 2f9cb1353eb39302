"""From pairs to a loss's inputs, by rules that the page shows and the user can change."""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import torch
from torch import Tensor

from lossprism.explorer.core.label_requirements import label_off_scale
from lossprism.explorer.core.models_of_scenario import (
    Models,
    find_models,
    has_words,
    scores_of,
    vectors_of,
    with_second_models,
)
from lossprism.explorer.core.scenario import Data, Rules
from lossprism.explorer.locale import grouped
from lossprism.explorer.runtime.device import device, precision
from lossprism.explorer.runtime.limits import KEPT_BATCHES
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import quoted
from lossprism.explorer.sources import pairs_from_tables, random_batch, textbook
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.encoders.encoder_interface import Encoder
from lossprism.explorer.sources.guide_vectors_in_base64 import guide_vectors_of
from lossprism.explorer.sources.pairs import Pairs, corrected, taught, text_numbers
from lossprism.losses.geometry import cosine, with_even_width
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.labels import Ends, cosine_labels, label_rules, unit_labels
from lossprism.losses.query_groups import at, lists_of, margins_of, triplets_of
from lossprism.losses.unjudged_labels import judged_in

# A level of `hierarchical_cosent` reads this share of the dimensions, from the first on.
LEVELS = (0.25, 0.5, 1.0)
# More triplets than this are not laid out as a matrix.
MAX_TRIPLETS = 4_000_000


@dataclass(frozen=True, eq=False)
class Batch:
    """Pairs with their vectors and everything derived from them under the rules.

    `vectors` [S, D] has a row for each distinct sentence, in the order of `pairs.sentences`;
    `first` and `second` [N] index the rows of each pair's sentences. `given` [N] holds scores that
    came with the data and replace the cosines. `label_range` is the scale of the labels, `positive`
    [N] marks pairs at or above `threshold`, `classes` [S] numbers the connected components of
    positive pairs. `guide` [S, G] holds a second encoder's vectors for losses with a guide; without
    it the batch's own vectors are used, detached. `teacher` [N] and `teacher_vectors` [S, T] are
    another model's scores and vectors, if there are any. `encoder` gave the vectors.
    """

    pairs: Pairs
    vectors: Tensor | None
    given: Tensor | None
    labels: Tensor
    first: Tensor
    second: Tensor
    threshold: float
    label_range: Ends
    positive: Tensor
    classes: Tensor
    rules: Rules = field(default_factory=Rules)
    orthogonal: bool = False
    guide: Tensor | None = None
    teacher: Tensor | None = None
    teacher_vectors: Tensor | None = None
    encoder: Encoder | None = None

    def __len__(self) -> int:
        return len(self.pairs)

    @functools.cached_property
    def scores(self) -> Tensor:
        """The similarity of each pair, [N]."""
        return self.given if self.given is not None else self.scores_from(self.needed_vectors)

    @functools.cached_property
    def plain_labels(self) -> np.ndarray:
        """The labels [N] off the device, float64."""
        return self.labels.cpu().double().numpy()

    @functools.cached_property
    def plain_scores(self) -> np.ndarray:
        """The similarities [N] off the device, float64."""
        return self.scores.detach().cpu().double().numpy()

    @property
    def needed_vectors(self) -> Tensor:
        """The vectors. Raises Problem if the batch has none."""
        if self.vectors is None:
            raise Problem("no_vectors")
        return self.vectors

    @property
    def pictures(self) -> Mapping[str, str]:
        """Small pictures of what sentences name, as data URLs by the sentences."""
        return {} if self.encoder is None else self.encoder.pictures(self.pairs.sentences)

    def scores_from(self, vectors: Tensor) -> Tensor:
        return cosine(vectors[self.first], vectors[self.second])

    @functools.cached_property
    def texts(self) -> Tensor:
        """The distinct sentences numbered by their text, [S]."""
        return torch.from_numpy(text_numbers(self.pairs.sentences)).to(self.labels.device)

    @functools.cached_property
    def lists(self) -> Tensor:
        """The pairs of each first sentence with several pairs: places [L, K], −1 for none."""
        return lists_of(self.first)

    @functools.cached_property
    def margins(self) -> tuple[Tensor, Tensor]:
        """The positive pairs [R] of these lists, and the others of the same list [R, K]."""
        return margins_of(self.lists, self.positive)

    @functools.cached_property
    def triplets(self) -> tuple[Tensor, Tensor]:
        """The places of a positive pair and another pair with the same first sentence, [T] each."""
        return triplets_of(*self.margins)

    @functools.cached_property
    def positives(self) -> Tensor:
        return self.positive.nonzero().flatten()

    @functools.cached_property
    def others(self) -> Tensor:
        """The pairs whose second sentences serve as extra negatives."""
        extra = (~self.positive).nonzero().flatten()
        return extra if self.rules.extra_negatives else extra[:0]

    @functools.cached_property
    def negative_owners(self) -> Tensor:
        """The query with the same first sentence for each of the others: [Q], the first of several,
        −1 for none."""
        first = {int(s): n for n, s in reversed([*enumerate(self.first[self.positives].tolist())])}
        owners = [first.get(int(s), -1) for s in self.first[self.others].tolist()]
        return torch.tensor(owners, dtype=torch.int64, device=self.labels.device)

    def read(self, what: str, vectors: Tensor | None, scores: Tensor) -> Tensor | None:
        """Return the input of a loss under this name
        (`losses.inputs_that_losses_may_read.READABLE`).

        `vectors` and `scores` are the ones to differentiate. Returns None if the batch lacks the
        input and the loss can do without.

        Raises:
            Problem: if the loss needs a missing input.
        """
        reading = READABLE[what]
        if vectors is None and reading.made_of in ("vectors", "classes"):
            raise Problem("no_vectors")
        if self.lacks_positives([what]):
            raise Problem("no_positives", threshold=display_number(self.threshold))
        if reading.made_of == "texts" and self.rules.twins == "keep":
            return None
        if lacking := self.lacking([what]):
            raise lacking
        # Without vectors, nothing is read that is made of them.
        return getattr(_Readings(self, cast("Tensor", vectors), scores), what)()

    def lacks_positives(self, reads: Iterable[str]) -> bool:
        """Return whether a loss with these inputs needs a positive pair and the batch has none."""
        return len(self.positives) == 0 and any(READABLE[what].positives_only for what in reads)

    def lacking(self, reads: Iterable[str]) -> Problem | None:
        """Return the problem of a missing input: lists, a teacher, margins, guide vectors."""
        if _lacks_guide(self.pairs) and any("guide_dimension" in READABLE[r].axes for r in reads):
            return self._lacking_guide()
        needs = {need for what in reads for need in READABLE[what].needs}
        if "lists" in needs and not len(self.lists):
            return Problem("no_lists", about="lists")
        if "teacher" in needs and self.teacher is None:
            return self._lacking_teacher()
        if "teacher_vectors" in needs:
            return self._teacher_width_problem()
        if {"lists", "sides"} <= needs and not len(self.margins[0]):
            return Problem("no_margins", about="lists", threshold=display_number(self.threshold))
        return None

    def _lacking_teacher(self) -> Problem:
        """Return the problem of missing teacher scores: all of them, or those of some pairs."""
        pairs = self.pairs
        scores = pairs.teacher or ()
        missing = [place for place, score in enumerate(scores) if math.isnan(score)]
        if len(missing) == len(scores):
            return Problem("no_teacher", about="teacher")
        return _incomplete("teacher", pairs, missing)

    def _lacking_guide(self) -> Problem:
        """Return the problem of pairs with a sentence that has no guide vector."""
        pairs, guide = self.pairs, self.pairs.guide
        assert guide is not None
        absent = np.isnan(guide[:, 0])
        first, second = pairs.positions
        missing = np.flatnonzero(absent[first] | absent[second])
        return _incomplete("guide", pairs, missing)

    def _teacher_width_problem(self) -> Problem | None:
        """Return the problem of vectors that cannot be compared with a teacher's, if any."""
        if self.teacher_vectors is None:
            return Problem("no_teacher_vectors", about="teacher_vectors")
        own, taught = self.needed_vectors.shape[1], self.teacher_vectors.shape[1]
        if own == taught:
            return None
        return Problem("teacher_width", about="teacher_vectors", teacher=taught, width=own)

    def shares_sentences(self, reads: Iterable[str]) -> bool:
        """Return whether a sentence stands in several places of the loss's inputs.

        If none does, each pair (each query, each key) can be moved independently.
        """
        places: dict[str, Callable[[], Tensor]] = {
            "first": lambda: self.first,
            "second": lambda: self.second,
            "queries": lambda: self.first[self.positives],
            "keys": lambda: self.second[self.positives],
            "negatives": lambda: self.second[self.others],
            "triplet_anchors": lambda: self.first[self.triplets[0]],
            "triplet_positives": lambda: self.second[self.triplets[0]],
            "triplet_negatives": lambda: self.second[self.triplets[1]],
        }
        read = set(reads)
        if read & _INPUTS_OF_SCORES and self.given is None:
            read |= {"first", "second"}
        places_read = [place() for what, place in places.items() if what in read]
        return bool(places_read) and bool((torch.cat(places_read).bincount() > 1).any())

    def axis(self, name: str, length: int) -> tuple[Tensor, Tensor] | None:
        """Return the pair and the sentence (−1: none) behind each of `length` rows of this name."""
        none = torch.full((length,), -1, device=self.labels.device)
        everyone = torch.arange(len(self), device=self.labels.device)
        shown = torch.cat([self.positives, self.others])
        axes: dict[str, Callable[[], tuple[Tensor, Tensor]]] = {
            "pair": lambda: (everyone, none[: len(self)]),
            # Of a batch whose last pairs stand in a queue, the others ask.
            "query": lambda: (self.positives[:length], self.first[self.positives[:length]]),
            "key": lambda: (shown[:length], self.second[shown[:length]]),
            "view": lambda: (
                torch.cat([self.positives, self.positives]),
                torch.cat([self.first[self.positives], self.second[self.positives]]),
            ),
            "sentence": lambda: (
                self._first_pair_of[:length],
                torch.arange(len(self.classes), device=none.device)[:length],
            ),
            "list": lambda: (none[: len(self.lists)], self.first[self.lists[:, :1].flatten()]),
            "list_candidate": lambda: (self.lists.flatten(), none[:1].expand(self.lists.numel())),
            "row": lambda: (self.margins[0], none[: len(self.margins[0])]),
            "given_triplet": lambda: (self.triplets[1], none[:1].expand(len(self.triplets[1]))),
        }
        items = axes[name]() if name in axes else (none, none)
        return items if len(items[0]) == length == len(items[1]) else None

    @functools.cached_property
    def _first_pair_of(self) -> Tensor:
        """The first pair that contains each sentence, [S]."""
        first_pair = np.full(len(self.classes), -1, dtype=np.int64)
        for place in reversed(range(len(self))):
            first_pair[int(self.second[place])] = first_pair[int(self.first[place])] = place
        return torch.from_numpy(first_pair).to(self.labels.device)


@dataclass(frozen=True, eq=False)
class _Readings:
    """Methods that build the tensors named in `losses.inputs_that_losses_may_read.READABLE`."""

    batch: Batch
    vectors: Tensor
    pair_scores: Tensor

    def scores(self) -> Tensor:
        return self.pair_scores

    def labels(self) -> Tensor:
        return self.batch.labels

    def binary_labels(self) -> Tensor:
        return self.batch.positive.to(self.pair_scores.dtype)

    def unit_labels(self) -> Tensor:
        return unit_labels(self._labels_on_scale, self.batch.label_range)

    def cosine_labels(self) -> Tensor:
        return cosine_labels(self._labels_on_scale, self.batch.label_range)

    @property
    def _labels_on_scale(self) -> Tensor:
        """The labels. Raises Problem if one lies outside the scale."""
        if problem := label_off_scale(self.batch.pairs.labels, self.batch.label_range):
            raise problem
        return self.batch.labels

    def pair_logits(self) -> Tensor:
        return torch.stack([-self.pair_scores, self.pair_scores], dim=1)

    def pair_classes(self) -> Tensor:
        return self.batch.positive.long()

    def level_scores(self) -> Tensor:
        if self.batch.given is not None:
            return self.pair_scores.expand(len(LEVELS), -1)
        width = self.vectors.shape[1]
        shares = (max(1, math.ceil(width * share)) for share in LEVELS)
        return torch.stack([self.batch.scores_from(self.vectors[:, :part]) for part in shares])

    def first(self) -> Tensor:
        return with_even_width(self.vectors)[self.batch.first]

    def second(self) -> Tensor:
        return with_even_width(self.vectors)[self.batch.second]

    def queries(self) -> Tensor:
        return self.vectors[self.batch.first[self.batch.positives]]

    def keys(self) -> Tensor:
        return self.vectors[self.batch.second[self.batch.positives]]

    def negatives(self) -> Tensor | None:
        others = self.batch.others
        return self.vectors[self.batch.second[others]] if len(others) else None

    @property
    def _guide(self) -> Tensor:
        return self.vectors.detach() if self.batch.guide is None else self.batch.guide

    def guide_queries(self) -> Tensor:
        return self._guide[self.batch.first[self.batch.positives]]

    def guide_keys(self) -> Tensor:
        return self._guide[self.batch.second[self.batch.positives]]

    def guide_negatives(self) -> Tensor | None:
        others = self.batch.others
        return self._guide[self.batch.second[others]] if len(others) else None

    def targets(self) -> Tensor:
        """Equal shares for all keys of a query's own class."""
        batch, own = self.batch, self.batch.positives
        of_queries, of_keys = (batch.classes[side[own]] for side in (batch.first, batch.second))
        alike = (of_queries[:, None] == of_keys).to(self.vectors.dtype)
        return alike.div_(alike.sum(dim=1, keepdim=True))

    def negative_owners(self) -> Tensor | None:
        owners = self.batch.negative_owners
        return owners if bool((owners >= 0).any()) else None

    def query_texts(self) -> Tensor:
        return self.batch.texts[self.batch.first[self.batch.positives]]

    def key_texts(self) -> Tensor:
        return self.batch.texts[self.batch.second[self.batch.positives]]

    def negative_texts(self) -> Tensor | None:
        others = self.batch.others
        return self.batch.texts[self.batch.second[others]] if len(others) else None

    def list_scores(self) -> Tensor:
        return at(self.pair_scores, self.batch.lists)

    def list_labels(self) -> Tensor:
        return at(self.batch.labels, self.batch.lists)

    def list_mask(self) -> Tensor:
        return self.batch.lists >= 0

    def judged_mask(self) -> Tensor:
        return judged_in(self.list_labels(), self.list_mask(), "judged_mask")

    def graded_mask(self) -> Tensor:
        return judged_in(self.list_labels(), self.list_mask(), "graded_mask")

    def list_places(self) -> Tensor:
        return self.batch.lists

    def positive_places(self) -> Tensor:
        return self.batch.margins[0]

    def negative_places(self) -> Tensor:
        return self.batch.margins[1]

    def list_teacher(self) -> Tensor:
        return at(self._teacher, self.batch.lists)

    @property
    def _teacher(self) -> Tensor:
        if self.batch.teacher is None:
            raise Problem("no_teacher", about="teacher")
        return self.batch.teacher

    def margin_positives(self) -> Tensor:
        return self.pair_scores[self.batch.margins[0]]

    def margin_negatives(self) -> Tensor:
        return at(self.pair_scores, self.batch.margins[1])

    def teacher_margins(self) -> Tensor:
        positives, negatives = self.batch.margins
        margins = self._teacher[positives][:, None] - at(self._teacher, negatives)
        return margins.masked_fill(negatives < 0, 0)

    def margin_mask(self) -> Tensor:
        return self.batch.margins[1] >= 0

    def triplet_anchors(self) -> Tensor:
        return self.vectors[self.batch.first[self.batch.triplets[0]]]

    def triplet_positives(self) -> Tensor:
        return self.vectors[self.batch.second[self.batch.triplets[0]]]

    def triplet_negatives(self) -> Tensor:
        return self.vectors[self.batch.second[self.batch.triplets[1]]]

    def embeddings(self) -> Tensor:
        return self.vectors

    def teacher_embeddings(self) -> Tensor:
        assert self.batch.teacher_vectors is not None
        return self.batch.teacher_vectors

    def classes(self) -> Tensor:
        return self.batch.classes

    def paired_classes(self) -> Tensor:
        """The classes. Raises Problem if their pairs against all sentences exceed the largest
        matrix."""
        classes = self.batch.classes
        sizes = torch.bincount(classes)
        cells = int((sizes * (sizes - 1)).sum()) * len(classes)
        if cells > MAX_TRIPLETS:
            raise Problem("too_many_triplets", count=cells, most=grouped(MAX_TRIPLETS))
        return classes

    def prototypes(self) -> Tensor:
        """The given matrix, or the mean of each class; not differentiated."""
        classes, text = self.batch.classes, self.batch.rules.prototypes
        count, width = int(classes.max()) + 1, self.vectors.shape[1]
        if text.strip():
            return _matrix_from(text, count, width).to(self.vectors)
        members = torch.nn.functional.one_hot(classes, count).to(self.vectors)
        return (members.T @ self.vectors.detach()) / members.sum(dim=0)[:, None]


def _matrix_from(text: str, count: int, width: int) -> Tensor:
    lines = text.strip().splitlines()
    shape = Problem("prototypes_shape", rows=len(lines), count=count, width=width)
    if len(lines) != count:
        raise shape
    rows = [line.replace(",", " ").split(maxsplit=width) for line in lines]
    if max(map(len, rows)) > width:
        raise shape
    try:
        matrix = torch.tensor([[float(cell) for cell in row] for row in rows], dtype=torch.float64)
    except ValueError as error:
        raise Problem("prototypes_numbers", reason=quoted(error)) from error
    if matrix.shape != (count, width) or not bool(matrix.isfinite().all()):
        raise shape
    return matrix


# Made of the cosines of the pairs, unless scores came with the data.
_INPUTS_OF_SCORES = {
    name
    for name, reading in READABLE.items()
    if reading.made_of == "scores" or (name == "level_scores")
}


@functools.lru_cache(maxsize=KEPT_BATCHES)
def load_table(rows: tuple[tuple[str, str, str], ...]) -> pairs_from_tables.Table:
    """Parse the typed or uploaded rows into pairs and rejected rows with reasons."""
    return pairs_from_tables.from_rows(rows)


def load_pairs(data: Data) -> Pairs:
    """Return the pairs of the chosen source with corrections applied, not yet encoded."""
    pairs = source_pairs(data)
    if not data.corrections or not has_words(data):
        return pairs
    pairs = corrected(pairs, data.corrections)
    if len(pairs) == 0:
        raise Problem("no_pairs")
    return pairs


def source_pairs(data: Data) -> Pairs:
    """Return the pairs of the chosen source without corrections."""
    if data.source == "example":
        return textbook.load_example(data.example)
    if data.source == "random":
        return random_batch.draw(data.random)
    pairs = load_table(data.rows).pairs
    if len(pairs) == 0:
        raise Problem("no_pairs")
    if data.teacher:
        pairs = taught(pairs, data.teacher)
    if data.guided:
        pairs = dataclasses.replace(pairs, guide=guide_vectors_of(pairs.sentences, data.guided))
    if data.reading.label_range is None:
        return pairs
    return dataclasses.replace(pairs, label_range=data.reading.label_range)


def make_batch(data: Data, rules: Rules, models: Models | None = None) -> Batch:
    """Return the batch of this data under these rules, cached by choice. Finds its models if none
    are passed."""
    return _cached_batch(data, rules, find_models(data) if models is None else models)


@functools.lru_cache(maxsize=KEPT_BATCHES)
def _cached_batch(data: Data, rules: Rules, models: Models) -> Batch:
    return batch_of(load_pairs(data), data, rules, models)


def batch_of(pairs: Pairs, data: Data, rules: Rules, models: Models) -> Batch:
    """Build the batch of these pairs with the similarities of the data's models."""
    vectors, orthogonal = _vectors_for(pairs, models)
    scores = pairs.scores
    if models.cross_encoder is not None:
        scores = scores_of(pairs.first, pairs.second, models.cross_encoder)
    pairs = with_second_models(pairs, data, models)
    batch = _batch_under_rules(pairs, scores, vectors, orthogonal, rules)
    return dataclasses.replace(batch, encoder=models.encoder)


def batch_of_scores(pairs: Pairs, rules: Rules) -> Batch:
    """Build a batch of scored pairs, with vectors whose cosines equal the scores."""
    return _batch_under_rules(pairs, pairs.scores, _vectors_in_separate_planes(pairs), True, rules)


def batch_of_vectors(pairs: Pairs, vectors: np.ndarray, rules: Rules) -> Batch:
    """Build a batch from the vectors [S, D] of the pairs' sentences, in the pairs' order."""
    return _batch_under_rules(pairs, None, vectors, False, rules)


def _batch_under_rules(
    pairs: Pairs,
    scores: Sequence[float] | np.ndarray | None,
    vectors: np.ndarray | None,
    orthogonal: bool,
    rules: Rules,
) -> Batch:
    where, dtype = device(), precision()
    labels = torch.tensor(pairs.labels, dtype=dtype, device=where)
    first, second = (torch.from_numpy(place).to(where) for place in pairs.positions)
    chosen = rules.label_range or pairs.label_range
    least = pairs.threshold if rules.threshold is None else rules.threshold
    threshold, label_range = label_rules(pairs.labels, least, chosen)
    positive = labels >= threshold
    return Batch(
        pairs=pairs,
        vectors=_on_device(vectors, dtype, where),
        given=None if scores is None else torch.tensor(scores, dtype=dtype, device=where),
        labels=labels,
        first=first,
        second=second,
        threshold=threshold,
        label_range=label_range,
        positive=positive,
        classes=_components(first, second, positive, len(pairs.sentences)),
        rules=rules,
        orthogonal=orthogonal,
        guide=None if _lacks_guide(pairs) else _on_device(pairs.guide, dtype, where),
        teacher_vectors=_on_device(pairs.teacher_vectors, dtype, where),
        teacher=_finite_teacher(pairs, dtype, where),
    )


def _on_device(rows: np.ndarray | None, dtype: torch.dtype, where: torch.device) -> Tensor | None:
    return None if rows is None else torch.tensor(rows, dtype=dtype, device=where)


def _incomplete(model: str, pairs: Pairs, missing: Sequence[int] | np.ndarray) -> Problem:
    """Return the problem of a second model without values for the `missing` pairs."""
    one = {side: shortened(getattr(pairs, side)[missing[0]]) for side in ("first", "second")}
    counts = {"without": len(missing), "count": len(pairs)}
    return Problem(f"{model}_incomplete", about=model, **counts, **one)


def _lacks_guide(pairs: Pairs) -> bool:
    """Return whether a guide has vectors for some sentences only."""
    return pairs.guide is not None and bool(np.isnan(pairs.guide).any())


def _finite_teacher(pairs: Pairs, dtype: torch.dtype, where: torch.device) -> Tensor | None:
    """Return the teacher's scores if every pair has one."""
    if pairs.teacher is None or any(map(math.isnan, pairs.teacher)):
        return None
    return torch.tensor(pairs.teacher, dtype=dtype, device=where)


def _vectors_for(pairs: Pairs, models: Models) -> tuple[np.ndarray | None, bool]:
    """Return encoded, given, or constructed vectors, and whether they were constructed."""
    if models.encoder is not None:
        return vectors_of(pairs.sentences, models.encoder), False
    if pairs.vectors is not None:
        return pairs.vectors, False
    return _vectors_in_separate_planes(pairs), True


def _vectors_in_separate_planes(pairs: Pairs) -> np.ndarray | None:
    """Build unit vectors in which each pair spans its own plane and has exactly its given cosine.

    None if no such vectors exist: a score is outside −1..1, or a sentence is in two pairs.
    """
    scores = np.asarray(pairs.scores)
    if np.abs(scores).max() > 1 or len(pairs.sentences) != 2 * len(pairs):
        return None
    vectors = np.zeros((2 * len(pairs), 2 * len(pairs)))
    first, second = pairs.positions
    for place, score in enumerate(scores):
        vectors[first[place], 2 * place] = 1
        vectors[second[place], 2 * place : 2 * place + 2] = score, math.sqrt(1 - score**2)
    return vectors


def _components(first: Tensor, second: Tensor, positive: Tensor, count: int) -> Tensor:
    """Number the connected components of positive pairs 0, 1, … by appearance, one number a
    sentence."""
    parent = list(range(count))

    def root_of(sentence: int) -> int:
        while parent[sentence] != sentence:
            parent[sentence] = sentence = parent[parent[sentence]]
        return sentence

    for a, b in zip(first[positive].tolist(), second[positive].tolist(), strict=True):
        low, high = sorted((root_of(a), root_of(b)))
        parent[high] = low
    numbers: dict[int, int] = {}
    classes = [numbers.setdefault(root_of(sentence), len(numbers)) for sentence in range(count)]
    return torch.tensor(classes, device=first.device)
