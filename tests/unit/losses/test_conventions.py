"""Every convention preset against the library it is named after."""

import importlib
import inspect
import math
import re
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.losses import LOSSES
from lossprism.losses.geometry import unit
from lossprism.losses.inputs_that_losses_may_read import READABLE
from lossprism.losses.labels import unit_labels
from tests.unit.losses.made import inputs_for

MADE = torch.Generator().manual_seed(12)
FIRST, SECOND, THIRD = torch.randn(3, 8, 6, generator=MADE).double()
CLASSES = torch.tensor([0, 1, 0, 2, 1, 0, 3, 1])  # two singletons
GRADES = torch.tensor([0.0, 1.0, 2.0, 2.0, 5.0, 3.0, 1.0, 0.0]).double()
BINARY = torch.tensor([0, 1, 1, 0, 0, 1, 0, 1])
SCORES = torch.rand(8, generator=MADE).double() * 2 - 1

# What published code printed a number for, each run once in float64: as installed from its registry
# where its test names a version, and the authors' file where it names a commit.
SINES = torch.arange(48).reshape(8, 6).double().sin()
COSINES = (1.3 * torch.arange(48)).reshape(8, 6).double().cos()
HARD = (0.7 * torch.arange(96)).reshape(8, 2, 6).double().sin()  # two of each row
EVERY_CLASS = torch.tensor([0, 1, 1, 0, 2, 3, 2, 3])  # each has two

COVERED: set[tuple[str, str]] = set()


def ours(name, convention, **given):
    COVERED.add((name, convention))
    spec = LOSSES[name].under(convention)
    needed = {name for name, what in spec.reads.items() if not READABLE[what].optional}
    assert set(given) >= needed
    return spec.definition(**given, **spec.defaults)


def same(found, expected, rtol=1e-10):
    torch.testing.assert_close(
        found, torch.as_tensor(expected, dtype=found.dtype).reshape(()), rtol=rtol, atol=1e-12
    )


@pytest.fixture
def st():
    return pytest.importorskip("sentence_transformers.sentence_transformer.losses")


@pytest.fixture
def pml():
    return pytest.importorskip("pytorch_metric_learning.losses")


def on_embeddings(loss, embeddings, labels=None):
    return loss.compute_loss_from_embeddings(list(embeddings), labels)


# Losses on pair scores


def test_cosent_sentence_transformers(st):
    expected = on_embeddings(st.CoSENTLoss(None), (FIRST, SECOND), GRADES)
    scores = (unit(FIRST) * unit(SECOND)).sum(dim=1)
    same(
        ours("cosent", "sentence-transformers 6.2 CoSENTLoss", scores=scores, labels=GRADES),
        expected,
    )


def test_cosent_as_s0_prints_it():
    """Its own batch, and the matrix it prints: −10¹² where the labels set no order."""
    given = {"scores": torch.tensor([0.1, 0.2, 0.8, 0.9]), "labels": torch.tensor([0, 0, 1, 1])}
    found = explore(
        Scenario(
            data=Data(example="cosent_batch"),
            loss="cosent",
            convention="S0 (−10¹²)",
        )
    )
    printed = [
        [-1e12, -1e12, -14, -16],
        [-1e12, -1e12, -12, -14],
        [-1e12, -1e12, -1e12, -1e12],
        [-1e12, -1e12, -1e12, -1e12],
    ]
    terms = found.trace.last("terms").value
    torch.testing.assert_close(terms, torch.tensor(printed).double(), rtol=1e-10, atol=0)
    exponents = torch.tensor([0.0, -14, -16, -12, -14]).double()
    convention = "S0 (−10¹²)"
    same(found.trace.loss, exponents.logsumexp(dim=0), rtol=1e-9)
    same(ours("cosent", convention, **given), 7.919774e-06, rtol=0.02)  # as float32 has it


def test_angle_sentence_transformers(st):
    expected = on_embeddings(st.AnglELoss(None), (FIRST, SECOND), GRADES)
    given = {"first": FIRST, "second": SECOND, "labels": GRADES}
    same(ours("angle", "sentence-transformers 6.2 AnglELoss", **given), expected)


def test_angle_as_its_authors_call_it():
    """As angle_loss of angle_emb prints it."""
    given = {"first": SINES, "second": COSINES, "labels": GRADES}
    same(ours("angle", "AnglE 0.6.1 (function default)", **given), 3.297859138032333)


def test_cosine_mse_sentence_transformers(st):
    expected = on_embeddings(st.CosineSimilarityLoss(None), (FIRST, SECOND), GRADES / 5)
    scores = torch.cosine_similarity(FIRST, SECOND)
    found = ours(
        "cosine_mse",
        "sentence-transformers 6.2 CosineSimilarityLoss",
        scores=scores,
        labels=GRADES / 5,
    )
    same(found, expected, rtol=1e-6)  # the library lowers the labels to float32


def test_cosine_mse_takes_labels_as_they_are(st):
    """Of 0 to 5 too, which no cosine reaches; in its own convention they are brought to 0…1."""
    spec = LOSSES["cosine_mse"]
    convention = "sentence-transformers 6.2 CosineSimilarityLoss"
    assert spec.under(convention).reads["labels"] == "labels"
    assert spec.reads["labels"] == "cosine_labels"
    expected = on_embeddings(st.CosineSimilarityLoss(None), (FIRST, SECOND), GRADES)
    scores = torch.cosine_similarity(FIRST, SECOND)
    same(ours("cosine_mse", convention, scores=scores, labels=GRADES), expected, rtol=1e-6)


class Scorer(torch.nn.Module):
    """Stands in for a cross-encoder: a document is the name of its logit."""

    num_labels, device = 1, torch.device("cpu")

    def preprocess(self, pairs, **_):
        return {"place": torch.tensor([int(document) for _, document in pairs])}

    def forward(self, features):
        return {"scores": SCORES[features["place"]]}


def test_ranknet_sentence_transformers():
    cross = pytest.importorskip("sentence_transformers.cross_encoder.losses")
    documents = [str(place) for place in range(8)]
    expected = cross.RankNetLoss(Scorer())((["query"], [documents]), [GRADES])
    given = {"scores": SCORES, "labels": GRADES}
    found = ours(
        "pairwise_logistic", "sentence-transformers 6.2 RankNetLoss (mean / ln 2)", **given
    )
    same(found, expected, rtol=1e-6)  # the library lowers scores to float32


# What the libraries below printed for one list, each run as it is installed from its registry:
# rax 0.4.0 (float64); tensorflow-ranking 0.5.5, PairwiseLogisticLoss of its Keras losses and
# make_loss_fn("pairwise_logistic_loss"); keras-rs 0.4.0; allRank's rankNet and
# rankNet_weightByGTDiff, which answers in float32.
LIST = {
    "scores": torch.tensor([1.25, -0.5, 0.75, 2.0, -1.0, 0.25, 0.0, -0.25]).double(),
    "labels": torch.tensor([0, 1, 2, 2, 5, 3, 1, 0]),
}
PRINTED = {
    "rax 0.4.0 pairwise_logistic_loss": (1.0121069277385746,),
    "allRank 1.4.3, TF-Ranking 0.5.5": (1.0121069277385746, 1.0121068954467773),
    "allRank 1.4.3 rankNet_weightByGTDiff": (2.5537781715393066,),
    "keras-rs 0.4.0 PairwiseLogisticLoss (sum / N)": (3.1628342,),
    "TF-Ranking 0.5.5, Keras PairwiseLogisticLoss (sum / N)": (3.1628342,),
}


@pytest.mark.parametrize("convention", PRINTED)
def test_ranknet_as_libraries_print_it(convention):
    for printed in PRINTED[convention]:
        same(ours("pairwise_logistic", convention, **LIST), printed, rtol=1e-7)


def test_ranknet_rax():
    """Its default, on four documents: the mean over ordered pairs, whatever its docstring says."""
    given = {"scores": torch.tensor([0.0, 3, 1, 2]).double(), "labels": torch.tensor([0, 0, 1, 1])}
    same(
        ours("pairwise_logistic", "rax 0.4.0 pairwise_logistic_loss", **given),
        0.9700948492805979,
        rtol=1e-12,
    )


# The same of the pairwise hinge; of TF-Ranking what its doctest prints.
def test_hinge_as_libraries_print_it():
    """None of them weighs by the label difference."""
    same(ours("pairwise_hinge", "rax 0.4.0 pairwise_hinge_loss", **LIST), 1.37, rtol=1e-12)
    convention = "keras-rs 0.4.0 PairwiseHingeLoss (sum / N)"
    same(ours("pairwise_hinge", convention, **LIST), 4.28125, rtol=1e-12)
    given = {"scores": torch.tensor([0.6, 0.8]).double(), "labels": torch.tensor([1, 0])}
    convention = "TF-Ranking 0.5.5, Keras PairwiseHingeLoss (sum / N)"
    same(ours("pairwise_hinge", convention, **given), 0.6, rtol=1e-7)


