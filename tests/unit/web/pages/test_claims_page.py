"""What the page of claims asks for: a claim on a batch, all verdicts, and the runs that measure."""

from __future__ import annotations

import dataclasses

import pytest

from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.lab.claims.claim import Sample
from lossprism.explorer.lab.claims.claim_checks_on_test_batches import verdicts
from lossprism.explorer.lab.claims.claim_lookup import claims
from lossprism.explorer.lab.claims.training_claims import SYMBOLS, TRAININGS
from lossprism.explorer.lab.training.loss_refusal_reasons import checked_corpus
from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan
from lossprism.explorer.lab.training.run_control import Runs
from lossprism.explorer.lab.training.training_run import train
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.explorer.web.pages.claims import request_handlers
from lossprism.explorer.web.pages.claims.initial_page_data import page_data
from tests.tiny import save_bert
from tests.unit.lab.training.conftest import train_here

ASK = {function.__name__: function for function in request_handlers.SERVED}
MINE = Scenario(
    data=Data(
        source="table",
        rows=(("A cat.", "A kitten.", "1"), ("A bird.", "The sun.", "0"), ("Rain.", "Snow.", "1")),
    )
)

SMALL = {"encoder": SCRATCH, "dimension": 8, "steps": 3, "evaluations": 1, "vocabulary": 200}


def failed(answer: object) -> bool:
    return "error" in {field.name for field in dataclasses.fields(answer)}  # type: ignore[arg-type]


@pytest.mark.parametrize("name", claims())
def test_a_claim_comes_on_the_sources_numbers_and_on_the_batch(name: str) -> None:
    answer = ASK["row"]({"claim": name, "scale": 20, "scene": MINE.to_link()})
    assert not failed(answer)
    assert answer.tried == verdicts(name)
    about_batches = claims()[name].needs != "nothing"
    assert (answer.here is not None) == about_batches
    assert (answer.pairs, answer.total) == ((3, 3) if about_batches else (0, 0))
    shown = [answer.own, *([answer.here] if answer.here else [])]
    assert all(
        side.text for one in shown for row in one.comparisons for side in (row.left, row.right)
    )


def test_lambda_and_the_scenario_change_the_batch_and_not_the_source() -> None:
    request = {"claim": "S1-39", "scale": 20, "scene": MINE.to_link()}
    one, other = ASK["row"](request), ASK["row"]({**request, "scale": 100})
    assert one.own == other.own
    assert one.here.comparisons != other.here.comparisons
    assert ASK["row"]({**request, "scene": ""}).pairs == 24
    assert Scenario.from_link(one.scene).data == MINE.data


def test_of_a_large_batch_the_first_pairs_are_taken() -> None:
    many = Scenario(data=Data(source="random", random=RandomBatch(pairs=300)))
    answer = ASK["row"]({"claim": "S1-38", "scale": 20, "scene": many.to_link()})
    assert (answer.pairs, answer.total) == (256, 300)


def test_all_verdicts_come_at_once() -> None:
    found = ASK["verdicts"]({}).verdicts
    assert list(found) == list(claims())
    assert found["S1-48"] == "fails"
    assert found["S1-33"] == "fails"
    assert found["S1-advice-collapse"] == "undecided"


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("row", {"claim": "S1-1000", "scale": 20}),
        ("row", {"claim": "S1-39", "scale": 0}),
        ("row", {"claim": "S1-39", "scale": True}),
        ("row", {"claim": "S1-39", "scale": 20, "scene": "1.damaged"}),
        ("train", {"claim": "S1-39"}),
        ("follow", {"claim": "S1-39", "runs": ["a"]}),
        ("follow", {"claim": "S1-33", "runs": []}),
        ("follow", {"claim": "S1-33", "runs": ["nothing"]}),
        ("stop", {"runs": ["../nothing"]}),
    ],
)
def test_what_there_is_not_is_refused(name: str, request_: dict) -> None:
    assert failed(ASK[name](request_))


def test_the_page_knows_every_claim_before_it_asks() -> None:
    listed = page_data().listed
    assert [one.name for one in listed] == list(claims())
    assert {one.name for one in listed if one.trains} == set(TRAININGS)


@pytest.mark.trains
def test_runs_are_queued_followed_and_judged(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of an encoder from scratch stands for the embedded one, which takes a minute."""
    made = Runs(tmp_path / "runs", device="cpu")
    monkeypatch.setattr(request_handlers, "default_runs", lambda: made)
    monkeypatch.setattr(made, "_spawn", lambda run, *_: run.take_ticket(1))
    planned = TRAININGS["S1-33"].plans

    def scratch(scenario: Scenario, max_runs: int | None) -> list[TrainingPlan]:
        return [dataclasses.replace(plan, **SMALL) for plan in planned(scenario, max_runs)]

    shortened = dataclasses.replace(TRAININGS["S1-33"], plans=scratch)
    monkeypatch.setitem(TRAININGS, "S1-33", shortened)
    started = ASK["train"]({"claim": "S1-33", "scene": ""}).started
    for run in started:
        train(made.folder(run))
    followed = ASK["follow"]({"claim": "S1-33", "runs": started})
    assert (followed.done, followed.count, followed.problem) == (3, 3, None)
    assert [one.part for one in followed.found.parts] == ["trained", "corrected"]
    assert followed.found.sample == Sample(seeds=3, pairs=12, level="98%")
    assert followed.found.chart.curves[0].name == "measured"


@pytest.mark.trains
@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("S1-advice-loss", {"trained"}),
        ("S1-advice-gradient", {"trained", "clipping"}),
        ("S1-advice-collapse", {"trained"}),
    ],
)
def test_advice_is_judged_by_its_runs(tmp_path, name: str, parts: set[str]) -> None:
    """Two seeds each, as on a shared page."""
    runs = Runs(tmp_path / "runs", device="cpu")
    names = []
    for plan in TRAININGS[name].plans(Scenario(), 6):
        plan = dataclasses.replace(plan, **SMALL)
        names.append(train_here(runs, plan, checked_corpus(plan)))
    found = TRAININGS[name].judge(runs, names)
    assert {one.part for one in found.comparisons} == parts
    assert all(one.right.text or one.left.text for one in found.comparisons)


@pytest.mark.trains
def test_both_losses_are_trained_and_compared(tmp_path) -> None:
    (tmp_path / "model").mkdir()
    encoder = save_bert(tmp_path / "model", layers=1)
    runs, names = Runs(tmp_path / "runs", device="cpu"), []
    for plan in TRAININGS["S1-table"].plans(Scenario(), 6):
        plan = dataclasses.replace(plan, encoder=encoder, steps=3, evaluations=1)
        if plan.seed < 2:
            names.append(train_here(runs, plan, checked_corpus(plan)))
    found = TRAININGS["S1-table"].judge(runs, names)
    assert {one.part for one in found.comparisons} == {"trained"}
    figures = [one.latex for one in found.facts]
    for figure in SYMBOLS.values():
        assert len([one for one in figures if figure in one]) == 2
