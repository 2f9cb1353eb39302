"""The user's choices as one frozen value that fits into a link.

Pages, server and browser share no other state. A scenario converts to JSON and to a compressed,
versioned text, and back.
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import itertools
import json
import math
import zlib
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from lossprism.explorer.core.loss_lookup import name_as_registered
from lossprism.explorer.runtime import validation
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.json_reading import read_json
from lossprism.explorer.runtime.limits import MIB, SCENARIO_BYTES
from lossprism.explorer.runtime.problem import Problem, Value, logged
from lossprism.explorer.runtime.response_field_types import Setting
from lossprism.explorer.runtime.response_parent_classes import as_answer
from lossprism.explorer.sources.drawn_batches import RANGES, SAMPLERS, Draw
from lossprism.explorer.sources.encoders import EMBEDDED
from lossprism.explorer.sources.guide_vectors_in_base64 import EncodedVector, decoded_vector
from lossprism.explorer.sources.pairs import Correction
from lossprism.explorer.sources.random_batch import RandomBatch

# That a row takes beside its letters.
ROW_BYTES = 64
LINK_VERSION = "1"

SOURCES = ("example", "table", "random")
FACETS = ("value", "mask", "weight", "gradient")
ORDERS = ("entry", "label", "score")
TWINS = ("keep", "leave_out")


@dataclass(frozen=True)
class Reading:
    """Facts about the file that the rows in use come from, for a reader of the link.

    `total` counts its rows, `whole` their pairs. The rows in use are the batch of this `draw`, of
    `batches` in the first epoch; if rows hold several pairs, all pairs of `batch_rows` rows.
    `label_range` is the scale of all labels in the file. In a link older than draws, which has no
    size, they are the first rows or, if `drawn`, random ones, of more than fit (`limited`).
    `reasons` are the first few of the `left_out` rows: number in the file, key of the problem's
    sentence, and its values.
    """

    total: int = 0
    encoding: str = ""
    limited: bool = False
    drawn: bool = False
    whole: int = 0
    draw: Draw = field(default_factory=Draw)
    batches: int = 0
    batch_rows: int = 0
    label_range: tuple[float, float] | None = None
    left_out: int = 0
    reasons: tuple[tuple[int, str, tuple[tuple[str, Value], ...]], ...] = ()


@dataclass(frozen=True)
class Data:
    """The pairs and the sources of their similarities.

    `rows` are the typed or uploaded (sentence, sentence, score) as text, exactly as entered,
    `teacher` the scores of another model from a column of the file, likewise by sentences, and
    `guided` a second encoder's vectors of the sentences from its columns, as base64 of
    little-endian float32. `file` is the file's name, `reading` the facts about it. The scores of a
    `cross_encoder` replace the encoder's cosines. `guide` is a second encoder for losses that
    filter negatives by one; "" takes the vectors in `guided` or, without those, the batch's own,
    detached. The cosines of `teacher_model`, or its scores if it is a cross-encoder, replace the
    column of a teacher. `corrections` (sentence, sentence, label) replace the label, as text, of
    the pairs of two sentences; "" drops them.
    """

    source: str = "example"
    example: str = "graded_english"
    rows: tuple[tuple[str, str, str], ...] = ()
    teacher: tuple[tuple[str, str, str], ...] = ()
    guided: tuple[EncodedVector, ...] = ()
    file: str = ""
    reading: Reading = field(default_factory=Reading)
    random: RandomBatch = field(default_factory=RandomBatch)
    encoder: str = EMBEDDED
    cross_encoder: str = ""
    guide: str = ""
    teacher_model: str = ""
    corrections: tuple[Correction, ...] = ()


@dataclass(frozen=True)
class Rules:
    """Rules that turn scored pairs into positives, negatives, classes and prototypes.

    `label_range`: the scale of the scores; None fits it to them
    (`losses.labels.label_range_of`). `threshold`: pairs with at least this score are positive;
    None is the middle of the scale, or for inference labels that of entailment. `extra_negatives`:
    the other pairs' second sentences are keys too. `prototypes`: one row of numbers per class, as
    text; empty for the class means. `twins`: keep or leave out negatives with the text of the query
    or of its own key.
    """

    threshold: float | None = None
    label_range: tuple[float, float] | None = None
    extra_negatives: bool = True
    prototypes: str = ""
    twins: str = "keep"


@dataclass(frozen=True)
class View:
    """The view of the trace: a step by its place, one facet of it, the order, a pinned cell, and
    the `marked` pairs by their places in the batch.

    `colour_range` are the values at both ends of the colours; None takes those of the step.
    """

    step: int | None = None
    facet: str = "value"
    order: str = "label"
    pinned: tuple[int, int] | None = None
    marked: tuple[int, ...] = ()
    colour_range: tuple[float, float] | None = None


@dataclass(frozen=True)
class SentScenario:
    """The scenario as a page has it, with parameters by name."""

    data: Data
    rules: Rules
    loss: str
    convention: str
    parameters: dict[str, Setting]
    view: View


@dataclass(frozen=True)
class Scenario:
    """Everything the user chose."""

    data: Data = field(default_factory=Data)
    rules: Rules = field(default_factory=Rules)
    loss: str = "cosent"
    convention: str = ""
    parameters: tuple[tuple[str, object], ...] = ()
    view: View = field(default_factory=View)

    def __post_init__(self) -> None:
        name_as_registered(self)

    def to_json(self) -> dict[str, object]:
        return dataclasses.asdict(self.sent())

    def sent(self) -> SentScenario:
        return as_answer(SentScenario, self, parameters=dict(self.parameters))

    @classmethod
    def from_json(cls, chosen: object) -> Scenario:
        """Read the output of `to_json`, or any part of it; missing entries have their defaults.

        Raises:
            Problem: naming the first entry that does not fit.
        """
        read = validation.read(cls, chosen, "scenario", _READERS, _unknown)
        rows = (*read.data.rows, *read.data.corrections, *read.data.guided)
        size = sum(map(len, itertools.chain.from_iterable(rows))) + ROW_BYTES * len(rows)
        if size > (limit := budget("scene_mib")) * MIB:
            raise logged(Problem("scene_too_large_here", most=limit))
        return read

    def shown(self) -> Scenario:
        """Return the scenario without rows that are not in use, so that a link to an example does
        not include what its sender typed before."""
        if self.data.source == "table":
            return self
        mine = {"rows": (), "teacher": (), "guided": (), "file": "", "reading": Reading()}
        data = dataclasses.replace(self.data, **mine)
        return dataclasses.replace(self, data=data)

    def to_link(self) -> str:
        """Return a short text for the end of a URL: version, dot, deflated JSON of changes."""
        text = json.dumps(_differences(self.to_json(), Scenario().to_json()), ensure_ascii=False)
        squeezed = zlib.compress(text.encode("utf-8", "surrogatepass"), 9)
        return f"{LINK_VERSION}.{base64.urlsafe_b64encode(squeezed).decode().rstrip('=')}"

    @classmethod
    def from_text(cls, text: str) -> Scenario:
        """Read the text of a scenario file."""
        try:
            chosen = read_json(text.removeprefix("\ufeff"))  # the mark that some editors write
        except ValueError as damage:
            raise Problem("scene_file_damaged") from damage
        return cls.from_json(chosen)

    @classmethod
    def from_link(cls, link: str) -> Scenario:
        """Read a link: the whole address that "Copy link" copies, or the piece that is the
        scenario.

        A loss at the end, ``1.….siglip``, replaces the scenario's own, with its defaults, so that
        one text of the rows serves many losses.

        Raises:
            Problem: for an unknown version, and another one for a damaged link.
        """
        version, _, body = _link_in(link).partition(".")
        body, _, loss = body.partition(".")
        if not (version.isdecimal() and body):  # it is none, or no whole one
            raise Problem("link_damaged")
        if version != LINK_VERSION:
            raise Problem("link_version", version=version[:12], known=LINK_VERSION)
        try:
            packed = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
            unpacker = zlib.decompressobj()
            text = unpacker.decompress(packed, SCENARIO_BYTES)  # ours never unpack to more
            if not unpacker.eof:
                raise Problem("link_damaged")
            chosen = read_json(text.decode("utf-8", "surrogatepass"))
        except (binascii.Error, zlib.error, ValueError) as damage:
            raise Problem("link_damaged") from damage
        scenario = cls.from_json(chosen)
        return scenario.with_loss(loss) if loss else scenario

    def with_loss(self, loss: str) -> Scenario:
        """Return the same rows and rules with another loss and its defaults."""
        return dataclasses.replace(self, loss=loss, convention="", parameters=(), view=View())


def _link_in(address: str) -> str:
    """Return the scenario in an address: its query's `scene`, or what follows "#"."""
    before, mark, after = address.strip().rpartition("#")
    if mark and after:
        return after
    named = parse_qs(urlsplit(before or after).query).get("scene")
    return named[0] if named else after


