"""Difference of two formulas: shared parts, parts of one only, and parameters at different values.

Everything comes from the two traces: the statements of the definitions as operations
(`operation_graph`), the pairing of the operations (`operation_alignment`), and both set as one
formula (`aligned_latex`). No LaTeX is read back. The order of the sides does not matter: turned
around, "base" and "other" change places and nothing else.
"""

import ast
import contextlib
import difflib
import io
import keyword
import math
import textwrap
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.lab.compare.aligned_latex import as_one_formula, as_two_formulas
from lossprism.explorer.lab.compare.operation_alignment import align
from lossprism.explorer.lab.compare.operation_graph import (
    CONSTANT,
    INPUT,
    PARAMETER,
    Expression,
    Node,
    expression_of,
)
from lossprism.explorer.lab.compare.operation_latex import by_ids
from lossprism.explorer.locale import title_word
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.python_parsing_lock import parsed
from lossprism.losses.spec import ParameterValue

# Below this share of both, one joint formula would mislead.
LEAST_SHARED = 0.4

Kind = Literal["shared", "parameter", "changed", "base", "other"]


@dataclass(frozen=True)
class Number:
    """A tensor in numbers: how many cells of `count` take part (−∞ marks the absent), the `least`,
    the `mean` and the `largest` of these; of one number all three are it. True counts as 1."""

    count: int
    present: int
    least: float
    mean: float
    largest: float


@dataclass(frozen=True)
class Place:
    """Place of a piece on one side: in the statement of `step` (inputs counted first), whose whole
    result it is if `whole`.

    `says` is the name of a parameter, the reading of an input, or the text of a constant. `number`
    is None for a value that the trace does not have, or that is no number.
    """

    step: int
    whole: bool
    says: str
    value: ParameterValue | None
    number: Number | None


@dataclass(frozen=True)
class Piece:
    """An operation or leaf.

    `kind`: "shared"; "parameter", the same parameter at another value or a scale where the other
    has a temperature; "base", "other". `instead` is the place in `Difference.pieces` of the piece
    that has this place on the other side.
    """

    kind: Kind
    operation: str
    base: Place | None
    other: Place | None
    instead: int | None = None


@dataclass(frozen=True)
class StepPair:
    """A step of either trace, or one of both that is computed alike. "changed": partly."""

    kind: Kind
    base: int | None
    other: int | None


@dataclass(frozen=True)
class ParameterPair:
    """A parameter of either side; `base` and `other` are its names, None where there is none."""

    kind: Kind
    base: str | None
    other: str | None
    base_value: ParameterValue | None
    other_value: ParameterValue | None


@dataclass(frozen=True)
class CodeLine:
    """A line of either listing, or one of both that is alike but for names, or, "parameter", but
    for names and numbers. Lines are counted from 0; `base_step` is the first step of the line.
    `signature`: whether it belongs to what stands above the first statement."""

    kind: Kind
    base: int | None
    other: int | None
    base_text: str
    other_text: str
    base_step: int | None
    other_step: int | None
    signature: bool


@dataclass(frozen=True)
class Difference:
    r"""Difference of two formulas.

    `formula` is LaTeX, a line for the loss and one for each quantity that is used in several
    places, of both sides `together`, or one after the other where too little of them is shared;
    \htmlData gives for each part its `ink` (a kind) and the step of the `base` and `other` trace.
    Each step and each line of either side is in `steps` and `code` once.
    """

    formula: tuple[str, ...]
    together: bool
    pieces: tuple[Piece, ...]
    steps: tuple[StepPair, ...]
    parameters: tuple[ParameterPair, ...]
    code: tuple[CodeLine, ...]

    @property
    def is_empty(self) -> bool:
        """True if the two are one formula at one set of parameters."""
        parts = (*self.pieces, *self.steps, *self.parameters, *self.code)
        return all(part.kind == "shared" for part in parts)


def difference(base: Exploration, other: Exploration) -> Difference:
    """Compare the definitions of two losses as they were traced on one batch.

    Returns:
        The pieces of both formulas, each once; the same step by step, parameter by parameter, and
        line by line of the listings.

    Raises:
        Problem: where one is a sum of losses, which has no formula of its own.
    """
    for side in (base, other):
        if side.spec.parts:
            raise Problem("compare_sum", about="loss", loss=title_word(side.spec))
    sides = expression_of(base), expression_of(other)
    alignment = align(*sides)
    kinds: dict[int, Kind] = {}
    for one, two in alignment.pairs:
        kinds[id(one)] = kinds[id(two)] = "parameter" if _differ(one, two) else "shared"
    partner, instead = dict(by_ids(alignment.pairs)), dict(by_ids(alignment.instead))
    together = _shared(sides, alignment.pairs) >= LEAST_SHARED
    lines = as_one_formula(sides, alignment, kinds) if together else as_two_formulas(sides)
    return Difference(
        formula=tuple(lines),
        together=together,
        pieces=tuple(_pieces(sides, partner, instead, kinds)),
        steps=tuple(_steps(sides, partner, kinds)),
        parameters=tuple(_parameters(sides, partner)),
        code=tuple(_code(sides, partner)),
    )


