"""The pairs that a plan's data name: of an example, the hub, a file, or rows."""

import json
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from lossprism.explorer.lab.doctor.dataset_row_scenarios import paired
from lossprism.explorer.lab.doctor.texts_with_classes_reader import pairs_or_classes, read_classes
from lossprism.explorer.lab.training.plan import TrainingData
from lossprism.explorer.lab.training.trainer_rows import Taught
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources import hub_cache_pruning, hub_datasets, pairs_from_tables, textbook
from lossprism.explorer.sources.hub_client import hub_token
from lossprism.explorer.sources.pairs import Pairs, taught
from lossprism.explorer.sources.reading_notes import ReadingNote, reading_notes

# What is drawn from the data (a sample of many rows, the pairs held out, the varied copies) is the
# same for every run on it: the seed of a run moves its order and its first weights.
DRAW_SEED = 0


class LoadedPairs(NamedTuple):
    """Pairs with the number of unusable rows, whether they are triplets, whether there are columns
    of a guide's vectors, and the roles of the columns."""

    pairs: Pairs
    left_out: int = 0
    triplets: bool = False
    brings_guide: bool = False
    notes: tuple[ReadingNote, ...] = ()


def pairs_of(data: TrainingData) -> LoadedPairs:
    """Read the pairs of a plan's data from its source.

    Raises:
        Problem: where they cannot be read, or are none.
    """
    if data.source == "example":
        if not textbook.EXAMPLES.get(data.example, textbook.EXAMPLES["graded_english"]).encodable:
            raise Problem("training_no_words", name=data.example)
        return LoadedPairs(textbook.load_example(data.example))
    if data.source == "hub":
        return _from_hub(data)
    if data.source == "rows":
        lines = _json_lines(data.rows).encode("ascii")
        table = pairs_from_tables.read_table(lines, "rows.jsonl", most=data.most, seed=DRAW_SEED)
        origin = _origin_of(table)
        return origin._replace(
            pairs=taught(table.pairs, data.teacher) if data.teacher else table.pairs,
            triplets=data.triplets,
            notes=(),
        )
    return _from_file(data, data.file, data.name)


def _from_file(data: TrainingData, path: str | Path, name: str) -> LoadedPairs:
    """The pairs of a file; of texts with classes, pairs of the same class."""
    columns = dict(data.columns) or None
    content, name = pairs_from_tables.file_content(path, name)
    how = {"columns": columns, "encoding": data.encoding}

    def pairs() -> LoadedPairs:
        return _origin_of(
            pairs_from_tables.read_table(content, name, most=data.most, seed=DRAW_SEED, **how)
        )

    def classes() -> LoadedPairs:
        table = read_classes(content, name, lambda *_: None, **how)
        pairs = pairs_from_tables.read_table(
            paired(table), "pairs.tsv", most=data.most, seed=DRAW_SEED
        )
        return LoadedPairs(pairs.pairs, table.skipped, notes=reading_notes(table.used))

    return pairs_or_classes(content, columns, pairs, classes)


def columns_read(data: TrainingData) -> dict[str, tuple[ReadingNote, ...]]:
    """Roles of the columns of a plan's file or dataset, and of its held-out file, by the name of
    each; nothing for other sources."""
    notes = {}
    if data.source in ("file", "hub"):
        notes[data.name or data.hub] = pairs_of(data).notes
    if data.held_out_file:
        notes[data.held_out_name] = reading_notes(held_out_of(data))
    return notes


def _origin_of(table: pairs_from_tables.Table) -> LoadedPairs:
    if not table.pairs:
        raise Problem("no_pairs")
    of_triplets = "anchor" in table.chosen
    notes = reading_notes(table)
    return LoadedPairs(table.pairs, table.left_out, of_triplets, table.brings_guide, notes)


def _json_lines(rows: Sequence[Sequence[str]]) -> str:
    named = ({"sentence1": a, "sentence2": b, "score": c} for a, b, c in rows)
    return "\n".join(json.dumps(row) for row in named)


def _from_hub(data: TrainingData) -> LoadedPairs:
    """Read a dataset of the hub, as the same rows in a file would be."""
    from datasets import disable_progress_bars, load_dataset

    disable_progress_bars()
    repo, subset = hub_datasets.repository_and_subset(data.hub)
    with hub_datasets.problems_of(data.hub):
        whole = hub_datasets.size_within_limits(data.hub, hub_datasets.dataset_info(data.hub))
        folder = hub_cache_pruning.prepare_download("dataset", repo, whole)
        prepared = folder and str(folder / hub_cache_pruning.PREPARED)
        rows = load_dataset(repo, subset, split=data.split, token=hub_token(), cache_dir=prepared)
    if len(rows) > data.most:
        rows = rows.shuffle(seed=DRAW_SEED).select(range(data.most))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hub.jsonl"
        rows.to_json(path, force_ascii=False)
        return _from_file(data, path, path.name)


def held_out_of(data: TrainingData) -> pairs_from_tables.Table:
    """Read the held-out file, by the columns chosen for the other one, else by its own; likewise in
    its own encoding, or if that is unclear, in the chosen one."""
    columns, encoding = dict(data.columns) or None, ""
    while True:
        try:
            return pairs_from_tables.read_file(
                data.held_out_file,
                data.held_out_name,
                columns=columns,
                most=data.most,
                seed=DRAW_SEED,
                encoding=encoding,
            )
        except Problem as problem:
            if problem.about == "unknown_column" and columns:
                columns = None
            elif problem.about == "encoding" and encoding != data.encoding:
                encoding = data.encoding
            else:
                raise


def reworded(data: TrainingData, held_out: set[str]) -> list[Taught]:
    """The pairs of the file with another column in place of the first sentence."""
    if not data.alternatives:
        return []
    place, name = data.file, data.name
    chosen, encoding = dict(data.columns) or None, data.encoding
    known = pairs_from_tables.read_file(
        place, name, columns=chosen, most=1, encoding=encoding
    ).chosen
    added: list[Taught] = []
    role = "anchor" if "anchor" in known else "first"
    for column in data.alternatives:
        columns = {**known, role: column}
        table = pairs_from_tables.read_file(
            place, name, columns=columns, most=data.most, seed=DRAW_SEED, encoding=encoding
        )
        # A held-out pair in its other wording still has its second sentence.
        added += [pair for pair in rows_of(table.pairs) if pair[0] not in held_out | {pair[1]}]
    return [pair for pair in added if pair[1] not in held_out]


def rows_of(pairs: Pairs) -> list[Taught]:
    """Return both texts, the label, and a teacher's score, NaN for none."""
    scores = pairs.teacher or (math.nan,) * len(pairs)
    return list(zip(pairs.first, pairs.second, pairs.labels, scores, strict=True))
