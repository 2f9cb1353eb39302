"""Measurements of a loss on a batch that was trained on, from the vectors that the model returned.

A training passes tokens and gets one number. The values between are computed here a second time,
without the model: the equivalent loss of ours receives the vectors, so that a measured step costs
no pass through the encoder.
"""

from __future__ import annotations

import copy
import math
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.geometry import effective_count, unit
from lossprism.losses.sentence_transformers.candidate_lists import rows_in, value_within_lists
from lossprism.losses.sentence_transformers.class_recognition import recognised
from lossprism.losses.sentence_transformers.matryoshka_wrappers import inner_of, on_prefixes
from lossprism.losses.sentence_transformers.trainer_batch import Examples
from lossprism.losses.sentence_transformers.trainer_classes import TRAINING_LOSSES, training_loss
from lossprism.losses.sentence_transformers.training_loss import TrainingLoss

# By how much our value may differ from the training's for both to be one loss: what float32, and
# what half precision, keep of a sum.
SAME, SAME_HALF = 1e-3, 3e-2
# What the names of definitions end with.
DEFINITION = "_definition"
HALF = (torch.float16, torch.bfloat16)
# Beyond so many rows every matrix of a loss would take longer than the step itself.
MAX_ROWS = 2048


@dataclass(frozen=True)
class Caught:
    """A batch as a loss was called with it, and the model's outputs for it, without the graph.

    `columns` are the trainer's, `outputs` those of the model, call by call: the vectors of a
    bi-encoder [·, D], the scores of a cross-encoder [·]. `value` is the loss, converted to a number
    only after the step, since reading from an accelerator waits for all earlier work.
    """

    columns: Sequence[Any]
    labels: Any
    outputs: tuple[Tensor, ...]
    value: Tensor
    crossed: bool

    @cached_property
    def number(self) -> float:
        return float(self.value)

    @property
    def rows(self) -> int:
        return rows_in(self.columns[0])

    @property
    def half(self) -> bool:
        return any(output.dtype in HALF for output in self.outputs)

    def vectors(self) -> list[Tensor]:
        """Return the vectors of each column [N, D], joined if the loss works in chunks.

        Raises ValueError unless there is one for each text.
        """
        found: list[Tensor] = []
        sizes = [rows_in(column) for column in self.columns]  # where rows are lists, they differ
        expected = sum(sizes)
        for output in self.outputs:  # what is shrunk comes again after these
            if sum(map(len, found)) < expected:
                found.append(output.float())
        joined = torch.cat(found)
        if len(joined) != expected:
            raise ValueError(f"the model gave {len(joined)} vectors for {expected} texts")
        return list(joined.split(sizes))

    def scores(self) -> Tensor:
        return torch.cat([output.float().flatten() for output in self.outputs])


@dataclass(frozen=True)
class Measured:
    """Measurements of a batch; None for those unknown for this loss.

    `loss`, `convention` and `parameters` name the loss of ours with the same value, "" if there is
    none. `examples` is the batch as it was read, without gradients; None if the loss made its own
    pairs of it.
    """

    value: float
    examples: Examples | None
    loss: str = ""
    convention: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)
    collapse: float | None = None
    floor: float | None = None
    effective_terms: float | None = None
    gradient_norm: float | None = None
    positives: float | None = None
    negatives: float | None = None


class Replay(nn.Module):
    """A stand-in for the model that returns its recorded outputs."""

    def __init__(self, model: nn.Module, outputs: Sequence[Tensor], crossed: bool) -> None:
        super().__init__()
        self.tokenizer = getattr(model, "tokenizer", None)
        self.outputs, self.crossed, self.calls = list(outputs), crossed, 0
        self.device = outputs[0].device

    def preprocess(self, *_: object, **__: object) -> dict[str, Tensor]:
        return {}

    def forward(self, _: object) -> dict[str, Tensor]:
        output = self.outputs[self.calls % len(self.outputs)]
        self.calls += 1
        return {"scores" if self.crossed else "sentence_embedding": output}


