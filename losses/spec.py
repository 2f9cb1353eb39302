"""Facts about a loss: formula, symbols, parameters, reference values, conventions.

A `LossSpec` is plain data beside each definition. It never computes the loss; the explorer runs the
definition and looks names up here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from lossprism.losses.definition_input_checks import with_checked_inputs
from lossprism.losses.inputs_that_losses_may_read import (
    LISTS,
    POSITIVES,
    READABLE,
    TEACHER,
    TEACHER_VECTORS,
    Readable,
)
from lossprism.losses.library_peer_record import Peer
from lossprism.losses.loss_parameter import Parameter, ParameterValue
from lossprism.losses.loss_term_structures import Form
from lossprism.losses.score_kinds import SCORE_KINDS, Ends, by_kind_of_score, on_scores
from lossprism.losses.sentence_transformers_equivalent_record import Equivalent
from lossprism.losses.symbols import Symbol
from lossprism.losses.unjudged_labels import without_unjudged

GROUPS = (
    "pair_scores",
    "lists",
    "in_batch",
    "distances",
    "prototypes",
    "spread",
    "distillation",
    "combined",
    "own",
)


@dataclass(frozen=True, eq=False)  # each is itself alone, which a cache can know it by
class Convention:
    """The same loss as another library computes it: other parameters, or another definition.

    A definition of its own may bring its formula, symbols and inputs; it has a step named
    `LossSpec.terms`. Empty fields are as in the loss. `function` is the same number for training,
    checked and fast, if there is one; else `LossSpec.checked` checks the definition's inputs. A
    trainer with triplets, which a batch of pairs lacks, uses the parameters of `given_triplets`
    instead. `note` says in a sentence where the library and this differ. `equivalent`, `collapse`,
    `floor`, `with_copies` and `reach` are as in `LossSpec`, for a definition of its own; None for
    their formulas means those of the loss. `former` are earlier names, by which links, runs and
    programs still find it. `peers` compute it, beside its `equivalent`; a `printed` one is from an
    article or a question. `score` is the kind of score that it compares (`losses.score_kinds`),
    that of the loss if empty. `learned` are the parameters that the library trains with the model,
    each with a value at which the loss reaches its minimum; training starts at their defaults.
    `label_ends` and `list_weight` are as in `LossSpec`. `aliases` select it, too.
    """

    name: str
    parameters: Mapping[str, ParameterValue] = field(default_factory=dict)
    definition: Callable[..., Tensor] | None = None
    formula: str = ""
    symbols: Mapping[str, Symbol] = field(default_factory=dict)
    reads: Mapping[str, str] = field(default_factory=dict)
    function: Callable[..., Tensor] | None = None
    given_triplets: Mapping[str, object] = field(default_factory=dict)
    note: str = ""
    equivalent: Callable[..., Equivalent | None] | None = None
    collapse: Callable[..., float | None] | None = None
    floor: Callable[..., float | None] | None = None
    collapse_formula: str | None = None
    floor_formula: str | None = None
    with_copies: Callable[..., float] | None = None
    reach: Callable[..., float] | None = None
    former: tuple[str, ...] = ()
    peers: tuple[Peer, ...] = ()
    printed: bool = False
    score: str = ""
    learned: Mapping[str, ParameterValue] = field(default_factory=dict)
    label_ends: Ends | None = None
    list_weight: Callable[[Tensor], float] | None = None
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Part:
    """A term of a loss made of losses (`losses.combined`): `weight` times `spec` on the batch.

    The names of its steps are prefixed with `label` and "_". `weight` is the name of a parameter of
    the whole, and `parameters` maps the part's own parameters to those of the whole. `given` maps
    its arguments to their sources: names in `READABLE`, or expressions of these. `prefix` is the
    number of dimensions of the vectors that it sees, or, up to 1, their share; None for all.
    `length` is the parameter for the length of its queue, if it has one. A part of something other
    than a sum has no `weight`.
    """

    label: str
    spec: LossSpec
    weight: str
    parameters: Mapping[str, str]
    given: Mapping[str, str]
    prefix: float | None = None
    length: str = ""


def as_function(*_: Tensor, **__: object) -> Tensor:
    """Return a `LossSpec` whose definition also serves as its function."""
    raise NotImplementedError


@dataclass(frozen=True)
class LossSpec:
    """Everything that a page, a test or a reader needs to know about a loss.

    `about` describes it in a sentence, and `steps` each step that no other loss of its group has,
    by name. These, `title`, `note` and a parameter's `label` are the English words; translations
    are in `explorer/locale`.

    `reads` maps each input to its source, a name in `READABLE`; left out, each has its own name.
    `terms` names the step whose gradient is the weight of each term. `collapse` is the value for
    equal embeddings and `floor` the least value that any embedding reaches; both are called with
    the loss's inputs and parameters, and may return None; a floor that is only a lower bound is a
    `losses.minimum.Bound`. `reach`, called with the parameters, is the largest distance of two unit
    vectors, for a hinge of distances with a margin beyond it. `variants` holds the formula that
    replaces `formula` at a parameter's value, under "name=value" (true and false in lower case).
    `note` is a remark that a reader of its numbers needs. `form` is the form of its terms
    (`losses.loss_term_structures`), if it has one. `equivalent`, called with the parameters, is the
    same in sentence-transformers (`losses.sentence_transformers_equivalent_record`). `counted` is a
    formula of the candidates that count when texts are known, for a loss that reads them. `aliases`
    are other common names, among them those of libraries' classes. `selectors` names boolean steps
    that distinguish cells; all others are masks. `parts` are the terms of a loss made of losses.
    `peers` are other implementations, beside its `equivalent`. `without_others` are parameter
    values at which it takes no other row of the batch as a negative: empty if it never does, None
    if it always does. `convention` is the one it is written in, as set by `under`. `negatives`
    names the steps whose cells compare a query, or a view, with a negative of the batch.
    `with_copies` is the least value in a batch where some negatives duplicate the row's target or,
    except with dot products, the row itself: it is called with their number in each row for each of
    these steps, [R], and with the parameters. `score` is the kind of score that it compares, on
    which `collapse` and `floor` may depend. `formulas_unbounded` has the formulas of these two
    ("collapse", "floor") that differ for unbounded scores; for a loss on such scores, those for
    bounded scores. `learned` is as in `Convention`. `label_ends` are the ends of the labels that it
    accepts as they are; beyond them it has no minimum, or one above 0. `list_weight`, called with
    the labels of a list, is the list's weight among others; without it all lists weigh the same.
    """

    function: Callable[..., Tensor]
    title: str
    formula: str
    about: str = ""
    steps: Mapping[str, str] = field(default_factory=dict)
    group: str = "own"
    definition: Callable[..., Tensor] = as_function
    symbols: Mapping[str, Symbol] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    reads: Mapping[str, str] = field(default_factory=dict)
    terms: str = ""
    collapse: Callable[..., float | None] | None = None
    collapse_formula: str = ""
    floor: Callable[..., float | None] | None = None
    floor_formula: str = ""
    reach: Callable[..., float] | None = None
    references: tuple[str, ...] = ()
    conventions: tuple[Convention, ...] = ()
    variants: Mapping[str, str] = field(default_factory=dict)
    form: Form | None = None
    note: str = ""
    equivalent: Callable[..., Equivalent | None] | None = None
    counted: str = ""
    aliases: tuple[str, ...] = ()
    selectors: tuple[str, ...] = ()
    parts: tuple[Part, ...] = ()
    peers: tuple[Peer, ...] = ()
    without_others: Mapping[str, object] | None = None
    negatives: tuple[str, ...] = ()
    with_copies: Callable[..., float] | None = None
    convention: str = ""
    score: str = "cosine"
    formulas_unbounded: Mapping[str, str] = field(default_factory=dict)
    learned: Mapping[str, ParameterValue] = field(default_factory=dict)
    label_ends: Ends | None = None
    list_weight: Callable[[Tensor], float] | None = None

    def __post_init__(self) -> None:
        if self.score not in SCORE_KINDS:
            raise ValueError(f"score is {self.score!r}; it must be one of {', '.join(SCORE_KINDS)}")
        if self.group not in GROUPS:
            raise ValueError(f"group is {self.group!r}; it must be one of {', '.join(GROUPS)}")
        set_once = object.__setattr__  # frozen from here on
        if self.definition is as_function:
            set_once(self, "definition", self.function)
        if not self.reads:
            set_once(self, "reads", _reads_by_name(self.function))
        unknown = set(self.reads.values()) - set(READABLE)
        if unknown:
            raise ValueError(
                f"{self.name} reads {', '.join(sorted(unknown))}; "
                f"a batch offers {', '.join(READABLE)}"
            )

    @property
    def name(self) -> str:
        return self.function.__name__

    @property
    def checked(self) -> Callable[..., Tensor]:
        """The loss with checked inputs, for training: `function`, or that of the convention, or a
        bare definition with checks by what it reads."""
        chosen = next((one for one in self.conventions if one.name == self.convention), None)
        if chosen is None or chosen.definition is None:
            return self.function
        return chosen.function or with_checked_inputs(chosen.definition, self.reads)

    @property
    def readings(self) -> tuple[Readable, ...]:
        """The entries of `READABLE` for all inputs of the loss."""
        return tuple(READABLE[what] for what in self.reads.values())

    @property
    def needs(self) -> frozenset[str]:
        """Requirements for the loss to learn anything: see `Readable.needs`."""
        return frozenset(need for reading in self.readings for need in reading.needs)

    @property
    def learns_from_positives(self) -> bool:
        """Return whether positive pairs suffice, without pairs of other labels."""
        return self.needs <= {*POSITIVES, *LISTS, *TEACHER, *TEACHER_VECTORS}

    @property
    def needs_positives(self) -> bool:
        """Return whether it learns nothing without a positive pair."""
        return bool(self.needs & {"sides", "positives"})

    @property
    def by_threshold(self) -> bool:
        """Return whether it depends on which pairs count as positive."""
        return any(reading.by_threshold for reading in self.readings)

    @property
    def by_range(self) -> bool:
        """Return whether it depends on the ends of the labels' scale, beside the threshold."""
        return any(reading.by_range for reading in self.readings)

    @property
    def reads_scores_only(self) -> bool:
        """Return whether data of each pair suffice, without vectors."""
        known = ("scores", "labels", "groups", "teacher")
        return all(reading.made_of in known for reading in self.readings)

    @property
    def compares_pairs(self) -> bool:
        """Return whether it compares labelled pairs with each other, in lists those of the same
        list."""
        among = any(symbol.axes == ("pair", "pair") for symbol in self.symbols.values())
        of_pairs = all("pair" in reading.axes for reading in self.readings)
        return among and of_pairs and self.reads_labels

    @property
    def label_argument(self) -> str:
        """The argument for the labels, of a loss that reads them."""
        return next(n for n, what in self.reads.items() if READABLE[what].made_of == "labels")

    def weight_of_list(self, labels: Tensor) -> float:
        """Return the weight of a list with these labels [K]; 0 if all are equal."""
        if len(labels.unique()) < 2:
            return 0.0
        return self.list_weight(labels) if self.list_weight else 1.0

    @property
    def reads_labels(self) -> bool:
        return any(reading.made_of == "labels" for reading in self.readings)

    @property
    def reads_scores(self) -> bool:
        return any(reading.made_of == "scores" for reading in self.readings)

    @property
    def similarity(self) -> str:
        """The default pair score of a bi-encoder: "cosine" or "dot"."""
        return "dot" if self.score == "dot" and self.reads_scores else "cosine"

    @property
    def reads_guide(self) -> bool:
        """Return whether it filters negatives by a second encoder."""
        return any("guide_dimension" in reading.axes for reading in self.readings)

    @property
    def reads_teacher(self) -> bool:
        """Return whether it learns from another model: its scores, or its vectors."""
        return bool(self.needs & {*TEACHER, *TEACHER_VECTORS})

    @property
    def reads_texts(self) -> bool:
        """Return whether it can leave out keys with the text of the query or its own key."""
        return any(reading.made_of == "texts" for reading in self.readings)

    @property
    def of_positives(self) -> bool:
        """Return whether its rows are positive pairs, whatever else is in the batch."""
        return "positives" in self.needs and "prototypes" not in self.reads.values()

    @property
    def negatives_of_batch(self) -> bool:
        """Return whether its negatives are the rest of the batch, at its own parameters."""
        if not self.of_positives or self.without_others is None:
            return self.of_positives
        own = self.defaults
        return any(own.get(name) != value for name, value in self.without_others.items())

    @property
    def reads_vectors(self) -> bool:
        return any(reading.made_of == "vectors" for reading in self.readings)

    def formula_at(self, **parameters: object) -> str:
        """Return the formula at these parameters: that of the first variant that applies."""
        for name, value in {**self.defaults, **parameters}.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if f"{name}={text}" in self.variants:
                return self.variants[f"{name}={text}"]
        return self.formula

    @property
    def defaults(self) -> dict[str, ParameterValue]:
        return {parameter.name: parameter.default for parameter in self.parameters}

    def beyond_reach(self, parameters: Mapping[str, object]) -> tuple[float, float] | None:
        """Return a margin larger than any distance of two unit vectors, and that distance; else
        None."""
        for one in self.parameters:
            value = parameters[one.name]
            if one.role == "margin" and self.reach is not None and isinstance(value, int | float):
                reach = self.reach(**parameters)
                return (float(value), reach) if value > reach else None
        return None

    def scored_as(self, kind: str) -> LossSpec:
        """Return this loss on scores of another kind, with its minimum and value at collapse.

        Raises ValueError for a kind that is not in `SCORE_KINDS`.
        """
        if kind not in SCORE_KINDS:
            raise ValueError(f"score is {kind!r}; it must be one of {', '.join(SCORE_KINDS)}")
        if kind == self.score:
            return self
        swapped = SCORE_KINDS[kind].bounded != SCORE_KINDS[self.score].bounded
        unbounded = self.formulas_unbounded if swapped else {}
        other = {n: t for n, t in unbounded.items() if by_kind_of_score(getattr(self, n))}
        before = {name: getattr(self, f"{name}_formula") for name in other}
        return replace(
            self,
            score=kind,
            collapse=self.collapse and on_scores(self.collapse, kind),
            floor=self.floor and on_scores(self.floor, kind),
            collapse_formula=other.get("collapse", self.collapse_formula),
            floor_formula=other.get("floor", self.floor_formula),
            formulas_unbounded={**self.formulas_unbounded, **before},
            parts=tuple(replace(part, spec=part.spec.scored_as(kind)) for part in self.parts),
        )

    @property
    def former_conventions(self) -> dict[str, str]:
        """Earlier names of conventions, each with its current name."""
        return {old: one.name for one in self.conventions for old in one.former}

    def present(self, convention: str) -> str:
        """Return the current name of a convention; an unknown one is unchanged."""
        return self.former_conventions.get(convention, convention)

    def for_given_triplets(self, convention: str) -> Mapping[str, object]:
        """Return the parameters that a convention changes for given triplets."""
        apart = (one.given_triplets for one in self.conventions if one.name == convention)
        return next(apart, {})

    def under(self, convention: str, *, given_triplets: bool = False) -> LossSpec:
        """Return this loss as another library writes it; for given triplets, with the parameters
        that it changes for these. An empty name is our own convention."""
        if not convention:
            return self
        convention = self.present(convention)
        for candidate in self.conventions:
            if candidate.name == convention:
                apart = candidate.given_triplets if given_triplets else {}
                settings: dict[str, Any] = {**candidate.parameters, **apart}
                moved = tuple(
                    replace(p, default=settings.get(p.name, p.default)) for p in self.parameters
                )
                own = candidate.definition
                spec = replace(
                    self,
                    parameters=moved,
                    symbols={**self.symbols, **candidate.symbols},
                    reads=candidate.reads or self.reads,
                    note=candidate.note or self.note,
                    equivalent=candidate.equivalent or (self.equivalent if own is None else None),
                    peers=candidate.peers,
                    convention=convention,
                    learned=candidate.learned,
                    label_ends=candidate.label_ends,
                    list_weight=candidate.list_weight,
                )
                if own is not None:
                    accepted = inspect.signature(own).parameters
                    spec = replace(
                        spec,
                        definition=own,
                        formula=candidate.formula or self.formula,
                        variants={} if candidate.formula else self.variants,
                        parameters=tuple(p for p in moved if p.name in accepted),
                        collapse=candidate.collapse,
                        collapse_formula=_or_else(
                            candidate.collapse_formula, self.collapse_formula
                        ),
                        floor=candidate.floor,
                        floor_formula=_or_else(candidate.floor_formula, self.floor_formula),
                        with_copies=candidate.with_copies,
                        reach=candidate.reach,
                    )
                return without_unjudged(spec).scored_as(candidate.score or self.score)
        known = ", ".join(c.name for c in self.conventions) or "none"
        raise ValueError(f"{self.name} has no convention {convention!r}; it has: {known}")


def _or_else(own: str | None, otherwise: str) -> str:
    return otherwise if own is None else own


def _reads_by_name(function: Callable[..., Tensor]) -> dict[str, str]:
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return {
        name: name
        for name, argument in inspect.signature(function).parameters.items()
        if argument.kind in positional or name in READABLE
    }
