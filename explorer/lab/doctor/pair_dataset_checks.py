"""Findings about a table of pairs from its texts and labels alone."""

import functools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lossprism.explorer.core.remarks import COSINES_APART
from lossprism.explorer.lab.doctor.batches_to_try_for_unknown_counts import family_of
from lossprism.explorer.lab.doctor.candidate_list_faults import (
    compares_in_lists,
    on_groups,
    on_lists,
    takes_own_negatives,
)
from lossprism.explorer.lab.doctor.duplicate_collisions import Collisions, log_choose
from lossprism.explorer.lab.doctor.finding import (
    NOTE,
    SEVERE,
    WARNING,
    Fault,
    Value,
    WithFaults,
    evidence,
    worst_first,
)
from lossprism.explorer.lab.doctor.label_faults import on_label_ends, on_levels
from lossprism.explorer.lab.doctor.pair_table_profile import Cleaned, Profile
from lossprism.explorer.lab.doctor.reference_values import (
    COLLAPSE,
    configured_losses,
    reference_value,
)
from lossprism.explorer.lab.doctor.remedy_trial_result import (
    sampler_values,
)
from lossprism.explorer.lab.doctor.sampler_and_batch_size_remedies import (
    NO_DUPLICATES,
    against_batches_without_positive,
    against_shared_texts,
)
from lossprism.explorer.lab.doctor.synthetic_batches_from_counts import Layout
from lossprism.explorer.locale import say
from lossprism.explorer.runtime.number_format import display_number, percent
from lossprism.explorer.sources.label_words_to_scores import INFERENCE_SCORES
from lossprism.losses import LOSSES, LossSpec

INFERENCE_KINDS = ("entailment", "neutral", "contradiction")
# Code to paste that folds texts as `text_measurements.folded` does: samplers and masks compare
# texts to the letter. A cell may have a list of texts, or nothing.
FOLDING = """\
import unicodedata
def folded(text):
    if isinstance(text, list):
        return [folded(one) for one in text]
    text = unicodedata.normalize("NFKC", text or "").casefold()
    return " ".join(unicodedata.normalize("NFKC", text).split())
dataset = dataset.map(lambda row: {{name: folded(row[name]) for name in {names}}})"""
POSITIVES_ALONE = "loss = losses.MultipleNegativesRankingLoss(model)"
# Shares of a batch's rows with a duplicate that are severe, and that are reported.
MANY_ROWS_SHARE, SOME_ROWS_SHARE = 0.1, 0.001
MIN_FOREIGN_SHARE = 0.5  # of the pairs, in a table that is not in Latin script
NO_COLLISIONS = Collisions(0.0, 0.0, 0.0, 0.0)  # for a loss without negatives from other rows


@dataclass(frozen=True)
class Check:
    """A check: its name, shared by its sentences, and whether it was made for this loss and
    table."""

    name: str
    made: bool

    def written(self, language: str = "en") -> str:
        """Describe the check, or the reason why it was not made."""
        return say(language, f"doctor.{'checked' if self.made else 'unchecked'}.{self.name}")


@dataclass(frozen=True)
class Examined(WithFaults):
    """Findings in the `pairs` of the `rows` for a loss at a batch size, the worst first, and the
    checks.

    `met` are the meetings of rows that the loss compares with each other; `kept_rows` rows of
    `cleaned` stay.
    """

    pairs: int
    rows: int
    loss: str
    batch: int
    faults: tuple[Fault, ...]
    checks: tuple[Check, ...]
    met: Collisions
    cleaned: Cleaned
    kept_rows: int


def examine(
    profile: Profile,
    spec: LossSpec,
    batch: int,
    *,
    most_tokens: int | None = None,
    margin: float | None = None,
) -> Examined:
    """Return all findings about these texts and labels, for this loss in batches of this size.

    `margin` is the loss's margin in training, if not its default. `most_tokens`: the encoder's
    limit of tokens, special tokens aside; None leaves lengths out. Findings that need an encoder,
    such as near-duplicates, are not among them.
    """
    case = CheckInput(profile, spec, batch, most_tokens, margin)
    checks = tuple(Check(name, bool(rule.applies(case))) for name, rule in CHECKS.items())
    faults = (fault for one in checks if one.made for fault in CHECKS[one.name].find(case))
    met = profile.meetings_in(batch) if spec.negatives_of_batch else NO_COLLISIONS
    size = len(profile), len(profile.heads)
    stays = profile.cleaned(spec.by_threshold), profile.kept_rows(spec.by_threshold)
    return Examined(*size, spec.name, batch, worst_first(faults), checks, met, *stays)