def test_margin_ranking_of_torch_on_all_ordered_pairs():
    scores = torch.randn(9, generator=torch.Generator().manual_seed(1)).double()
    labels = torch.tensor([0.0, 1, 2, 2, 0.5, 1, 0, 3, -1])
    higher, lower = (labels[:, None] > labels).nonzero(as_tuple=True)
    expected = nn.MarginRankingLoss()(scores[higher], scores[lower], torch.ones(len(higher)))
    given = {"scores": scores, "labels": labels}
    same(ours("pairwise_hinge", "torch 2.13 MarginRankingLoss", **given), expected)


def test_ranknet_of_keras_rs_moves_no_tie():
    """As keras-rs 0.4.0 on torch prints it: ln 2 with a gradient of 0 at three equal scores."""
    scores = torch.zeros(3).double().requires_grad_()
    given = {"scores": scores, "labels": torch.tensor([0, 1, 2])}
    found = ours("pairwise_logistic", "keras-rs 0.4.0 PairwiseLogisticLoss (sum / N)", **given)
    same(found, 0.6931471824645996, rtol=1e-7)
    assert torch.autograd.grad(found, scores)[0].tolist() == [0, 0, 0]
    plain = ours(
        "pairwise_logistic", "TF-Ranking 0.5.5, Keras PairwiseLogisticLoss (sum / N)", **given
    )
    assert torch.autograd.grad(plain, scores)[0].abs().min() == 0
    assert (
        torch.autograd.grad(
            ours("pairwise_logistic", "rax 0.4.0 pairwise_logistic_loss", **given), scores
        )[0][0]
        > 0.3
    )


def test_ranknet_rax_as_installed():
    rax = pytest.importorskip("rax")
    expected = rax.pairwise_logistic_loss(LIST["scores"].numpy(), LIST["labels"].numpy())
    same(
        ours("pairwise_logistic", "rax 0.4.0 pairwise_logistic_loss", **LIST),
        float(expected),
        rtol=1e-6,
    )


def test_ranknet_of_the_doctest_of_tf_ranking():
    """tensorflow_ranking.keras.losses.PairwiseLogisticLoss()([[1., 0.]], [[0.6, 0.8]])."""
    given = {"scores": torch.tensor([0.6, 0.8]).double(), "labels": torch.tensor([1, 0])}
    same(
        ours(
            "pairwise_logistic", "TF-Ranking 0.5.5, Keras PairwiseLogisticLoss (sum / N)", **given
        ),
        0.39906943,
        rtol=1e-7,
    )


def test_binary_cross_entropy_sentence_transformers():
    cross = pytest.importorskip("sentence_transformers.cross_encoder")

    class CrossScorer(Scorer, cross.CrossEncoder):  # the library asks for its own kind
        def __init__(self):
            torch.nn.Module.__init__(self)

    pairs = [["query"] * 8, [str(place) for place in range(8)]]
    expected = cross.losses.BinaryCrossEntropyLoss(CrossScorer())(pairs, BINARY)
    given = {"scores": SCORES, "labels": BINARY}
    same(
        ours("binary_cross_entropy", "sentence-transformers 6.2 BinaryCrossEntropyLoss", **given),
        expected,
        rtol=1e-6,
    )
    graded = cross.losses.BinaryCrossEntropyLoss(CrossScorer())(pairs, GRADES / 4)
    given["labels"] = GRADES / 4  # up to 1.25
    same(
        ours("binary_cross_entropy", "sentence-transformers 6.2 BinaryCrossEntropyLoss", **given),
        graded,
        rtol=1e-6,
    )
    probabilities = unit_labels(GRADES, (0.0, 5.0))
    converted = "sentence-transformers 6.2 BinaryCrossEntropyLoss, labels brought to 0…1"
    same(
        ours("binary_cross_entropy", converted, scores=SCORES, labels=probabilities),
        cross.losses.BinaryCrossEntropyLoss(CrossScorer())(pairs, probabilities),
        rtol=1e-6,
    )


def test_binary_cross_entropy_torch():
    given = {"scores": SCORES, "labels": GRADES.double()}
    expected = torch.nn.BCEWithLogitsLoss()(SCORES, GRADES.double())
    convention = "sentence-transformers 6.2 BinaryCrossEntropyLoss"
    same(ours("binary_cross_entropy", convention, **given), expected)


def test_circle_pytorch_metric_learning(pml):
    expected = pml.CircleLoss()(FIRST, CLASSES)
    given = {"embeddings": FIRST, "classes": CLASSES}
    convention = "pytorch-metric-learning 2.9 CircleLoss (per anchor)"
    same(ours("circle_self_paced", convention, **given), expected)


def test_circle_gradient_pytorch_metric_learning(pml):
    convention = "pytorch-metric-learning 2.9 CircleLoss (per anchor)"
    mine, theirs = (FIRST.clone().requires_grad_() for _ in range(2))
    ours("circle_self_paced", convention, embeddings=mine, classes=CLASSES).backward()
    pml.CircleLoss()(theirs, CLASSES).backward()
    torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-9, atol=1e-9)


def test_circle_of_the_paper():
    given = {"scores": SCORES, "labels": BINARY}
    total = sum(
        math.exp(
            256 * max(0, s_n + 0.25) * (s_n - 0.25) - 256 * max(0, 1.25 - s_p) * (s_p - 0.75) - 700
        )
        for s_p in SCORES[BINARY == 1].tolist()
        for s_n in SCORES[BINARY == 0].tolist()
    )
    same(ours("circle_self_paced", "paper (γ = 256)", **given), 700 + math.log(total))


# Losses on in-batch negatives


@pytest.mark.parametrize("negatives", [None, THIRD])
def test_info_nce_sentence_transformers(st, negatives):
    columns = [FIRST, SECOND] + ([] if negatives is None else [negatives])
    given = {"queries": FIRST, "keys": SECOND, "negatives": negatives}
    for name in ("MultipleNegativesRankingLoss", "MultipleNegativesSymmetricRankingLoss"):
        expected = on_embeddings(getattr(st, name)(None), columns)
        same(ours("info_nce", f"sentence-transformers 6.2 {name}", **given), expected)


LIBRARY = "sentence-transformers 6.2, "
RECIPES = {
    "four directions in one softmax (GTE)": {
        "directions": ("query_to_doc", "query_to_query", "doc_to_query", "doc_to_doc")
    },
    "both directions in one softmax": {"directions": ("query_to_doc", "doc_to_query")},
    "hardness_mode in_batch_negatives (LLaVE)": {
        "hardness_mode": "in_batch_negatives",
        "hardness_strength": 9.0,
    },
    "hardness_mode hard_negatives (EmbeddingGemma)": {
        "hardness_mode": "hard_negatives",
        "hardness_strength": 5.0,
    },
    "hardness_mode all_negatives": {"hardness_mode": "all_negatives", "hardness_strength": 5.0},
    "dot products": {"scale": 1.0, "similarity_fct": lambda first, second: first @ second.T},
}


@pytest.mark.parametrize("recipe", RECIPES)
def test_info_nce_by_the_recipes_of_sentence_transformers(st, recipe):
    """With hard negatives of each query, and without."""
    loss = st.MultipleNegativesRankingLoss(None, **RECIPES[recipe])
    for columns in ((FIRST, SECOND), (FIRST, SECOND, THIRD)):
        given = {"queries": FIRST, "keys": SECOND}
        if len(columns) > 2:
            given["negatives"] = THIRD[:, None]
        same(ours("info_nce", LIBRARY + recipe, **given), on_embeddings(loss, columns))


def test_info_nce_without_negatives_of_the_batch():
    """As _compute_no_in_batch_neg_loss of FlagEmbedding 1.4.2 (its encoder-only model, on unit
    vectors, each query's passages after its own) and InfoNCE of info-nce-pytorch print it."""
    cases = [
        (
            "FlagEmbedding 1.4.2, without in-batch negatives",
            {"own_negatives": HARD},
            32.84671097438004,
        ),
        (
            "RElbers/info-nce-pytorch 0.1.4, unpaired negatives",
            {"negatives": HARD[:, 0]},
            8.800880953802942,
        ),
        (
            "RElbers/info-nce-pytorch 0.1.4, paired negatives",
            {"own_negatives": HARD},
            6.636284436965708,
        ),
    ]
    for convention, given, printed in cases:
        same(ours("info_nce", convention, queries=SINES, keys=COSINES, **given), printed)