def measured(loss: nn.Module, model: nn.Module, caught: Caught) -> Measured:
    """Measure a batch under the loss that it was trained with.

    `loss` is one of ours, or a class of the library that the registry knows: the candidate that
    yields the training's value. For any other one only similarities are measured.
    """
    leaves = _leaves(caught)
    if caught.rows <= MAX_ROWS:
        for candidate in _candidates(loss, model):
            found = _under(candidate, model, caught, leaves)
            if found is not None:
                return found
    plain = _replayed(_stand_in(caught, model), model, caught, leaves)
    examples = _detached(_read(plain, caught))
    if len(examples.scores) != len(examples.labels) and len(caught.columns) > 1:
        return Measured(caught.number, None)
    positives, negatives = _similarities(examples, of_batch=_of_batch(caught))
    return Measured(caught.number, examples, positives=positives, negatives=negatives)


def _leaves(caught: Caught) -> list[Tensor]:
    made = [caught.scores()] if caught.crossed else caught.vectors()
    return [one.detach().clone().requires_grad_() for one in made]


def _candidates(loss: nn.Module, model: nn.Module) -> list[TrainingLoss]:
    if isinstance(loss, TrainingLoss):
        return [loss]
    if (inner := inner_of(loss)) is not None:
        found = (_nested(loss, one, model) for one in _candidates(inner, model))
        return [one for one in found if one is not None]
    told = getattr(loss, "get_config_dict", dict)()
    made = []
    for one in recognised(type(loss).__name__, told):
        options: dict[str, Any] = {"similarity": one.similarity} if one.spec.reads_scores else {}
        # What the loss learns itself is no setting that is known here.
        if set(one.spec.reads.values()) & {"prototypes", "pair_logits", "level_scores"}:
            continue
        made.append(
            _loss_of(one.spec.name)(
                model, convention=one.convention, **options, **dict(one.parameters)
            )
        )
    # One that reads triplets as they are given comes before one that mines others of its own.
    return sorted(made, key=lambda one: bool(one.given_triplets))


def _nested(loss: nn.Module, inner: TrainingLoss, model: nn.Module) -> TrainingLoss | None:
    """Return the loss on prefixes whose inner loss is this one."""
    found = on_prefixes(LOSSES[inner.name], loss)
    if found is None:
        return None
    spec, weights = found
    settings: dict[str, Any] = {**weights}
    for name, known in spec.parts[0].parameters.items():
        settings[known] = inner.settings[name]
    made = _loss_of(spec.name)(
        model, extra_negatives=inner.extra_negatives, twins=inner.twins, **settings
    )
    made.rules, made.guide = inner.rules, inner.guide
    return made


def _loss_of(name: str) -> Callable[..., TrainingLoss]:
    return TRAINING_LOSSES.get(name) or training_loss(name)


def _stand_in(caught: Caught, model: nn.Module) -> TrainingLoss:
    """Return a loss of ours that reads a batch of this shape; its value is not reported."""
    shapes = {(1, True): "supcon", (2, True): "cosent"}
    name = shapes.get((len(caught.columns), caught.labels is not None), "alignment")
    return _loss_of("cosent" if caught.crossed else name)(model)


def _of_batch(caught: Caught) -> bool:
    """Return whether rows are compared with each other: for an unknown loss, if they have no
    labels."""
    return caught.labels is None and not caught.crossed


def _replayed(
    loss: TrainingLoss, model: nn.Module, caught: Caught, outputs: Sequence[Tensor]
) -> TrainingLoss:
    """Return a copy of the loss, with its rules and weights, on a replayed model."""
    replica = copy.copy(loss)
    modules = {**loss._modules, "model": Replay(model, outputs, caught.crossed)}
    replica.__dict__["_modules"] = modules
    replica.gather = False
    return replica


def _read(replica: TrainingLoss, caught: Caught) -> Examples:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is made of the labels was said by the loss itself
        return replica.examples(list(caught.columns), caught.labels, None, None)


