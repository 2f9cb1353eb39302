"""Two to six losses, or conventions of one, on the same batch: their figures, what may not be
compared, and how far the gradients of their pairs agree.

Every number is read off `explore`, one run for each side; nothing is computed a second time.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from explorer.core.batch import Batch, load_table, make_batch
from explorer.core.diagnostics import Places
from explorer.core.explore import Exploration, check, explore
from explorer.core.remarks import Value
from explorer.core.scenario import Scenario
from explorer.export.caption import numbers_of
from explorer.export.picture import Layout
from explorer.locale import parameter_word, say, title_word, word
from explorer.runtime.cache import Cache
from explorer.runtime.numbers import display_number, percent, typed
from explorer.runtime.problem import Problem
from explorer.runtime.sendable import whole_letters
from explorer.runtime.turns import one_by_one
from explorer.runtime.validation import quoted
from explorer.runtime.wire import is_number
from losses import LOSSES, LossSpec, Parameter
from losses.spec import READABLE, ParameterValue

LEAST, MOST = 2, 6
# Gradients whose difference is less than this power of the rounding of a number are equal.
NEAR = 0.75

GradientKind = Literal["score", "pair"]
Values = Mapping[str, Value | list[Value]]


@dataclass(frozen=True)
class Sentence:
    """A sentence of the catalogues by its whole key, with its values."""

    key: str
    values: Values = field(default_factory=dict)

    def said(self, language: str = "en") -> str:
        return say(language, self.key, **self.values)


@dataclass(frozen=True)
class Side:
    """One loss of `LOSSES` with its parameters, in our convention or in a library's."""

    loss: str
    convention: str = ""
    parameters: tuple[tuple[str, object], ...] = ()

    def scene(self, scenario: Scenario) -> Scenario:
        """The scenario under this loss: what a row of the comparison is on Explore."""
        chosen = {"loss": self.loss, "convention": self.convention, "parameters": self.parameters}
        return dataclasses.replace(scenario, **chosen)


@dataclass(frozen=True)
class Figures:
    """What the strip of Explore says of a loss on a batch, each as `Exploration` has it.

    `terms` are there, of which the heaviest `active` carry nine tenths of the weight and `moving`
    any at all; all three, and `effective`, are None of a loss without terms. `places` is told of a
    loss that looks for the right one; of any other, so many of the comparisons of pairs,
    `ordered`, are `violated`.
    """

    loss: float
    floor: float | None
    floor_is_bound: bool
    collapse: float | None
    gradient_norm: float
    gradient_of: str
    terms: int | None
    active: int | None
    moving: int | None
    effective: float | None
    ordered: int
    violated: int
    places: Places | None


@dataclass(frozen=True, eq=False)
class Outcome:
    """What came of a side: its figures and gradients, or the problem that kept it from any.

    `spec` is None where there is no such loss. `parameters` are those in force, `reads` what of
    `losses.spec.READABLE` the loss was handed. `pair_gradient` [N] is what Explore draws: ∂L/∂s of
    a loss on pair scores, else the projection of the gradient by the sentence vectors
    (`is_projected`);
    `score_gradient` [N] is ∂L/∂s wherever the loss has one, NaN of a pair that it does not compare;
    `vector_gradient` [S, D] is by the distinct sentence vectors, None where it reaches none.
    """

    side: Side
    spec: LossSpec | None = None
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    reads: tuple[str, ...] = ()
    figures: Figures | None = None
    pair_gradient: Tensor | None = None
    score_gradient: Tensor | None = None
    vector_gradient: Tensor | None = None
    is_projected: bool = False
    problem: Problem | None = None
    stood: _Stood | None = None

    @property
    def stands(self) -> bool:
        """Whether it could be computed."""
        return self.figures is not None

    @property
    def called(self) -> dict[str, Value]:
        """The loss in words, and what it has besides: convention and parameters that were chosen,
        " · scale=50", as `compare-losses` reads them."""
        loss, convention = self.entered
        title = loss if self.spec is None else title_word(self.spec)
        chosen = [f"{_quoted(name)}={written_value(value)}" for name, value in self.side.parameters]
        more = [convention, ", ".join(chosen)]
        return {"name": title, "more": "".join(f" · {one}" for one in more if one)}

    @property
    def entered(self) -> tuple[str, str]:
        """The names of loss and convention; of what does not stand, as much as one quotes."""
        names = self.side.loss, self.side.convention
        return names if self.stands else (_quoted(names[0]), _quoted(names[1]))

    def named(self, language: str = "en") -> str:
        return say(language, "compare.named", **self.called)

    def gradient(self, kind: GradientKind) -> Tensor | None:
        """The gradient of each pair [N], 0 of one that the loss does not compare."""
        found = self.score_gradient if kind == "score" else self.pair_gradient
        return None if found is None else found.nan_to_num(0.0)