def test_info_nce_of_nemo():
    """As infonce_loss of NeMo Automodel prints it: of both directions one has no hard negatives,
    and direction=d2q is the function's key_to_query."""
    given = {"queries": SINES, "keys": COSINES, "own_negatives": HARD}
    convention = "NeMo Automodel 0.7.0, direction=symmetric"
    same(ours("info_nce", convention, **given), 14.862437848473702)
    spec = LOSSES["info_nce"]
    backwards = spec.function(**given, temperature=0.05, directions="key_to_query")
    same(backwards, 11.395588518342684)


@pytest.mark.parametrize(
    ("margin", "printed"), [(0.0, 6.867481557277906), (0.3, 10.52075193695839)]
)
def test_focal_info_nce_of_its_authors(margin, printed):
    """As the cross-entropy of sp_logits in focalNCE/models.py prints it, whose m is 0.3."""
    convention = "puerrrr/Focal-InfoNCE bba18e4 (the authors' code, m = 0.3)"
    given = {"queries": SINES, "keys": COSINES}
    if margin == 0.3:
        same(ours("focal_info_nce", convention, **given), printed)
    spec = LOSSES["focal_info_nce"].under(convention)
    same(spec.definition(**given, margin=margin), printed)


def test_decoupled_of_lightly():
    """As DCLLoss and DCLWLoss of lightly 1.6.0 print it; the weights carry no gradient."""
    convention = "lightly 1.6.0"
    given = {"first": SINES, "second": COSINES}
    same(ours("decoupled", convention, **given), 10.99269518472369)
    spec = LOSSES["decoupled"].under(convention)
    same(ours("decoupled", "lightly 1.6.0 DCLWLoss", **given), 17.352845829224684)
    first = SINES.clone().requires_grad_()
    (slope,) = torch.autograd.grad(spec.definition(first, COSINES, weighted=True), first)
    cosines = torch.cosine_similarity(SINES, COSINES)
    weights = 2 - 8 * (cosines / 0.5).softmax(dim=0)
    pull = (weights * torch.cosine_similarity(first, COSINES)).mean() / 0.1
    (plain,) = torch.autograd.grad(
        spec.definition(first, COSINES)
        + torch.cosine_similarity(first, COSINES).mean() / 0.1
        - pull,
        first,
    )
    torch.testing.assert_close(slope, plain, rtol=1e-9, atol=1e-12)
    spread = LOSSES["decoupled"].function(first, COSINES, temperature=0.1, weighted=True)
    assert not torch.allclose(torch.autograd.grad(spread, first)[0], slope)


def test_decoupled_of_lightly_between_its_reference_values():
    spec = LOSSES["decoupled"].under("lightly 1.6.0")
    alike = {"first": torch.ones(4, 3).double(), "second": torch.ones(4, 3).double()}
    same(spec.definition(**alike), spec.collapse(alike, temperature=0.1))
    corners = torch.eye(4).double() - 0.25
    best = {"first": corners, "second": corners}
    for weighted in (False, True):
        same(spec.definition(**best, weighted=weighted), spec.floor(best, temperature=0.1))


def test_info_nce_of_swift_masks_no_key_of_another():
    """As infonce_loss of ms-swift 3.12.6 and InfonceLoss of 4.6.0 print it on unit vectors, with
    INFONCE_MASK_FAKE_NEGATIVE, INCLUDE_QQ and INCLUDE_DD; 62 keys are near another's, and stay."""
    queries, keys, more = (unit(one) for one in (SINES, COSINES, HARD[:, 0]))
    own = (queries * keys).sum(dim=1, keepdim=True)
    assert (keys @ torch.cat((keys, more)).T > own + 0.1).sum() == 62
    convention = "ms-swift 3.12.6 (Qwen3-Embedding)"
    given = {"queries": queries, "keys": keys}
    same(ours("info_nce", convention, **given, negatives=more), 10.685763199929932)
    same(ours("info_nce", convention, **given, negatives=None), 10.649374938780737)


def test_info_nce_of_clip():
    """As open_clip's ClipLoss prints it."""
    found = ours(
        "info_nce",
        "CLIP (initial temperature), open_clip 3.3.0 ClipLoss",
        queries=SINES,
        keys=COSINES,
    )
    same(found, 10.774346855331096)


def test_nt_xent_is_the_two_way_ranking_loss_with_keys_from_both_sides(st, pml):
    directions = ("query_to_doc", "query_to_query")
    loss = st.MultipleNegativesRankingLoss(None, scale=2.0, directions=directions)
    there, back = (on_embeddings(loss, pair) for pair in ((FIRST, SECOND), (SECOND, FIRST)))
    found = ours("nt_xent", "SimCLR", first=FIRST, second=SECOND)
    same(found, (there + back) / 2)
    views, classes = torch.cat((FIRST, SECOND)), torch.arange(8).repeat(2)
    same(found, pml.NTXentLoss(temperature=0.5)(views, classes))
    one_way = on_embeddings(st.MultipleNegativesRankingLoss(None, scale=2.0), (FIRST, SECOND))
    assert abs(found - one_way) > 0.1  # not the library's default


@pytest.mark.parametrize(
    ("temperature", "printed"), [(1.0, 3.2354875), (0.5, 3.2279434), (0.1, 8.890535)]
)
def test_nt_xent_of_the_code_of_simclr_prints(temperature, printed):
    """add_contrastive_loss of google-research/simclr, run with tensorflow 2.15 on these views."""
    first = torch.tensor([[1, 2], [-1, 1], [0.5, -2], [3, 1]]).double()
    second = torch.tensor([[2, 1], [-1, 2], [1, -1], [-1, -1]]).double()
    convention = "SimCLR, google-research/simclr be133b3 (both directions added)"
    ours("nt_xent", convention, first=first, second=second)
    spec = LOSSES["nt_xent"].under(convention)
    assert spec.defaults == {"temperature": 0.1}
    found = spec.definition(first, second, temperature=temperature)
    same(found, printed, rtol=1e-6)
    paper = LOSSES["nt_xent"].under("SimCLR").definition(first, second, temperature=temperature)
    same(found, 2 * paper)


def test_nt_xent_of_several_positives(pml):
    expected = pml.NTXentLoss()(FIRST, CLASSES)
    given = {"embeddings": FIRST, "classes": CLASSES}
    same(
        ours("nt_xent", "pytorch-metric-learning 2.9 (several positives)", **given),
        expected,
    )


def test_nt_xent_of_the_library_saturates(pml):
    """What its convention's note says: no term beyond 87.3 in float32, and no gradient there."""
    away = torch.tensor([[1.0, 0], [-1, 0.01], [1, 0.02], [-1, 0.03]]).requires_grad_()
    classes = torch.tensor([0, 0, 1, 1])
    library = pml.NTXentLoss(temperature=0.01)(away, classes)
    assert library.item() == pytest.approx(-math.log(torch.finfo(torch.float32).tiny), rel=1e-3)
    assert torch.autograd.grad(library, away)[0].abs().max() < 1e-3
    spec = LOSSES["nt_xent"].under("pytorch-metric-learning 2.9 (several positives)")
    found = spec.definition(away, classes, temperature=0.01)
    assert found > 150
    assert torch.autograd.grad(found, away)[0].abs().max() > 0.01
    assert "87.3" in spec.note


def test_vicreg_pytorch_metric_learning(pml):
    convention = "pytorch-metric-learning 2.9 VICRegLoss, facebookresearch/vicreg (λ/D, μ/2)"
    given = {"first": FIRST, "second": SECOND}
    same(ours("vicreg", convention, **given), pml.VICRegLoss()(FIRST, ref_emb=SECOND))
    # Of few rows, of which two dimensions do not vary.
    near = FIRST[:3] * torch.tensor([1, 1, 1, 1, 0, 0])
    given = {"first": near, "second": near + 0.1 * SECOND[:3]}
    expected = pml.VICRegLoss()(given["first"], ref_emb=given["second"])
    same(ours("vicreg", convention, **given), expected)


def test_barlow_twins_of_its_authors():
    """As forward of BarlowTwins in main.py prints it without backbone and projector, on one
    process; of vectors so short that its ε shows, too."""
    convention = "facebookresearch/barlowtwins 046eec3 (batch normalisation with ε, λ = 0.0051)"
    printed = [
        (SINES, COSINES, 7.790405370452942),
        (SINES, SINES + 0.3 * COSINES, 0.1989287812516033),
        (0.01 * SINES, 0.01 * COSINES, 7.284308763614275),
    ]
    for first, second, expected in printed:
        same(ours("barlow_twins", convention, first=first, second=second), expected)
    convention = "lightly 1.6.0 BarlowTwinsLoss (batch normalisation with ε)"
    same(ours("barlow_twins", convention, first=SINES, second=COSINES), 7.790175379373596)


