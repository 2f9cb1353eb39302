"""The rows that stay of a data set, and those that do not with why, as files to take away."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable
from pathlib import Path

from explorer.lab.doctor.reading import Read
from explorer.runtime.numbers import typed

ROWS_A_REPORT = 2**14
Tell = Callable[[int, int], None]


def write_kept(read: Read, path: Path, tell: Tell = lambda done, total: None) -> Path:
    """The pairs that stay, with the labels and the teacher's scores that they have."""
    kept = (read.profile.cleaned.kept - 1).tolist()
    _write(path, _heads(read), (_cells(read, place) for place in kept), len(kept), tell)
    return path


def write_left_out(read: Read, path: Path, tell: Tell = lambda done, total: None) -> Path:
    """The others, each with its row and the name of the fault."""
    left = read.profile.cleaned.left_out
    heads = ["row", "because", *_heads(read)]
    lines = ([str(read.row(pair)), why, *_cells(read, pair - 1)] for pair, why in left)
    _write(path, heads, lines, len(left), tell)
    return path


def _heads(read: Read) -> list[str]:
    profile = read.profile
    labels = ["score"] if profile.labelled else []
    return ["sentence1", "sentence2", *labels, *(["teacher"] if profile.has_teacher else [])]


def _cells(read: Read, place: int) -> list[str]:
    profile, columns = read.profile, read.profile.columns
    cells = [columns.first[place], columns.second[place]]
    if profile.labelled:
        cells.append(typed(float(profile.labels[place])))
    if columns.teacher is not None:
        score = float(columns.teacher[place])
        cells.append("" if math.isnan(score) else typed(score))
    return cells


def _write(
    path: Path, heads: list[str], lines: Iterable[list[str]], total: int, tell: Tell
) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(heads)
        for number, line in enumerate(lines):
            if number % ROWS_A_REPORT == 0:
                tell(number, total)
            writer.writerow([" ".join(cell.split()) for cell in line])
