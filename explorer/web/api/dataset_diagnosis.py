"""Diagnosis of a dataset, for programs."""

from lossprism.explorer.lab.doctor import USUAL_BATCH, USUAL_HUB_ROWS, USUAL_LOSS
from lossprism.explorer.lab.doctor.class_dataset_checks import examine_classes
from lossprism.explorer.lab.doctor.class_dataset_checks_by_encoder import encode_class_table
from lossprism.explorer.lab.doctor.classes_report import DoctoredClasses, classes_answer
from lossprism.explorer.lab.doctor.data_report import DoctoredData, data_answer, encoded_answer
from lossprism.explorer.lab.doctor.dataset_reader import (
    Read,
    Table,
    hub_content,
    pairs_only,
    read_given,
    read_table,
    texts_only,
)
from lossprism.explorer.lab.doctor.hard_negatives_mined_to_file import (
    USUAL_MARGIN,
    MinedNegatives,
    mine,
)
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known, count_of
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import single_loss
from lossprism.explorer.lab.doctor.pair_dataset_checks import examine
from lossprism.explorer.lab.doctor.pair_dataset_checks_by_encoder import (
    ENCODED_LIMITS,
    USUAL_ENCODED_PAIRS,
    encode_pairs,
)
from lossprism.explorer.lab.doctor.similarity_gap_findings import DoctoredSimilarities, Similarities
from lossprism.explorer.lab.doctor.suitable_losses import suited, suited_to_classes
from lossprism.explorer.lab.doctor.texts_with_classes_reader import ClassTable
from lossprism.explorer.locale import LANGUAGES
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.limits import TRAINED_PAIRS
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.validation import finite, integer, of_type, optional
from lossprism.explorer.sources.pairs import POSITIVE, Pairs
from lossprism.explorer.web.api.request_parsing import columns_of, read_choice, read_text, rows_of
from lossprism.explorer.web.api.response_schemas import in_json


