"""What the studio adds to a training, beside sentence-transformers alone.

``python -m benchmarks training [pace] [epoch] [demo] [memory]`` (all if none is named):

    pace    steps a second with live recording against the library's own trainer, loss and
            evaluator: same model, data, batch, seed and evaluation schedule, taking turns
    epoch   an encoder from scratch, one epoch of 1,000 pairs
    demo    all-MiniLM-L6-v2, 60 steps of 16 pairs; held-out Spearman before and after
    memory  what ten runs in a row leave behind in the process that starts them
"""

from __future__ import annotations

import argparse
import gc
import math
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
from datasets import Dataset
from scipy.stats import t
from sentence_transformers import SentenceTransformerTrainer
from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator
from sentence_transformers.sentence_transformer.losses import CoSENTLoss
from sentence_transformers.sentence_transformer.training_args import (
    SentenceTransformerTrainingArguments,
)
from torch import Tensor
from transformers import PrinterCallback, Trainer, set_seed

from benchmarks.machine import describe
from explorer.lab.training import data
from explorer.lab.training import session as sessions
from explorer.lab.training.encoders import starting_model
from explorer.lab.training.measure import live_sample, unnoticed
from explorer.lab.training.plan import SCRATCH, TrainingData, TrainingPlan
from explorer.lab.training.runs import Runs
from explorer.sources.encoders import EMBEDDED

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
PARTS = ("pace", "epoch", "demo", "memory")
# Steps, evaluations and turns of each side, by encoder.
TURNS = {SCRATCH: (400, 4, 12), EMBEDDED: (8, 2, 4)}
ROUNDS = 10


def plan(encoder: str, **chosen: object) -> TrainingPlan:
    pairs = TrainingData(
        source="file",
        file=str(DATA / "stsb_en_ccbysa_train.tsv"),
        held_out_file=str(DATA / "stsb_en_ccbysa_test.tsv"),
    )
    return TrainingPlan(data=pairs, encoder=encoder, **chosen)


def pace(encoder: str, root: Path) -> None:
    """Both sides in turns, each first in every other one: paces, ratio, held-out Spearman, losses.

    What slows the machine for longer than a turn slows both, so it leaves their ratio alone.
    """
    root.mkdir(exist_ok=True)
    steps, evaluations, turns = TURNS[encoder]
    chosen = plan(encoder, steps=steps, evaluations=evaluations, checkpoint_seconds=86_400)
    corpus = data.load(chosen)
    sides = {"recorded": _recorded, "plain": _plain}
    times: dict[str, list[float]] = {side: [] for side in sides}
    found: dict[str, Training] = {}
    for turn in range(turns + 1):  # the first warms up
        for side in list(sides)[:: 1 if turn % 2 else -1]:
            found[side] = sides[side](chosen, corpus, root)
            if turn:
                times[side].append(found[side].seconds)
                took = f"{found[side].seconds:.3f} s"
                print(f"pace {encoder:18} turn {turn:2} {side:9} {took}", flush=True)
    for side, taken in times.items():
        spread = f"{steps / max(taken):.2f} to {steps / min(taken):.2f}"
        said = f"{steps / statistics.median(taken):.2f} steps/s ({spread})"
        print(f"pace {encoder:18} {side:9} {said}, Spearman {found[side].spearman:.4f}")
    middle, low, high = ratio(times["plain"], times["recorded"])
    told = f"{middle:.3f} (95% confidence {low:.3f} to {high:.3f}, {turns} turns)"
    print(f"pace {encoder:18} recorded / plain: {told}")
    pairs = zip(found["recorded"].losses, found["plain"].losses, strict=True)
    apart = max(abs(a - b) / max(abs(a), abs(b)) for a, b in pairs)
    print(
        f"pace {encoder:18} losses of the {steps} steps differ by at most {apart:.1e}, relatively"
    )


@dataclass(frozen=True)
class Training:
    """How long it took, the last held-out Spearman, and the loss of each step."""

    seconds: float
    spearman: float
    losses: list[float]


def ratio(above: Sequence[float], below: Sequence[float]) -> tuple[float, float, float]:
    """The geometric mean of the quotients of the turns, and the interval that holds what many
    turns would give, with 95% confidence (Student's t, on logarithms)."""
    logs = [math.log(a / b) for a, b in zip(above, below, strict=True)]
    reach = statistics.stdev(logs) / math.sqrt(len(logs)) * t.ppf(0.975, len(logs) - 1)
    middle = statistics.fmean(logs)
    return math.exp(middle), math.exp(middle - reach), math.exp(middle + reach)


def _timed(trainer: Trainer) -> tuple[float, list[float]]:
    losses: list[Tensor] = []
    trainer.loss.register_forward_hook(lambda _loss, _given, value: losses.append(value.detach()))
    gc.collect()
    started = time.perf_counter()
    trainer.train()
    return time.perf_counter() - started, [float(loss) for loss in losses]


