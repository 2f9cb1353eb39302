"""The objects of a run that trains."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from datasets import Dataset

from lossprism.explorer.lab.training.data import Pair
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_folder import RunFolder
from lossprism.explorer.lab.training.run_json_types import RowForm
from lossprism.explorer.lab.training.trainer_rows import Material, form_of
from lossprism.losses.labels import LabelRules
from lossprism.losses.sentence_transformers import TrainingLoss

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from lossprism.explorer.lab.training.starting_model import Encoder


@dataclass
class RunParts:
    """The objects of a run."""

    run: RunFolder
    plan: TrainingPlan
    material: Material
    held_out: list[Pair]
    held_out_teacher: list[float] | None
    rules: LabelRules
    model: Encoder
    guide: SentenceTransformer | None
    vectors_of: Callable[[Sequence[str]], torch.Tensor] | None
    loss: TrainingLoss
    dataset: Dataset
    steps: int

    @property
    def form(self) -> RowForm:
        return form_of(self.plan, self.material)
