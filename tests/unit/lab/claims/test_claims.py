"""Each claim is executed: its verdicts by the rule, and searches that try to break them."""

from __future__ import annotations

import dataclasses
import math

import hypothesis
import pytest
import torch
from hypothesis import strategies as st

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.claims.batches import (
    S1_EXAMPLE,
    batch_of_scored_pairs,
    claim_batch,
    random_batch,
)
from lossprism.explorer.lab.claims.claim import Check, Claim, ClaimBatch, Comparison, Side
from lossprism.explorer.lab.claims.claim_checks_on_test_batches import checks_of, verdicts
from lossprism.explorer.lab.claims.claim_lookup import claims, claims_about
from lossprism.explorer.lab.claims.curvature import hessian
from lossprism.explorer.lab.claims.ordered_pair_common import loss_of
from lossprism.explorer.lab.claims.verdict import Verdict, part_verdicts, verdict_of
from lossprism.losses import LOSSES, cosent
from tests.unit.lab.claims.drawn_batches import batches, scored

# By hand and by an independent computation; of what is trained, from the kept measurements.
EXPECTED: dict[str, dict[str, Verdict]] = {
    "S0-example": {"claim": "holds"},
    "S0-mask": {"claim": "holds", "tensor": "fails"},
    "S1-4": {"claim": "only_if"},
    "S1-7": {"claim": "holds"},
    "S1-9": {"claim": "holds", "ceiling": "holds"},
    "S1-10": {"claim": "fails", "corrected": "holds"},
    "S1-12": {
        "claim": "only_if",
        "normaliser": "fails",
        "weights": "holds",
        "corrected": "holds",
    },
    "S1-16": {"claim": "holds"},
    "S1-17": {"claim": "only_if", "corrected": "holds"},
    "S1-18": {"claim": "fails", "corrected": "holds", "convexity": "holds"},
    "S1-19": {"claim": "holds", "corrected": "holds"},
    "S1-22": {"claim": "fails", "corrected": "holds"},
    "S1-23": {"claim": "fails", "corrected": "holds"},
    "S1-28": {"claim": "holds", "equality": "fails", "corrected": "holds"},
    "S1-31": {"claim": "holds"},
    "S1-32": {"claim": "fails", "corrected": "holds"},
    "S1-33": {"trained": "fails", "corrected": "holds"},
    "S1-38": {"claim": "vacuous", "premise": "fails", "corrected": "holds"},
    "S1-39": {"claim": "holds", "corrected": "holds"},
    "S1-40": {"claim": "only_if"},
    "S1-41": {"claim": "fails", "lower": "holds", "corrected": "holds"},
    "S1-43": {"claim": "only_if", "corrected": "holds"},
    "S1-44": {"claim": "holds"},
    "S1-45": {"claim": "depends"},
    "S1-48": {
        "claim": "fails",
        "printed_scores": "fails",
        "cosines": "fails",
        "corrected": "holds",
    },
    "S1-49": {"claim": "holds", "weight": "fails", "printed_scores": "holds"},
    "S1-50": {"claim": "depends"},
    "S1-51": {"claim": "fails", "corrected": "holds"},
    "S1-advice-collapse": {"trained": "undecided"},
    "S1-advice-gradient": {"trained": "holds", "clipping": "undecided"},
    "S1-advice-loss": {"trained": "undecided"},
    "S1-table": {"claim": "holds", "trained": "undecided"},
    "S2-mi": {"claim": "only_if", "order": "holds"},
    "S2-ntxent": {"claim": "fails", "corrected": "holds"},
    "S3-code": {"claim": "fails", "corrected": "holds"},
    "S3-pairs": {"claim": "holds", "carry": "fails", "corrected": "holds"},
    "S4-range": {"claim": "holds"},
}
UNBROKEN = ("holds", "only_if", "vacuous")
TRIED = [
    (name, part, verdict)
    for name, parts in EXPECTED.items()
    for part, verdict in parts.items()
    if claims()[name].needs != "nothing"
]
QUICK = hypothesis.settings(
    max_examples=40, deadline=None, derandomize=True, database=None, print_blob=False
)
# The first example found is enough: it is not made smaller.
LONG = hypothesis.settings(QUICK, max_examples=2000, phases=[hypothesis.Phase.generate])


def part_of(name: str, batch: ClaimBatch, part: str) -> list[Comparison]:
    return [one for one in claims()[name].check(batch).comparisons if one.part == part]


def drawn_for(name: str) -> st.SearchStrategy[ClaimBatch]:
    return batches() if claims()[name].needs == "vectors" else st.one_of(batches(), scored())


