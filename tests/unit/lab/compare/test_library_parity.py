"""Formula, autograd and installed libraries agree; what does not is shown, in red or by its
name."""

from __future__ import annotations

import argparse
import dataclasses
import threading
from html.parser import HTMLParser
from importlib.metadata import version

import pytest
import torch

from lossprism.explorer.core.batch import Batch, batch_of_scores, make_batch
from lossprism.explorer.core.scenario import Data, Rules
from lossprism.explorer.lab.compare import library_loss_calls
from lossprism.explorer.lab.compare import library_parity as parity_module
from lossprism.explorer.lab.compare.callable_library_peers import CallablePeer, peers_of
from lossprism.explorer.lab.compare.comparison_results import Sentence
from lossprism.explorer.lab.compare.library_parity import (
    EQUALITY_TOLERANCE,
    PRECISIONS,
    Row,
    parity,
)
from lossprism.explorer.lab.compare.parity_batches import (
    MAX_PAIRS,
    TRIPLE_BYTES,
    seeded_batch,
    shown_of,
)
from lossprism.explorer.lab.compare.parity_report import MARKS, report
from lossprism.explorer.lab.compare.terminal_commands import add_to, write_parity
from lossprism.explorer.locale import LANGUAGES, say
from lossprism.explorer.runtime import jobs
from lossprism.explorer.runtime.deployment_policy import HOSTED
from lossprism.explorer.runtime.limits import MIB
from lossprism.explorer.sources.pairs import Pairs
from lossprism.explorer.sources.random_batch import RandomBatch
from lossprism.losses import LOSSES
from lossprism.losses.library_peer_record import SCORES, SENTENCE_TRANSFORMERS
from lossprism.losses.spec import Convention
from tests.hostile import TEXTS
from tests.sentences import pattern_of

BATCH = seeded_batch()


@pytest.fixture(scope="module")
def rows():
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("pytorch_metric_learning")
    return parity(BATCH)


def of(rows, loss, convention="", library=""):
    return next(
        row
        for row in rows
        if (row.loss, row.convention) == (loss, convention) and library in row.library
    )


def test_every_loss_has_a_row_under_every_convention(rows):
    expected = [
        (name, convention)
        for name, spec in LOSSES.items()
        for convention in ("", *(one.name for one in spec.conventions))
    ]
    assert list(dict.fromkeys((row.loss, row.convention) for row in rows)) == expected


def test_nothing_differs_and_nothing_fails(rows):
    assert [row for row in rows if row.status in ("differs", "failed")] == []


def test_of_every_convention_it_is_known_who_computes_it(rows):
    """Or that it only stands in an article."""
    assert [(row.loss, row.convention) for row in rows if not row.library and row.called] == []
    printed = [
        (n, one.name) for n, spec in LOSSES.items() for one in spec.conventions if one.printed
    ]
    assert len(printed) == 4
    assert {of(rows, *one).status for one in printed} == {"alone"}


def test_an_unknown_convention_is_not_reported_as_nobodys():
    spec = dataclasses.replace(LOSSES["max_violation"], conventions=(Convention("new 1.0"),))
    plain, row = parity(BATCH, {"max_violation": spec})
    assert (plain.status, row.status, row.library) == ("alone", "not_called", "")


def test_the_public_functions_are_their_definitions(rows):
    for row in rows:
        for precision, found in row.kernel.items():
            assert found.worst <= EQUALITY_TOLERANCE[precision]


def test_the_value_is_that_of_the_definition_on_the_batch(rows):
    row = of(rows, "cosine_mse", library="torch")
    expected = (BATCH.scores - BATCH.labels / 5).square().mean()
    assert row.value == pytest.approx(float(expected))
    assert row.peer["float64"].value == pytest.approx(float(expected))
    assert row.version == version("torch")


@pytest.mark.parametrize("library", ["sentence-transformers", "pytorch-metric-learning", "torch"])
def test_installed_libraries_are_called_in_both_precisions(rows, library):
    known = [row for row in rows if row.library == library]
    assert len(known) > 3
    for row in known:
        assert row.version
        assert row.status in ("equal", "explained")
        assert all(row.peer[precision] is not None for precision in PRECISIONS)