@dataclass(frozen=True)
class Apart:
    """The pair on which two sides disagree most: the share of its own whole gradient that each
    gives it, below 0 where it draws the two sentences together, and the rank of its size, from 1.

    `told` are these numbers in words, and then why, where a count says so.
    """

    pair: int
    shares: tuple[float, float]
    ranks: tuple[int, int]
    told: tuple[Sentence, ...]


@dataclass(frozen=True)
class Between:
    """Two sides, by their places.

    `reasons`: why their values must not be compared; empty where they may. `gradient` says of
    which gradient of the pairs the rest is: "score", ∂L/∂s, where both have it, else "pair", what
    Explore draws of each. `tau` is Kendall's τ-b of its signed values over all pairs, equal values
    counted as ties; None where one side has all pairs tied. `cosine` is that of the gradients by
    the distinct sentence vectors, None where a side has none. The second's gradient is `factor`
    times the first's in every entry, by the vectors where both have them; None where it is not.
    """

    first: int
    second: int
    reasons: tuple[Sentence, ...]
    gradient: GradientKind
    tau: float | None
    cosine: float | None
    factor: float | None
    apart: Apart | None


@dataclass(frozen=True, eq=False)
class Bars:
    """The gradient of every pair under each side, on one axis: [N] each, in the pairs' order, None
    for a side that does not stand. `equalised`: each divided by its own Euclidean norm."""

    gradient: GradientKind
    equalised: bool
    values: tuple[Tensor | None, ...]