@pytest.mark.parametrize("count", [1, 2, 8])  # one row has no pair
def test_orthogonal_sentence_transformers(st, count):
    given = {"first": FIRST[:count], "second": SECOND[:count] + 1}
    plain = on_embeddings(st.GlobalOrthogonalRegularizationLoss(None), given.values())
    convention = "sentence-transformers 6.2 GlobalOrthogonalRegularizationLoss"
    same(ours("orthogonal", convention, **given), sum(plain.values()))
    loss = st.GlobalOrthogonalRegularizationLoss(None, mean_weight=0, aggregation="sum")
    (moment,) = on_embeddings(loss, given.values()).values()
    same(ours("orthogonal", "EmbeddingGemma (second moment alone, summed)", **given), moment)


def test_supcon_pytorch_metric_learning(pml):
    given = {"embeddings": FIRST, "classes": CLASSES}
    expected = pml.SupConLoss(temperature=0.1)(FIRST, CLASSES)
    same(ours("supcon", "pytorch-metric-learning 2.9", **given), expected)


# Six vectors, two of which are given: with classes, and as two views of three.
SIX = torch.tensor([[1, 2], [-1, 1], [0.5, -2], [3, 1], [2, 1], [-1, 2]]).double()
SIX_CLASSES = torch.tensor([0, 0, 1, 0, 2, 1])  # one alone


@pytest.mark.parametrize(
    ("temperature", "printed"),
    [(0.07, 11.945409281008962), (0.1, 12.050023469412709), (0.5, 16.047337888831294)],
)
def test_supcon_of_supcontrast_prints(temperature, printed):
    """losses.py of SupContrast, run on unit vectors [6, 1, 2]: × τ/0.07, and a lonely anchor
    counts as a zero."""
    convention = (
        "SupContrast, unreleased, December 2023 (anchors without a positive count as zeros)"
    )
    given = {"embeddings": SIX, "classes": SIX_CLASSES}
    ours("supcon", convention, **given)
    spec = LOSSES["supcon"].under(convention)
    same(spec.definition(**given, temperature=temperature), printed)
    fast = next(c.function for c in LOSSES["supcon"].conventions if c.name == convention)
    same(fast(**given, temperature=temperature), printed)


@pytest.mark.parametrize("classes", [CLASSES, torch.zeros(8).long(), torch.arange(8)])
def test_supcon_pytorch_metric_learning_of_any_classes(pml, classes):
    """Of one class it is 0, and so it is without a positive."""
    given = {"embeddings": FIRST, "classes": classes}
    same(
        ours("supcon", "pytorch-metric-learning 2.9", **given),
        pml.SupConLoss(temperature=0.1)(FIRST, classes),
    )


def test_supcon_pytorch_metric_learning_leaves_anchors_out_whose_loss_is_zero(pml):
    embeddings = torch.tensor([[1.0, 0], [1, 0], [-1, 0], [-1, 0.3], [0, 1]]).double()
    given = {"embeddings": embeddings, "classes": torch.tensor([0, 0, 1, 1, 1])}
    spec = LOSSES["supcon"].under("pytorch-metric-learning 2.9")
    expected = pml.SupConLoss(temperature=0.01)(embeddings, given["classes"])
    same(spec.definition(**given, temperature=0.01), expected)
    assert expected > 1.3 * LOSSES["supcon"].function(**given, temperature=0.01)


def test_supcon_of_s2_has_the_anchor_among_its_positives():
    logits = unit(FIRST) @ unit(FIRST).T / 0.1
    same_class = CLASSES[:, None] == CLASSES[None, :]
    log_p = logits.log_softmax(dim=1)
    expected = -sum(log_p[i, same_class[i]].mean() for i in range(8)) / 8
    given = {"embeddings": FIRST, "classes": CLASSES}
    same(ours("supcon", "S2 (the anchor is its own positive)", **given), expected)


def test_siglip_open_clip():
    """As its SigLipLoss prints it."""
    found = ours("siglip", "open_clip 3.3.0 (initial values)", queries=SINES, keys=COSINES)
    same(found, 11.041561565938764)


def test_siglip_averaged_over_cells():
    """big_vision #115: the sum over all cells of a row is what its code averages over rows."""
    given = {"queries": SINES, "keys": COSINES}
    found = ours("siglip", "averaged over cells (big_vision issue 179, unreleased)", **given)
    same(found, 11.041561565938764 / len(SINES))
    spec = LOSSES["siglip"]
    cells = spec.under("averaged over cells (big_vision issue 179, unreleased)")
    for reference_value in ("collapse", "floor"):
        rows = getattr(spec, reference_value)(given, **spec.defaults)
        assert getattr(cells, reference_value)(given, **cells.defaults) == pytest.approx(rows / 8)


def guided(st, **settings):
    """The library's loss on vectors, its two models standing in for themselves."""
    loss = st.GISTEmbedLoss.__new__(st.GISTEmbedLoss)
    torch.nn.Module.__init__(loss)
    chosen = {"margin": 0.0, "margin_strategy": "absolute", "temperature": 0.01, **settings}
    chosen |= {"contrast_anchors": True, "contrast_positives": True}
    chosen |= {"gather_across_devices": False, "must_retokenize": False}
    vars(loss).update(chosen)
    loss.similarity_fct = torch.nn.CosineSimilarity(dim=-1)
    loss.cross_entropy_loss = torch.nn.CrossEntropyLoss()
    loss.model = lambda feature: {"sentence_embedding": feature["model"]}
    loss.guide = lambda feature: {"sentence_embedding": feature["guide"]}
    return loss


@pytest.mark.parametrize(
    ("convention", "settings"),
    [
        ("sentence-transformers 6.2", {}),
        (
            "sentence-transformers 6.2, relative margin of 5 %",
            {"margin": 0.05, "margin_strategy": "relative"},
        ),
    ],
)
def test_gist_sentence_transformers(st, monkeypatch, convention, settings):
    module = importlib.import_module(st.GISTEmbedLoss.__module__)
    embed = lambda model, features: [model(f)["sentence_embedding"] for f in features]  # noqa: E731
    monkeypatch.setattr(module, "embed_columns", embed)
    vectors = (FIRST, SECOND, THIRD)
    guides = [(one + 0.3 * FIRST.flip(0))[:, :4] for one in (FIRST, FIRST + SECOND, THIRD)]
    for columns in (2, 3):
        features = [
            {"model": vector, "guide": guide}
            for vector, guide in zip(vectors[:columns], guides, strict=False)
        ]
        expected = guided(st, **settings)(features, None)
        given = {"queries": FIRST, "keys": SECOND}
        given |= {"guide_queries": guides[0], "guide_keys": guides[1]}
        if columns == 3:
            given |= {"negatives": THIRD, "guide_negatives": guides[2]}
        same(ours("gist", convention, **given), expected)


def test_mega_batch_margin_sentence_transformers(st):
    near = FIRST + 0.7 * SECOND
    loss = st.MegaBatchMarginLoss(None, use_mini_batched_version=False)
    expected = loss.calculate_loss([[FIRST], [near]])
    given = {"queries": FIRST, "keys": near}
    same(
        ours("mega_batch_margin", "sentence-transformers 6.2 MegaBatchMarginLoss", **given),
        expected,
    )


@pytest.mark.parametrize("classes", [CLASSES, torch.zeros(8).long(), torch.arange(8)])
def test_multi_similarity_pytorch_metric_learning(pml, classes):
    given = {"embeddings": FIRST, "classes": classes}
    convention = "pytorch-metric-learning 2.9 MultiSimilarityLoss (every pair)"
    same(ours("multi_similarity", convention, **given), pml.MultiSimilarityLoss()(FIRST, classes))


def test_multi_similarity_of_its_miner(pml):
    """The library's way to the paper's loss: its miner chooses the pairs."""
    miners = pytest.importorskip("pytorch_metric_learning.miners")
    pairs = miners.MultiSimilarityMiner(epsilon=0.1)(FIRST, CLASSES)
    expected = pml.MultiSimilarityLoss(base=1.0)(FIRST, CLASSES, pairs)
    same(LOSSES["multi_similarity"].function(FIRST, CLASSES), expected)


def test_multi_similarity_of_its_authors():
    """As MultiSimilarityLoss of research-ms-loss prints it on unit vectors with the scales of its
    config/defaults.py, 2 and 40."""
    classes = torch.tensor([0, 1, 0, 2, 1, 0, 2, 1])
    convention = "msight-tech/research-ms-loss 8290973 (the authors' code)"
    for embeddings, printed in ((SINES, 1.035710922045372), (COSINES, 1.7002680449617913)):
        given = {"embeddings": embeddings, "classes": classes}
        same(ours("multi_similarity", convention, **given), printed)


