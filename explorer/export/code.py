"""Exported Python programs that compute the shown loss again, and print it.

Each is self-contained. `KINDS` has the variants, such as torch with the loss's definition written
out, the installed package `losses`, or sentence-transformers. The loss's inputs are written into
the program or, if there are many, read from files: `packed` has both.
"""

from __future__ import annotations

import csv
import io
import textwrap
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.core.specialised_definitions import accepted
from lossprism.explorer.export.csv import harmless
from lossprism.explorer.export.jinja_template_renderer import render
from lossprism.explorer.export.sentence_transformers_equivalent_lookup import (
    as_defined_here,
    equivalent_of,
    is_ours,
    number,
    stated,
)
from lossprism.explorer.export.source_with_dependencies import written_out
from lossprism.explorer.export.trainer_program import Rows, literal_rows, step_program
from lossprism.explorer.runtime.limits import WRITTEN_NUMBERS, WRITTEN_PAIRS
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses.combined.combined_loss_spec import (
    helpers_of,
    identifier_of,
    parts_of,
    source_of,
)
from lossprism.losses.combined.vector_queue import STORED_INPUTS, current_rows
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.sentence_transformers.generated_training_loss_classes import trains_as_one

# Numbers are shortened as long as the loss moves by no more than this, relatively.
MAX_LOSS_CHANGE = 1e-11
PAIRS_FILE = "pairs.csv"
IMPORT_LOSSES = "from lossprism.losses import LOSSES"
CSV_READER = """\
def read(name: str) -> Tensor:
    rows = (Path(__file__).resolve().parent / name).read_text().split()
    return torch.tensor([[float(cell) for cell in row.split(",")] for row in rows])


"""


@dataclass(frozen=True)
class Code:
    """A program, and the files that it reads, by name."""

    text: str
    beside: Mapping[str, str]


def standalone_code(exploration: Exploration, *, from_files: bool | None = None) -> Code:
    """Return Python that computes the same loss with torch alone, and prints it.

    `from_files` selects numbers in files; None: if there are many.

    Raises:
        Problem: if a user's own loss is not at the top of its file.
    """
    spec = exploration.spec
    if spec.parts:
        return _standalone_sum(exploration, from_files)
    try:
        out = written_out(exploration.definition)
    except LookupError as error:
        raise Problem("code_not_alone", about="loss", name=spec.name) from error
    called = out.called[0]
    return _program(
        exploration, from_files, out.imports, out.source, called, exploration.definition
    )


def _standalone_sum(exploration: Exploration, from_files: bool | None) -> Code:
    """Return the definitions of the parts, followed by the sum."""
    definition = exploration.definition
    parts, helpers = parts_of(definition), helpers_of(parts_of(definition))
    out = written_out(*(part.spec.definition for part in parts), *helpers.values())
    names = [*(part.label for part in parts), *helpers]
    called = dict(zip(names, out.called, strict=True))
    taken = accepted(definition, {one.name: one for one in exploration.spec.parameters})
    whole = source_of(parts, taken.values(), called).rstrip()
    source = "\n\n\n".join([out.source, whole])
    return _program(exploration, from_files, out.imports, source, identifier_of(parts), definition)


def package_code(exploration: Exploration, *, from_files: bool | None = None) -> Code:
    """Return the same with the package `losses`; a user's own loss, in no package, is written
    out."""
    spec, convention = exploration.spec, exploration.scenario.convention
    if not is_ours(spec):
        return standalone_code(exploration, from_files=from_files)
    if spec.parts:
        call = f'total = LOSSES["{spec.name}"].function'
        return _program(exploration, from_files, [IMPORT_LOSSES], call, "total")
    if as_defined_here(spec):
        return _program(
            exploration, from_files, [f"from lossprism.losses import {spec.name}"], "", spec.name
        )
    call = f'spec = LOSSES["{spec.name}"].under(\n    {convention!r}\n)'
    call += "\ndefinition = spec.definition"
    loaded = [IMPORT_LOSSES]
    return _program(exploration, from_files, loaded, call, "definition")


def library_code(exploration: Exploration, *, from_files: bool | None = None) -> Code | None:
    """Return the same with sentence-transformers, None if that library has no such loss."""
    in_library = equivalent_of(exploration)
    if in_library is None:
        return None
    loaded = f"from sentence_transformers.sentence_transformer.losses import {in_library.imports}"
    inputs = _inputs(exploration, in_library.reads, from_files)
    body = in_library.code(inputs.names).splitlines()
    return _rendered(exploration, [loaded], "", inputs, body, library="sentence-transformers")


