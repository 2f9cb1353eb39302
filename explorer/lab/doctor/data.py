"""What is the matter with a table of pairs, told from its texts and labels alone."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from explorer.lab.doctor.axes import family_of
from explorer.lab.doctor.known import Known, sides_for
from explorer.lab.doctor.landmarks import COLLAPSE, landmark
from explorer.lab.doctor.layouts import Layout
from explorer.lab.doctor.meetings import Meetings, meetings, partners
from explorer.lab.doctor.texts import foreign, numbered, together
from explorer.locale import say
from explorer.runtime import jobs
from explorer.runtime.numbers import display_number, percent
from explorer.sources.pairs import Pairs
from losses import LossSpec
from losses.labels import label_rules

SEVERE, WARNING, NOTE = SEVERITIES = ("severe", "warning", "note")
EVIDENCE = 5  # rows that are shown of each finding
NO_DUPLICATES = "batch_sampler=BatchSamplers.NO_DUPLICATES"
# From this share of a batch's rows on, copies are the first thing to put right; from that on, said.
MANY_MET, SOME_MET = 0.1, 0.001
MANY_FOREIGN = 0.5
Value = int | float | str


@dataclass(frozen=True)
class Fault:
    """One finding: its stable name, how bad it is, the numbers of its sentence, the pairs that
    show it (of those read, counted from 1), and what to paste."""

    name: str
    severity: str
    values: dict[str, Value] = field(default_factory=dict)
    rows: tuple[int, ...] = ()
    advice: tuple[str, ...] = ()

    def said(self, language: str = "en") -> str:
        return say(language, f"doctor.data.{self.name}", **self.values)


@dataclass(frozen=True)
class Cleaned:
    """The pairs that stay (from 1), and each that was left out with the name of the fault."""

    kept: tuple[int, ...]
    left_out: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Examined:
    """What was found in so many `rows` for a loss at a batch size, the worst first."""

    rows: int
    loss: str
    batch: int
    faults: tuple[Fault, ...]
    met: Meetings
    cleaned: Cleaned

    @property
    def severe(self) -> bool:
        return any(fault.severity == SEVERE for fault in self.faults)


@dataclass(frozen=True)
class Profile:
    """The pairs as numbers: of the texts of both sides and of the pair, and the labels."""

    pairs: Pairs
    first: np.ndarray
    second: np.ndarray
    pair: np.ndarray
    labels: np.ndarray
    positive: np.ndarray

    def __len__(self) -> int:
        return len(self.labels)


def profiled(pairs: Pairs) -> Profile:
    """Fold and number all texts once; whatever is asked about them then is arithmetic."""
    jobs.step("numbering", 0, len(pairs))
    first, second = numbered(pairs.first, pairs.second)
    labels = np.asarray(pairs.labels, dtype=np.float64)
    if pairs.labelled and len(labels):
        positive = labels >= label_rules(pairs.labels).threshold
    else:
        positive = np.ones(len(labels), dtype=bool)
    return Profile(pairs, first, second, together(first, second), labels, positive)


def examine(
    profile: Profile, spec: LossSpec, batch: int, *, most_tokens: int | None = None
) -> Examined:
    """All findings that these texts and labels carry, for this loss in batches of this size.

    `most_tokens`: what the encoder reads of a text, its special tokens aside; None leaves lengths
    out. Of what only an encoder can tell, such as near-duplicates, nothing is said.
    """
    faults: list[Fault] = []
    met, rows = met_in_batch(profile, spec, batch)
    for find in (_copies, _conflicts, _same_on_both_sides):
        faults += find(profile)
    faults += _twins(met, rows, spec, batch)
    faults += _labels(profile, spec, batch)
    faults += _lists(profile, spec)
    faults += _texts(profile, most_tokens)
    faults.sort(key=lambda fault: SEVERITIES.index(fault.severity))
    return Examined(len(profile), spec.name, batch, tuple(faults), met, cleaned(profile))


def met_in_batch(profile: Profile, spec: LossSpec, batch: int) -> tuple[Meetings, np.ndarray]:
    """How often rows of the same text meet among the rows that the loss compares with each other,
    and the places of those that can."""
    count, found = len(profile), np.zeros(len(profile), dtype=np.int64)
    if not spec.negatives_of_batch or not profile.positive.any():
        return meetings(found, batch), np.arange(0)
    places = np.flatnonzero(profile.positive)
    found[places] = partners(
        *(one[places] for one in (profile.first, profile.second, profile.pair))
    )
    met, positives = meetings(found, batch), len(places)
    # Only positive pairs are rows of the loss.
    share = float(found.sum()) / max(positives * (positives - 1), 1)
    floor = met.floor * count / positives
    return Meetings(met.pairs, met.rows, floor, share), np.flatnonzero(found)


def _twins(met: Meetings, rows: np.ndarray, spec: LossSpec, batch: int) -> Iterator[Fault]:
    """Rows whose text another positive pair has: they meet as each other's negatives."""
    share = met.rows / batch
    if not len(rows) or share < SOME_MET:
        return
    name = "twins" if is_softmax(spec) else "twins_met"
    values: dict[str, Value] = {
        "count": len(rows),
        "batch": batch,
        "pairs": display_number(met.pairs, 3),
        "met": percent(share),
        "floor": display_number(met.floor, 3),
        "gradient": percent(met.share),
    }
    severity = SEVERE if share >= MANY_MET else WARNING
    yield Fault(name, severity, values, _evidence(rows), (NO_DUPLICATES,))


