"""``python app.py explain``: the meaning of a number; ``python app.py doctor``: findings about
pairs, texts with classes, a run or saved batches."""

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lossprism.explorer.lab.doctor import (
    OTHER_RUN_SETTINGS,
    UNUSABLE_STATUS,
    USUAL_BATCH,
    USUAL_LOSS,
)
from lossprism.explorer.lab.doctor.class_dataset_checks import examine_classes
from lossprism.explorer.lab.doctor.class_dataset_checks_by_encoder import (
    encode_class_table,
    seen_classes_lines,
)
from lossprism.explorer.lab.doctor.classes_report import class_lines, classes_answer
from lossprism.explorer.lab.doctor.cleaned_dataset_writer import (
    left_out_path,
    write_kept,
    write_left_out,
)
from lossprism.explorer.lab.doctor.data_report import (
    data_answer,
    data_lines,
    encoded_answer,
    encoded_lines,
    suited_lines,
)
from lossprism.explorer.lab.doctor.dataset_reader import (
    Read,
    Table,
    content_of,
    hub_content,
    pairs_only,
    read_table,
    texts_only,
)
from lossprism.explorer.lab.doctor.explain_and_doctor_command_line_options import (
    COUNT_OPTIONS,
    SETTING_OPTIONS,
)
from lossprism.explorer.lab.doctor.hard_negatives_mined_to_file import mine, write_mined
from lossprism.explorer.lab.doctor.logs import run_report
from lossprism.explorer.lab.doctor.logs.findings import ExaminedRun, examine_run
from lossprism.explorer.lab.doctor.logs.log import PIPED, Log
from lossprism.explorer.lab.doctor.logs.run_comparison import compare_runs
from lossprism.explorer.lab.doctor.logs.run_reader import check_size, is_run, read_run
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known, count_of
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import single_loss
from lossprism.explorer.lab.doctor.number_report import lines, number_answer
from lossprism.explorer.lab.doctor.pair_dataset_checks import examine
from lossprism.explorer.lab.doctor.pair_dataset_checks_by_encoder import encode_pairs
from lossprism.explorer.lab.doctor.pasted_input import (
    Pasted,
    numbers_in,
    read_pasted,
    read_typed,
)
from lossprism.explorer.lab.doctor.possible_meanings_of_number import explain_values
from lossprism.explorer.lab.doctor.similarity_gap_findings import Similarities
from lossprism.explorer.lab.doctor.suitable_losses import suited, suited_to_classes
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from lossprism.explorer.lab.saved_training_batches import files_in, open_saved_batches
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.jobs import Report
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.runtime.limits import FILE_BYTES
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.column_roles import CHOOSE_COLUMNS
from lossprism.losses import LossSpec

MAX_NUMBERS_BYTES = 10_000  # of a file that may hold a few numbers and nothing else


def doctor(chosen: argparse.Namespace) -> int:
    """Print what was found, the worst first; 1 where something is severe, `UNUSABLE_STATUS` where
    nothing could be examined."""
    if bool(chosen.file) == bool(chosen.hub):
        return _refused(Problem("doctor_no_source"), chosen)
    try:
        return _doctor(chosen)
    except BrokenPipeError:  # the reader closed the pipe; `cli.main` ends silently
        raise
    except (ValueError, OSError) as problem:
        of_columns = getattr(problem, "about", None) in CHOOSE_COLUMNS
        return _refused(problem, chosen, hint="doctor.how_to_choose" if of_columns else "")


def _doctor(chosen: argparse.Namespace) -> int:
    if chosen.file and (listed := _saved_batches(chosen)) is not None:
        return listed
    pasted = None if chosen.hub else _read_named(chosen)
    if pasted is not None and pasted.kind == "numbers":
        return _explain(pasted.numbers, chosen, pasted.known, pasted.log is not None)
    if pasted is not None and pasted.log is not None:
        return _doctor_run(chosen, pasted.log)
    usual = {"loss": chosen.loss or USUAL_LOSS}
    if chosen.batch is None:
        usual["batch"] = USUAL_BATCH
    return _doctor_table(argparse.Namespace(**{**vars(chosen), **usual}))


def _print(chosen: argparse.Namespace, answer: Any, lines: Iterable[str]) -> None:
    """Print the answer as JSON where that was chosen, otherwise the lines."""
    as_json = json.dumps(plain(answer), ensure_ascii=False, indent=1) if chosen.json else ""
    print(as_json or "\n".join(lines))


def _read_named(chosen: argparse.Namespace) -> Pasted:
    """Recognise a file, a folder, or standard input ("-"); tables are read later."""
    if chosen.file == "-":
        content = sys.stdin.buffer.read(FILE_BYTES + 1)
        check_size(PIPED, len(content))
        chosen.piped = content
        return read_pasted(content, PIPED, chosen.step)
    path = Path(chosen.file).expanduser()
    small = path.is_file() and path.stat().st_size <= MAX_NUMBERS_BYTES
    if small and (numbers := numbers_in(path.read_bytes().decode("utf-8-sig", "replace"))):
        return Pasted("numbers", numbers)
    if is_run(chosen.file):
        return Pasted("run", log=read_run(chosen.file, chosen.step))
    return Pasted("table")