def _shared(sides: tuple[Expression, Expression], pairs: Sequence[tuple[Node, Node]]) -> float:
    """Share of both formulas' operations and leaves but constants that are one, from 0 to 1."""
    counted = [sum(node.operation != CONSTANT for node in side.nodes) for side in sides]
    return 2 * sum(one.operation != CONSTANT for one, _ in pairs) / max(sum(counted), 1)


def _differ(one: Node, other: Node) -> bool:
    return one.operation == PARAMETER and (one.says, one.value) != (other.says, other.value)


def _pieces(
    sides: tuple[Expression, Expression],
    partner: Mapping[int, Node],
    instead: Mapping[int, Node],
    kinds: Mapping[int, Kind],
) -> Iterator[Piece]:
    first, second = (list(side.nodes) for side in sides)
    alone = [node for node in second if id(node) not in partner]
    order = {id(node): place for place, node in enumerate([*first, *alone])}
    for node in first:
        two = partner.get(id(node))
        standing = instead.get(id(node))
        yield Piece(
            kinds.get(id(node), "base"),
            node.operation,
            _place(node),
            _place(two) if two else None,
            order[id(standing)] if standing else None,
        )
    for node in alone:
        standing = instead.get(id(node))
        at = order[id(standing)] if standing else None
        yield Piece("other", node.operation, None, _place(node), at)


def _place(node: Node) -> Place:
    value = node.value if node.operation == PARAMETER else None
    return Place(node.step, node.result is not None, node.says, value, number_of(node.value))


def number_of(value: object) -> Number | None:
    """A tensor, or a number, in few numbers; None of what is neither."""
    if isinstance(value, int | float):
        value = torch.tensor(float(value), dtype=torch.float64)
    if not isinstance(value, Tensor) or value.is_complex():
        return None
    plain = value.detach().double()
    present = plain[~plain.isneginf()]
    if not present.numel():
        return Number(plain.numel(), 0, math.nan, math.nan, math.nan)
    least, mean, largest = (float(x) for x in (present.min(), present.mean(), present.max()))
    return Number(plain.numel(), present.numel(), least, mean, largest)


def _steps(
    sides: tuple[Expression, Expression], partner: Mapping[int, Node], kinds: Mapping[int, Kind]
) -> Iterator[StepPair]:
    """Yield steps in the order of the base, those of the other side alone before the next that both
    have."""
    first, second = sides
    at: dict[int, int] = {}
    for place, node in enumerate(first.results):
        two = partner.get(id(node))
        if two is not None and two.result is not None:
            at[place] = two.result
    parts = [_by_step(side, kinds) for side in sides]
    paired, yielded = set(at.values()), 0
    alone = [place for place in range(len(second.results)) if place not in paired]
    for place in range(len(first.results)):
        while place in at and yielded < len(alone) and alone[yielded] < at[place]:
            yield StepPair(_kind_of(parts[1][alone[yielded]], "other"), None, alone[yielded])
            yielded += 1
        found = parts[0][place] + (parts[1][at[place]] if place in at else [])
        yield StepPair(_kind_of(found, "base"), place, at.get(place))
    for place in alone[yielded:]:
        yield StepPair(_kind_of(parts[1][place], "other"), None, place)


def _by_step(side: Expression, kinds: Mapping[int, Kind]) -> dict[int, list[Kind | None]]:
    """The kinds of all that stands in the statement of each step; None of what has no partner."""
    found: dict[int, list[Kind | None]] = {place: [] for place in range(len(side.results))}
    for node in side.nodes:
        found[node.result if node.result is not None else node.step].append(kinds.get(id(node)))
        if node.operation != PARAMETER:  # a parameter that several steps use belongs to each
            for _, child in node.slots:
                if child.operation == PARAMETER and child.step != node.step:
                    found[node.step].append(kinds.get(id(child)))
    return found


def _kind_of(kinds: Sequence[Kind | None], alone: Kind) -> Kind:
    known = set(kinds)
    if known == {None}:
        return alone
    if None in known:
        return "changed"
    return "parameter" if "parameter" in known else "shared"


def _parameters(
    sides: tuple[Expression, Expression], partner: Mapping[int, Node]
) -> Iterator[ParameterPair]:
    """Yield every parameter once: those that are one in the formulas, those of one name, the
    others.

    Switches and choices are in no formula.
    """
    values = [side.exploration.parameters for side in sides]
    nodes = [node for node in sides[0].nodes if node.operation == PARAMETER]
    ends = {node.says: partner[id(node)].says for node in nodes if id(node) in partner}
    taken = set(ends.values())
    ends |= {
        name: name for name in values[0] if name in values[1] and name not in taken | set(ends)
    }
    for name, value in values[0].items():
        if name not in ends:
            yield ParameterPair("base", name, None, value, None)
            continue
        two = ends[name]
        kind: Kind = "shared" if (name, value) == (two, values[1][two]) else "parameter"
        yield ParameterPair(kind, name, two, value, values[1][two])
    for name, value in values[1].items():
        if name not in ends.values():
            yield ParameterPair("other", None, name, None, value)


