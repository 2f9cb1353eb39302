"""Measurements of a loss on a batch that was trained on, from the vectors that the model returned.

A training passes tokens and gets one number. The values between are computed here a second time,
without the model: the equivalent loss of ours receives the vectors, so that a measured step costs
no pass through the encoder.
"""

import copy
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from lossprism.losses import LOSSES
from lossprism.losses.sentence_transformers.batch_measurement_record import Measured
from lossprism.losses.sentence_transformers.candidate_lists import is_ragged
from lossprism.losses.sentence_transformers.generated_training_loss_classes import (
    TRAINING_LOSSES,
    training_loss,
)
from lossprism.losses.sentence_transformers.library_loss_recognition import recognised
from lossprism.losses.sentence_transformers.loss_call_recorder import TrainerCall
from lossprism.losses.sentence_transformers.matryoshka_loss_recognition import inner_of, on_prefixes
from lossprism.losses.sentence_transformers.metrics_from_definition import (
    detached_settings,
    figures_of_gradients,
    mean_similarities,
    plain_settings,
    reference_value,
    value_with_terms,
)
from lossprism.losses.sentence_transformers.trainer_batch import Examples
from lossprism.losses.sentence_transformers.training_loss_base import TrainingLoss

# By how much our value may differ from the training's for both to be one loss: what float32, and
# what half precision, keep of a sum.
TOLERANCE, HALF_TOLERANCE = 1e-3, 3e-2
# Beyond so many rows every matrix of a loss would take longer than the step itself.
MAX_ROWS = 2048


class ReplayedModel(nn.Module):
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


def measured(loss: nn.Module, call: TrainerCall) -> Measured:
    """Measure a batch under the loss that it was trained with.

    `loss` is one of ours, or a class of the library that the registry knows: the candidate that
    yields the training's value. For any other one only similarities are measured.
    """
    own = inner_of(loss) or loss
    is_in_pairs = call.crossed and is_ragged(call.columns)
    measurement = _measured(loss, call)
    return replace(
        measurement,
        called=type(loss).__name__,
        rows=len(measurement.examples.labels)
        if measurement.examples and is_in_pairs
        else call.rows,
        scored=call.crossed,
        duplicates=own.twins if isinstance(own, TrainingLoss) else "keep",
    )


def _measured(loss: nn.Module, call: TrainerCall) -> Measured:
    leaves = _leaves(call)
    if call.rows <= MAX_ROWS:
        for candidate in _candidates(loss, call.model):
            measurement = _measure(candidate, call, leaves)
            if measurement is not None:
                return measurement
    plain = _replayed(_loss_for_shape(call), call, leaves)
    examples = _detached(_read(plain, call))
    if len(examples.scores) != len(examples.labels) and len(call.columns) > 1:
        return Measured(call.number, None)
    # Of an unknown loss, rows without labels are compared with each other.
    of_batch = call.labels is None and not call.crossed
    positives, negatives = mean_similarities(examples, of_batch=of_batch)
    return Measured(call.number, examples, positives=positives, negatives=negatives)


def _leaves(call: TrainerCall) -> list[Tensor]:
    tensors = [call.scores()] if call.crossed else call.vectors()
    return [one.detach().clone().requires_grad_() for one in tensors]


def _candidates(loss: nn.Module, model: nn.Module) -> list[TrainingLoss]:
    if isinstance(loss, TrainingLoss):
        return [loss]
    if (inner := inner_of(loss)) is not None:
        nested = (_nested(loss, one, model) for one in _candidates(inner, model))
        return [one for one in nested if one is not None]
    config = getattr(loss, "get_config_dict", dict)()
    losses = []
    for one in recognised(type(loss).__name__, config):
        options: dict[str, Any] = {"similarity": one.similarity} if one.spec.reads_scores else {}
        # What the loss learns itself is no setting that is known here.
        if set(one.spec.reads.values()) & {"prototypes", "pair_logits", "level_scores"}:
            continue
        losses.append(
            _loss_of(one.spec.name)(
                model, convention=one.convention, **options, **dict(one.parameters)
            )
        )
    # One that reads triplets as they are given comes before one that mines others of its own.
    return sorted(losses, key=lambda one: bool(one.given_triplets))