def test_what_is_explained_says_by_what(rows):
    for row in rows:
        assert (row.status in ("explained", "not_installed")) == bool(row.because)
    both = "sentence-transformers 6.2 MultipleNegativesSymmetricRankingLoss"
    assert of(rows, "info_nce").status == "equal"
    row = of(rows, "info_nce", both)
    assert row.status == "explained"
    assert row.ours == of(rows, "info_nce").value != row.value
    ours = {"loss": say("en", "loss.info_nce.title"), "ours": "2.557", "convention": both}
    assert pattern_of(row.because[0].key, **ours).match(row.because[0].written())
    note = of(rows, "triplet", "sentence-transformers 6.2 TripletLoss").because[-1].written("zh")
    assert note == say("zh", "loss.triplet.note.sentence-transformers 6.2 TripletLoss")
    as_they_are = of(rows, "cosine_mse", "sentence-transformers 6.2 CosineSimilarityLoss")
    assert as_they_are.because[-1].key == "parity.because.note"
    assert "parity.because.float32" in {one.key for row in rows for one in row.because}


def test_a_peer_without_a_call_is_not_reported_as_missing(rows):
    """Installing it would not help."""
    row = of(rows, "arcface", "speechbrain 1.1.2, easy_margin")
    assert (row.status, row.library) == ("not_called", "speechbrain")
    assert row.peer == {"float64": None, "float32": None}


@pytest.mark.parametrize(
    ("loss", "convention"),
    [
        ("info_nce", "four directions in one softmax (GTE)"),
        ("info_nce", "hardness_mode in_batch_negatives (LLaVE)"),
        ("info_nce", "hardness_mode hard_negatives (EmbeddingGemma)"),
        ("info_nce", "hardness_mode all_negatives"),
        ("gist", ""),
        ("gist", "relative margin of 5 %"),
    ],
)
def test_hard_negatives_and_guides_of_sentence_transformers_are_called(rows, loss, convention):
    row = of(rows, loss, ", ".join(filter(None, ("sentence-transformers 6.2", convention))))
    assert row.status in ("equal", "explained")
    assert row.peer["float64"].worst < 1e-9
    assert "negatives" in row.fed


def test_the_inputs_of_every_called_library_are_reported(rows):
    for row in rows:
        assert bool(row.fed) == (row.peer["float64"] is not None)
    assert of(rows, "cosent", library="sentence-transformers").fed.startswith("first 24×16 (|·| ")
    lists = of(rows, "list_net", "sentence-transformers 6.2 ListNetLoss").fed
    assert lists.startswith("scores 8×3 (")  # several lists, and not one of all


@pytest.mark.parametrize("loss", ["margin_mse", "distill_kl"])
def test_dot_products_are_those_of_vectors_of_several_lengths(rows, loss):
    (convention,) = (one.name for one in LOSSES[loss].conventions if one.score == "dot")
    row = of(rows, loss, convention)
    assert row.status == "explained"
    assert row.value == pytest.approx(row.peer["float64"].value, rel=1e-9)
    assert row.value > 2 * row.ours  # on cosines it would be equal
    assert row.fed.startswith("first 24×16 (|·| ")


def test_the_defaults_of_the_library_stand_beside_our_parameters(rows):
    ours = of(rows, "contrastive", library="sentence-transformers")
    theirs = of(rows, "contrastive", "sentence-transformers 6.2 ContrastiveLoss")
    assert ours.value != pytest.approx(ours.at_defaults, rel=1e-3)
    assert theirs.value == pytest.approx(theirs.at_defaults, rel=1e-9)


def test_hard_negatives_need_as_many_for_each_query():
    with pytest.raises(ValueError, match="as many hard negatives for each query"):
        library_loss_calls.with_own_negatives()(
            torch.eye(2), torch.eye(2), torch.eye(2), torch.tensor([0, 0])
        )


LISTS = torch.tensor([[0.9, 0.3, 0.1], [0.2, 0.8, 0.5]]).double()
MASK = torch.tensor([[True, True, False], [True, True, True]])


