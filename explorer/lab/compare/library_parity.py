"""Formula = autograd = library: every loss in three ways on one batch, in value and gradient.

The definition as it is written, differentiated by autograd; the public function with its kernel;
and what each installed library computes, under each convention, in float64 and in float32. All
start from the same sentence vectors, and gradients are compared there.
"""

import dataclasses
import functools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, cast

import torch
from torch import Tensor

from lossprism.explorer.core.batch import Batch
from lossprism.explorer.lab.compare.callable_library_peers import CallablePeer, peers_of
from lossprism.explorer.lab.compare.comparison_results import Sentence, Values
from lossprism.explorer.lab.compare.library_loss_calls import Call
from lossprism.explorer.lab.compare.parity_batches import (
    ODD_LABELS,
    batch_for,
    moved,
    odd_for,
    seeded_batch,
)
from lossprism.explorer.locale import title_word, word
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import quoted
from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.geometry import dot
from lossprism.losses.inputs_that_losses_may_read import READABLE

Precision = Literal["float64", "float32"]
Status = Literal["equal", "explained", "differs", "alone", "not_installed", "not_called", "failed"]
PRECISIONS: dict[Precision, torch.dtype] = {"float64": torch.float64, "float32": torch.float32}
# What is at most so far apart, relative to the largest, is equal: rounding of sums in another
# order, which an exponential of a large scale makes larger.
EQUALITY_TOLERANCE: dict[Precision, float] = {"float64": 1e-9, "float32": 1e-4}
# How far the value may be off where the loss has no slope: arccos loses half of the digits there.
KINK_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Gap:
    """Largest difference of two computations, and its share of the largest value."""

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
class Odd:
    """A library on the batch of odd labels of this name in `parity_batches.ODD_LABELS`; `peer` is
    what it gives in float64, None where it gave no number."""

    name: str
    status: Status
    because: tuple[Sentence, ...] = ()
    fed: str = ""
    peer: Agreement | None = None


@dataclass(frozen=True)
class Row:
    """A loss under a convention ("" for our own), and one library that computes it.

    `library` is "" where none is known. `version` is the installed one. `value` is that of the
    definition in float64, `ours` the loss under our own convention, at its defaults, on the same
    batch; None where it cannot be computed. `kernel` is the training function (`LossSpec.checked`),
    in each precision; `peer` the library's, None where it was not called.

    `status`: "equal", the library computes the loss as defined here; "explained", it does not, and
    the convention, or `because`, says why; "differs", without an explanation, or the public
    function is not its definition; "alone", no library is known, and the function is its
    definition; "not_installed"; "not_called", no call is known; "failed", it raised, or the loss
    cannot be computed on the batch, as `because` says.

    `fed` lists the library's arguments with their shapes, and the ranges of their numbers or of the
    lengths of their vectors; `left_out` the part of the batch that it cannot take. `at_defaults` is
    the value of the library's class without our parameters; None where there are none. `odd` has
    the same library on odd labels, for a loss that reads labels.
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
    left_out: Sentence | None = None
    odd: tuple[Odd, ...] = ()


def parity(batch: Batch | None = None, losses: Mapping[str, LossSpec] = LOSSES) -> list[Row]:
    """Compare every loss under every convention with every library that is known to compute it.

    Without a batch of sentence vectors, `seeded_batch` is used. Libraries that are not installed
    have their rows, too.
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
    computed: dict[str, _Computed] = {}
    for peer in peers:
        inputs, about = batch_for(peer.reads.values(), spec.reads.values(), batch)
        try:
            if about not in computed:
                computed[about] = _computed(own, convention, inputs)
        except Problem as problem:  # such as no positives in the user's batch
            why = (Sentence(problem.key, cast("Values", problem.values)),)
            nothing: dict[Precision, Agreement | None] = dict.fromkeys(PRECISIONS)
            named = (own.name, convention, peer.library, peer.called, peer.version)
            yield Row(*named, "failed", None, None, nothing, nothing, why)
        else:
            yield _row(peer, computed[about], about)


@dataclass(frozen=True, eq=False)
class _Found:
    """A value and the gradient by all that can move, flat."""

    value: Tensor
    gradient: Tensor


@dataclass(frozen=True, eq=False)
class _Computed:
    """A loss under a convention on one batch: by its definition in each precision, by the function
    that training calls, and as our own convention has it."""

    own: LossSpec
    convention: str
    batch: Batch
    exact: Mapping[Precision, _Found]
    kernel: Mapping[Precision, Agreement]
    ours: _Found

    @property
    def spec(self) -> LossSpec:
        return self.own.under(self.convention)

    @property
    def kernel_agrees(self) -> bool:
        return all(one.worst <= EQUALITY_TOLERANCE[name] for name, one in self.kernel.items())


def _computed(own: LossSpec, convention: str, batch: Batch) -> _Computed:
    spec = own.under(convention)
    exact: dict[Precision, _Found] = {n: _defined(spec, batch, d) for n, d in PRECISIONS.items()}
    kernel: dict[Precision, Agreement] = {
        name: _beside(spec.checked, spec, batch, exact[name]) for name in PRECISIONS
    }
    ours = exact["float64"] if not convention else _defined(own, batch, torch.float64)
    return _Computed(own, convention, batch, exact, kernel, ours)