def test_every_claim_has_its_verdicts() -> None:
    found = {name: {one.part: one.verdict for one in verdicts(name)} for name in claims()}
    assert found == EXPECTED


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "part"), [one[:2] for one in TRIED if one[2] in UNBROKEN])
def test_a_search_cannot_break_what_holds(name: str, part: str) -> None:
    """Nothing that holds can be broken, within its condition where it has one."""

    @QUICK
    @hypothesis.given(drawn_for(name))
    def search(batch: ClaimBatch) -> None:
        claimed = [one for one in part_of(name, batch, part) if one.asserted and one.within]
        assert [one for one in claimed if not one.holds] == []

    search()


@pytest.mark.parametrize(("name", "part", "verdict"), [one for one in TRIED if one[2] != "holds"])
def test_a_search_finds_the_counterexample(name: str, part: str, verdict: Verdict) -> None:
    """What fails fails on some batch, what holds under a condition fails outside of it, what
    depends on the batch goes both ways, and a vacuous premise is never met."""

    def seen(batch: ClaimBatch) -> set[tuple[bool, bool]]:
        some = part_of(name, batch, part)
        return {(one.holds, one.within) for one in some if one.asserted}

    outcomes = {"fails": [(False, True)], "only_if": [(False, False), (True, True)]}
    outcomes["depends"] = [(False, True), (True, True)]
    for one in outcomes.get(verdict, ()):
        hypothesis.find(drawn_for(name), lambda batch, one=one: one in seen(batch), settings=LONG)
    if verdict == "vacuous":
        with pytest.raises(hypothesis.errors.NoSuchExample):
            hypothesis.find(drawn_for(name), seen, settings=QUICK)


def test_the_search_breaks_a_bound_that_is_too_low() -> None:
    """Half of the curvature's bound is not one."""

    def curvature(batch: ClaimBatch) -> float:
        return float(torch.linalg.eigvalsh(hessian(batch))[-1]) / batch.scale**2

    found = hypothesis.find(batches(), lambda batch: curvature(batch) > 0.5, settings=LONG)
    assert 0.5 < curvature(found) <= 2


@pytest.mark.parametrize(
    ("holds", "expected"),
    [
        # (holds, within, asserted, decided) of each comparison.
        ([], "nothing"),
        ([(True, True, True, True)], "holds"),
        ([(True, True, True, True), (False, True, True, True)], "fails"),
        ([(True, True, True, True), (False, False, True, True)], "only_if"),
        ([(False, False, True, True)], "fails"),
        ([(False, True, False, True)], "vacuous"),
        ([(True, True, True, True), (False, True, True, False)], "undecided"),
        ([(False, True, True, False), (False, True, True, True)], "fails"),
    ],
)
def test_the_rule_of_the_verdict(holds: list, expected: Verdict) -> None:
    made = [
        Comparison(
            Side("a", float(not ok)),
            "=",
            Side("0", 0.0),
            within=within,
            asserted=asserted,
            decided=decided,
        )
        for ok, within, asserted, decided in holds
    ]
    assert verdict_of(made) == expected


def test_advice_that_is_followed_here_and_there_depends_on_the_batch() -> None:
    claim = claims()["S1-45"]
    met, missed = (
        Check((Comparison(Side("a", value), "≤", Side("1", 1.0)),)) for value in (0.5, 2.0)
    )
    tried = [((met,), "holds"), ((missed,), "fails"), ((met, missed), "depends")]
    for checks, expected in tried:
        assert [one.verdict for one in part_verdicts(claim, checks)] == [expected]
    stated = dataclasses.replace(claim, advice=False)
    assert [one.verdict for one in part_verdicts(stated, (met, missed))] == ["fails"]