@pytest.mark.parametrize(
    ("loss", "library"),
    [(n, lib) for n in ("list_net", "list_mle", "approx_ndcg") for lib in ("allRank", "rax")],
)
def test_lists_with_empty_places_are_called(loss, library):
    """Also lists of one candidate and with ties, where the library is installed."""
    pytest.importorskip({"allRank": "allrank.models.losses", "rax": "rax"}[library])
    for convention in LOSSES[loss].conventions:
        for peer in peers_of(LOSSES[loss].under(convention.name), convention.name):
            if peer.library == library:
                labels = torch.tensor([[2, 0, 0], [1, 1, 0]]).double()
                given = {"scores": LISTS, "labels": labels, "mask": MASK}
                spec = LOSSES[loss].under(convention.name)
                expected = spec.definition(**given, **spec.defaults)
                torch.testing.assert_close(peer.load()(**given), expected, rtol=1e-6, atol=1e-9)


def rows_with(monkeypatch, *peers):
    """The rows of CoSENT with these peers alone."""
    cosent = dataclasses.replace(LOSSES["cosent"], equivalent=None, conventions=())
    monkeypatch.setattr(parity_module, "peers_of", lambda *_: peers)
    return parity(BATCH, {"cosent": cosent})


def scaled(by_value, by_gradient):
    """CoSENT with another value and another gradient."""

    def computed(scores, labels):
        loss = LOSSES["cosent"].definition(scores, labels)
        return by_gradient * loss + (by_value - by_gradient) * loss.detach()

    return computed


@pytest.mark.parametrize(
    ("call", "status"),
    [
        (scaled(1.0, 1.0), "equal"),
        (scaled(1.001, 1.001), "differs"),
        (scaled(1.0, 1.001), "differs"),
        (scaled(1.001, 1.0), "differs"),
        (scaled(float("nan"), 1.0), "differs"),
        (lambda **_: 1 / 0, "failed"),
        (lambda **_: torch.ones(()), "failed"),
    ],
)
def test_a_library_that_computes_something_else_is_reported(monkeypatch, call, status):
    (row,) = rows_with(monkeypatch, CallablePeer("torch", "cosent", SCORES, {}, lambda: call))
    assert row.status == status
    if status == "failed":
        assert row.because[0].key == "parity.because.raised"


def test_its_own_arithmetic_excuses_no_more_than_it_is(monkeypatch):
    peers = (
        CallablePeer(
            "torch", "", SCORES, {}, lambda: scaled(1 + 1e-7, 1), 1e-6, "parity.because.float32"
        ),
        CallablePeer(
            "torch", "", SCORES, {}, lambda: scaled(1 + 1e-5, 1), 1e-6, "parity.because.float32"
        ),
    )
    assert [row.status for row in rows_with(monkeypatch, *peers)] == ["explained", "differs"]


def test_what_is_not_there_and_what_nobody_can_call_is_not_left_out(monkeypatch):
    peers = (
        CallablePeer("no-such-library", "Loss", SCORES, {}, lambda: scaled(1, 1)),
        CallablePeer("torch", "Loss"),
    )
    found = rows_with(monkeypatch, *peers)
    assert [(row.status, row.version is None) for row in found] == [
        ("not_installed", True),
        ("not_called", False),
    ]
    sentences = [one.written() for one in found[0].because]
    assert sentences == [say("en", "parity.because.not_installed", library="no-such-library")]
    assert found[1].because == ()


def test_a_public_function_that_differs_from_its_definition_is_reported():
    def cosent(scores, labels, *, scale=20.0):
        return 1.0001 * LOSSES["cosent"].function(scores, labels, scale=scale)

    spec = dataclasses.replace(LOSSES["cosent"], function=cosent, equivalent=None, conventions=())
    (row,) = parity(BATCH, {"cosent": spec})
    assert row.status == "differs"
    assert row.kernel["float64"].by_value.relative == pytest.approx(1e-4)
    assert row.because[0].key == "parity.because.kernel"


