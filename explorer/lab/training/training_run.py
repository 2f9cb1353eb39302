"""A run from start to end, by the trainers of sentence-transformers."""

from __future__ import annotations

import gc
import math
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from datasets import Dataset, disable_progress_bars
from transformers import PrinterCallback, Trainer, TrainingArguments, set_seed
from transformers.utils import logging

from lossprism.explorer.core.own_loss_from_python_file import add_own_loss
from lossprism.explorer.lab.training import model_card, quota, starting_model, teacher_scores
from lossprism.explorer.lab.training.data import Pair, material_of, rules_of
from lossprism.explorer.lab.training.held_out_list_metrics import list_figures
from lossprism.explorer.lab.training.held_out_metrics import (
    HeldOut,
    bands_of,
    keeps_random_state,
    live_sample,
)
from lossprism.explorer.lab.training.loss_of_dataset_rows import batch_loss
from lossprism.explorer.lab.training.loss_refusal_reasons import no_epoch
from lossprism.explorer.lab.training.metric_uncertainty import repeats
from lossprism.explorer.lab.training.out_of_memory import is_out_of_memory, largest_fitting
from lossprism.explorer.lab.training.own_loss_training_failures import watched
from lossprism.explorer.lab.training.plan import TrainingPlan
from lossprism.explorer.lab.training.probe_batch_exploration import explored
from lossprism.explorer.lab.training.record_of_training_run_objects import RunParts
from lossprism.explorer.lab.training.run_folder import (
    PROBE_GUIDE,
    PROBE_TEACHER,
    RunFolder,
    nan_as_null,
)
from lossprism.explorer.lab.training.run_json_types import (
    EvaluationRecord,
    EventRecord,
    ExampleCount,
    HeldOutRecord,
    PairCounts,
    Probe,
    RunRecord,
    StepRecord,
    Summary,
)
from lossprism.explorer.lab.training.run_remarks import gained
from lossprism.explorer.lab.training.trainer_callback import Recorder, load_own_weights
from lossprism.explorer.lab.training.trainer_rows import LISTS, Material, columns_for
from lossprism.explorer.locale import title_word
from lossprism.explorer.runtime import device
from lossprism.explorer.runtime.atomic_write import atomic_write
from lossprism.explorer.runtime.number_format import display_number
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.saved_arrays import save_array
from lossprism.explorer.sources.pairs import distinct
from lossprism.losses.input_checks import NotFinite
from lossprism.losses.labels import LabelRules
from lossprism.losses.sentence_transformers import (
    TrainingLoss,
    in_order,
    training_loss,
    whole_lists,
    with_vectors,
)

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

    from lossprism.explorer.lab.training.starting_model import Encoder

TRIAL_STEPS = 2


def train(run: RunFolder, trial: bool = False) -> None:
    """Train as the folder's config.json says, from the last checkpoint if there is one."""
    logging.disable_progress_bar()
    disable_progress_bars()
    run.mend_log()
    session = prepared(run, trial)
    checkpoint = run.last_checkpoint()
    if not checkpoint and (why := no_epoch(session.plan, session.material, session.rules)):
        raise why  # of a run that was begun before this was looked for
    if trial:
        session.steps = TRIAL_STEPS
    recorder, trainer = make_recorder(session), make_trainer(session)
    recorder.attach(trainer)
    if run.log.stat().st_size:  # without a checkpoint nothing in the log counts
        recorder.write(EventRecord(kind="resumed", step=checkpoint[1] if checkpoint else -1))
    if checkpoint:
        load_own_weights(session.loss, checkpoint[0])
    elif not trial:
        run.set_stage("loading", part="held_out")
        _measure_all(session, "before", recorder)
    try:
        _go(trainer, recorder, checkpoint, session.steps)
    except NotFinite as error:
        step = trainer.state.global_step
        kept = _keep_last_good(session, trainer, step)
        raise recorder.not_finite_problem(
            step + 1, kept, error, title_word(session.plan.spec)
        ) from None
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise _too_large(session, recorder.batch, error) from None
    if trial:
        run.set_stage("finished")
    else:
        _finish(session, recorder)


