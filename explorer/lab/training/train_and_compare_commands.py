"""``python app.py train`` and ``python app.py compare``: training without the page."""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.number_format import display_number, fixed

if TYPE_CHECKING:  # the command answers --help without torch
    from tqdm import tqdm

    from lossprism.explorer.lab.training.plan import TrainingPlan
    from lossprism.explorer.lab.training.run_comparison import Comparison
    from lossprism.explorer.lab.training.run_control import Runs
    from lossprism.explorer.lab.training.run_folder import RunFolder
    from lossprism.explorer.lab.training.run_json_types import (
        EvaluationRecord,
        FollowedRun,
        Summary,
    )
    from lossprism.explorer.sources.reading_notes import ReadingNote

# Nothing here loads torch or orjson before the arguments are read: --help should not wait for them.


# Options of a plan, by its names and with its defaults; 0 and "" are explained.
_PLAN_OPTIONS: dict[str, dict[str, tuple[object, str]]] = {
    "what is trained": {
        "encoder": ("all-MiniLM-L6-v2", "an id of the hub, a folder, or scratch: learnt anew"),
        "kind": ("bi", "bi or cross"),
        "layers": (-1, "layers that move, from the last on; -1: all, and the word embeddings"),
        "lora": (0, "rank of adapters that move in place of the weights; 0: none"),
        "query_prompt": ("", "text before every first sentence, such as 'query: '"),
        "document_prompt": ("", "text before every other sentence, such as 'passage: '"),
        "guide": ("", "a second encoder, for a loss that asks one (gist), in place of vectors"),
        "teacher_model": ("", "a model to learn from, for a loss that has a teacher"),
        "vocabulary": (8000, "word pieces of an encoder from scratch"),
        "dimension": (128, "numbers in each of its vectors"),
    },
    "by which loss": {
        "convention": ("", "as another library defines it, where there is a difference"),
        "own_loss": ("", "FILE.py:FUNCTION, a loss of your own"),
        "extra_negatives": (True, "pairs of low labels are negatives of the other pairs too"),
        "twins": (
            "apart",
            "a text that is in a batch twice: apart, kept out of the batch (no_duplicates); "
            "leave_out, its keys left out of the loss; or keep",
        ),
        "sampler": (
            "",
            "how batches are drawn: in_order, shuffled, no_duplicates, group_by_label; otherwise "
            "what suits the loss",
        ),
        "threshold": (
            0.0,
            "label from which a pair is positive; otherwise the middle of the scale",
        ),
        "label_range": ((), "ends of the labels' scale; otherwise what fits all labels"),
    },
    "how": {
        "steps": (0, "0: as many as --epochs makes"),
        "epochs": (1.0, "times through the training pairs"),
        "batch_size": (16, "examples in a step: pairs, triplets, or, for a loss on lists, lists"),
        "learning_rate": (0.0, "0: what suits the encoder"),
        "schedule": ("linear", "linear, cosine, or source: 1/√step after the warm-up"),
        "warmup": (0.1, "share of the steps in which the rate rises"),
        "weight_decay": (1e-4, "decay of the weights"),
        "clipping": (1.0, "greatest norm of the gradient; 0: none"),
        "bf16": (False, "compute in bfloat16, where the device can"),
        "evaluations": (10, "times that the held-out pairs are measured"),
        "checkpoint_seconds": (30.0, "from one checkpoint to the next"),
    },
}
_DATA_OPTIONS: dict[str, tuple[object, str]] = {
    "split": ("train", "part of a dataset of the hub"),
    "most": (100_000, "of more pairs than these, a random sample"),
    "held_out_file": ("", "a file of pairs to measure by"),
    "held_out_share": (0.2, "what is held out where there is no such file"),
}