def module_code(exploration: Exploration, *, from_files: bool | None = None) -> Code | None:
    """Return the same with the package `losses`, as an `nn.Module` that holds the parameters; None
    for a user's own loss, and for a convention with its own definition.

    Queued rows are passed to the module first, as an earlier batch.
    """
    e, spec = exploration, exploration.spec
    if not is_ours(spec) or not (spec.parts or as_defined_here(spec)):
        return None
    inputs = _inputs(e, spec.reads, from_files)
    learnt = [name for name in inputs.names if spec.reads[name] == "prototypes"]
    prototypes = [e.batch.read("prototypes", e.batch.vectors, e.batch.scores) for _ in learnt]
    shape = [str(size) for one in prototypes if one is not None for size in one.shape]
    settings = [*shape, *stated(spec, e.parameters)]
    body = _wrapped_at_blanks(f'module = loss_module("{spec.name}")({", ".join(settings)})')
    body += [f"module.prototypes.data = {name}" for name in learnt]
    arguments = {name: name for name in inputs.names if name not in learnt}
    if queued := [part for part in spec.parts if part.length]:
        if len(queued) > 1 or not trains_as_one(spec):
            return None  # another loss reads what stands in the queue, too
        rows = [name for name in arguments if name in QUEUED_ROWS]
        keys = e.batch.read(STORED_INPUTS[queued[0].spec.name][0], e.batch.vectors, e.batch.scores)
        here = current_rows(
            0 if keys is None else len(keys), number(e.parameters[queued[0].length])
        )
        before = ", ".join(f"{name}={name}{f'[{here}:]' * (name in rows)}" for name in arguments)
        body.append("# What stands in the queue came with an earlier batch.")
        body += _wrapped_at_blanks(f"module({before})")
        arguments |= {name: f"{name}[:{here}]" for name in rows}
    called = ", ".join(f"{name}={what}" for name, what in arguments.items())
    body += _wrapped_at_blanks(f"loss = module({called})")
    return _rendered(e, ["from lossprism.losses.modules import loss_module"], "", inputs, body)


# What has a row for each pair or sentence of which some stand in the queue.
QUEUED_ROWS = ("queries", "keys", "query_texts", "key_texts", "embeddings", "classes")


def trainer_code(exploration: Exploration, *, from_files: bool | None = None) -> Code | None:
    """Return a step of sentence-transformers' trainer with this loss on this batch; None if it
    needs more than pairs (`explorer.export.trainer_program`)."""
    many = len(exploration.batch) > WRITTEN_PAIRS
    apart = many if from_files is None else from_files
    step = step_program(exploration, _from_pairs if apart else literal_rows)
    if step is None:
        return None
    rows = zip(*step.columns.values(), strict=True)
    return Code(step.text, {PAIRS_FILE: _texts_and_numbers([step.columns, *rows])} if apart else {})


def _from_pairs(columns: Mapping[str, Sequence[object]]) -> Rows:
    """Return the lines that read the columns from the file of pairs."""
    lines = [
        "here = Path(__file__).resolve().parent",
        f'with (here / "{PAIRS_FILE}").open(encoding="utf-8", newline="") as file:',
        "    rows = list(csv.DictReader(file))",
    ]
    read = ['{**row, "label": float(row["label"])}' if "label" in columns else "row"]
    lines.append(f"examples = Dataset.from_list([{read[0]} for row in rows])")
    return Rows(lines, ("import csv", "from pathlib import Path"), _reads_comment([PAIRS_FILE]))


# What can be packed, by its name.
KINDS = {
    "alone": standalone_code,
    "package": package_code,
    "module": module_code,
    "twin": library_code,
    "trainer": trainer_code,
}


def packed(exploration: Exploration, kind: str) -> bytes:
    """Return a ZIP of the program, which reads the pairs from a file, and the files.

    It is empty if the library has no such loss.
    """
    code = KINDS[kind](exploration, from_files=True)
    if code is None:
        return b""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as whole:
        for name, text in {"loss.py": code.text, **code.beside}.items():
            whole.writestr(name, text)
    return out.getvalue()


def _program(
    e: Exploration,
    from_files: bool | None,
    imports: Sequence[str],
    source: str,
    called: str,
    definition: Callable[..., Tensor] | None = None,
) -> Code:
    """Return the program that calls the function named `called`; a `definition` tells its
    arguments."""
    reads, parameters = e.spec.reads, e.parameters
    if definition is not None:
        reads, parameters = accepted(definition, reads), accepted(definition, parameters)
    inputs = _inputs(e, reads, from_files)
    arguments = [f"{name}={name}" for name in inputs.names]
    arguments += stated(e.spec, parameters)
    return _rendered(
        e, imports, source, inputs, _wrapped_at_blanks(f"loss = {called}({', '.join(arguments)})")
    )


def _rendered(
    e: Exploration,
    imports: Sequence[str],
    source: str,
    inputs: _Inputs,
    body: Sequence[str],
    library: str = "",
) -> Code:
    text = render(
        "snippet.py",
        title=" ".join(e.spec.title.split()),
        loss=e.loss,
        package=any(line.startswith("from lossprism.losses") for line in imports),
        library=library,
        reads=textwrap.fill(_reads_comment(inputs.files), 100, subsequent_indent="# "),
        imports=sorted({*imports, *inputs.imports} - {"import torch"}),
        source=source,
        body="\n".join([*inputs.lines, *body]),
    )
    return Code(text, inputs.files)


def _reads_comment(files: Iterable[str]) -> str:
    named = ", ".join(files)
    return f"# Reads {named} from beside it." if named else ""


