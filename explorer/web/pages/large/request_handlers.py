"""Requests of the Large batch page."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lossprism.explorer.core.batch import Batch, load_pairs, make_batch
from lossprism.explorer.core.label_requirements import labels_needed
from lossprism.explorer.core.loss_lookup import as_registered
from lossprism.explorer.core.models_of_scenario import has_words
from lossprism.explorer.core.scenario import TWINS, Data, Scenario
from lossprism.explorer.lab.large.batch import (
    LargeBatch,
    LossInput,
    NumberedSentences,
    check_fits,
    drawn,
    in_order,
    scored,
)
from lossprism.explorer.lab.large.encoder_pair_scores import encoded
from lossprism.explorer.lab.large.large_batch_response import (
    Details,
    DrawnBlocks,
    PairsPage,
    details,
    look,
    pairs_page,
)
from lossprism.explorer.lab.large.large_batch_session import (
    LargeSession,
    checked,
    open_batch,
    pair_limit,
)
from lossprism.explorer.lab.large.large_pair_table_reader import FilePairs, read_pairs
from lossprism.explorer.lab.large.loss_matrix_methods import loss_input_of
from lossprism.explorer.lab.large.text_buffer import TextBuffer
from lossprism.explorer.lab.large.user_label_corrections import corrected
from lossprism.explorer.lab.large.window_blocks import Window
from lossprism.explorer.locale import grouped
from lossprism.explorer.runtime import uploads
from lossprism.explorer.runtime.current_visitor import visitor
from lossprism.explorer.runtime.jobs import Job, Jobs, Report, result_within
from lossprism.explorer.runtime.limits import LARGE_CORRECTIONS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.validation import (
    finite,
    invalid_value,
    label_range,
    of_type,
    one_of,
    optional,
    read,
)
from lossprism.explorer.sources.column_roles import CHOOSE_COLUMNS
from lossprism.explorer.sources.encoders import EMBEDDED, locate
from lossprism.explorer.sources.encoders.uploaded_vectors import in_place_of
from lossprism.explorer.sources.pairs import Correction
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.web.page_requests import Made, Nothing, Working, answer_when_done, served
from lossprism.explorer.web.pages.large.uploaded_file_description import (
    LargeFile,
    LargeFileUndecided,
    described,
    hand_in,
    undecided,
)
from lossprism.losses import LOSSES
from lossprism.losses.labels import Ends

KINDS = ("random", "file", "explore")
FIRST_BATCH = RandomBatch(pairs=100_000, agreement=0.7, grades=6)


# ---- What is asked for ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Source of the pairs: settings of a random batch, a file by its content, a link.

    `owner` is the visitor whose file it is: its results are cached for nobody else.
    """

    kind: str = "random"
    random: RandomBatch = FIRST_BATCH
    file: str = ""
    name: str = ""
    columns: tuple[tuple[str, str], ...] = ()
    header: bool | None = None
    encoding: str = ""
    encoder: str = EMBEDDED
    link: str = ""
    owner: str = ""
    corrections: tuple[Correction, ...] = ()

    def has_words(self, batch: LargeBatch) -> bool:
        """True if the pairs of the batch have sentences, and not only numbers."""
        return not isinstance(batch.first, NumberedSentences)


@dataclass(frozen=True)
class LargeQuery:
    """A source under a loss and the rules of its labels: everything the server has to know, so that
    it may forget it. Rules that are None are those of the link, else what fits the labels."""

    source: Source
    loss: str
    parameters: tuple[tuple[str, object], ...]
    threshold: float | None
    label_range: Ends | None
    twins: str = "keep"

    @property
    def loss_input(self) -> LossInput:
        return loss_input_of(self.loss)

    @property
    def uncorrected(self) -> LargeQuery:
        """The same of the source as it is."""
        source = dataclasses.replace(self.source, corrections=())
        return dataclasses.replace(self, source=source)


def read_query(request: Json) -> LargeQuery:
    """Read what the page sends; Problem names the entry that does not fit."""
    loss, _ = as_registered(of_type(str)(request.get("loss", "cosent"), "loss"))
    parameters = request.get("parameters") or {}
    if not isinstance(parameters, dict):
        raise invalid_value("parameters", parameters)
    rules = request.get("rules") or {}
    if not isinstance(rules, dict):
        raise invalid_value("rules", rules)
    duplicates = one_of(TWINS)(request.get("twins", "keep"), "twins")
    return LargeQuery(
        _source(request.get("source", {})),
        loss,
        tuple(checked(loss, parameters).items()),
        optional(finite)(rules.get("threshold"), "rules.threshold"),
        optional(label_range)(rules.get("label_range"), "rules.label_range"),
        duplicates,
    )


