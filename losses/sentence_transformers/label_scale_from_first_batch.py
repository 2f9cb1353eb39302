"""Interpretation of the labels that a trainer passes to a loss, batch by batch."""

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from lossprism.losses.gather import gather_rows
from lossprism.losses.input_checks import may_ask, must_be_finite
from lossprism.losses.labels import (
    COSINES,
    UNIT,
    Ends,
    LabelRules,
    holds,
    label_range_of,
    middle,
)
from lossprism.losses.spec import LossSpec

CHOOSE = (
    "label_range=(low, high), the ends of the scale of all labels "
    "(losses.labels.label_range_of finds them)"
)


class BatchRules:
    """The rules of one loss object: those passed to it, else those that fit its first batch.

    A batch does not show the scale of its labels. Without a `label_range`, the first batch (that of
    all processes) is read as a part of the data, with one warning unless its labels are 0 and 1, or
    are regressed on within 0..1 unchanged. From then on the scale is fixed: a label outside it is
    an error. So is a first batch of labels that are all positive, or all not, if the loss needs
    both; of equal ones, too. With a `label_range` there is no such check: a one-sided batch is
    chance. A resumed training starts with another batch, so pass one there.

    Args:
        spec: the loss.
        name: the user's name of it.
        threshold: a pair with at least this label is positive; None is the middle of the scale.
        label_range: the ends of the labels' scale, lowest first.

    Raises:
        ValueError: if the ends are none, or all labels between them would be on one side.
    """

    def __init__(
        self, spec: LossSpec, name: str, threshold: float | None, label_range: Ends | None
    ) -> None:
        self.spec, self.name = spec, name
        self.threshold, self.label_range = threshold, label_range
        self._guessed: Ends | None = None
        self._begun = False
        if label_range is None:
            return
        low, high = self.label_range = float(label_range[0]), float(label_range[1])
        if not -torch.inf < low < high < torch.inf:
            raise ValueError(f"label_range is {label_range}; it must be (low, high), low < high")
        if threshold is not None:
            self._check_threshold(low, high, threshold, f"label_range ({low:g}, {high:g})")

    @property
    def ends(self) -> Ends | None:
        """The ends of the scale; None until the first batch if it is needed."""
        return self.label_range or self._guessed

    @property
    def bound(self) -> float | None:
        """The label from which a pair is positive; None if not yet known."""
        ends = self.ends
        return self.threshold if self.threshold is not None or ends is None else middle(ends)

    def read(self, labels: Tensor) -> LabelRules:
        """Return the rules for the labels [P] of a batch.

        Raises:
            ValueError: if they do not fit these labels; it names the argument to pass.
        """
        if self.label_range is None and (self.spec.by_range or self.spec.by_threshold):
            self._guess_from_first_batch(labels)
        elif self.label_range and self.spec.by_range and may_ask(labels):
            self._check_range(labels, self.label_range, "label_range is")
        threshold, ends = self.bound, self.ends or UNIT
        return LabelRules(middle(ends) if threshold is None else threshold, ends)

    def _guess_from_first_batch(self, labels: Tensor) -> None:
        """Guess missing rules from the first batch, and check later ones against them."""
        needs_ends = self.spec.by_range or self.threshold is None
        if self._begun:
            if needs_ends and self._guessed:
                self._check_range(labels, self._guessed, "the first batch was read as")
            return
        self._begun = True
        must_be_finite("labels", labels)
        seen = _numbers(gather_rows(labels.detach())[0])
        if needs_ends:
            self._guessed = label_range_of(seen, part=True)
        low, high, bound = min(seen), max(seen), self.bound
        assert bound is not None
        self._check_threshold(low, high, bound, f"the first batch of {len(seen)} pairs")
        # Of labels that are 0 and 1 there is nothing to be guessed.
        parted = self.spec.by_threshold and self.threshold is None and not {*seen} <= {0.0, 1.0}
        if needs_ends and (self._guessed != UNIT or parted):
            warnings.warn(self._guess_description(low, high, bound), stacklevel=2)

    def _guess_description(self, low: float, high: float, bound: float) -> str:
        """Describe the guessed rules, for a user who passed none."""
        assert self._guessed
        rules = []
        if self.spec.by_threshold and self.threshold is None:
            rules.append(f"positive from {bound:g}")
        if self.spec.by_range and self._guessed not in (COSINES, UNIT):
            rules.append("regressed on from 0 to 1")
        seen = f"{low:g} to {high:g}" if low < high else f"{low:g} alone"
        read_as = f"labels {seen} of the first batch are read as"
        ends = "{:g} to {:g}".format(*self._guessed)
        choose = f"pass {CHOOSE}, to choose"
        if self.spec.by_threshold:
            choose = f"pass threshold=…, or {CHOOSE}, to choose"
        return f"{self.name}: {read_as} {', '.join([ends, *rules])}; {choose}"

    def _check_range(self, labels: Tensor, ends: Ends, why: str) -> None:
        for label in _numbers(torch.stack(labels.detach().aminmax())):
            if not holds(ends, label, label):
                shown = f"{why} ({ends[0]:g}, {ends[1]:g})"
                raise ValueError(f"{self.name}: a label is {label:g}, and {shown}; pass {CHOOSE}")

    def _check_threshold(self, low: float, high: float, bound: float, where: str) -> None:
        """Raise for a threshold with all labels from `low` to `high` on one side."""
        positive, other = low >= bound, high < bound
        both = "sides" in self.spec.needs
        if (both and positive) or (self.spec.needs_positives and other):
            where_not = "at or above" if positive else "below"
            needed = "pairs on both sides of it" if both else "positive pairs"
            labels_seen = f"{low:g} to {high:g}" if low < high else f"all {low:g}"
            raise ValueError(
                f"{self.name}: the labels of {where}, {labels_seen}, are all {where_not} the "
                f"threshold {bound:g}, and this loss needs {needed}; pass threshold=…, from which "
                f"label on pairs are positive, or {CHOOSE}"
            )


def _numbers(labels: Tensor) -> Sequence[float]:
    """Return numbers as typed: 4.4, and not the nearest number of float32."""
    digits = {torch.float32: 7, torch.float16: 3, torch.bfloat16: 2}.get(labels.dtype, 17)
    return [float(f"{label:.{digits}g}") for label in labels.cpu().double().tolist()]
