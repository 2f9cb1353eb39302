"""The choice among short definitions of a loss, and of the rules that each takes, by its options.

A loss with many options is a short definition that takes rules
(`losses.joined_mask_and_bias_rules`) as functions, and a function beside it, `composed`, that
translates the options into them. The names of a rule's settings are those of the options.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor

# A definition that was chosen, and the arguments to call it with.
Choice = tuple[Callable[..., Tensor], dict[str, Any]]


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