def test_n_pair_pytorch_metric_learning(pml):
    convention = "pytorch-metric-learning 2.9 NPairsLoss (unit vectors)"
    expected = pml.NPairsLoss()(torch.cat((FIRST, SECOND)), torch.arange(8).repeat(2))
    same(ours("n_pair", convention, anchors=FIRST, positives=SECOND), expected)
    distances = pytest.importorskip("pytorch_metric_learning.distances")
    plain = pml.NPairsLoss(distance=distances.DotProductSimilarity(normalize_embeddings=False))
    expected = plain(torch.cat((FIRST, SECOND)), torch.arange(8).repeat(2))
    same(LOSSES["n_pair"].function(FIRST, SECOND), expected)


# Losses on distances


@pytest.mark.parametrize("classes", [CLASSES, torch.zeros(8).long(), torch.arange(8)])
def test_lifted_pytorch_metric_learning(pml, classes):
    given = {"embeddings": FIRST, "classes": classes}
    convention = "pytorch-metric-learning 2.9 LiftedStructureLoss (unit vectors)"
    same(ours("lifted", convention, **given), pml.LiftedStructureLoss()(FIRST, classes))


def test_contrastive_sentence_transformers(st):
    expected = on_embeddings(st.ContrastiveLoss(None), (FIRST, SECOND), BINARY)
    given = {"first": FIRST, "second": SECOND, "labels": BINARY}
    same(ours("contrastive", "sentence-transformers 6.2 ContrastiveLoss", **given), expected)


@pytest.mark.filterwarnings("ignore:ContrastiveLoss expects binary labels")
@pytest.mark.parametrize("labels", [BINARY, GRADES / 5, GRADES, GRADES / 2.5 - 1])
def test_contrastive_sentence_transformers_takes_labels_as_they_are(st, labels):
    given = {"first": FIRST, "second": SECOND, "labels": labels}
    loss = st.ContrastiveLoss(None)
    same(
        ours("contrastive", "sentence-transformers 6.2 ContrastiveLoss", **given),
        on_embeddings(loss, (FIRST, SECOND), labels),
        1e-6,
    )
    metric = importlib.import_module(st.ContrastiveLoss.__module__).SiameseDistanceMetric
    manhattan = st.ContrastiveLoss(None, distance_metric=metric.MANHATTAN, margin=8.0)
    convention = "sentence-transformers 6.2, Manhattan distance"
    ours("contrastive", convention, **given)
    found = LOSSES["contrastive"].under(convention).definition(**given, margin=8.0)
    # its distance adds torch's 1e-6 to each coordinate
    same(found, on_embeddings(manhattan, (FIRST, SECOND), labels), 1e-5)


def test_contrastive_of_torch():
    for margin in (0.0, 0.4):
        loss = torch.nn.CosineEmbeddingLoss(margin=margin)
        given = {"first": FIRST, "second": SECOND, "labels": BINARY}
        ours("contrastive", "torch 2.13 CosineEmbeddingLoss", **given)
        spec = LOSSES["contrastive"].under("torch 2.13 CosineEmbeddingLoss")
        same(spec.definition(**given, margin=margin), loss(FIRST, SECOND, 2 * BINARY - 1))
    alike = {**given, "second": FIRST}
    same(spec.definition(**alike, margin=0.4), spec.collapse(alike, margin=0.4))


@pytest.mark.parametrize("positive_margin", [0.2, 1.2])
def test_contrastive_pytorch_metric_learning_with_a_margin_for_positives(pml, positive_margin):
    convention = "pytorch-metric-learning 2.9, pos_margin=0.2"
    pairs = torch.arange(8)
    ones, others = pairs[BINARY == 1], pairs[BINARY == 0]
    loss = pml.ContrastiveLoss(pos_margin=positive_margin)
    indices = (ones, ones, others, others)
    expected = loss(FIRST, None, indices, ref_emb=SECOND, ref_labels=None)
    given = {"first": FIRST, "second": SECOND, "labels": BINARY}
    ours("contrastive", convention, **given)
    spec = LOSSES["contrastive"].under(convention)
    same(spec.definition(**given, positive_margin=positive_margin), expected)


@pytest.mark.parametrize("labels", [BINARY, torch.ones(8).long(), torch.zeros(8).long()])
def test_online_contrastive_sentence_transformers(st, labels):
    """Also of a batch that has one kind of pairs only, whose mean is then the bound."""
    near = FIRST + 0.7 * SECOND
    expected = on_embeddings(st.OnlineContrastiveLoss(None), (FIRST, near), labels)
    given = {"first": FIRST, "second": near, "labels": labels}
    same(
        ours("online_contrastive", "sentence-transformers 6.2 OnlineContrastiveLoss", **given),
        expected,
    )


def test_contrastive_pytorch_metric_learning(pml):
    near = FIRST + 0.3 * SECOND
    for second in (SECOND, near):  # far pairs, of which few push, and near ones
        pairs = (BINARY == 1).nonzero()[:, 0], (BINARY == 0).nonzero()[:, 0]
        indices = (pairs[0], pairs[0], pairs[1], pairs[1])
        expected = pml.ContrastiveLoss()(FIRST, ref_emb=second, indices_tuple=indices)
        given = {"first": FIRST, "second": second, "labels": BINARY}
        same(ours("contrastive", "pytorch-metric-learning 2.9 ContrastiveLoss", **given), expected)


def all_triplets():
    """Anchors, positives and negatives, a row for each triplet of the classes."""
    alike = CLASSES[:, None] == CLASSES[None, :]
    valid = (alike & ~torch.eye(8, dtype=torch.bool))[:, :, None] & ~alike[:, None, :]
    return [FIRST[index] for index in valid.nonzero(as_tuple=True)]


MINED = {"anchors": FIRST, "classes": CLASSES}


def test_triplet_sentence_transformers(st):
    expected = on_embeddings(st.TripletLoss(None), all_triplets())
    # its distance adds torch's 1e-6 to each coordinate
    same(ours("triplet", "sentence-transformers 6.2 TripletLoss", **MINED), expected, rtol=1e-6)


def test_batch_hard_soft_margin_sentence_transformers(st):
    expected = on_embeddings(st.BatchHardSoftMarginTripletLoss(None), (FIRST,), CLASSES)
    same(ours("triplet", "sentence-transformers 6.2 BatchHardSoftMargin", **MINED), expected, 1e-6)


@pytest.mark.parametrize("mined", ["BatchAll", "BatchHard", "BatchSemiHard"])
def test_mined_triplets_sentence_transformers(st, mined):
    loss = getattr(st, f"{mined}TripletLoss")(None)
    expected = on_embeddings(loss, [FIRST], CLASSES)
    same(ours("triplet", f"sentence-transformers 6.2 {mined}", **MINED), expected)
    loss = getattr(st, f"{mined}TripletLoss")(None, margin=0.3)
    spec = LOSSES["triplet"].under(f"sentence-transformers 6.2 {mined}")
    found = spec.definition(**MINED, **{**spec.defaults, "margin": 0.3})
    same(found, on_embeddings(loss, [FIRST], CLASSES))


@pytest.mark.parametrize("mined", ["BatchAll", "BatchHard", "BatchSemiHard"])
@pytest.mark.parametrize("classes", [torch.zeros(8).long(), torch.arange(8)])
def test_mined_triplets_of_one_class_and_of_none(st, mined, classes):
    """Of one class BatchSemiHard takes the anchor itself for its negative."""
    loss = getattr(st, f"{mined}TripletLoss")(None)
    expected = on_embeddings(loss, [FIRST], classes)
    name = f"sentence-transformers 6.2 {mined}"
    same(ours("triplet", name, anchors=FIRST, classes=classes), expected)
    fast = next(c.function for c in LOSSES["triplet"].conventions if c.name == name)
    if fast:
        same(fast(FIRST, classes), expected)


def test_triplet_torch():
    expected = torch.nn.TripletMarginLoss()(*all_triplets())
    same(ours("triplet", "torch 2.13 (ε in the distance)", **MINED), expected)


def test_given_triplets(st):
    triplets = all_triplets()
    given = dict(zip(("anchors", "positives", "negatives"), triplets, strict=True))
    expected = on_embeddings(st.TripletLoss(None), triplets)
    same(
        ours("triplet", "sentence-transformers 6.2 TripletLoss (given triplets)", **given),
        expected,
        rtol=1e-6,
    )
    expected = torch.nn.TripletMarginLoss()(*triplets)
    same(ours("triplet", "torch 2.13 TripletMarginLoss (given triplets)", **given), expected)


