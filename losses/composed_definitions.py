"""Rules that a definition takes as functions: candidates that count, biases on logits.

A rule is a function of a matrix [N, K], bound to its settings by `functools.partial`. Several rules
make one function: masks joined by "and", biases by "+". A loss with many options is a short
definition that takes such functions, and a function beside it, `composed`, that translates the
options into them. The names of a rule's settings are those of the options.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

Rule = Callable[..., Tensor]
# A definition that was chosen, and the arguments to call it with.
Choice = tuple[Callable[..., Tensor], dict[str, Any]]


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


def foldable(select: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function that only picks some of its arguments, whatever their values."""
    select.folds = True  # pyright: ignore[reportFunctionMemberAccess]
    return select


def composed(*definitions: Callable[..., Tensor]) -> Callable[[Callable[..., Choice]], Any]:
    """Make one definition of a function that chooses among `definitions`.

    The function takes the loss's inputs and options, and returns the definition to run and its
    arguments. The result takes the same and returns the loss.
    """

    def decorate(choose: Callable[..., Choice]) -> Callable[..., Tensor]:
        @functools.wraps(choose)
        def definition(*inputs: Tensor, **options: Any) -> Tensor:
            chosen, arguments = choose(*inputs, **options)
            return chosen(**arguments)

        definition.choose = choose  # pyright: ignore[reportAttributeAccessIssue]
        definition.definitions = definitions  # pyright: ignore[reportAttributeAccessIssue]
        return definition

    return decorate


def chosen_definition(definition: Callable[..., Tensor], options: Mapping[str, Any]) -> Choice:
    """Return the definition that runs for these inputs and options, and its arguments; unchanged if
    there is no choice."""
    choose = getattr(definition, "choose", None)
    return (definition, dict(options)) if choose is None else choose(**options)


def definitions_of(definition: Callable[..., Tensor]) -> tuple[Callable[..., Tensor], ...]:
    """Return all definitions that may be chosen."""
    return getattr(definition, "definitions", (definition,))
