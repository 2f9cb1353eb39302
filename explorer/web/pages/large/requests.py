"""What the Large batch page asks the server for."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from explorer.core.batch import make_batch
from explorer.core.scenario import Scenario
from explorer.lab.large.batch import (
    LargeBatch,
    Numbered,
    Wanted,
    drawn,
    in_order,
    must_fit,
    scored,
)
from explorer.lab.large.blocks import Window
from explorer.lab.large.drawing import details, figures, look, pairs_page
from explorer.lab.large.encoding import encoded
from explorer.lab.large.files import FilePairs, read_pairs
from explorer.lab.large.methods import wanted_by
from explorer.lab.large.opened import (
    Opened,
    checked,
    most_pairs,
    open_batch,
)
from explorer.lab.large.texts import Texts
from explorer.locale import grouped
from explorer.runtime import device, uploads
from explorer.runtime.jobs import Cancelled, Job, Jobs, Progress, Report, within
from explorer.runtime.limits import ANSWER_S
from explorer.runtime.problem import Problem
from explorer.runtime.validation import misfit
from explorer.runtime.wire import Json
from explorer.sources.columns import CHOOSE_COLUMNS, PAIR_ROLES, TRIPLET_ROLES
from explorer.sources.encoders import EMBEDDED
from explorer.sources.grids import read_grid
from explorer.sources.random_batch import RandomBatch
from explorer.web.serving import served
from explorer.web.wire import large as wire
from explorer.web.wire import shared

KINDS = ("random", "file", "explore")
FIRST = RandomBatch(pairs=100_000, agreement=0.7, grades=6)


# ---- What is asked for ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Where the pairs come from: settings of a random batch, a file by its content, a link."""

    kind: str = "random"
    random: RandomBatch = FIRST
    file: str = ""
    name: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    header: bool | None = None
    encoder: str = EMBEDDED
    link: str = ""


@dataclass(frozen=True)
class Asked:
    """A source under a loss: everything the server has to know, so that it may forget it."""

    source: Source
    loss: str
    parameters: tuple[tuple[str, object], ...]

    @property
    def wanted(self) -> Wanted:
        return wanted_by(self.loss)


def _asked(request: object) -> Asked:
    """Read what the page sends; Problem names the entry that does not fit."""
    if not isinstance(request, dict) or not isinstance(request.get("source", {}), dict):
        raise misfit("request", request)
    loss = request.get("loss", "cosent")
    parameters = request.get("parameters") or {}
    if not isinstance(parameters, dict):
        raise misfit("parameters", parameters)
    return Asked(
        _source((request or {}).get("source", {})), loss, tuple(checked(loss, parameters).items())
    )


def _source(given: dict) -> Source:
    kind = given.get("kind", "random")
    if kind not in KINDS:
        raise misfit("source.kind", kind)
    if kind == "random":
        settings = given.get("random") or {}
        known = {field.name for field in dataclasses.fields(RandomBatch)}
        plain = isinstance(settings, dict) and set(settings) <= known
        if not plain or not all(isinstance(v, int | float | str) for v in settings.values()):
            raise misfit("source.random", settings)
        return Source(random=dataclasses.replace(FIRST, **settings))
    texts = {name: given.get(name, "") for name in ("file", "name", "link")}
    encoder = given.get("encoder") or EMBEDDED
    columns = given.get("columns") or {}
    fits = isinstance(columns, dict) and all(isinstance(v, str) for v in (*texts.values(), encoder))
    header = given.get("header")
    if not fits or header not in (None, True, False):
        raise misfit("source", given)
    chosen = tuple((str(role), str(name)) for role, name in columns.items())
    return Source(kind, FIRST, columns=chosen, header=header, encoder=encoder, **texts)


def _window(asked: object, shape: tuple[int, int]) -> Window:
    """The window that is asked for, or all; what reaches beyond the matrix is cut off."""
    rows, columns = shape
    if asked is None:
        return Window(0, rows, 0, columns)
    if not isinstance(asked, list) or len(asked) != 4 or not all(type(at) is int for at in asked):
        raise misfit("window", asked)
    top, bottom, left, right = asked
    if not (0 <= top < bottom and 0 <= left < right and top < rows and left < columns):
        raise Problem(
            "large_window", window=str(asked), rows=grouped(rows), columns=grouped(columns)
        )
    return Window(top, min(bottom, rows), left, min(right, columns))


# ---- Work that is kept while it is in use --------------------------------------------------------

_files = Jobs(most=2)
_batches = Jobs(most=2)
_opened = Jobs(most=3)


def _open(asked: Asked) -> Job:
    def work(report: Report) -> Opened:
        key = (asked.source, asked.wanted)
        batch = within(lambda: _batches.start(key, lambda say: _make(asked, say)), report)
        return open_batch(
            batch,
            asked.loss,
            dict(asked.parameters),
            lambda done, total: report("terms", done, total),
        )

    return _opened.start(asked, work)


