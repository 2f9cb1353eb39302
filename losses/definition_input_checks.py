"""Input checks for bare definitions, the same as public losses make, by what arguments read."""

import functools
import inspect
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from lossprism.losses import input_checks
from lossprism.losses.inputs_that_losses_may_read import READABLE

Given = dict[str, Tensor]
ROWS_OF_TEXTS = {"query_texts": "queries", "key_texts": "keys", "negative_texts": "negatives"}


def with_checked_inputs(
    definition: Callable[..., Tensor], reads: Mapping[str, str]
) -> Callable[..., Tensor]:
    """Return the definition with inputs checked as by a public loss and raised to float32.

    `reads` is that of its `LossSpec`. Raises TypeError or ValueError for invalid inputs.
    """
    signature = inspect.signature(definition)

    @functools.wraps(definition)
    def checked(*positional: object, **named: object) -> Tensor:
        arguments = signature.bind(*positional, **named).arguments
        provided = {name: arguments[name] for name in reads if arguments.get(name) is not None}
        for check in (_texts, _vectors, _pair_labels, _classes, _lists):
            provided |= check(provided, reads)
        return definition(**{**arguments, **provided})

    return checked


def _of(
    made_of: str, axes: tuple[str, ...], provided: Given, reads: Mapping[str, str]
) -> list[str]:
    """Return the arguments made of this, along these axes."""
    readings = {name: READABLE[reads[name]] for name in provided}
    return [n for n, one in readings.items() if (one.made_of, one.axes) == (made_of, axes)]


def _rows(provided: Given, reads: Mapping[str, str]) -> Given:
    """Check vectors whose row i belongs to the same example."""
    readings = {name: READABLE[reads[name]] for name in provided}
    return {
        name: provided[name]
        for name, one in readings.items()
        if one.axes[-1].endswith("dimension") and one.axes[0] != "class" and not one.optional
    }


def _vectors(provided: Given, reads: Mapping[str, str]) -> Given:
    chosen = [name for name in provided if READABLE[reads[name]].axes[-1].endswith("dimension")]
    tensors = {name: provided[name] for name in chosen}
    vectors = dict(zip(chosen, input_checks.vectors(**tensors), strict=True))
    input_checks.must_be_paired(**_rows(vectors, reads))
    return vectors


def _pair_labels(provided: Given, reads: Mapping[str, str]) -> Given:
    for labels in _of("labels", ("pair",), provided, reads):
        for scores in _of("scores", ("pair",), provided, reads):
            pair = input_checks.pair_scores(provided[scores], provided[labels])
            return dict(zip((scores, labels), pair, strict=True))
        count = len(next(iter(_rows(provided, reads).values())))
        return {labels: input_checks.ordinal(provided[labels], count)}
    return {}


def _classes(provided: Given, reads: Mapping[str, str]) -> Given:
    most = next((len(provided[one]) for one in provided if reads[one] == "prototypes"), None)
    return {
        name: input_checks.class_numbers(
            provided[name], len(next(iter(_rows(provided, reads).values()))), most=most, name=name
        )
        for name in _of("classes", ("sentence",), provided, reads)
    }


def _texts(provided: Given, reads: Mapping[str, str]) -> Given:
    names = {what: name for name, what in reads.items()}
    rows = {names[texts]: names[of] for texts, of in ROWS_OF_TEXTS.items() if texts in names}
    input_checks.must_be_texts(
        **{texts: (provided.get(texts), provided.get(of)) for texts, of in rows.items()}
    )
    return {}


def _lists(provided: Given, reads: Mapping[str, str]) -> Given:
    """Check scores, labels and a teacher's scores [L, K]: finite where the mask has a candidate; a
    teacher's may be −inf."""
    axes = ("list", "candidate")
    lists: Given = {}
    for name in _of("scores", axes, provided, reads):
        scores = lists[name] = input_checks.of_lists(name, provided[name])
        labels, teachers = (_of(made, axes, provided, reads) for made in ("labels", "teacher"))
        for other in (*labels, *teachers):
            lists[other] = input_checks.of_lists(other, provided[other], like=scores)
        of_mask = _of("groups", axes, provided, reads)
        masks = {
            name: input_checks.candidate_mask(provided[name], scores, name) for name in of_mask
        }
        for one, tensor in lists.items():
            teacher = READABLE[reads[one]].made_of == "teacher"
            finite = tensor.masked_fill(tensor == -torch.inf, 0) if teacher else tensor
            input_checks.must_be_finite_where(next(iter(masks.values()), None), **{one: finite})
        lists |= {m: mask for m, mask in masks.items() if mask is not None}
    return lists