def _nested(loss: nn.Module, inner: TrainingLoss, model: nn.Module) -> TrainingLoss | None:
    """Return the loss on prefixes whose inner loss is this one."""
    on_prefix = on_prefixes(LOSSES[inner.name], loss)
    if on_prefix is None:
        return None
    spec, weights = on_prefix
    settings: dict[str, Any] = {**weights}
    for name, known in spec.parts[0].parameters.items():
        settings[known] = inner.settings[name]
    inner_loss = _loss_of(spec.name)(
        model, extra_negatives=inner.extra_negatives, twins=inner.twins, **settings
    )
    inner_loss.rules, inner_loss.guide = inner.rules, inner.guide
    return inner_loss


def _loss_of(name: str) -> Callable[..., TrainingLoss]:
    return TRAINING_LOSSES.get(name) or training_loss(name)


def _loss_for_shape(call: TrainerCall) -> TrainingLoss:
    """Return a loss of ours that reads a batch of this shape; its value is not reported."""
    shapes = {(1, True): "supcon", (2, True): "cosent"}
    name = shapes.get((len(call.columns), call.labels is not None), "alignment")
    return _loss_of("cosent" if call.crossed else name)(call.model)


def _replayed(loss: TrainingLoss, call: TrainerCall, outputs: Sequence[Tensor]) -> TrainingLoss:
    """Return a copy of the loss, with its rules and weights, on a replayed model."""
    replica = copy.copy(loss)
    modules = {**loss._modules, "model": ReplayedModel(call.model, outputs, call.crossed)}
    replica.__dict__["_modules"] = modules
    replica.gather = False
    return replica


def _read(replica: TrainingLoss, call: TrainerCall) -> Examples:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the loss itself has warned of how it reads the labels
        return replica.examples(list(call.columns), call.labels, None, None)


def _measure(loss: TrainingLoss, call: TrainerCall, leaves: Sequence[Tensor]) -> Measured | None:
    """Measure under this loss if its value is the training's; else return None."""
    replica = _replayed(loss, call, leaves)
    try:
        examples = _read(replica, call)
        read = replica.arguments(examples)
        settings = detached_settings(replica.settings_for(examples))
        read, settings = replica.called_with(read, settings)
        lists = replica.lists_compared(examples)
        value, terms = value_with_terms(replica.spec, read, settings, lists)
    except (ValueError, TypeError, IndexError):  # it reads no batch of this shape, or so set
        return None
    tolerance = HALF_TOLERANCE if call.half else TOLERANCE
    close = {"rel_tol": tolerance, "abs_tol": tolerance * 1e-2}
    if not math.isclose(float(value.detach()), call.number, **close):
        return None
    spec = replica.spec.scored_as(_score_kind(replica, call))
    effective, norm = figures_of_gradients(value, terms, leaves)
    plain = plain_settings(settings)
    with torch.no_grad():
        fixed = {name: tensor.detach() for name, tensor in read.items()}
        collapse = reference_value(spec, "collapse", fixed, plain, lists)
        if spec.collapse is None:
            collapse = _at_collapse(replica, call, leaves, settings)
        floor = reference_value(spec, "floor", fixed, plain, lists)
    examples = _detached(examples)
    positives, negatives = mean_similarities(examples, spec.of_positives)
    return Measured(
        call.number,
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


def _score_kind(replica: TrainingLoss, call: TrainerCall) -> str:
    """Return the kind of the pair scores (`losses.score_kinds`): logits for a cross-encoder, unless
    the convention transforms them."""
    if not call.crossed:
        return replica.spec.score if replica.spec.score == "dot" else replica.similarity
    return "logit" if replica.spec.score in ("cosine", "dot") else replica.spec.score


def _at_collapse(
    replica: TrainingLoss,
    call: TrainerCall,
    leaves: Sequence[Tensor],
    settings: Mapping[str, object],
) -> float | None:
    """Compute the loss itself on equal vectors."""
    same = [torch.ones_like(one) for one in leaves]
    other = _replayed(replica, call, same)
    examples = _read(other, call)
    read, lists = other.arguments(examples), other.lists_compared(examples)
    value = float(value_with_terms(other.spec, read, settings, lists)[0])
    return value if math.isfinite(value) else None


def _detached(examples: Examples) -> Examples:
    scores = examples.pair_scores
    return replace(
        examples,
        columns=tuple(column.detach() for column in examples.columns),
        outputs=(),
        pair_scores=None if scores is None else scores.detach(),
    )
