"""Overhead of LossPrism in a training, beside sentence-transformers alone.

``python -m benchmarks training [pace] [callback] [epoch] [demo] [memory]`` (all if none is named):

    pace    steps a second with live recording against the library's own trainer, loss and
            evaluator: same model, data, batch, seed and evaluation schedule, taking turns
    callback  the same of the library's trainer with PrismCallback(every=50, folder) and without it,
            and the processor time that the callback's own work takes of the whole
    epoch   an encoder from scratch, one epoch of 1,000 pairs
    demo    all-MiniLM-L6-v2, 60 steps of 16 pairs; held-out Spearman before and after
    memory  what ten runs in a row leave behind in the process that starts them
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import psutil
from datasets import Dataset
from scipy.stats import binom
from sentence_transformers import SentenceTransformerTrainer
from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator
from sentence_transformers.sentence_transformer.losses import CoSENTLoss
from sentence_transformers.sentence_transformer.training_args import (
    SentenceTransformerTrainingArguments,
)
from torch import Tensor
from transformers import PrinterCallback, Trainer, TrainerCallback, set_seed

from benchmarks import report
from benchmarks.machine import describe
from benchmarks.report import Row
from lossprism.explorer.lab.training import data
from lossprism.explorer.lab.training import training_run as sessions
from lossprism.explorer.lab.training.held_out_metrics import keeps_random_state, live_sample
from lossprism.explorer.lab.training.loss_refusal_reasons import checked_corpus
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingData, TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.starting_model import starting_model
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.losses.sentence_transformers import PrismCallback

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
PARTS = ("pace", "callback", "epoch", "demo", "memory")
# By encoder, the steps of a turn, which ends with an evaluation; turns of a training; trainings.
TURNS = {SCRATCH: (100, 4, 21), EMBEDDED: (4, 2, 6)}
EVERY = 50  # steps of the callback: in each turn of its part it measures as often as in any other
WATCHED_TURNS = {SCRATCH: (100, 4, 21), EMBEDDED: (EVERY, 2, 4)}
ROUNDS = 10


def plan(encoder: str, **chosen: object) -> TrainingPlan:
    pairs = TrainingData(
        source="file",
        file=str(DATA / "stsb_en_ccbysa_train.tsv"),
        held_out_file=str(DATA / "stsb_en_ccbysa_test.tsv"),
    )
    return TrainingPlan(data=pairs, encoder=encoder, **chosen)


def pace(encoder: str, root: Path, ours: str) -> list[Row]:
    """`ours` and plain in turns, each first in every other one: paces, ratio, Spearman, losses.

    What slows the machine for longer than a turn slows both, so it leaves their ratio alone. A
    turn is steps and an evaluation; what a training does before its first step (preparing data,
    model and folder, the evaluation at the start) and after its last is in no turn of either side.
    """
    root.mkdir(exist_ok=True)
    steps, turns, trainings = (WATCHED_TURNS if ours == "watched" else TURNS)[encoder]
    chosen = plan(encoder, steps=steps * turns, evaluations=turns, checkpoint_seconds=86_400)
    if encoder == SCRATCH:  # its word pieces are learnt once, for all
        set_seed(chosen.seed)
        starting_model(chosen, checked_corpus(chosen).train, root / "start", None)
    made = {ours: MADE[ours], "plain": _plain}
    sides = {name: Trainings(make, chosen, root, trainings) for name, make in made.items()}
    times: dict[str, list[float]] = {name: [] for name in sides}
    for training in range(trainings):
        for side in sides.values():
            side.answer()  # it is ready
        for turn in range(turns):
            order = list(sides)[:: 1 - turn % 2 * 2]
            taken = {name: sides[name].answer() for name in order}
            if training:  # the first warms up
                measured = ", ".join(f"{name} {taken[name]:.3f} s" for name in sides)
                print(
                    f"{ours} {encoder:18} training {training:2} turn {turn} {measured}", flush=True
                )
                for name in sides:
                    times[name].append(taken[name])
        found = {name: side.answer() for name, side in sides.items()}
    paces = ", ".join(
        f"{steps / statistics.median(taken):.2f} {name} "
        f"({steps / max(taken):.2f} to {steps / min(taken):.2f})"
        for name, taken in times.items()
    )
    middle, low, high = ratio(times["plain"], times[ours])
    count = len(times["plain"])
    sentence = f"{middle:.3f} (95% confidence {low:.3f} to {high:.3f}, {count} turns)"
    ends = " and ".join(f"{found[name].spearman:.4f} {name}" for name in sides)
    pairs = zip(found[ours].losses, found["plain"].losses, strict=True)
    apart = max(abs(a - b) / max(abs(a), abs(b)) for a, b in pairs)
    return [
        (f"pace, {encoder}: {ours} / plain", sentence, "≥ 0.97"),
        (f"pace, {encoder}: steps a second", paces, ""),
        (f"pace, {encoder}: held-out Spearman, {ours} and plain", ends, "equal within noise"),
        (f"pace, {encoder}: losses of {chosen.steps} steps", f"apart by at most {apart:.1e}", ""),
        *own_work(encoder, found[ours]),
    ]


def own_work(encoder: str, training: Training) -> list[Row]:
    """Return the share of the callback's own work in the last training. Other work on the machine,
    which makes paces of seconds uncertain by more, hardly changes it."""
    if not training.own:
        return []
    part = training.own / training.spent
    return [
        (
            f"callback, {encoder}: of the training's processor time",
            f"{100 * part:.2f} % ({1000 * training.own:.0f} ms of {training.spent:.0f} s; "
            f"a pace of {1 - part:.4f})",
            "≤ 3 %",
        )
    ]


@dataclass(frozen=True)
class Training:
    """Results: the last held-out Spearman, the loss of each step, and seconds of the processor, the
    callback's own among them."""

    spearman: float
    losses: list[float]
    spent: float
    own: float


