"""``python app.py explain``: what a number means, without a batch; and ``python app.py doctor``:
what is the matter with a table of pairs, or with a run."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

from explorer.lab.doctor import OF_OTHER, USUAL_BATCH, USUAL_HUB_ROWS, USUAL_LOSS
from explorer.locale import LANGUAGES, say, spelled, title_word

if TYPE_CHECKING:  # the command answers --help without torch
    from explorer.lab.doctor.classes import ClassTable
    from explorer.lab.doctor.data import Examined
    from explorer.lab.doctor.pasted_input import Pasted
    from explorer.lab.doctor.reading import Read, Table
    from explorer.lab.doctor.similarities import Similarities
    from explorer.lab.doctor.suitable_losses import Suited
    from explorer.runtime.jobs import Report
    from losses import LossSpec

EXAMPLES = """\
for example:
  python app.py explain 5.545
  python app.py explain 5.545 --loss siglip
  python app.py explain 3.17 --loss MultipleNegativesRankingLoss --scale 1 --batch 64
  python app.py explain 1.3863 --loss FlagEmbedding --negatives 3

It ends with the status 2 where the number, or what is told beside it, cannot be.
"""
OF_DOCTOR = """\
for example:
  python app.py doctor pairs.tsv --loss cosent --batch 64
  python app.py doctor intents.csv --column text=utterance --column class=intent --losses
  python app.py doctor --hub sentence-transformers/stsb --rows 5000 --loss cosent
  python app.py doctor output/checkpoint-500
  python app.py doctor trainer_state.json --loss MultipleNegativesRankingLoss --batch 64
  python train.py | python app.py doctor - --loss MultipleNegativesRankingLoss --batch 64
  python app.py doctor wandb.csv --curve train/loss --held-out eval/loss --loss info_nce --scale 50

