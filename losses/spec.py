"""What a loss owes its reader: formula, symbols, parameters, landmarks, conventions.

A `LossSpec` stands beside each definition as plain data. It never computes the loss; the
explorer runs the definition and looks names up here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import Tensor

from losses.checked_inputs import with_checked_inputs
from losses.equivalents import Equivalent
from losses.forms import Form
from losses.peers import Peer
from losses.readings import LISTS, POSITIVES, READABLE, TEACHER, TEACHER_VECTORS, Readable
from losses.scores import SCORE_KINDS, Ends, by_kind_of_score, on_scores
from losses.symbols import Parameter, ParameterValue, Symbol
from losses.unjudged import without_unjudged

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


@dataclass(frozen=True)
class Convention:
    """The same loss as another library computes it: other parameters, or another definition.

    A definition of its own may bring its formula, its symbols and what it reads with it; it has a
    step of the name that `LossSpec.terms` gives. What is left empty is as in the loss. The same
    number for training, checked and fast, is `function`, if there is one; else `LossSpec.checked`
    checks what the definition is given. A trainer that is given triplets, which a batch of pairs
    has not, takes the parameters of `given_triplets` in place of those. `note` says where the
    library and this part, in a sentence. `equivalent`, `collapse`, `floor`, `with_copies` and
    `reach` are as in `LossSpec`, for a definition of its own; their formulas are those of the loss
    where None is given. `former` are names that it had, by which links, runs and programs still
    find it. `peers` compute it, beside its `equivalent`; one that is `printed` stands in an article
    or in a question. `score` is the kind of score that it compares (`losses.scores`), that of the
    loss where it is empty. `learned` are the parameters that the library trains with the model,
    each with a value at which the loss reaches its minimum; their defaults are where the training
    starts. `label_ends` and `list_weight` are as in `LossSpec`. `aliases` select it, too.
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
    """One term of a loss made of losses (`losses.combined`): `weight` times `spec` on the batch.

    The steps of its definition have `label` and "_" in front of their names. `weight` is the name
    of a parameter of the whole, and `parameters` has by the part's own names what its parameters
    are called there. `given` has by its arguments what hands them over: names in `READABLE`, or
    expressions of these. `prefix` is how many dimensions of the vectors it sees, or, below or at 1,
    which share of them; None where it sees them as they are. `length` is the parameter that says
    how long its queue is, of one that has a queue. What is no sum has no `weight`.
    """

    label: str
    spec: LossSpec
    weight: str
    parameters: Mapping[str, str]
    given: Mapping[str, str]
    prefix: float | None = None
    length: str = ""


def as_function(*_: Tensor, **__: object) -> Tensor:
    """A `LossSpec` without a definition of its own: its function is its definition."""
    raise NotImplementedError