def _make(asked: Asked, report: Report) -> LargeBatch:
    source = asked.source
    if source.kind == "random":
        must_fit(source.random.pairs, most_pairs(asked.loss, drawn=True), asked.loss)
        return drawn(source.random, asked.wanted)
    if source.kind == "explore":
        return _from_link(source.link, asked.wanted)
    read = within(lambda: _reading(source), report)
    must_fit(len(read.labels), most_pairs(asked.loss), asked.loss)
    if read.scores is not None and asked.wanted == "cosines":
        return in_order(read.labels, read.scores, read.first, read.second)
    if isinstance(read.first, Numbered):
        raise Problem("no_vectors")
    found = encoded(
        read.first,
        read.second,
        source.encoder,
        lambda done, total: report("encoding", done, total),
        with_vectors=asked.wanted == "vectors",
    )
    scores = found.angles if asked.wanted == "angles" else found.cosines
    return in_order(read.labels, scores, read.first, read.second, found.vectors)


def _reading(source: Source) -> Job:
    def work(report: Report) -> FilePairs:
        return read_pairs(
            uploads.read(source.file, source.name),
            source.name,
            dict(source.columns),
            source.header,
            report,
        )

    return _files.start((source.file, source.columns, source.header), work)


def _from_link(link: str, wanted: Wanted) -> LargeBatch:
    """The batch of the Explore page that the link names."""
    scenario = Scenario.from_link(link)
    batch = make_batch(scenario.data, scenario.rules)
    labels = np.array(batch.pairs.labels)
    first, second = Texts(batch.pairs.first), Texts(batch.pairs.second)
    if wanted == "cosines":
        return in_order(labels, batch.scores.double().cpu().numpy(), first, second)
    if batch.vectors is None:
        raise Problem("no_vectors")
    rows = batch.vectors.double().cpu().numpy()
    one, other = (rows[side.cpu().numpy()] for side in (batch.first, batch.second))
    return scored(labels, first, second, one, other, wanted)


# ---- Answers -------------------------------------------------------------------------------------


def _answer(request: object, make: Callable[[Opened], Json]) -> Json:
    """What `make` makes of the opened batch, or how far the work on it is."""
    job = _open(_asked(request))
    if not job.wait(ANSWER_S):
        return {"working": _told(job.progress)}
    try:
        return make(job.result())
    except Cancelled:
        raise Problem("large_cancelled", about="cancelled") from None


def _told(progress: Progress) -> dict[str, object]:
    return {"what": progress.what, "done": progress.done, "total": progress.total}


def _look(request: Json) -> dict[str, object]:
    """{source, loss, parameters, window} → the blocks of the window, and the figures."""

    def make(opened: Opened) -> Json:
        started = time.perf_counter()
        found = look(opened, _window(request.get("window"), opened.shape))
        found["figures"] = figures(opened)
        found["milliseconds"] = 1000 * (time.perf_counter() - started)
        found["device"] = device.device_name()
        return found

    return _answer(request, make)


def _details(request: object) -> Json:
    return _answer(request, details)


def _pairs(request: Json) -> Json:
    """{…, search, column, falling, page} → a page of the table of all pairs."""
    search, column = str(request.get("search", ""))[:200], str(request.get("column", "gradient"))
    number, falling = request.get("page", 0), bool(request.get("falling", True))
    if type(number) is not int or number < 0:
        raise misfit("page", number)
    return _answer(request, lambda found: pairs_page(found, search, column, falling, number))


def _cancel(request: object) -> Json:
    asked = _asked(request)
    _opened.cancel(asked)
    return {}


def _hand_in(request: object) -> Json:
    """{token, start, content: base64, name, last} → the file's name by content, once it is all
    there. {token, forget} drops what has arrived."""
    digest, _ = uploads.hand_in(request)
    return {"file": digest} if digest else {}


def _describe_file(request: Json) -> Json:
    """{source} → the file's columns, which of them are read, and what was left out.

    Where it is not clear which are to be read: `undecided`, with those chosen so far.
    """
    source = _source((request or {}).get("source", {}))
    job = _reading(source)
    if not job.wait(ANSWER_S):
        return {"working": _told(job.progress)}
    try:
        read = job.result()
    except Cancelled:
        raise Problem("large_cancelled", about="cancelled") from None
    except Problem as problem:
        if problem.about not in CHOOSE_COLUMNS:
            raise
        return _undecided(source)
    count, told = read.skipped
    return {
        "columns": read.columns,
        "chosen": read.chosen,
        "header": read.header,
        "total": read.total,
        "used": len(read.labels),
        "limited": read.limited,
        "skipped": count,
        "told": [{"row": row, **problem.to_json()} for row, problem in told],
    }


def _undecided(source: Source) -> dict[str, object]:
    grid = read_grid(uploads.read(source.file, source.name), source.name, source.header)
    chosen = dict(source.columns)
    roles = TRIPLET_ROLES if set(chosen) & set(TRIPLET_ROLES) else PAIR_ROLES
    return {
        "undecided": True,
        "columns": grid.columns,
        "chosen": {**dict.fromkeys(roles, ""), **chosen},
        "header": grid.header,
        "skipped": 0,
        "told": [],
    }


SERVED = [
    served("blocks", _look, wire.Blocks | wire.Working),
    served("details", _details, wire.Details | wire.Working),
    served("pairs", _pairs, wire.PairsPage | wire.Working),
    served("stop", _cancel, shared.Nothing),
    served("hand_in", _hand_in, wire.HandedIn),
    served(
        "describe_file",
        _describe_file,
        wire.LargeFile | wire.LargeFileUndecided | wire.Working,
    ),
]
