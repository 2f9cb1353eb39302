"""A loss made of losses as a `LossSpec` of its own: a sum on one batch, each part with its weight,
or losses on prefixes. It is traced, moved, trained with and exported as any other.

Its definition and its function are written as one would write them by hand, and run as Python:
assignments in them, and in the parts that they call, are its steps.
"""

import inspect
import itertools
import json
import keyword
import linecache
import re
import weakref
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor

from lossprism.losses.combined.combined_loss_names import RECIPES, SHARES, Recipe, Summand, name_of
from lossprism.losses.combined.first_dimensions_of_vectors import prefix
from lossprism.losses.combined.vector_queue import (
    LENGTH,
    NOTES,
    QUEUED,
    REFERENCES,
    current,
    earlier,
    with_earlier,
    without_owner,
)
from lossprism.losses.definition_chosen_by_options import definitions_of
from lossprism.losses.geometry import cosine
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.minimum import Bound
from lossprism.losses.query_groups import at
from lossprism.losses.spec import LossSpec, Parameter, ParameterValue, Part, Symbol
from lossprism.losses.symbols import loss_symbol

LINE_LENGTH = 100
LEAST_WEIGHT, MAX_WEIGHT = 0.001, 1000.0
# What a reading of a loss on pair scores is made of where the vectors are cut.
_SCORES_OF = ("first", "second")
# And which of the pairs' they are; all, where no name is.
_PLACES = {
    "scores": "",
    "list_scores": "list_places",
    "margin_positives": "positive_places",
    "margin_negatives": "negative_places",
}
_REFERENCE = re.compile("«([^»]+)»")
_NAME = re.compile(r"(?<![.\w])[A-Za-z_]\w*")
_COUNTER = itertools.count(1)
HELPERS: Mapping[str, Callable] = {
    helper.__name__: helper
    for helper in (prefix, cosine, at, current, earlier, with_earlier, without_owner)
}


def composed(summands: tuple[Summand, ...], losses: Mapping[str, LossSpec]) -> LossSpec:
    """Return the sum of these as a loss: Σ_k w_k L_k, every w_k at 1 or as `RECIPES` has it.

    Its inputs are those of its parts, by the names of `READABLE`. Its parameters are the weights,
    ``weight_of_angle``, and those of its parts, ``scale_of_angle``. A single loss with a queue has
    no weight.
    """
    named = name_of(summands)
    parts = tuple(part for one in summands for part in _parts_of(one, losses[one.loss]))
    if len(parts) == 1 and parts[0].length:
        parts = (replace(parts[0], weight=""),)
    reads, recipe = _reads_of(parts), RECIPES.get(named, Recipe())
    parameters = tuple(_parameters(parts, recipe.weights))
    function = _made(parts, parameters, lambda spec: spec.function)
    function.__name__ = named
    function.__doc__ = f"{named}: each loss on one batch, times its weight."
    return LossSpec(
        function=function,
        definition=_made(parts, parameters, lambda spec: spec.definition),
        title=" + ".join(_title(one, losses[one.loss]) for one in summands),
        group="combined",
        formula=_sum(parts),
        variants=_variants(parts),
        symbols=_symbols(parts, reads),
        parameters=parameters,
        reads={name: name for name in reads},
        collapse=_reference_value(parts, lambda spec: spec.collapse),
        collapse_formula=_formula(parts, lambda spec: spec.collapse_formula),
        floor=_reference_value(parts, lambda spec: spec.floor),
        floor_formula=_formula(parts, lambda spec: spec.floor_formula),
        formulas_unbounded={
            "collapse": _formula(parts, lambda spec: spec.scored_as("logit").collapse_formula),
            "floor": _formula(parts, lambda spec: spec.scored_as("logit").floor_formula),
        },
        references=tuple(
            dict.fromkeys((*recipe.references, *(r for part in parts for r in _references(part))))
        ),
        aliases=recipe.aliases,
        terms="" if parts[0].weight else f"{parts[0].label}_{parts[0].spec.terms}",
        note="" if parts[0].weight else NOTES[parts[0].spec.name],
        selectors=tuple(f"{part.label}_{name}" for part in parts for name in part.spec.selectors),
        parts=parts,
    )