def _source(sent: object) -> Source:
    if not isinstance(sent, dict):
        raise invalid_value("source", sent)
    kind = one_of(KINDS)(sent.get("kind", "random"), "source.kind")
    if kind == "random":
        settings = sent.get("random") or {}
        if isinstance(settings, dict):
            settings = {**dataclasses.asdict(FIRST_BATCH), **settings}
        return Source(random=read(RandomBatch, settings, "source.random", {}, _unknown))
    texts = {name: sent.get(name, "") for name in ("file", "name", "encoding", "link")}
    encoder = sent.get("encoder") or EMBEDDED
    columns = sent.get("columns") or {}
    fits = isinstance(columns, dict) and all(isinstance(v, str) for v in (*texts.values(), encoder))
    header = sent.get("header")
    if not fits or header not in (None, True, False):
        raise invalid_value("source", sent)
    chosen = tuple((str(role), str(name)) for role, name in columns.items())
    return Source(
        kind,
        FIRST_BATCH,
        columns=chosen,
        header=header,
        encoder=encoder,
        owner=visitor() if kind == "file" else "",
        corrections=_corrections(sent.get("corrections", ())),
        **texts,
    )


def _unknown(where: str) -> Problem:
    return Problem("scenario_unknown", where=where)


def _corrections(sent: object) -> tuple[Correction, ...]:
    """Read pairs by their sentences, each with its label; "" where it is left out."""
    if not isinstance(sent, list | tuple) or len(sent) > LARGE_CORRECTIONS:
        raise invalid_value("source.corrections", sent)
    corrections = []
    for one in sent:
        if not isinstance(one, list | tuple) or len(one) != 3:
            raise invalid_value("source.corrections", one)
        first, second, label = one
        if not all(isinstance(text, str) for text in (first, second, label)):
            raise invalid_value("source.corrections", one)
        corrections.append((first, second, label))
    return tuple(corrections)


def read_window(query: object, shape: tuple[int, int]) -> Window:
    """Return the requested window, or all; anything beyond the matrix is cut off."""
    rows, columns = shape
    if query is None:
        return Window(0, rows, 0, columns)
    if not isinstance(query, list) or len(query) != 4 or not all(type(at) is int for at in query):
        raise invalid_value("window", query)
    top, bottom, left, right = query
    if not (0 <= top < bottom and 0 <= left < right and top < rows and left < columns):
        raise Problem(
            "large_window", window=str(query), rows=grouped(rows), columns=grouped(columns)
        )
    return Window(top, min(bottom, rows), left, min(right, columns))


# ---- Work that is kept while it is in use --------------------------------------------------------

_files = Jobs(most=2)
_batches = Jobs(most=3)
_opened = Jobs(most=3)


def start_opening(query: LargeQuery) -> Job:
    def work(report: Report) -> LargeSession:
        _check_labels(query, report)
        batch = result_within(lambda: start_batch(query), report)
        return open_batch(
            batch.under(query.threshold, query.label_range),
            query.loss,
            dict(query.parameters),
            lambda done, total: report("terms", done, total),
            query.twins,
        )

    return _opened.start(query, work)


def _check_labels(query: LargeQuery, report: Report) -> None:
    """Refuse a loss that positives alone teach nothing, before any is encoded."""
    source = query.source
    if source.kind == "random":
        return
    if source.kind == "file":
        labelled = result_within(lambda: _reading(source), report).labelled
    else:
        labelled = load_pairs(Scenario.from_link(source.link).data).labelled
    if not labelled and (reason := labels_needed(LOSSES[query.loss])):
        raise reason


def start_batch(query: LargeQuery) -> Job:
    """Start making the pairs with the inputs of the loss, and their corrections."""

    def work(report: Report) -> LargeBatch:
        if not query.source.corrections:
            return _make(query, report)
        batch = result_within(lambda: start_batch(query.uncorrected), report)
        return corrected(batch, query.source.corrections)

    return _batches.start((query.source, query.loss_input), work)


