"""Formulas with the numbers of a cell, for every cell of a step at once.

A `Symbol.live` is LaTeX with references in «…». A reference is a Python expression of the steps and
parameters at the cell's place: row r and column c, or place r of a vector, and level l of stacked
matrices. It may run over all that is left of a step: «Σ exp terms[r]», «Σ logits[r] where
positives[r]», «max distances[r]», «min distances[r]» list the largest contributions and sum up the
others. «r» and «c» alone are the names of the row and the column.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from lossprism.losses.spec import ParameterValue

# So many terms of a sum are written out; the others are one number.
MAX_TERMS_WRITTEN = 3
REFERENCE = re.compile("«([^»]+)»")
NAMES = ("r", "c")
_LISTED_TERMS = re.compile(r"(Σ exp|Σ|max|min) (.+?)(?: where (.+))?")
_FUNCTIONS = {
    "len": len,
    "log": lambda x: torch.as_tensor(x, dtype=torch.float64).log(),
    "cos": lambda x: torch.as_tensor(x, dtype=torch.float64).cos(),
    "sin": lambda x: torch.as_tensor(x, dtype=torch.float64).sin(),
    "either": lambda one, other, by: torch.where(by, one, other),
    "tensor": torch.as_tensor,
}


@dataclass(frozen=True, eq=False)
class ListedTerms:
    """The terms that a reference runs over.

    `kind` is "Σ exp", "Σ", "max" or "min"; `places` [rows or 1, columns or 1, parts] are the terms
    written out (−1: no more); `left` counts the others and `rest` is their sum (for "Σ exp" its
    logarithm).
    """

    kind: str
    places: Tensor
    left: Tensor
    rest: Tensor


@dataclass(frozen=True, eq=False)
class Numbers:
    """Values of one reference: `values` [rows or 1, columns or 1, parts].

    `of` is the step or parameter they come from, `at` the part of the matrix they belong to: "row",
    "column", "cell", or "" for all of it. `over` describes the terms of a reference that runs over
    several.
    """

    of: str
    at: str
    values: Tensor
    over: ListedTerms | None = None


def live_formula(live: str | Mapping[str, str], parameters: Mapping[str, ParameterValue]) -> str:
    """Return the live formula for these parameters; "" if there is none."""
    if isinstance(live, str):
        return live
    # The conditions are those of our own `LossSpec`s, as the references are.
    named = defaultdict(lambda: None, parameters)  # None for one that the loss does not have
    holds = (formula for when, formula in live.items() if not when or eval(when, {}, named))
    return next(holds, "")


def references(live: str) -> Iterator[str]:
    """Yield the references of a live formula that need numbers."""
    return (reference for reference in REFERENCE.findall(live) if reference not in NAMES)


def numbers_of(
    reference: str, index: Mapping[str, Tensor], values: Mapping[str, object]
) -> Numbers:
    """Evaluate a reference for every cell shown.

    `index` has the places l, r and c in shapes that broadcast to [rows, columns]; `values` has the
    steps and parameters by name.
    """
    over = _LISTED_TERMS.fullmatch(reference)
    kind, expression, where = over.groups() if over else ("", reference, None)
    scope = _Scope(index, values)
    term_values = scope.evaluated(expression, runs_over=bool(over))
    of, at = scope.of, scope.at
    if not over:
        return Numbers(of, at, term_values)
    present = ~term_values.isneginf()
    if where:
        present = present & (scope.evaluated(where, runs_over=True) > 0)
    weight = {"Σ": term_values.abs(), "min": -term_values}.get(kind, term_values)
    count = min(MAX_TERMS_WRITTEN, term_values.shape[-1])
    order, places = weight.masked_fill(~present, -torch.inf).topk(count)
    others = present.scatter(-1, places, False)
    if kind == "Σ exp":
        rest = term_values.masked_fill(~others, -torch.inf).logsumexp(dim=-1)
    else:
        rest = term_values.masked_fill(~others, 0).sum(dim=-1)
    places_written = places.masked_fill(order.isneginf(), -1)
    over_terms = ListedTerms(kind, places_written, others.sum(dim=-1), rest)
    return Numbers(of, at, term_values.gather(-1, places), over_terms)


class _Scope(dict):
    """The names available to an expression; records which ones it uses."""

    def __init__(self, index: Mapping[str, Tensor], values: Mapping[str, object]) -> None:
        super().__init__({**values, **index})
        self._index, self._used = index, []

    def __getitem__(self, name: str) -> object:
        value = super().__getitem__(name)
        self._used.append(name)
        return value

    def evaluated(self, expression: str, *, runs_over: bool) -> Tensor:
        """Evaluate to [rows or 1, columns or 1, terms]; one term unless the reference runs over
        them."""
        # The expressions are those of our own `LossSpec`s, beside the definitions they explain.
        values = torch.as_tensor(eval(expression, _FUNCTIONS, self)).cpu().double()
        if not self._index.keys() & set(self._used):
            return values.reshape(1, 1, -1)
        return values.flatten(start_dim=2) if runs_over else values[..., None]

    @property
    def of(self) -> str:
        """The name of the step or parameter read; a switch only selects one."""
        used = [n for n in self._used if n not in self._index and not isinstance(self.get(n), bool)]
        return used[0] if used else ""

    @property
    def at(self) -> str:
        letters = self._index.keys() & set(self._used)
        if "c" not in self._index:  # a vector is drawn as one row
            return "column" if letters else ""
        row, column = letters & {"l", "r"}, "c" in letters
        return "cell" if row and column else "row" if row else "column" if column else ""
