"""The rows that stay of a data set, and those that do not with why, as files to take away."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable
from pathlib import Path

from explorer.lab.doctor.classes import ClassTable
from explorer.lab.doctor.profile import Cleaned
from explorer.lab.doctor.reading import Read
from explorer.runtime.numbers import typed
from explorer.sources.columns import CLASS_ROLES

ROWS_A_REPORT = 2**14
Tell = Callable[[int, int], None]


def write_kept(read: Read | ClassTable, path: Path, tell: Tell = lambda done, total: None) -> Path:
    """The pairs that stay, with the labels and the teacher's scores that they have; or the texts
    with their classes."""
    kept = (_cleaned(read).kept - 1).tolist()
    _write(path, _heads(read), (_cells(read, place) for place in kept), len(kept), tell)
    return path


def write_left_out(
    read: Read | ClassTable, path: Path, tell: Tell = lambda done, total: None
) -> Path:
    """The others, each with its row and the name of the fault."""
    left = _cleaned(read).left_out
    heads = ["row", "because", *_heads(read)]
    lines = ([str(read.row(one)), why, *_cells(read, one - 1)] for one, why in left)
    _write(path, heads, lines, len(left), tell)
    return path


def _cleaned(read: Read | ClassTable) -> Cleaned:
    return read.cleaned if isinstance(read, ClassTable) else read.profile.cleaned


def _heads(read: Read | ClassTable) -> list[str]:
    if isinstance(read, ClassTable):
        return list(CLASS_ROLES)
    profile = read.profile
    labels = ["score"] if profile.labelled else []
    return ["sentence1", "sentence2", *labels, *(["teacher"] if profile.has_teacher else [])]


def _cells(read: Read | ClassTable, place: int) -> list[str]:
    if isinstance(read, ClassTable):
        return [read.texts[place], read.names[int(read.of[place])]]
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