def test_the_hessian_is_that_of_autograd() -> None:
    batch = S1_EXAMPLE

    def loss(scores: torch.Tensor) -> torch.Tensor:
        gaps = batch.scale * (scores[None, :] - scores[:, None])
        above = batch.labels[:, None] > batch.labels[None, :]
        return torch.cat([torch.zeros(1).double(), gaps[above]]).logsumexp(0)

    expected = torch.autograd.functional.hessian(loss, batch.scores)
    torch.testing.assert_close(hessian(batch), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    ("name", "latex", "expected"),
    [
        ("S0-example", r"\mathcal L", 7.919774e-06),
        ("S1-48", r"\langle u_1, u_4\rangle", 0.98494),
        ("S1-48", r"\cos(u_1, u_4)", 0.98556),
        ("S1-48", r"\mathcal L(\cos)", 3.415985),
        ("S1-48", r"\mathcal L(\langle\cdot,\cdot\rangle)", 3.4149),
        ("S1-48", r"\mathcal L_{(47)}", 0.7015),
        ("S1-49", r"w_{12}^{\cos}", 0.967),
        ("S1-23", r"H(y) - \mathcal L/\lambda", 0.6931 - 4.1744 / 20),
        ("S1-12", r"\sum w_{ij,kl}", 1 - math.exp(-3.415985)),
        ("S1-18", "S", 29.4466),
        ("S1-19", r"\lambda^2 N^2", 20**2 * 4**2),
        ("S1-19", r"2\lambda^2", 2 * 20**2),
        # Each pair with lower ones: −ln of their number, minus their mean λs, plus log Σ e^{λs}.
        ("S1-22", r"\operatorname{KL}(p\,\|\,q)", 8.2276 + 19.7459 + 13.2793),
        ("S1-28", "x_1", 29.4383),
        ("S1-38", r"N_{\text{viol}}", 1),
        ("S1-38", r"\ln 2", 0.693147),
        ("S1-39", r"\max(s_{kl} - s_{ij})^+", 0.98561 - 0.81650),
        ("S1-39", r"\ln(1 + |P|)/\lambda", math.log(7) / 20),
        ("S1-41", r"\log(1 + N_{\text{viol}}\,e^{2\lambda})", 40),
        ("S1-41", r"\log(1 + |P|\,e^{2\lambda})", 40 + math.log(6)),
        ("S1-50", r"10/\sigma_s", 10 / 0.372818),
        ("S1-50", r"30/\sigma_s", 30 / 0.372818),
        ("S2-ntxent", r"\mathcal L_{\text{S2}}", math.log(1 + 2 / math.e)),
        ("S2-ntxent", r"\mathcal L_{\text{SimCLR}}", math.log(1 + 4 / math.e)),
        # Only cos(u₂, u₃) = 0 is so far apart; the other two negatives are nearer.
        ("S4-range", r"\max d", math.sqrt(2)),
    ],
)
def test_the_figures_of_the_sources_example(name: str, latex: str, expected: float) -> None:
    check = checks_of(name)[0]
    sides = [side for one in check.comparisons for side in (one.left, one.right)]
    (value,) = {round(one.value, 12) for one in (*sides, *check.facts) if one.latex == latex}
    assert value == pytest.approx(expected, rel=6e-4 if expected > 1e-3 else 1e-6)


def test_the_equal_terms_of_eq_28() -> None:
    two = part_of("S1-28", batch_of_scored_pairs([0.5, 0.5, 0.5], [1, 0, 0]), "equality")
    assert [(one.left.value, one.right.value, one.holds) for one in two] == [
        (pytest.approx(1.386, abs=1e-3), pytest.approx(1.099, abs=1e-3), False)
    ]


def test_a_claim_is_checked_on_the_batch_at_hand() -> None:
    scenario = Scenario(data=Data(example="graded_english"), loss="cosent")
    found = explore(scenario)
    batch = claim_batch(found.batch, 20.0)
    assert loss_of(batch) == pytest.approx(found.loss, rel=1e-5)
    for claim in claims().values():
        parts = (
            {one.part for one in claim.check(batch).comparisons}
            if claim.needs != "nothing"
            else {"claim"}
        )
        assert parts <= {one.part for one in verdicts(claim.name)} | {"claim"}


def test_a_claim_names_losses_that_there_are_and_leads_back() -> None:
    for claim in claims().values():
        assert [one for one in claim.losses if one not in LOSSES] == []
        assert all(claim.name in claims_about(loss) for loss in claim.losses)
    assert "S1-38" in claims_about("cosent")


@pytest.mark.parametrize("claim", [one for one in claims().values() if one.needs != "nothing"])
def test_lambda_changes_the_description_of_the_scale(claim: Claim) -> None:
    batch = dataclasses.replace(random_batch(1), scale=2.0)
    one, other = (claim.check(b) for b in (batch, dataclasses.replace(batch, scale=30.0)))
    assert (repr(one) != repr(other)) == claim.scaled


def test_the_weights_do_not_underflow() -> None:
    """At a large λ the logarithms of the shares still differ."""
    steep = dataclasses.replace(S1_EXAMPLE, scale=900.0)
    within = [one for one in part_of("S1-40", steep, "claim") if one.within]
    assert within
    assert all(one.holds for one in within)
    assert float(cosent(steep.scores, steep.labels, scale=900.0)) > 100
