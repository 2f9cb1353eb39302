"""Tables as CSV.

Headers and row names are English, so that a script reads the same file in any language. A text cell
that a spreadsheet would run as a formula is made harmless with an apostrophe.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from typing import TextIO

from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.export.caption import pair_numbers
from lossprism.explorer.export.drawing_data_of_exploration import picture
from lossprism.explorer.export.drawing_data_types import Axis
from lossprism.explorer.export.rows_and_columns_of_step_matrix import NAMED_BY_PAIR, PAIRED
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.number_format import csv_number
from lossprism.explorer.sources.pairs import Correction, Pairs, corrected

# Blanks and marks that are not seen may stand before it.
_STARTS_A_FORMULA = re.compile(
    "[\t\r\n]|[\\s\ufeff\u200b-\u200f\u202a-\u202e\u2060-\u2069]*[=+\\-@＝＋－＠]"
)


def matrix_csv(exploration: Exploration) -> str:
    """Return the matrix of the chosen step, as the page arranges it.

    The facet is that of `scenario.view`. The first row and column name the items. An absent cell
    (−inf) is empty, yes and no are 1 and 0. As on the page, a step of more than 1024 rows or
    columns is cut to the first 1024.
    """
    shown = picture(exploration).shown
    found = exploration.trace.tensors[shown.step]
    facets = {
        "gradient": found.gradient,
        "weight": exploration.weights and exploration.weights.shares,
        "mask": exploration.trace.mask_of(found),
    }
    facet = exploration.scenario.view.facet
    whole = facets.get(facet)
    if whole is None or getattr(shown, facet) is None:
        facet, whole = "value", found.value
    rows, columns = shown.row_axis, shown.column_axis
    matrix = whole.reshape(shown.all_rows, shown.all_columns).cpu()
    matrix = matrix[rows.items][:, columns.items]
    names = _Names(exploration)
    body = [
        [names.of_place(rows, place), *(csv_number(value) for value in line)]
        for place, line in enumerate(matrix.tolist())
    ]
    heads = [names.of_place(columns, place) for place in range(len(columns.items))]
    return csv_text([f"{found.name} ({facet})", *heads], body)


def terms_csv(exploration: Exploration) -> str:
    """Return the heaviest terms: items, value, weight, and cumulative weight."""
    terms = picture(exploration).heaviest
    names = _Names(exploration)
    most = max((len(term.items) for term in terms), default=2)
    sides = ("row", "column") if most == 2 else ("item", "row", "column")[:most]
    heads = [head for side in sides for head in (side, f"{side}_text")]
    body = []
    for rank, term in enumerate(terms, 1):
        items = [
            text
            for item in term.items
            for text in (
                names.number(item.axis, item.item, item.pair),
                names.words(item.axis, item.pair, item.sentence),
            )
        ]
        numbers = (exploration.heaviest[rank - 1].value, term.share, term.so_far)
        body.append([rank, *items, *map(csv_number, numbers)])
    return csv_text(["rank", *heads, "value", "weight", "cumulative_weight"], body)


def suspects_csv(exploration: Exploration) -> str:
    """Return the pairs on which label and encoder disagree: how often, and the label that would
    fit."""
    numbers = pair_numbers(exploration)
    body = [
        [
            numbers[suspect.pair],
            *_pair_cells(exploration, suspect.pair),
            suspect.rate,
            suspect.fitting,
        ]
        for suspect in exploration.suspects
    ]
    return csv_text([*PAIR_HEADS, "contradicted_share", "fitting_label"], body)


def corrected_csv(source: Pairs, corrections: Sequence[Correction]) -> str:
    """Return the pairs after all corrections: a file that any page opens again."""
    pairs = corrected(source, corrections)
    if not pairs.labelled:
        return csv_text(["sentence1", "sentence2"], zip(pairs.first, pairs.second, strict=True))
    body = zip(pairs.first, pairs.second, map(csv_number, pairs.labels), strict=True)
    return csv_text(["sentence1", "sentence2", "score"], list(body))


def corrections_csv(source: Pairs, corrections: Sequence[Correction]) -> str:
    """Return the corrections: each pair with its label in the source, and its present one, empty if
    it was dropped."""
    new_labels = {(first, second): label for first, second, label in corrections}
    labels = map(csv_number, source.labels) if source.labelled else [""] * len(source)
    listed = zip(source.first, source.second, labels, strict=True)
    body = [
        [first, second, label, new_labels[first, second]]
        for first, second, label in listed
        if (first, second) in new_labels
    ]
    return csv_text(["sentence1", "sentence2", "score", "corrected"], body)


def pairs_csv(exploration: Exploration) -> str:
    """Return every pair: sentences, label if any, similarity, and gradient: projected for a loss on
    vectors, and ∂L/∂s if it exists (empty for a pair without)."""
    columns = {
        "projected_gradient": exploration.pair_gradient if exploration.is_projected else None,
        "score_gradient": exploration.score_gradient,
    }
    gradients = {head: values.tolist() for head, values in columns.items() if values is not None}
    body = [
        [
            number,
            *_pair_cells(exploration, pair),
            *(_known(values[pair]) for values in gradients.values()),
        ]
        for pair, number in enumerate(pair_numbers(exploration))
    ]
    return csv_text([*PAIR_HEADS, *gradients], body)


def _known(value: float) -> object:
    return "" if math.isnan(value) else csv_number(value)


PAIR_HEADS = ["pair", "sentence1", "sentence2", "score", "cosine"]


def _pair_cells(e: Exploration, pair: int) -> list[object]:
    pairs = e.batch.pairs
    label = csv_number(pairs.labels[pair]) if pairs.labelled else ""
    return [pairs.first[pair], pairs.second[pair], label, csv_number(float(e.batch.scores[pair]))]


class _Names:
    """Names of rows, columns and terms in a table."""

    def __init__(self, exploration: Exploration) -> None:
        self.pairs = exploration.batch.pairs
        self.numbers = pair_numbers(exploration)

    def of_place(self, axis: Axis, place: int) -> str:
        pair, sentence = (
            behind[place] if place < len(behind) else -1 for behind in (axis.pairs, axis.sentences)
        )
        number = self.number(axis.name, axis.items[place], pair)
        return ": ".join(filter(None, (number, self.words(axis.name, pair, sentence))))

    def number(self, axis: str, item: int, pair: int) -> str:
        by_pair = axis in NAMED_BY_PAIR and pair >= 0
        number = self.numbers[pair] if by_pair else item + 1
        if axis == "level_pair":  # the levels stand below each other
            return f"level {item // len(self.pairs) + 1}, pair {number}"
        return f"{say('en', f'axis.one.{axis}') if axis else 'place'} {number}"

    def words(self, axis: str, pair: int, sentence: int) -> str:
        if axis not in PAIRED and sentence >= 0:
            return self.pairs.sentences[sentence]
        return f"{self.pairs.first[pair]} | {self.pairs.second[pair]}" if pair >= 0 else ""


def csv_text(heads: Sequence[str], body: Iterable[Sequence[object]]) -> str:
    """Return a table as the text of a file of CSV."""
    out = io.StringIO()
    write_csv(out, heads, body)
    return out.getvalue()


def write_csv(out: TextIO, heads: Sequence[str], body: Iterable[Sequence[object]]) -> None:
    """Write RFC 4180: commas, quotes where needed, CR LF."""
    writer = csv.writer(out)
    writer.writerow(map(harmless, heads))
    writer.writerows(map(harmless, row) for row in body)


def harmless(cell: object) -> object:
    """Return a table cell that no spreadsheet runs: an apostrophe before a text that begins like a
    formula."""
    if not isinstance(cell, str):
        return cell
    cell = cell.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return f"'{cell}" if _STARTS_A_FORMULA.match(cell) else cell