@dataclass(frozen=True)
class LossSpec:
    """Everything a page, a test or a reader needs to know of one loss.

    `about` says in a sentence what it does, and `steps` what each step is that no other loss of
    its group has, by its name. These, `title`, `note` and a parameter's `label` are the English
    words; translations stand in `explorer/locale`.

    `terms` names the step whose gradient is the weight of each single term. `collapse` is the
    value when all embeddings are equal and `floor` the least value that any embedding reaches;
    both are called with the loss's inputs and parameters, and may answer None; a floor that only
    bounds the loss is a `losses.minimum.Bound`. `reach`, called with the parameters, is the
    largest distance of two unit vectors, for a hinge of distances whose margin no vectors reach
    beyond that. `variants` holds the
    formula that takes the place of `formula` at a parameter's value, under "name=value" (true and
    false in lower case). `note` is what a reader of its numbers must know beside the formula.
    `form` is the form of its terms, where it has one of `losses.forms`. `equivalent`, called with
    the parameters, is the same in sentence-transformers (`losses.equivalents`). `counted` says, as
    a formula, which candidates count where texts are known, for a loss that reads them. `aliases`
    are other names by which people know it, among them those of libraries' classes. `selectors`
    names the steps of bools that tell kinds of cells apart; all others are masks. `parts` are what
    a loss made of losses is the sum of. `peers` are who else computes it, beside its `equivalent`.
    `without_others` are values of parameters at which it takes no other row of the batch for a
    negative: empty where it never does, None where it always does. `convention` is the one that it
    is written in, as `under` gave it. `negatives` names the steps in whose cells a query, or a
    view, stands against a negative of the batch; none for a loss that has no such cells.
    `with_copies` is the least value in a batch some of whose negatives are what the row looks for
    or, unless dot products are read, itself: it is called with how many of them each row has in
    each of these steps, [R], and with the parameters. `score` is the kind of score that it
    compares, on which `collapse` and `floor` may depend. `formulas_unbounded` has the formulas of
    these two ("collapse", "floor") where they are others for scores without ends; of a loss on such
    scores it has those for scores between ends. `learned` is as in `Convention`. `label_ends` are
    the ends between which labels mean something to it, where it takes them as they are; beyond
    them it has no minimum, or one above 0. `list_weight`, called with the labels of a list, is how
    much the list counts among others; without it all lists count alike.
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
        """The loss with checked inputs, for training: `function`, or that of the convention. A
        convention that is a bare definition has its inputs checked by what they read."""
        chosen = next((one for one in self.conventions if one.name == self.convention), None)
        if chosen is None or chosen.definition is None:
            return self.function
        return chosen.function or with_checked_inputs(chosen.definition, self.reads)

    @property
    def readings(self) -> tuple[Readable, ...]:
        """What `READABLE` says of all that the loss reads."""
        return tuple(READABLE[what] for what in self.reads.values())

    @property
    def needs(self) -> frozenset[str]:
        """What must be there for the loss to learn anything: see `Readable.needs`."""
        return frozenset(need for reading in self.readings for need in reading.needs)

    @property
    def learns_from_positives(self) -> bool:
        """Whether positive pairs suffice, without pairs of other labels."""
        return self.needs <= {*POSITIVES, *LISTS, *TEACHER, *TEACHER_VECTORS}

    @property
    def needs_positives(self) -> bool:
        """Whether it learns nothing without a positive pair."""
        return bool(self.needs & {"sides", "positives"})

    @property
    def by_threshold(self) -> bool:
        """Whether it matters which pairs count as positive."""
        return any(reading.by_threshold for reading in self.readings)

    @property
    def by_range(self) -> bool:
        """Whether it matters which ends the scale of the labels has, beside the threshold."""
        return any(reading.by_range for reading in self.readings)

    @property
    def reads_scores_only(self) -> bool:
        """Whether what is known of each pair suffices, without vectors."""
        known = ("scores", "labels", "groups", "teacher")
        return all(reading.made_of in known for reading in self.readings)

    @property
    def compares_pairs(self) -> bool:
        """Whether it compares labelled pairs with each other: in lists, those of the same list."""
        among = any(symbol.axes == ("pair", "pair") for symbol in self.symbols.values())
        of_pairs = all("pair" in reading.axes for reading in self.readings)
        return among and of_pairs and self.reads_labels

    @property
    def label_argument(self) -> str:
        """The argument that takes the labels, of a loss that reads them."""
        return next(n for n, what in self.reads.items() if READABLE[what].made_of == "labels")

    def weight_of_list(self, labels: Tensor) -> float:
        """How much a list of these labels [K] counts; 0 without two that differ."""
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
        """What the pair scores of a bi-encoder are where nobody chooses: "cosine" or "dot"."""
        return "dot" if self.score == "dot" and self.reads_scores else "cosine"

    @property
    def reads_guide(self) -> bool:
        """Whether it asks a second encoder which negatives to believe."""
        return any("guide_dimension" in reading.axes for reading in self.readings)

    @property
    def reads_teacher(self) -> bool:
        """Whether it learns from another model: its scores, or its vectors."""
        return bool(self.needs & {*TEACHER, *TEACHER_VECTORS})

    @property
    def reads_texts(self) -> bool:
        """Whether it can leave keys out whose text is the query's or the own key's."""
        return any(reading.made_of == "texts" for reading in self.readings)

    @property
    def of_positives(self) -> bool:
        """Whether its rows are positive pairs, among whatever else stands in the batch."""
        return "positives" in self.needs and "prototypes" not in self.reads.values()

    @property
    def negatives_of_batch(self) -> bool:
        """Whether its negatives are whatever else stands in the batch, at its own parameters."""
        if not self.of_positives or self.without_others is None:
            return self.of_positives
        own = self.defaults
        return any(own.get(name) != value for name, value in self.without_others.items())

    @property
    def reads_vectors(self) -> bool:
        return any(reading.made_of == "vectors" for reading in self.readings)

    def formula_at(self, **parameters: object) -> str:
        """The formula at these parameters: that of the first variant that applies."""
        for name, value in {**self.defaults, **parameters}.items():
            said = str(value).lower() if isinstance(value, bool) else str(value)
            if f"{name}={said}" in self.variants:
                return self.variants[f"{name}={said}"]
        return self.formula

    @property
    def defaults(self) -> dict[str, ParameterValue]:
        return {parameter.name: parameter.default for parameter in self.parameters}

    def beyond_reach(self, parameters: Mapping[str, object]) -> tuple[float, float] | None:
        """A margin that no two unit vectors have between them, and what they have; else None."""
        for one in self.parameters:
            asked = parameters[one.name]
            if one.role == "margin" and self.reach is not None and isinstance(asked, int | float):
                reach = self.reach(**parameters)
                return (float(asked), reach) if asked > reach else None
        return None

    def scored_as(self, kind: str) -> LossSpec:
        """This loss on scores of another kind: its minimum and its value at collapse follow.

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
        """What conventions were called before, each with its name of today."""
        return {old: one.name for one in self.conventions for old in one.former}

    def present(self, convention: str) -> str:
        """The name of today of a convention; of one that is not known, what was given."""
        return self.former_conventions.get(convention, convention)

    def for_given_triplets(self, convention: str) -> Mapping[str, object]:
        """The parameters that a convention has otherwise where it is given triplets."""
        apart = (one.given_triplets for one in self.conventions if one.name == convention)
        return next(apart, {})

    def under(self, convention: str, *, given_triplets: bool = False) -> LossSpec:
        """This loss as another library writes it, and where it is given triplets, with what it has
        otherwise for these. An empty name is our own convention."""
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
                found = replace(
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
                    found = replace(
                        found,
                        definition=own,
                        formula=candidate.formula or self.formula,
                        variants={} if candidate.formula else self.variants,
                        parameters=tuple(p for p in moved if p.name in accepted),
                        collapse=candidate.collapse,
                        collapse_formula=_said(candidate.collapse_formula, self.collapse_formula),
                        floor=candidate.floor,
                        floor_formula=_said(candidate.floor_formula, self.floor_formula),
                        with_copies=candidate.with_copies,
                        reach=candidate.reach,
                    )
                return without_unjudged(found).scored_as(candidate.score or self.score)
        known = ", ".join(c.name for c in self.conventions) or "none"
        raise ValueError(f"{self.name} has no convention {convention!r}; it has: {known}")


def _said(own: str | None, otherwise: str) -> str:
    return otherwise if own is None else own


def _reads_by_name(function: Callable[..., Tensor]) -> dict[str, str]:
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return {
        name: name
        for name, argument in inspect.signature(function).parameters.items()
        if argument.kind in positional or name in READABLE
    }