def identifier_of(parts: Iterable[Part]) -> str:
    """Return a Python name for the sum: `info_nce_and_angle`."""
    named = {
        part.spec.name: ("queue_of_" if part.length else "")
        + part.spec.name
        + ("" if part.prefix is None else "_on_prefixes")
        for part in parts
    }
    return "_and_".join(named.values())


def helpers_of(parts: Iterable[Part]) -> dict[str, Callable]:
    """Return the functions that `source_of` calls beside the parts, by name."""
    used = {name for part in parts for what in part.given.values() for name in _NAME.findall(what)}
    return {name: helper for name, helper in HELPERS.items() if name in used}


def source_of(
    parts: Sequence[Part], parameters: Iterable[Parameter], called: Mapping[str, str]
) -> str:
    """Return the Python source of the sum: its arguments, a call for each part, and the loss.

    `called` maps labels of parts to the names of their functions there, and helpers to other names
    that they have.
    """
    ordered = sorted(_reads_of(parts), key=lambda what: READABLE[what].optional)  # stable
    taken = [
        f"{what}: Tensor | None = None" if READABLE[what].optional else f"{what}: Tensor"
        for what in ordered
    ]
    taken += ["*", *(f"{one.name}={_literal(one.default)}" for one in parameters)]
    lines = [f"def {identifier_of(parts)}(", *(f"    {one}," for one in taken), ") -> Tensor:"]
    helpers = {name: called.get(name, name) for name in HELPERS}
    for part in parts:
        arguments = [f"{name}={_names(what, helpers)}" for name, what in part.given.items()]
        arguments += [f"{name}={known}" for name, known in part.parameters.items()]
        lines.append(f"    {_value(part)} = {called[part.label]}(")
        lines += [f"        {one}," for one in arguments]
        lines.append("    )")
    total = " + ".join(" * ".join(filter(None, (p.weight, _value(p)))) for p in parts)
    whole = f"    loss = {total}"
    if len(whole) > LINE_LENGTH:
        whole = f"    loss = (\n        {total.replace(' + ', f'{chr(10)}        + ')}\n    )"
    return "\n".join([*lines, whole, "    return loss", ""])


def _references(part: Part) -> Iterable[str]:
    yield from part.spec.references
    yield from REFERENCES if part.length else ()


def _literal(value: ParameterValue) -> str:
    return json.dumps(value) if isinstance(value, str) else repr(value)


def _parts_of(summand: Summand, spec: LossSpec) -> Iterable[Part]:
    renamed = {one.name: f"{one.name}_of_{spec.name}" for one in spec.parameters}
    if summand.queued:
        length = f"{LENGTH.name}_of_{spec.name}"
        arguments = {
            name: _names(what, {LENGTH.name: length}) for name, what in QUEUED[spec.name].items()
        }
        weight = f"weight_of_{spec.name}"
        yield Part(spec.name, spec, weight, renamed, arguments, length=length)
        return
    for length in summand.prefixes or (None,):
        label = spec.name
        if length is not None:
            label += f"_{SHARES.get(length) or int(length)}"
        arguments = {name: _handed(what, length) for name, what in spec.reads.items()}
        yield Part(label, spec, f"weight_of_{label}", renamed, arguments, length)


def _handed(what: str, length: float | None) -> str:
    if length is None:
        return what
    if what in _PLACES:
        first, second = (f"prefix({side}, {length})" for side in _SCORES_OF)
        scores, places = f"cosine({first}, {second})", _PLACES[what]
        return f"at({scores}, {places})" if places else scores
    # A guide has vectors of its own.
    return f"prefix({what}, {length})" if READABLE[what].axes[-1] == "dimension" else what


def _reads_of(parts: Iterable[Part]) -> list[str]:
    """Return the inputs of all of them, each once."""
    known = (
        name
        for part in parts
        for value in part.given.values()
        for name in _NAME.findall(value)
        if name in READABLE
    )
    return list(dict.fromkeys(known))


