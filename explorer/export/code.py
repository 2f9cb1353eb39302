"""Python to take away: it computes the loss that was shown again, and prints it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from explorer.core.explore import Exploration
from explorer.core.scenario import Rules, Scenario
from explorer.export.template import render
from explorer.export.twins import as_defined_here, is_ours, twin_of
from explorer.runtime.limits import WRITTEN_NUMBERS, WRITTEN_PAIRS

# Numbers are shortened as long as the loss moves by no more than this, relatively.
UNMOVED = 1e-11


def snippet(exploration: Exploration) -> str:
    """Python that computes the same loss with this library, and prints it."""
    imports, inputs, given = _inputs(exploration, exploration.spec.reads)
    loaded, prepared, called = _called(exploration)
    given += [f"{name}={value!r}" for name, value in exploration.parameters.items()]
    body = [*inputs, *prepared, *_folded(f"loss = {called}({', '.join(given)})")]
    return _program(exploration, [*imports, loaded], body)


def twin_snippet(exploration: Exploration) -> str | None:
    """The same with sentence-transformers, or None where that library has no such loss."""
    twin = twin_of(exploration)
    if twin is None:
        return None
    imports, inputs, given = _inputs(exploration, twin.reads)
    code = twin.code([argument.partition("=")[0] for argument in given])
    loaded = f"from sentence_transformers.sentence_transformer.losses import {twin.imports}"
    return _program(exploration, [*imports, loaded], [*inputs, *code.splitlines()])


def _program(e: Exploration, imports: list[str], body: list[str]) -> str:
    return render(
        "snippet.py",
        title=" ".join(e.spec.title.split()),
        loss=e.loss,
        is_ours=any(line.startswith(("from explorer", "from losses")) for line in imports),
        imports=sorted(imports),
        body="\n".join(body),
    )


def _called(e: Exploration) -> tuple[str, list[str], str]:
    """An import, lines before the call, and what is called."""
    spec, convention = e.spec, e.scenario.convention
    if not is_ours(spec):
        place = f"{Path(spec.function.__code__.co_filename).resolve()}:{spec.name}"
        prepared = [f"spec = add_own_loss({place!r})"]
        return "from explorer.core.own_loss import add_own_loss", prepared, "spec.definition"
    if as_defined_here(spec):
        return f"from losses import {spec.name}", [], spec.name
    prepared = [f'spec = LOSSES["{spec.name}"].under({convention!r})']
    return "from losses import LOSSES", prepared, "spec.definition"


def _inputs(e: Exploration, reads: Mapping[str, str]) -> tuple[list[str], list[str], list[str]]:
    """Imports, lines that make the inputs, and the arguments that hand them over."""
    batch = e.batch
    read = {name: batch.read(what, batch.vectors, batch.scores) for name, what in reads.items()}
    tensors = {name: tensor for name, tensor in read.items() if tensor is not None}
    given = [f"{name}={name}" for name in tensors]
    numbers = sum(tensor.numel() for tensor in tensors.values())
    if len(batch) <= WRITTEN_PAIRS and numbers <= WRITTEN_NUMBERS:
        digits = _digits_needed(e, read) if reads == e.spec.reads else 12
        lines = [line for name in tensors for line in _written(name, tensors[name], digits)]
        return [], lines, given
    imports, lines = _batch_again(e)
    for name in tensors:
        lines.append(f'{name} = batch.read("{reads[name]}", batch.vectors, batch.scores)')
    return imports, lines, given


def _digits_needed(e: Exploration, read: Mapping[str, Tensor | None]) -> int:
    """As few significant digits as leave the loss where it is."""
    for digits in (4, 6, 8, 10, 12, 15):
        given: dict[str, Any] = {
            name: tensor if tensor is None else _rounded(tensor, digits)
            for name, tensor in read.items()
        }
        loss = float(e.spec.definition(**given, **e.parameters))
        if abs(loss - e.loss) <= UNMOVED * abs(e.loss):
            return digits
    return 17


def _rounded(tensor: Tensor, digits: int) -> Tensor:
    if not tensor.is_floating_point():
        return tensor
    near = [float(f"{value:.{digits}g}") for value in tensor.flatten().tolist()]
    return torch.tensor(near, dtype=tensor.dtype, device=tensor.device).reshape(tensor.shape)


def _written(name: str, tensor: Tensor, digits: int) -> list[str]:
    """The lines that write a vector or a matrix out."""
    values = _rounded(tensor, digits).tolist()
    if tensor.ndim == 1:
        return _folded(f"{name} = torch.tensor({values!r})")
    rows = [line for row in values for line in _folded(f"        {row!r},")]
    return [f"{name} = torch.tensor(", "    [", *rows, "    ]", ")"]


def _folded(line: str) -> list[str]:
    """A long line of numbers and names, broken at blanks inside its brackets."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    wide = textwrap.TextWrapper(
        96, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return wide.wrap(line)


def _batch_again(e: Exploration) -> tuple[list[str], list[str]]:
    """Lines that make the batch from its source: an example, a draw, sentences to encode."""
    data, rules = e.scenario.data, e.scenario.rules
    imports = ["from explorer.core.batch import make_batch"]
    if len(data.rows) > WRITTEN_PAIRS:
        kept = Scenario(data=data, rules=rules).to_link()
        pieces = [f"    {piece!r}" for piece in textwrap.wrap(kept, 90)]
        lines = [
            "# Data and rules, packed as in the link of the page.",
            "kept = Scenario.from_link(",
        ]
        lines += [*pieces, ")", "batch = make_batch(kept.data, kept.rules)"]
        return [*imports, "from explorer.core.scenario import Scenario"], lines
    imports.append("from explorer.core.scenario import Data, Rules")
    lines = []
    chosen = _changed(data, ("source", "example", "encoder", "cross_encoder"))
    if data.source == "random":
        imports.append("from explorer.sources.random_batch import RandomBatch")
        lines += _folded(f"drawn = {data.random!r}")  # in full, should a default ever change
        chosen.append("random=drawn")
    elif data.source == "table":
        lines += ["rows = (", *(f"    {row!r}," for row in data.rows), ")"]
        chosen.append("rows=rows")
    lines.append(f"data = Data({', '.join(chosen)})")
    ruled = _changed(rules, Rules.__dataclass_fields__)
    return imports, [*lines, f"batch = make_batch(data, Rules({', '.join(ruled)}))"]


def _changed(chosen: object, names: Iterable[str]) -> list[str]:
    """The entries that differ from their defaults, as arguments."""
    default = type(chosen)()
    return [
        f"{name}={getattr(chosen, name)!r}"
        for name in names
        if getattr(chosen, name) != getattr(default, name)
    ]