def _make(query: LargeQuery, report: Report) -> LargeBatch:
    source = query.source
    if source.kind == "random":
        limit = pair_limit(query.loss, drawn=True)
        drawn_in = source.random.dimension
        check_fits(source.random.pairs, limit, query.loss, query.loss_input, drawn_in)
        return drawn(source.random, query.loss_input)
    if source.kind == "explore":
        return _from_link(source.link, query.loss_input)
    read = result_within(lambda: _reading(source), report)
    check_fits(len(read.labels), pair_limit(query.loss), query.loss, query.loss_input)
    if read.scores is not None and query.loss_input == "cosines":
        batch = in_order(read.labels, read.scores, read.first, read.second)
        return dataclasses.replace(batch, rows=read.rows, threshold=read.threshold)
    if isinstance(read.first, NumberedSentences):
        raise Problem("no_vectors")
    encoder = in_place_of(source.encoder, read.own_vectors)
    vectors_and_scores = encoded(
        read.first,
        read.second,
        locate(encoder),
        lambda done, total: report("encoding", done, total),
        with_vectors=query.loss_input == "vectors",
    )
    scores = (
        vectors_and_scores.angles if query.loss_input == "angles" else vectors_and_scores.cosines
    )
    batch = in_order(read.labels, scores, read.first, read.second, vectors_and_scores.vectors)
    more = {"encoder": encoder, "rows": read.rows, "threshold": read.threshold}
    return dataclasses.replace(batch, **more)


def _reading(source: Source) -> Job:
    def work(report: Report) -> FilePairs:
        return read_pairs(
            uploads.read(source.file, source.name),
            source.name,
            dict(source.columns),
            source.header,
            report,
            source.encoding,
        )

    read_as = (source.columns, source.header, source.encoding)
    return _files.start((source.owner, source.file, *read_as), work)


def _from_link(link: str, loss_input: LossInput) -> LargeBatch:
    """The batch of the Explore page that the link names, under its rules."""
    scenario = Scenario.from_link(link)
    batch = make_batch(scenario.data, scenario.rules)
    batch_under_rules = _of_explore(scenario.data, batch, loss_input)
    return batch_under_rules.under(batch.threshold, batch.label_range)


def _of_explore(data: Data, batch: Batch, loss_input: LossInput) -> LargeBatch:
    labels = np.array(batch.pairs.labels)
    first, second = TextBuffer(batch.pairs.first), TextBuffer(batch.pairs.second)
    by_it = has_words(data) and not data.cross_encoder and batch.given is None
    encoder = data.encoder if by_it else ""
    if loss_input == "cosines":
        batch_of_pairs = in_order(labels, batch.plain_scores, first, second)
        return dataclasses.replace(batch_of_pairs, encoder=encoder)
    if batch.vectors is None:
        raise Problem("no_vectors")
    rows = batch.vectors.double().cpu().numpy()
    one, other = (rows[side.cpu().numpy()] for side in (batch.first, batch.second))
    batch_of_pairs = scored(labels, first, second, one, other, loss_input)
    return dataclasses.replace(batch_of_pairs, encoder=encoder)


# ---- Answers -------------------------------------------------------------------------------------


def answer_of(request: Json, make: Callable[[LargeSession], Made]) -> Made | Working:
    """Return the answer of `make` for the open batch, or the progress of the work on it."""
    return answer_when_done(start_opening(read_query(request)), make)


def _look(request: Json) -> DrawnBlocks | Working:
    """{source, loss, parameters, window} → the blocks of the window, and the figures."""
    window = request.get("window")
    return answer_of(request, lambda opened: look(opened, read_window(window, opened.shape)))


def _details(request: Json) -> Details | Working:
    return answer_of(request, details)


def _pairs(request: Json) -> PairsPage | Working:
    """{…, search, column, falling, page} → a page of the table of all pairs."""
    search, column = str(request.get("search", ""))[:200], str(request.get("column", "gradient"))
    number, falling = request.get("page", 0), bool(request.get("falling", True))
    if type(number) is not int or number < 0:
        raise invalid_value("page", number)
    return answer_of(request, lambda found: pairs_page(found, search, column, falling, number))


def _cancel(request: Json) -> Nothing:
    _opened.cancel(read_query(request))
    return Nothing()


def _describe_file(request: Json) -> LargeFile | LargeFileUndecided | Working:
    """{source} → the file's columns, which of them are read, and what was left out.

    Where it is not clear which are to be read: `undecided`, with those chosen so far.
    """
    source = _source(request.get("source", {}))
    content = functools.partial(uploads.read, source.file, source.name)

    def make(read: FilePairs) -> LargeFile:
        return described(read, content, source.encoding)

    try:
        return answer_when_done(_reading(source), make)
    except Problem as problem:
        if problem.about not in (*CHOOSE_COLUMNS, "encoding"):
            raise
        chosen = dict(source.columns)
        return undecided(content, source.name, chosen, source.header, source.encoding)


SERVED = [
    served("blocks", _look),
    served("details", _details),
    served("pairs", _pairs),
    served("stop", _cancel),
    served("hand_in", hand_in, keeps=True),
    served("describe_file", _describe_file),
]