def _under(
    loss: TrainingLoss, model: nn.Module, caught: Caught, leaves: Sequence[Tensor]
) -> Measured | None:
    """Measure under this loss if its value is the training's; else return None."""
    replica = _replayed(loss, model, caught, leaves)
    try:
        examples = _read(replica, caught)
        read = replica.arguments(examples)
        settings = {
            name: value.detach() if isinstance(value, Tensor) else value
            for name, value in replica.settings_for(examples).items()
        }
        read, settings = replica.called_with(read, settings)
        lists = replica.lists_compared(examples)
        value, terms = _with_terms(replica.spec, read, settings, lists)
    except (ValueError, TypeError, IndexError):  # it reads no batch of this shape, or so set
        return None
    tolerance = SAME_HALF if caught.half else SAME
    close = {"rel_tol": tolerance, "abs_tol": tolerance * 1e-2}
    if not math.isclose(float(value.detach()), caught.number, **close):
        return None
    spec = replica.spec.scored_as(_score_kind(replica, caught))
    differentiated = [one for one in leaves if one.requires_grad]
    effective, norm = _from_gradients(value, terms, differentiated)
    plain = {name: _number(value) for name, value in settings.items()}
    with torch.no_grad():
        fixed = {name: tensor.detach() for name, tensor in read.items()}
        collapse = _reference_value(spec, "collapse", fixed, plain, lists)
        if spec.collapse is None:
            collapse = _alike(replica, model, caught, leaves, settings)
        floor = _reference_value(spec, "floor", fixed, plain, lists)
    examples = _detached(examples)
    of_batch = spec.of_positives
    positives, negatives = _similarities(examples, of_batch)
    return Measured(
        caught.number,
        examples,
        spec.name,
        loss.convention,
        plain,
        collapse,
        floor,
        effective,
        norm,
        positives,
        negatives,
    )


def _score_kind(replica: TrainingLoss, caught: Caught) -> str:
    """Return the kind of the pair scores (`losses.score_kinds`): logits for a cross-encoder, unless
    the convention transforms them."""
    if not caught.crossed:
        return replica.spec.score if replica.spec.score == "dot" else replica.similarity
    return "logit" if replica.spec.score in ("cosine", "dot") else replica.spec.score


def _with_terms(
    spec: LossSpec,
    read: Mapping[str, Tensor],
    settings: Mapping[str, object],
    lists: Tensor | None,
) -> tuple[Tensor, list[Tensor]]:
    """Return the value, and the terms of the definition, for one loss on several prefixes those on
    each.

    No terms for a mean over lists, or while the training is profiled, which this would disturb.
    """
    if lists is not None:
        return value_within_lists(spec, _defined, read, settings, lists), []
    if sys.getprofile() is not None:
        return spec.definition(**read, **settings), []
    found_terms: list[Tensor] = []
    parts = spec.parts or (spec,)
    # Those of different losses are terms of nothing in common.
    alike = len({part.spec.name for part in spec.parts}) < 2
    terms = alike and (spec.parts[0].spec.terms if spec.parts else spec.terms)

    def watch(frame: Any, event: str, _: object) -> None:
        # A definition may hand over to another one.
        if event == "return" and frame.f_code.co_name.endswith(DEFINITION):
            found = frame.f_locals.get(terms)
            if isinstance(found, Tensor):
                found_terms.append(found)

    sys.setprofile(watch)
    try:
        value = spec.definition(**read, **settings)
    finally:
        sys.setprofile(None)
    # Each prefix has the same steps, of which the last counts.
    of_each = len(found_terms) // len(parts)
    last = found_terms[of_each - 1 :: of_each] if of_each else []
    return value, last if all(one.requires_grad for one in last) else []


def _defined(spec: LossSpec, read: Mapping[str, Tensor], settings: Mapping[str, object]) -> Tensor:
    return spec.definition(**read, **settings)


