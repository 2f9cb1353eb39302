"""The saved batches of a training, each as a scenario under the loss it was trained with."""

import functools
import itertools
import math
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.locale import say
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.jobs import Report
from lossprism.explorer.runtime.limits import KEPT_BATCHES
from lossprism.explorer.runtime.local_path import local_path
from lossprism.explorer.runtime.number_format import display_number, typed
from lossprism.explorer.runtime.owner_consent import agreed_path, is_agreed
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import shortened
from lossprism.explorer.sources.encoders.saved_batch_as_encoder import (
    SavedBatchEncoder,
    cells_of_pairs,
    find_saved_batch,
    texts_of_cells,
)
from lossprism.losses import LOSSES, Parameter
from lossprism.losses.sentence_transformers.saved_batch import (
    SavedBatch,
    is_complete,
    saved_batch_paths,
)

# As far apart as rounding a batch to float32 brings a loss.
SAME_LOSS_TOLERANCE = 1e-3
POLL_SECONDS = 1.0  # between two looks into a folder without a batch
Row = tuple[str, str, str]


@dataclass(frozen=True)
class SavedBatchScenario:
    """A batch and its scenario. `here` is the loss that the scenario has; None where it has none,
    for the `problem` that the page tells as well."""

    path: Path
    batch: SavedBatch
    scenario: Scenario
    here: float | None
    problem: Problem | None = None

    @property
    def same(self) -> bool:
        """True if the scenario has the very loss of the training."""
        return self.here is not None and math.isclose(
            self.here, self.batch.value, rel_tol=SAME_LOSS_TOLERANCE, abs_tol=SAME_LOSS_TOLERANCE**2
        )

    def written(self, language: str = "en") -> str:
        value = display_number(self.batch.value, 5)
        values = {"step": self.batch.step, "loss": self.batch.called, "value": value}
        if self.same:
            return say(language, "kept.same", **values)
        if not self.batch.whole:
            return say(
                language, "kept.part", count=self.batch.count, rows=self.batch.rows, **values
            )
        if not self.batch.loss:
            return say(language, "kept.unknown", **values)
        if self.problem is not None:
            reason = say(language, self.problem.key, **self.problem.values)
            return say(language, "kept.unread", reason=reason, **values)
        return say(language, "kept.other", here=display_number(self.here, 5), **values)


def open_saved_batches(folder: str, report: Report = jobs.step) -> list[SavedBatchScenario]:
    """Every batch of a folder, by its step; `report` hears how many are read and may raise to stop.

    A file that is still being written is left for the next time.

    Raises Problem where the folder has none, or one that cannot be read.
    """
    return [*_opened(files_in(folder).complete, report)]


def wait_for_batches(folder: str, waiting: Callable[[], object]) -> list[SavedBatchScenario]:
    """Return the batches of a folder as soon as a training has written the first; `waiting` is
    called once if there is none yet, nor perhaps a folder.

    Raises Problem where the name is no folder's, or a batch cannot be read.
    """
    place = local_path(folder)
    saved = _first_batches(folder, place)
    if not saved:
        waiting()
    while not saved:
        time.sleep(POLL_SECONDS)
        saved = _first_batches(folder, place)
    return saved


def newer_batch(name: str) -> SavedBatchScenario | None:
    """Return the newest batch in the folder of this one; None where this one is the newest, or
    nobody agreed to all of the folder.

    Raises Problem without consent to read the batch of this name.
    """
    path = agreed_path(name)
    newest = files_in(str(path.parent)).complete[-1:]
    if not newest or newest[0].name <= path.name or not is_agreed(newest[0]):
        return None
    return next(_opened(newest, jobs.step))


def _first_batches(folder: str, place: Path) -> list[SavedBatchScenario]:
    may_come = place.is_dir() or not place.exists()
    return [] if may_come and not saved_batch_paths(place) else open_saved_batches(folder)


@dataclass(frozen=True)
class BatchFiles:
    """The files of the batches in a folder, by step, and the number of those that are still being
    written, as in a folder that is synced from another machine."""

    complete: list[Path]
    unfinished: int