@in_json
def doctor_data(
    loss: str = USUAL_LOSS,
    sentences1: list[str] | None = None,
    sentences2: list[str] | None = None,
    scores: list[float] | None = None,
    table: str = "",
    columns: dict[str, str] | None = None,
    batch: int = USUAL_BATCH,
    tokens: int | None = None,
    language: str = "en",
    hub: str = "",
    split: str = "train",
    rows: int = USUAL_HUB_ROWS,
    encoder: str = "",
    encoded: int = USUAL_ENCODED_PAIRS,
    negatives: int = 0,
    mine_margin: float = USUAL_MARGIN,
    margin: float | None = None,
    header: bool | None = None,
) -> DoctoredData | DoctoredClasses | DoctoredSimilarities:
    """Diagnose a dataset of up to 100,000 pairs, or of texts with their classes, for a loss and a
    batch size, from its texts and labels and, if named, with an encoder.

    Args:
        loss, sentences1, sentences2, scores: see compute_loss
        table: in place of the lists, the text of a CSV, TSV, JSON lines or JSON array; of two
            columns, one called class, label or the like, texts with their classes
        columns: as compute_loss has them, without a guide's vectors, or "text" and "class"
        batch: pairs of a batch
        tokens: that the encoder reads of a text; null if not known
        language: see explain_loss_value
        hub: in place of both, a dataset of the hub, a subset behind a colon, such as
            "sentence-transformers/all-nli:triplet"; its first rows are read
        split: the part of it
        rows: how many of its rows, from 10 to 1,048,576
        encoder: as compute_loss has it; "" for none
        encoded: pairs that it reads, at most 16,384, picked at random
        negatives: hard negatives that sentence-transformers mines with the encoder for each pair,
            up to 10; 0 for none
        mine_margin: share of a pair's own cosine by which they stay below it
        margin: of a loss that has one, as it is trained with; null for the loss's own
        header: whether the table's first row names its columns; null if not known

    Returns:
        An object with
        findings, the worst first, each with name (which stays the same), severity ("severe",
        "warning" or "note"), said (a sentence), values (the numbers in it), rows (of the table,
        all that show it) and advice (what to do, and what to paste); severe, whether any is;
        reading, sentences that say which columns of a table were taken as what;
        labels_unread, a sentence where the class of a library that was named reads none of the
        labels, so that every row is a positive pair to it, else "";
        looked_for, the names of what these columns and this loss allow to be looked for;
        met, what a batch has on average: pairs of rows that share a text and meet as negatives,
        rows that have such a partner, floor, below which no softmax over the batch can then fall,
        and share of the negatives that are wrong;
        suited, all losses that can learn from the data: those made for such columns, then the best
        reasons first, each with the names of reasons for it and against it, and said, the same in
        sentences;
        encoded, null without an encoder, else what it found: its findings, each with cells too,
        texts of two pairs with their cosine; ranked, the pairs on which it and the labels disagree,
        the worst first, each with row, rate, the share of its comparisons that it contradicts, and
        fitting, the label that would fit; bands, the cosines of the pairs by label; sharpness,
        the temperatures at which so many negatives of a batch count; gap, null or a sentence on the
        modality gap of vectors that the table has; pairs, how many it read;
        mined, null where no negatives were asked for, else triplets, each with anchor, positive and
        negative; pairs, how many were looked at; and without, how many of these have none;
        kept and kept_rows, how many pairs and rows a cleaned table has, and left_out, the other
        rows, each with because (of a list candidates may go, and the rest stay);
        pairs and skipped, how many were read and how many rows could not be; rows, those that the
        pairs stand in, and of which batches are made (of triplets and lists fewer); columns, those
        of the table that were read; loss and batch, as they were taken.
        Of texts with classes: rows, skipped, columns, reading, batch and severe as above; classes,
        each with name and count, the largest first; alone, the share of a batch's rows that have no
        other of their class in it; findings; looked_for; suited, as above, of losses on classes;
        kept and left_out as above; encoded, null without an encoder, else how many texts it read,
        agreeing, the share whose nearest other text has their class, mixed, which class has texts
        nearer to which other and how many, and ranked, these texts, with the cosine to the nearest
        text of their own class and of the other.
        Of similarities without texts: moments, each with its name, queries (how many), the means
        of positive and negative scores, their gap, and order, the share of comparisons within a
        query in which the positive is above; about, a sentence for each; and
        findings, whose rows are queries.

    Raises:
        Problem: with a sentence that says which input cannot be used, and what can.

    Examples:
        >>> answer = doctor_data("cosent", ["a", "A ", "c"], ["b", "b", "d"], [1, 0, 0.5], batch=2)
        >>> [(one["name"], one["rows"]) for one in answer["findings"]]
        [('conflicting_labels', [1, 2])]
    """
    known = Known(loss=read_text("loss", loss), batch=batch, margin=margin).checked()
    candidate = single_loss(known)
    size, max_tokens = known.batch or USUAL_BATCH, count_of("tokens", tokens)
    read_choice("language", language, LANGUAGES)
    name, many = read_text("encoder", encoder).strip(), _checked_encoded(encoded)
    with jobs.heavy_work_turn():
        lists = sentences1, sentences2, scores
        read = _read(lists, (table, columns, optional(of_type(bool))(header, "header")),
                     (hub, split, rows))  # fmt: skip
        if name:
            texts_only(read)
        if negatives:
            pairs_only(read)
        if isinstance(read, Similarities):
            return read.answered(language)
        if isinstance(read, ClassTable):
            suitable = suited_to_classes(read, size)
            near = encode_class_table(read, name, many, jobs.step) if name else None
            return classes_answer(read, examine_classes(read, size), suitable, language, near)
        spec = read.spec(candidate)
        examined = examine(read.profile, spec, size, most_tokens=max_tokens, margin=known.margin)
        suitable = suited(read.profile, size)
        seen = mined = None
        if negatives:
            mined = _mined(read, name, many, negatives, mine_margin)
        if name or read.profile.own_vectors:
            looked = encode_pairs(read.profile, name, many, jobs.step)
            seen = encoded_answer(read, looked, spec, size, language)
        return data_answer(read, examined, suitable, language, seen, loss, mined)


def _mined(read: Read, encoder: str, pairs: int, each: object, margin: object) -> MinedNegatives:
    if not encoder:
        raise Problem("mine_no_encoder", about="encoder")
    options = encoder, pairs, integer(each, "negatives"), finite(margin, "mine_margin")
    return mine(read.profile, *options, jobs.step).answered()


def _checked_encoded(encoded: object) -> int:
    if type(encoded) is not int or not ENCODED_LIMITS[0] <= encoded <= ENCODED_LIMITS[1]:
        least, most = ENCODED_LIMITS
        raise Problem("doctor_encoded", value=str(encoded)[:60], least=least, most=most)
    return encoded


def _read(
    lists: tuple[object, object, object],
    of_table: tuple[object, object, bool | None],
    of_hub: tuple[object, object, object],
) -> Table:
    (first, second, scores), (table, columns, header) = lists, of_table
    text, hub = read_text("table", table), read_text("hub", of_hub[0]).strip()
    sources = [bool(text), first is not None or second is not None, bool(hub)]
    if sum(sources) != 1:
        raise Problem("api_table_or_lists")
    chosen = columns_of(columns)
    if hub:
        split, row_count = read_text("split", of_hub[1]), integer(of_hub[2], "rows")
        return read_table(*hub_content(hub, split, row_count, jobs.step), jobs.step, columns=chosen)
    if text:
        content = text.encode("utf-8", "surrogatepass")
        return read_table(content, "table.txt", jobs.step, columns=chosen, header=header)
    rows = rows_of("doctor_data", TRAINED_PAIRS, first, second, scores).rows
    one, other, labels = zip(*rows, strict=True)
    labelled = scores is not None
    values = tuple(map(float, labels)) if labelled else (POSITIVE,) * len(rows)
    return read_given(Pairs(one, other, values, labelled=labelled), jobs.step)
