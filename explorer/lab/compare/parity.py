"""Formula = autograd = library: every loss in three ways on one batch, in value and gradient.

The definition as it is written, differentiated by autograd; the public function with its kernel;
and what each installed library computes, under each convention, in float64 and in float32. All
start from the same sentence vectors, and gradients are compared there.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
import torch
from torch import Tensor

from explorer.core.batch import Batch, batch_of_vectors
from explorer.core.scenario import Rules
from explorer.lab.compare.libraries import CallablePeer, peers_of
from explorer.lab.compare.library_calls import BatchNotTaken
from explorer.lab.compare.outcome import Sentence, Values
from explorer.lab.compare.what_if import of_rows
from explorer.locale import title_word, word
from explorer.runtime import jobs
from explorer.runtime.budgets import budget
from explorer.runtime.limits import MIB
from explorer.runtime.numbers import display_number
from explorer.runtime.problem import Problem
from explorer.runtime.validation import quoted
from explorer.sources.pairs import Pairs
from losses import LOSSES, LossSpec
from losses.geometry import dot
from losses.readings import READABLE

Precision = Literal["float64", "float32"]
Status = Literal["equal", "explained", "differs", "alone", "not_installed", "not_called", "failed"]
PRECISIONS: dict[Precision, torch.dtype] = {"float64": torch.float64, "float32": torch.float32}
# What is at most so far apart, relative to the largest, is equal: rounding of sums in another
# order, which an exponential of a large scale makes larger.
EQUAL: dict[Precision, float] = {"float64": 1e-9, "float32": 1e-4}
# The seeded batch: so many first sentences with so many seconds each, in so many dimensions.
ANCHORS, CANDIDATES, DIMENSION, SEED = 8, 3, 16, 14


@dataclass(frozen=True)
class Gap:
    """How far two computations lie apart at most, and that as a share of the largest."""

    absolute: float
    relative: float


@dataclass(frozen=True)
class Agreement:
    """A computation beside the definition in the same precision."""

    value: float
    by_value: Gap
    by_gradient: Gap

    @property
    def worst(self) -> float:
        """The larger relative gap; infinite where one is no number."""
        gaps = [self.by_value.relative, self.by_gradient.relative]
        return math.inf if any(map(math.isnan, gaps)) else max(gaps)


@dataclass(frozen=True)
class Row:
    """A loss under a convention ("" for our own), and one library that computes it.

    `library` is "" where none does, or nobody wrote which. `version` is the installed one. `value`
    is what the definition gives in float64, `ours` the loss under our own convention, at its
    defaults, on the same batch; None for what cannot be computed on it. `kernel` is what
    training calls (`LossSpec.checked`), in each precision; `peer` the library's, None where
    it was not asked.

    `status`: "equal", the library computes the loss as defined here; "explained", it does not, and
    the convention, or `because`, says why; "differs", nobody says why, or the public function is
    not its definition; "alone", no library is known, and the function is its definition;
    "not_installed"; "not_called", nobody wrote how it is called; "failed", it
    raised, or the loss cannot be computed on the batch, as `because` says.

    `fed` says what the library was given: each of its arguments with its shape, and the range of
    its numbers or of the lengths of its vectors. `at_defaults` is what the library's class gives
    without our parameters; None where it was not given any.
    """

    loss: str
    convention: str
    library: str
    called: str
    version: str | None
    status: Status
    value: float | None
    ours: float | None
    kernel: Mapping[Precision, Agreement | None]
    peer: Mapping[Precision, Agreement | None]
    because: tuple[Sentence, ...] = ()
    fed: str = ""
    at_defaults: float | None = None


def seeded_batch(seed: int = SEED) -> Batch:
    """Pairs on which every loss has something to do: first sentences that share several seconds,
    labels 0 to 5 of which the cosine knows a part, a teacher, vectors of all lengths."""
    made = np.random.RandomState(seed)
    anchors = made.standard_normal((ANCHORS, DIMENSION))
    places = np.repeat(np.arange(ANCHORS), CANDIDATES)
    labels = np.concatenate([made.permutation([0, 1, 2, 3, 4, 5])[:CANDIDATES] for _ in anchors])
    labels[::CANDIDATES] = np.maximum(labels[::CANDIDATES], 3)  # each has a positive
    noise = made.standard_normal((len(places), DIMENSION))
    seconds = anchors[places] * labels[:, None] / 4 + noise
    names = [f"b{place}" for place in range(len(places))]
    pairs = Pairs(
        tuple(f"a{place}" for place in places),
        tuple(names),
        tuple(map(float, labels)),
        label_range=(0.0, 5.0),
        teacher=tuple((labels + made.standard_normal(len(labels))).tolist()),
    )
    vectors = {f"a{place}": anchor for place, anchor in enumerate(anchors)}
    vectors |= dict(zip(names, seconds, strict=True))
    found = batch_of_vectors(pairs, np.array([vectors[one] for one in pairs.sentences]), Rules())
    assert found.vectors is not None
    taught = found.vectors.new_tensor(made.standard_normal(found.vectors.shape))
    # Not the means of the classes: a vector that is its prototype has no arccos to differentiate.
    prototypes = made.standard_normal((int(found.classes.max()) + 1, DIMENSION))
    rows = "\n".join(" ".join(map(repr, row)) for row in prototypes.tolist())
    return dataclasses.replace(found, rules=Rules(prototypes=rows), teacher_vectors=taught)


# Some libraries compare every three vectors: measured at up to 243 bytes for each three of N pairs,
# 195 of which are alive (`tests/process/test_request_memory.py`).
CUBED, MOST_PAIRS = 320, 128


def shown_of(batch: Batch) -> Batch:
    """The first pairs of a larger batch, as many as libraries have room for that compare every
    three: `MOST_PAIRS`, on a hosted page fewer where a request may take less memory."""
    most = budget("request_mib") * MIB
    count = MOST_PAIRS if most == math.inf else min(MOST_PAIRS, int((most / CUBED) ** (1 / 3)))
    if len(batch) <= count:
        return batch
    labels = batch.pairs.labels
    return of_rows(batch, [(place, place, labels[place]) for place in range(count)])


def _with_own_negatives(batch: Batch) -> Batch:
    """Of each first sentence one positive pair and as many others of its own as all have.

    The batch as it is where no first sentence stands in pairs of both kinds.
    """
    positives, others = batch.positives.tolist(), batch.others.tolist()
    own = {int(batch.first[place]): [place] for place in reversed(positives)}
    for place in others:
        own.get(int(batch.first[place]), []).append(place)
    full = [places for places in own.values() if len(places) > 1]
    if not full:
        return batch
    count = min(map(len, full))
    chosen = sorted(place for places in full for place in places[:count])
    return of_rows(batch, [(place, place, batch.pairs.labels[place]) for place in chosen])


def parity(batch: Batch | None = None, losses: Mapping[str, LossSpec] = LOSSES) -> list[Row]:
    """Every loss under every convention beside every library that is known to compute it.

    Without a batch of sentence vectors, on `seeded_batch`. What is not installed has its row, too.
    """
    batch = seeded_batch() if batch is None else batch
    return [
        row
        for spec in losses.values()
        for convention in ("", *(one.name for one in spec.conventions))
        for row in _rows(spec, convention, batch)
    ]


def _rows(own: LossSpec, convention: str, batch: Batch) -> Iterator[Row]:
    spec = own.under(convention)
    peers = list(peers_of(spec, convention)) or [CallablePeer("", "")]
    if any("negative_owners" in peer.reads.values() for peer in peers):
        batch = _with_own_negatives(batch)
    try:
        exact: dict[Precision, _Found] = {
            name: _defined(spec, batch, dtype) for name, dtype in PRECISIONS.items()
        }
        kernel: dict[Precision, Agreement | None] = {
            name: _beside(spec.checked, spec, batch, exact[name]) for name in PRECISIONS
        }
        ours = exact["float64"] if not convention else _defined(own, batch, torch.float64)
    except Problem as problem:  # such as no positives, on a batch of somebody's own
        why = (Sentence(problem.key, cast("Values", problem.values)),)
        nothing: dict[Precision, Agreement | None] = dict.fromkeys(PRECISIONS)
        for peer in peers:
            named = (own.name, convention, peer.library, peer.called, peer.version)
            yield Row(*named, "failed", None, None, nothing, nothing, why)
        return
    for peer in peers:
        yield _row(own, convention, peer, batch, exact, kernel, ours)


@dataclass(frozen=True, eq=False)
class _Found:
    """A value and the gradient by all that can move, flat."""

    value: Tensor
    gradient: Tensor


def _row(
    own: LossSpec,
    convention: str,
    peer: CallablePeer,
    batch: Batch,
    exact: Mapping[Precision, _Found],
    kernel: Mapping[Precision, Agreement | None],
    ours: _Found,
) -> Row:
    version = peer.version
    asked: dict[Precision, Agreement | None] = dict.fromkeys(PRECISIONS)
    status, because, score = _unasked(peer, version), (), own.under(convention).score
    at_defaults = None
    if status is None and peer.load:
        try:
            call = peer.load()
            found: dict[Precision, _Found] = {
                name: _found(call, peer.reads, batch, dtype, score)
                for name, dtype in PRECISIONS.items()
            }
            if peer.load_at_defaults:
                plain = peer.load_at_defaults()
                at_defaults = float(_found(plain, peer.reads, batch, torch.float64, score).value)
        except (Problem, jobs.Cancelled):  # of the work, and not of the library
            raise
        except BatchNotTaken:
            status = "not_called"
        except Exception as error:  # another library's: its row says what it raised
            status = "failed"
            because = (Sentence("parity.because.raised", {"reason": quoted(repr(error))}),)
        else:
            asked |= {name: _agreement(one, exact[name]) for name, one in found.items()}
            near = max(EQUAL["float64"], peer.within)
            apart = not _agreement(found["float64"], ours).worst <= near
            status, because = _judged(own, convention if apart else "", peer, asked, ours)
    if any(one and not one.worst <= EQUAL[name] for name, one in kernel.items()):
        status, because = "differs", (Sentence("parity.because.kernel"), *because)
    return Row(
        own.name,
        convention,
        peer.library,
        peer.called,
        version,
        status or "not_called",
        float(exact["float64"].value),
        float(ours.value),
        kernel,
        asked,
        because,
        _fed(peer.reads, batch, score) if asked["float64"] else "",
        at_defaults,
    )


def _fed(reads: Mapping[str, str], batch: Batch, score: str) -> str:
    """What was read, such as "scores 8×3 (−0.4…0.9), mask 8×3"."""
    batch = _in(batch, torch.float64)
    read = {what: batch.read(what, batch.vectors, _scores(batch, score)) for what in reads.values()}
    return ", ".join(
        _described(name, given, READABLE[what].axes[-1])
        for name, what in reads.items()
        if (given := read[what]) is not None
    )


def _described(name: str, given: Tensor, last_axis: str) -> str:
    shape = f"{name} {'×'.join(map(str, given.shape))}"
    if given.dtype == torch.bool or not given.numel():
        return shape
    of_vectors = last_axis.endswith("dimension")
    sizes = given.detach().norm(dim=-1) if of_vectors else given.detach()
    low, high = (display_number(float(end), 3) for end in sizes.aminmax())
    return f"{shape} ({'|·| ' if of_vectors else ''}{low}…{high})"


def _unasked(peer: CallablePeer, version: str | None) -> Status | None:
    """Why a peer is not asked; None where it is."""
    if not peer.library:
        return "not_called" if peer.called else "alone"
    if peer.load is None:  # installing it would not help
        return "not_called"
    return "not_installed" if version is None else None


def _judged(
    own: LossSpec,
    convention: str,
    peer: CallablePeer,
    asked: Mapping[Precision, Agreement | None],
    ours: _Found,
) -> tuple[Status, tuple[Sentence, ...]]:
    """What is said of a library that was asked; `convention` is "" where the library computes the
    loss as it is defined here."""
    told: list[Sentence] = []
    for name, one in asked.items():
        if one is None or one.worst <= EQUAL[name]:
            continue
        if not one.worst <= peer.within:
            return "differs", ()
        told = [Sentence(peer.because)]
    theirs = asked["float64"]
    if convention and theirs is not None:
        values: Values = {
            "loss": title_word(own),
            "convention": convention,
            "theirs": display_number(theirs.value),
            "ours": display_number(float(ours.value)),
        }
        told = [Sentence("parity.because.convention", values), *told, *_note(own, convention)]
    return ("explained" if told else "equal"), tuple(told)


def _note(own: LossSpec, convention: str) -> list[Sentence]:
    """What the convention itself says of the library, in a sentence."""
    note = next(one.note for one in own.conventions if one.name == convention)
    said = word(f"loss.{own.name}.note.{convention}", note)
    return [Sentence("parity.because.note", {"note": said})] if note else []


def _defined(spec: LossSpec, batch: Batch, dtype: torch.dtype) -> _Found:
    def called(**given: Tensor) -> Tensor:
        return spec.definition(**given, **spec.defaults)

    return _found(called, spec.reads, batch, dtype, spec.score)


def _beside(
    function: Callable[..., Tensor], spec: LossSpec, batch: Batch, exact: _Found
) -> Agreement:
    def called(**given: Tensor) -> Tensor:
        return function(**given, **spec.defaults)

    found = _found(called, spec.reads, batch, exact.gradient.dtype, spec.score)
    return _agreement(found, exact)


def _found(
    call: Callable[..., Tensor],
    reads: Mapping[str, str],
    batch: Batch,
    dtype: torch.dtype,
    score: str,
) -> _Found:
    """Value and gradient of a function of what it reads, by the vectors, and by scores that came
    with the data; without these, scores are cosines, or dot products where the kind is "dot"."""
    jobs.check()
    batch = _in(batch, dtype)
    vectors = None if batch.vectors is None else batch.vectors.requires_grad_()
    scores = _scores(batch, score)
    read = {name: batch.read(what, vectors, scores) for name, what in reads.items()}
    loss = call(**{name: tensor for name, tensor in read.items() if tensor is not None})
    leaves = [one for one in (batch.given, vectors) if one is not None]
    found = torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True)
    return _Found(loss.detach(), torch.cat([one.flatten() for one in found]).to(dtype))


def _scores(batch: Batch, kind: str) -> Tensor:
    if batch.given is not None:
        return batch.given.requires_grad_()
    vectors = batch.needed_vectors
    if kind != "dot":
        return batch.scores_from(vectors)
    return dot(vectors[batch.first], vectors[batch.second])


def _in(batch: Batch, dtype: torch.dtype) -> Batch:
    """A copy in another precision."""
    tensors = {
        entry.name: value.detach().to(dtype, copy=True)
        for entry in dataclasses.fields(batch)
        if isinstance(value := getattr(batch, entry.name), Tensor) and value.is_floating_point()
    }
    return dataclasses.replace(batch, **tensors)


def _agreement(found: _Found, exact: _Found) -> Agreement:
    by_gradient = _gap(found.gradient, exact.gradient)
    return Agreement(float(found.value), _gap(found.value, exact.value), by_gradient)


def _gap(found: Tensor, exact: Tensor) -> Gap:
    found, exact = found.double(), exact.double()
    absolute = float((found - exact).abs().max())
    largest = float(exact.abs().max())
    return Gap(absolute, absolute / largest if largest > 0 else absolute)
