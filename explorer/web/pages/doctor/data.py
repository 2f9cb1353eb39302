"""The check of a dataset on the Doctor page: what is the matter with it."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from explorer.lab.doctor import USUAL_HUB_ROWS
from explorer.lab.doctor.classes import ClassTable, examine_classes
from explorer.lab.doctor.classes_report import NAMED_CLASSES
from explorer.lab.doctor.cleaning import ending, write_kept, write_left_out
from explorer.lab.doctor.data import examine
from explorer.lab.doctor.encoded import ENCODED, RANKED, USUAL_ENCODED, Seen, look
from explorer.lab.doctor.encoder_report import encoded_to_json
from explorer.lab.doctor.faults import EVIDENCE, Fault
from explorer.lab.doctor.known import Known, side_for
from explorer.lab.doctor.mining import EACH, USUAL_EACH, USUAL_MARGIN, mine, write_mined
from explorer.lab.doctor.reading import (
    HUB_ROWS,
    Read,
    Table,
    hub_content,
    pairs_only,
    read_given,
    read_table,
    texts_only,
)
from explorer.lab.doctor.reference_values import Side
from explorer.lab.doctor.scenes import (
    class_finding_places,
    class_sample,
    class_scene_of,
    finding_places,
    keeps_lists,
    paired,
    sample_places,
    scene_of,
)
from explorer.lab.doctor.similarities import Similarities
from explorer.lab.doctor.suitable_losses import Suited, suited, suited_to_classes
from explorer.locale import language_of
from explorer.runtime import jobs, uploads
from explorer.runtime.downloads import Parcel, new_download
from explorer.runtime.jobs import Job, Jobs, Report, within
from explorer.runtime.numbers import json_number
from explorer.runtime.problem import Problem
from explorer.runtime.validation import finite, integer, misfit, of_type, one_of, optional
from explorer.runtime.visitors import visitor
from explorer.runtime.wire import Json
from explorer.sources.columns import CHOOSE_COLUMNS, NO_SCORE, TEACHER
from explorer.sources.encodings import offered
from explorer.sources.pairs import Pairs
from explorer.sources.practice import PRACTICE, practice_pairs
from explorer.sources.reading_notes import reading_notes
from explorer.sources.textbook import EXAMPLES, load_example
from explorer.web.large_files import (
    LargeFile,
    LargeFileUndecided,
    Working,
    answer_when_done,
    described,
    hand_in,
    parcel_when_packed,
    started_for_good,
    undecided,
)
from explorer.web.serving import Nothing, served
from explorer.web.wire import doctor as wire
from explorer.web.wire import doctored
from losses import LOSSES

KINDS = ("example", "file", "hub", "typed")
# Sets to begin with; those without sentences have nothing to be examined.
SETS = (*(name for name, one in EXAMPLES.items() if one.encodable), *PRACTICE)
FIRST_SET, FIRST_LOSS, FIRST_BATCH = "twins", "info_nce", 16
BATCHES = (2, 65_536)
PAIR_SECONDS = 1e-4  # of a processor, to examine a pair
TOKENS = (0, 1_000_000)
USUAL_TOKENS = 256  # that the embedded encoder reads of a text
ON_CLASSES = "supcon"  # under which a finding about classes is shown
EVIDENT_LETTERS = 600  # of a text that shows a finding
LISTED = 1  # losses that can learn from the data, before the others, which stand folded


def losses_offered() -> tuple[str, ...]:
    return tuple(name for name, spec in LOSSES.items() if spec.group != "own")


@dataclass(frozen=True)
class Source:
    """A set to begin with, or a file by its content; `owner` is the visitor whose file it is."""

    kind: str = "example"
    example: str = FIRST_SET
    file: str = ""
    name: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    header: bool | None = None
    encoding: str = ""
    owner: str = ""

    @property
    def stem(self) -> str:
        """What the names of files made of it begin with."""
        return Path(self.name or self.example).stem[:80] or "pairs"

    def content(self) -> bytes:
        return uploads.read(self.file, self.name)


def read_source(given: object) -> Source:
    """Read what the page sends; Problem names the entry that does not fit."""
    if not isinstance(given, dict):
        raise misfit("source", given)
    if one_of(KINDS)(given.get("kind", "example"), "source.kind") == "example":
        return Source(example=one_of(SETS)(given.get("example", FIRST_SET), "source.example"))
    texts = {name: given.get(name, "") for name in ("file", "name", "encoding")}
    columns, header = given.get("columns") or {}, given.get("header")
    fits = all(isinstance(text, str) for text in texts.values())
    if not fits or not isinstance(columns, dict) or not isinstance(header, bool | None):
        raise misfit("source", given)
    chosen = tuple((str(role), str(name)) for role, name in columns.items())
    texts["name"] = uploads.name_in(texts)
    return Source("file", "", columns=chosen, header=header, owner=visitor(), **texts)


# ---- Reading, which no loss and no batch size changes --------------------------------------------

_sets = Jobs(most=2)
_packed = Jobs(most=4)
_seen = Jobs(most=4)


def start_reading(source: Source) -> Job:
    def work(report: Report) -> Table:
        if source.kind == "example":
            return read_given(_pairs_of(source.example), report)
        chosen = dict(source.columns)
        more = {"columns": chosen, "header": source.header, "encoding": source.encoding}
        return read_table(source.content(), source.name, report, **more)

    return _sets.start(source, work)


def _pairs_of(name: str) -> Pairs:
    if name not in PRACTICE:
        return load_example(name)
    first, second, labels = zip(*practice_pairs(name), strict=True)
    return Pairs(first, second, labels)


# ---- Answers -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class UndecidedData(LargeFileUndecided):
    """A file whose columns, or whose encoding, are to be chosen from, and why."""

    problem: Problem


def _examine(request: Json) -> Json | UndecidedData | Working:
    """{source, loss, batch, tokens: 0 where not known, margin: null for the default, language} →
    what is the matter, which losses can learn from it, and how the file was read; of texts with
    classes what is the matter with these; or what there is to choose from."""
    source, side, batch, language = _asked_in(request)
    tokens = _within(TOKENS, request.get("tokens", USUAL_TOKENS), "tokens")
    margin = optional(finite)(request.get("margin"), "margin")

    def told(read: Table) -> Json:
        if isinstance(read, Similarities):
            return read.to_json(language)
        if isinstance(read, ClassTable):
            return _examined_classes(read, source, batch, language)
        more = {"tokens": tokens or None, "margin": margin, "language": language}
        return _examined(read, source=source, side=side, batch=batch, **more)

    try:
        return answer_when_done(start_reading(source), told)
    except Problem as problem:
        if source.kind == "example" or problem.about not in (*CHOOSE_COLUMNS, "encoding"):
            raise
        how = (dict(source.columns), source.header, source.encoding)
        return UndecidedData(**vars(undecided(source.content, source.name, *how)), problem=problem)


def _asked_in(request: Json) -> tuple[Source, Side, int, str]:
    """What every question about a data set names: it, the loss, the batch size, the language."""
    source = read_source(request.get("source", {}))
    side = side_for(Known(loss=of_type(str)(request.get("loss", FIRST_LOSS), "loss")))
    batch = _within(BATCHES, request.get("batch", FIRST_BATCH), "batch")
    return source, side, batch, language_of(request.get("language"))


def _encode(request: Json) -> Json | Working:
    """{source, loss, batch, encoder, most: pairs that it reads, language} → what only an encoder
    can tell of the data set."""
    source, side, batch, language = _asked_in(request)
    encoder = of_type(str)(request.get("encoder"), "encoder").strip()
    most = _within(ENCODED, request.get("most", USUAL_ENCODED), "most")

    def told(found: tuple[Read, Seen]) -> Json:
        read, seen = found
        answer = encoded_to_json(read.profile, seen, read.spec(side), batch, language)
        for fault in answer["findings"]:
            shown = fault["pairs"][:EVIDENCE]
            in_cells = [cell[which] for cell in fault["cells"] for which in ("row", "other")]
            places = finding_places(read.profile, dict.fromkeys(in_cells) or shown, side.loss)
            fault["scene"] = scene_of(read.profile, places, side.loss)
            fault["rows"] = [] if fault["cells"] else [_row(read, pair) for pair in shown]
            for cell in fault["cells"]:
                cell |= {"row": read.row(cell["row"]), "other": read.row(cell["other"])}
                cell |= {"first": _begun(cell["first"]), "second": _begun(cell["second"])}
            del fault["pairs"], fault["values"]
        answer["ranked"] = [_row(read, one["pair"]) for one in answer["ranked"][:RANKED]]
        return answer

    return answer_when_done(_start_looking(source, encoder, most), told)


def _start_looking(source: Source, encoder: str, most: int) -> Job:
    """What the encoder makes of the pairs, whatever the loss."""

    def work(report: Report) -> tuple[Read, Seen]:
        read = pairs_only(within(lambda: start_reading(source), report))
        return read, look(read.profile, encoder, most, report)

    return _seen.start((source, visitor(), encoder, most), work)


def _within(ends: tuple[int, int], given: object, name: str) -> int:
    value = integer(given, name)
    if not ends[0] <= value <= ends[1]:
        raise misfit(name, given)
    return value


def _examined(
    read: Read,
    *,
    source: Source,
    side: Side,
    batch: int,
    tokens: int | None,
    margin: float | None,
    language: str,
) -> Json:
    profile = read.profile
    with jobs.in_order(PAIR_SECONDS * len(profile)):
        found = examine(profile, read.spec(side), batch, most_tokens=tokens, margin=margin)
        fitting = suited(profile, batch)
        return {
            "pairs": found.pairs,
            "rows": found.rows,
            "findings": [_fault(read, fault, side.loss, language) for fault in found.faults],
            "looked": [check.said(language) for check in found.checks if check.made],
            "not_looked": [check.said(language) for check in found.checks if not check.made],
            **_suited(read, fitting, language),
            "more": max(0, len(fitting) - LISTED),
            "kept": len(found.cleaned.kept),
            "kept_rows": found.kept_rows,
            "file": _file(read, source),
        }


def _examined_classes(table: ClassTable, source: Source, batch: int, language: str) -> Json:
    found, fitting = examine_classes(table, batch), suited_to_classes(table, batch)
    rows = class_scene_of(table, class_sample(table), ON_CLASSES)
    sizes = [{"name": name, "count": count} for name, count in table.by_size]
    return {
        "rows": len(table),
        "classes": len(table.names),
        "skipped": table.skipped,
        "columns": table.columns,
        "alone": found.alone,
        "largest": sizes[:NAMED_CLASSES],
        "smallest": sizes[NAMED_CLASSES:][-NAMED_CLASSES:],
        "findings": [
            {
                **_told(fault, language),
                "rows": [_class_row(table, row) for row in fault.shown],
                "scene": _class_scene(table, fault),
            }
            for fault in found.faults
        ],
        **_on_scenes(fitting, [rows] * len(fitting), language),
        "more": max(0, len(fitting) - LISTED),
        "kept": len(table.cleaned.kept),
        "respelled": len(table.respelled),
        "pairs_file": _paired_file(table, source) if fitting else None,
        "file": _class_file(table, source),
        "looked": [check.said(language) for check in found.checks],
    }


def _class_scene(table: ClassTable, fault: Fault) -> str:
    """Texts of a finding, and of other classes."""
    places = class_finding_places(table, fault.shown)
    return class_scene_of(table, places, ON_CLASSES) if fault.rows else ""


_paired = Jobs(most=2)


def _paired_file(table: ClassTable, source: Source) -> Json:
    """The texts as pairs of one class, a file as if somebody had handed it in: Fine-tune takes
    pairs, and joins them to classes again."""
    name = f"{source.stem}-pairs.tsv"

    def work(report: Report) -> str:
        return uploads.put(paired(table), name)

    job = started_for_good(
        _paired, (source, visitor()), work, lambda kept: uploads.find(kept) is not None
    )
    return {"file": job.result(), "name": name}


def _class_file(table: ClassTable, source: Source) -> LargeFile:
    """How the table was read, as of a file of pairs."""
    return LargeFile(
        encoding=table.encoding,
        encodings=offered(source.content, table.encoding, source.encoding),
        columns=table.named,
        chosen=table.columns,
        header=table.header,
        total=len(table) + table.skipped,
        used=len(table),
        limited=False,
        labelled=True,
        inference=False,
        notes=reading_notes(table.used),
        skipped=0,
        told=[],
    )


def _class_row(table: ClassTable, row: int) -> Json:
    called = table.names[int(table.of[row - 1])]
    return {"row": table.row(row), "text": _begun(table.texts[row - 1]), "called": _begun(called)}


def _file(read: Read, source: Source) -> LargeFile | None:
    if read.file is None:
        return None
    told = described(read.file, source.content, source.encoding)
    # A column of a teacher may be chosen, too.
    chosen = {**told.chosen, TEACHER: told.chosen.get(TEACHER, NO_SCORE)}
    return dataclasses.replace(told, chosen=chosen)


def _fault(read: Read, fault: Fault, loss: str, language: str) -> Json:
    profile = read.profile
    scene = ""
    if fault.rows:
        scene = scene_of(profile, finding_places(profile, fault.shown, loss), loss)
    return {
        **_told(fault, language),
        "rows": [_row(read, pair) for pair in fault.shown],
        "scene": scene,
    }


def _told(fault: Fault, language: str) -> Json:
    told = fault.to_json(language)
    del told["values"]
    return told


def _begun(text: str) -> str:
    """A text of the evidence as far as it is shown."""
    return text if len(text) <= EVIDENT_LETTERS else f"{text[:EVIDENT_LETTERS].rstrip()} …"


def _row(read: Read, pair: int) -> Json:
    columns, at = read.profile.columns, pair - 1
    label = float(read.profile.labels[at]) if read.profile.labelled else None
    sides = {"first": _begun(columns.first[at]), "second": _begun(columns.second[at])}
    return {"row": read.row(pair), **sides, "label": None if label is None else json_number(label)}


def _suited(read: Read, fitting: Sequence[Suited], language: str) -> Json:
    """The losses, each with the place of its rows among the `scenes`: those of losses that keep
    lists, and those of all others."""
    kinds = [keeps_lists(read.profile, one.loss) for one in fitting]
    first_of = {kinds[at]: fitting[at].loss for at in reversed(range(len(fitting)))}
    scenes = {
        kind: scene_of(read.profile, sample_places(read.profile, loss), loss)
        for kind, loss in first_of.items()
    }
    return _on_scenes(fitting, [scenes[kind] for kind in kinds], language)


def _on_scenes(fitting: Sequence[Suited], links: Sequence[str], language: str) -> Json:
    """The losses, each with the place of its link among all that differ; null for none."""
    scenes = [*dict.fromkeys(filter(None, links))]
    return {
        "scenes": scenes,
        "suited": [
            {
                "loss": one.loss,
                "reasons": one.said(language),
                "scene": scenes.index(link) if link else None,
            }
            for one, link in zip(fitting, links, strict=True)
        ],
    }


# ---- What can be taken away ----------------------------------------------------------------------

FILES = {
    "kept": ("-clean", write_kept),
    "left_out": ("-left-out", write_left_out),
}


def _take(request: Json) -> Parcel | Working:
    """{source, what: kept or left_out, loss: for which labels conflict; without it any that differ}
    → the name of a file, and where it is served from."""
    source = read_source(request.get("source", {}))
    what = one_of(tuple(FILES))(request.get("what"), "what")
    called, write = FILES[what]
    loss = request.get("loss")
    named = of_type(str)(loss, "loss") if loss is not None else ""
    by_threshold = bool(named) and side_for(Known(loss=named)).spec.by_threshold

    def work(report: Report) -> Path:
        read = texts_only(within(lambda: start_reading(source), report))
        path = new_download(f"{source.stem}{called}{ending(read)}")
        tell = functools.partial(report, "writing")
        return write(read, path, tell, by_threshold=by_threshold)

    return parcel_when_packed(_packed, (source, visitor(), what, by_threshold), work)


_mined = Jobs(most=4)


def _mine(request: Json) -> Parcel | Working:
    """{source, encoder, most, negatives: of each pair, margin: a share of its own cosine} → a file
    of triplets, and where it is served from; or how far that is."""
    source = read_source(request.get("source", {}))
    encoder = of_type(str)(request.get("encoder"), "encoder").strip()
    most = _within(ENCODED, request.get("most", USUAL_ENCODED), "most")
    each = _within(EACH, request.get("negatives", USUAL_EACH), "negatives")
    margin = finite(request.get("margin", USUAL_MARGIN), "margin")

    def work(report: Report) -> Path:
        read = pairs_only(within(lambda: start_reading(source), report))
        found = mine(read.profile, encoder, most, each, margin, report)
        return write_mined(found, new_download(f"{source.stem}-hard-negatives.tsv"))

    return parcel_when_packed(_mined, (source, visitor(), encoder, most, each, margin), work)


def _stop(request: Json) -> Nothing:
    """{source, encoder?, most?, negatives?, margin?, hub?, split?, rows?} → nothing: fetching,
    reading, encoding or mining it is no longer waited for."""
    if request.get("hub"):
        _fetched.cancel((*_hub_in(request), visitor()))
    source = read_source(request.get("source", {}))
    _sets.cancel(source)
    if request.get("encoder"):
        key = str(request["encoder"]).strip(), request.get("most", USUAL_ENCODED)
        _seen.cancel((source, visitor(), *map(_plain, key)))
        mined = (request.get("negatives", USUAL_EACH), request.get("margin", USUAL_MARGIN))
        _mined.cancel((source, visitor(), *map(_plain, (*key, *mined))))
    return Nothing()


def _plain(value: object) -> object:
    """What may be looked for by."""
    return value if isinstance(value, str | int | float) else None


# ---- A data set of the hub -----------------------------------------------------------------------

_fetched = Jobs(most=4)


def _fetch(request: Json) -> Json | Working:
    """{hub: its id, split, rows: how many of the first} → the file that these rows are from then
    on, as if somebody had handed it in; or how far that is."""
    key = _hub_in(request)
    hub, split, most = key

    def work(report: Report) -> tuple[str, str]:
        content, name = hub_content(hub, split, most, report)
        return uploads.put(content, name), name

    def is_there(kept: tuple[str, str]) -> bool:
        return uploads.find(kept[0]) is not None

    job = started_for_good(_fetched, (*key, visitor()), work, is_there)
    return answer_when_done(job, lambda kept: {"file": kept[0], "name": kept[1]})


def _hub_in(request: Json) -> tuple[str, str, int]:
    hub, split = (of_type(str)(request.get(name, ""), name) for name in ("hub", "split"))
    return (
        hub.strip(),
        split.strip(),
        _within(HUB_ROWS, request.get("rows", USUAL_HUB_ROWS), "rows"),
    )


ANSWERS: Any = (
    wire.ExaminedData
    | wire.ExaminedClasses
    | doctored.DoctoredSimilarities
    | UndecidedData
    | Working
)
SERVED = [
    served("examine", _examine, ANSWERS),
    served("fetch", _fetch, wire.FetchedRows | Working, keeps=True),
    served("encode", _encode, wire.EncodedData | Working),
    served("mine", _mine),
    served("hand_in", hand_in, keeps=True),
    served("take", _take),
    served("stop", _stop),
]