def _differences(chosen: dict, default: dict) -> dict:
    """Return the entries that differ from the default, recursively."""
    changed: dict[str, object] = {}
    for key, value in chosen.items():
        if isinstance(value, dict) and isinstance(default.get(key), dict) and default[key]:
            value = _differences(value, default[key])
            if value:
                changed[key] = value
        elif value != default.get(key):
            changed[key] = value
    return changed


def _unknown(where: str) -> Problem:
    return Problem("scenario_unknown", where=where)


def _reasons(value: Any, where: str) -> object:
    try:
        return tuple(
            (
                validation.whole(row, where),
                str(key),
                tuple((str(name), str(text)) for name, text in values),
            )
            for row, key, values in value
        )
    except (TypeError, ValueError, OverflowError) as error:  # int() of infinity overflows
        raise validation.invalid_value(where, value) from error


def _guided(value: Any, where: str) -> tuple[EncodedVector, ...]:
    """Read sentences with a vector each, all of one length."""
    rows, widths = validation.rows(2)(value, where), set()
    for number, (_, vector) in enumerate(rows, 1):
        try:
            widths.add(len(decoded_vector(vector)))
        except ValueError as error:
            raise validation.invalid_value(f"{where}[{number}]", vector) from error
        if len(widths) > 1:
            raise validation.invalid_value(f"{where}[{number}]", vector)
    return rows