def _shared_texts(profile: Profile, spec: LossSpec, batch: int) -> Iterator[Fault]:
    """Find rows that share a text with another positive pair, on either side: in a batch, they are
    each other's negatives."""
    met, rows = profile.meetings_in(batch), profile.sharing_text
    share = met.rows / batch
    if not len(rows) or share < SOME_ROWS_SHARE:
        return
    softmax = is_softmax(spec.name, spec.convention)
    values: dict[str, Value] = {
        "count": len(rows),
        "folded": len(profile.sharing_only_folded),
        "batch": batch,
        "pairs": display_number(met.pairs, 3),
        "met": percent(share),
        "floor": display_number(met.floor, 3),
        "gradient": percent(met.share),
    }
    severity = SEVERE if share >= MANY_ROWS_SHARE else WARNING
    sampler, tried = against_shared_texts(profile, spec, batch, softmax)
    rewritten = profile.sharing_only_folded
    folding = (FOLDING.format(names=_quoted(profile.text_columns)),) if len(rewritten) else ()
    yield Fault(
        "twins" if softmax else "twins_met",
        severity,
        values | sampler_values(sampler, NO_DUPLICATES),
        _sharing(profile, int((rewritten if len(rewritten) else rows)[0])),
        (*folding, *tried),
        more="" if sampler.helps else "epoch_short",
        tried=tried,
    )


def _quoted(names: Sequence[str]) -> str:
    """A list of names, to paste."""
    return json.dumps(list(names), ensure_ascii=False)


def _sharing(profile: Profile, place: int) -> tuple[int, ...]:
    """Return the numbers of all pairs that share a text with another, beginning with those of the
    texts of the pair at `place`."""
    first, second = profile.first[place], profile.second[place]
    places = profile.sharing_text
    ends = profile.first[places], profile.second[places]
    of_its_texts = np.logical_or.reduce([(side == first) | (side == second) for side in ends])
    return evidence(places[np.argsort(~of_its_texts, kind="stable")])


@functools.cache
def is_softmax(loss: str, convention: str = "") -> bool:
    """True if the loss is a softmax over the batch, whose value at collapse is the logarithm of the
    number of candidates: N, or 2N − 1 with both sides."""
    configured = next(
        one for one in configured_losses(LOSSES[loss]) if one.convention == convention
    )
    if family_of(configured) != "keys":
        return False
    three, five = (
        math.exp(reference_value(configured, COLLAPSE, Layout(count)) or 0.0) for count in (3, 5)
    )
    return any(
        math.isclose(three, 3 * sides - own) and math.isclose(five, 5 * sides - own)
        for sides, own in ((1, 0), (2, 1))
    )


def _own_negatives(profile: Profile) -> Iterator[Fault]:
    """Find negatives of triplets that are the positive or the anchor of their row."""
    own = profile.own_negatives
    if len(own):
        rows = profile.row_of[own]
        anchors = len(np.unique(rows[profile.first[own] == profile.second[own]]))
        count = len(np.unique(rows))
        values: dict[str, Value] = {"count": count, "anchors": anchors}
        # Evidence has the positive of each row, too.
        heads = profile.heads[np.unique(rows)]
        yield Fault("negative_is_own", SEVERE, values, evidence(np.union1d(heads, own)))


def _copies(profile: Profile) -> Iterator[Fault]:
    """Find repeated rows with the same labels, and repeated candidates of a list."""
    repeated_pairs = profile.repeated_pairs
    if not len(repeated_pairs):
        return
    rows, number = np.unique(profile.row_of[repeated_pairs]), profile.row_contents
    heads = profile.heads
    repeated = heads[np.isin(profile.row_of[heads], rows)]
    whole = np.isin(number[heads], number[repeated])
    shown = _beside_each_other(number, heads[whole])
    if profile.rows is not None and np.bincount(number[heads])[number[shown]].max() < 2:
        shown = repeated_pairs  # within lists, which differ
    yield Fault("copies", WARNING, {"count": len(rows)}, evidence(shown))


def _conflicts(profile: Profile, spec: LossSpec) -> Iterator[Fault]:
    """Find pairs with contradicting labels, and those whose labels differ by the noise of
    raters."""
    conflicts, noise = profile.label_conflicts(spec.by_threshold)
    mean = (mean_labels(profile),) if profile.rows is None else ()
    for name, severity, places, paste in (
        ("conflicting_labels", SEVERE, conflicts, ()),
        ("rater_noise", NOTE, noise, mean),
    ):
        if len(places):
            texts = len(np.unique(profile.same_pair[places]))
            values: dict[str, Value] = {"count": texts, "rows": len(places)}
            ordered = _beside_each_other(profile.same_pair, places)
            yield Fault(name, severity, values, evidence(ordered), paste)