def add_to(commands: argparse._SubParsersAction) -> None:
    train = commands.add_parser("train", help="fine-tune an encoder on pairs, with a progress bar")
    train.add_argument("--loss", help="a loss by any of its names (cosent, or the own one)")
    train.add_argument("--seed", type=int, default=0, help="of order and first weights (0)")
    train.add_argument("--out", help="a folder for the model; it must not exist yet")
    train.add_argument("--script", help="a .zip for the script that trains the model again")
    _add_plan(train)
    about = "train with several losses and seeds, or judge runs that have ended (%(prog)s RUN…)"
    compare = commands.add_parser("compare", help=about)
    compare.add_argument("ended", nargs="*", metavar="RUN", help="names of runs that have ended")
    on_file = "a file of pairs that every run is measured on, before and after"
    compare.add_argument("--on", metavar="FILE", help=on_file)
    compare.add_argument("--loss", action="append", help="one for each loss")
    seeds = "each loss is trained once with each (0 1 2)"
    compare.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2], help=seeds)
    compare.add_argument("--out", help="a .json file for all figures")
    _add_plan(compare, required=False)


def _add_plan(parser: argparse.ArgumentParser, required: bool = True) -> None:
    kept = "where runs are kept; the user's data directory if left out"
    parser.add_argument("--runs", default=argparse.SUPPRESS, help=kept)  # or before the command
    data = parser.add_argument_group("data, from one of the first three")
    source = data.add_mutually_exclusive_group(required=required)
    pairs = "a file of pairs with scores, of lists, of positives without scores, or of triplets"
    source.add_argument("--data", dest="file", metavar="FILE", help=pairs)
    source.add_argument("--hub", metavar="ID", help="id of a dataset on the hub")
    source.add_argument(
        "--example", metavar="NAME", help="name of a textbook example, such as graded_english"
    )
    repeated: dict[str, Any] = {"action": "append", "default": argparse.SUPPRESS}
    columns = "which column of the file is what: first, second, score (none: all are positives); "
    columns += "anchor, positive, negative; teacher (what another model gave; none: nothing)"
    data.add_argument("--column", dest="columns", metavar="ROLE=NAME", help=columns, **repeated)
    written = "how the text of the file is written, such as KOI8-R; left out, it is found out"
    data.add_argument("--encoding", metavar="NAME", help=written, default="")
    wording = "a column of the file with another wording of the first sentence"
    data.add_argument(
        "--alternative", dest="alternatives", metavar="COLUMN", help=wording, **repeated
    )
    varied = "cutoff or reorder: adds a copy of each pair with words left out or moved"
    data.add_argument("--augment", metavar="KIND", help=varied, **repeated)
    _add_options(data, _DATA_OPTIONS)
    for title, options in _PLAN_OPTIONS.items():
        _add_options(parser.add_argument_group(title), options)
    parser.add_argument(
        "--parameter", action="append", default=[], metavar="NAME=VALUE", help="of the loss"
    )


def _add_options(group: argparse._ArgumentGroup, options: dict[str, tuple[object, str]]) -> None:
    """Add an option for each; one that is left out keeps the default of the plan."""
    for name, (default, about) in options.items():
        flag = f"--{name.removesuffix('_file').removesuffix('_model').replace('_', '-')}"
        if isinstance(default, bool):
            kind: dict[str, Any] = {"action": argparse.BooleanOptionalAction}
        elif isinstance(default, tuple):
            kind = {"type": float, "nargs": 2, "metavar": ("LOW", "HIGH")}
        else:
            kind = {"type": type(default), "metavar": "NAME" if isinstance(default, str) else "N"}
        about += f" ({default})" if default else ""
        group.add_argument(flag, dest=name, default=argparse.SUPPRESS, help=about, **kind)


def _plan(chosen: argparse.Namespace, loss: str | None, seed: int) -> TrainingPlan:
    from lossprism.explorer.core.loss_lookup import as_registered, registered_loss
    from lossprism.explorer.core.own_loss_from_python_file import add_own_loss
    from lossprism.explorer.lab.training.plan import TrainingData, TrainingPlan
    from lossprism.losses.loss_name_matching import LIBRARY

    options = vars(chosen)
    if own_loss := options.get("own_loss"):
        own = add_own_loss(own_loss).name
        compared = isinstance(chosen.loss, list)  # others may stand beside it
        if not compared and loss not in (None, own):
            raise ValueError(f"--own-loss trains {own}: leave --loss {loss} out")
        loss = loss or own
    data = {
        entry.name: options[entry.name] for entry in fields(TrainingData) if options.get(entry.name)
    }
    data["source"] = next(source for source in ("file", "hub", "example") if source in data)
    data["columns"] = dict(_pairs(data.get("columns", ())))
    settings = {
        name: options[name] for group in _PLAN_OPTIONS.values() for name in group if name in options
    }
    if loss is not None:
        if "convention" in settings:
            loss = registered_loss(loss)
        else:
            loss, settings["convention"] = as_registered(loss, library=LIBRARY)
    parameters = dict(_pairs(chosen.parameter))
    return TrainingPlan.from_json(
        {**settings, "loss": loss or "cosent", "seed": seed, "parameters": parameters, "data": data}
    )


