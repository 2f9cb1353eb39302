"""What a loss owes its reader: formula, symbols, parameters, landmarks, conventions.

A `LossSpec` stands beside each definition as plain data. It never computes the loss; the
explorer runs the definition and looks names up here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from torch import Tensor

GROUPS = ("pair_scores", "in_batch", "distances", "prototypes", "own")

# What a batch can hand to a loss. `LossSpec.reads` maps argument names to these.
READABLE = (
    "scores",  # [N] similarity of each pair
    "labels",  # [N] what the user gave each pair
    "binary_labels",  # [N] 1 at or above the threshold
    "unit_labels",  # [N] labels brought to 0..1
    "level_scores",  # [L, N] similarities at several levels
    "pair_logits",  # [N, 2] a two-node output for each pair
    "pair_classes",  # [N] the binary labels as class numbers
    "first",  # [N, D] vectors of the first sentences
    "second",  # [N, D] vectors of the second sentences
    "queries",  # [M, D] first sentences of the positive pairs
    "keys",  # [M, D] second sentences of the positive pairs
    "negatives",  # [Q, D] second sentences of the other pairs
    "embeddings",  # [S, D] every distinct sentence
    "classes",  # [S] connected components of the positive pairs
    "paired_classes",  # [S] the same, for a loss that forms all pairs within each class
    "prototypes",  # [C, D] class means
)


@dataclass(frozen=True)
class Parameter:
    """A keyword of a loss as a person moves it: default, range, symbol.

    A parameter with `choices` is picked, a boolean default is switched, a tuple default is a
    list of numbers, anything else is a number between `minimum` and `maximum`.
    """

    name: str
    default: float | bool | str | tuple[float, ...]
    symbol: str = ""
    minimum: float = 0.0
    maximum: float = 1.0
    step: float = 0.01
    logarithmic: bool = False
    choices: tuple[str, ...] = ()

    @property
    def kind(self) -> str:
        if self.choices:
            return "choice"
        if isinstance(self.default, bool):
            return "switch"
        return "list" if isinstance(self.default, tuple) else "number"


@dataclass(frozen=True)
class Symbol:
    """How a named intermediate is written, and what its rows and columns are.

    `axes` are axis names ("pair", "query", "key", "view", "sentence", "class", "triplet",
    "level", "dimension"). `live` is the right-hand side for one cell with the names of other
    intermediates and parameters in «…», indexed by row r and column c: ``«scores[r]»``. What can
    never be below 0 is not `signed`: 0 is then the end of its scale and not the middle.
    """

    latex: str
    axes: tuple[str, ...] = ()
    live: str = ""
    signed: bool = True


@dataclass(frozen=True)
class Convention:
    """The same loss as another library computes it: other parameters, or another definition.

    A definition of its own may bring its formula, its symbols and what it reads with it; it has
    a step of the name that `LossSpec.terms` gives. What is left empty is as in the loss. The
    same number for training, checked and fast, is `function`, if there is one.
    """

    name: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    definition: Callable[..., Tensor] | None = None
    formula: str = ""
    symbols: Mapping[str, Symbol] = field(default_factory=dict)
    reads: Mapping[str, str] = field(default_factory=dict)
    function: Callable[..., Tensor] | None = None


@dataclass(frozen=True)
class LossSpec:
    """Everything a page, a test or a reader needs to know of one loss.

    `terms` names the step whose gradient is the weight of each single term. `collapse` is the
    value when all embeddings are equal and `floor` the least value that any embedding reaches;
    both are called with the loss's inputs and parameters, and may answer None. `order` says
    where it stands among the losses of its group. `variants` holds the formula that takes the
    place of `formula` at a parameter's value, under "name=value" (true and false in lower case).
    """

    function: Callable[..., Tensor]
    title: str
    formula: str
    group: str = "own"
    definition: Callable[..., Tensor] | None = None
    symbols: Mapping[str, Symbol] = field(default_factory=dict)
    parameters: tuple[Parameter, ...] = ()
    reads: Mapping[str, str] = field(default_factory=dict)
    terms: str = ""
    collapse: Callable[..., float | None] | None = None
    collapse_formula: str = ""
    floor: Callable[..., float | None] | None = None
    floor_formula: str = ""
    references: tuple[str, ...] = ()
    conventions: tuple[Convention, ...] = ()
    order: int = 100
    variants: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.group not in GROUPS:
            raise ValueError(f"group is {self.group!r}; it must be one of {', '.join(GROUPS)}")
        set_once = object.__setattr__  # frozen from here on
        set_once(self, "definition", self.definition or self.function)
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

    def formula_at(self, **parameters: object) -> str:
        """The formula at these parameters: that of the first variant that applies."""
        for name, value in {**self.defaults, **parameters}.items():
            said = str(value).lower() if isinstance(value, bool) else str(value)
            if f"{name}={said}" in self.variants:
                return self.variants[f"{name}={said}"]
        return self.formula

    @property
    def defaults(self) -> dict[str, object]:
        return {parameter.name: parameter.default for parameter in self.parameters}

    def under(self, convention: str) -> LossSpec:
        """This loss as another library writes it. An empty name is our own convention."""
        if not convention:
            return self
        for candidate in self.conventions:
            if candidate.name == convention:
                moved = tuple(
                    replace(p, default=candidate.parameters.get(p.name, p.default))
                    for p in self.parameters
                )
                own = candidate.definition
                if own is None:
                    return replace(self, parameters=moved)
                accepted = inspect.signature(own).parameters
                return replace(
                    self,
                    definition=own,
                    formula=candidate.formula or self.formula,
                    variants={} if candidate.formula else self.variants,
                    symbols={**self.symbols, **candidate.symbols},
                    parameters=tuple(p for p in moved if p.name in accepted),
                    reads=candidate.reads or self.reads,
                    collapse=None,
                    floor=None,
                )
        known = ", ".join(c.name for c in self.conventions) or "none"
        raise ValueError(f"{self.name} has no convention {convention!r}; it has: {known}")


def _reads_by_name(function: Callable[..., Tensor]) -> dict[str, str]:
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return {
        name: name
        for name, argument in inspect.signature(function).parameters.items()
        if argument.kind in positional or name in READABLE
    }


def spec_of(function: Callable[..., Tensor]) -> LossSpec:
    """A `LossSpec` for a function that came without one.

    Positional arguments must bear names a batch can fill (`READABLE`); keyword-only numbers
    become parameters that run from 0 to four times their default.
    """
    parameters = []
    for name, argument in inspect.signature(function).parameters.items():
        default = argument.default
        if argument.kind is not inspect.Parameter.KEYWORD_ONLY or name in READABLE:
            continue
        if isinstance(default, bool):
            parameters.append(Parameter(name, default))
        elif isinstance(default, int | float):
            reach = 4 * abs(default) or 1.0
            low = -reach if default < 0 else 0.0
            parameters.append(Parameter(name, float(default), "", low, reach, reach / 200))
    return LossSpec(
        function=function,
        title=function.__name__.replace("_", " "),
        formula="",
        parameters=tuple(parameters),
        terms="terms",
    )