def _go(trainer: Trainer, recorder: Recorder, checkpoint: tuple | None, steps: int) -> None:
    if checkpoint and checkpoint[1] >= steps:  # it was stopped between training and saving
        trainer._load_from_checkpoint(str(checkpoint[0]))
        return
    try:
        trainer.train(resume_from_checkpoint=str(checkpoint[0]) if checkpoint else None)
    finally:  # the steps before a failure are read, too
        recorder.flush()


def prepared(run: RunFolder, trial: bool = False) -> RunParts:
    """Load the pairs, the model and the loss of a run, the same at every start."""
    config = run.config
    # Without its number: this process sees no other GPU.
    device.choose((config.device or "").partition(":")[0] or None)
    if own_loss := config.plan.get("own_loss"):
        add_own_loss(str(own_loss))
    plan = TrainingPlan.from_run(config.plan)
    where = str(device.device())
    teacher_scores.teach(run, plan, where, trial)
    run.set_stage("loading", part="encoder")
    guide = starting_model.guide_of(plan, where)
    material, (held_out, held_out_teacher) = material_of(run), run.read_scored("held_out.jsonl")
    rules = rules_of(run, plan)
    set_seed(plan.seed)
    model = starting_model.starting_model(plan, material.pairs, run.start, where)
    set_seed(plan.seed)  # so that the loss's own weights do not depend on how the model was made
    loss, dataset = loss_and_data(plan, model, material, rules, guide)
    return RunParts(
        run=run,
        plan=plan,
        material=material,
        held_out=held_out,
        held_out_teacher=held_out_teacher,
        rules=rules,
        model=model,
        guide=guide,
        vectors_of=teacher_scores.vectors_of(run, plan),
        loss=loss,
        dataset=dataset,
        steps=plan.steps_for(len(dataset)),
    )


def loss_and_data(
    plan: TrainingPlan,
    model: Encoder,
    material: Material,
    rules: LabelRules,
    guide: SentenceTransformer | None = None,
) -> tuple[TrainingLoss, Dataset]:
    """Make the loss around the model, beside its guide, and its dataset."""
    columns = columns_for(plan, material, rules)
    count = len(set(columns["label"])) if plan.forms_classes else 0
    arguments = plan.loss_arguments(rules.threshold, rules.label_range, count)
    loss = training_loss(plan.loss)(model, guide=guide, **arguments)
    if plan.own_loss:
        loss.function = watched(loss.spec, loss.function)
    return loss, Dataset.from_dict(columns)


def make_trainer(session: RunParts) -> Trainer:
    if session.plan.kind == "bi":
        from sentence_transformers import SentenceTransformerTrainer
        from sentence_transformers.sentence_transformer.training_args import (
            SentenceTransformerTrainingArguments,
        )

        return _trainer(session, SentenceTransformerTrainer, SentenceTransformerTrainingArguments)
    from sentence_transformers.cross_encoder import CrossEncoderTrainer
    from sentence_transformers.cross_encoder.training_args import CrossEncoderTrainingArguments

    return _trainer(session, CrossEncoderTrainer, CrossEncoderTrainingArguments)


def _trainer(
    session: RunParts, kind: Callable[..., Trainer], arguments: Callable[..., TrainingArguments]
) -> Trainer:
    if session.plan.lora:
        kind = starting_model.keeping_adapters(kind)
    trainer = kind(
        model=session.model,
        args=arguments(
            output_dir=str(session.run.checkpoints),
            save_strategy="no",  # the recorder decides when
            save_total_limit=2,
            logging_strategy="no",
            logging_nan_inf_filter=False,
            report_to="none",
            disable_tqdm=True,
            use_cpu=device.device().type == "cpu",
            **_arguments(session),
        ),
        train_dataset=session.dataset,
        loss=session.loss,
    )
    trainer.remove_callback(PrinterCallback)
    if session.vectors_of:
        trainer.data_collator = with_vectors(trainer.data_collator, session.vectors_of)
    if session.form == LISTS and session.plan.kind == "bi":
        trainer.data_collator = whole_lists(trainer.data_collator)
    return trainer


