"""The experiment of S1: a cross-encoder trained with cross-entropy, and with CoSENT.

The source trained Chinese BERT and RoBERTa of 110 million weights on four datasets of up to
240,000 pairs. What is repeated here is the comparison, on other data and smaller models.
"""

import dataclasses

from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.sources.encoders import EMBEDDED


def experiment(plan: TrainingPlan, seeds: tuple[int, ...] = (0, 1, 2)) -> list[TrainingPlan]:
    """The source's comparison on the plan's data and encoder: both losses under each seed.

    Cross-entropy on two nodes is binary cross-entropy on one (the source says so too). From
    scratch there is no cross-encoder: the embedded one takes its place, at a rate of its own.
    """
    same = {"kind": "cross", "convention": "", "parameters": (), "own_loss": ""}
    if plan.encoder == SCRATCH:
        same |= {"encoder": EMBEDDED, "learning_rate": 0.0}
    return [
        dataclasses.replace(plan, loss=loss, seed=seed, **same)
        for loss in ("binary_cross_entropy", "cosent")
        for seed in seeds
    ]
