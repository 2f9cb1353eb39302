"""Logs to begin with, made up: what a run looks like that has a thing the matter with it."""

import math
from dataclasses import replace

import numpy as np

from lossprism.explorer.lab.doctor.logs.log import Log, curves_of
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known

STEPS = 120
EVERY = 10  # steps between two values
EVALUATIONS = 24
MNRL = Known(loss="MultipleNegativesRankingLoss", batch=32)
AT_COLLAPSE = math.log(32)
NOISE = 0.05


def collapsed() -> Log:
    """A run whose loss begins above the logarithm of its 32 candidates, and stays there."""
    return _log(_stays(AT_COLLAPSE, 0.4, seed=1))


def learned_by_heart() -> Log:
    """A run whose training loss falls to the end, while its held-out loss turns after a third of
    the way."""
    steps = np.linspace(0, STEPS, EVALUATIONS)
    turned = 0.9 + 1.4 * np.exp(-steps / 15) + 0.010 * np.maximum(steps - 40, 0)
    return _log(_falls(0.1, 25, seed=2), eval_loss=turned + _noise(0.02, 3)[:EVALUATIONS])


def stays_high() -> Log:
    """A run whose training loss falls to nearly 0, its held-out loss to a third and no further."""
    return _log(_learned(), eval_loss=1.3 + 1.4 * np.exp(-np.arange(EVALUATIONS) / 2))


def leaked() -> Log:
    """A run whose training and held-out loss fall to nearly 0, and to the same value."""
    return _log(_learned(), eval_loss=0.03 + 2.4 * np.exp(-np.arange(EVALUATIONS) / 2))


def brief() -> Log:
    """A run like others, in a twentieth of the steps."""
    log = _log(_falls(0.8, 45, seed=22))
    curves = {name: replace(one, steps=one.steps / 20) for name, one in log.curves.items()}
    return replace(log, curves=curves)


def jumped() -> Log:
    """A run whose loss falls, and jumps up at two thirds of the way."""
    thrown = np.where(np.arange(STEPS) >= 80, 1.6, 0.0)
    return _log(_falls(0.6, 20, seed=4) + thrown)


def apart() -> Log:
    """A run whose loss stays at its value at collapse, with negatives at right angles."""
    negatives = 0.05 + _noise(0.01, 6)
    return _log(_stays(AT_COLLAPSE, 0.4, seed=5), prism_negative_cosine=negatives)


def too_high() -> Log:
    """A run whose loss stays above its value at collapse."""
    return _log(_stays(AT_COLLAPSE + 0.6, 0.9, seed=7))


def in_order() -> Log:
    """The same, and its held-out pairs follow their labels."""
    figure = 0.3 + 0.5 * _rises() + _noise(0.01, 8)[:EVALUATIONS]
    return _log(_stays(AT_COLLAPSE + 0.6, 0.9, seed=7), eval_spearman_cosine=figure)


def turned_round() -> Log:
    """The same, and its held-out pairs go against their labels."""
    figure = -0.7 + 0.2 * _rises() + _noise(0.01, 9)[:EVALUATIONS]
    return _log(_stays(AT_COLLAPSE + 0.6, 0.9, seed=7), eval_spearman_cosine=figure)


def too_low() -> Log:
    """A run with a stated scale of 1, with which its loss cannot be as small as it is."""
    return _of(_log(_falls(0.4, 25, seed=10)), replace(MNRL, scale=1.0, score="cosine"))


def of_dot_products() -> Log:
    """The same of a model that compares dot products, which its log does not say."""
    return _of(_log(_falls(0.4, 25, seed=10)), replace(MNRL, scale=1.0))


def below_zero() -> Log:
    """A run of a reranker whose labels go from 0 to 4, and not to 1."""
    return _of(_log(_falls(-0.9, 25, seed=20)), Known(loss="BinaryCrossEntropyLoss", batch=32))


def too_wide() -> Log:
    """A run of a triplet loss whose margin no two unit vectors have between them."""
    log = _log(3.6 + 1.2 * np.exp(-np.arange(STEPS) / 45) + _noise(NOISE, 18))
    return _of(log, Known(loss="TripletLoss", batch=32, margin=5.0))


