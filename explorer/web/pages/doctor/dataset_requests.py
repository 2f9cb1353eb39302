"""The check of a dataset on the Doctor page: what is the matter with it."""

import functools
from pathlib import Path

from lossprism.explorer.lab.doctor import USUAL_HUB_ROWS
from lossprism.explorer.lab.doctor.cleaned_dataset_writer import (
    cleaned_extension,
    write_kept,
    write_left_out,
)
from lossprism.explorer.lab.doctor.dataset_reader import (
    HUB_ROWS,
    Read,
    Table,
    hub_content,
    pairs_only,
    texts_only,
)
from lossprism.explorer.lab.doctor.hard_negatives_mined_to_file import (
    NEGATIVES_RANGE,
    USUAL_MARGIN,
    USUAL_NEGATIVES,
    mine,
    write_mined,
)
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import single_loss
from lossprism.explorer.lab.doctor.pair_dataset_checks_by_encoder import (
    ENCODED_LIMITS,
    USUAL_ENCODED_PAIRS,
    EncodedPairs,
    encode_pairs,
)
from lossprism.explorer.lab.doctor.reference_values import ConfiguredLoss
from lossprism.explorer.lab.doctor.similarity_gap_findings import DoctoredSimilarities, Similarities
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from lossprism.explorer.locale import language_of
from lossprism.explorer.runtime import uploads, validation
from lossprism.explorer.runtime.current_visitor import visitor
from lossprism.explorer.runtime.downloads import Download, new_download
from lossprism.explorer.runtime.jobs import Job, Jobs, Report, result_within
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.response_field_types import Json
from lossprism.explorer.runtime.validation import finite, of_type, one_of, optional
from lossprism.explorer.sources.column_roles import CHOOSE_COLUMNS
from lossprism.explorer.web.page_requests import (
    Nothing,
    Working,
    answer_when_done,
    download_when_written,
    served,
    started_once,
)
from lossprism.explorer.web.pages.doctor.data_source import Source, read_source, sets, start_reading
from lossprism.explorer.web.pages.doctor.dataset_responses import (
    EncodedData,
    ExaminedClasses,
    ExaminedData,
    FetchedRows,
    UndecidedData,
    encoded,
    examined,
    examined_classes,
)
from lossprism.explorer.web.pages.large.uploaded_file_description import hand_in, undecided
from lossprism.losses import LOSSES

FIRST_LOSS, FIRST_BATCH = "info_nce", 16
BATCHES = (2, 65_536)
TOKENS = (0, 1_000_000)
USUAL_TOKENS = 256  # that the embedded encoder reads of a text
Examination = ExaminedData | ExaminedClasses | DoctoredSimilarities
_packed = Jobs(most=4)
_seen = Jobs(most=4)


def losses_offered() -> tuple[str, ...]:
    return tuple(name for name, spec in LOSSES.items() if spec.group != "own")


# ---- Answers -------------------------------------------------------------------------------------


def _examine(request: Json) -> Examination | UndecidedData | Working:
    """{source, loss, batch, tokens: 0 where not known, margin: null for the default, language} →
    what is the matter, which losses can learn from it, and how the file was read; of texts with
    classes what is the matter with these; or what there is to choose from."""
    source, loss, batch, language = _common_in(request)
    tokens = validation.within(*TOKENS)(request.get("tokens", USUAL_TOKENS), "tokens")
    margin = optional(finite)(request.get("margin"), "margin")

    def answer(read: Table) -> Examination:
        if isinstance(read, Similarities):
            return read.answered(language)
        if isinstance(read, ClassTable):
            return examined_classes(read, source, batch, language)
        more = {"tokens": tokens or None, "margin": margin, "language": language}
        return examined(read, source=source, loss=loss, batch=batch, **more)

    try:
        return answer_when_done(start_reading(source), answer)
    except Problem as problem:
        if source.kind == "example" or problem.about not in (*CHOOSE_COLUMNS, "encoding"):
            raise
        how = (dict(source.columns), source.header, source.encoding)
        return UndecidedData(**vars(undecided(source.content, source.name, *how)), problem=problem)


def _common_in(request: Json) -> tuple[Source, ConfiguredLoss, int, str]:
    """Read the common part of requests on a dataset: it, the loss, the batch size, the
    language."""
    source = read_source(request.get("source", {}))
    loss = single_loss(Known(loss=of_type(str)(request.get("loss", FIRST_LOSS), "loss")))
    batch = validation.within(*BATCHES)(request.get("batch", FIRST_BATCH), "batch")
    return source, loss, batch, language_of(request.get("language"))


def _encode(request: Json) -> EncodedData | Working:
    """{source, loss, batch, encoder, most: pairs that it reads, language} → what only an encoder
    can tell of the dataset."""
    source, loss, batch, language = _common_in(request)
    encoder = of_type(str)(request.get("encoder"), "encoder").strip()
    max_pairs = validation.within(*ENCODED_LIMITS)(request.get("most", USUAL_ENCODED_PAIRS), "most")

    def answer(read_and_seen: tuple[Read, EncodedPairs]) -> EncodedData:
        read, seen = read_and_seen
        return encoded(read, seen, loss, batch, language)

    return answer_when_done(_start_looking(source, encoder, max_pairs), answer)


