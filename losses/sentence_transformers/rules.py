"""What a loss makes of the labels that a trainer hands it, batch by batch."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import torch
from torch import Tensor

from losses.gather import gather_rows
from losses.inputs import may_ask, must_be_finite
from losses.labels import COSINES, UNIT, Ends, LabelRules, holds, label_range_of, middle
from losses.spec import LossSpec

CHOOSE = (
    "label_range=(low, high), the ends of the scale of all labels "
    "(losses.labels.label_range_of finds them)"
)


class BatchRules:
    """The rules of one loss object: those it was given, else what fits its first batch.

    A batch does not show the scale that its labels were given on. Without a `label_range`, the
    first batch (that of all processes) is read as a part of the data, which a warning says once
    unless its labels are 0 and 1, or are regressed on within 0..1 as they are. From then on the
    scale stays as it is: a label outside it is an error, never another scale. So is a first batch
    of labels that are all positive, or all not, where the loss needs both; of equal ones, too. Who
    gives a `label_range` is taken at their word: there, a batch on one side is chance. What is
    resumed begins with another batch, so give one there.

    Args:
        spec: the loss.
        name: what the user calls it.
        threshold: a pair with this label or more is positive; None is the middle of the scale.
        label_range: the ends of the labels' scale, the least first.

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
            self._must_part(low, high, threshold, f"label_range ({low:g}, {high:g})")

    @property
    def ends(self) -> Ends | None:
        """The ends of the scale as it is read, None where no batch was needed to know them yet."""
        return self.label_range or self._guessed

    @property
    def bound(self) -> float | None:
        """The label from which a pair is positive; None where that is not known yet."""
        ends = self.ends
        return self.threshold if self.threshold is not None or ends is None else middle(ends)

    def read(self, labels: Tensor) -> LabelRules:
        """The rules for the labels [P] of a batch.

        Raises:
            ValueError: where they do not fit these labels; it names the argument to give.
        """
        if self.label_range is None and (self.spec.by_range or self.spec.by_threshold):
            self._look(labels)
        elif self.label_range and self.spec.by_range and may_ask(labels):
            self._must_hold(labels, self.label_range, "label_range is")
        threshold, ends = self.bound, self.ends or UNIT
        return LabelRules(middle(ends) if threshold is None else threshold, ends)

    def _look(self, labels: Tensor) -> None:
        """Guess by the first batch what was not given, and hold later ones to it."""
        needs_ends = self.spec.by_range or self.threshold is None
        if self._begun:
            if needs_ends and self._guessed:
                self._must_hold(labels, self._guessed, "the first batch was read as")
            return
        self._begun = True
        must_be_finite("labels", labels)
        seen = _numbers(gather_rows(labels.detach())[0])
        if needs_ends:
            self._guessed = label_range_of(seen, part=True)
        low, high, bound = min(seen), max(seen), self.bound
        assert bound is not None
        self._must_part(low, high, bound, f"the first batch of {len(seen)} pairs")
        # Of labels that are 0 and 1 there is nothing to be guessed.
        parted = self.spec.by_threshold and self.threshold is None and not {*seen} <= {0.0, 1.0}
        if needs_ends and (self._guessed != UNIT or parted):
            warnings.warn(self._told(low, high, bound), stacklevel=2)

    def _told(self, low: float, high: float, bound: float) -> str:
        """What was made of the labels, for who gave no rules."""
        assert self._guessed
        made = []
        if self.spec.by_threshold and self.threshold is None:
            made.append(f"positive from {bound:g}")
        if self.spec.by_range and self._guessed not in (COSINES, UNIT):
            made.append("regressed on from 0 to 1")
        seen = f"{low:g} to {high:g}" if low < high else f"{low:g} alone"
        told = f"labels {seen} of the first batch are read as"
        ends = "{:g} to {:g}".format(*self._guessed)
        choose = f"pass {CHOOSE}, to choose"
        if self.spec.by_threshold:
            choose = f"pass threshold=…, or {CHOOSE}, to choose"
        return f"{self.name}: {told} {', '.join([ends, *made])}; {choose}"

    def _must_hold(self, labels: Tensor, ends: Ends, why: str) -> None:
        for label in _numbers(torch.stack(labels.detach().aminmax())):
            if not holds(ends, label, label):
                said = f"{why} ({ends[0]:g}, {ends[1]:g})"
                raise ValueError(f"{self.name}: a label is {label:g}, and {said}; pass {CHOOSE}")

    def _must_part(self, low: float, high: float, bound: float, where: str) -> None:
        """Refuse a threshold that leaves the labels from `low` to `high` on a side of it."""
        positive, other = low >= bound, high < bound
        both = "sides" in self.spec.needs
        if (both and positive) or (self.spec.needs_positives and other):
            where_not = "at or above" if positive else "below"
            wanted = "pairs on both sides of it" if both else "positive pairs"
            found = f"{low:g} to {high:g}" if low < high else f"all {low:g}"
            raise ValueError(
                f"{self.name}: the labels of {where}, {found}, are all {where_not} the "
                f"threshold {bound:g}, and this loss needs {wanted}; pass threshold=…, from which "
                f"label on pairs are positive, or {CHOOSE}"
            )


def _numbers(labels: Tensor) -> Sequence[float]:
    """As they were typed: 4.4, and not the nearest number of float32."""
    digits = {torch.float32: 7, torch.float16: 3, torch.bfloat16: 2}.get(labels.dtype, 17)
    return [float(f"{label:.{digits}g}") for label in labels.cpu().double().tolist()]