def _arguments(session: RunParts) -> dict[str, Any]:
    plan, dataset = session.plan, session.dataset
    arguments = plan.trainer_arguments(session.steps, len(dataset), dataset.column_names)
    return {**arguments, "batch_sampler": in_order} if plan.drawn_by == "in_order" else arguments


def make_recorder(session: RunParts) -> Recorder:
    plan, rules = session.plan, session.rules
    in_lists = "lists" in plan.spec.needs
    chosen, probe = live_sample(session.held_out, in_lists, plan.encodes_sides_alike)
    bands = bands_of([label for *_, label in session.held_out])
    first, second, labels = zip(*chosen[:probe], strict=True)
    taught_scores = None
    if teacher := session.held_out_teacher:
        by_pair = {pair[:2]: score for pair, score in zip(session.held_out, teacher, strict=True)}
        taught_scores = nan_as_null(by_pair[pair[:2]] for pair in chosen[:probe])
    about = Probe(
        first=list(first),
        second=list(second),
        labels=list(labels),
        labelled=session.run.config.labelled,
        bands=list(bands),
        live=len(chosen),
        teacher=taught_scores,
        **rules._asdict(),
    )
    session.run.write("probe.json", about)
    guided, taught = _guided(session, first, second), _taught(session, first, second)

    def at_collapse(scores: np.ndarray, vectors: np.ndarray | None) -> tuple:
        try:
            exploration = explored(
                plan, about, scores, vectors, guide=guided, teacher_vectors=taught
            )
        except Problem:  # the probe batch has nothing that this loss could read
            return None, None
        return exploration.loss, exploration.collapse

    return Recorder(
        run=session.run,
        live=_measured_by(session, chosen),
        held_out=_measured_by(session, session.held_out),
        probe=probe,
        every=math.ceil(session.steps / plan.evaluations),
        checkpoint_seconds=plan.checkpoint_seconds,
        time_limit=quota.time_limit(),
        loss_at_collapse=at_collapse,
        lists_of=lambda scores: list_figures(chosen, scores, rules),
        learning=session.loss,
    )


def _measured_by(session: RunParts, pairs: Sequence[Pair]) -> HeldOut:
    bands = bands_of([label for *_, label in session.held_out])
    return HeldOut.of(pairs, bands, session.rules.threshold, session.plan.encodes_sides_alike)


@keeps_random_state()
def _guided(session: RunParts, *sides: Sequence[str]) -> np.ndarray | None:
    """Return the guide's vectors of the probe batch, and save them for the page."""
    if session.guide is None:
        return None
    sentences = distinct(*sides)
    vectors = session.guide.encode(sentences, convert_to_numpy=True, show_progress_bar=False)
    rows = np.asarray(vectors, dtype=np.float32)
    save_array(session.run.path / PROBE_GUIDE, rows)
    return rows


@keeps_random_state()
def _taught(session: RunParts, *sides: Sequence[str]) -> np.ndarray | None:
    """The vectors of the probe batch that the model learns, kept likewise."""
    if session.vectors_of is None:
        return None
    rows = session.vectors_of(distinct(*sides)).numpy()
    save_array(session.run.path / PROBE_TEACHER, rows)
    return rows


# The end


@keeps_random_state()
def _measure_all(session: RunParts, when: Literal["before", "after"], recorder: Recorder) -> None:
    """Measure all held-out pairs; write the figures into the log and, for comparisons, a file."""
    held_out = _measured_by(session, session.held_out)
    figures, scores, vectors = held_out.figures(session.model)
    lists = list_figures(session.held_out, scores, session.rules)
    arrays = {"scores": scores, "sentences": np.array(held_out.sentences)}
    if vectors is not None:
        arrays["vectors"] = vectors.astype(np.float16)
    if (places := held_out.places(vectors)) is not None:
        arrays["places"] = places
    with atomic_write(session.run.path / f"{when}.npz") as file:
        np.savez(file, allow_pickle=False, **arrays)
    step = session.steps if when == "after" else 0
    recorder.write(HeldOutRecord(step=step, when=when, **figures, lists=lists))


