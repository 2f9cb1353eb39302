"""Input checks for bare definitions, the same as public losses make, by what arguments read."""

import functools
import inspect
from collections.abc import Callable, Mapping

import torch
from torch import Tensor

from lossprism.losses import inputs
from lossprism.losses.readable_inputs import READABLE

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
        given = {name: arguments[name] for name in reads if arguments.get(name) is not None}
        for check in (_texts, _vectors, _pair_labels, _classes, _lists):
            given |= check(given, reads)
        return definition(**{**arguments, **given})

    return checked


def _of(made_of: str, axes: tuple[str, ...], given: Given, reads: Mapping[str, str]) -> list[str]:
    """Return the arguments made of this, along these axes."""
    readings = {name: READABLE[reads[name]] for name in given}
    return [n for n, one in readings.items() if (one.made_of, one.axes) == (made_of, axes)]


def _rows(given: Given, reads: Mapping[str, str]) -> Given:
    """Check vectors whose row i belongs to the same example."""
    readings = {name: READABLE[reads[name]] for name in given}
    return {
        name: given[name]
        for name, one in readings.items()
        if one.axes[-1].endswith("dimension") and one.axes[0] != "class" and not one.optional
    }


def _vectors(given: Given, reads: Mapping[str, str]) -> Given:
    chosen = [name for name in given if READABLE[reads[name]].axes[-1].endswith("dimension")]
    tensors = {name: given[name] for name in chosen}
    vectors = dict(zip(chosen, inputs.vectors(**tensors), strict=True))
    inputs.must_be_paired(**_rows(vectors, reads))
    return vectors


def _pair_labels(given: Given, reads: Mapping[str, str]) -> Given:
    for labels in _of("labels", ("pair",), given, reads):
        for scores in _of("scores", ("pair",), given, reads):
            pair = inputs.pair_scores(given[scores], given[labels])
            return dict(zip((scores, labels), pair, strict=True))
        count = len(next(iter(_rows(given, reads).values())))
        return {labels: inputs.ordinal(given[labels], count)}
    return {}


def _classes(given: Given, reads: Mapping[str, str]) -> Given:
    most = next((len(given[one]) for one in given if reads[one] == "prototypes"), None)
    return {
        name: inputs.class_numbers(
            given[name], len(next(iter(_rows(given, reads).values()))), most=most, name=name
        )
        for name in _of("classes", ("sentence",), given, reads)
    }


def _texts(given: Given, reads: Mapping[str, str]) -> Given:
    names = {what: name for name, what in reads.items()}
    rows = {names[texts]: names[of] for texts, of in ROWS_OF_TEXTS.items() if texts in names}
    inputs.must_be_texts(**{texts: (given.get(texts), given.get(of)) for texts, of in rows.items()})
    return {}


def _lists(given: Given, reads: Mapping[str, str]) -> Given:
    """Check scores, labels and a teacher's scores [L, K]: finite where the mask has a candidate; a
    teacher's may be −inf."""
    axes = ("list", "candidate")
    lists: Given = {}
    for name in _of("scores", axes, given, reads):
        scores = lists[name] = inputs.of_lists(name, given[name])
        labels, teachers = (_of(made, axes, given, reads) for made in ("labels", "teacher"))
        for other in (*labels, *teachers):
            lists[other] = inputs.of_lists(other, given[other], like=scores)
        of_mask = _of("groups", axes, given, reads)
        masks = {name: inputs.candidate_mask(given[name], scores, name) for name in of_mask}
        for one, tensor in lists.items():
            teacher = READABLE[reads[one]].made_of == "teacher"
            finite = tensor.masked_fill(tensor == -torch.inf, 0) if teacher else tensor
            inputs.must_be_finite_where(next(iter(masks.values()), None), **{one: finite})
        lists |= {m: mask for m, mask in masks.items() if mask is not None}
    return lists