class Kept:
    """What was found last of one batch: the outcome of each side, and what lies between any two.

    A page that moves one parameter has the other sides computed once.
    """

    def __init__(self) -> None:
        self.outcomes: Cache[Outcome] = Cache(4 * MOST)
        self.between: Cache[Between] = Cache(MOST**2)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Sides on one batch, in the order in which they were named, and every two of those that
    stand. `numbers` are what a person calls the pairs."""

    scenario: Scenario
    batch: Batch
    sides: tuple[Outcome, ...]
    between: tuple[Between, ...]
    numbers: tuple[int, ...]

    def bars(self, equalised: bool = False) -> Bars:
        """The gradients of all pairs: ∂L/∂s where every side that stands has it, else what Explore
        draws of each."""
        kind = _common([one for one in self.sides if one.stands])
        values = [one.gradient(kind) for one in self.sides]
        return Bars(kind, equalised, tuple(_unit(one) if equalised else one for one in values))

    def of(self, first: int, second: int) -> Between | None:
        """What was found between the sides at these places, in their order; None where one of them
        does not stand."""
        places = sorted((first, second))
        return next((b for b in self.between if [b.first, b.second] == places), None)


def compare(
    scenario: Scenario,
    sides: Sequence[Side],
    batch: Batch | None = None,
    see: Callable[[int, Exploration], object] | None = None,
    kept: Kept | None = None,
) -> Comparison:
    """Explore each side on the scenario's batch and read off how they differ.

    A side that cannot be computed says why, and the others stand. Its exploration is let go as
    soon as it was read; `see(place, exploration)` may look at it before. A `batch` of one's own
    takes the place of the scenario's data and rules; the scenario's loss plays no part. What is
    `kept` of this batch is not computed again, nor seen.

    Raises:
        Problem: for fewer than two sides or more than six, for data without a batch, or where no
            side is a loss that takes such pairs, as the first of them says.
    """
    if not LEAST <= len(sides) <= MOST:
        raise Problem("compare_sides", count=len(sides), least=LEAST, most=MOST)
    scenes = [side.scene(scenario) for side in sides]
    if batch is None:
        batch = _batch_for(scenario, scenes)
    kept = Kept() if kept is None else kept
    found = []
    for place, (side, scene) in enumerate(zip(sides, scenes, strict=True)):
        known = kept.outcomes.get(repr(side))
        if known is None:
            known = _outcome(side, scene, batch, place, see)
            if not _may_change(known):
                kept.outcomes.put(repr(side), known)
        found.append(known)
    numbers = tuple(numbers_of(scenario.data, batch))
    between = []
    for places in itertools.combinations(range(len(found)), 2):
        if all(found[place].stands for place in places):
            between.append(_kept_between(kept, found, places, batch, numbers))
    return Comparison(scenario, batch, tuple(found), tuple(between), numbers)


def _batch_for(scenario: Scenario, scenes: Sequence[Scenario]) -> Batch:
    """The one batch; nothing is encoded for sides of which none could be computed."""
    if scenario.data.source == "table" and len(load_table(scenario.data.rows).pairs) == 0:
        raise Problem("no_pairs")
    refused = []
    for scene in scenes:
        try:
            check(scene)
        except Problem as problem:
            refused.append(problem)
    if len(refused) == len(scenes):
        raise refused[0]
    return make_batch(scenario.data, scenario.rules)


def _may_change(outcome: Outcome) -> bool:
    """Whether it is of a loss of the user's own, whose file may be another the next time."""
    return outcome.spec is not None and outcome.spec.group == "own"


def _kept_between(
    kept: Kept,
    found: Sequence[Outcome],
    places: tuple[int, int],
    batch: Batch,
    numbers: Sequence[int],
) -> Between:
    one, other = (found[place] for place in places)
    key = repr((one.side, other.side))
    known = kept.between.get(key)
    if known is None:
        known = _between(found, places, batch, numbers)
        if not _may_change(one) and not _may_change(other):
            kept.between.put(key, known)
    first, second = places
    return dataclasses.replace(known, first=first, second=second)


def _quoted(value: object) -> str:
    return whole_letters(quoted(value))


# ---- One side


@dataclass(frozen=True, eq=False)
class _Stood:
    """How often each pair stands in a term, [N] each: of a loss whose terms compare pairs, as the
    one that ought to be above (`above`) and below (`below`), and in how many of them with weight
    (`weighing`). None of any other loss."""

    above: Tensor
    below: Tensor
    weighing: Tensor
    labels: Tensor


def _outcome(
    side: Side,
    scene: Scenario,
    batch: Batch,
    place: int,
    see: Callable[[int, Exploration], object] | None,
) -> Outcome:
    try:
        with one_by_one(len(batch)):
            found = explore(scene, batch)
            if see is not None:
                see(place, found)
            return _read(side, found)
    except Problem as problem:
        return Outcome(side, LOSSES.get(side.loss), problem=problem)