def _finish(session: RunParts, recorder: Recorder) -> None:
    run = session.run
    run.set_stage("saving")
    _measure_all(session, "after", recorder)
    recorder.flush()
    history = run.history()
    *_, last = (one for one in history if isinstance(one, StepRecord))
    measured = {one.when: one.figures() for one in history if isinstance(one, HeldOutRecord)}
    measuring = sum(one.seconds for one in history if isinstance(one, EvaluationRecord))
    config = run.config
    summary = Summary(
        loss=last.loss,
        steps=last.step,
        seconds=last.seconds,
        steps_per_second=last.step / max(last.seconds - measuring, 1e-9),
        before=measured["before"],
        after=measured["after"],
        threshold=session.rules.threshold,
        label_range=session.rules.label_range,
        pairs=PairCounts(train=len(session.material.pairs), held_out=len(session.held_out)),
        examples=ExampleCount(form=session.form, count=len(session.dataset)),
        skipped=config.skipped,
        shared=config.shared,
        repeated=repeats([pair[:2] for pair in session.held_out]),
        kept_step=last.step,
    )
    save_model(session, summary, history)
    run.write("summary.json", summary)
    if recorder.stopped_early and recorder.time_is_up:
        minutes = display_number(recorder.time_limit / 60)
        problem = Problem("training_time_up", step=last.step, minutes=minutes)
        run.set_stage("stopped", problem=problem, time_is_up=True)
    else:
        run.set_stage("stopped" if recorder.stopped_early else "finished")


def save_model(session: RunParts, summary: Summary, history: list[RunRecord]) -> None:
    """Save the model as a folder of sentence-transformers, atomically."""
    part = session.run.path / "model.part"
    shutil.rmtree(part, ignore_errors=True)
    model_card.show_examples(session.model)
    _save_alone(session, part)
    model_card.complete(part, session.plan, summary, history, gained(session.run))
    _put_in_place(part, session.run.model)


def _save_alone(session: RunParts, folder: Path) -> None:
    """Save the model so that it needs no peft."""
    if session.plan.lora:
        starting_model.merge_adapters(session.model)
    session.model.save_pretrained(str(folder))


def _put_in_place(part: Path, model: Path) -> None:
    """Replace the model; a concurrent reader finds the whole old one or the whole new one."""
    old = model.with_suffix(".old")
    shutil.rmtree(old, ignore_errors=True)
    if model.exists():
        model.rename(old)
    part.rename(model)
    shutil.rmtree(old, ignore_errors=True)


# When things go wrong


def _keep_last_good(session: RunParts, trainer: Trainer, step: int) -> int:
    """Save the model of the last step with finite weights; return that step."""
    _, scores, _ = HeldOut.of(session.held_out[:8], (), 0.0).figures(session.model)
    if not np.isfinite(scores).all():
        checkpoint = session.run.last_checkpoint()
        if checkpoint is None:
            return 0
        trainer._load_from_checkpoint(str(checkpoint[0]))
        step = checkpoint[1]
    part = session.run.path / "model.part"
    _save_alone(session, part)
    _put_in_place(part, session.run.model)
    return step


def _too_large(session: RunParts, batch: list[dict], error: Exception) -> Problem:
    """Return the problem of a batch that does not fit, with the largest that does."""
    error.__traceback__ = None  # it holds the tensors of the batch
    rows = sorted(batch, key=lambda row: -sum(len(str(value)) for value in row.values()))

    def fits(count: int) -> bool:
        session.model.zero_grad()
        gc.collect()
        try:
            batch_loss(session, rows[:count]).backward()
        except (RuntimeError, MemoryError) as failure:
            if not is_out_of_memory(failure):
                raise
            return False
        return True

    if largest := largest_fitting(len(batch), fits):
        return Problem("training_out_of_memory", batch=len(batch), fits=largest)
    return Problem("training_no_memory", batch=len(batch))
