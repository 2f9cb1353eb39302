"""``python app.py doctor`` on a run, or on a folder of batches that a training saved."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from explorer.lab.doctor import OF_OTHER
from explorer.lab.doctor.known import COUNTS, SETTINGS, Known
from explorer.lab.doctor.logs.findings import ExaminedRun, examine_run
from explorer.lab.doctor.logs.log import Log
from explorer.lab.doctor.logs.read import read_run
from explorer.lab.doctor.logs.run_comparison import compare_runs
from explorer.lab.doctor.logs.run_report import finding, lines, of_fault, to_json
from explorer.lab.doctor.refusal import refused
from explorer.lab.saved_batches import files_in, open_saved_batches
from explorer.locale import say
from explorer.runtime.numbers import display_number
from explorer.runtime.problem import Problem


def doctor_run(chosen: argparse.Namespace, log: Log) -> int:
    """Print what is the matter with a run, and what another can say about it."""

    language = chosen.language
    names = ("loss", "score", *COUNTS, *SETTINGS)
    known = Known(**{name: getattr(chosen, name) for name in names})
    try:
        found = examine_run(log, known, chosen.curve, chosen.held_out)
        other = _examined_other(chosen)
    except (ValueError, OSError) as problem:
        return refused(problem, chosen)
    beside = compare_runs(found, other) if other is not None else ()
    if chosen.json:
        made = to_json(found, language)
        if other is not None:
            compared = [finding(fault, language) for fault in beside]
            made["beside"] = {**to_json(other, language), "compared": compared}
        print(json.dumps(made, ensure_ascii=False, indent=1))
        return 1 if found.severe else 0
    print("\n".join(lines(found, language)))
    if other is not None:
        key = "doctor.beside_title" if other.level is None else "doctor.run.two"
        level = display_number(other.level, 4)
        print(f"\n{say(language, key, name=chosen.beside, level=level)}")
        for fault in beside:
            print("\n".join(of_fault(fault, language)))
    return 1 if found.severe else 0


def _examined_other(chosen: argparse.Namespace) -> ExaminedRun | None:
    """The run beside it, None where there is none.

    Raises Problem where something is known of a run that is not given.
    """

    given = {name: getattr(chosen, f"beside_{name}") for name in ("loss", *OF_OTHER)}
    told = {name: value for name, value in given.items() if value is not None}
    if chosen.beside:
        return examine_run(read_run(chosen.beside), Known(**told))
    if told:
        raise Problem("beside_no_run", name=f"--beside-{next(iter(told))}", run="--beside")
    return None


def batches_of(chosen: argparse.Namespace) -> int | None:
    """Print the batches that `PrismCallback` saved in a folder, each with the link of its scenario;
    None where it is no such folder."""
    if not Path(chosen.file).expanduser().is_dir():
        return None
    try:
        files_in(chosen.file)
    except Problem:
        return None
    language, found = chosen.language, open_saved_batches(chosen.file)
    if chosen.json:
        told = [
            {"step": one.batch.step, "said": one.said(language), "scene": one.scenario.to_link()}
            for one in found
        ]
        print(json.dumps({"batches": told}, ensure_ascii=False, indent=1))
        return 0
    print(say(language, "doctor.kept_count", count=len(found), name=chosen.file))
    print("\n".join(one.said(language) for one in found))
    print(say(language, "doctor.open_batches", command=f"python app.py --open {chosen.file}"))
    return 0
