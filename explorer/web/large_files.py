"""Large files on a page: handed in piece by piece, read in the background, described, and asked
about until the work on them has ended."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Mapping
from pathlib import Path
from typing import Any

from explorer.lab.large.files import FilePairs
from explorer.runtime import uploads
from explorer.runtime.downloads import address_of
from explorer.runtime.jobs import Cancelled, Job, Jobs, Progress, Report
from explorer.runtime.limits import ANSWER_S
from explorer.runtime.problem import Problem
from explorer.runtime.wire import Json
from explorer.sources.columns import CLASS_ROLES, PAIR_ROLES, TRIPLET_ROLES
from explorer.sources.encodings import offered, previews
from explorer.sources.grids import read_grid
from explorer.sources.reading_notes import reading_notes

# What reads the bytes of a file.
Content = Callable[[], bytes]


def answer_when_done(job: Job, make: Callable[[Any], Json]) -> Json:
    """What `make` makes of the result of a job, or how far it is."""
    if not job.wait(ANSWER_S):
        return {"working": how_far(job.progress)}
    try:
        return make(job.result())
    except Cancelled:
        raise Problem("large_cancelled", about="cancelled") from None


def how_far(progress: Progress) -> dict[str, object]:
    return {"what": progress.what, "done": progress.done, "total": progress.total}


def parcel_when_packed(packed: Jobs, key: Hashable, work: Callable[[Report], Path]) -> Json:
    """The file that `work` writes, to be taken away: written once, and again where it has left
    meanwhile; or how far it is."""
    job = started_for_good(packed, key, work, lambda path: path.exists())
    return answer_when_done(job, lambda path: {"name": path.name, "path": address_of(path)})


def started_for_good(
    jobs: Jobs, key: Hashable, work: Callable[[Report], Any], is_there: Callable[[Any], bool]
) -> Job:
    """The work of that key: once, and again where the file that it made has left meanwhile."""
    job = jobs.start(key, work)
    if job.wait(0) and not job.is_over and not _still(job, is_there):
        job.cancel()
        job = jobs.start(key, work)
    return job


def _still(job: Job, is_there: Callable[[Any], bool]) -> bool:
    try:
        return is_there(job.result())
    except Exception:  # it is told where it is answered
        return True


def hand_in(request: Json) -> Json:
    """{token, start, content: base64, name, last} → the file's name by content, once it is all
    there. {token, forget} drops what has arrived."""
    digest, _ = uploads.hand_in(request)
    return {"file": digest} if digest else {}


def described(read: FilePairs, content: Content, encoding: str) -> Json:
    """A file's columns, which of them are read, and what was left out; `encoding` is the one that
    was chosen, "" for none."""
    count, told = read.skipped
    return {
        "encoding": read.encoding,
        "encodings": offered(content, read.encoding, encoding),
        "columns": read.columns,
        "chosen": read.chosen,
        "header": read.header,
        "total": read.total,
        "used": len(read.labels),
        "limited": read.limited,
        "labelled": read.labelled,
        "inference": read.inference,
        "notes": [note.to_json() for note in reading_notes(read)],
        "skipped": count,
        "told": [{"row": row, **problem.to_json()} for row, problem in told],
    }


def undecided(
    content: Content, name: str, chosen: Mapping[str, str], header: bool | None, encoding: str
) -> Json:
    """What there is to choose from where it is not clear which columns are to be read, with those
    chosen so far; or else the encodings."""
    content = functools.cache(content)
    nothing = {"undecided": True, "skipped": 0, "told": []}
    try:
        grid = read_grid(content(), name, header, encoding=encoding, chosen=chosen.values())
    except Problem as problem:
        if problem.about != "encoding":
            raise
        found = {"encoding": "", "encodings": previews(content())}
        return {**nothing, **found, "columns": (), "chosen": {}, "header": False}
    others = (one for one in (TRIPLET_ROLES, CLASS_ROLES) if set(chosen) & set(one))
    roles = next(others, PAIR_ROLES)
    return {
        **nothing,
        "encoding": grid.encoding,
        "encodings": offered(content, grid.encoding, encoding),
        "columns": grid.columns,
        "chosen": {**dict.fromkeys(roles, ""), **chosen},
        "header": grid.header,
    }
