"""Train what measures the sources' claims on a file of pairs, and keep what the runs show.

    python -m scripts.measure_claims PAIRS.tsv --name "STS Benchmark" [--rows 500] [CLAIM…]

Run again, it goes on with the runs that are missing. A claim that is not named stays as it was.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
from pathlib import Path

from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.claims.measured_trainings import FILE
from lossprism.explorer.lab.claims.training_claims import TRAININGS, ended, judged
from lossprism.explorer.lab.training.loss_refusal_reasons import checked_corpus
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.run_folder import all_runs
from lossprism.explorer.lab.training.training_run import train

DIGITS = 6


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("pairs", type=Path, help="sentence1, sentence2, score, with a header")
    parser.add_argument("claims", nargs="*", help="all that need a training, if left out")
    parser.add_argument("--name", required=True, help="what the page calls the pairs")
    parser.add_argument("--rows", type=int, default=500, help="the first so many are taken")
    parser.add_argument("--runs", type=Path, default=Path("measured-runs"))
    chosen = parser.parse_args()
    lines = chosen.pairs.read_text("utf-8").splitlines()[1 : chosen.rows + 1]
    first, second, scores = zip(*(line.split("\t") for line in lines), strict=True)
    rows = tuple(zip(first, second, scores, strict=True))
    scenario, runs = Scenario(data=Data(source="table", rows=rows)), Runs(chosen.runs, device="cpu")
    for claim in chosen.claims or TRAININGS:
        names = [_trained(runs, plan) for plan in TRAININGS[claim].plans(scenario, None)]
        found = json.loads(FILE.read_text("utf-8"))
        check = dataclasses.asdict(judged(claim, runs, names))
        check["sample"]["data"] = chosen.name
        found[claim] = _rounded(check)
        FILE.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", "utf-8")


def _trained(runs: Runs, plan: TrainingPlan) -> str:
    """Return the name of the run of a plan, of an earlier one if it has ended."""
    for run in all_runs(runs.root):
        if runs.plan(run.name) == plan and ended(runs, [run.name]):
            return run.name
    run = runs.prepare(plan, checked_corpus(plan))
    run.take_ticket(os.getpid())
    train(run)
    return run.name


def _rounded(found: object) -> object:
    if isinstance(found, float):
        return float(f"{found:.{DIGITS}g}")
    if isinstance(found, dict):
        return {name: _rounded(one) for name, one in found.items()}
    return [_rounded(one) for one in found] if isinstance(found, list | tuple) else found


if __name__ == "__main__":
    main()