def _start_looking(source: Source, encoder: str, max_pairs: int) -> Job:
    """Start encoding the pairs, whatever the loss."""

    def work(report: Report) -> tuple[Read, EncodedPairs]:
        read = pairs_only(result_within(lambda: start_reading(source), report))
        return read, encode_pairs(read.profile, encoder, max_pairs, report)

    return _seen.start((source, visitor(), encoder, max_pairs), work)


# ---- What can be taken away ----------------------------------------------------------------------

FILES = {"kept": ("-clean", write_kept), "left_out": ("-left-out", write_left_out)}


def _take(request: Json) -> Download | Working:
    """{source, what: kept or left_out, loss: for which labels conflict; without it any that differ}
    → the name of a file, and where it is served from."""
    source = read_source(request.get("source", {}))
    what = one_of(tuple(FILES))(request.get("what"), "what")
    called, write = FILES[what]
    loss = request.get("loss")
    named = of_type(str)(loss, "loss") if loss is not None else ""
    by_threshold = bool(named) and single_loss(Known(loss=named)).spec.by_threshold

    def work(report: Report) -> Path:
        read = texts_only(result_within(lambda: start_reading(source), report))
        path = new_download(f"{source.stem}{called}{cleaned_extension(read)}")
        tell = functools.partial(report, "writing")
        return write(read, path, tell, by_threshold=by_threshold)

    return download_when_written(_packed, (source, visitor(), what, by_threshold), work)


_mined = Jobs(most=4)


def _mine(request: Json) -> Download | Working:
    """{source, encoder, most, negatives: of each pair, margin: a share of its own cosine} → a file
    of triplets, and where it is served from; or how far that is."""
    source = read_source(request.get("source", {}))
    encoder = of_type(str)(request.get("encoder"), "encoder").strip()
    max_pairs = validation.within(*ENCODED_LIMITS)(request.get("most", USUAL_ENCODED_PAIRS), "most")
    each = validation.within(*NEGATIVES_RANGE)(
        request.get("negatives", USUAL_NEGATIVES), "negatives"
    )
    margin = finite(request.get("margin", USUAL_MARGIN), "margin")

    def work(report: Report) -> Path:
        read = pairs_only(result_within(lambda: start_reading(source), report))
        mined = mine(read.profile, encoder, max_pairs, each, margin, report)
        return write_mined(mined, new_download(f"{source.stem}-hard-negatives.tsv"))

    return download_when_written(
        _mined, (source, visitor(), encoder, max_pairs, each, margin), work
    )


def _stop(request: Json) -> Nothing:
    """{source, encoder?, most?, negatives?, margin?, hub?, split?, rows?} → nothing: fetching,
    reading, encoding or mining it is no longer waited for."""
    if request.get("hub"):
        _fetched.cancel((*_hub_in(request), visitor()))
    source = read_source(request.get("source", {}))
    sets.cancel(source)
    if request.get("encoder"):
        key = str(request["encoder"]).strip(), request.get("most", USUAL_ENCODED_PAIRS)
        _seen.cancel((source, visitor(), *map(_plain, key)))
        mined = (request.get("negatives", USUAL_NEGATIVES), request.get("margin", USUAL_MARGIN))
        _mined.cancel((source, visitor(), *map(_plain, (*key, *mined))))
    return Nothing()


def _plain(value: object) -> object:
    """Return a value that can be a key, or None."""
    return value if isinstance(value, str | int | float) else None


# ---- A dataset of the hub -----------------------------------------------------------------------

_fetched = Jobs(most=4)


def _fetch(request: Json) -> FetchedRows | Working:
    """{hub: its id, split, rows: how many of the first} → the file that these rows are from then
    on, as if somebody had handed it in; or how far that is."""
    key = _hub_in(request)
    hub, split, rows = key

    def work(report: Report) -> tuple[str, str]:
        content, name = hub_content(hub, split, rows, report)
        return uploads.put(content, name), name

    def is_there(kept: tuple[str, str]) -> bool:
        return uploads.find(kept[0]) is not None

    job = started_once(_fetched, (*key, visitor()), work, is_there)
    return answer_when_done(job, lambda kept: FetchedRows(*kept))


def _hub_in(request: Json) -> tuple[str, str, int]:
    hub, split = (of_type(str)(request.get(name, ""), name) for name in ("hub", "split"))
    rows = validation.within(*HUB_ROWS)(request.get("rows", USUAL_HUB_ROWS), "rows")
    return hub.strip(), split.strip(), rows


SERVED = [
    served("examine", _examine),
    served("fetch", _fetch, keeps=True),
    served("encode", _encode),
    served("mine", _mine),
    served("hand_in", hand_in, keeps=True),
    served("take", _take),
    served("stop", _stop),
]