def solved() -> Log:
    """A run with nearly all of the way done after a fifth of its steps."""
    return _log(0.02 + 3.4 * np.exp(-np.arange(STEPS) / 5) + np.abs(_noise(0.004, 11)))


def in_half_precision() -> Log:
    """A run whose loss falls in steps of float16."""
    return _log(_falls(0.5, 40, seed=12).astype(np.float16).astype(np.float64))


def forgot() -> Log:
    """A run whose loss falls to the end, while its held-out figure is best after a third of the
    way."""
    steps = np.arange(EVALUATIONS)
    figure = 0.55 + 0.25 * np.minimum(steps / 8, 1) - 0.012 * np.maximum(steps - 8, 0)
    noise = _noise(0.004, 14)[:EVALUATIONS]
    return _log(_falls(0.4, 45, seed=13), eval_spearman_cosine=figure + noise)


def broke() -> Log:
    """A run whose loss is NaN after two thirds of the way."""
    values = _falls(0.6, 45, seed=15)
    values[80:] = math.nan
    return _log(values)


def vanished() -> Log:
    """A run whose loss is not logged after two thirds of the way, as pandas leaves out a NaN."""
    log = _log(_falls(0.6, 45, seed=15), learning_rate=np.linspace(2e-5, 0, STEPS))
    loss = log.curves["loss"]
    cut = replace(loss, steps=loss.steps[:80], values=loss.values[:80], unit=loss.unit[:80])
    return replace(log, curves={**log.curves, "loss": cut})


def no_gradient() -> Log:
    """A run whose gradient is NaN from the middle on, with the loss logged as 0."""
    values, norm = _falls(0.5, 45, seed=16), 2.0 + _noise(0.2, 19)
    values[60:], norm[60:] = 0.0, math.nan
    return _log(values, grad_norm=norm)


def idle() -> Log:
    """A run whose loss is exactly 0 from the middle on."""
    values = _falls(0.5, 45, seed=16)
    values[60:] = 0.0
    return _log(values)


def unnamed() -> Log:
    """A run whose loss falls, and is unknown."""
    return _of(_log(_falls(0.8, 45, seed=17)), Known())


def never_fell() -> Log:
    """A run of an unknown loss that stays at the value at collapse of the others."""
    return _of(_log(AT_COLLAPSE + _noise(0.002, seed=23)), Known())


def _learned() -> np.ndarray:
    return (0.03 + 3.4 * np.exp(-np.arange(STEPS) / 10)) * (1 + _noise(0.1, seed=21))


def _rises() -> np.ndarray:
    return 1 - np.exp(-np.arange(EVALUATIONS) / 8)


def _falls(level: float, pace: float, seed: int) -> np.ndarray:
    return level + 2.4 * np.exp(-np.arange(STEPS) / pace) + _noise(NOISE, seed)


def _stays(level: float, above: float, seed: int) -> np.ndarray:
    return level + above * np.exp(-np.arange(STEPS) / 12) + _noise(0.01, seed)


def _noise(size: float, seed: int) -> np.ndarray:
    return size * np.random.default_rng(seed).standard_normal(STEPS)


def _log(loss: np.ndarray, **others: np.ndarray) -> Log:
    """Make a log of the loss and other curves, each spread over all steps, in four decimals."""
    points = [
        (name, EVERY * STEPS * (place + 1) / len(values), round(float(value), 4))
        for name, values in {"loss": loss, **others}.items()
        for place, value in enumerate(values)
    ]
    return Log("numbers", curves_of(points), MNRL)


def _of(log: Log, known: Known) -> Log:
    return replace(log, known=known)


EXAMPLES = {
    made.__name__: made
    for made in (
        *(collapsed, learned_by_heart, stays_high, leaked, jumped, apart, too_high, in_order),
        *(turned_round, too_low),
        *(too_wide, solved, in_half_precision, forgot, broke, vanished),
        *(no_gradient, idle, brief, unnamed, never_fell, of_dot_products, below_zero),
    )
}
