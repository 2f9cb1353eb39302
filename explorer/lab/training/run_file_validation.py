"""Types of the entries of a run folder's files. A folder may come from a stranger, or from a disk
that failed, so each entry that a reader uses has a type here."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

Check = Callable[[object], bool]
Checks = Mapping[str, Check]

LIVE = ("queued", "loading", "training", "paused", "saving")
ENDED = ("finished", "stopped", "failed", "interrupted")
MAX_WHOLE = 2**63 - 1
MAX_PROCESS = 2**31 - 1
# A line of the log is a few kilobytes; a nested or endless one is none of ours.
MAX_NESTING = 40


def is_text(value: object) -> bool:
    return isinstance(value, str)


def is_switch(value: object) -> bool:
    return isinstance(value, bool)


def is_number(value: object) -> bool:
    """A finite number; True and False are none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return abs(value) <= MAX_WHOLE if isinstance(value, int) else math.isfinite(value)


def is_count(value: object) -> bool:
    """A whole number from 0."""
    return type(value) is int and 0 <= value <= MAX_WHOLE


def _is_step(value: object) -> bool:
    """True for a step; −1 stands for a resumed run that had no checkpoint."""
    return type(value) is int and -1 <= value <= MAX_WHOLE


def _is_process(value: object) -> bool:
    return type(value) is int and 0 < value <= MAX_PROCESS


def _is_object(value: object) -> bool:
    return isinstance(value, dict)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _is_score(value: object) -> bool:
    """A number, also NaN or infinity, which a run that diverged has; null where there is none."""
    return value is None or (isinstance(value, float) and not is_number(value)) or is_number(value)


def _is_range(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(is_number, value))


def _or_null(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _with(checks: Checks) -> Check:
    return lambda value: isinstance(value, dict) and fits(value, checks, checks)


def _is_problem(value: object) -> bool:
    return isinstance(value, dict) and fits(value, {"key": is_text, "values": _is_object}, {"key"})


_DATA: Checks = {
    **dict.fromkeys(("source", "example", "file", "name", "encoding", "hub", "split"), is_text),
    **dict.fromkeys(("held_out_file", "held_out_name"), is_text),
    **dict.fromkeys(("held_out_share", "most"), is_number),
    "triplets": is_switch,
}
_PLAN: Checks = {
    **dict.fromkeys(("loss", "encoder", "kind"), is_text),
    **dict.fromkeys(("convention", "own_loss", "guide", "teacher_model"), is_text),
    **dict.fromkeys(("query_prompt", "document_prompt"), is_text),
    **dict.fromkeys(("schedule", "twins", "sampler"), is_text),
    **dict.fromkeys(("steps", "batch_size", "layers", "lora", "seed", "evaluations"), is_number),
    **dict.fromkeys(("epochs", "learning_rate", "warmup", "weight_decay", "clipping"), is_number),
    **dict.fromkeys(("vocabulary", "dimension", "checkpoint_seconds"), is_number),
    **dict.fromkeys(("bf16", "extra_negatives"), is_switch),
    "threshold": _or_null(is_number),
    "label_range": _or_null(_is_range),
    "parameters": _is_object,
    "data": lambda value: isinstance(value, dict) and fits(value, _DATA, ()),
}
_MEASURED: Checks = {"pairs": is_count, "lists": _or_null(_is_object)}

# The checks of each file's entries, and the entries that it needs.
FILES: dict[str, tuple[Checks, frozenset[str]]] = {
    "state.json": (
        {
            "state": lambda value: value in (*LIVE, *ENDED) if is_text(value) else False,
            "ticket": is_count,
            "process": _is_process,
            "born": is_number,
            "birth": is_text,
            "steps": _or_null(is_count),
            "part": is_text,
            "began": is_number,
            "done": is_count,
            "total": is_count,
            "problem": _or_null(_is_problem),
            "time_is_up": is_switch,
        },
        frozenset({"state", "ticket", "process", "born"}),
    ),
    "config.json": (
        {
            "plan": lambda value: isinstance(value, dict) and fits(value, _PLAN, ("loss",)),
            "created": is_number,
            "device": _or_null(is_text),
            "skipped": is_count,
            "shared": is_count,
            "labelled": is_switch,
            "triplets": is_switch,
            "rules": _with({"threshold": is_number, "label_range": _is_range}),
        },
        frozenset({"plan", "created"}),
    ),
    "owner.json": ({"visitor": is_text, "token": is_text}, frozenset()),
    "summary.json": (
        {
            "loss": _is_score,
            "steps": is_count,
            "seconds": is_number,
            "steps_per_second": is_number,
            "before": lambda value: isinstance(value, dict) and fits(value, _MEASURED, ()),
            "after": lambda value: isinstance(value, dict) and fits(value, _MEASURED, ()),
            "threshold": is_number,
            "label_range": _is_range,
            "pairs": _with({"train": is_count, "held_out": is_count}),
            "skipped": is_count,
            "shared": is_count,
            "repeated": is_count,
            "kept_step": is_count,
        },
        frozenset({"before", "after"}),
    ),
    "probe.json": ({"bands": _or_null(_is_list)}, frozenset()),
}
_RECORD: Checks = {
    "kind": is_text,
    "step": _is_step,
    "seconds": is_number,
    "loss": _is_score,
    "gradient_norm": _is_score,
    "learning_rate": _is_score,
    "when": is_text,
    "pairs": is_count,
    "lists": _or_null(_is_object),
    "histogram": _or_null(_is_object),
    "probe": _is_list,
}


def is_row(row: Sequence[object]) -> bool:
    """True if a row is a pair with its label and, perhaps, a teacher's score."""
    return (
        3 <= len(row) <= 4
        and is_text(row[0])
        and is_text(row[1])
        and all(_is_score(one) for one in row[2:])
        and row[2] is not None
    )


def fits(entries: Mapping[str, object], checks: Checks, needed: Iterable[str]) -> bool:
    """True if the needed entries are there, and each known one is of its type."""
    if any(name not in entries for name in needed):
        return False
    return all(check(entries[name]) for name, check in checks.items() if name in entries)


def is_shallow(value: object, levels: int = MAX_NESTING) -> bool:
    """True if no list or object in this value is nested deeper than `levels`."""
    if not levels:
        return False
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return all(is_shallow(part, levels - 1) for part in parts if isinstance(part, dict | list))


def read_object(path: Path) -> dict | None:
    """Read the JSON object in a file of a run; None where it is damaged, or does not fit `FILES`.

    Raises FileNotFoundError where there is no such file.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError):  # a folder in its place, half of it, none of it
        return None
    checks, needed = FILES.get(path.name, ({}, frozenset()))
    is_right = isinstance(content, dict) and is_shallow(content) and fits(content, checks, needed)
    return content if is_right else None


def records_in(lines: Iterable[bytes]) -> list[dict]:
    """The records of whole lines of a log; a line that is none, as a disk has spoilt it, is left
    out."""
    return [record for line in lines if (record := _record_in(line)) is not None]


def _record_in(line: bytes) -> dict | None:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return None
    known = isinstance(record, dict) and is_shallow(record)
    return record if known and fits(record, _RECORD, ("kind", "step")) else None