def _pairs(assignments: Iterable[str]) -> Iterable[tuple[str, object]]:
    """Parse NAME=VALUE, the value as JSON where it is JSON, else as text."""
    for text in assignments:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"“{text}” is not of the form NAME=VALUE")
        try:
            yield name, read_json(value)
        except ValueError:
            yield name, value


def train(chosen: argparse.Namespace) -> int:
    """Train one model; Ctrl-C stops and keeps the model so far."""
    from lossprism.explorer.lab.training import run_downloads
    from lossprism.explorer.lab.training.pair_sources import columns_read
    from lossprism.explorer.lab.training.run_control import Runs
    from lossprism.explorer.lab.training.runs_ended_with_command import runs_ended_with_command

    try:
        if chosen.out and Path(chosen.out).exists():
            raise ValueError(f"{chosen.out} exists already; choose a folder that does not")
        runs = Runs(chosen.runs, chosen.device)
        plan = _plan(chosen, chosen.loss, chosen.seed)
        _print_notes(columns_read(plan.data))
        with runs_ended_with_command(runs) as names:
            names.append(name := runs.start(plan))
            status = _watch(runs, name)
        _print_figures(runs.folder(name), status)
        if chosen.out and runs.folder(name).model.is_dir():
            shutil.copytree(runs.folder(name).model, chosen.out)
            print(f"The model is in {chosen.out}")
        if chosen.script:
            own = getattr(chosen, "own_loss", "")  # typing its name is permission to pack it
            print(f"The script is in {run_downloads.script_zip(runs, name, chosen.script, own)}")
    except BrokenPipeError:  # the reader closed the pipe; `cli.main` ends silently
        raise
    except (ValueError, OSError) as problem:
        print(f"No model was trained: {problem}", file=sys.stderr)
        return 1
    print(f"The run is in {runs.folder(name).path}")
    return 0 if status.state in ("finished", "stopped") else 1


def compare(chosen: argparse.Namespace) -> int:
    """Train with each loss under each seed, or take runs that have ended, and print their
    comparison on the held-out pairs, or on those of a file."""
    from lossprism.explorer.lab.training import new_file_evaluation
    from lossprism.explorer.lab.training import run_comparison as comparing
    from lossprism.explorer.lab.training.run_control import Runs

    try:
        runs = Runs(chosen.runs, chosen.device)
        columns = {role: str(name) for role, name in _pairs(getattr(chosen, "columns", ()))}
        encoding = getattr(chosen, "encoding", "")
        file = chosen.on
        on = new_file_evaluation.read(file, Path(file).name, columns, encoding) if file else None
        _print_notes({on.name: on.notes} if on else {})
        names = _ended_runs(runs, chosen) or _train_all(runs, chosen)
        with _scoring_bar() as report:
            comparison = comparing.table(runs, names, on, report)
        if chosen.out:
            from lossprism.explorer.runtime.json_encoding import plain

            Path(chosen.out).write_text(json.dumps(plain(comparison), indent=1), encoding="utf-8")
    except (ValueError, OSError) as problem:
        print(f"Nothing was compared: {problem}", file=sys.stderr)
        return 1
    print(_table(comparison))
    return 0 if sum(len(group.runs) for group in comparison.groups) == len(names) else 1


def _print_notes(notes: Mapping[str, Iterable[ReadingNote]]) -> None:
    """Print the roles of each file's columns, beside the progress."""
    for name, of_file in notes.items():
        heading = [f"{name}:"] if len(notes) > 1 else []
        print(*heading, *(note.written() for note in of_file), sep="\n", file=sys.stderr)


