"""Notations of the labels of one column: numbers, yes and no, or kinds of inference.

One column has one notation. A column of two, such as yes and no beside entailment, is ambiguous,
and is refused with advice; a cell in another notation makes its row unusable.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.sources.cells import (
    ABSENT,
    is_blank,
    label_word,
    listed_in,
    number_in,
    read_inference,
    shortened,
)
from lossprism.explorer.sources.column_roles import NO_SCORE
from lossprism.explorer.sources.label_words_to_scores import (
    INFERENCE,
    INFERENCE_LETTERS,
    INFERENCE_SCORES,
    NO_INFERENCE,
    TWO_WAY_INFERENCE,
    YES_NO,
)

# The share of a column's labels that are written in one way; fewer, and it is unclear which.
CLEAR_SHARE = 0.9
# Of words that are not known, those that are shown.
SHOWN_WORDS = 5
_BINARY = frozenset((0.0, 1.0))
_INFERENCE_NUMBERS = frozenset(map(float, INFERENCE.values()))


class Kind(StrEnum):
    """A notation of labels."""

    NUMBER = "number"
    YES_NO = "yes_no"
    INFERENCE = "inference"
    TWO_WAY_INFERENCE = "two_way_inference"
    INFERENCE_LETTERS = "inference_letters"


_WORDS: Mapping[Kind, Mapping[str, float]] = {
    Kind.YES_NO: YES_NO,
    Kind.INFERENCE: INFERENCE_SCORES,
    Kind.TWO_WAY_INFERENCE: TWO_WAY_INFERENCE,
    Kind.INFERENCE_LETTERS: INFERENCE_LETTERS,
}


@dataclass(frozen=True)
class LabelKind:
    """The notation of a column's labels.

    `numbered`: numbers may stand among its words: 0 and 1 for yes and no, and the numbers of
    inference where the columns are called premise and hypothesis. With `unjudged`, −1 marks a pair
    that was not judged, as in relevance judgements of whole degrees from 0 on.
    """

    kind: Kind = Kind.NUMBER
    numbered: bool = True
    unjudged: bool = False

    @property
    def is_inference(self) -> bool:
        """True if the labels are the three kinds of inference."""
        return self.kind in (Kind.INFERENCE, Kind.INFERENCE_LETTERS)

    def word_label(self, value: object, column: str) -> float | None:
        """Return the label of a cell that holds a word; None where it is to be read as a number.

        Raises Problem if the column is not written in such words.
        """
        word = label_word(value)
        if self.kind is Kind.INFERENCE:
            if word is None and not self.numbered and number_in(value) is not None:
                raise Problem("inference_label", column=column, value=shortened(value))
            return read_inference(value, column)
        if word is None:
            return None
        words = _WORDS.get(self.kind, YES_NO if self.numbered else {})
        if word not in words:
            raise Problem("label_written_otherwise", column=column, value=shortened(value))
        return words[word]

    def number_label(self, number: float, value: object, column: str) -> float:
        """Return the label of a cell that holds this number.

        Raises Problem if the column is written in words that are not numbered, or if the pair was
        not judged.
        """
        if self.unjudged and number == -1:
            raise Problem("label_not_judged", column=column)
        if self.kind is not Kind.NUMBER and number not in _BINARY:
            raise Problem("label_written_otherwise", column=column, value=shortened(value))
        return number


def numbered_inference(cells: Iterable[object], column: str) -> LabelKind:
    """Return the notation of the numbers of a column beside premise and hypothesis: kinds, if they
    are 0, 1 and 2.

    Raises Problem where there are fewer than these three: 0 and 1 may be entailment and neutral, or
    no and yes.
    """
    numbers = (number_in(cell) for cell in cells if str(cell).strip() not in NO_INFERENCE)
    distinct = {number for number in numbers if number is not None}
    if not distinct <= _INFERENCE_NUMBERS:
        return LabelKind(numbered=distinct <= _BINARY)
    if distinct == _INFERENCE_NUMBERS:
        return LabelKind(Kind.INFERENCE)
    shown = ", ".join(f"{number:g}" for number in sorted(distinct))
    raise Problem("labels_some_kinds", about="columns", column=column, numbers=shown)


def label_kind(
    cells: Iterable[object], column: str, named_inference: bool, of_queries: bool = False
) -> LabelKind:
    """Return the notation of a column's labels, by its cells.

    Args:
        cells: the column's, in which a list has a label for each candidate.
        column: its name, for messages.
        named_inference: the two texts are called premise and hypothesis, beside which 0, 1 and 2
            are kinds and no degrees.
        of_queries: the first text is called a query or a question, whose documents have whole
            degrees of relevance.

    Raises Problem if the labels can be read in two ways, or if an unknown word is more than the odd
    cell.
    """
    labels = [
        label
        for cell in cells
        for label in _labels_in(cell)
        if str(label).strip() not in NO_INFERENCE
    ]
    if _are_letters_of_inference(labels):
        return LabelKind(Kind.INFERENCE_LETTERS, numbered=False)
    _check_words(labels, column)
    kinds = [(kind, label) for label in labels if (kind := _kind_of(label)) is not None]
    counts = Counter(kind for kind, _ in kinds)
    examples = dict(reversed(kinds))
    numbers = {number_in(label) for kind, label in kinds if kind is Kind.NUMBER}
    if counts[Kind.TWO_WAY_INFERENCE]:  # the word for the other of the two belongs to both
        words = {label_word(label) for kind, label in kinds if kind is Kind.INFERENCE}
        if words <= TWO_WAY_INFERENCE.keys():
            counts[Kind.TWO_WAY_INFERENCE] += counts.pop(Kind.INFERENCE, 0)
    if named_inference and numbers <= _INFERENCE_NUMBERS and counts[Kind.INFERENCE]:
        return LabelKind(Kind.INFERENCE)
    if numbers <= _BINARY and set(+counts) == {Kind.YES_NO, Kind.NUMBER}:
        return LabelKind(Kind.YES_NO, unjudged=True)
    if not counts:
        return LabelKind()
    (kind, count), *others = counts.most_common()
    if others and count < CLEAR_SHARE * counts.total():
        one, other = (shortened(examples[each]) for each in (kind, others[0][0]))
        raise Problem("labels_mixed", about="columns", column=column, one=one, other=other)
    if kind is Kind.NUMBER:
        degrees = 0 in numbers and all(
            one is not None and one >= 0 and one % 1 == 0 for one in numbers
        )
        # Of −1, 0 and 1 alone −1 may be the lower end of a scale as well.
        degrees = degrees and (of_queries or max(filter(None, numbers), default=0) > 1)
        return LabelKind(kind, numbered=numbers <= _BINARY, unjudged=degrees)
    return LabelKind(kind, numbered=kind is Kind.YES_NO, unjudged=kind is Kind.YES_NO)


def _are_letters_of_inference(labels: Sequence[object]) -> bool:
    """True if all labels are e, n or c; n alone is a no."""
    words = set(map(label_word, labels))
    return words <= INFERENCE_LETTERS.keys() and not words <= {"n"}


def _check_words(labels: Sequence[object], column: str) -> None:
    """Raise Problem if an unknown word stands for a class of the pairs, where these are no degrees:
    leaving out its rows would leave out that class."""
    texts = (label for label in labels if isinstance(label, str) and _kind_of(label) is None)
    words = Counter(word for text in texts if (word := text.strip().casefold()) not in ABSENT)
    are_degrees = len({number_in(label) for label in labels} - {None}) > 1
    often = max(1, (1 - CLEAR_SHARE) * len(labels))
    is_class = not are_degrees and any(count > often for count in words.values())
    if not is_class and words.total() <= len(labels) / 2:
        return
    shown = ", ".join(f"“{shortened(word)}”" for word, _ in words.most_common(SHOWN_WORDS))
    more = ", …" if len(words) > SHOWN_WORDS else ""
    raise Problem(
        "labels_unknown", about="columns", column=column, words=shown + more, none=NO_SCORE
    )


def _labels_in(cell: object) -> list[object]:
    try:
        return [] if is_blank(cell) else listed_in(cell)
    except Problem:  # a list that is too long is reported where its row is read
        return []


def _kind_of(label: object) -> Kind | None:
    word = label_word(label)
    if word is None:
        return None if number_in(label) is None else Kind.NUMBER
    return next(kind for kind, words in _WORDS.items() if word in words)