def test_given_triplets_swapped_and_by_coordinates(st):
    triplets = all_triplets()
    given = dict(zip(("anchors", "positives", "negatives"), triplets, strict=True))
    expected = torch.nn.TripletMarginLoss(swap=True)(*triplets)
    same(ours("triplet", "torch 2.13, swap=True (given triplets)", **given), expected)
    assert expected > torch.nn.TripletMarginLoss()(*triplets)
    metric = importlib.import_module(st.TripletLoss.__module__).TripletDistanceMetric
    loss = st.TripletLoss(None, distance_metric=metric.MANHATTAN)
    convention = "sentence-transformers 6.2, Manhattan distance (given triplets)"
    same(ours("triplet", convention, **given), on_embeddings(loss, triplets))


def test_the_minimum_by_coordinates_is_reached_at_corners():
    spec = LOSSES["triplet"].under("sentence-transformers 6.2, Manhattan distance (given triplets)")
    corner = torch.full((1, 4), 0.5).double()
    given = {"anchors": corner, "positives": corner, "negatives": -corner}
    same(spec.definition(**given, margin=5.0), 1.0)
    assert spec.floor(given, margin=5.0) == 1.0
    assert spec.floor({**given, "negatives": 3 * corner}, margin=5.0) == 0


@pytest.mark.parametrize("classes", [CLASSES, torch.zeros(8).long(), torch.arange(8)])
@pytest.mark.parametrize("option", ["swap", "smooth_loss"])
def test_triplet_pytorch_metric_learning_swapped_and_smooth(pml, option, classes):
    convention = f"pytorch-metric-learning 2.9, {option}=True"
    expected = pml.TripletMarginLoss(**{option: True})(FIRST, classes)
    same(ours("triplet", convention, anchors=FIRST, classes=classes), expected)


def test_triplet_pytorch_metric_learning(pml):
    expected = pml.TripletMarginLoss()(FIRST, CLASSES)
    same(ours("triplet", "pytorch-metric-learning 2.9 TripletMarginLoss", **MINED), expected)


# Losses with prototypes


def against_prototypes(loss, prototypes):
    loss.W.data = prototypes.T.clone()
    return loss


def test_arcface_pytorch_metric_learning(pml):
    prototypes = torch.cat((-FIRST[:1] + 0.05 * SECOND[:1], SECOND[:3]))  # one beyond π − m
    loss = against_prototypes(pml.ArcFaceLoss(4, 6), prototypes)
    given = {"embeddings": FIRST, "classes": CLASSES, "prototypes": prototypes}
    assert torch.cosine_similarity(FIRST[0], prototypes[0], dim=0) < -math.cos(0.5)
    convention = "pytorch-metric-learning 2.9 ArcFaceLoss (cos θ − m sin m beyond π − m)"
    found = ours("arcface", convention, **given)
    same(found, loss(FIRST, CLASSES))
    assert abs(found - LOSSES["arcface"].function(**given, margin=math.radians(28.6))) > 1e-3


AMONG_PROTOTYPES = {"embeddings": SINES, "classes": EVERY_CLASS, "prototypes": COSINES[:4]}


def test_arcface_with_easy_margin():
    """What `AdditiveAngularMargin(0.5, 64, easy_margin=True)` of speechbrain 1.1.2 gives with
    torch's cross-entropy; it computes in float32."""
    own = (unit(SINES) * unit(COSINES[:4])[EVERY_CLASS]).sum(dim=1)
    assert (own > 0).any()
    assert (own < 0).any()
    found = ours("arcface", "speechbrain 1.1.2, easy_margin", **AMONG_PROTOTYPES)
    same(found, 67.92284393310547, rtol=1e-6)


def test_arcface_insightface():
    """As torch's cross-entropy of CombinedMarginLoss(64, 1, 0.5, 0) prints it on cosines, and its
    gradient at the first vector and in all: arccos, + m and cos stand under no_grad."""
    embeddings = SINES.clone().requires_grad_()
    given = {**AMONG_PROTOTYPES, "embeddings": embeddings}
    convention = "insightface arcface_torch 657ae30 (gradient straight through)"
    found = ours("arcface", convention, **given)
    same(found, 82.67067751188927)
    (slope,) = torch.autograd.grad(found, embeddings)
    printed = [
        -2.9164195108837303,
        -0.8872643373931457,
        0.8748506341289635,
        -0.33787420365532117,
        -1.3183911609015322,
        1.0417643719252108,
    ]
    torch.testing.assert_close(slope[0].tolist(), printed, rtol=1e-9, atol=0)
    same(slope.abs().sum(), 63.30918396415868)
    paper = LOSSES["arcface"].function(**given)
    same(paper, found)
    assert (torch.autograd.grad(paper, embeddings)[0] - slope).abs().max() > 1


def test_cosface_pytorch_metric_learning(pml):
    loss = against_prototypes(pml.CosFaceLoss(4, 6), SECOND[:4])
    given = {"embeddings": FIRST, "classes": CLASSES, "prototypes": SECOND[:4]}
    same(ours("cosface", "pytorch-metric-learning 2.9 CosFaceLoss", **given), loss(FIRST, CLASSES))


def test_cosface_insightface():
    """As torch's cross-entropy of its CosFace prints it on cosines."""
    found = ours("cosface", "insightface arcface_torch 2e2e8c9", **AMONG_PROTOTYPES)
    same(found, 86.77065901216153)


def with_proxies(loss, prototypes):
    loss.proxies.data = prototypes.clone()
    return loss


def test_proxy_nca_pytorch_metric_learning(pml):
    given = {"embeddings": FIRST, "classes": CLASSES, "prototypes": SECOND[:4]}
    convention = "pytorch-metric-learning 2.9 ProxyNCALoss (own prototype in the denominator)"
    loss = with_proxies(pml.ProxyNCALoss(4, 6), SECOND[:4])
    same(ours("proxy_nca", convention, **given), loss(FIRST, CLASSES))


def test_proxy_nca_of_the_authors_of_its_successor():
    """As ProxyNCA_prob of proxynca_pp prints it with the scale of its config/cub.json, 3."""
    convention = "ProxyNCA++, euwern/proxynca_pp a8e2aa9 (temperature 1/9)"
    same(ours("proxy_nca", convention, **AMONG_PROTOTYPES), 18.228508070675687)


@pytest.mark.parametrize("count", [4, 6])  # of six prototypes two have no sentence
def test_proxy_anchor_pytorch_metric_learning(pml, count):
    loss = with_proxies(pml.ProxyAnchorLoss(count, 6), SECOND[:count])
    given = {"embeddings": FIRST, "classes": CLASSES, "prototypes": SECOND[:count]}
    found = ours("proxy_anchor", "pytorch-metric-learning 2.9 ProxyAnchorLoss", **given)
    same(found, loss(FIRST, CLASSES))


def test_softmax_pytorch_metric_learning(pml):
    loss = against_prototypes(pml.NormalizedSoftmaxLoss(4, 6), SECOND[:4])
    given = {"embeddings": FIRST, "classes": CLASSES, "prototypes": SECOND[:4]}
    convention = "pytorch-metric-learning 2.9 NormalizedSoftmaxLoss (τ = 0.05)"
    same(ours("softmax", convention, **given), loss(FIRST, CLASSES))


# Losses on lists and from teachers

