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
import os
import statistics
import tempfile
import time
from pathlib import Path

import psutil

from benchmarks.machine import describe
from explorer.lab.training import data
from explorer.lab.training.measure import live_sample
from explorer.lab.training.plan import SCRATCH, TrainingData, TrainingPlan
from explorer.lab.training.runs import Runs
from explorer.sources.encoders import EMBEDDED

DATA = Path(__file__).resolve().parents[1].parent / "shared" / "data"
PARTS = ("pace", "epoch", "demo", "memory")
# Steps, evaluations and turns of each side, by encoder.
TURNS = {SCRATCH: (300, 4, 7), EMBEDDED: (8, 2, 4)}
ROUNDS = 10


def plan(encoder: str, **chosen: object) -> TrainingPlan:
    pairs = TrainingData(
        source="file",
        file=str(DATA / "stsb_en_ccbysa_train.tsv"),
        held_out_file=str(DATA / "stsb_en_ccbysa_test.tsv"),
    )
    return TrainingPlan(data=pairs, encoder=encoder, **chosen)


def pace(encoder: str, root: Path) -> None:
    """Alternate both sides; the medians of their times, and their last held-out Spearman."""
    steps, evaluations, turns = TURNS[encoder]
    chosen = plan(encoder, steps=steps, evaluations=evaluations, checkpoint_seconds=86_400)
    corpus = data.load(chosen)
    times: dict[str, list[float]] = {"recorded": [], "plain": []}
    found: dict[str, float] = {}
    for turn in range(turns + 1):  # the first warms up
        for side, work in (("recorded", _recorded), ("plain", _plain)):
            seconds, found[side] = work(chosen, corpus, root)
            if turn:
                times[side].append(seconds)
    medians = {side: statistics.median(taken) for side, taken in times.items()}
    for side, median in medians.items():
        spread = f"{steps / max(times[side]):.2f} to {steps / min(times[side]):.2f}"
        said = f"{steps / median:.2f} steps/s ({spread}), Spearman {found[side]:.4f}"
        print(f"pace {encoder:18} {side:9} {said}")
    ratios = [b / a for a, b in zip(times["recorded"], times["plain"], strict=True)]
    told = f"{statistics.median(ratios):.3f} (turn by turn {min(ratios):.3f} to {max(ratios):.3f})"
    print(f"pace {encoder:18} recorded / plain: {told}")


def _recorded(chosen: TrainingPlan, corpus: data.Corpus, root: Path) -> tuple[float, float]:
    from explorer.lab.training import session as sessions

    run = Runs(root).prepare(chosen, corpus)
    run.take_ticket(os.getpid())
    session = sessions.prepared(run)
    recorder, trainer = sessions.make_recorder(session), sessions.make_trainer(session)
    recorder.attach(trainer)
    started = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - started
    recorder.flush()
    last = [record for record in run.history() if record["kind"] == "evaluation"][-1]
    return seconds, last["spearman"]


def _plain(chosen: TrainingPlan, corpus: data.Corpus, root: Path) -> tuple[float, float]:
    """The same with nothing of ours but the model to start from."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformerTrainer
    from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator
    from sentence_transformers.sentence_transformer.losses import CoSENTLoss
    from sentence_transformers.sentence_transformer.training_args import (
        SentenceTransformerTrainingArguments,
    )
    from transformers import set_seed

    from explorer.lab.training.encoders import starting_model

    folder = Path(tempfile.mkdtemp(dir=root))
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
    trainer = SentenceTransformerTrainer(
        model=model,
        args=arguments,
        train_dataset=Dataset.from_dict({"sentence1": first, "sentence2": second, "label": labels}),
        loss=CoSENTLoss(model),
        evaluator=evaluator,
    )
    started = time.perf_counter()
    trainer.train()
    seconds = time.perf_counter() - started
    figures = [record for record in trainer.state.log_history if "eval_spearman_cosine" in record]
    return seconds, figures[-1]["eval_spearman_cosine"]


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
