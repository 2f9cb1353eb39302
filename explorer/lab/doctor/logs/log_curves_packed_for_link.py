"""The curves of a log as a text that a link carries: their numbers alone, with no path, no token,
and no name of a person or of a run."""

import base64
import math
import re
import zlib
from collections.abc import Iterator

import numpy as np

from lossprism.explorer.lab.doctor.logs.log import Curve, Log

LINK_BYTES = 8000  # of a packed text
_METRICS = """
train training eval evaluation val valid validation test dev loss grad gradient norm learning rate
lr acc accuracy ndcg mrr map recall precision f auc ap spearman pearson cosine cos sim dot manhattan
euclidean at step epoch total avg mean prism collapse floor negative
"""
_WORDS = frozenset(_METRICS.split())


def packed_curves(log: Log) -> str:
    """The table of the curves, deflated, in base64 of the letters that an address takes; of a long
    log steps at even distances, with the last, so that it has at most `LINK_BYTES` letters."""
    curves = [*_named(log)]
    steps = np.unique(np.concatenate([one.steps for _, one in curves])) if curves else np.array([])
    count = len(steps)
    while True:
        places = np.unique(np.linspace(0, len(steps) - 1, count).round().astype(int))
        text = _packed("\n".join(_rows(curves, steps[places])))
        if len(text) <= LINK_BYTES or count <= 2:
            return text
        count = min(int(count * LINK_BYTES / len(text)), count - 1)


def _named(log: Log) -> Iterator[tuple[str, Curve]]:
    """The curves that a link may name, each by its name; the losses by that of any training."""
    losses = {log.trained: "loss", log.held_out: "eval_loss"}
    for name, curve in log.curves.items():
        words = re.findall("[a-z]+", name.lower())
        if name in losses:
            yield losses[name], curve
        elif set(words) <= _WORDS and name not in losses.values():
            yield name, curve


def _rows(curves: list[tuple[str, Curve]], steps: np.ndarray) -> Iterator[str]:
    yield ",".join(["step", *(name for name, _ in curves)])
    cells = [{at: place for place, at in enumerate(one.steps.tolist())} for _, one in curves]
    for step in steps.tolist():
        values = (
            _written(one, known[step]) if step in known else ""
            for (_, one), known in zip(curves, cells, strict=True)
        )
        yield ",".join([f"{step:.10g}", *values])


def _written(curve: Curve, place: int) -> str:
    """A value with the digits that it had."""
    value, unit = float(curve.values[place]), float(curve.unit[place])
    digits = round(-math.log10(2 * unit)) if unit else 0
    return f"{value:.{digits}f}" if 0 < digits < 7 and math.isfinite(value) else repr(value)


def _packed(table: str) -> str:
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    content = compressor.compress(table.encode()) + compressor.flush()
    return base64.urlsafe_b64encode(content).decode().rstrip("=")