# ---- The listings


def _code(sides: tuple[Expression, Expression], partner: Mapping[int, Node]) -> Iterator[CodeLine]:
    """The lines of both listings, aligned under one set of names."""
    texts = [side.exploration.trace.listing.splitlines() for side in sides]
    names = _common_names(sides, partner)
    plain = [_canonical(side, own) for side, own in zip(sides, names, strict=True)]
    steps = [_step_of_lines(side) for side in sides]
    first = [_first_statement(side.exploration.trace.listing) for side in sides]

    def line(base: int | None, other: int | None) -> CodeLine:
        kind: Kind = "base" if other is None else "other"
        if base is not None and other is not None:
            kind = "shared" if plain[0][base][0] == plain[1][other][0] else "parameter"
        return CodeLine(
            kind,
            base,
            other,
            "" if base is None else texts[0][base],
            "" if other is None else texts[1][other],
            None if base is None else steps[0].get(base),
            None if other is None else steps[1].get(other),
            (base is None or base < first[0]) and (other is None or other < first[1]),
        )

    done = [0, 0]
    for base, other in [*_alike(plain), (len(texts[0]), len(texts[1]))]:
        yield from (line(at, None) for at in range(done[0], base))
        yield from (line(None, at) for at in range(done[1], other))
        if base < len(texts[0]):
            yield line(base, other)
        done = [base + 1, other + 1]


def _first_statement(listing: str) -> int:
    """Return the line, counted from 0, of a function's first statement after its docstring; 0 for
    a listing that is no function."""
    try:
        function = parsed(textwrap.dedent(listing)).body[0]
    except SyntaxError:  # of a lambda the listing is the rest of its line
        return 0
    if not isinstance(function, ast.FunctionDef):
        return 0
    is_documented = ast.get_docstring(function) is not None
    return function.body[1 if is_documented and len(function.body) > 1 else 0].lineno - 1


def _alike(plain: Sequence[Sequence[tuple[str, str]]]) -> list[tuple[int, int]]:
    """Pairs of lines that are alike but for parameters and numbers.

    difflib is not symmetric: the two texts always go to it in the same order.
    """
    loose = [[line for _, line in side] for side in plain]
    turned = loose[1] < loose[0]
    first, second = reversed(loose) if turned else loose
    blocks = difflib.SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks()
    pairs = [(b.a + step, b.b + step) for b in blocks for step in range(b.size)]
    return [(other, base) for base, other in pairs] if turned else pairs


def _common_names(
    sides: tuple[Expression, Expression], partner: Mapping[int, Node]
) -> list[dict[str, str]]:
    """Names of the steps in both listings: steps that are one have one name."""
    names: list[dict[str, str]] = [{}, {}]
    for place, node in enumerate(sides[0].results):
        two = partner.get(id(node))
        mine = sides[0].steps[place].name
        if two is not None and two.result is not None:
            theirs = sides[1].steps[two.result].name
            if mine not in names[0] and theirs not in names[1]:
                names[0][mine] = names[1][theirs] = " ".join(sorted((mine, theirs)))
    return names


def _canonical(side: Expression, names: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return each line under common names, and the same without the names and values of
    parameters."""
    listing = side.exploration.trace.listing
    own = getattr(side.exploration.definition, "__name__", "")
    known = {**names, own: "«definition»"}
    lines: list[tuple[list[str], list[str]]] = [([], []) for _ in listing.splitlines()]
    for token in _tokens(listing):
        if token.type in (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.ENDMARKER):
            continue
        if token.type in (tokenize.INDENT, tokenize.DEDENT):
            continue
        text = known.get(token.string, token.string)
        loose = text
        if token.type == tokenize.NUMBER:
            loose = "#"
        elif side.parameter(token.string) and not keyword.iskeyword(token.string):
            parameter = side.parameter(token.string)
            loose = f"«{parameter.role or parameter.name}»" if parameter else text
        exact, free = lines[token.start[0] - 1]
        exact.append(text)
        free.append(loose)
    return [(" ".join(exact), " ".join(free)) for exact, free in lines]


def _tokens(listing: str) -> Iterator[tokenize.TokenInfo]:
    """The tokens of a listing; of a lambda those up to where its line is no Python by itself."""
    with contextlib.suppress(tokenize.TokenError, IndentationError):
        yield from tokenize.generate_tokens(io.StringIO(listing).readline)


def _step_of_lines(side: Expression) -> dict[int, int]:
    trace = side.exploration.trace
    steps: dict[int, int] = {}
    for place, step in enumerate(side.steps):
        if side.results[place].operation != INPUT:
            steps.setdefault(step.line - trace.first_line, place)
    return steps