def _ended_runs(runs: Runs, chosen: argparse.Namespace) -> list[str]:
    """Return the named runs, all of which must have ended."""
    from lossprism.explorer.lab.training.ended_run_scores import outcome

    if chosen.ended and chosen.loss:
        raise ValueError("name the runs, or the losses to train with; not both")
    for name in chosen.ended:
        outcome(runs.folder(name))  # raises where it has not
    return chosen.ended


def _train_all(runs: Runs, chosen: argparse.Namespace) -> list[str]:
    """Train with each loss under each seed."""
    from lossprism.explorer.lab.training import run_comparison as comparing
    from lossprism.explorer.lab.training.pair_sources import columns_read
    from lossprism.explorer.lab.training.runs_ended_with_command import runs_ended_with_command

    if not chosen.loss or not any(map(vars(chosen).get, ("file", "hub", "example"))):
        raise ValueError(
            "name the runs to compare, or what to train with: --loss, once for each, and one of "
            "--data, --hub and --example"
        )
    plans = [_plan(chosen, loss, seed) for loss in chosen.loss for seed in chosen.seeds]
    _print_notes(columns_read(plans[0].data))
    with runs_ended_with_command(runs) as names:
        names += comparing.start_all(runs, plans)
        for name in names:
            _watch(runs, name)
    return names


@contextlib.contextmanager
def _scoring_bar() -> Iterator[Callable[..., None]]:
    """Show a progress bar for the models that score the pairs of a file."""
    from tqdm import tqdm

    with tqdm(file=sys.stderr, disable=None, leave=False) as bar:

        def report(_what: str, done: int = 0, total: int = 0, **values: int) -> None:
            bar.total, bar.n = total or None, done
            bar.set_description("model {model} of {models}".format(**values) if values else "")

        yield report


def _watch(runs: Runs, name: str) -> FollowedRun:
    """Show the expected time, as soon as two steps tell, and a progress bar until it has ended."""
    from tqdm import tqdm

    from lossprism.explorer.lab.training.run_file_reader import LIVE

    is_estimated = False
    with tqdm(desc=name, unit="step", file=sys.stderr) as bar:
        while (status := runs.status(name)).state in LIVE:
            if not is_estimated and status.seconds_left is not None:
                bar.write(_time_estimate(status), file=sys.stderr)
                is_estimated = True
            try:
                _show(bar, status)
                time.sleep(0.2)
            except KeyboardInterrupt:
                runs.stop(name)
        _show(bar, status)
    return status


def _time_estimate(status: FollowedRun) -> str:
    whole = max(status.seconds + (status.seconds_left or 0), 1)
    duration = f"{whole:.0f} s" if whole < 90 else f"{whole / 60:.0f} minutes"
    if whole >= 5400:
        duration = f"{whole / 3600:.1f} hours"
    return f"{status.steps} steps will take about {duration}, by the pace of the first ones"


def _show(bar: tqdm, status: FollowedRun) -> None:
    postfix = _postfix(status)
    # On a terminal the clock goes on; a file gets changes only.
    if sys.stderr.isatty() or (status.step, postfix) != (bar.n, bar.postfix):
        bar.total, bar.n = status.steps, status.step
        bar.set_postfix_str(postfix, refresh=True)


def _postfix(status: FollowedRun) -> str:
    from lossprism.explorer.lab.training.run_json_types import EvaluationRecord, StepRecord

    if (loading := status.loading) and loading.total:
        return f"asking the teacher, {loading.done} of {loading.total}"
    if status.queue_position:
        left = status.queue_seconds
        about = "" if left is None else f", some {left:.0f} s of training before it"
        return f"{status.state}, place {status.queue_position}{about}"
    last = {type(record): record for record in status.records}
    parts: list[str] = [status.state]
    if isinstance(step := last.get(StepRecord), StepRecord):
        parts.append(f"loss {display_number(step.loss)}")
    if isinstance(live := last.get(EvaluationRecord), EvaluationRecord):
        parts += _live_figures(live)
    return ", ".join(parts)