# ---- A run


def _doctor_run(chosen: argparse.Namespace, log: Log) -> int:
    """Print the findings about a run, and those of the comparison with another."""
    language = chosen.language
    examined_run = examine_run(log, _known(chosen), chosen.curve, chosen.held_out)
    printed = [*run_report.lines(examined_run, language)]
    if (other := _examined_other(chosen)) is not None:
        faults = compare_runs(examined_run, other)
        printed += run_report.beside_lines(other, chosen.beside, faults, language)
    _print(chosen, run_report.doctored_run(examined_run, other, language), printed)
    return 1 if examined_run.severe else 0


def _known(chosen: argparse.Namespace) -> Known:
    return Known(
        **{
            name: getattr(chosen, name)
            for name in ("loss", "score", *COUNT_OPTIONS, *SETTING_OPTIONS)
        }
    )


def _examined_other(chosen: argparse.Namespace) -> ExaminedRun | None:
    """Read the run to compare with; None without one. Raises Problem for options of a second run
    that was not named."""
    options = {name: getattr(chosen, f"beside_{name}") for name in ("loss", *OTHER_RUN_SETTINGS)}
    known = {name: value for name, value in options.items() if value is not None}
    if chosen.beside:
        return examine_run(read_run(chosen.beside), Known(**known))
    if known:
        raise Problem("beside_no_run", name=f"--beside-{next(iter(known))}", run="--beside")
    return None


def _saved_batches(chosen: argparse.Namespace) -> int | None:
    """Print the batches that `PrismCallback` saved in a folder, with links of their scenarios; None
    for any other folder."""
    if not Path(chosen.file).expanduser().is_dir():
        return None
    try:
        files_in(chosen.file)
    except Problem:
        return None
    language, saved = chosen.language, open_saved_batches(chosen.file)
    batches = [
        {"step": one.batch.step, "said": one.written(language), "scene": one.scenario.to_link()}
        for one in saved
    ]
    command = f"python app.py --open {chosen.file}"
    printed = [
        say(language, "doctor.kept_count", count=len(saved), name=chosen.file),
        *(one.written(language) for one in saved),
        say(language, "doctor.open_batches", command=command),
    ]
    _print(chosen, {"batches": batches}, printed)
    return 0


# ---- A table


def _doctor_table(chosen: argparse.Namespace) -> int:
    known = Known(loss=chosen.loss, batch=chosen.batch, margin=chosen.margin).checked()
    loss = single_loss(known)
    count_of("tokens", chosen.tokens)
    table = _read_table(chosen)
    if chosen.mine:
        pairs_only(table)
        if not chosen.encoder:
            raise Problem("mine_no_encoder", about="encoder")
    if chosen.encoder or chosen.clean:
        texts_only(table)
    if isinstance(table, Similarities):
        _print(chosen, table.answered(chosen.language), table.lines(chosen.language))
        return 0
    if isinstance(table, ClassTable):
        return _doctor_classes(table, chosen)
    return _doctor_pairs(table, table.spec(loss), chosen)


def _doctor_pairs(read: Read, spec: LossSpec, chosen: argparse.Namespace) -> int:
    language = chosen.language
    options = {"most_tokens": chosen.tokens, "margin": chosen.margin}
    examined = examine(read.profile, spec, chosen.batch, **options)
    seen = encoded = None
    if chosen.encoder or read.profile.own_vectors:
        seen = encode_pairs(read.profile, chosen.encoder, max(chosen.encoded, 2), _teller(chosen))
        encoded = encoded_answer(read, seen, spec, chosen.batch, language)
    wrote = _write_clean(read, spec.by_threshold, chosen)
    wrote += _mine(read, chosen) if chosen.mine else []
    fitting = suited(read.profile, chosen.batch) if chosen.losses else ()
    answer = data_answer(read, examined, fitting, language, encoded, chosen.loss)
    printed = [
        *data_lines(read, examined, chosen.loss, language),
        *(encoded_lines(read, seen, spec, chosen.batch, language) if seen else ()),
        *(suited_lines(fitting, "none", language) if chosen.losses else ()),
        *wrote,
    ]
    _print(chosen, answer, printed)
    return 1 if examined.severe else 0