@dataclass(frozen=True)
class _Inputs:
    """The lines that make the loss's inputs, their `names`, and the files that the lines read."""

    names: list[str]
    lines: list[str]
    files: Mapping[str, str]
    imports: Sequence[str] = ()


def _inputs(e: Exploration, reads: Mapping[str, str], from_files: bool | None) -> _Inputs:
    batch = e.batch
    read = {name: batch.read(what, batch.vectors, batch.scores) for name, what in reads.items()}
    tensors = {name: tensor for name, tensor in read.items() if tensor is not None}
    if from_files is None:
        numbers = sum(tensor.numel() for tensor in tensors.values())
        from_files = len(batch) > WRITTEN_PAIRS or numbers > WRITTEN_NUMBERS
    if from_files:
        return _from_files(e, tensors, reads)
    digits = _digits_needed(e, read) if reads.items() <= e.spec.reads.items() else 12
    lines = [line for name in tensors for line in _written(name, tensors[name], digits)]
    return _Inputs(list(tensors), lines, {})


def _reading(tensor: Tensor, cell: str) -> str:
    """Return the expression that reads a cell of the pairs' file for this tensor; a mask's is 1 or
    0."""
    if tensor.dtype == torch.bool:
        return f'{cell} == "1"'
    return f"float({cell})" if tensor.is_floating_point() else f"int({cell})"


def _in_file(tensor: Tensor) -> list:
    return (tensor.int() if tensor.dtype == torch.bool else tensor).tolist()


def _from_files(e: Exploration, tensors: Mapping[str, Tensor], reads: Mapping[str, str]) -> _Inputs:
    """Return inputs with a number for each pair as columns of the pairs' file, and a file for all
    others."""
    of_pairs = [name for name in tensors if READABLE[reads[name]].axes == ("pair",)]
    pairs = e.batch.pairs
    columns = [pairs.first, pairs.second, *(_in_file(tensors[name]) for name in of_pairs)]
    head = ["sentence1", "sentence2", *of_pairs]
    files = {PAIRS_FILE: _texts_and_numbers([head, *zip(*columns, strict=True)])}
    others = {name: tensor for name, tensor in tensors.items() if name not in of_pairs}
    lines, imports = [], ["from pathlib import Path"]
    if others:
        lines += CSV_READER.splitlines()
        imports.append("from torch import Tensor")
    if of_pairs:
        imports.append("import csv")
        lines += [
            f'pairs = Path(__file__).resolve().parent / "{PAIRS_FILE}"',
            'with pairs.open(encoding="utf-8", newline="") as file:',
            "    rows = list(csv.DictReader(file))",
        ]
    for name in of_pairs:
        cell = _reading(tensors[name], f'row["{name}"]')
        lines.append(f"{name} = torch.tensor([{cell} for row in rows])")
    for name, tensor in others.items():
        files[f"{name}.csv"] = _csv(_in_file(tensor.reshape(len(tensor), -1)))
        flat = ".flatten()" if tensor.ndim == 1 else ""
        kind = "" if tensor.is_floating_point() else f".to({tensor.dtype})"
        lines.append(f'{name} = read("{name}.csv"){flat}{kind}')
    return _Inputs(list(tensors), lines, files, imports)


def _texts_and_numbers(rows: Iterable[Iterable[object]]) -> str:
    """Return a table whose cells may be texts."""
    return _csv(map(harmless, row) for row in rows)


def _csv(rows: Iterable[Iterable[object]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def _digits_needed(e: Exploration, read: Mapping[str, Tensor | None]) -> int:
    """Return the fewest significant digits that leave the loss unchanged."""
    for digits in (4, 6, 8, 10, 12, 15):
        rounded: dict[str, Any] = {
            name: tensor if tensor is None else _rounded(tensor, digits)
            for name, tensor in read.items()
        }
        loss = float(e.definition(**accepted(e.definition, {**e.given, **rounded, **e.parameters})))
        if abs(loss - e.loss) <= MAX_LOSS_CHANGE * abs(e.loss):
            return digits
    return 17


def _rounded(tensor: Tensor, digits: int) -> Tensor:
    if not tensor.is_floating_point():
        return tensor
    near = [float(f"{value:.{digits}g}") for value in tensor.flatten().tolist()]
    return torch.tensor(near, dtype=tensor.dtype, device=tensor.device).reshape(tensor.shape)


def _written(name: str, tensor: Tensor, digits: int) -> list[str]:
    """Return the lines that write a vector or a matrix out."""
    values = _rounded(tensor, digits).tolist()
    if tensor.ndim == 1:
        return _wrapped_at_blanks(f"{name} = torch.tensor({values!r})")
    rows = [line for row in values for line in _wrapped_at_blanks(f"        {row!r},")]
    return [f"{name} = torch.tensor(", "    [", *rows, "    ]", ")"]


def _wrapped_at_blanks(line: str) -> list[str]:
    """Break a long line of numbers and names at blanks inside its brackets."""
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    wide = textwrap.TextWrapper(
        96, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return wide.wrap(line)
