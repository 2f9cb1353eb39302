"""Pyright on files of ours and of a user's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

# Node gathers garbage less often where there is more room for what is new: 40 s of a processor in
# place of 43.
ROOMY = {"NODE_OPTIONS": "--max-semi-space-size=128"}
# What a user writes with the classes that are made for each loss.
RIGHT = """
import torch
from torch import nn
from lossprism import __version__
from lossprism.losses import cosent
from lossprism.losses.modules import ArcfaceLoss, CosentLoss, InfoNceLoss, LossModule, loss_module
from lossprism.losses.sentence_transformers import CosentLoss as Trained, PrismCallback
from lossprism.losses.sentence_transformers import TrainingLoss, training_loss

version: str = __version__
learned = nn.Parameter(torch.tensor(20.0))
some: list[LossModule] = [CosentLoss(scale=learned), ArcfaceLoss(3, 4, margin=0.3)]
value: torch.Tensor = cosent(torch.zeros(2), torch.tensor([0, 1]), scale=20.0)
made: TrainingLoss = Trained(nn.Identity(), scale=20.0, threshold=0.5)
InfoNceLoss(directions=("query_to_key", "key_to_query"), mask_above=None)
loss_module("cosent")(scale=3.0)
"""
WRONG = """
from torch import nn
from lossprism.losses import cosent
from lossprism.losses.modules import ArcfaceLoss, CosentLoss
from lossprism.losses.sentence_transformers import CosentLoss as Trained
from lossprism.losses.sentence_transformers import ArcfaceLoss as TrainedArcface

CosentLoss(scael=20.0)
CosentLoss(scale="20")
ArcfaceLoss(3, 4, margn=0.3)
Trained(nn.Identity(), scael=20.0)
Trained(nn.Identity(), treshold=0.5)
TrainedArcface(nn.Identity(), class_cuont=3)
"""


def pyright(python: str, cwd: Path, *files: str) -> dict:
    """What pyright says of these files, or of those of the settings in `cwd`, under the packages
    of a Python."""
    command = [sys.executable, "-m", "pyright", "--pythonpath", python, "--outputjson", *files]
    roomy = {**os.environ, **ROOMY}
    done = subprocess.run(command, cwd=cwd, env=roomy, capture_output=True, text=True, check=False)
    assert done.stdout.startswith("{"), done.stdout + done.stderr
    return json.loads(done.stdout)


def check_users_files(python: str, cwd: Path, folder: Path) -> None:
    """Check that pyright refuses each line of WRONG that misspells something, and no other."""
    for name, text in {"right.py": RIGHT, "wrong.py": WRONG}.items():
        (folder / name).write_text(text, encoding="utf-8")
    result = pyright(python, cwd, str(folder / "right.py"), str(folder / "wrong.py"))
    found = [
        (Path(one["file"]).name, one["range"]["start"]["line"])
        for one in result["generalDiagnostics"]
    ]
    calls = [line for line, text in enumerate(WRONG.splitlines()) if text.endswith(")")]
    assert found == [("wrong.py", line) for line in calls], result["generalDiagnostics"]