LISTS = torch.tensor([[1.25, -0.5, 0.75, 2.0, -1.0], [0.5, 0.25, -0.25, 1.5, 0.0]]).double()
LIST_LABELS = torch.tensor([[0, 1, 2, 4, 3], [2, 0, 3, 0, 1]]).double()
LIST_TEACHER = torch.tensor([[4.0, -3.0, 1.0, 2.5, 0.0], [0.5, 2.0, -1.0, -6.0, 3.0]]).double()
SHORTER = torch.tensor([[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]).bool()


class ListScorer(Scorer):
    """A document is the place of its score among those of all lists."""

    def forward(self, features):
        return {"scores": LISTS.flatten()[features["place"]]}


def of_lists(loss):
    """What a loss of the library gives for the lists, the first one shorter."""
    places = torch.arange(10).reshape(2, 5)
    documents = [[str(int(p)) for p in places[row][SHORTER[row]]] for row in range(2)]
    labels = [LIST_LABELS[row][SHORTER[row]] for row in range(2)]
    return loss(([["query"] * 2, documents]), labels)


@pytest.mark.parametrize(
    ("name", "convention", "library", "named"),
    [
        ("list_net", "ListNetLoss", "ListNetLoss", {}),
        ("list_mle", "ListMLELoss", "ListMLELoss", {}),
        ("list_mle", "PListMLELoss", "PListMLELoss", {}),
        ("lambda_loss", "LambdaLoss", "LambdaLoss", {}),
        ("adr_mse", "ADRMSELoss", "ADRMSELoss", {}),
    ],
)
def test_lists_sentence_transformers(name, convention, library, named):
    cross = pytest.importorskip("sentence_transformers.cross_encoder.losses")
    expected = of_lists(getattr(cross, library)(ListScorer(), **named))
    given = {"scores": LISTS, "labels": LIST_LABELS, "mask": SHORTER}
    # The library lowers scores to float32.
    same(ours(name, f"sentence-transformers 6.2 {convention}", **given), expected, rtol=1e-6)


@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize(
    ("scheme", "library"),
    [
        ("ndcg2pp", "NDCGLoss2PPScheme"),
        ("ndcg2", "NDCGLoss2Scheme"),
        ("ndcg1", "NDCGLoss1Scheme"),
        ("lambdarank", "LambdaRankScheme"),
        ("none", "NoWeightingScheme"),
    ],
)
def test_every_scheme_of_lambda_loss_sentence_transformers(scheme, library, k):
    cross = pytest.importorskip("sentence_transformers.cross_encoder.losses")
    weights = getattr(cross, library)()
    expected = of_lists(cross.LambdaLoss(ListScorer(), weighting_scheme=weights, k=k))
    found = LOSSES["lambda_loss"].function(LISTS, LIST_LABELS, mask=SHORTER, scheme=scheme, k=k)
    same(found, expected, rtol=1e-6)
    if k is None:
        given = {"scores": LISTS, "labels": LIST_LABELS, "mask": SHORTER}
        same(ours("lambda_loss", LOSSES.called(library)[1], **given), expected, rtol=1e-6)


def test_in_batch_negatives_of_a_cross_encoder_sentence_transformers():
    """The first candidate of each list is the positive one; sigmoid and scale are the defaults."""
    cross = pytest.importorskip("sentence_transformers.cross_encoder.losses")
    theirs = cross.MultipleNegativesRankingLoss
    usual = {n: p.default for n, p in inspect.signature(theirs).parameters.items()}
    own = SimpleNamespace(**usual, cross_entropy_loss=nn.CrossEntropyLoss())
    name, called = LOSSES.called("cross_encoder.losses.CachedMultipleNegativesRankingLoss")
    labels = torch.zeros_like(LISTS)
    labels[:, 0] = 1
    for scores in (LISTS, 3 * LISTS, torch.zeros_like(LISTS)):
        expected = theirs.calculate_loss(own, list(scores.T), len(scores))
        same(ours(name, called, scores=scores, labels=labels, mask=None), expected)
    spec, given = LOSSES[name].under(called), {"labels": labels, "mask": None}
    same(expected, spec.collapse(given, **spec.defaults))  # of the last, where all are equal
    best = list((1000 * (2 * labels - 1)).T)
    same(theirs.calculate_loss(own, best, len(labels)), spec.floor(given, **spec.defaults))


def test_distillation_of_a_cross_encoder_sentence_transformers():
    name, convention = LOSSES.called("cross_encoder.losses.MSELoss")
    scores, labels = LISTS.flatten(), 4 * LIST_LABELS.flatten()
    expected = nn.MSELoss()(scores, labels)
    same(ours(name, convention, scores=scores, labels=labels), expected)
    spec = LOSSES[name].under(convention)
    same(nn.MSELoss()(torch.zeros_like(labels), labels), spec.collapse({"labels": labels}))
    assert spec.floor({"labels": labels}) == 0


# What allRank 1.4.3 (each of its losses), rax 0.4.0 and FlagEmbedding 1.4.2 (`distill_loss` on
# scores over 0.02) printed for these lists in float64; TF-Ranking 0.5.5 as its doctests print it.
OF_LISTS = {
    ("list_net", "allRank 1.4.3 listNet"): 1.870137126731695,
    ("approx_ndcg", "allRank 1.4.3 approxNDCGLoss (α = 1)"): -0.6361796950529471,
    ("lambda_loss", "allRank 1.4.3 lambdaLoss, ndcgLoss2PP_scheme"): 18.057170098568474,
    ("softmax_rank", "rax 0.4.0 softmax_loss"): 16.715254634480733,
    ("list_mle", "rax 0.4.0 listmle_loss"): 7.0102468175369665,
    ("approx_ndcg", "rax 0.4.0 approx_t12n(ndcg_metric)"): -0.6361796963842382,
}


@pytest.mark.parametrize(("name", "convention"), OF_LISTS)
def test_lists_as_libraries_print_them(name, convention):
    found = ours(name, convention, scores=LISTS, labels=LIST_LABELS, mask=None)
    same(found, OF_LISTS[name, convention], rtol=1e-7)


def test_padding_of_allrank():
    """A label of −1 is no candidate: of two at .3 and .1 the first has rank 1 + σ(−.2)."""
    convention = "allRank 1.4.3 approxNDCGLoss (α = 1)"
    scores = torch.tensor([[0.9, 0.3, 0.1]], dtype=torch.float64)
    second = 1 / (1 + math.exp(0.2))
    for labels, expected in (([-1, 1, 0], -1 / math.log2(2 + second)), ([-1, 1, -1], -1.0)):
        given = {"scores": scores, "labels": torch.tensor([labels]), "mask": None}
        found = ours("approx_ndcg", convention, **given)
        same(found, expected)
    spec = LOSSES["approx_ndcg"].under(convention)
    assert spec.floor({"labels": torch.tensor([[-1, 1, 0]])}, **spec.defaults) == -1


# Of scores .9, .3, .1 with labels −1, 1, 0 the last two count, .2 apart; of labels −1, 1, −1 one.
ONE_PAIR = math.log(1 + math.exp(-0.2))
TARGET = 1 / (1 + math.exp(-1))  # softmax of the labels 1 and 0
DISCOUNT = 1 - 1 / math.log2(3)  # of places 1 and 2, by their ranks and by their distance
PADDED_LISTS = {
    ("list_net", "allRank 1.4.3 listNet"): (TARGET * ONE_PAIR + (1 - TARGET) * (ONE_PAIR + 0.2), 0),
    ("list_mle", "allRank 1.4.3 listMLE (ties shuffled)"): (ONE_PAIR, 0),
    ("lambda_loss", "allRank 1.4.3 lambdaLoss, ndcgLoss2PP_scheme"): (
        (10 * DISCOUNT + DISCOUNT) * ONE_PAIR / math.log(2),
        0,
    ),
}


@pytest.mark.parametrize(("name", "convention"), PADDED_LISTS)
def test_padding_of_lists_of_allrank(name, convention):
    """A label of −1 is a place without a candidate, for the value and for reference values."""
    spec = LOSSES[name].under(convention)
    scores = torch.tensor([[0.9, 0.3, 0.1]], dtype=torch.float64, requires_grad=True)
    expected = PADDED_LISTS[name, convention]
    for labels, value in zip(([-1, 1, 0], [-1, 1, -1]), expected, strict=True):
        given = {"scores": scores, "labels": torch.tensor([labels]), "mask": None}
        found = ours(name, convention, **given)
        same(found, value)
        assert torch.autograd.grad(found, scores)[0][0, 0] == 0
        shorter = {
            "labels": given["labels"][:, 1:],
            "scores": scores[:, 1:].detach(),
            "mask": torch.tensor([[one != -1 for one in labels[1:]]]),
        }
        padded = {**given, "scores": scores.detach()}
        for reference_value in (spec.collapse, spec.floor):
            same(
                torch.tensor(float(reference_value(padded, **spec.defaults))).double(),
                float(reference_value(shorter, **spec.defaults)),
                rtol=1e-6,
            )


RANKNETS = ("allRank 1.4.3, TF-Ranking 0.5.5", "allRank 1.4.3 rankNet_weightByGTDiff")


@pytest.mark.parametrize("convention", RANKNETS)
def test_padding_of_ranknet_of_allrank(convention):
    """Of one judged pair alone there is nothing to compare: 0 here, NaN there."""
    spec = LOSSES["pairwise_logistic"].under(convention)
    scores = torch.tensor([0.9, 0.3, 0.1], dtype=torch.float64)
    for labels, value in (([-1, 1, 0], ONE_PAIR), ([-1, 1, -1], 0), ([-1, -1, -1], 0)):
        given = {"scores": scores, "labels": torch.tensor(labels)}
        same(ours("pairwise_logistic", convention, **given), value)
        same(spec.checked(**given, **spec.defaults), value)
        judged = given["labels"][given["labels"] != -1]
        assert spec.weight_of_list(given["labels"]) == (len(judged) == 2)
        collapse = math.log(2) * (len(judged) == 2)
        assert spec.collapse(given, **spec.defaults) == pytest.approx(collapse)
        assert spec.floor(given, **spec.defaults) == 0  # of scores without ends


@pytest.mark.parametrize(("name", "convention"), PADDED_LISTS)
def test_lists_without_padding_are_as_in_the_loss(name, convention):
    spec = LOSSES[name].under(convention)
    given = inputs_for(spec, seed=3)
    expected = LOSSES[name].function(**given, **spec.defaults)
    same(spec.definition(**given, **spec.defaults), float(expected))


# What allRank 1.4.3 printed in float64 for scores .9, .3, .1; nan where it has no number. With ties
# its listMLE is that of a shuffled order.
ODD_LABELS = {
    ("list_net", "allRank 1.4.3 listNet"): {
        (-2, 1, 0): 1.32304492,
        (-2, 1, -1): 1.00903243,
        (130, 2, 0): 0.69221705,
        (1025, 1, 0): 0.69221705,
        (1, 1, 1): 1.15888371,
    },
    ("list_mle", "allRank 1.4.3 listMLE (ties shuffled)"): {
        (-2, 1, 0): 2.46331771,
        (-2, 1, -1): 1.03748795,
        (130, 2, 0): 1.29035592,
        (1025, 1, 0): 1.29035592,
    },
    ("lambda_loss", "allRank 1.4.3 lambdaLoss, ndcgLoss2PP_scheme"): {
        (-2, 1, 0): 9.37438971,
        (-2, 1, -1): 6.07658117,
        (130, 2, 0): 3.53104393,
        (1025, 1, 0): math.nan,
        (1, 1, 1): 0.0,
    },
    ("approx_ndcg", "allRank 1.4.3 approxNDCGLoss (α = 1)"): {
        (-2, 1, 0): -0.61337551,
        (-2, 1, -1): -0.71244067,
        (130, 2, 0): -0.70731662,
        (1025, 1, 0): math.nan,
        (1, 1, 1): -0.896485,
    },
}


@pytest.mark.parametrize(("name", "convention"), ODD_LABELS)
def test_odd_labels_of_allrank(name, convention):
    """Labels below −1, over 128 and all tied; where its gains overflow, ours have a number."""
    scores = torch.tensor([[0.9, 0.3, 0.1]], dtype=torch.float64)
    for labels, expected in ODD_LABELS[name, convention].items():
        found = ours(name, convention, scores=scores, labels=torch.tensor([labels]), mask=None)
        assert math.isfinite(found)
        if not math.isnan(expected):
            same(found, expected, rtol=1e-7)


ODD_LISTS = ([-1, 1, 0], [-1, -1, -1], [200, 129, 3], [2000, 1, 0], [2, 2, 2], [-1, 1, -1])


@pytest.mark.parametrize(
    ("name", "convention"),
    [
        pytest.param(name, convention, id=f"{name}, {convention or 'ours'}")
        for name, spec in LOSSES.items()
        for convention in ("", *(one.name for one in spec.conventions))
        if "list_labels" in spec.under(convention).reads.values()
    ],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_no_labels_of_lists_give_nan(name, convention, dtype):
    """Labels of −1, over 128 and all tied, and one candidate: a finite number and gradient, or a
    sentence about the labels."""
    spec = LOSSES[name].under(convention)
    for labels in (*ODD_LISTS, [3], [0], [-1], [1000]):
        scores = torch.tensor([[0.9, 0.3, 0.1][: len(labels)]], dtype=dtype, requires_grad=True)
        given = {"scores": scores, "labels": torch.tensor([labels]), "mask": None}
        refusal = ""
        try:
            found = spec.checked(**given, **spec.defaults)
        except ValueError as error:
            refusal = str(error)
        if refusal:
            assert re.fullmatch(r"labels\[0\]\[\d\] is -1; [^-\d]* 0", refusal)
            continue
        (gradient,) = torch.autograd.grad(found, scores)
        assert math.isfinite(found)
        assert gradient.isfinite().all()


def test_list_mle_of_one_order():
    """allRank and TF-Ranking shuffle ties: a list without any."""
    for convention in (
        "allRank 1.4.3 listMLE (ties shuffled)",
        "TF-Ranking 0.5.5 ListMLELoss (ties shuffled)",
    ):
        found = ours("list_mle", convention, scores=LISTS[:1], labels=LIST_LABELS[:1], mask=None)
        same(found, 6.508279854614143, rtol=1e-9)


TWO = {  # of the doctests: a list of two, and the same beside one of three
    "scores": torch.tensor([[0.6, 0.8, 0.0], [0.5, 0.8, 0.4]]).double(),
    "labels": torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]).double(),
    "mask": torch.tensor([[1, 1, 0], [1, 1, 1]]).bool(),
}