def _from_gradients(
    value: Tensor, terms: Sequence[Tensor], leaves: Sequence[Tensor]
) -> tuple[float | None, float | None]:
    """Return exp of the entropy of the terms' weights, summed over prefixes, and the norm of the
    gradient by the model's outputs."""
    if not value.requires_grad:
        return None, None
    found = torch.autograd.grad(value, [*leaves, *terms], allow_unused=True)
    by_leaves = [one for one in found[: len(leaves)] if one is not None]
    norm = math.sqrt(sum(float(one.square().sum()) for one in by_leaves)) if by_leaves else None
    weights = [one.abs().nan_to_num(0) for one in found[len(leaves) :] if one is not None]
    if not weights or len({one.shape for one in weights}) > 1:
        return None, norm
    return effective_count(torch.stack(weights).sum(0)), norm


def _reference_value(
    spec: LossSpec,
    name: str,
    read: Mapping[str, Tensor],
    settings: Mapping[str, object],
    lists: Tensor | None,
) -> float | None:
    """Return the reference value of this name, "collapse" or "floor"; None if unknown."""

    def value_of(
        spec: LossSpec, read: Mapping[str, Tensor], settings: Mapping[str, object]
    ) -> float | None:
        formula = getattr(spec, name)
        return formula and formula(read, **settings)

    if lists is None:
        value = value_of(spec, read, settings)
    else:
        value = value_within_lists(spec, value_of, read, settings, lists)
    return None if value is None or not math.isfinite(value) else float(value)


def _alike(
    replica: TrainingLoss,
    model: nn.Module,
    caught: Caught,
    leaves: Sequence[Tensor],
    settings: Mapping[str, object],
) -> float | None:
    """Compute the loss itself on equal vectors."""
    same = [torch.ones_like(one) for one in leaves]
    other = _replayed(replica, model, caught, same)
    examples = _read(other, caught)
    read, lists = other.arguments(examples), other.lists_compared(examples)
    value = float(_with_terms(other.spec, read, settings, lists)[0])
    return value if math.isfinite(value) else None


def _similarities(examples: Examples, of_batch: bool) -> tuple[float | None, float | None]:
    """Return the mean similarity of positive and of negative pairs: cosines of a bi-encoder, scores
    of a cross-encoder."""
    with torch.no_grad():
        if len(examples.columns) == 1:
            return _of_classes(unit(examples.columns[0]), examples.labels)
        alike = replace(examples, similarity="cosine").scores
        positive = examples.positive
        positives, negatives = alike[positive], alike[~positive]
        if examples.pair_scores is not None or not of_batch:
            return _mean(positives), _mean(negatives)
        queries, keys = unit(examples.queries), unit(examples.keys)
        # Every query with every key, less its own: a product of sums, and no matrix.
        total = float(queries.sum(0) @ keys.sum(0)) - float((queries * keys).sum())
        count = len(queries) * (len(queries) - 1)
        if examples.negatives is not None:
            total += float(queries.sum(0) @ unit(examples.negatives).sum(0))
            count += len(queries) * len(examples.negatives)
        return _mean(positives), total / count if count else None


def _of_classes(vectors: Tensor, classes: Tensor) -> tuple[float | None, float | None]:
    sums = vectors.new_zeros(int(classes.max()) + 1, vectors.shape[1])
    sums.index_add_(0, classes.long(), vectors)
    sizes = torch.bincount(classes.long()).double()
    together = float(sums.square().sum()) - len(vectors)
    apart = float(vectors.sum(0).square().sum()) - float(sums.square().sum())
    pairs = float((sizes * (sizes - 1)).sum())
    others = len(vectors) * (len(vectors) - 1) - pairs
    return (together / pairs if pairs else None, apart / others if others else None)


def _mean(values: Tensor) -> float | None:
    return float(values.mean()) if len(values) else None


def _detached(examples: Examples) -> Examples:
    scores = examples.pair_scores
    return replace(
        examples,
        columns=tuple(column.detach() for column in examples.columns),
        outputs=(),
        pair_scores=None if scores is None else scores.detach(),
    )


def _number(value: object) -> object:
    return float(value) if isinstance(value, Tensor) and value.numel() == 1 else value