def _row(peer: CallablePeer, computed: _Computed, about: str) -> Row:
    version, spec = peer.version, computed.spec
    (status, because), at_defaults, odd = _unasked(peer, version), None, ()
    agreements: dict[Precision, Agreement | None] = dict.fromkeys(PRECISIONS)
    if status is None and peer.load:
        try:
            call = peer.load()
            outcome = _called(call, peer, computed)
            if peer.load_at_defaults:
                plain = _called(peer.load_at_defaults(), peer, computed)
                at_defaults = float(plain["float64"].value)
        except (Problem, jobs.Cancelled):  # of the work, and not of the library
            raise
        except Exception as error:  # the library's own: its row has the message
            status, because = "failed", (_raised("parity.because.raised", error),)
        else:
            agreements |= {
                name: _agreement(one, computed.exact[name]) for name, one in outcome.items()
            }
            status, because = _judged(call, peer, computed, outcome)
            odd = tuple(
                call_library(
                    name,
                    ODD_LABELS[name](seeded_batch()),
                    call,
                    peer,
                    computed.own,
                    computed.convention,
                )
                for name in odd_for(peer.reads.values())
            )
            if any(one.status in ("differs", "failed") for one in odd):
                status = "differs"
    if not computed.kernel_agrees and not _agree_aside(None, peer, computed):
        status, because = "differs", (Sentence("parity.because.kernel"), *because)
    return Row(
        computed.own.name,
        computed.convention,
        peer.library,
        peer.called,
        version,
        status or "not_called",
        float(computed.exact["float64"].value),
        float(computed.ours.value),
        computed.kernel,
        agreements,
        because,
        _fed(peer.reads, computed.batch, spec.score) if agreements["float64"] else "",
        at_defaults,
        Sentence(about) if about and agreements["float64"] else None,
        odd,
    )


def _raised(key: str, error: Exception) -> Sentence:
    return Sentence(key, {"reason": quoted(str(error) if key.endswith("refused") else repr(error))})


def _called(call: Call, peer: CallablePeer, computed: _Computed) -> dict[Precision, _Found]:
    """Call the library in each precision."""
    batch, score = computed.batch, computed.spec.score
    return {n: _found(call, peer.reads, batch, dtype, score) for n, dtype in PRECISIONS.items()}


def call_library(
    name: str, batch: Batch, call: Call, peer: CallablePeer, own: LossSpec, convention: str
) -> Odd:
    """Call a library on a batch whose labels are odd as `name` says; "" for usual ones."""
    spec = own.under(convention)
    batch, _ = batch_for(peer.reads.values(), spec.reads.values(), batch)
    fed = _fed(peer.reads, batch, spec.score)
    try:
        there = _computed(own, convention, batch)
    except ValueError as refusal:
        return Odd(name, "explained", (_raised("parity.because.refused", refusal),), fed)
    try:
        outcome = _called(call, peer, there)
    except Exception as error:
        return Odd(name, "failed", (_raised("parity.because.raised", error),), fed)
    if not all(bool(one.value.isfinite()) for one in outcome.values()):
        return Odd(name, "explained", (Sentence("parity.because.no_number"),), fed)
    status, because = _judged(call, peer, there, outcome, by_convention=False)
    if status == "differs" and peer.below_zero and name in ("unjudged", "single"):
        status, because = "explained", (Sentence(peer.below_zero),)
    return Odd(name, status, because, fed, _agreement(outcome["float64"], there.exact["float64"]))


def _fed(reads: Mapping[str, str], batch: Batch, score: str) -> str:
    """Describe the inputs, such as "scores 8×3 (−0.4…0.9), mask 8×3"."""
    batch = _in(batch, torch.float64)
    read = {what: batch.read(what, batch.vectors, _scores(batch, score)) for what in reads.values()}
    return ", ".join(
        _described(name, tensor, READABLE[what].axes[-1])
        for name, what in reads.items()
        if (tensor := read[what]) is not None
    )


def _described(name: str, tensor: Tensor, last_axis: str) -> str:
    shape = f"{name} {'×'.join(map(str, tensor.shape))}"
    if tensor.dtype == torch.bool or not tensor.numel():
        return shape
    of_vectors = last_axis.endswith("dimension")
    sizes = tensor.detach().norm(dim=-1) if of_vectors else tensor.detach()
    low, high = (display_number(float(end), 3) for end in sizes.aminmax())
    return f"{shape} ({'|·| ' if of_vectors else ''}{low}…{high})"


def _unasked(peer: CallablePeer, version: str | None) -> tuple[Status | None, tuple[Sentence, ...]]:
    """Return the reason not to call a peer and what to do about it; None where it is called."""
    if not peer.library and not peer.called:
        return "alone", ()
    if not peer.library or peer.load is None:  # installing it would not help
        return "not_called", ()
    if version is not None:
        return None, ()
    return "not_installed", (Sentence("parity.because.not_installed", {"library": peer.library}),)