@pytest.mark.parametrize(
    ("name", "convention", "one", "both"),
    [
        ("softmax_rank", "TF-Ranking 0.5.5, Keras SoftmaxLoss", 0.7981389, 0.83911896),
        ("approx_ndcg", "TF-Ranking 0.5.5 ApproxNDCGLoss", -0.655107, -0.80536866),
    ],
)
def test_lists_of_the_doctests_of_tf_ranking(name, convention, one, both):
    alone = {key: value[:1, :2] for key, value in TWO.items()}
    same(ours(name, convention, **alone), one, rtol=1e-6)
    same(ours(name, convention, **TWO), both, rtol=1e-6)


def test_margins_sentence_transformers(st):
    """Its dot products are cosines of unit vectors."""
    query, *others = (unit(one) for one in (FIRST, SECOND, THIRD, FIRST.roll(1, 0)))
    scores = [(query * other).sum(dim=1) for other in others]
    margins = 3 * SINES[:, :2]
    expected = on_embeddings(st.MarginMSELoss(None), (query, *others), margins)
    given = {
        "positive_scores": scores[0],
        "negative_scores": torch.stack(scores[1:], dim=1),
        "teacher_margins": margins,
        "mask": None,
    }
    convention = "sentence-transformers 6.2 MarginMSELoss (dot products)"
    same(ours("margin_mse", convention, **given), expected)


def test_distillation_sentence_transformers(st):
    query, *others = (unit(one) for one in (FIRST, SECOND, THIRD, FIRST.roll(1, 0)))
    scores = torch.stack([(query * other).sum(dim=1) for other in others], dim=1)
    teacher = 3 * SINES[:, :3]
    expected = on_embeddings(st.DistillKLDivLoss(None), (query, *others), teacher)
    given = {"scores": scores, "teacher": teacher, "mask": None}
    convention = "sentence-transformers 6.2 DistillKLDivLoss (dot products)"
    same(ours("distill_kl", convention, **given), expected)
    hot = st.DistillKLDivLoss(None, student_temperature=0.5, teacher_temperature=2.0)
    found = LOSSES["distill_kl"].function(scores, teacher, temperature=0.5, teacher_temperature=2.0)
    same(found, on_embeddings(hot, (query, *others), teacher))


@pytest.mark.parametrize(
    ("kind", "convention"),
    [("MSELoss", "MSELoss"), ("EmbedDistillLoss", "EmbedDistillLoss (cosine)")],
)
def test_embeddings_of_a_teacher_sentence_transformers(st, kind, convention):
    loss = getattr(st, kind)(None)
    expected = loss.compute_loss_from_embeddings([FIRST], [SECOND])
    given = {"embeddings": FIRST, "teacher_embeddings": SECOND}
    same(ours("embedding_mse", f"sentence-transformers 6.2 {convention}", **given), expected)


def test_distillation_flag_embedding():
    """It multiplies by no temperature, and adds no entropy."""
    given = {"scores": LISTS, "teacher": LIST_TEACHER, "mask": None}
    found = ours("distill_kl", "FlagEmbedding 1.4.2 kl_div (cross-entropy)", **given)
    same(found, 52.132271813597356, rtol=1e-12)


# All of them


PRESETS = [(name, c.name) for name, spec in LOSSES.items() for c in spec.conventions]


@pytest.mark.parametrize(("name", "convention"), PRESETS)
def test_a_preset_is_whole(name, convention):
    """Runs on what it reads, and moves only parameters that there are."""
    spec = LOSSES[name].under(convention)
    preset = next(c for c in LOSSES[name].conventions if c.name == convention)
    assert set(preset.parameters) <= {p.name for p in LOSSES[name].parameters}
    for p in spec.parameters:
        value = p.on_value if p.default is None else p.default  # a parameter may be off
        assert p.choices or p.kind != "number" or p.minimum <= value <= p.maximum
    loss = spec.definition(**inputs_for(spec, seed=3), **spec.defaults)
    assert loss.shape == ()
    assert loss.isfinite()


def test_an_unknown_convention_is_refused():
    with pytest.raises(ValueError, match="it has: sentence-transformers"):
        LOSSES["cosent"].under("keras")


def test_every_preset_is_compared_above():
    """Runs last in this file: `ours` notes what was compared."""
    if len(COVERED) < 5:
        pytest.skip("runs with the whole file")
    pytest.importorskip("sentence_transformers")
    pytest.importorskip("pytorch_metric_learning")
    assert set(PRESETS) == COVERED
