"""``lossprism.probe(loss, batch)``: what a loss does to one batch, in any training loop."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.labels import UNIT, label_rules
from lossprism.losses.modules import LossModule, QueuedLoss, loss_module
from lossprism.losses.sentence_transformers.batch_measurement_record import Measured
from lossprism.losses.sentence_transformers.loss_call_recorder import (
    LossRecorder,
    TensorCall,
    TrainerCall,
    inputs_of,
)
from lossprism.losses.sentence_transformers.loss_replay import measured
from lossprism.losses.sentence_transformers.metrics_from_definition import (
    detached_settings,
    figures_of_gradients,
    mean_similarities,
    mean_similarities_of_batch,
    plain_settings,
    reference_value,
    value_with_terms,
)
from lossprism.losses.sentence_transformers.trainer_batch import Examples

# The inputs that label pairs.
PAIR_LABELS = ("labels", "binary_labels", "unit_labels", "cosine_labels", "pair_classes")


def probe(loss: Any, batch: Any, **parameters: Any) -> Measured:
    """Measure what a loss does to a batch: its value, collapse, minimum, effective terms, gradient.

        import lossprism
        found = lossprism.probe("info_nce", {"queries": u, "keys": v}, temperature=0.05)
        found.figures            # numbers by name, for any logger
        found.save("prism", 100) # opens with ``lossprism --open prism``

    Gradients of the caller are left alone: the tensors are detached.

    Args:
        loss: the name of a loss, or of a library's class; a function of `losses`; a module of
            `losses.modules`; or a loss of sentence-transformers, or of its trainers' adapter.
        batch: the tensors that the loss is called with, by name or in order, one alone, too. For a
            loss of sentence-transformers ``(sentence_features, labels)``: its model is called. Or a
            recorded call (`losses.sentence_transformers.loss_call_recorder`).
        parameters: of a loss that is given by its name or function.

    Raises:
        TypeError: for a loss that is none of these, or inputs that it does not take.
        ValueError: for a batch that the loss cannot be computed on.
    """
    if isinstance(batch, TrainerCall):
        return measured(loss, batch)
    if isinstance(loss, nn.Module) and not isinstance(loss, LossModule):
        return measured(loss, _call_of(loss, batch))
    module = _module_of(loss, parameters)
    if isinstance(batch, TensorCall):
        return _measured_tensors(module, batch.inputs)
    positional, named = ((), batch) if isinstance(batch, Mapping) else (_in_order(batch), {})
    try:
        inputs = inputs_of(module, positional, named)
    except TypeError:
        known = ", ".join(module.spec.reads)
        sent = ", ".join(map(str, named)) or f"{len(positional)} in order"
        raise TypeError(f"{module.spec.name} takes the inputs {known}; given: {sent}") from None
    return _measured_tensors(module, inputs)


def _call_of(loss: nn.Module, batch: Any) -> TrainerCall:
    """Call a loss of sentence-transformers with a batch, and return the recorded call."""
    model = getattr(loss, "model", None)
    if not isinstance(model, nn.Module):
        raise TypeError(
            f"{type(loss).__name__} has no model to read vectors from; probe a loss of "
            "sentence-transformers, a module of losses.modules, a function, or a name"
        )
    recorder = LossRecorder([loss], model)
    try:
        with torch.no_grad():
            loss(*batch)
    finally:
        recorder.stop()
    if recorder.call is None or not isinstance(recorder.call[1], TrainerCall):
        raise ValueError(f"{type(loss).__name__} asked its model for no vectors of this batch")
    return recorder.call[1]


def _module_of(loss: Any, parameters: Mapping[str, Any]) -> LossModule:
    if isinstance(loss, LossModule):
        if parameters:
            raise TypeError(f"{type(loss).__name__} has its parameters already: {[*parameters]}")
        return loss
    if isinstance(loss, functools.partial):
        return _module_of(loss.func, {**loss.keywords, **parameters})
    name = loss if isinstance(loss, str) else _name_of(loss)
    module = loss_module(name)
    plain = type(module.__name__, (LossModule,), {"spec": module.spec})  # prototypes are inputs
    return plain(**parameters)


def _name_of(function: Callable[..., Tensor]) -> str:
    named = getattr(function, "__name__", type(function).__name__)
    if named not in LOSSES or LOSSES[named].function is not function:
        raise TypeError(f"{named} is no loss of LossPrism; give its name, or a module of it")
    return named


def _in_order(batch: Any) -> Sequence[Tensor]:
    return (batch,) if isinstance(batch, Tensor) else tuple(batch)


def _measured_tensors(module: LossModule, inputs: Mapping[str, Tensor]) -> Measured:
    """Measure a module on tensors by the names of its arguments."""
    spec, called = module.spec, type(module).__name__
    if isinstance(module, QueuedLoss):
        raise ValueError(
            f"{called} keeps vectors of earlier batches, which one batch does not tell"
        )
    own = {name: value for name, value in module.settings.items() if name in spec.defaults}
    settings = detached_settings(own)
    read = {name: _leaf(spec, name, one) for name, one in inputs.items()}
    _check_names(spec, read)
    leaves = [one for one in read.values() if one.requires_grad]
    value, terms = value_with_terms(spec, read, settings, None)
    effective, norm = figures_of_gradients(value, terms, leaves)
    fixed = {name: tensor.detach() for name, tensor in read.items()}
    # Reference values are of the inputs of the spec: given triplets are none of mined ones.
    is_described = fixed.keys() <= spec.reads.keys()
    plain = plain_settings(settings)
    measurement = Measured(
        float(value.detach()),
        None,
        spec.name,
        spec.convention,
        plain,
        _at_collapse(spec, fixed, plain) if is_described else None,
        reference_value(spec, "floor", fixed, plain, None) if is_described else None,
        effective,
        norm,
        called=called,
        rows=len(next(iter(fixed.values()))),
        scored="scores" in {spec.reads.get(name) for name in fixed},
    )
    return _with_pairs(
        measurement, {spec.reads.get(name, name): one for name, one in fixed.items()}
    )


def _check_names(spec: LossSpec, read: Mapping[str, Tensor]) -> None:
    named = inspect.signature(spec.function).parameters.items()
    inputs = {name: one for name, one in named if name not in spec.defaults}
    needed = (name for name, one in inputs.items() if one.default is one.empty)
    if missing := [name for name in needed if name not in read]:
        raise TypeError(f"{spec.name} needs {', '.join(missing)} too")


def _leaf(spec: LossSpec, name: str, tensor: Tensor) -> Tensor:
    """Return a copy of an input, differentiated where the model makes it."""
    made_of = READABLE[spec.reads[name]].made_of if name in spec.reads else "vectors"
    leaf = tensor.detach().clone()
    if leaf.dtype in (torch.float16, torch.bfloat16):
        leaf = leaf.float()
    made = made_of in ("vectors", "scores") and leaf.is_floating_point()
    return leaf.requires_grad_() if made and not name.startswith("guide") else leaf


def _at_collapse(
    spec: LossSpec, inputs: Mapping[str, Tensor], settings: Mapping[str, object]
) -> float | None:
    """Return the value at collapse: by its formula, else the loss itself on equal vectors."""
    if spec.collapse is not None:
        return reference_value(spec, "collapse", inputs, settings, None)
    of_model = [n for n in inputs if READABLE[spec.reads[n]].made_of in ("vectors", "scores")]
    same = {**inputs, **{name: torch.ones_like(inputs[name]) for name in of_model}}
    return float(spec.definition(**same, **settings))


def _with_pairs(measurement: Measured, inputs: Mapping[str, Tensor]) -> Measured:
    """Add the pairs of the batch, and their mean similarities, where the inputs tell them."""
    queries, keys, negatives = (inputs.get(one) for one in ("queries", "keys", "negatives"))
    if queries is not None and keys is not None and len(queries) == len(keys):
        positive, negative = mean_similarities_of_batch(queries, keys, negatives)
        measurement = replace(measurement, positives=positive, negatives=negative)
        owned = negatives is None or len(negatives) == len(queries)
        columns = (queries, keys) if negatives is None else (queries, keys, negatives)
        examples = _examples(columns, None, _of_first(columns)) if owned else None
        return replace(measurement, examples=examples)
    examples = _examples_of(inputs)
    if examples is None:
        return measurement
    positive, negative = mean_similarities(examples, of_batch=False)
    return replace(measurement, examples=examples, positives=positive, negatives=negative)


def _examples_of(inputs: Mapping[str, Tensor]) -> Examples | None:
    """Return the labelled pairs, the classes or the triplets of a batch; None where there are none
    that can be told."""
    labels = next((inputs[name] for name in PAIR_LABELS if name in inputs), None)
    scores, first, second = (inputs.get(name) for name in ("scores", "first", "second"))
    if labels is not None and scores is not None:
        return _examples((), scores, labels)
    if labels is not None and first is not None and second is not None:
        return _examples((first, second), None, labels)
    classes = next((inputs[n] for n in ("classes", "paired_classes") if n in inputs), None)
    if classes is not None and "embeddings" in inputs:
        return _examples((inputs["embeddings"],), None, classes)
    names = ("triplet_anchors", "triplet_positives", "triplet_negatives")
    if all(name in inputs for name in names):
        columns = tuple(inputs[name] for name in names)
        return _examples(columns, None, _of_first(columns))
    return None


def _of_first(columns: Sequence[Tensor]) -> Tensor:
    """Return the labels of pairs whose first column of candidates has the positives."""
    rows = len(columns[0])
    return torch.cat([torch.ones(rows), torch.zeros((len(columns) - 2) * rows)])


def _examples(columns: Sequence[Tensor], scores: Tensor | None, labels: Tensor) -> Examples:
    plain = labels.float().cpu()
    rules = (
        label_rules(plain.tolist()) if len(columns) != 1 else label_rules([0.0, 1.0], None, UNIT)
    )
    return Examples(
        columns=tuple(column.detach().float() for column in columns),
        outputs=(),
        pair_scores=None if scores is None else scores.detach().float(),
        labels=plain.to(labels.device),
        rows=len(labels) if scores is not None else len(columns[0]),
        bound=rules.threshold,
        labelled=True,
        label_range=rules.label_range,
    )
