"""Findings about a table of texts with classes: spellings of classes, rows of a batch without
another of their class, texts that repeat or have several classes."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.lab.doctor.duplicate_collisions import log_choose
from lossprism.explorer.lab.doctor.finding import (
    NOTE,
    SEVERE,
    WARNING,
    Fault,
    Value,
    WithFaults,
    evidence,
    worst_first,
)
from lossprism.explorer.lab.doctor.pair_dataset_checks import (
    MANY_ROWS_SHARE,
    SOME_ROWS_SHARE,
    Check,
)
from lossprism.explorer.lab.doctor.remedy_trial_result import sampler_values
from lossprism.explorer.lab.doctor.sampler_and_batch_size_remedies import (
    BY_CLASS,
    against_rows_alone,
)
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from lossprism.explorer.runtime.number_format import percent
from lossprism.explorer.sources.cells import shortened

SEVERE_ALONE_SHARE = 0.5  # of a batch's rows without a positive: most of it teaches nothing
CHECKS = (
    "one_class",
    "class_spellings",
    "classes_of_one",
    "rows_alone",
    "texts_in_classes",
    "texts_again",
)
SPELLINGS_SHOWN, LETTERS_OF_NAME = 3, 40  # classes whose spellings a finding quotes


@dataclass(frozen=True)
class ClassesExamined(WithFaults):
    """Findings in `rows` of classes for batches of a size, the worst first; `alone` is the share of
    a batch's rows without another of their class in it."""

    rows: int
    batch: int
    alone: float
    faults: tuple[Fault, ...]
    checks: tuple[Check, ...]


def alone(sizes: np.ndarray, batch: int) -> float:
    """Return the expected share of the rows of a batch of B without another of their class in it,
    drawn without replacement: for a class of c among N, C(N − c, B − 1) / C(N − 1, B − 1)."""
    count = int(sizes.sum())
    size = min(batch, count)
    share = 0.0
    for members, many in zip(*np.unique(sizes, return_counts=True), strict=True):
        others = count - int(members)
        if others >= size - 1:
            chance = log_choose(others, size - 1) - log_choose(count - 1, size - 1)
            share += int(members) * int(many) / count * math.exp(chance)
    return share


def examine_classes(table: ClassTable, batch: int) -> ClassesExamined:
    """Return all findings about these texts and classes, for losses on classes in such batches."""
    share = alone(table.sizes, batch)
    faults = worst_first((*_classes(table, batch, share), *_twice(table)))
    checks = tuple(Check(name, True) for name in CHECKS)
    return ClassesExamined(len(table), batch, share, faults, checks)


def _classes(table: ClassTable, batch: int, share: float) -> Iterator[Fault]:
    if len(table.names) == 1:
        yield Fault("one_class", SEVERE, {"name": table.names[0]})
        return
    yield from _spellings(table)
    single = np.flatnonzero(table.sizes[table.of] == 1)
    if len(single):
        severity = SEVERE if len(single) == len(table) else WARNING
        share_single = percent(len(single) / len(table))
        whole = {"count": len(single), "classes": len(table.names)}
        values: dict[str, Value] = {**whole, "share": share_single}
        yield Fault("classes_of_one", severity, values, evidence(single))
    if share >= SOME_ROWS_SHARE:
        severity = (
            SEVERE if share >= SEVERE_ALONE_SHARE else WARNING if share >= MANY_ROWS_SHARE else NOTE
        )
        values = {"batch": batch, "share": percent(share)}
        sampler, tried = against_rows_alone(table.of, min(batch, len(table)), share)
        more = ""
        if sampler is not None:
            values |= sampler_values(sampler, BY_CLASS)
            more = "" if sampler.helps else "epoch_short"
        yield Fault("rows_alone", severity, values, (), tuple(tried), more=more, tried=tried)


def _spellings(table: ClassTable) -> Iterator[Fault]:
    """Find classes whose names differ in case, width or blanks alone."""
    if not table.spellings:
        return
    quoted = [" / ".join(_quoted(table.names[at]) for at in same) for same in table.spellings]
    values: dict[str, Value] = {
        "count": len(table.spellings),
        "examples": "; ".join(quoted[:SPELLINGS_SHOWN]),
        "rows": len(table.respelled),
    }
    yield Fault("class_spellings", WARNING, values, evidence(table.respelled))


def _quoted(name: str) -> str:
    return f"“{shortened(name, LETTERS_OF_NAME)}”"


def _twice(table: ClassTable) -> Iterator[Fault]:
    """Find texts that have several classes, and texts that repeat in one."""
    mixed, again = table.mixed, table.again
    if len(mixed):
        texts = len(np.unique(table.numbers[mixed]))
        ordered = mixed[np.argsort(table.numbers[mixed], kind="stable")]
        values: dict[str, Value] = {"count": texts, "rows": len(mixed)}
        yield Fault("texts_in_classes", SEVERE, values, evidence(ordered))
    if len(again):
        yield Fault("texts_again", WARNING, {"count": len(again)}, evidence(again))