def test_a_loss_that_cannot_run_on_a_batch_says_why():
    pairs = Pairs(("a", "b"), ("c", "d"), (0.0, 1.0), scores=(0.5, 1.5))
    batch, losses = batch_of_scores(pairs, Rules()), ("triplet", "siglip")
    for row in parity(batch, {name: LOSSES[name] for name in losses}):
        assert (row.status, row.value) == ("failed", None)
        assert row.because[0].key == "problem.no_vectors"


# ---- The page


class Read(HTMLParser):
    """The elements of a page, their attributes, and its text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text, self.within = set(), set(), [], ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.within = tag
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data):
        if self.within != "style":
            self.text.append(data)


KNOWN = {"html", "head", "meta", "title", "style", "body", "main", "h1", "p", "dl", "dt", "dd"}
KNOWN |= {"div", "table", "thead", "tbody", "tr", "th", "td", "small", "br"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_reports_every_row(rows, language):
    page = report(rows, BATCH, language)
    read = Read(page)
    assert read.tags == KNOWN
    assert "default-src 'none'; style-src 'unsafe-inline'" in page
    assert "http" not in page.replace("http-equiv", "")
    text = " ".join(read.text)
    assert page.count("<tr class=") == len(rows)
    for row in rows:
        assert f"{MARKS[row.status]} {say(language, f'parity.status.{row.status}')}" in text
        assert row.convention in text
        assert row.called in text
    assert f"sentence-transformers {of(rows, 'angle').version}" in text
    assert "prefers-color-scheme: dark" in page
    assert "{" not in text


def test_no_text_becomes_markup():
    nothing = dict.fromkeys(PRECISIONS)
    for text in TEXTS:
        because = (Sentence("parity.because.raised", {"reason": text}),)
        row = Row(text, text, text, text, text, "failed", 1.0, 1.0, nothing, nothing, because)
        assert Read(report([row], BATCH)).tags == KNOWN
        assert Read(report([row], BATCH)).attributes == Read(report([], BATCH)).attributes | {
            "class"
        }


def typed(*words):
    parser = argparse.ArgumentParser()
    add_to(parser.add_subparsers(dest="command"))
    return parser.parse_args(["parity", *words])


def test_the_command_writes_the_page(rows, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("lossprism.explorer.lab.compare.library_parity.parity", lambda batch: rows)
    out = tmp_path / "report.html"
    assert write_parity(typed("--out", str(out))) == 0
    assert out.read_text(encoding="utf-8") == report(rows, BATCH)
    assert capsys.readouterr().out.startswith(f"Wrote {out}: equal ")
    assert write_parity(typed("--out", str(tmp_path / "no" / "report.html"))) == 1
    assert "No such file" in capsys.readouterr().err
    wrong = [dataclasses.replace(rows[0], status="differs")]
    monkeypatch.setattr("lossprism.explorer.lab.compare.library_parity.parity", lambda batch: wrong)
    assert write_parity(typed("--out", str(out), "--language", "zh")) == 1
    assert SENTENCE_TRANSFORMERS in out.read_text(encoding="utf-8")


def drawn(pairs: int) -> Batch:
    random = RandomBatch(pairs=pairs, dimension=8, labels="graded")
    return make_batch(Data(source="random", random=random), Rules())


def test_of_a_large_batch_the_first_pairs_are_taken(monkeypatch):
    """As many as a library has room for that compares every three."""
    few, many = drawn(MAX_PAIRS), drawn(MAX_PAIRS + 40)
    assert shown_of(few) is few
    for hosted in (False, True):
        if hosted:
            monkeypatch.setenv(HOSTED, "1")
            monkeypatch.setenv("LOSSPRISM_REQUEST_MIB", "100")
        shown = shown_of(many)
        count = len(shown)
        assert count == MAX_PAIRS or (
            hosted and TRIPLE_BYTES * count**3 <= 100 * MIB < TRIPLE_BYTES * 128**3
        )
        assert shown.pairs.first == many.pairs.first[:count]
        torch.testing.assert_close(shown.scores, many.scores[:count])


def test_it_ends_when_the_client_has_left():
    left = threading.Event()
    left.set()
    with jobs.cancelled_when(left), jobs.job(), pytest.raises(jobs.Cancelled):
        parity(BATCH, {"cosent": LOSSES["cosent"]})