def _start(chosen: TrainingPlan, corpus: data.Corpus, root: Path, place: Path) -> None:
    """The encoder from scratch, whose word pieces are learnt once for all turns."""
    if chosen.encoder != SCRATCH:
        return
    if not (root / "start").exists():
        set_seed(chosen.seed)
        starting_model(chosen, corpus.train, root / "start", None)
    shutil.copytree(root / "start", place)


def _recorded(chosen: TrainingPlan, corpus: data.Corpus, root: Path) -> Training:
    run = Runs(root).prepare(chosen, corpus)
    run.take_ticket(os.getpid())
    _start(chosen, corpus, root, run.start)
    session = sessions.prepared(run)
    recorder, trainer = sessions.make_recorder(session), sessions.make_trainer(session)
    recorder.attach(trainer)
    seconds, losses = _timed(trainer)
    recorder.flush()
    last = [record for record in run.history() if record["kind"] == "evaluation"][-1]
    return Training(seconds, last["spearman"], losses)


class Unnoticed(SentenceTransformerTrainer):
    """The library's trainer draws a random number for every evaluation, so that the dropout after
    it is another than without; here it is given back, and both sides draw the same."""

    def evaluate(self, *given: object, **named: object) -> dict[str, float]:
        with unnoticed():
            return super().evaluate(*given, **named)


def _plain(chosen: TrainingPlan, corpus: data.Corpus, root: Path) -> Training:
    """The same with nothing of ours but the model to start from."""
    folder = Path(tempfile.mkdtemp(dir=root))
    _start(chosen, corpus, root, folder / "start")
    set_seed(chosen.seed)
    model = starting_model(chosen, corpus.train, folder / "start", None)
    live, _ = live_sample(corpus.held_out, chosen.seed)
    evaluator = EmbeddingSimilarityEvaluator(*map(list, zip(*live, strict=True)), write_csv=False)
    first, second, labels = zip(*corpus.train, strict=True)
    told = chosen.trainer_arguments(chosen.steps, len(labels))
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        eval_strategy="steps",
        eval_steps=-(-chosen.steps // chosen.evaluations),
        eval_on_start=True,
        **told,
    )
    trainer = Unnoticed(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_dict({"sentence1": first, "sentence2": second, "label": labels}),
        loss=CoSENTLoss(model),
        evaluator=evaluator,
    )
    trainer.remove_callback(PrinterCallback)
    seconds, losses = _timed(trainer)
    figures = [record for record in trainer.state.log_history if "eval_spearman_cosine" in record]
    return Training(seconds, figures[-1]["eval_spearman_cosine"], losses)


def whole_run(name: str, chosen: TrainingPlan, root: Path) -> None:
    """One run as the page starts it: until the model lies there, and training alone."""
    runs = Runs(root)
    started = time.perf_counter()
    status = runs.wait(runs.start(chosen))
    seconds = time.perf_counter() - started
    summary = status["summary"]
    before, after = (summary[when]["spearman"] for when in ("before", "after"))
    print(
        f"{name}: {summary['steps']} steps of {chosen.batch_size}: {summary['seconds']:.2f} s of "
        f"training, {seconds:.1f} s with start, figures and saving; "
        f"held-out Spearman {before:.4f} → {after:.4f} on {summary['pairs']['held_out']} pairs"
    )
    print(f"{name}: chart in {runs.folder(status['id']).model / 'spearman.svg'}")


def memory(root: Path) -> None:
    """Ten runs in a row: this process, before and after, and the largest of the workers."""
    runs, own = Runs(root), psutil.Process()
    chosen = plan(SCRATCH, steps=20)
    runs.wait(runs.start(chosen))
    before = own.memory_info().rss
    for _ in range(ROUNDS):
        runs.wait(runs.start(chosen))
    after = own.memory_info().rss
    grown = 100 * (after / before - 1)
    children = len(own.children(recursive=True))
    print(
        f"memory: {before / 2**20:.0f} MB → {after / 2**20:.0f} MB after {ROUNDS} runs "
        f"({grown:+.1f}%), {children} processes left"
    )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks training", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--encoder", choices=tuple(TURNS), help="of the pace; both if left out")
    chosen = parser.parse_args(arguments)
    print(describe())
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        if "pace" in chosen.parts:
            for encoder in [chosen.encoder] if chosen.encoder else TURNS:
                pace(encoder, root / "pace")  # its runs never end, and others would wait for them
        if "epoch" in chosen.parts:
            whole_run("epoch from scratch", plan(SCRATCH), root)
        if "demo" in chosen.parts:
            whole_run("demo", plan(EMBEDDED, steps=60), root)
        if "memory" in chosen.parts:
            memory(root)