def _doctor_classes(table: ClassTable, chosen: argparse.Namespace) -> int:
    language, seen = chosen.language, None
    classes_examined = examine_classes(table, chosen.batch)
    if chosen.encoder:
        seen = encode_class_table(table, chosen.encoder, max(chosen.encoded, 2), _teller(chosen))
    wrote = _write_clean(table, False, chosen)
    fitting = suited_to_classes(table, chosen.batch) if chosen.losses else ()
    answer = classes_answer(table, classes_examined, fitting, language, seen)
    printed = [
        *class_lines(table, classes_examined, language),
        *(seen_classes_lines(seen, language) if seen else ()),
        *(suited_lines(fitting, "none_classes", language) if chosen.losses else ()),
        *wrote,
    ]
    _print(chosen, answer, printed)
    return 1 if classes_examined.severe else 0


def _read_table(chosen: argparse.Namespace) -> Table:
    tell = _teller(chosen)
    columns = _columns(chosen.column)
    if chosen.hub:
        content = hub_content(chosen.hub, chosen.split, chosen.rows, tell)
        return read_table(*content, tell, columns=columns)
    content, name = (chosen.piped, PIPED) if chosen.file == "-" else content_of(chosen.file)
    if isinstance(content, bytes) and not content.strip():
        raise Problem("doctor_empty", name=name)
    header = None if chosen.header is None else chosen.header == "yes"
    how = {"columns": columns, "header": header, "encoding": chosen.encoding}
    return read_table(content, name, tell, **how)


def _columns(assignments: list[str]) -> dict[str, str]:
    """Return the columns by role. Raises Problem for anything but ROLE=NAME."""
    columns = {}
    for one in assignments:
        role, _, name = one.partition("=")
        if not role.strip() or not name.strip():
            raise Problem("doctor_column", value=one[:60])
        columns[role.strip()] = name.strip()
    return columns


def _teller(chosen: argparse.Namespace) -> Report:
    """Return a function that reports the progress of long work in one line of a terminal."""

    def report(what: str, done: int, total: int) -> None:
        if sys.stderr.isatty():
            line = say(chosen.language, f"progress.{what}", done=done, total=total)
            print(f"\r\033[K{line}", end="" if done < total else "\r\033[K", file=sys.stderr)

    return report


def _mine(read: Read, chosen: argparse.Namespace) -> list[str]:
    """Write the mined triplets; return the line about them."""
    settings = chosen.encoder, max(chosen.encoded, 2), chosen.mine_each, chosen.mine_margin
    mined = mine(read.profile, *settings, _teller(chosen))
    write_mined(mined, Path(chosen.mine))
    counts = {"count": len(mined.triplets), "pairs": mined.pairs, "without": mined.without}
    counted = say(chosen.language, "doctor.mined", **counts)
    return [say(chosen.language, "doctor.wrote_mined", name=chosen.mine, counted=counted)]


def _write_clean(
    table: Read | ClassTable, by_threshold: bool, chosen: argparse.Namespace
) -> list[str]:
    """Write the cleaned rows, and beside them those left out, if a file is named; return the line
    about them."""
    if not chosen.clean:
        return []
    other = left_out_path(Path(chosen.clean), table)
    write_kept(table, Path(chosen.clean), by_threshold=by_threshold)
    write_left_out(table, other, by_threshold=by_threshold)
    return [say(chosen.language, "doctor.wrote", name=chosen.clean, other=str(other))]


# ---- A number


def explain_value(chosen: argparse.Namespace) -> int:
    """Print what the number may be; return `UNUSABLE_STATUS` if it or a known value is invalid."""
    words = tuple(one.strip() for one in chosen.value)
    text = " ".join(words)
    try:
        typed = read_typed(text)
    except Problem as problem:
        return _refused(problem, chosen, "doctor.not_explained")
    return _explain(typed.numbers or words, chosen, typed.known)


def _explain(
    written: tuple[str, ...], chosen: argparse.Namespace, known: Known, of_log: bool = False
) -> int:
    """Explain numbers with what the options and, beside the numbers, their text say is known."""
    language = chosen.language
    try:
        explanation = explain_values(written, _known(chosen).completed(known))
    except ValueError as problem:
        return _refused(problem, chosen, "doctor.not_explained")
    values = {"count": len(written), "values": ", ".join(written)}
    notes = [say(language, "doctor.took_value", **values)] if of_log else []
    if words := [*run_report.known_words(known, language)]:
        what = say(language, "ui.between").join(words)
        notes.append(say(language, "doctor.run.known", what=what))
    _print(chosen, number_answer(explanation, language), [*notes, *lines(explanation, language)])
    return 0


def _refused(
    problem: Exception, chosen: argparse.Namespace, key: str = "doctor.not_examined", hint: str = ""
) -> int:
    """Print the sentence of a problem to standard error, and that of the key `hint` after it;
    return the status of the command."""
    language = chosen.language
    of_ours = isinstance(problem, Problem)
    message = say(language, problem.key, **problem.values) if of_ours else str(problem)
    sentence = f"{message} {say(language, hint)}" if hint else message
    print(say(language, key, problem=sentence), file=sys.stderr)
    return UNUSABLE_STATUS
