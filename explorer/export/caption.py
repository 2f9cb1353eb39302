"""Where the numbers of an exploration come from, in words: loss, parameters, data, encoder."""

from __future__ import annotations

from dataclasses import dataclass

from explorer.core.batch import Batch, load_table
from explorer.core.explore import Exploration
from explorer.core.models import encoder_of, has_words
from explorer.core.scenario import Data
from explorer.export.figure.svg import clipped
from explorer.locale import catalogue, parameter_word, say, spelled, title_word
from explorer.runtime.numbers import display_number, percent
from explorer.sources.random_batch import RandomBatch
from explorer.sources.textbook import EXAMPLES
from losses import Parameter
from losses.labels import COSINES, UNIT


@dataclass(frozen=True)
class Legend:
    """What stands above and below a figure: what the loss is called, its formula in LaTeX ("" for
    none), and a sentence in each line of the caption."""

    title: str
    formula: str
    caption: list[str]


def told_of(exploration: Exploration, language: str = "en", origin: str = "") -> Legend:
    """What is told of an exploration around its figures; `origin` as `caption` has it."""
    e = exploration
    written = e.spec.formula_at(**e.parameters) or ""
    return Legend(title_of(e, language), written, caption(e, language, origin))


def caption(exploration: Exploration, language: str = "en", origin: str = "") -> list[str]:
    """What the numbers are and where they come from, a sentence in each entry.

    `origin` says where they come from in place of the scenario, where that is not the whole story.
    """
    e, said = exploration, []
    parts = [say(language, "figure_text.loss", loss=display_number(e.loss, 6))]
    for name, value in landmarks_of(e):
        parts.append(f"{say(language, f'figure.{name}')} {display_number(value)}")
    if e.places:
        values = {"part": e.places.first, "all": e.places.anchors}
        parts.append(say(language, f"figure_text.first_{e.places.kind}", **values))
    elif e.order.ordered:
        values = {"part": e.order.violated, "all": e.order.ordered}
        parts.append(say(language, "figure_text.violated", **values))
    said.append(" · ".join(parts))
    rules = [
        parameter_words(language, one, value)
        for one in e.spec.parameters
        if (value := e.parameters[one.name]) is not None
    ]
    rules += _labels(language, e)
    if e.leaves_same_text_out:
        rules.append(say(language, "figure_text.same_text_left_out"))
    said += [" · ".join(rules)] if rules else []
    told = (_data(e, language), _similarities(e, language), *_asked(e, language))
    whence = origin or " · ".join(filter(None, told))
    return [*said, whence]


def _labels(language: str, e: Exploration) -> list[str]:
    """How the labels were read, where the loss asks for more than their order."""
    low, high = map(display_number, e.batch.label_range)
    said = {"low": low, "high": high, "threshold": display_number(e.batch.threshold)}
    if e.spec.by_threshold:
        return [say(language, "figure_text.positive_from", **said)]
    targets = e.spec.by_range and e.batch.label_range not in (UNIT, COSINES)
    return [say(language, "figure_text.targets", **said)] if targets else []


def landmarks_of(e: Exploration) -> list[tuple[str, float]]:
    """Floor (or bound) and collapse value, each with the word for it, where they are known."""
    known = [("bound" if e.floor_is_bound else "floor", e.floor), ("collapse", e.collapse)]
    return [(name, value) for name, value in known if value is not None]


def title_of(exploration: Exploration, language: str) -> str:
    """What the loss is called, and by whose convention."""
    spec = exploration.spec
    name = spelled(language, "loss", title_word(spec))
    return " · ".join(filter(None, (name, exploration.scenario.convention)))


def parameter_words(
    language: str, parameter: Parameter, value: float | bool | str | tuple[float, ...]
) -> str:
    """A parameter and its value: λ = 20."""
    known = catalogue(language)
    name = spelled(language, "name", parameter_word(parameter.name))
    if parameter.kind == "switch":
        shown = say(language, "ui.yes" if value else "ui.no")
    elif parameter.kind == "choice":
        shown = known.get(f"choice.{value}", str(value))
    elif isinstance(value, tuple):
        shown = ", ".join(map(display_number, value))
    else:
        shown = display_number(float(value))
    return f"{name} = {shown}"


def random_words(settings: RandomBatch, count: int, language: str) -> str:
    """How random pairs were drawn."""
    kinds = say(language, f"random.labels.{settings.labels}")
    numbers = {
        "seed": settings.seed,
        "dimension": settings.dimension,
        "agreement": display_number(settings.agreement),
        "mislabelled": percent(settings.mislabelled),
        "hard": percent(settings.hard_negatives),
        "imbalance": display_number(settings.imbalance),
    }
    said = say(language, "figure_text.data_random", count=count, labels=kinds, **numbers)
    if settings.candidates == 1:
        return said
    return said + say(language, "figure_text.data_lists", candidates=settings.candidates)


def _data(e: Exploration, language: str) -> str:
    data, count = e.scenario.data, len(e.batch)
    if data.source == "example":
        title = say(language, EXAMPLES[data.example].title)
        return say(language, "figure_text.data_example", name=title, count=count)
    if data.source == "random":
        return random_words(data.random, count, language)
    if data.file:
        name = clipped(data.file, 400, 12.5)
        return say(language, "figure_text.data_file", count=count, name=name)
    return say(language, "figure_text.data_typed", count=count)


def _similarities(e: Exploration, language: str) -> str:
    data = e.scenario.data
    if data.source == "random":
        return ""
    if data.cross_encoder:
        return say(language, "ui.cross_now", name=clipped(data.cross_encoder, 300, 12.5))
    if e.batch.given is not None:
        return say(language, "figure_text.scores_given")
    if data.source == "example" and not EXAMPLES[data.example].encodable:
        return say(language, "figure_text.vectors_given")
    return say(language, "ui.encoder_now", name=clipped(encoder_of(data), 300, 12.5))


def _asked(e: Exploration, language: str) -> list[str]:
    """The second models that the loss asks, if it asks any."""
    data, said = e.scenario.data, []
    if e.spec.reads_guide and e.batch.guide is None:
        said.append(say(language, "ui.guide_own"))
    elif e.spec.reads_guide and data.source == "random":
        agreement = display_number(data.random.guide)
        said.append(say(language, "ui.guide_drawn", agreement=agreement))
    elif e.spec.reads_guide and not data.guide:
        said.append(say(language, "ui.guide_given"))
    elif e.spec.reads_guide:
        said.append(say(language, "ui.guide_now", name=clipped(data.guide, 300, 12.5)))
    if e.spec.reads_teacher and data.teacher_model and has_words(data):
        said.append(say(language, "ui.teacher_now", name=clipped(data.teacher_model, 300, 12.5)))
    return said


def pair_numbers(exploration: Exploration) -> list[int]:
    """What a person calls each pair: the number of its row, where rows were left out between."""
    return numbers_of(exploration.scenario.data, exploration.batch)


def numbers_of(data: Data, batch: Batch) -> list[int]:
    """The same, of a batch made from this data."""
    places = batch.pairs.places
    used = _rows_used(data.rows) if data.source == "table" else []
    if places is None:
        return used if len(used) == len(batch) else list(range(1, len(batch) + 1))
    return [used[place] if used else place + 1 for place in places]


def _rows_used(rows: tuple[tuple[str, str, str], ...]) -> list[int]:
    """The numbers of the rows that are pairs."""
    skipped = {row.row for row in load_table(rows).skipped}
    return [
        number
        for number, row in enumerate(rows, 1)
        if number not in skipped and any(cell.strip() for cell in row)
    ]
