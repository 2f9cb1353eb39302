"""Tables of a large batch to download: its pairs, terms and figures.

A table of all pairs is written into a file piece by piece, and never stored as a whole.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from lossprism.explorer.export.csv import csv_text, write_csv
from lossprism.explorer.lab.large.batch import LargeBatch
from lossprism.explorer.lab.large.large_batch_remarks import LabelJudgement
from lossprism.explorer.lab.large.large_batch_session import LargeSession
from lossprism.explorer.lab.large.score_histogram_by_label import histogram
from lossprism.explorer.lab.large.tile_survey import Progress
from lossprism.explorer.lab.large.user_label_corrections import changes_of
from lossprism.explorer.runtime.atomic_write import atomic_write
from lossprism.explorer.runtime.number_format import csv_number
from lossprism.explorer.sources.pairs import Correction

# Pairs that are written together.
ROWS_BETWEEN_REPORTS = 2**13
SENTENCE_COLUMNS = ["sentence1", "sentence2", "score"]
FIGURE_COLUMNS = ["similarity", "gradient", "contradicted_share", "fitting_label"]


def pairs_file(session: LargeSession, path: Path, progress: Progress) -> Path:
    """Write every pair in the order of the source: its row there, its sentences, and its figures.

    `gradient` is ∂L/∂s, empty where a pair has no term of its own.
    """
    batch = session.batch
    suspects = np.zeros(len(batch), dtype=np.int64)
    suspects[batch.contradictions.suspects] = 1
    heads = ["row", "pair", *SENTENCE_COLUMNS, *FIGURE_COLUMNS, "suspect"]
    places = np.argsort(batch.entry, kind="stable")
    lines = _known(session, places, progress)
    marked = ([*line, int(suspects[place])] for place, line in lines)
    return _file(path, heads, marked)


def suspects_file(session: LargeSession, path: Path, progress: Progress) -> Path:
    """The pairs on which label and encoder disagree, the worst first."""
    lines = _known(session, session.batch.contradictions.suspects, progress)
    heads = ["rank", "row", "pair", *SENTENCE_COLUMNS, *FIGURE_COLUMNS]
    ranked = ([rank, *line] for rank, (_, line) in enumerate(lines, 1))
    return _file(path, heads, ranked)


def corrected_file(batch: LargeBatch, path: Path, progress: Progress) -> Path:
    """Write the pairs with their corrections, in the order of the source: a file that any page
    opens again. The similarity is there if it came with the data."""
    with_scores = not batch.encoder
    heads = [*SENTENCE_COLUMNS, *(["similarity"] if with_scores else [])]

    def lines() -> Iterator[list[object]]:
        for place in _with_progress(np.argsort(batch.entry, kind="stable"), progress):
            entry = int(batch.entry[place])
            numbers = [batch.labels[place], *([batch.scores[place]] if with_scores else [])]
            yield [batch.first[entry], batch.second[entry], *map(float, numbers)]

    return _file(path, heads, lines())


def changes_csv(batch: LargeBatch, corrections: Iterable[Correction]) -> str:
    """List the changes: each pair with the label of its source and its label now; none where it was
    left out. `batch` is that of the source."""
    changes = changes_of(batch, corrections)
    places = np.flatnonzero(np.isin(batch.entry, list(changes)))
    body = []
    for place in sorted(places.tolist(), key=lambda place: batch.entry[place]):
        entry = int(batch.entry[place])
        now = changes[entry]
        label = float(batch.labels[place])
        body.append([_row(batch, entry), *_words(batch, entry), label, "" if now is None else now])
    return csv_text(["row", *SENTENCE_COLUMNS, "corrected"], body)


def terms_csv(session: LargeSession) -> str:
    """The heaviest of all terms: their rows and columns on the map, the pairs behind them, value,
    weight, and the weight up to and with each."""
    batch, heaviest = session.batch, session.heaviest
    sides = [
        (heaviest.rows, np.asarray(session.matrix.row_pairs)),
        (heaviest.columns, np.asarray(session.matrix.column_pairs)),
    ]
    so_far = np.cumsum(heaviest.shares)
    body = []
    for rank in range(len(heaviest.values)):
        line: list[object] = [rank + 1]
        for places, pairs in sides:
            place = int(pairs[places[rank]])
            entry = int(batch.entry[place])
            numbers = float(batch.labels[place]), float(batch.scores[place])
            line += [int(places[rank]) + 1, entry + 1, *_words(batch, entry), *numbers]
        numbers = heaviest.values[rank], heaviest.shares[rank], so_far[rank]
        body.append([*line, *(csv_number(float(number)) for number in numbers)])
    heads = [
        f"{side}_{what}"
        for side in ("row", "column")
        for what in ("place", "pair", "sentence1", "sentence2", "score", "similarity")
    ]
    return csv_text(["rank", *heads, "value", "weight", "cumulative_weight"], body)


def histogram_csv(session: LargeSession) -> str:
    """Number of pairs of each group of labels in each bin of similarity."""
    seen = histogram(session.batch)
    body = [
        [low, high, float(seen.edges[at]), float(seen.edges[at + 1]), int(count)]
        for (low, high), counts in zip(seen.groups, seen.counts, strict=True)
        for at, count in enumerate(counts)
    ]
    heads = ["label_from", "label_to", "similarity_from", "similarity_to", "pairs"]
    return csv_text(heads, body)


def figures_of(session: LargeSession, by: LabelJudgement) -> dict[str, object]:
    """The figures of the strip, by name."""
    violated, compared = session.violated
    return {
        "loss": session.loss,
        "gradient_norm": session.gradient_norm,
        "pairs": len(session.batch),
        "terms": session.present,
        "violated": violated,
        "compared": compared,
        "nearest_own": session.nearest,
        "spearman": by.spearman,
        "effective_terms": session.effective,
        "effective_terms_error": session.matrix.effective_error,
        "suspects": len(session.batch.contradictions.suspects),
        "suspects_expected": by.usual and by.usual.expected,
        "suspects_expected_low": by.usual and by.usual.low,
        "suspects_expected_high": by.usual and by.usual.high,
    }


def figures_csv(figures: dict[str, object]) -> str:
    """The figures, one a line; what is no number stands in a column of its own."""
    body = [
        [name, csv_number(value), ""] if isinstance(value, int | float) else [name, "", value]
        for name, value in figures.items()
    ]
    return csv_text(["figure", "value", "text"], body)


def _known(
    session: LargeSession, places: np.ndarray, progress: Progress
) -> Iterator[tuple[int, list[object]]]:
    """Yield each of these places with the cells of its pair."""
    batch, gradient = session.batch, session.gradient
    contradicted = batch.contradictions
    for place in _with_progress(places, progress):
        entry, felt = int(batch.entry[place]), float(gradient[place])
        numbers = batch.labels[place], batch.scores[place]
        rest = contradicted.rates[place], contradicted.fitting[place]
        yield (
            place,
            [
                _row(batch, entry),
                entry + 1,
                *_words(batch, entry),
                *map(float, numbers),
                "" if np.isnan(felt) else felt,
                *map(float, rest),
            ],
        )


def _with_progress(places: np.ndarray, progress: Progress) -> Iterator[int]:
    for start in range(0, len(places), ROWS_BETWEEN_REPORTS):
        progress(start, len(places))
        yield from places[start : start + ROWS_BETWEEN_REPORTS].tolist()


def _row(batch: LargeBatch, entry: int) -> int:
    return entry + 1 if batch.rows is None else int(batch.rows[entry])


def _words(batch: LargeBatch, entry: int) -> tuple[str, str]:
    return batch.first[entry], batch.second[entry]


def _file(path: Path, heads: Sequence[str], body: Iterable[Sequence[object]]) -> Path:
    """Write a table that spreadsheets read as UTF-8, by the mark at its beginning."""
    with atomic_write(path) as raw:
        text = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
        write_csv(text, heads, body)
        text.flush()
        text.detach()
    return path
