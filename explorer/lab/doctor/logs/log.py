"""The log of a run: its curves, and what is known of how it was trained."""

from __future__ import annotations

import itertools
import math
import re
import sys
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.runtime.problem import Problem

MAX_POINTS = 2_000_000
MAX_CURVES = 10_000  # each takes memory, however short
# Values, and their steps (None for 1, 2, 3 …).
NumberSeries = tuple[tuple[float, ...], tuple[float, ...] | None]
# Names of a training loss and of a held-out one, without their prefixes.
TRAINING_LOSS_NAMES = (
    *("loss", "train_loss", "training_loss", "train"),
    *("avg_loss", "mean_loss", "total_loss", "tr_loss", "running_loss"),
    "reduced_train_loss",
    *("contrastive_loss", "triplet_loss", "ranking_loss", "info_nce_loss", "infonce_loss"),
)
HELD_OUT_LOSS_NAMES = (
    "eval_loss",
    "val_loss",
    "valid_loss",
    "validation_loss",
    "test_loss",
    "dev_loss",
)
# A held-out figure that should rise.
METRIC_NAME = re.compile(
    r"spearman|pearson|accuracy|ndcg|mrr|recall|precision|f1|auc|(?:^|[^a-z])map(?:[^a-z]|$)", re.I
)
# The threshold of such a figure: a higher one is no better.
THRESHOLD_NAME = re.compile("threshold", re.I)
# A correlation of similarities with labels.
CORRELATION_NAME = re.compile(r"spearman|pearson", re.I)
GRADIENT_NORM_NAME = re.compile(r"grad(ient)?_norm$", re.I)
EVALUATION_NAME = re.compile(r"eval|val|test|dev|held|验证|测试|评估", re.I)
PRISM_PREFIX = "prism_"  # before the names of the curves of `PrismCallback`
RUN_SEPARATOR = " - "  # between the names of a run and of its curve, as wandb writes it
RUN_SEPARATOR_PATTERN = " [-·] "  # the same in other logs, as an expression
# Names of the step, the better first: for trackio and wandb, "step" counts their own calls.
GLOBAL_STEPS = ("global_step", "train/global_step", "trainer/global_step")
STEP_NAMES = (
    *("global_step/max_steps", *GLOBAL_STEPS, "step"),
    *("_step", "iteration", "iter", "steps", "current_steps", "num_updates", "batch"),
    *("步数", "训练步数", "迭代次数"),
)
EPOCH_NAME = re.compile(r"(?:^|/)(?:epoch|轮次|轮数)$", re.I)
PASTED, PIPED = "pasted.txt", "stdin.txt"  # names of input that has none
ROW_NUMBERS = "#"  # chosen in place of a column of steps: the number of the row
NO_NUMBERS = ("NaN", "Infinity", "-Infinity")  # that many programs write into JSON
LARGEST_POWER = sys.float_info.max_10_exp


@dataclass(frozen=True, eq=False)
class Curve:
    """Values over steps, in the order of the steps, with NaN and infinities.

    `unit` [n] is half a unit of the last written digit of each value; 0 for binary numbers.
    """

    name: str
    steps: np.ndarray
    values: np.ndarray
    unit: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    @property
    def is_finite_at_end(self) -> bool:
        """True if the last value is finite: a run that became NaN has no end to judge."""
        return bool(len(self) and np.isfinite(self.values[-1]))

    def step_at(self, place: int) -> int | float:
        """Return the step at this place, an integer if it is whole."""
        step = float(self.steps[place])
        return int(step) if step == int(step) else step

    @property
    def finite(self) -> Curve:
        """Return the curve of the finite values."""
        there = np.isfinite(self.values)
        return replace(
            self, steps=self.steps[there], values=self.values[there], unit=self.unit[there]
        )


@dataclass(frozen=True, eq=False)
class Log:
    """The log of a run.

    `source` names the format; `called` is the class of its loss as logged; `precision` is "fp16",
    "bf16" or "". For a table, `steps` are the columns that may hold its steps, and `step` the one
    that was read, `ROW_NUMBERS` for none; `blank` are the steps of its rows in which no curve has a
    value. `epochs` is the number of passes over its rows; `drawn_collapse` the value at collapse of
    batches drawn from its rows, with its standard error. `left_lines` and `left_columns` belong to
    no curve.
    """

    source: str
    curves: Mapping[str, Curve]
    known: Known = field(default_factory=Known)
    called: str = ""
    precision: str = ""
    steps: tuple[str, ...] = ()
    step: str = ""
    blank: tuple[float, ...] = ()
    epochs: float | None = None
    drawn_collapse: tuple[float, float] | None = None
    left_lines: tuple[int, ...] = ()
    left_columns: tuple[str, ...] = ()

    def curve(self, name: str) -> Curve:
        """Return a curve by name. Raises Problem where there is none, naming those that exist."""
        if name not in self.curves:
            raise Problem("run_no_curve", name=name[:60], known=", ".join(self.curves)[:400])
        return self.curves[name]

    @property
    def trained(self) -> str:
        """The name of the curve of the training loss, "" for none."""
        return self._first(
            TRAINING_LOSS_NAMES, lambda name: not EVALUATION_NAME.search(name.rpartition("/")[0])
        )

    @property
    def held_out(self) -> str:
        """The name of the curve of the held-out loss, "" for none."""
        named = self._first(HELD_OUT_LOSS_NAMES, lambda _: True)
        return named or self._first(("loss",), lambda name: bool(EVALUATION_NAME.search(name)))

    @property
    def figures(self) -> list[str]:
        """Names of the curves of held-out figures that should rise."""
        names = [
            name
            for name in self.curves
            if METRIC_NAME.search(name) and EVALUATION_NAME.search(name)
        ]
        return [name for name in names if not THRESHOLD_NAME.search(name)]

    def _first(self, names: tuple[str, ...], fits) -> str:
        for plain in names:
            for name in self.curves:
                if _plain(name) == plain and fits(name):
                    return name
        return ""


