"""Datasets of the hub, by their id: what keeps one from being read, and its first rows, streamed.

An id is written as on the hub, with the subset behind a colon where a dataset has several:
`sentence-transformers/all-nli:triplet`.
"""

from __future__ import annotations

import contextlib
import json
import queue
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from lossprism.explorer.runtime import limits
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.jobs import Cancelled, Report
from lossprism.explorer.runtime.local_path import local_path
from lossprism.explorer.runtime.owner_consent import require_consent, require_consent_to_size
from lossprism.explorer.runtime.problem import Problem, logged
from lossprism.explorer.sources.hub_client import hub_client, hub_token, within_seconds

if TYPE_CHECKING:
    from huggingface_hub import DatasetInfo

REPORT_ROWS = 256  # rows
_AHEAD = 1024  # rows that may wait to be written
_END = object()


def repository_and_subset(hub: str) -> tuple[str, str | None]:
    """Return the id of the repository, and of its subset where one is named.

    >>> repository_and_subset("sentence-transformers/all-nli:triplet")
    ('sentence-transformers/all-nli', 'triplet')
    >>> repository_and_subset(" mteb/stsb ")
    ('mteb/stsb', None)

    Raises Problem for a path on another computer.
    """
    local_path(hub)  # the client of the hub would take one for a folder
    repo, _, subset = hub.strip().partition(":")
    return repo.strip(), subset.strip() or None


def consent_name(hub: str) -> str:
    """Return the name under which a dataset is agreed to: a model may have the same id.

    >>> consent_name("sentence-transformers/all-nli:triplet")
    'datasets/sentence-transformers/all-nli'
    """
    return f"datasets/{repository_and_subset(hub)[0]}"


def dataset_info(hub: str) -> DatasetInfo:
    """Ask the hub about a dataset. `problems_of` turns a failure into a Problem.

    Raises Problem, before any request, without permission.
    """
    require_consent(consent_name(hub), "hub_set_leave")
    options: dict[str, Any] = {"timeout": limits.HUB_S, "files_metadata": True}
    api = hub_client()
    return within_seconds(
        limits.HUB_S + 1, lambda: api.dataset_info(repository_and_subset(hub)[0], **options)
    )


@contextlib.contextmanager
def problems_of(hub: str) -> Iterator[None]:
    """Turn any failure to read a dataset into a Problem with its reason."""
    try:
        yield
    except (Problem, Cancelled):
        raise
    except Exception as error:  # the kinds differ with the versions of three libraries
        status = getattr(getattr(error, "response", None), "status_code", None)
        reason = "\n".join(str(error).splitlines()[:2])[: limits.QUOTED_LETTERS]
        if status in (401, 403, 404) or type(error).__name__ == "HFValidationError":
            raise Problem("hub_set_unknown", name=hub) from error
        if isinstance(error, ValueError) and "onfig" in reason:
            raise Problem("hub_set_subset", name=hub, reason=reason) from error
        if isinstance(error, ValueError) and "split" in reason:
            raise Problem("hub_set_split", name=hub, reason=reason) from error
        # What the reader of datasets says of one, rather than whatever carries it here.
        if type(error).__module__.startswith(("datasets", "builtins")) and not (
            isinstance(error, OSError) and type(error).__module__ == "builtins"
        ):
            raise Problem("hub_set_unreadable", name=hub, reason=reason) from error
        raise Problem("hub_set_unreachable", name=hub) from error


def first_rows(hub: str, split: str, most: int, report: Report) -> bytes:
    """Return the first rows of a dataset as JSON lines, at most `most`: no more of it is fetched.
    `report` hears the number of rows and may raise to stop.

    Raises Problem where there is no such dataset or part, or the hub cannot be reached.
    """
    lines: list[bytes] = []
    size = 0
    with problems_of(hub):
        dataset_info(hub)
        for row in _streamed(hub, split, most, lambda: report("fetching", len(lines), most)):
            line = json.dumps(row, ensure_ascii=False, default=str)
            lines.append(line.encode("utf-8", "surrogatepass"))
            size += len(lines[-1]) + 1
            if size > limits.LARGE_FILE_BYTES:
                mib = limits.LARGE_FILE_BYTES // limits.MIB
                raise Problem("hub_set_rows", name=hub, count=len(lines), most=mib)
            if len(lines) % REPORT_ROWS == 0:
                report("fetching", len(lines), most)
    if not lines:
        raise Problem("no_pairs")
    return b"\n".join(lines)


def _streamed(
    hub: str, split: str, most: int, tick: Callable[[], None]
) -> Iterator[dict[str, Any]]:
    """Yield the rows, fetched by a thread of their own, so that a silent hub can be stopped. `tick`
    is called while no row comes."""
    rows: queue.Queue = queue.Queue(_AHEAD)
    left = threading.Event()
    thread = threading.Thread(target=_fetch, args=(hub, split, most, rows, left), daemon=True)
    thread.start()
    silent = 0.0
    try:
        while True:
            try:
                row = rows.get(timeout=_TICK_S)
            except queue.Empty:
                tick()
                silent += _TICK_S
                if silent > limits.HUB_SILENT_S:
                    raise TimeoutError from None
                continue
            silent = 0.0
            if row is _END:
                return
            if isinstance(row, Exception):
                raise row
            yield row
    finally:
        left.set()


_TICK_S = 0.25


def _fetch(hub: str, split: str, most: int, rows: queue.Queue, left: threading.Event) -> None:
    """Put the rows into the queue, then the end or the error."""

    def put(row: object) -> None:
        while not left.is_set():
            with contextlib.suppress(queue.Full):
                return rows.put(row, timeout=_TICK_S)

    try:
        from datasets import disable_progress_bars, load_dataset

        disable_progress_bars()
        repo, subset = repository_and_subset(hub)
        rows_of_set = load_dataset(repo, subset, split=split, token=hub_token(), streaming=True)
        if rows_of_set.features is not None:  # known ones: pictures and sounds stay what they are
            rows_of_set = rows_of_set.decode(False)
        for row in rows_of_set.take(most):
            if left.is_set():
                return
            put(row)
        put(_END)
    except Exception as error:  # raised again where the rows are read
        put(error)


def size_within_limits(hub: str, info: DatasetInfo) -> int:
    """Return the bytes of a whole dataset. Raises Problem where it is too large for a hosted page,
    or the owner agreed to fewer."""
    whole = sum(file.size or 0 for file in info.siblings or ())
    if (size := whole // limits.MIB) > (limit := budget("hub_mib")):
        raise logged(Problem("hub_set_large", name=hub, size=size, most=limit))
    require_consent_to_size(consent_name(hub), whole, "hub_set_size")
    return whole