def _live_figures(live: EvaluationRecord) -> Iterator[str]:
    for figure in ("spearman", "accuracy_at_1"):
        if (value := getattr(live, figure)) is not None:  # of fewer pairs, perhaps, than at the end
            yield f"{_title(figure)} {_figure(value)} on {live.pairs} pairs"
    if (lists := live.lists) and lists.count:
        of = "list" if lists.count == 1 else "lists"
        yield f"NDCG@10 {_figure(lists.ndcg_at_10)} on {lists.count} {of}"


def _print_figures(run: RunFolder, status: FollowedRun) -> None:
    from lossprism.explorer.lab.training.run_remarks import gained
    from lossprism.explorer.locale import say

    if status.problem:
        print(status.problem, file=sys.stderr)
    summary = status.summary
    if summary is None:
        return
    print(f"{status.state} after {summary.steps} steps, {summary.seconds:.1f} s")
    for name in ("spearman", "pearson", "accuracy", "auc", "accuracy_at_1", "mrr_at_10"):
        before, after = getattr(summary.before, name), getattr(summary.after, name)
        if after is not None:
            print(f"held-out {_title(name)}: {_figure(before)} → {_figure(after)}")
    remark = gained(run)
    print(say("en", f"remark.{remark.key}", **remark.values))
    if summary.repeated:
        from lossprism.explorer.lab.training import model_card

        print(model_card.on_repeats(summary.pairs.held_out, summary.repeated))
    _print_lists(summary)


def _print_lists(summary: Summary) -> None:
    from lossprism.explorer.lab.training import held_out_list_metrics

    figures = summary.after.lists
    if figures is None:
        return
    for name, title in held_out_list_metrics.TITLES.items():
        if (after := summary.after.of_lists(name)) is not None:
            before = summary.before.of_lists(name)
            print(f"held-out {title}: {_figure(before)} → {_figure(after)}")
    ends = (display_number(at) for at in (summary.threshold, figures.floor))
    print(held_out_list_metrics.described(figures, *ends))


def _title(figure: str) -> str:
    """Spell a figure as people write it: accuracy@1."""
    return figure.replace("_at_", "@")


def _figure(value: float | None) -> str:
    """Format a figure with as many digits as the sentences have."""
    from lossprism.explorer.lab.training.run_comparison import MIN_DECIMALS

    return fixed(value, MIN_DECIMALS)


def _table(comparison: Comparison) -> str:
    from lossprism.explorer.lab.training.run_comparison import signed_ends
    from lossprism.explorer.locale import grouped, say, spelled

    lines = [f"On {spelled('en', 'pairs', comparison.pairs)}:"]
    for group in comparison.groups:
        figures = {
            name: _figure(one.mean) + ("" if one.spread is None else f" ± {_figure(one.spread)}")
            for name, one in group.figures.items()
        }
        # This is of the training pairs, unlike the line above.
        trained = f"loss of the last training batch {figures.pop('loss', '—')}"
        figures.pop("steps_per_second", None)
        figures_line = ", ".join(f"{_title(name)} {value}" for name, value in figures.items())
        seeds = len(group.runs)
        named = f"{group.label} ({seeds} {'seed' if seeds == 1 else 'seeds'})"
        lines.append(f"{named}: {figures_line}; {trained}")
    for one in comparison.differences:
        between = one.between
        count = len(between.seeds)
        seeds = f"{count} {'seed' if count == 1 else 'seeds'}, {grouped(between.pairs)} pairs"
        signed = signed_ends(between.difference, between.low, between.high)
        ends = f"{comparison.level}: {signed['low']} to {signed['high']}, "
        ends = "" if between.is_blank else ends
        compared = f"{one.b} − {one.a}, {_title(one.figure)}"
        lines.append(f"{compared}: {signed['difference']} ({ends}{seeds})")
    lines += [say("en", f"remark.{one.key}", **one.values) for one in comparison.verdict]
    if on := comparison.unseen:
        counts = {"count": on.shared, "all": on.count}
        lines.append(say("en", f"finetune.unseen_shared{'' if on.shared else '_none'}", **counts))
        if on.sampled:
            lines.append(say("en", "finetune.unseen_sampled"))
        if on.skipped:
            lines.append(say("en", "finetune.unseen_skipped", count=on.skipped))
    return "\n".join(lines)