It ends with the status 1 where a finding is severe, with 2 where nothing could be examined (a file
that is empty or cannot be read, an option that cannot be, a defect of LossPrism), else with 0.
"""
HOW_TO_CHOOSE = (
    " Here that is: --column first=NAME --column second=NAME --column score=NAME (or score=none)."
)
PIPED = "stdin.txt"  # the name of what comes by standard input
MOST_NUMBERS_BYTES = 10_000  # of a file that may hold a few numbers and nothing else
NAMED_LOSSES = 8  # losses that can learn from the data; --json has all
WHOLE = {
    "batch": "pairs of a batch (sentences, of a loss on classes)",
    "negatives": "hard negatives of each query",
    "classes": "classes of a batch",
    "processes": "that train together, each on a batch of its own",
    "dimension": "of the vectors",
}
REAL = {
    "temperature": "before the similarities",
    "scale": "1 over the temperature",
    "margin": "of a loss that has one",
}


def add_to(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "explain",
        help="what a loss value means: every landmark of every loss that is this number",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    about = "the number, with the digits that are known, such as 5.545; or several of one log"
    parser.add_argument("value", nargs="+", help=about)
    parser.add_argument("--loss", default="", help="a loss, another name for it, a library's class")
    _add_known(parser)
    parser.add_argument("--json", action="store_true", help="the answer as JSON, with the scenes")
    parser.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0], help="of the words")

    _add_doctor(commands)


def _add_known(parser: argparse.ArgumentParser, of_batch: str = "") -> None:
    for name, about in WHOLE.items():
        more = of_batch if name == "batch" else ""
        parser.add_argument(f"--{name}", type=int, metavar="N", help=f"{about}{more}")
    for name, about in REAL.items():
        parser.add_argument(f"--{name}", type=float, metavar="X", help=about)
    about = "what the loss compares: cosines, dot products, or a cross-encoder's logits"
    parser.add_argument("--score", choices=("cosine", "dot", "logit"), default="", help=about)


def _add_doctor(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser(
        "doctor",
        help="what is the matter with a table of pairs or of texts with classes, or with a run",
        epilog=OF_DOCTOR,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    about = (
        "pairs as CSV, TSV, JSON lines, a JSON array, Parquet or Arrow; or a run: "
        "trainer_state.json, a model's folder or README.md, a run folder, a table of scalars, an "
        "event file of TensorBoard, a trackio project's database or folder, console output; - "
        "reads any of these, or numbers, from standard input"
    )
    parser.add_argument("file", nargs="?", help=about)
    about = "in place of a file: the first rows of a data set of the hub, a subset behind a colon"
    parser.add_argument("--hub", default="", metavar="ID", help=about)
    parser.add_argument("--split", default="train", help="part of a data set of the hub (train)")
    about = "that are read of a data set of the hub (10000)"
    parser.add_argument("--rows", type=int, default=USUAL_HUB_ROWS, metavar="N", help=about)
    about = f"as explain takes it; of a run what its log says, of pairs {USUAL_LOSS}"
    parser.add_argument("--loss", default="", help=about)
    _add_known(parser, f"; of a table {USUAL_BATCH}")
    parser.add_argument("--curve", default="", metavar="NAME", help="of a run: its training loss")
    parser.add_argument("--held-out", default="", metavar="NAME", help="its held-out loss")
    about = "of a run's table: the column of its steps; # counts the rows"
    parser.add_argument("--step", default="", metavar="NAME", help=about)
    about = "another run, to be told what the values of both can say about each other"
    parser.add_argument("--beside", metavar="RUN", help=about)
    about = "loss of the other run, where it is not what its log says"
    parser.add_argument("--beside-loss", metavar="LOSS", help=about)
    for name in OF_OTHER:
        kind: dict[str, Any] = {"type": int, "metavar": "N"} if name in WHOLE else {"type": float}
        about = f"of the other run: {(WHOLE | REAL)[name]}"
        parser.add_argument(f"--beside-{name}", **{"metavar": "X", **kind}, help=about)
    about = (
        "which column of a table is first, second, score and teacher, or anchor, positive and "
        "negative, or text and class; recognised if left out; score=none where there is none"
    )
    parser.add_argument("--column", action="append", default=[], metavar="ROLE=NAME", help=about)
    about = "whether the first row of a table has the names of its columns; found out if left out"
    parser.add_argument("--header", choices=("yes", "no"), help=about)
    about = "in which a table is written, such as gbk; found out if left out"
    parser.add_argument("--encoding", default="", metavar="NAME", help=about)
    parser.add_argument("--tokens", type=int, metavar="N", help="that the encoder reads of a text")
    about = (
        "write the rows that stay as they came, and beside it those that were left out and why; a "
        "name that ends in .jsonl makes JSON lines, and so does one without an ending of lists"
    )
    parser.add_argument("--clean", metavar="FILE", help=about)
    about = "name the losses that can learn from it too, with reasons for and against"
    parser.add_argument("--losses", action="store_true", help=about)
    about = "look with an encoder too: minilm, an id of the hub, or a folder"
    parser.add_argument("--encoder", default="", metavar="NAME", help=about)
    about = "pairs that the encoder reads, picked at random (2000)"
    parser.add_argument("--encoded", type=int, default=2000, metavar="N", help=about)
    about = "write hard negatives as triplets, mined by sentence-transformers with the encoder"
    parser.add_argument("--mine", metavar="FILE.tsv", help=about)
    about = "negatives that are mined for each pair (1)"
    parser.add_argument("--mine-each", type=int, default=1, metavar="N", help=about)
    about = "share of a pair's own cosine by which they stay below it (0.05)"
    parser.add_argument("--mine-margin", type=float, default=0.05, metavar="X", help=about)
    parser.add_argument("--json", action="store_true", help="the findings as JSON")
    parser.add_argument("--language", choices=LANGUAGES, default=LANGUAGES[0], help="of the words")


def doctor(chosen: argparse.Namespace) -> int:
    """Print what was found, the worst first; 1 where something is severe, `UNUSABLE` where
    nothing could be examined."""
    from explorer.lab.doctor.logs.commands import batches_of, doctor_run
    from explorer.lab.doctor.refusal import refused
    from explorer.runtime.problem import Problem

    if bool(chosen.file) == bool(chosen.hub):
        return refused(Problem("doctor_no_source"), chosen)
    try:
        if chosen.file and (listed := batches_of(chosen)) is not None:
            return listed
        pasted = None if chosen.hub else _read_named(chosen)
        if pasted is not None and pasted.kind == "numbers":
            return _explain(pasted.numbers, chosen, pasted.log is not None)
        if pasted is not None and pasted.log is not None:
            return doctor_run(chosen, pasted.log)
    except (ValueError, OSError) as problem:
        return refused(problem, chosen)
    usual = {"loss": chosen.loss or USUAL_LOSS}
    if chosen.batch is None:
        usual["batch"] = USUAL_BATCH
    return _doctor_data(argparse.Namespace(**{**vars(chosen), **usual}))


def _read_named(chosen: argparse.Namespace) -> Pasted:
    """What a file or folder holds, or standard input for "-"; a table is read once it is known for
    one."""
    from explorer.lab.doctor.logs.read import is_run, must_fit, read_run
    from explorer.lab.doctor.pasted_input import Pasted, numbers_in, read_pasted
    from explorer.runtime.limits import FILE_BYTES

    if chosen.file == "-":
        content = sys.stdin.buffer.read(FILE_BYTES + 1)
        must_fit(PIPED, len(content))
        chosen.piped = content
        return read_pasted(content, PIPED, chosen.step)
    path = Path(chosen.file).expanduser()
    small = path.is_file() and path.stat().st_size <= MOST_NUMBERS_BYTES
    if small and (numbers := numbers_in(path.read_bytes().decode("utf-8-sig", "replace"))):
        return Pasted("numbers", numbers)
    if is_run(chosen.file):
        return Pasted("run", log=read_run(chosen.file, chosen.step))
    return Pasted("table")


def _doctor_data(chosen: argparse.Namespace) -> int:
    from explorer.lab.doctor.classes import ClassTable
    from explorer.lab.doctor.data import examine
    from explorer.lab.doctor.data_report import data_to_json
    from explorer.lab.doctor.encoder_report import encoded_lines
    from explorer.lab.doctor.known import Known, count_of, side_for
    from explorer.lab.doctor.reading import pairs_only, texts_only
    from explorer.lab.doctor.refusal import refused
    from explorer.lab.doctor.similarities import Similarities
    from explorer.lab.doctor.suitable_losses import suited
    from explorer.sources.columns import CHOOSE_COLUMNS

    try:
        known = Known(loss=chosen.loss, batch=chosen.batch, margin=chosen.margin).checked()
        side = side_for(known)
        count_of("tokens", chosen.tokens)
        read = _read_table(chosen)
        if chosen.encoder or chosen.mine:
            pairs_only(read)
        if isinstance(read, Similarities):
            if chosen.clean:
                texts_only(read)
            return _doctor_similarities(read, chosen)
        if isinstance(read, ClassTable):
            return _doctor_classes(read, chosen)
        spec = read.spec(side)
        found = examine(
            read.profile, spec, chosen.batch, most_tokens=chosen.tokens, margin=known.margin
        )
        seen = _encoded(read, spec, chosen) if chosen.encoder else None
        wrote = _write_clean(chosen.clean, read, spec.by_threshold) if chosen.clean else None
        mined = _mine(read, chosen) if chosen.mine else ""
    except (ValueError, OSError) as problem:
        hint = HOW_TO_CHOOSE if getattr(problem, "about", None) in CHOOSE_COLUMNS else ""
        return refused(problem, chosen, hint=hint)
    if chosen.json:
        fitting = suited(read.profile, chosen.batch) if chosen.losses else ()
        answer = data_to_json(read, found, fitting, chosen.language, seen, chosen.loss)
        print(json.dumps(answer, ensure_ascii=False, indent=1))
    else:
        _print_faults(found, read, chosen)
        if seen:
            print("\n".join(encoded_lines(seen, read, chosen.batch, chosen.language)))
        if chosen.losses:
            _print_suited(suited(read.profile, chosen.batch), "none", chosen.language)
        if wrote:
            print(say(chosen.language, "doctor.wrote", name=chosen.clean, other=wrote))
        if mined:
            print(mined)
    return 1 if found.severe else 0


def _read_table(chosen: argparse.Namespace) -> Table:
    from explorer.lab.doctor.reading import content_of, hub_content, read_table
    from explorer.runtime.problem import Problem

    tell = _teller(chosen)
    columns = _columns(chosen.column)
    if chosen.hub:
        content = hub_content(chosen.hub, chosen.split, chosen.rows, tell)
        return read_table(*content, tell, columns=columns)
    content, name = (chosen.piped, PIPED) if chosen.file == "-" else content_of(chosen.file)
    if not content.strip():
        raise Problem("doctor_empty", name=name)
    header = None if chosen.header is None else chosen.header == "yes"
    how = {"columns": columns, "header": header, "encoding": chosen.encoding}
    return read_table(content, name, tell, **how)


def _columns(given: list[str]) -> dict[str, str]:
    """Which column of the table plays which role. Raises Problem for what is no ROLE=NAME."""
    from explorer.runtime.problem import Problem

    found = {}
    for one in given:
        role, _, name = one.partition("=")
        if not role.strip() or not name.strip():
            raise Problem("doctor_column", value=one[:60])
        found[role.strip()] = name.strip()
    return found


def _doctor_similarities(found: Similarities, chosen: argparse.Namespace) -> int:
    """The same of similarities, of which nothing is severe."""
    made, lines = found.to_json(chosen.language), found.lines(chosen.language)
    print(json.dumps(made, ensure_ascii=False, indent=1) if chosen.json else "\n".join(lines))
    return 0


def _doctor_classes(table: ClassTable, chosen: argparse.Namespace) -> int:
    """The same of a table of texts with their classes."""
    from explorer.lab.doctor.classes import examine_classes
    from explorer.lab.doctor.classes_report import class_lines, classes_to_json
    from explorer.lab.doctor.suitable_losses import suited_to_classes

    found = examine_classes(table, chosen.batch)
    wrote = _write_clean(chosen.clean, table, False) if chosen.clean else None
    if chosen.json:
        fitting = suited_to_classes(table, chosen.batch) if chosen.losses else ()
        answer = classes_to_json(table, found, fitting, chosen.language)
        print(json.dumps(answer, ensure_ascii=False, indent=1))
    else:
        print("\n".join(class_lines(table, found, chosen.language)))
        if chosen.losses:
            fitting = suited_to_classes(table, chosen.batch)
            _print_suited(fitting, "none_classes", chosen.language)
        if wrote:
            print(say(chosen.language, "doctor.wrote", name=chosen.clean, other=wrote))
    return 1 if found.severe else 0


def _teller(chosen: argparse.Namespace) -> Report:
    """What says in one line of a terminal how far long work is."""

    def report(what: str, done: int, total: int) -> None:
        if sys.stderr.isatty():
            said = say(chosen.language, f"progress.{what}", done=done, total=total)
            print(f"\r\033[K{said}", end="" if done < total else "\r\033[K", file=sys.stderr)

    return report


def _encoded(read: Read, spec: LossSpec, chosen: argparse.Namespace) -> dict[str, Any]:
    """What the encoder tells."""
    from explorer.lab.doctor.encoded import look
    from explorer.lab.doctor.encoder_report import encoded_to_json

    seen = look(read.profile, chosen.encoder, max(chosen.encoded, 2), _teller(chosen))
    return encoded_to_json(read.profile, seen, spec, chosen.batch, chosen.language)


def _mine(read: Read, chosen: argparse.Namespace) -> str:
    """Write the triplets; what is said of them."""
    from explorer.lab.doctor.mining import mine, write_mined
    from explorer.runtime.problem import Problem

    if not chosen.encoder:
        raise Problem("mine_no_encoder", about="encoder")
    asked = chosen.encoder, max(chosen.encoded, 2), chosen.mine_each, chosen.mine_margin
    found = mine(read.profile, *asked, _teller(chosen))
    write_mined(found, Path(chosen.mine))
    counts = {"count": len(found.triplets), "pairs": found.pairs, "without": found.without}
    told = say(chosen.language, "doctor.mined", **counts)
    return say(chosen.language, "doctor.wrote_mined", name=chosen.mine, told=told)


def _print_faults(found: Examined, read: Read, chosen: argparse.Namespace) -> None:
    from explorer.lab.doctor.data_report import (
        cleaned_line,
        columns_read,
        labels_unread,
        row_lines,
    )
    from losses import LOSSES

    language = chosen.language
    loss = title_word(LOSSES[found.loss])
    print(say(language, "doctor.examined", count=found.pairs, loss=loss, batch=found.batch))
    if found.rows < found.pairs:
        print(say(language, "doctor.in_rows", rows=found.rows, batch=found.batch))
    for line in filter(
        None,
        (
            *columns_read(read, language),
            *_skipped(read, language),
            labels_unread(read, chosen.loss, language),
        ),
    ):
        print(line)
    for fault in found.faults:
        print(f"\n{say(language, f'doctor.severity.{fault.severity}')} · {fault.name}")
        print(f"   {fault.said(language)}")
        for line in row_lines(read, fault.shown, language):
            print(f"   {line}")
        for one in fault.advised(language):
            print(textwrap.indent(one, "   "))
    if not found.faults:
        print(say(language, "doctor.none_found"))
    for key, made in (("doctor.looked_for", True), ("doctor.not_looked_for", False)):
        told = [check.said(language) for check in found.checks if check.made is made]
        print(f"\n{say(language, key)}")
        print("\n".join(f"   {one}" for one in told))
    if cleaned := cleaned_line(found, language):
        print(f"\n{cleaned}")


def _print_suited(found: tuple[Suited, ...], none: str, language: str) -> None:
    from losses import LOSSES

    title = "title" if found else none
    print(f"\n{say(language, f'doctor.suited.{title}')}")
    for one in found[:NAMED_LOSSES]:
        print(f"{spelled(language, 'loss', title_word(LOSSES[one.loss]))} ({one.loss})")
        for reason in one.said(language):
            print(f"   {reason}")
    more = len(found) - NAMED_LOSSES
    if more > 0:
        print(say(language, "doctor.suited_more", count=more))


def _skipped(read: Read, language: str) -> list[str]:
    if read.file is None or not read.file.skipped[0]:
        return []
    count, ((row, problem), *_) = read.file.skipped
    reason = say(language, problem.key, **problem.values)
    return [say(language, "doctor.skipped", count=count, row=row, reason=reason)]


def _write_clean(name: str, read: Read | ClassTable, by_threshold: bool) -> str:
    """Write the rows that stay, and beside them those that do not; the name of the second file."""
    from explorer.lab.doctor.cleaning import beside, write_kept, write_left_out

    other = beside(Path(name), read)
    write_kept(read, Path(name), by_threshold=by_threshold)
    write_left_out(read, other, by_threshold=by_threshold)
    return str(other)


def explain_value(chosen: argparse.Namespace) -> int:
    """Print what the number may be; `UNUSABLE` where it, or what is known, cannot be."""
    from explorer.lab.doctor.pasted_input import typed_numbers

    words = tuple(one.strip() for one in chosen.value)
    return _explain(typed_numbers(" ".join(words)) or words, chosen)


def _explain(written: tuple[str, ...], chosen: argparse.Namespace, of_log: bool = False) -> int:
    from explorer.lab.doctor.explain import explain_values
    from explorer.lab.doctor.known import Known
    from explorer.lab.doctor.number_report import lines, to_json
    from explorer.lab.doctor.refusal import refused

    known = {name: getattr(chosen, name) for name in ("loss", "score", *WHOLE, *REAL)}
    try:
        found = explain_values(written, Known(**known))
    except ValueError as problem:
        return refused(problem, chosen, "doctor.not_explained")
    if chosen.json:
        print(json.dumps(to_json(found, chosen.language), ensure_ascii=False, indent=1))
        return 0
    if of_log:
        values = {"count": len(written), "values": ", ".join(written)}
        print(say(chosen.language, "doctor.took_value", **values))
    print("\n".join(lines(found, chosen.language)))
    return 0