def _beside_each_other(numbers: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return the places with those of one number together, in order of first appearance."""
    distinct, first = np.unique(numbers[places], return_index=True)
    begins = first[np.searchsorted(distinct, numbers[places])]
    return places[np.argsort(begins, kind="stable")]


def _same_on_both_sides(profile: Profile) -> Iterator[Fault]:
    same = profile.same_on_both_sides
    if len(same):
        yield Fault("same_on_both_sides", WARNING, {"count": len(same)}, evidence(same))


def _labels(profile: Profile, spec: LossSpec) -> Iterator[Fault]:
    """Find labels that cannot teach this loss."""
    if not profile.labelled:
        yield Fault("no_labels", SEVERE, {}, (), (POSITIVES_ALONE,))
        return
    if profile.of_inference:
        yield _inference(profile, spec)
        return
    yield from on_levels(profile, spec)


def _inference(profile: Profile, spec: LossSpec) -> Fault:
    """Find entailment, neutral and contradiction, which are classes and not degrees."""
    counts = [int((profile.labels == INFERENCE_SCORES[kind]).sum()) for kind in INFERENCE_KINDS]
    values: dict[str, Value] = dict(zip(INFERENCE_KINDS, counts, strict=True))
    worst = np.flatnonzero(profile.labels == INFERENCE_SCORES[INFERENCE_KINDS[-1]])
    severity = NOTE if spec.by_threshold or not spec.reads_labels else WARNING
    return Fault("inference_labels", severity, values, evidence(worst))


def _positives(profile: Profile, spec: LossSpec, batch: int) -> Iterator[Fault]:
    if profile.positives == 0:
        yield Fault("no_positive", SEVERE)
        return
    if profile.positives == len(profile) and "sides" in spec.needs and len(profile.levels) > 1:
        threshold = display_number(profile.threshold)
        yield Fault("no_negative", SEVERE, {"threshold": threshold})
    if "prototypes" in spec.reads.values():
        return  # a text needs no positive pair: its class has a vector
    count, positives = len(profile.heads), len(profile.positive_heads)
    size = min(batch, count)
    if count - positives < size:
        return
    # The chance of a batch without a positive pair: C(n − p, N) / C(n, N).
    none = math.exp(log_choose(count - positives, size) - log_choose(count, size))
    if none >= SOME_ROWS_SHARE:
        values: dict[str, Value] = {
            "batch": batch,
            "share": percent(none),
            "part": percent(positives / count),
        }
        tried = against_batches_without_positive(profile, size, none)
        yield Fault("batches_without_positive", WARNING, values, (), tuple(tried), tried=tried)


def _teacher(profile: Profile, spec: LossSpec) -> Iterator[Fault]:
    """Find a missing teacher, or margins of the teacher beyond the range of two cosines."""
    if not profile.has_teacher:
        yield Fault("no_teacher", SEVERE)
        return
    if "teacher_margins" not in spec.reads.values():
        return
    margins = profile.teacher_margins
    beyond = margins > COSINES_APART
    if beyond.any():
        values: dict[str, Value] = {
            "most": display_number(float(margins.max())),
            "share": percent(beyond.sum() / np.isfinite(margins).sum()),
        }
        places = np.flatnonzero(beyond[profile.first] & profile.positive)
        yield Fault("margins_out_of_reach", WARNING, values, evidence(places))


def _lengths(profile: Profile, max_tokens: int) -> Iterator[Fault]:
    """Find texts of more tokens than an encoder reads, by an estimate from words and characters."""
    cut = np.flatnonzero(profile.tokens > max_tokens)
    if len(cut):
        values: dict[str, Value] = {"count": len(cut), "most": max_tokens}
        yield Fault("cut_off", WARNING, values, evidence(cut))


def _scripts(profile: Profile) -> Iterator[Fault]:
    one, two = profile.foreign
    shares = [float(side.mean()) if len(side) else 0.0 for side in profile.foreign]
    other, differing = np.flatnonzero(one | two), np.flatnonzero(one != two)
    if not len(other):
        return
    share = len(other) / len(profile)
    if len(differing) == len(other) and min(shares) == 0 and share > MIN_FOREIGN_SHARE:
        yield Fault("two_scripts", NOTE, {"share": percent(share)}, evidence(differing))
    elif share >= MIN_FOREIGN_SHARE:
        yield Fault("not_latin", NOTE, {"share": percent(share)}, evidence(other))
    else:
        values: dict[str, Value] = {"count": len(other), "share": percent(share)}
        yield Fault("mixed_scripts", WARNING, values, evidence(other))


def margin_beyond(
    spec: LossSpec,
    parameters: Mapping[str, object],
    margin: float | None = None,
    subject: str = "data",
) -> Iterator[Fault]:
    """Find a margin, the known one or that of these parameters, larger than any between unit
    vectors."""
    known = {one.name: margin for one in spec.parameters if one.role == "margin"}
    beyond = spec.beyond_reach({**parameters, **(known if margin is not None else {})})
    if beyond is not None:
        numbers = dict(zip(("margin", "reach"), map(display_number, beyond), strict=True))
        yield Fault("margin_beyond", WARNING, {**numbers}, subject=subject)


@dataclass(frozen=True)
class CheckInput:
    """Input of the checks: pairs, a loss, a batch size, and what else is known."""

    profile: Profile
    spec: LossSpec
    batch: int
    most_tokens: int | None
    margin: float | None


class CheckRule(NamedTuple):
    """A check: whether this loss and these columns allow it, and what it finds."""

    applies: Callable[[CheckInput], object]
    find: Callable[[CheckInput], Iterator[Fault]]


def _labels_matter(case: CheckInput) -> bool:
    profile, spec = case.profile, case.spec
    reads = not spec.learns_from_positives or (profile.labelled and spec.by_threshold)
    return reads or profile.of_inference


CHECKS = {
    "negative_is_own": CheckRule(
        lambda case: case.profile.of_triplets, lambda case: _own_negatives(case.profile)
    ),
    "copies": CheckRule(lambda case: True, lambda case: _copies(case.profile)),
    "conflicting_labels": CheckRule(
        lambda case: case.profile.labelled, lambda case: _conflicts(case.profile, case.spec)
    ),
    "same_on_both_sides": CheckRule(
        lambda case: True, lambda case: _same_on_both_sides(case.profile)
    ),
    "twins": CheckRule(
        lambda case: case.spec.negatives_of_batch,
        lambda case: _shared_texts(case.profile, case.spec, case.batch),
    ),
    "labels": CheckRule(_labels_matter, lambda case: _labels(case.profile, case.spec)),
    "reach": CheckRule(
        lambda case: case.profile.labelled and case.spec.label_ends is not None,
        lambda case: on_label_ends(case.profile, case.spec),
    ),
    "positives": CheckRule(
        lambda case: case.profile.labelled and case.spec.needs_positives,
        lambda case: _positives(case.profile, case.spec, case.batch),
    ),
    "lists": CheckRule(
        lambda case: compares_in_lists(case.profile, case.spec),
        lambda case: on_lists(case.profile, case.spec),
    ),
    "groups": CheckRule(
        lambda case: takes_own_negatives(case.spec), lambda case: on_groups(case.profile, case.spec)
    ),
    "margin_beyond": CheckRule(
        lambda case: case.spec.reach is not None,
        lambda case: margin_beyond(case.spec, case.spec.defaults, case.margin),
    ),
    "teacher": CheckRule(
        lambda case: "teacher" in case.spec.needs, lambda case: _teacher(case.profile, case.spec)
    ),
    "lengths": CheckRule(
        lambda case: case.most_tokens is not None,
        lambda case: _lengths(case.profile, case.most_tokens or 0),
    ),
    "scripts": CheckRule(lambda case: True, lambda case: _scripts(case.profile)),
}


# One row, with the mean label, for each pair whose labels differ by at most `limit`.
MEAN_LABELS = """\
import unicodedata
from datasets import Dataset
def folded(text):
    text = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(unicodedata.normalize("NFKC", text).split())
table = dataset.to_pandas()
pair = table[{names}].apply(lambda row: tuple({order}(map(folded, row))), axis=1)
labels = table.groupby(pair)[{label}]
is_noise = labels.transform("max") - labels.transform("min") <= {limit}
table[{label}] = table[{label}].where(~is_noise, labels.transform("mean"))
dataset = Dataset.from_pandas(table[~(is_noise & pair.duplicated())], preserve_index=False)"""


def mean_labels(profile: Profile) -> str:
    """Return code to paste that replaces the labels of one pair, if they differ by the noise of
    raters, by their mean."""
    return MEAN_LABELS.format(
        names=json.dumps(list(profile.text_columns), ensure_ascii=False),
        label=json.dumps(profile.label_column, ensure_ascii=False),
        order="sorted" if profile.is_symmetric else "",
        limit=round(profile.rater_noise * (1 + 1e-9), 12),
    )
