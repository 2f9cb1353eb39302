"""Rules that a definition takes as functions: candidates that count, biases on logits.

A rule is a function of a matrix [N, K], bound to its settings by `functools.partial`. Several rules
make one function: masks joined by "and", biases by "+".
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch import Tensor

Rule = Callable[..., Tensor]


@dataclass(frozen=True)
class Rules:
    """Rules as one function; "&" and "|" join masks, "+" adds biases."""

    operator: str
    rules: tuple[Rule, ...]

    def __call__(self, cells: Tensor, **beside: Tensor) -> Tensor:
        """Apply all rules to cells [N, K]; each takes what it names from `beside`."""
        results = (rule(cells, **_taken(rule, beside)) for rule in self.rules)
        return functools.reduce(_OPERATORS[self.operator], results)


_OPERATORS: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "&": lambda first, second: first & second,
    "|": lambda first, second: first | second,
    "+": lambda first, second: first + second,
}


def _taken(rule: Rule, beside: Mapping[str, Tensor]) -> dict[str, Tensor]:
    if isinstance(rule, Rules):
        return dict(beside)
    names = _parameters(rule.func if isinstance(rule, functools.partial) else rule)
    return {name: value for name, value in beside.items() if name in names}


@functools.cache
def _parameters(function: Rule) -> frozenset[str]:
    return frozenset(inspect.signature(function).parameters)