def _parameters(parts: Iterable[Part], weights: Mapping[str, float]) -> Iterable[Parameter]:
    """Return the parameters, weights first; a part's on several prefixes are one parameter."""
    known: dict[str, Parameter] = {}
    for k, part in enumerate(parts, 1):
        usual, symbol = weights.get(part.weight, 1.0), f"w_{k}"
        if part.weight:
            yield Parameter(
                part.weight, usual, symbol, LEAST_WEIGHT, MAX_WEIGHT, 0.001, logarithmic=True
            )
        if part.length:
            known[part.length] = replace(LENGTH, name=part.length)
        for one in part.spec.parameters:
            renamed = part.parameters[one.name]
            known.setdefault(renamed, replace(one, name=renamed))
    yield from known.values()


def _made(
    parts: Sequence[Part],
    parameters: Sequence[Parameter],
    of: Callable[[LossSpec], Callable[..., Tensor]],
) -> Any:
    """Return the sum of these functions of the parts, run as Python. All names in it are ours."""
    functions = {part.label: of(part.spec) for part in parts}
    called = _names_of(functions)
    scope: dict[str, Any] = {"__name__": __name__, "Tensor": Tensor, **HELPERS}
    scope |= {called[label]: function for label, function in functions.items()}
    source, identifier = source_of(parts, parameters, called), identifier_of(parts)
    file = f"<{identifier} {next(_COUNTER)}>"
    exec(compile(source, file, "exec"), scope)  # written by `source_of`
    # Where a listing is looked for that stands in no file.
    linecache.cache[file] = len(source), None, source.splitlines(keepends=True), file
    function = scope[identifier]
    weakref.finalize(function, linecache.cache.pop, file, None)
    function.parts, function.parameters = tuple(parts), tuple(parameters)
    return function


def _names_of(functions: Mapping[str, Callable]) -> dict[str, str]:
    """Return the functions' own names by the labels of the parts; another one if two share a
    name."""
    names: dict[str, str] = {}
    first: dict[str, Callable] = {}
    for label, function in functions.items():
        name = function.__name__
        same = first.setdefault(name, function) is function
        names[label] = name if same else f"{name}_of_{label}"
    return names


def parts_of(definition: Callable[..., Tensor]) -> tuple[Part, ...]:
    """Return the parts of a sum's definition; none for any other."""
    return getattr(definition, "parts", ())


def with_definitions(
    whole: Any, definitions: Sequence[Callable[..., Tensor]], off: Container[str] = ()
) -> Callable[..., Tensor]:
    """Return a sum with these definitions of its parts, each called with its arguments except
    parameters that are `off`."""
    run = [
        replace(
            part,
            spec=replace(part.spec, definition=definition),
            given=_taken_of(part.given, definition),
            parameters={
                name: known
                for name, known in _taken_of(part.parameters, definition).items()
                if known not in off
            },
        )
        for part, definition in zip(whole.parts, definitions, strict=True)
    ]
    read = {name for part in run for name in (part.weight, part.length, *part.parameters.values())}
    parameters = [one for one in whole.parameters if one.name in read]
    return _made(run, parameters, lambda spec: spec.definition)


def _taken_of(known: Mapping[str, str], definition: Callable[..., Tensor]) -> dict[str, str]:
    taken = inspect.signature(definition).parameters
    return {name: value for name, value in known.items() if name in taken}


def _value(part: Part) -> str:
    return f"{part.label}_loss"


def _numbers(parts: Sequence[Part]) -> range:
    return range(1, len(parts) + 1)


def _sum(parts: Sequence[Part]) -> str:
    if not parts[0].weight:
        return parts[0].spec.formula
    return " + ".join(rf"w_{{{k}}} \mathcal{{L}}_{{{k}}}" for k in _numbers(parts))


def _variants(parts: Sequence[Part]) -> Mapping[str, str]:
    """Return the variants of a single loss, by its parameters' names here."""
    first = parts[0]
    if first.weight:
        return {}
    variants = {}
    for when, formula in first.spec.variants.items():
        name, _, value = when.partition("=")
        variants[f"{first.parameters[name]}={value}"] = formula
    return variants


def _title(summand: Summand, spec: LossSpec) -> str:
    if summand.queued:
        return f"{spec.title} with a queue"
    return f"{spec.title} on prefixes" if summand.prefixes else spec.title


# ---- What its steps are called -------------------------------------------------------------------