def _number(value: Any, where: str) -> float:
    number = validation.like(0.0)(value, where)
    if number != number:
        raise validation.invalid_value(where, value)
    return number


def _cell(value: object, where: str) -> tuple[int, int]:
    places = value if isinstance(value, list | tuple) else ()
    if len(places) != 2:
        raise validation.invalid_value(where, value)
    row, column = (validation.integer(place, where) for place in places)
    return row, column


def _places(value: object, where: str) -> tuple[int, ...]:
    places = validation.of_type(list, tuple)(value, where)
    return tuple(validation.integer(place, where) for place in places)


def read_colour_range(value: object, where: str) -> tuple[float, float]:
    ends = value if isinstance(value, list | tuple) else ()
    if len(ends) != 2:
        raise validation.invalid_value(where, value)
    low, high = (_number(end, where) for end in ends)
    if not -math.inf < low <= high < math.inf:
        raise validation.invalid_value(where, value)
    return low, high


def _of_draw(name: str) -> validation.Reader:
    """Return a reader for a number of a `Draw`, in its range or at its default (unknown)."""
    low, high = RANGES[name]
    default = getattr(Draw(), name)

    def fits(value: Any, where: str) -> int:
        if validation.integer(value, where) != default and not low <= value <= high:
            raise validation.invalid_value(where, value)
        return value

    return fits


DRAW_READERS: validation.Readers = {
    (Draw, "sampler"): validation.one_of(SAMPLERS),
    **{(Draw, name): _of_draw(name) for name in RANGES},
}
_READERS: validation.Readers = {
    (Data, "source"): validation.one_of(SOURCES),
    **DRAW_READERS,
    (Data, "rows"): validation.rows(3),
    (Data, "teacher"): validation.rows(3),
    (Data, "guided"): _guided,
    (Data, "corrections"): validation.rows(3),
    (Reading, "label_range"): validation.optional(validation.label_range),
    (Reading, "reasons"): _reasons,
    (Rules, "threshold"): validation.optional(_number),
    (Rules, "label_range"): validation.optional(validation.label_range),
    (Rules, "twins"): validation.one_of(TWINS),
    (Scenario, "parameters"): validation.parameters,
    (View, "step"): validation.optional(validation.integer),
    (View, "facet"): validation.one_of(FACETS),
    (View, "order"): validation.one_of(ORDERS),
    (View, "pinned"): validation.optional(_cell),
    (View, "marked"): _places,
    (View, "colour_range"): validation.optional(read_colour_range),
}

# What Explore opens with: the default scenario, and of its terms the weights.
OPENING = Scenario(view=View(facet="weight"))