def is_softmax(spec: LossSpec) -> bool:
    """Whether it is a softmax over the batch: ln of its candidates where all are alike."""
    side = sides_for(Known(loss=spec.name))[0]
    if family_of(side) != "keys":
        return False
    three, five = (math.exp(landmark(side, COLLAPSE, Layout(count)) or 0.0) for count in (3, 5))
    return any(
        math.isclose(three, 3 * times - less) and math.isclose(five, 5 * times - less)
        for times, less in ((1, 0), (2, 1))
    )


def _copies(profile: Profile) -> Iterator[Fault]:
    """The same pair with the same label, again."""
    again = _again(profile)
    if len(again):
        yield Fault("copies", WARNING, {"count": len(again)}, _evidence(again))


def _again(profile: Profile) -> np.ndarray:
    """The places of pairs that stood before, with the same label."""
    key = together(profile.pair, np.unique(profile.labels, return_inverse=True)[1])
    kept = np.unique(key, return_index=True)[1]
    return np.setdiff1d(np.arange(len(profile)), kept)


def _conflicting(profile: Profile) -> np.ndarray:
    """The places of all pairs that stand with several labels."""
    count = int(profile.pair.max(initial=-1)) + 1
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, profile.pair, profile.labels)
    np.maximum.at(high, profile.pair, profile.labels)
    return np.flatnonzero((low < high)[profile.pair])


def _conflicts(profile: Profile) -> Iterator[Fault]:
    places = _conflicting(profile)
    if len(places):
        texts = len(np.unique(profile.pair[places]))
        values: dict[str, Value] = {"count": texts, "rows": len(places)}
        ordered = places[np.argsort(profile.pair[places], kind="stable")]
        yield Fault("conflicting_labels", SEVERE, values, _evidence(ordered))


def _same_on_both_sides(profile: Profile) -> Iterator[Fault]:
    same = np.flatnonzero(profile.first == profile.second)
    if len(same):
        yield Fault("same_on_both_sides", WARNING, {"count": len(same)}, _evidence(same))


def _labels(profile: Profile, spec: LossSpec, batch: int) -> Iterator[Fault]:
    """What the labels cannot teach this loss."""
    labels, pairs = profile.labels, profile.pairs
    if not pairs.labelled:
        if not spec.learns_from_positives:
            yield Fault("no_labels", SEVERE, {}, (), ("loss=info_nce",))
        return
    low, high = float(labels.min()), float(labels.max())
    if low == high and "order" in spec.needs:
        yield Fault("one_label", SEVERE, {"value": display_number(low)})
    beyond = np.flatnonzero((labels < -1) | (labels > 1))
    if "cosine_labels" in spec.reads.values() and len(beyond):
        share = percent(len(beyond) / len(labels))
        ends = label_rules(pairs.labels).label_range
        paste = f"label = (label - {ends[0]:g}) / {ends[1] - ends[0]:g}"
        values: dict[str, Value] = {"share": share, "low": low, "high": high}
        yield Fault("labels_out_of_reach", SEVERE, values, _evidence(beyond), (paste,))
    if spec.needs_positives:
        yield from _positives(profile, batch)
    levels = len(np.unique(labels))
    if spec.by_threshold and levels > 2:
        threshold = display_number(label_rules(pairs.labels).threshold)
        yield Fault("degrees_lost", NOTE, {"count": levels, "threshold": threshold})