def _symbols(parts: Sequence[Part], reads: Iterable[str]) -> dict[str, Symbol]:
    symbols: dict[str, Symbol] = {}
    for k, part in enumerate(parts, 1):
        spec, known = part.spec, _renamed(part)
        for name, symbol in spec.symbols.items():
            if name in part.given and part.given[name] in reads:  # handed on as it is
                symbols.setdefault(part.given[name], symbol)
                continue
            written = replace(symbol, live=_live(symbol.live, known))
            if name == "loss" and part.weight:
                written = replace(written, latex=rf"\mathcal L_{{{k}}}")
            symbols[f"{part.label}_{name}"] = written
        symbols.setdefault(_value(part), Symbol(rf"\mathcal L_{{{k}}}"))
    if not parts[0].weight:
        return {**symbols, "loss": loss_symbol(live=f"«{_value(parts[0])}»")}
    total = " + ".join(rf"«{part.weight}» \cdot «{_value(part)}»" for part in parts)
    return {**symbols, "loss": loss_symbol(_sum(parts), total)}


def _renamed(part: Part) -> dict[str, str]:
    """Map the names in a part's definition to those among the steps of the whole."""
    functions = (inspect.unwrap(part.spec.definition), *definitions_of(part.spec.definition))
    local = {name for function in functions for name in function.__code__.co_varnames}
    known = {name: f"{part.label}_{name}" for name in local}
    known |= {name: what for name, what in part.given.items() if what in READABLE}
    return known | dict(part.parameters)


def _live(live: str | Mapping[str, str], known: Mapping[str, str]) -> str | Mapping[str, str]:
    if not isinstance(live, str):
        return {
            _names(when, known): _live_formula(formula, known) for when, formula in live.items()
        }
    return _live_formula(live, known)


def _live_formula(live: str, known: Mapping[str, str]) -> str:
    return _REFERENCE.sub(lambda found: f"«{_names(found[1], known)}»", live)


def _names(expression: str, known: Mapping[str, str]) -> str:
    """Replace the names in an expression; r, c and l are places, and text stays text."""

    def named(match: re.Match) -> str:
        name = match[0]
        here = name in ("r", "c", "l") or keyword.iskeyword(name)
        return name if here else known.get(name, name)

    between = re.split(r"""('[^']*'|"[^"]*")""", expression)
    return "".join(
        text if place % 2 else _NAME.sub(named, text) for place, text in enumerate(between)
    )


# ---- Its reference values -----------------------------------------------------------------------


def part_inputs(
    part: Part, tensors: Mapping[str, Tensor | None], parameters: Mapping[str, Any]
) -> dict[str, Tensor | None]:
    """Return a part's inputs among those of the whole, by the part's own names; None for missing
    ones. `parameters` of the whole set the length of a queue."""
    scope = {**HELPERS, **dict.fromkeys(_reads_of([part])), **tensors, **parameters}
    # The expressions are those of `_handed`.
    return {name: eval(what, {}, scope) for name, what in part.given.items()}


def part_values(part: Part, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return a part's own parameters among those of the whole."""
    return {name: parameters[known] for name, known in part.parameters.items()}


def _reference_value(
    parts: Sequence[Part], of: Callable[[LossSpec], Callable[..., float | None] | None]
) -> Callable[..., float | None] | None:
    """Return Σ_k w_k times the reference value of each part; None if one has none."""
    if any(of(part.spec) is None for part in parts):
        return None

    def value_of_sum(
        tensors: Mapping[str, Tensor | None], *, score: str = "cosine", **parameters: Any
    ) -> float | None:
        total, bounded = 0.0, False
        for part in parts:
            known = {
                n: v for n, v in part_inputs(part, tensors, parameters).items() if v is not None
            }
            found = of(part.spec.scored_as(score))
            value = found and found(known, **part_values(part, parameters))
            if value is None:
                return None
            bounded |= isinstance(value, Bound)
            total += value * (parameters[part.weight] if part.weight else 1)
        return Bound(total) if bounded else total

    return value_of_sum


def _formula(parts: Sequence[Part], of: Callable[[LossSpec], str]) -> str:
    formulas = [of(part.spec) for part in parts]
    if not all(formulas):
        return ""
    if not parts[0].weight:
        return formulas[0]
    return " + ".join(
        rf"w_{{{k}}}\,\bigl({one}\bigr)" for k, one in zip(_numbers(parts), formulas, strict=True)
    )