def _read(side: Side, e: Exploration) -> Outcome:
    weights = e.weights
    figures = Figures(
        loss=e.loss,
        floor=e.floor,
        floor_is_bound=e.floor_is_bound,
        collapse=e.collapse,
        gradient_norm=e.gradient_norm,
        gradient_of=e.gradient_of,
        terms=weights and weights.terms,
        active=weights and weights.active,
        moving=weights and int((weights.shares > 0).sum()),
        effective=weights and weights.effective,
        ordered=e.order.ordered,
        violated=e.order.violated,
        places=e.places,
    )
    by_vectors = e.trace.gradients[1] if len(e.trace.gradients) > 1 else None
    return Outcome(
        side=side,
        spec=e.spec,
        parameters=e.parameters,
        reads=tuple(dict.fromkeys(e.spec.reads[name] for name in e.given)),
        figures=figures,
        pair_gradient=e.pair_gradient.detach(),
        score_gradient=e.score_gradient,
        vector_gradient=by_vectors,
        is_projected=e.is_projected,
        stood=_stood(e),
    )


def _stood(e: Exploration) -> _Stood | None:
    """Of a loss all of whose gradient comes through terms that compare one pair with another."""
    step = e.trace.last(e.spec.terms)
    if step is None or step.gradient is None or e.trace.beside:
        return None
    labels = [
        value
        for name, what in e.spec.reads.items()
        if READABLE[what].made_of == "labels"
        and (value := e.given.get(name)) is not None
        and value.shape == e.batch.labels.shape
    ]
    if Layout(e).axes(step)[-2:] != ("pair", "pair") or not labels:
        return None
    ordered = labels[0][:, None] < labels[0]  # row below column
    mask = e.trace.mask_of(step)
    present = ordered.expand(step.value.shape) if mask is None else mask & ordered
    if mask is not None and not bool((mask == present).all()):
        return None  # its terms are not those of the order, or stand the other way round
    weighing = present & (step.gradient != 0)
    flat = [one.reshape(-1, *one.shape[-2:]).sum(0) for one in (present, weighing)]
    return _Stood(
        above=flat[0].sum(0),
        below=flat[0].sum(1),
        weighing=flat[1].sum(0) + flat[1].sum(1),
        labels=labels[0],
    )


# ---- Two sides


def _between(
    found: Sequence[Outcome], places: tuple[int, ...], batch: Batch, numbers: Sequence[int]
) -> Between:
    a, b = (found[place] for place in places)
    kind = _common((a, b))
    first, second = a.gradient(kind), b.gradient(kind)
    if first is None or second is None:
        raise ValueError("a side that does not stand is compared with nothing")
    return Between(
        first=places[0],
        second=places[1],
        reasons=tuple(_reasons(a, b)),
        gradient=kind,
        tau=kendall(first, second),
        cosine=_cosine(a.vector_gradient, b.vector_gradient),
        factor=_factor(a, b, kind),
        apart=_apart(a, b, kind, batch, numbers),
    )


def _common(sides: Sequence[Outcome]) -> GradientKind:
    return "score" if all(one.score_gradient is not None for one in sides) else "pair"


def kendall(first: Tensor, second: Tensor) -> float | None:
    """Kendall's τ-b of two lists [N]: the cosine of the signs of all their differences, so that a
    tie is a 0 among them. None where all values of one are equal.

    Values that differ by rounding alone are ties: they are told apart to a power of the precision
    (`NEAR`), by the largest of their list.
    """
    signs = [np.sign(one[:, None] - one) for one in map(_rounded, (first, second))]
    sizes = [float(np.square(one).sum()) for one in signs]
    return (
        float((signs[0] * signs[1]).sum()) / math.sqrt(sizes[0] * sizes[1]) if all(sizes) else None
    )


def _rounded(values: Tensor) -> np.ndarray:
    largest = float(values.abs().max())
    if not 0 < largest < math.inf:
        return np.zeros(len(values))
    places = round(-math.log10(torch.finfo(values.dtype).eps) * NEAR)
    return np.round((values / largest).double().cpu().numpy(), places)


def _cosine(first: Tensor | None, second: Tensor | None) -> float | None:
    if first is None or second is None:
        return None
    norms = float(first.norm()), float(second.norm())
    if not all(0 < norm < math.inf for norm in norms):
        return None
    found = float((first / norms[0] * (second / norms[1])).sum())
    return max(-1.0, min(1.0, found))