def _positives(profile: Profile, batch: int) -> Iterator[Fault]:
    count, positives = len(profile), int(profile.positive.sum())
    size = min(batch, count)
    if positives == 0:
        yield Fault("no_positive", SEVERE)
        return
    if count - positives < size:
        return
    # The chance that a batch has none: C(n − p, N) / C(n, N).
    none = math.exp(
        math.lgamma(count - positives + 1)
        - math.lgamma(count - positives - size + 1)
        + math.lgamma(count - size + 1)
        - math.lgamma(count + 1)
    )
    if none >= SOME_MET:
        values: dict[str, Value] = {
            "batch": batch,
            "share": percent(none),
            "part": percent(positives / count),
        }
        yield Fault("batches_without_positive", WARNING, values)


def _lists(profile: Profile, spec: LossSpec) -> Iterator[Fault]:
    """First texts with a single candidate, for a loss that compares candidates."""
    if "lists" not in spec.needs:
        return
    alone = np.flatnonzero(np.bincount(profile.first)[profile.first] == 1)
    if len(alone):
        share = len(alone) / len(profile)
        severity = SEVERE if share == 1 else WARNING
        values: dict[str, Value] = {"count": len(alone), "share": percent(share)}
        yield Fault("lists_of_one", severity, values, _evidence(alone))


def _texts(profile: Profile, most_tokens: int | None) -> Iterator[Fault]:
    pairs = profile.pairs
    if most_tokens is not None:
        cut = np.flatnonzero(_words_beyond(pairs.first, most_tokens)
                             | _words_beyond(pairs.second, most_tokens))  # fmt: skip
        if len(cut):
            values: dict[str, Value] = {"count": len(cut), "most": most_tokens}
            yield Fault("cut_off", WARNING, values, _evidence(cut))
    sides = [foreign(pairs.first), foreign(pairs.second)]
    shares = [float(side.mean()) if len(side) else 0.0 for side in sides]
    other = np.flatnonzero(sides[0] | sides[1])
    apart = np.flatnonzero(sides[0] != sides[1])
    if not len(other):
        return
    share = len(other) / len(profile)
    if len(apart) == len(other) and min(shares) == 0 and share > MANY_FOREIGN:
        yield Fault("two_scripts", NOTE, {"share": percent(share)}, _evidence(apart))
    elif share >= MANY_FOREIGN:
        yield Fault("not_latin", NOTE, {"share": percent(share)}, _evidence(other))
    else:
        values = {"count": len(other), "share": percent(share)}
        yield Fault("mixed_scripts", WARNING, values, _evidence(other))


def _words_beyond(texts: Sequence[str], most: int) -> np.ndarray:
    """Texts of more words than an encoder reads tokens; each word is one or more. A text of so few
    letters cannot have as many words."""
    found = (len(text) > 2 * most and len(text.split()) > most for text in texts)
    return np.fromiter(found, dtype=bool, count=len(texts))


def cleaned(profile: Profile) -> Cleaned:
    """Without pairs of several labels, pairs of one text, and copies of a pair after its first."""
    reasons: dict[int, str] = {}
    left_out: tuple[tuple[str, np.ndarray], ...] = (
        ("conflicting_labels", _conflicting(profile)),
        ("same_on_both_sides", np.flatnonzero(profile.first == profile.second)),
        ("copies", _again(profile)),
    )
    for name, places in left_out:
        for place in places.tolist():
            reasons.setdefault(place + 1, name)
    stay = np.ones(len(profile), dtype=bool)
    stay[[row - 1 for row in reasons]] = False
    kept = tuple((np.flatnonzero(stay) + 1).tolist())
    return Cleaned(kept, tuple(sorted(reasons.items())))


def _evidence(places: np.ndarray) -> tuple[int, ...]:
    return tuple((places[:EVIDENCE] + 1).tolist())
