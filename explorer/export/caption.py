"""Origin of an exploration's numbers in words: loss, parameters, data, encoder."""

from dataclasses import dataclass

from lossprism.explorer.core.batch import Batch, load_table
from lossprism.explorer.core.explore import Exploration
from lossprism.explorer.core.models_of_scenario import encoder_of, has_words
from lossprism.explorer.core.scenario import Data
from lossprism.explorer.export.figure.text_layout import clipped
from lossprism.explorer.locale import catalogue, parameter_word, say, spelled, title_word
from lossprism.explorer.runtime.number_format import display_number, percent
from lossprism.explorer.sources.encoders.uploaded_vectors import file_of
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.sources.textbook import EXAMPLES
from lossprism.losses import Parameter
from lossprism.losses.labels import COSINES, UNIT


@dataclass(frozen=True)
class FigureText:
    """Text above and below a figure: the title of the loss, its formula in LaTeX ("" for none), and
    the sentences of the caption."""

    title: str
    formula: str
    caption: list[str]


def figure_text_of(exploration: Exploration, language: str = "en", origin: str = "") -> FigureText:
    """Return the text around an exploration's figures; `origin` as for `caption`."""
    e = exploration
    formula = e.spec.formula_at(**e.parameters) or ""
    return FigureText(title_of(e, language), formula, caption(e, language, origin))


def caption(exploration: Exploration, language: str = "en", origin: str = "") -> list[str]:
    """Return sentences on the numbers and their origin, with the first parameter and those that
    differ from their defaults.

    `origin` replaces the scenario's own description of the origin if that is incomplete.
    """
    e, lines = exploration, []
    parts = [say(language, "figure_text.loss", loss=display_number(e.loss, 6))]
    for name, value in reference_values_of(e):
        parts.append(f"{say(language, f'figure.{name}')} {display_number(value)}")
    if e.places:
        values = {"part": e.places.first, "all": e.places.anchors}
        parts.append(say(language, f"figure_text.first_{e.places.kind}", **values))
    elif e.order.ordered:
        values = {"part": e.order.violated, "all": e.order.ordered}
        parts.append(say(language, "figure_text.violated", **values))
    lines.append(" · ".join(parts))
    rules = [
        parameter_words(language, one, value)
        for place, one in enumerate(e.spec.parameters)
        if (value := e.parameters[one.name]) is not None
        if place == 0 or value != one.default
    ]
    rules += _labels(language, e)
    if e.leaves_same_text_out:
        rules.append(say(language, "figure_text.same_text_left_out"))
    lines += [" · ".join(rules)] if rules else []
    sources = (_data(e, language), _similarities(e, language), *_second_models(e, language))
    whence = origin or " · ".join(filter(None, sources))
    return [*lines, whence]


def _labels(language: str, e: Exploration) -> list[str]:
    """Describe the reading of labels, for a loss that uses more than their order."""
    low, high = map(display_number, e.batch.label_range)
    values = {"low": low, "high": high, "threshold": display_number(e.batch.threshold)}
    if e.spec.by_threshold:
        return [say(language, "figure_text.positive_from", **values)]
    targets = e.spec.by_range and e.batch.label_range not in (UNIT, COSINES)
    return [say(language, "figure_text.targets", **values)] if targets else []


def reference_values_of(e: Exploration) -> list[tuple[str, float]]:
    """Return the minimum (or bound) and the value at collapse, with their names, if known."""
    known = [("bound" if e.floor_is_bound else "floor", e.floor), ("collapse", e.collapse)]
    return [(name, value) for name, value in known if value is not None]


def title_of(exploration: Exploration, language: str) -> str:
    """Return the title of the loss with its convention."""
    spec = exploration.spec
    name = spelled(language, "loss", title_word(spec))
    return " · ".join(filter(None, (name, exploration.scenario.convention)))


def parameter_words(
    language: str, parameter: Parameter, value: float | bool | str | tuple[float, ...]
) -> str:
    """Return a parameter and its value: λ = 20."""
    words = catalogue(language)
    name = spelled(language, "name", parameter_word(parameter.name))
    if parameter.kind == "switch":
        shown = say(language, "ui.yes" if value else "ui.no")
    elif parameter.kind == "choice":
        shown = words.get(f"choice.{value}", str(value))
    elif isinstance(value, tuple):
        shown = ", ".join(map(display_number, value))
    else:
        shown = display_number(float(value))
    return f"{name} = {shown}"


def random_words(settings: RandomBatch, count: int, language: str) -> str:
    """Describe the distribution of random pairs."""
    kinds = say(language, f"random.labels.{settings.labels}")
    numbers = {
        "seed": settings.seed,
        "dimension": settings.dimension,
        "agreement": display_number(settings.agreement),
        "mislabelled": percent(settings.mislabelled),
        "hard": percent(settings.hard_negatives),
        "imbalance": display_number(settings.imbalance),
    }
    words = say(language, "figure_text.data_random", count=count, labels=kinds, **numbers)
    if settings.candidates == 1:
        return words
    return words + say(language, "figure_text.data_lists", candidates=settings.candidates)


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
    return say(language, "ui.encoder_now", name=clipped(file_of(encoder_of(data)), 300, 12.5))


def _second_models(e: Exploration, language: str) -> list[str]:
    """Describe the guide and teacher that the loss uses, if any."""
    data, sentences = e.scenario.data, []
    if e.spec.reads_guide and e.batch.guide is None:
        sentences.append(say(language, "ui.guide_own"))
    elif e.spec.reads_guide and data.source == "random":
        agreement = display_number(data.random.guide)
        sentences.append(say(language, "ui.guide_drawn", agreement=agreement))
    elif e.spec.reads_guide and not data.guide:
        sentences.append(say(language, "ui.guide_given"))
    elif e.spec.reads_guide:
        sentences.append(say(language, "ui.guide_now", name=clipped(data.guide, 300, 12.5)))
    if e.spec.reads_teacher and data.teacher_model and has_words(data):
        sentences.append(
            say(language, "ui.teacher_now", name=clipped(data.teacher_model, 300, 12.5))
        )
    return sentences


def pair_numbers(exploration: Exploration) -> list[int]:
    """Return the user's number of each pair: that of its row, if rows were left out between."""
    return numbers_of(exploration.scenario.data, exploration.batch)


def numbers_of(data: Data, batch: Batch) -> list[int]:
    """Return the pair numbers of a batch made from this data."""
    places = batch.pairs.places
    used = _rows_used(data.rows) if data.source == "table" else []
    if places is None:
        return used if len(used) == len(batch) else list(range(1, len(batch) + 1))
    return [used[place] if used else place + 1 for place in places]


def _rows_used(rows: tuple[tuple[str, str, str], ...]) -> list[int]:
    """Return the numbers of the rows that are pairs."""
    skipped = {row.row for row in load_table(rows).skipped}
    return [
        number
        for number, row in enumerate(rows, 1)
        if number not in skipped and any(cell.strip() for cell in row)
    ]
