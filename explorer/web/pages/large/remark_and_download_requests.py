"""Findings of the Large batch page about all pairs together, and its downloads."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lossprism.explorer.export.caption import random_words
from lossprism.explorer.export.figure.appearance import look_in
from lossprism.explorer.export.figure.figure_files import figure_text
from lossprism.explorer.export.figure.text_layout import clipped
from lossprism.explorer.lab.large import large_batch_downloads
from lossprism.explorer.lab.large.large_batch_remarks import LabelJudgement, judged, remarks_of
from lossprism.explorer.lab.large.large_batch_response import Judgement, judgement
from lossprism.explorer.lab.large.large_batch_session import LargeSession
from lossprism.explorer.lab.large.map_and_histogram_figures import (
    FACETS,
    histogram_figure,
    legend_of,
    map_figure,
)
from lossprism.explorer.locale import language_of, say
from lossprism.explorer.runtime.downloads import Download, Text, new_download
from lossprism.explorer.runtime.jobs import Job, Jobs, Report, result_within
from lossprism.explorer.runtime.number_format import json_number
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.validation import one_of
from lossprism.explorer.sources.encoders.uploaded_vectors import file_of
from lossprism.explorer.web.page_requests import (
    Working,
    answer_when_done,
    download_when_written,
    served,
)
from lossprism.explorer.web.pages.large.request_handlers import (
    LargeQuery,
    answer_of,
    read_query,
    read_window,
    start_batch,
    start_opening,
)

_judged = Jobs(most=2)
_remarked = Jobs(most=2)
_packed = Jobs(most=4)


# ---- Remarks on all pairs ------------------------------------------------------------------------


def _start_judging(query: LargeQuery) -> Job:
    """Start judging the pairs, whatever the loss, once for all losses."""

    def work(report: Report) -> LabelJudgement:
        batch = result_within(lambda: start_batch(query), report)
        return judged(batch, lambda done, total: report("judging", done, total))

    return _judged.start((query.source, query.loss_input), work)


def _start_remarks(query: LargeQuery) -> Job:
    def work(report: Report) -> tuple[LabelJudgement, list]:
        opened = result_within(lambda: start_opening(query), report)
        by = result_within(lambda: _start_judging(query), report)
        report("judging", 0, 0)
        return by, remarks_of(opened, query.loss, dict(query.parameters), by)

    return _remarked.start(query, work)


def _judge(request: Json) -> Judgement | Working:
    """{source, loss, parameters} → where labels and encoder disagree, and what is striking."""
    query = read_query(request)

    def make(found: tuple[LabelJudgement, list]) -> Judgement:
        by, remarks = found
        opened = start_opening(query).result()
        editable = query.source.kind == "file" and query.source.has_words(opened.batch)
        return judgement(opened, by, remarks, editable)

    return answer_when_done(_start_remarks(query), make)


# ---- What can be taken away ----------------------------------------------------------------------


def _take(request: Json) -> Text | Download | Working:
    """{…, what, language, dark, window, facet} → a file's name with its type and text, or with the
    path that it is served from. A figure also takes {palette, size, picture_only, format}."""
    query = read_query(request)
    what = one_of((*FILES, *FIGURES, *TABLES, *OTHERS))(request.get("what"), "what")
    name = f"lossprism-{query.loss}"
    if what in FILES:
        ending, write = FILES[what]
        return _download(query, what, f"{name}{ending}", write)
    if what in FIGURES:
        return answer_of(request, lambda opened: _figure(query, opened, what, request, name))
    if what in TABLES:
        ending, table = TABLES[what]

        def made(opened: LargeSession) -> Text:
            return Text(f"{name}{ending}", "text/csv", table(opened))

        return answer_of(request, made)
    if what == "changes_csv":
        plain = query.uncorrected
        return answer_when_done(
            start_batch(plain),
            lambda batch: Text(
                f"{name}-changes.csv",
                "text/csv",
                large_batch_downloads.changes_csv(batch, query.source.corrections),
            ),
        )
    return answer_when_done(
        _start_judging(query), lambda by: _numbers(query, request, what, by, name)
    )


def _numbers(
    query: LargeQuery, request: Json, what: str, by: LabelJudgement, name: str
) -> Text | Working:
    def make(opened: LargeSession) -> Text:
        numbers = {"loss_name": query.loss, **dict(query.parameters)}
        numbers["data"] = _origin(query, opened, "en")
        numbers |= large_batch_downloads.figures_of(opened, by)
        if what == "figures_csv":
            return Text(
                f"{name}-figures.csv", "text/csv", large_batch_downloads.figures_csv(numbers)
            )
        plain = {
            key: json_number(value) if isinstance(value, float) else value
            for key, value in numbers.items()
        }
        text = json.dumps(plain, ensure_ascii=False, indent=1)
        return Text(f"{name}-figures.json", "application/json", text)

    return answer_of(request, make)


def _figure(query: LargeQuery, opened: LargeSession, what: str, request: Json, name: str) -> Text:
    drawn = drawn_figure(query, opened, what, request)
    return figure_text(f"{name}{FIGURES[what]}", drawn, request)


def drawn_figure(
    query: LargeQuery, opened: LargeSession, what: str, request: Mapping[str, Any]
) -> str:
    """Draw a figure of `FIGURES` as SVG; `request` has the look, the window and the facet."""
    look, parameters = look_in(request), dict(query.parameters)
    language = language_of(request.get("language"))
    about = legend_of(opened, query.loss, parameters, language, _origin(query, opened, language))
    if what == "histogram_svg":
        return histogram_figure(opened, about, **look)
    facet = one_of(tuple(FACETS))(request.get("facet", "total"), "facet")
    window = read_window(request.get("window"), opened.shape)
    return map_figure(opened, about, window, facet, **look)


def _origin(query: LargeQuery, opened: LargeSession, language: str) -> str:
    """Describe the source of the pairs and their similarities."""
    source, batch = query.source, opened.batch
    count = len(batch)
    if source.kind == "random":
        return random_words(source.random, count, language)
    if source.kind == "file":
        name = clipped(source.name, 400, 12.5)
        whence = say(language, "figure_text.data_file", count=count, name=name)
    else:
        whence = say(language, "figure_text.data_explore", count=count)
    encoder = clipped(file_of(batch.encoder), 300, 12.5)
    by = say(language, "ui.encoder_now", name=encoder) if encoder else ""
    changed = len(source.corrections)
    more = say(language, "figure_text.corrected", count=changed) if changed else ""
    by_file = say(language, "figure_text.scores_given") if source.kind == "file" else ""
    return " · ".join(filter(None, (whence, by or by_file, more)))


Write = Callable[[LargeSession, Path, Callable[[int, int], None]], Path]


def _download(query: LargeQuery, what: str, name: str, write: Write) -> Download | Working:
    """A table of all pairs: written once, and again where it has left meanwhile."""

    def work(report: Report) -> Path:
        opened = result_within(lambda: start_opening(query), report)
        return write(opened, new_download(name), lambda done, all_: report("writing", done, all_))

    return download_when_written(_packed, (query, what), work)


FILES: dict[str, tuple[str, Write]] = {
    "pairs_csv": ("-pairs.csv", large_batch_downloads.pairs_file),
    "suspects_csv": ("-suspects.csv", large_batch_downloads.suspects_file),
    "corrected_csv": (
        "-corrected.csv",
        lambda opened, path, progress: large_batch_downloads.corrected_file(
            opened.batch, path, progress
        ),
    ),
}
TABLES: dict[str, tuple[str, Callable[[LargeSession], str]]] = {
    "terms_csv": ("-terms.csv", large_batch_downloads.terms_csv),
    "histogram_csv": ("-histogram.csv", large_batch_downloads.histogram_csv),
}
OTHERS = ("changes_csv", "figures_csv", "figures_json")
FIGURES = {"map_svg": "-map", "histogram_svg": "-histogram"}

SERVED = [served("judge", _judge), served("take", _take)]