def _judged(
    call: Call,
    peer: CallablePeer,
    computed: _Computed,
    by_precision: Mapping[Precision, _Found],
    by_convention: bool = True,
) -> tuple[Status, tuple[Sentence, ...]]:
    """Judge a library that was called; `by_convention` tells whether its convention may be the
    explanation, where that is another number than the loss as it is defined here."""
    theirs = _agreement(by_precision["float64"], computed.exact["float64"])
    reasons = _arithmetic(call, peer, computed, by_precision)
    if reasons is None:
        return "differs", ()
    convention, ours = computed.convention, computed.ours
    near = max(EQUALITY_TOLERANCE["float64"], peer.within)
    if by_convention and convention and not _agreement(by_precision["float64"], ours).worst <= near:
        values: Values = {
            "loss": title_word(computed.own),
            "convention": convention,
            "theirs": display_number(theirs.value),
            "ours": display_number(float(ours.value)),
        }
        explanation = Sentence("parity.because.convention", values)
        reasons = [explanation, *reasons, *_note(computed.own, convention)]
    return ("explained" if reasons else "equal"), tuple(reasons)


def _arithmetic(
    call: Call, peer: CallablePeer, computed: _Computed, by_precision: Mapping[Precision, _Found]
) -> list[Sentence] | None:
    """Explain why a library is not exactly its formula; empty where it is, None without an
    explanation."""
    gaps: dict[Precision, Agreement] = {
        name: _agreement(one, computed.exact[name]) for name, one in by_precision.items()
    }
    if all(one.worst <= EQUALITY_TOLERANCE[name] for name, one in gaps.items()):
        return []
    if all(one.worst <= max(EQUALITY_TOLERANCE[name], peer.within) for name, one in gaps.items()):
        return [Sentence(peer.because)]
    if peer.shift and _agrees(by_precision, _shifted(peer, computed)):
        return [Sentence(peer.because)]
    if _agree_aside(call, peer, computed):
        continuous = gaps["float64"].by_value.relative <= KINK_TOLERANCE
        return [Sentence(f"parity.because.{'kink' if continuous else 'tie'}")]
    return None


def _agrees(by_precision: Mapping[Precision, _Found], exact: Mapping[Precision, _Found]) -> bool:
    return all(
        _agreement(one, exact[name]).worst <= EQUALITY_TOLERANCE[name]
        for name, one in by_precision.items()
    )


def _shifted(peer: CallablePeer, computed: _Computed) -> dict[Precision, _Found]:
    """Compute the definition with the library's shift of each difference of coordinates, in
    float64: a number so small is lost in a sum of float32."""
    spec = computed.spec

    def shifted(first: Tensor, **inputs: Tensor) -> Tensor:
        return spec.definition(first=first + peer.shift, **inputs, **spec.defaults)

    return {
        name: _found(shifted, spec.reads, _in(computed.batch, dtype), torch.float64, spec.score)
        for name, dtype in PRECISIONS.items()
    }


def _agree_aside(call: Call | None, peer: CallablePeer, computed: _Computed) -> bool:
    """True if the library, or without its `call` our function, agrees with the definition a step
    beside this batch, where no two distances are equal and none is 0."""
    aside = moved(computed.batch, computed.spec.reads.values())
    there = _computed(computed.own, computed.convention, aside)
    if call is None:
        return there.kernel_agrees
    exact = _shifted(peer, there) if peer.shift else there.exact
    return there.kernel_agrees and _agrees(_called(call, peer, there), exact)


def _note(own: LossSpec, convention: str) -> list[Sentence]:
    """Return the convention's own note on the library, as a sentence."""
    note = next(one.note for one in own.conventions if one.name == convention)
    text = word(f"loss.{own.name}.note.{convention}", note)
    return [Sentence("parity.because.note", {"note": text})] if note else []


def _defined(spec: LossSpec, batch: Batch, dtype: torch.dtype) -> _Found:
    called = functools.partial(spec.definition, **spec.defaults)
    return _found(called, spec.reads, batch, dtype, spec.score)


def _beside(
    function: Callable[..., Tensor], spec: LossSpec, batch: Batch, exact: _Found
) -> Agreement:
    called = functools.partial(function, **spec.defaults)
    ours = _found(called, spec.reads, batch, exact.gradient.dtype, spec.score)
    return _agreement(ours, exact)


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
    gradients = torch.autograd.grad(loss, leaves, allow_unused=True, materialize_grads=True)
    return _Found(loss.detach(), torch.cat([one.flatten() for one in gradients]).to(dtype))


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


def _agreement(ours: _Found, exact: _Found) -> Agreement:
    by_gradient = _gap(ours.gradient, exact.gradient)
    return Agreement(float(ours.value), _gap(ours.value, exact.value), by_gradient)


def _gap(computed: Tensor, exact: Tensor) -> Gap:
    computed, exact = computed.double(), exact.double()
    absolute = float((computed - exact).abs().max())
    largest = float(exact.abs().max())
    return Gap(absolute, absolute / largest if largest > 0 else absolute)