def is_loss(name: str) -> bool:
    """True if a curve of this name is a training loss, or a held-out one."""
    return _plain(name) in (*TRAINING_LOSS_NAMES, *HELD_OUT_LOSS_NAMES)


def run_of(name: str) -> str:
    """Name of the run of a curve: "bold-sun-1" for "bold-sun-1 - train/loss" or "bold-sun-1 ·
    loss"; "" where none is named."""
    return RUN_SEPARATOR.join(re.split(RUN_SEPARATOR_PATTERN, name)[:-1])


def _plain(name: str) -> str:
    """Return a name without its run, its folder and Lightning's ending of step or epoch:
    "bold-sun-1 - train/loss" → "loss", "train_loss_step" → "train_loss"."""
    last = re.split(f"/|{RUN_SEPARATOR_PATTERN}", name)[-1].strip().lower()
    if last.endswith("损失"):
        return "eval_loss" if EVALUATION_NAME.search(last) else "loss"
    return re.sub(r"loss_(step|epoch)$", "loss", last.replace(" ", "_").replace("-", "_"))


def curves_of(points: Iterable[tuple[str, object, object]]) -> dict[str, Curve]:
    """Make curves from (name, step, value) in any order; of two values at one step, the later wins.

    A value is a number, or the text of one.

    Raises Problem for a step or value that is not a number, with its place, and for too many.
    """
    values: dict[str, array[float]] = {}
    for count, (name, step, value) in enumerate(points, 1):
        if count > MAX_POINTS:
            raise Problem("run_too_long", most=MAX_POINTS)
        at = number_in(step)
        if at is None or not math.isfinite(at):
            raise Problem("run_step", name=str(name)[:60], step=str(step)[:60])
        read = number_in(value)
        if read is None:
            raise Problem(
                "run_value", name=str(name)[:60], step=str(step)[:60], value=str(value)[:60]
            )
        values.setdefault(str(name), array("d")).extend((at, read, _half_unit(value, read)))
        if len(values) > MAX_CURVES:
            raise Problem("run_too_many_curves", most=MAX_CURVES)
    return {name: _curve(name, np.array(rows).reshape(-1, 3)) for name, rows in values.items()}


def _curve(name: str, rows: np.ndarray) -> Curve:
    """Make a curve of rows (step, value, half a unit) [n, 3], in the order of the log."""
    ordered = rows[rows[:, 0].argsort(kind="stable")]
    steps = ordered[:, 0]
    last = np.append(steps[1:] != steps[:-1], True)
    return Curve(name, *(np.ascontiguousarray(column) for column in ordered[last].T))


def log_of(trained: NumberSeries, held_out: NumberSeries | None = None) -> Log:
    """Make a log of a program's numbers. Held-out values without steps are spread over those of the
    training."""
    values, steps = trained
    steps = steps or tuple(range(1, len(values) + 1))
    points = (("loss", *one) for one in zip(steps, values, strict=True))
    if held_out is None:
        return Log("numbers", curves_of(points))
    others, at = held_out
    last = max(steps)
    at = at or tuple(last * (place + 1) / len(others) for place in range(len(others)))
    held_points = (("eval_loss", *one) for one in zip(at, others, strict=True))
    return Log("numbers", curves_of(itertools.chain(points, held_points)))


def last_epoch(values: Iterable[object]) -> float | None:
    """Return the largest finite number of a column of epochs; None without one."""
    epochs = (number_in(value) for value in values)
    return max((one for one in epochs if one is not None and math.isfinite(one)), default=None)


def epochs_of(curves: Mapping[str, Curve]) -> float | None:
    """Return the last epoch of a log; None without a curve of epochs."""
    return last_epoch(
        value
        for name, one in curves.items()
        if EPOCH_NAME.search(name)
        for value in one.values.tolist()
    )


def number_in(value: object) -> float | None:
    """Return a number, or the one that a text writes, with NaN and infinities; None without one."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:  # an integer of more than 308 digits; its text would be infinite, too
            return math.inf if value > 0 else -math.inf
    try:
        return float(str(value).replace("−", "-"))
    except ValueError:
        return None


def _half_unit(value: object, read: float) -> float:
    """Return half a unit of the last decimal of the text, or of the number's shortest form: 0.00005
    for 0.6931; 0 where `read` is not finite."""
    if not math.isfinite(read):
        return 0.0
    mantissa, _, power = str(value).strip().lower().partition("e")
    digits = len(mantissa.partition(".")[2])
    if not power:
        return 0.5 * 10.0**-digits
    # A power may be too large for a float, where the number is 0.
    return 0.5 * 10.0 ** min(float(power.replace("−", "-")) - digits, LARGEST_POWER)
