"""Source of the data of a check: a first set, or a file by its content."""

from dataclasses import dataclass
from pathlib import Path

from lossprism.explorer.lab.doctor.dataset_reader import Table, read_given, read_table
from lossprism.explorer.runtime import uploads
from lossprism.explorer.runtime.current_visitor import visitor
from lossprism.explorer.runtime.jobs import Job, Jobs, Report
from lossprism.explorer.runtime.validation import invalid_value, one_of
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.sources.practice_sentences import PRACTICE, practice_pairs
from lossprism.explorer.sources.textbook import EXAMPLES, load_example

KINDS = ("example", "file", "hub", "typed")
# Sets to begin with; those without sentences have nothing to be examined, and where sentences come
# with the vectors of two encoders, once is enough.
SETS = (*(name for name, one in EXAMPLES.items() if one.encodable and not one.encoder), *PRACTICE)
FIRST_SET = "twins"


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
        """Beginning of the names of files made of it."""
        return Path(self.name or self.example).stem[:80] or "pairs"

    def content(self) -> bytes:
        return uploads.read(self.file, self.name)


def read_source(sent: object) -> Source:
    """Read what the page sends; Problem names the entry that does not fit."""
    if not isinstance(sent, dict):
        raise invalid_value("source", sent)
    if one_of(KINDS)(sent.get("kind", "example"), "source.kind") == "example":
        return Source(example=one_of(SETS)(sent.get("example", FIRST_SET), "source.example"))
    texts = {name: sent.get(name, "") for name in ("file", "name", "encoding")}
    columns, header = sent.get("columns") or {}, sent.get("header")
    fits = all(isinstance(text, str) for text in texts.values())
    if not fits or not isinstance(columns, dict) or not isinstance(header, bool | None):
        raise invalid_value("source", sent)
    chosen = tuple((str(role), str(name)) for role, name in columns.items())
    texts["name"] = uploads.name_in(texts)
    return Source("file", "", columns=chosen, header=header, owner=visitor(), **texts)


# ---- Reading, which no loss and no batch size changes --------------------------------------------

sets = Jobs(most=2)


def start_reading(source: Source) -> Job:
    def work(report: Report) -> Table:
        if source.kind == "example":
            return read_given(_pairs_of(source.example), report)
        chosen = dict(source.columns)
        more = {"columns": chosen, "header": source.header, "encoding": source.encoding}
        return read_table(source.content(), source.name, report, **more)

    return sets.start(source, work)


def _pairs_of(name: str) -> Pairs:
    if name not in PRACTICE:
        return load_example(name)
    first, second, labels = zip(*practice_pairs(name), strict=True)
    return Pairs(first, second, labels)