def files_in(folder: str) -> BatchFiles:
    """The files of the batches in a folder. Raises Problem where there are none."""
    place = local_path(folder)
    try:
        # A training deletes every second one of too many.
        paths = [path for path in saved_batch_paths(place) if path.exists()]
        complete = [path for path in paths if is_complete(path)]
    except (OSError, ValueError):  # no name of a folder, or of nobody's
        paths = complete = []
    if not paths:
        raise Problem("kept_none", about="log", folder=shortened(folder))
    return BatchFiles(complete, len(paths) - len(complete))


def _opened(paths: list[Path], report: Report) -> Iterator[SavedBatchScenario]:
    for place, path in enumerate(paths):
        report("opening", place, len(paths))
        name = os.path.abspath(path)
        yield _explored(path, find_saved_batch(name))


@functools.lru_cache(maxsize=KEPT_BATCHES)
def _explored(path: Path, encoder: SavedBatchEncoder) -> SavedBatchScenario:
    """The scenario of a batch: explored once, though a growing folder is listed again and again."""
    scenario = scenario_of(encoder.batch, encoder.name)
    try:
        return SavedBatchScenario(path, encoder.batch, scenario, explore(scenario).loss)
    except Problem as problem:
        return SavedBatchScenario(path, encoder.batch, scenario, None, problem)


def scenario_of(batch: SavedBatch, name: str) -> Scenario:
    """The scenario of a batch in a file of this name, under its loss; of a loss that is not known,
    under one that reads rows of this kind."""
    scored = batch.scores is not None
    data = Data(
        "table",
        rows=_rows(batch),
        teacher=(),
        file=Path(name).name,
        encoder=Data().encoder if scored else name,
        cross_encoder=name if scored else "",
    )
    if batch.loss not in LOSSES:
        graded = len({*batch.labels.tolist()}) > 1 and len(batch.columns) < 3
        return Scenario(data, loss="cosent" if graded else "info_nce")
    spec = LOSSES[batch.loss].under(batch.convention)
    parameters = tuple(
        (one.name, batch.parameters[one.name])
        for one in spec.parameters
        if one.name in batch.parameters and _may_be(batch.parameters[one.name], one)
    )
    moved = tuple((name, value) for name, value in parameters if value != spec.defaults[name])
    return Scenario(
        data, _rules(batch), loss=batch.loss, convention=batch.convention, parameters=moved
    )


def _may_be(value: object, parameter: Parameter) -> bool:
    """True if the page accepts the value: it mines triplets, which a trainer may be given, and has
    None only for off."""
    if value is None:
        return parameter.on_value is not None
    return not parameter.choices or value in parameter.choices


def _rules(batch: SavedBatch) -> Rules:
    if len(batch.columns) == 1:
        return Rules()
    recorded = batch.rules
    ends = recorded.get("label_range")
    threshold = recorded.get("threshold")
    return Rules(
        threshold=float(threshold) if isinstance(threshold, int | float) else None,
        label_range=(float(ends[0]), float(ends[1])) if isinstance(ends, list) else None,
        extra_negatives=recorded.get("extra_negatives") is not False,
        twins="leave_out" if recorded.get("twins") == "leave_out" else "keep",
    )


def _rows(batch: SavedBatch) -> tuple[Row, ...]:
    texts = texts_of_cells(batch)
    if len(batch.columns) == 1:
        return tuple(_chains(batch, texts))
    return tuple(
        (texts[one], texts[other], typed(label))
        for (one, other), label in zip(cells_of_pairs(batch), batch.labels.tolist(), strict=True)
    )


def _chains(batch: SavedBatch, texts: dict[tuple[int, int], str]) -> Iterator[Row]:
    """Pairs that make the classes of a batch: each sentence with the next of its class; one that is
    alone stands beside one of another."""
    members: dict[float, list[int]] = {}
    for row, label in enumerate(batch.labels.tolist()):
        members.setdefault(label, []).append(row)
    before = None
    for rows in members.values():
        for one, other in itertools.pairwise(rows):
            yield texts[0, one], texts[0, other], "1"
        beside = before if before is not None else _first_of_another(members, rows)
        if beside is not None and (len(rows) == 1 or before is None):
            yield texts[0, rows[0]], texts[0, beside], "0"
        before = rows[0]


def _first_of_another(members: dict[float, list[int]], rows: list[int]) -> int | None:
    return next((found[0] for found in members.values() if found is not rows), None)