def _factor(a: Outcome, b: Outcome, kind: GradientKind) -> float | None:
    """By what the first gradient is multiplied to give the second, where one number does."""
    first, second = a.vector_gradient, b.vector_gradient
    if first is None or second is None:
        first, second = a.gradient(kind), b.gradient(kind)
    if first is None or second is None:
        return None
    size = float(first.square().sum())
    if not 0 < size < math.inf:
        return None
    factor = float((first * second).sum()) / size
    off = float((second - factor * first).abs().max())
    near = torch.finfo(first.dtype).eps ** NEAR * float(second.abs().max())
    return factor if factor and off <= near else None


def _unit(values: Tensor | None) -> Tensor | None:
    if values is None:
        return None
    norm = values.norm()
    return values / norm if float(norm) > 0 else values


# ---- What may not be compared


def _reasons(a: Outcome, b: Outcome) -> Iterator[Sentence]:
    """Why their two values say nothing side by side, the broadest reason first."""
    one, other = _spec(a), _spec(b)
    if one.name != other.name:
        yield Sentence("compare.other.loss", _two(title_word(one), title_word(other)))
        if one.group != other.group:
            groups = [word(f"group.{spec.group}", spec.group) for spec in (one, other)]
            yield Sentence("compare.other.kind", _two(*groups))
    elif one.definition is not other.definition:
        yield Sentence("compare.other.definition", _two(_convention(a), _convention(b)))
    if set(a.reads) != set(b.reads):
        read = [[*map(_reading, side.reads)] for side in (a, b)]
        yield Sentence("compare.other.inputs", _two(*read))
    yield from _other_parameters(a, b)


def _spec(outcome: Outcome) -> LossSpec:
    if outcome.spec is None:
        raise ValueError(f"{outcome.side.loss} does not stand")
    return outcome.spec


def _convention(outcome: Outcome) -> Value:
    if outcome.side.convention:
        return outcome.side.convention
    return word("ui.own_convention", "our own")


def _two(first: Value | list[Value], second: Value | list[Value]) -> Values:
    return {"first": first, "second": second}


def _reading(what: str) -> Value:
    return word(f"compare.reads.{what}", READABLE[what].meaning)


def _other_parameters(a: Outcome, b: Outcome) -> Iterator[Sentence]:
    """Another factor before the similarities, in λ or as 1/τ, and, of one loss, anything else."""
    sharp = [_sharpness(one) for one in (a, b)]
    if None not in sharp and not _alike(*sharp):
        yield Sentence("compare.other.scale", _two(*map(display_number, sharp)))
    if _spec(a).name != _spec(b).name:
        return
    for parameter in _spec(a).parameters:
        name = parameter.name
        if parameter.role in ("scale", "temperature") or name not in b.parameters:
            continue
        if _alike(a.parameters[name], b.parameters[name]):
            continue
        yield Sentence(
            "compare.other.parameter",
            {
                "name": parameter_word(name),
                **_two(*(_in_words(parameter, side.parameters[name]) for side in (a, b))),
            },
        )


def _sharpness(outcome: Outcome) -> float | None:
    """What the similarities are multiplied by in the exponent, where a parameter says so."""
    for parameter in _spec(outcome).parameters:
        value = outcome.parameters[parameter.name]
        if parameter.role in ("scale", "temperature") and isinstance(value, float):
            return 1 / value if parameter.role == "temperature" else value
    return None


def _alike(first: object, second: object) -> bool:
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=1e-12)
    return first == second


def _in_words(parameter: Parameter, value: ParameterValue) -> Value:
    if isinstance(value, bool):
        return word(f"ui.{'yes' if value else 'no'}", str(value))
    if isinstance(value, str):
        return word(f"choice.{value}", value)
    if isinstance(value, tuple):
        return ", ".join(map(display_number, value))
    return display_number(value)