class Trainings:
    """Trainings in a process of their own that runs on command and waits otherwise.

    Its commands are to prepare, to train for some steps, and to report results.
    """

    def __init__(self, made: Callable, chosen: TrainingPlan, root: Path, trainings: int) -> None:
        context = multiprocessing.get_context("spawn")
        self.talk, theirs = context.Pipe()
        given = (made, chosen, root, trainings, theirs)
        context.Process(target=_train, args=given, daemon=True).start()
        theirs.close()  # so that its end is heard if it dies

    def answer(self) -> object:
        self.talk.send("go on")
        return self.talk.recv()


class FairQueue(TrainerCallback):
    """Waits before the first of every `steps` steps, and says how long those before it took."""

    def __init__(self, talk: Connection, steps: int) -> None:
        self.talk, self.steps = talk, steps

    def on_step_begin(self, args, state, control, **_) -> None:
        if state.global_step % self.steps == 0:
            self.talk.send(time.perf_counter() - self.began if state.global_step else "ready")
            self.talk.recv()
            self.began = time.perf_counter()

    def on_train_end(self, *_, **__) -> None:
        self.talk.send(time.perf_counter() - self.began)


def _train(
    made: Callable, chosen: TrainingPlan, root: Path, trainings: int, talk: Connection
) -> None:
    corpus = checked_corpus(chosen)
    for _ in range(trainings):
        talk.recv()
        trainer, spearman = made(chosen, corpus, root)
        trainer.add_callback(FairQueue(talk, chosen.steps // chosen.evaluations))
        losses = _noted(trainer)
        began = time.process_time()
        trainer.train()
        spent = time.process_time() - began
        watching = [one for one in trainer.callback_handler.callbacks if isinstance(one, Timed)]
        own = sum(one.seconds for one in watching)
        talk.recv()
        talk.send(Training(spearman(), [float(loss) for loss in losses], spent, own))


def _noted(trainer: Trainer) -> list[Tensor]:
    losses: list[Tensor] = []
    trainer.loss.register_forward_hook(lambda _loss, _given, value: losses.append(value.detach()))
    return losses


def ratio(above: Sequence[float], below: Sequence[float]) -> tuple[float, float, float]:
    """The median of the quotients of the turns, and the interval that holds what many turns would
    give, with 95% confidence: quotients of such ranks lie on both sides of it (binomial).

    A turn in which the machine did something else counts as one, however long it took.
    """
    quotients = sorted(a / b for a, b in zip(above, below, strict=True))
    beyond = max(int(binom.ppf(0.025, len(quotients), 0.5)), 1)
    return statistics.median(quotients), quotients[beyond - 1], quotients[-beyond]


def _recorded(chosen: TrainingPlan, corpus: data.Corpus, root: Path) -> tuple[Trainer, Callable]:
    run = Runs(root).prepare(chosen, corpus)
    run.take_ticket(os.getpid())
    if chosen.encoder == SCRATCH:
        shutil.copytree(root / "start", run.start)
    session = sessions.prepared(run)
    recorder, trainer = sessions.make_recorder(session), sessions.make_trainer(session)
    recorder.attach(trainer)

    def spearman() -> float:
        recorder.flush()
        return [record for record in run.history() if record.kind == "evaluation"][-1].spearman

    return trainer, spearman


class Unnoticed(SentenceTransformerTrainer):
    """The library's trainer draws a random number for every evaluation, so that the dropout after
    it is another than without; here it is given back, and both sides draw the same."""

    def evaluate(self, *given: object, **named: object) -> dict[str, float]:
        with keeps_random_state():
            return super().evaluate(*given, **named)


def _plain(chosen: TrainingPlan, corpus: data.Corpus, root: Path) -> tuple[Trainer, Callable]:
    """The same with nothing of ours but the model to start from."""
    folder = Path(tempfile.mkdtemp(dir=root))
    set_seed(chosen.seed)
    model = starting_model(chosen, corpus.train, root / "start", None)
    live, _ = live_sample(corpus.held_out)
    evaluator = EmbeddingSimilarityEvaluator(*map(list, zip(*live, strict=True)), write_csv=False)
    first, second, labels = zip(*corpus.train, strict=True)
    arguments = chosen.trainer_arguments(chosen.steps, len(labels))
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(folder),
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        eval_strategy="steps",
        eval_steps=-(-chosen.steps // chosen.evaluations),
        eval_on_start=True,
        **arguments,
    )
    trainer = Unnoticed(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_dict({"sentence1": first, "sentence2": second, "label": labels}),
        loss=CoSENTLoss(model),
        evaluator=evaluator,
    )
    trainer.remove_callback(PrinterCallback)

    def spearman() -> float:
        found = [record.get("eval_spearman_cosine") for record in trainer.state.log_history]
        return [value for value in found if value is not None][-1]

    return trainer, spearman


class Timed(PrismCallback):
    """Adds up the processor time of its own work, that of all threads: nothing else of the training
    goes on meanwhile."""

    seconds = 0.0

    def _guarded(self, work: Callable[[], object]) -> None:
        began = time.process_time()
        super()._guarded(work)
        self.seconds += time.process_time() - began


def _watched(chosen: TrainingPlan, corpus: data.Corpus, root: Path) -> tuple[Trainer, Callable]:
    """Train with the callback, as its documentation shows."""
    trainer, spearman = _plain(chosen, corpus, root)
    trainer.add_callback(Timed(every=EVERY, folder=tempfile.mkdtemp(dir=root), texts=True))
    return trainer, spearman


MADE = {"recorded": _recorded, "watched": _watched}
# The part that measures each.
OF_PART = {"pace": "recorded", "callback": "watched"}


def whole_run(name: str, chosen: TrainingPlan, root: Path, target: str) -> list[Row]:
    """Time a run as the page starts it: until the model is saved, and the training alone."""
    runs = Runs(root)
    started = time.perf_counter()
    status = runs.wait(runs.start(chosen))
    seconds = time.perf_counter() - started
    summary = status.summary
    before, after = (one.spearman for one in (summary.before, summary.after))
    measured = (
        f"{summary.seconds:.2f} s of training, {seconds:.1f} s with start, figures and saving; "
        f"held-out Spearman {before:.4f} → {after:.4f} on {summary.pairs.held_out} pairs"
    )
    print(f"{name}: chart in {runs.folder(status.id).model / 'spearman.svg'}")
    return [(f"{name}, {summary.steps} steps of {chosen.batch_size}", measured, target)]


def memory(root: Path) -> list[Row]:
    """Ten runs in a row: this process, before and after, and what they leave running."""
    runs, own = Runs(root), psutil.Process()
    chosen = plan(SCRATCH, steps=20)
    runs.wait(runs.start(chosen))
    before = own.memory_info().rss
    for _ in range(ROUNDS):
        runs.wait(runs.start(chosen))
    after = own.memory_info().rss
    grown = 100 * (after / before - 1)
    children = len(own.children(recursive=True))
    measured = (
        f"{before / 2**20:.0f} MB → {after / 2**20:.0f} MB ({grown:+.1f}%), "
        f"{children} processes left"
    )
    return [(f"memory after {ROUNDS} runs", measured, "≤ +10%, none left")]


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks training", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--encoder", choices=tuple(TURNS), help="of the pace; both if left out")
    report.add_option(parser)
    chosen = parser.parse_args(arguments)
    machine = describe()
    print(machine)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for part, ours in OF_PART.items():
            for encoder in [chosen.encoder] if chosen.encoder else TURNS:
                if part in chosen.parts:  # its runs never end, and others would wait for them
                    rows += pace(encoder, root / part, ours)
        if "epoch" in chosen.parts:
            rows += whole_run("epoch from scratch", plan(SCRATCH), root, "≤ 5 s of training")
        if "demo" in chosen.parts:
            rows += whole_run(EMBEDDED, plan(EMBEDDED, steps=60), root, "≤ 90 s")
        if "memory" in chosen.parts:
            rows += memory(root)
    print(report.table(report.HEADS, rows))
    place = report.folder(chosen, whole=set(chosen.parts) == set(PARTS) and not chosen.encoder)
    if place:
        report.write(place, "training", "Training", machine, (report.HEADS, rows))
