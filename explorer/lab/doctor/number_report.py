"""The report on a number: its explanation as lines of text, and as the answer of API and page."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lossprism.explorer.core.parameter_values import Settings
from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import max_batch_pairs
from lossprism.explorer.lab.doctor.findings_from_number_matches import Finding
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import Known
from lossprism.explorer.lab.doctor.losses_with_known_name_and_settings import possible_losses
from lossprism.explorer.lab.doctor.minimum_for_unknown_labels_or_scores import ends_of_labels
from lossprism.explorer.lab.doctor.number_matching import LossMatch
from lossprism.explorer.lab.doctor.number_position import Position
from lossprism.explorer.lab.doctor.possible_meanings_of_number import Explanation
from lossprism.explorer.lab.doctor.reference_values import COLLAPSE, FLOOR, START, sharpening
from lossprism.explorer.lab.doctor.values_of_losses_without_definition import (
    LOSSES_WITHOUT_DEFINITION,
    loss_without_definition,
)
from lossprism.explorer.locale import Word, parameter_word, say, spelled, title_word, word
from lossprism.explorer.runtime.limits import EXPLORED_PAIRS
from lossprism.explorer.runtime.number_format import display_number, percent, typed
from lossprism.explorer.runtime.response_field_types import Setting
from lossprism.explorer.runtime.response_parent_classes import Answer, Whole, as_answer
from lossprism.losses import LOSSES
from lossprism.losses.labels import Ends

ZERO_TOLERANCE = 1e-9
MAX_NAMED_LOSSES = 6  # in a sentence, which counts the others
MAX_FINDINGS, MAX_LOSSES = 8, 16  # of an answer, and of each of its findings
# Counts that may be unknown, in the order in which a sentence names them.
UNKNOWN_COUNTS = ("batch", "candidates", "classes", "negatives_per_query", "ordered", "dimension")


def lines(explanation: Explanation, language: str = "en") -> Iterator[str]:
    """Yield the report of a number: its position, then each finding with its reasons, likeliest
    first."""
    if explanation.count > 1:
        mean = typed(explanation.value)
        yield say(language, "doctor.mean_of", count=explanation.count, value=mean)
    if explanation.position is not None and explanation.position.place != "negative":
        yield position_sentence(explanation.position, explanation.value, language)
        yield ""
    yield from _signs(explanation, language)
    if loss_without_definition(explanation.known.loss):
        yield from _without_definition(explanation, language)
        return
    if not explanation.findings:
        yield no_finding_sentence(explanation, language)
    shown = listed(explanation)
    for place, finding in enumerate(shown):
        following = shown[place + 1] if place + 1 < len(shown) and explanation.findings else None
        if explanation.findings and not finding.exact:
            yield say(language, "doctor.near", value=typed(explanation.value))
        yield finding_sentence(finding, language)
        yield from (f"   {one}" for one in beside(finding, following, language))
    yield from _without_definition(explanation, language)
    yield from _chances(explanation, language)


def finding_sentence(finding: Finding, language: str = "en") -> str:
    """Describe the number as a value of its likeliest loss."""
    first, kinds = finding.likeliest, finding.kinds
    if first.reason:
        return say(language, f"doctor.nothing.{first.reason}", loss=named(first, language))
    key = "doctor.collapse_start" if {COLLAPSE, START} <= set(kinds) else f"doctor.{kinds[0]}"
    where = _where(first, first.parameters, language)
    value = _shown(finding.value)
    sentence = say(language, key, value=value, loss=named(first, language), where=where)
    parts = (_multiple(finding, language), sentence, _default_sentence(finding, language))
    return " ".join(filter(None, parts))


def _multiple(finding: Finding, language: str) -> str:
    """Say that the number is a multiple of the value, and what sums losses; "" where it is not."""
    if not finding.summed:
        return ""
    value, number = _shown(finding.value), _shown(finding.value * finding.factor - finding.gap)
    key = f"doctor.multiple.{finding.summed}"
    return say(language, key, number=number, factor=finding.factor, value=value)


def _default_sentence(finding: Finding, language: str) -> str:
    """Name the libraries with this margin as default; "" for a value that is not a margin."""
    likeliest, value = finding.likeliest, finding.value
    matches = [one for one in finding.matches if one.kind == COLLAPSE and _has_margin(one, value)]
    if not matches or likeliest.kind != COLLAPSE:
        return ""
    matches.sort(key=lambda one: one.loss != likeliest.loss)
    defaults = (one for one in matches if not one.parameters)
    names = dict.fromkeys(one.convention for one in defaults if one.convention)
    value = _shown(finding.value)
    if not names:
        return say(language, "doctor.default_of_none", value=value)
    return say(language, "doctor.default_of", value=value, losses=_shorten(list(names), language))


def _has_margin(match: LossMatch, value: float) -> bool:
    loss = match.configured
    settings = dict(loss.parameters)
    margins = [settings[one.name] for one in loss.spec.parameters if one.role == "margin"]
    return len(margins) == 1 and math.isclose(float(str(margins[0])), value, rel_tol=1e-6)


def beside(finding: Finding, following: Finding | None, language: str = "en") -> Iterator[str]:
    """Yield the other losses and meanings of the value, and how to distinguish it from that of the
    following finding."""
    first = finding.likeliest
    first_of: dict[str, LossMatch] = {}
    for match in finding.matches:
        first_of.setdefault(match.loss, match)
    if others := [*first_of.values()][1:]:
        titles = [named(one, language) + _where(one, one.parameters, language) for one in others]
        yield say(language, "doctor.also", losses=_shorten(titles, language))
    if first.other is not None:
        key = "doctor.starts" if first.kind == COLLAPSE else "doctor.collapses"
        yield say(language, key, value=_shown(first.other))
    if FLOOR in finding.kinds:
        yield from _beyond(first, language)
    if finding.copies is not None:
        value = _shown(finding.value)
        yield say(language, "doctor.copies", value=value, count=finding.copies)
    if first.doubled is not None:
        yield _doubled(first, following, language)
    if first.no_scenario_reason:
        yield say(language, f"doctor.no_scene.{first.no_scenario_reason}", most=EXPLORED_PAIRS)


def _shown(value: float | None) -> str:
    """A reference value to six digits; 0 where rounding alone keeps it from 0."""
    return display_number(0.0 if value is not None and abs(value) < ZERO_TOLERANCE else value, 6)


def _beyond(match: LossMatch, language: str) -> Iterator[str]:
    """Explain a minimum above 0, left by a margin larger than any between unit vectors."""
    spec = LOSSES[match.loss].under(match.convention)
    beyond = spec.beyond_reach({**spec.defaults, **dict(match.parameters)})
    if beyond is None:
        return
    margin, reach, value = (display_number(one, 6) for one in (*beyond, match.value))
    yield say(language, "doctor.margin_beyond", margin=margin, reach=reach, value=value)


def _doubled(first: LossMatch, following: Finding | None, language: str) -> str:
    """Say what twice the count would change, to distinguish the finding from the following one."""
    name = _unknown_count(first)
    counted = word(f"doctor.counted.{name}", name)
    doubled = first.doubled
    assert doubled is not None
    stays = abs(doubled - first.value) <= 1e-9 * abs(first.value)
    other = following and following.likeliest
    if other is not None and other.doubled is not None:
        if abs(other.doubled - doubled) > 1e-3 * max(abs(doubled), 1):
            numbers = (_shown(one) for one in (doubled, other.doubled))
            values = dict(zip(("first", "second"), numbers, strict=True))
            return say(language, "doctor.apart", counted=counted, **values)
        if named(other, language) == named(first, language):
            return say(language, "doctor.apart_none")
        return say(language, "doctor.apart_both", second_loss=named(other, language))
    if stays:
        return say(language, "doctor.stays")
    return say(language, "doctor.doubled", counted=counted, value=_shown(doubled))


def _unknown_count(match: LossMatch) -> str:
    """Name the count whose doubling changes the reference value."""
    names = [name for name, _ in match.counts]
    return next((name for name in UNKNOWN_COUNTS if name in names), "batch")


def named(match: LossMatch | Position, language: str) -> str:
    """Name the loss, with its convention unless that is its own: "InfoNCE (ms-swift)"."""
    title = spelled(language, "loss", title_word(LOSSES[match.loss]))
    if not match.convention:
        return title
    return say(language, "doctor.of_convention", loss=title, convention=match.convention)


def no_finding_sentence(explanation: Explanation, language: str = "en") -> str:
    if explanation.known.loss and not explanation.nearest:
        possible = possible_losses(explanation.known)
        limit = max((max_batch_pairs(one) or 0 for one in possible), default=0)
        names = list(dict.fromkeys(one.name for one in possible))
        if limit and _pairs(explanation.known) > limit:
            return say(language, "doctor.none.large", losses=_losses(names, language), most=limit)
        sentence = say(language, "doctor.none.taught", losses=_losses(names, language))
        reads = (LOSSES[name].reads.values() for name in names)
        if all("teacher_margins" in one for one in reads) and explanation.value > 0:
            root = display_number(math.sqrt(explanation.value), 4)
            sentence += " " + say(
                language, "doctor.none.margin", value=typed(explanation.value), root=root
            )
        return sentence
    losses: Word | list[Word] = word("doctor.none.all", "any loss here")
    if explanation.known.loss:
        nearest = dict.fromkeys(match.loss for one in explanation.nearest for match in one.matches)
        losses = [title_word(LOSSES[name]) for name in nearest] or losses
    return say(language, "doctor.none", value=typed(explanation.value), losses=losses)


def _pairs(known: Known) -> int:
    return (known.batch or 0) * (known.processes or 1) * (1 + (known.negatives or 0))


def _signs(explanation: Explanation, language: str) -> Iterator[str]:
    """Yield sentences about the number itself, apart from its findings."""
    if explanation.duplicates is not None:
        loss, count = explanation.duplicates
        titled = title_word(LOSSES[loss])
        value = typed(explanation.value)
        yield say(language, "doctor.copied", value=value, loss=titled, count=count)
    yield from _below_zero(explanation, language)


def _chances(explanation: Explanation, language: str) -> Iterator[str]:
    for metric, count, _ in explanation.chances:
        values = {"value": typed(explanation.value), "count": count, "wrong": count - 1}
        yield say(language, f"doctor.chance.{metric}", **values)


def _without_definition(explanation: Explanation, language: str) -> Iterator[str]:
    """Yield the meaning of the number for the named loss without a definition here, or for all such
    losses where none is named."""
    named = loss_without_definition(explanation.known.loss)
    if explanation.known.loss and named is None:
        return
    for one in (named,) if named else LOSSES_WITHOUT_DEFINITION:
        value, tolerance = explanation.value, explanation.tolerance
        placed = one.place(value, tolerance, explanation.known.classes, named is not None)
        if placed is not None:
            place, values = placed
            shown = {
                name: display_number(number, 6) if isinstance(number, float) else number
                for name, number in values.items()
            }
            key = f"doctor.relative.{one.name}.{place}"
            yield say(language, key, value=typed(explanation.value), **shown)


def _below_zero(explanation: Explanation, language: str) -> Iterator[str]:
    if not explanation.below_zero:
        return
    yield say(language, "doctor.below_zero", losses=_losses(explanation.below_zero, language))
    nearest = explanation.nearest if explanation.known.loss else ()
    losses = {match.loss for finding in nearest for match in finding.matches}
    if explanation.position is not None:
        losses.add(explanation.position.loss)
    for name in sorted(losses - set(explanation.below_zero)):
        ends = ends_of_labels(name)
        key = "doctor.below_zero_fault" if ends is None else "doctor.below_zero_labels"
        yield say(language, key, loss=title_word(LOSSES[name]), **_label_ends(ends))


def position_sentence(position: Position, value: float, language: str = "en") -> str:
    """Place the number between the minimum of the loss and its value at collapse."""
    spec = LOSSES[position.loss].under(position.convention)
    factor, moved = sharpening(spec), dict(position.parameters)
    margins = [one for one in spec.parameters if one.role == "margin"]
    for one in (*([factor] if factor else []), *margins):  # both ends depend on these
        moved = {one.name: moved.get(one.name, one.default), **moved}
    place = position.place
    if place == "between" and position.share is None:
        place = "under"
    if position.near:
        place = "collapse_near"
    more = {}
    if place == "above" and factor:
        place, more = "above_sharp", {"parameter": parameter_word(factor.name)}
    sentence = say(
        language,
        f"doctor.standing.{place}",
        value=typed(value),
        loss=named(position, language),
        where=_where(position, tuple(moved.items()), language),
        collapse=_shown(position.collapse),
        start=_shown(position.start),
        floor=_shown(position.floor),
        share=percent(position.share or 0),
        **_label_ends(ends_of_labels(position.loss)),
        **more,
    )
    if not position.assumed:
        return sentence
    collapses, key = position.collapses, f"doctor.if.{position.assumed}"
    if collapses is None:
        return say(language, key, standing=sentence)
    low, high = map(_shown, (collapses.low, collapses.high))
    spread = low if low == high else say(language, "doctor.from_to", low=low, high=high)
    graded = {} if collapses.graded is None else {"graded": _shown(collapses.graded)}
    values = {"most": collapses.most, "range": spread, **graded}
    return say(language, f"{key}_of", standing=sentence, **values)


def _label_ends(ends: Ends | None) -> dict[str, str]:
    return {} if ends is None else {"low": _shown(ends[0]), "high": _shown(ends[1])}


def _where(one: LossMatch | Position, parameters: Settings, language: str) -> str:
    parts = _counted(one, language)
    for name, value in parameters:
        shown = display_number(value) if isinstance(value, float) else str(value)
        called = parameter_word(name)
        parts.append(say(language, "doctor.setting", name=called, value=shown))
    return say(language, "doctor.where", what=_joined(parts, language)) if parts else ""


def _counted(one: LossMatch | Position, language: str) -> list[str]:
    """Format the counts. Without counts by label, a batch has positive pairs alone, or classes of
    one pair each."""
    reads = set(LOSSES[one.loss].reads.values())
    batch = "batch_of_classes" if "embeddings" in reads else "batch_of_positives"
    labelled = "positives" in dict(one.counts) or not reads & {"embeddings", "queries"}
    called = {} if labelled else {"batch": batch}
    return [
        say(language, f"doctor.count.{called.get(name, name)}", count=count)
        for name, count in one.counts
    ]


def _losses(names: Sequence[str], language: str) -> str:
    return _shorten([spelled(language, "loss", title_word(LOSSES[one])) for one in names], language)


def _shorten(names: Sequence[str], language: str) -> str:
    """Join the first names, with the number of the others."""
    shown = _joined(names[:MAX_NAMED_LOSSES], language)
    more = len(names) - MAX_NAMED_LOSSES
    return shown if more <= 0 else say(language, "doctor.and_more", losses=shown, count=more)


def _joined(names: Sequence[str], language: str) -> str:
    return say(language, "ui.between").join(names)


@dataclass(frozen=True)
class ExplainedLoss(Whole):
    """A loss that has the value, and the counts and parameters at which it does."""

    loss: str
    convention: str
    parameters: dict[str, Setting]
    counts: dict[str, int]
    counted: str
    kind: str
    reason: str
    value: float
    doubled: float | None
    other: float | None
    assumed: float
    shows: Literal["loss", "floor"]
    scene: str | None


@dataclass(frozen=True)
class ExplainedFinding(Whole):
    """A value that the number may be, with the losses that have it."""

    kinds: list[str]
    value: float
    gap: float
    exact: bool
    said: str
    copies: int | None
    factor: int
    summed: Literal["", "steps", "processes", "batch"]
    losses: list[ExplainedLoss]
    more: int


@dataclass(frozen=True)
class ExplainedStanding(Whole):
    """Position of the number for one loss at known counts."""

    loss: str
    convention: str
    counts: dict[str, int]
    floor: float | None
    collapse: float
    start: float | None
    place: Literal["negative", "below", "floor", "between", "collapse", "starting", "above"]
    share: float | None
    assumed: Literal["", "halves", "positives", "classes", "one_right"]
    said: str


@dataclass(frozen=True)
class ExplainedValue(Whole):
    """The meanings of a number, as `explain_loss_value` answers them."""

    value: float
    count: int
    fits: bool
    sentences: list[str]
    told: list[str]  # the former name of `sentences`
    findings: list[ExplainedFinding]
    standing: ExplainedStanding | None
    none: str
    signs: list[str]
    below_zero: list[str]
    known: dict[str, Setting]


def number_answer(explanation: Explanation, language: str = "en") -> ExplainedValue:
    """Return the explanation as an answer."""
    position, sentences = explanation.position, [*lines(explanation, language)]
    sentence = position and position_sentence(position, explanation.value, language)
    is_explained = explanation.findings or loss_without_definition(explanation.known.loss)
    signs = (
        *_signs(explanation, language),
        *_without_definition(explanation, language),
        *_chances(explanation, language),
    )
    return as_answer(
        ExplainedValue,
        explanation,
        fits=bool(explanation.findings),
        sentences=sentences,
        told=sentences,
        findings=[finding_answer(one, language) for one in listed(explanation)],
        standing=position
        and as_answer(ExplainedStanding, position, counts=dict(position.counts), said=sentence),
        none="" if is_explained else no_finding_sentence(explanation, language),
        signs=[*signs],
        known=explanation.known.provided,
    )


def listed(explanation: Explanation) -> tuple[Finding, ...]:
    """Return the findings of an answer; without any, the nearest values."""
    return (explanation.findings or explanation.nearest)[:MAX_FINDINGS]


def finding_answer(
    finding: Finding, language: str, kind: type[Answer] = ExplainedFinding, **others: object
) -> Answer:
    """Return a finding as an answer of this kind."""
    shown = finding.matches[:MAX_LOSSES]
    return as_answer(
        kind,
        finding,
        said=finding_sentence(finding, language),
        losses=[_fitting(match, match is finding.likeliest, language) for match in shown],
        more=len(finding.matches) - len(shown),
        **others,
    )


def _fitting(match: LossMatch, linked: bool, language: str) -> ExplainedLoss:
    linked_scenario = match.scenario() if linked else None
    return as_answer(
        ExplainedLoss,
        match,
        parameters=dict(match.parameters),
        counts=dict(match.counts),
        counted=_joined(_counted(match, language), language),
        assumed=round(match.cost, 6),
        scene=None if linked_scenario is None else linked_scenario.to_link(),
    )