def written_value(value: object) -> str:
    """A value of a parameter as the command reads it; of what is none, as much as one quotes."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple) and all(map(is_number, value)):
        return _quoted(f"[{','.join(map(written_value, value))}]")
    return typed(value) if isinstance(value, float) and math.isfinite(value) else _quoted(value)


# ---- Where they disagree most


def _apart(
    a: Outcome, b: Outcome, kind: GradientKind, batch: Batch, numbers: Sequence[int]
) -> Apart | None:
    """The pair whose shares differ most; None where they differ by rounding alone, or where one
    side has no gradient at all."""
    shares = [share for one in (a, b) if (share := _shares(one, kind)) is not None]
    if len(shares) < 2:
        return None
    differences = (shares[0] - shares[1]).abs()
    pair = int(differences.argmax())
    if float(differences[pair]) <= torch.finfo(differences.dtype).eps ** NEAR:
        return None
    here = [float(one[pair]) for one in shares]
    ranks = [int((one.abs() > one[pair].abs()).sum()) + 1 for one in shares]
    heavy = 0 if abs(here[0]) >= abs(here[1]) else 1
    sides, light = (a, b), 1 - heavy
    values: dict[str, Value | list[Value]] = {
        "pair": numbers[pair],
        "total": len(differences),
        **_of_side("heavy", sides[heavy], here[heavy], ranks[heavy]),
        **_of_side("light", sides[light], here[light], ranks[light]),
    }
    does = [_does(here[heavy]), _does(here[light])]
    told = [Sentence(f"compare.apart.{does[0]}.{does[1]}", values)]
    told += _because(sides[light], kind, batch, pair, (here[heavy], here[light]))
    return Apart(pair, (here[0], here[1]), (ranks[0], ranks[1]), tuple(told))


def _of_side(which: str, side: Outcome, share: float, rank: int) -> dict[str, Value | list[Value]]:
    called = side.called
    return {
        which: called["name"],
        f"{which}_more": called["more"],
        f"{which}_share": percent(abs(share)),
        f"{which}_rank": rank,
    }


def _shares(side: Outcome, kind: GradientKind) -> Tensor | None:
    felt = side.gradient(kind)
    total = 0.0 if felt is None else float(felt.abs().sum())
    return felt / total if felt is not None and 0 < total < math.inf else None


def _does(share: float) -> str:
    return "nothing" if share == 0 else "pulls" if share < 0 else "pushes"


def _because(
    side: Outcome, kind: GradientKind, batch: Batch, pair: int, shares: tuple[float, float]
) -> list[Sentence]:
    """Why this side does not do to the pair what the other does, where a count is the reason."""
    called, (heavy, light) = side.called, shares
    values: dict[str, Value | list[Value]] = {"light": called["name"], "light_more": called["more"]}
    gradient = side.score_gradient if kind == "score" else None
    unread = gradient is not None and bool(gradient[pair].isnan())
    if unread and not batch.positive[pair] and _of_positives(side):
        read = {"label": batch.pairs.labels[pair], "threshold": batch.threshold}
        values |= {name: display_number(value) for name, value in read.items()}
        return [Sentence("compare.because.not_positive", values)]
    stood, projected = side.stood, kind == "pair" and side.is_projected
    if stood is None or projected or heavy * light > 0:
        return []
    above, below, weighing = (
        int(counts[pair]) for counts in (stood.above, stood.below, stood.weighing)
    )
    own = stood.labels[pair]
    if heavy < 0 and above == 0 and not bool((stood.labels < own).any()):
        return [Sentence("compare.because.none_lower", values)]
    if heavy > 0 and below == 0 and not bool((stood.labels > own).any()):
        return [Sentence("compare.because.none_higher", values)]
    if light == 0 and above + below > 0 and weighing == 0:
        return [Sentence("compare.because.no_weight", {**values, "count": above + below})]
    return []


def _of_positives(side: Outcome) -> bool:
    return any(READABLE[what].positives_only for what in side.reads)
