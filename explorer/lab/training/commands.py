"""``python app.py train`` and ``python app.py compare``: training without the page."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Iterable
from pathlib import Path

# Nothing here loads torch before the arguments are read: --help should not wait for it.


def add_to(commands: argparse._SubParsersAction) -> None:
    train = commands.add_parser("train", help="fine-tune an encoder on pairs, with a progress bar")
    train.add_argument("--loss", default="cosent", help="name of a loss, such as cosent")
    train.add_argument("--seed", type=int, default=0)
    train.add_argument("--out", help="a folder for the model; it must not exist yet")
    train.add_argument("--script", help="a .zip for the script that trains the model again")
    _add_plan(train)
    compare = commands.add_parser("compare", help="train with several losses and seeds")
    compare.add_argument("--loss", action="append", required=True, help="one for each loss")
    compare.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    compare.add_argument("--out", help="a .json file for all figures")
    _add_plan(compare)


def _add_plan(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data", required=True, help="a file of pairs with scores, or triplets")
    parser.add_argument("--held-out", default="", help="a file of pairs to measure by")
    parser.add_argument("--held-out-share", type=float, default=0.2, help="without such a file")
    parser.add_argument("--encoder", default="all-MiniLM-L6-v2", help="name, folder or scratch")
    parser.add_argument("--kind", choices=("bi", "cross"), default="bi")
    parser.add_argument("--own-loss", default="", metavar="FILE.py:FUNCTION")
    parser.add_argument("--parameter", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--steps", type=int, default=0, help="0 for one epoch")
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--learning-rate", type=float, default=0.0, help="0: as suits it")
    parser.add_argument("--schedule", choices=("linear", "cosine", "source"), default="linear")
    kept = "where runs are kept; the user's data directory if left out"
    parser.add_argument("--runs", default=argparse.SUPPRESS, help=kept)  # or before the command


_PLANNED = ("encoder", "kind", "own_loss", "steps", "epochs", "batch_size", "learning_rate")


def _plan(chosen: argparse.Namespace, loss: str, seed: int) -> object:
    from explorer.lab.training.plan import TrainingPlan
    from explorer.own_loss import add_own_loss

    if chosen.own_loss:
        add_own_loss(chosen.own_loss)
    data = {
        "source": "file",
        "file": chosen.data,
        "held_out_file": chosen.held_out,
        "held_out_share": chosen.held_out_share,
    }
    named = {name: getattr(chosen, name) for name in (*_PLANNED, "schedule")}
    return TrainingPlan.from_json(
        {
            **named,
            **dict(_pairs(chosen.option)),
            "loss": loss,
            "seed": seed,
            "parameters": dict(_pairs(chosen.parameter)),
            "data": data,
        }
    )


def _pairs(given: Iterable[str]) -> Iterable[tuple[str, object]]:
    """NAME=VALUE, the value as JSON where it is JSON, else as text."""
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"“{text}” is not of the form NAME=VALUE")
        try:
            yield name, json.loads(value)
        except ValueError:
            yield name, value


def train(chosen: argparse.Namespace) -> int:
    """Train one model; Ctrl-C stops and keeps the model so far."""
    from explorer.lab.training import takeaway
    from explorer.lab.training.runs import Runs

    try:
        if chosen.out and Path(chosen.out).exists():
            raise ValueError(f"{chosen.out} exists already; choose a folder that does not")
        runs = Runs(chosen.runs, chosen.device)
        name = runs.start(_plan(chosen, chosen.loss, chosen.seed))
        status = _watch(runs, name)
        _print_figures(status)
        if chosen.out and runs.folder(name).model.is_dir():
            shutil.copytree(runs.folder(name).model, chosen.out)
            print(f"The model is in {chosen.out}")
        if chosen.script:
            print(f"The script is in {takeaway.script_zip(runs, name, chosen.script)}")
    except (ValueError, OSError) as problem:
        print(f"No model was trained: {problem}", file=sys.stderr)
        return 1
    print(f"The run is in {runs.folder(name).path}")
    return 0 if status["state"] in ("finished", "stopped") else 1


def compare(chosen: argparse.Namespace) -> int:
    """Train with each loss under each seed, and print what came out."""
    from explorer.lab.training import compare as comparing
    from explorer.lab.training.runs import Runs

    try:
        runs = Runs(chosen.runs, chosen.device)
        plans = [_plan(chosen, loss, seed) for loss in chosen.loss for seed in chosen.seeds]
        names = comparing.start_all(runs, plans)
        for name in names:
            _watch(runs, name)
        found = comparing.table(runs, names)
        if chosen.out:
            Path(chosen.out).write_text(json.dumps(found, indent=1), encoding="utf-8")
    except (ValueError, OSError) as problem:
        print(f"Nothing was compared: {problem}", file=sys.stderr)
        return 1
    print(_table(found))
    return 0 if sum(len(group["runs"]) for group in found["groups"]) == len(names) else 1


def _watch(runs: object, name: str) -> dict:
    """How long it will take, as soon as two steps tell, and a progress bar until it has ended."""
    from tqdm import tqdm

    from explorer.lab.training.folder import LIVE

    told = False
    with tqdm(desc=name, unit="step", file=sys.stderr) as bar:
        while (status := runs.status(name))["state"] in LIVE:
            if not told and status["seconds_left"] is not None:
                bar.write(_time_told(status), file=sys.stderr)
                told = True
            try:
                _show(bar, status)
                time.sleep(0.2)
            except KeyboardInterrupt:
                runs.stop(name)
        _show(bar, status)
    return status


def _time_told(status: dict) -> str:
    whole = status["seconds"] + status["seconds_left"]
    said = f"{whole:.0f} s" if whole < 90 else f"{whole / 60:.0f} minutes"
    if whole >= 5400:
        said = f"{whole / 3600:.1f} hours"
    return f"{status['steps']} steps will take about {said}, by the pace of the first ones"


def _show(bar: object, status: dict) -> None:
    bar.total = status["steps"]
    bar.n = status["step"]
    bar.set_postfix_str(_postfix(status), refresh=False)
    bar.refresh()


def _postfix(status: dict) -> str:
    if status["queue_position"]:
        return f"{status['state']}, place {status['queue_position']}"
    last = {record["kind"]: record for record in status["records"]}
    said = [status["state"]]
    if "step" in last:
        said.append(f"loss {last['step']['loss']:.4g}")
    if "evaluation" in last and last["evaluation"]["spearman"] is not None:
        said.append(f"spearman {last['evaluation']['spearman']:.4f}")
    return ", ".join(said)


def _print_figures(status: dict) -> None:
    from explorer.locale import say

    if status["problem"]:
        problem = status["problem"]
        print(say("en", problem["key"], **problem["values"]), file=sys.stderr)
    summary = status["summary"]
    if summary is None:
        return
    print(f"{status['state']} after {summary['steps']} steps, {summary['seconds']:.1f} s")
    for name in ("spearman", "pearson", "accuracy", "auc"):
        before, after = summary["before"][name], summary["after"][name]
        if after is not None:
            print(f"held-out {name}: {'—' if before is None else f'{before:.4f}'} → {after:.4f}")


def _table(found: dict) -> str:
    lines = []
    for group in found["groups"]:
        figures = [
            f"{name} {told['mean']:.4f}"
            + ("" if told["spread"] is None else f" ± {told['spread']:.4f}")
            for name, told in group["figures"].items()
            if name != "steps_per_second"
        ]
        lines.append(f"{group['label']} ({len(group['runs'])} seeds): {', '.join(figures)}")
    for test in found["tests"]:
        p = "no spread" if test["p"] is None else f"p = {test['p']:.3f}"
        told = f"{test['b']} − {test['a']}, {test['figure']}: {test['difference']:+.4f}"
        lines.append(f"{told} (paired t-test over {len(test['seeds'])} seeds, {p})")
    return "\n".join(lines)
