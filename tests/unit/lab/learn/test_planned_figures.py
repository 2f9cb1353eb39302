"""The figures that the lessons were planned with, computed anew on the embeddings that ship.

A planned figure is a text, and what is computed agrees with it to its last digit. Where the plan
names no convention, the one that gives its digits stands here; `ABSENT` has the figures that do not
come out, with ours.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import random
from collections.abc import Iterator

import numpy as np
import pytest
import torch

from lossprism.explorer.core.batch import Batch, make_batch
from lossprism.explorer.core.explore import Exploration, explore
from lossprism.explorer.core.scenario import Data, Rules, Scenario
from lossprism.explorer.lab.compare.batch_change_effects import Change, changed_batch
from lossprism.explorer.lab.compare.batch_splitting_methods import expected_of_parts, mechanics
from lossprism.explorer.lab.compare.losses_towards_collapse import moved_together
from lossprism.explorer.lab.learn import loss_term_measures
from lossprism.explorer.lab.learn.lesson_types import explored, with_parameters
from lossprism.explorer.lab.learn.lessons import BY_NAME, moments
from lossprism.losses import info_nce, matryoshka, siglip

Figure = tuple[str, str, float]  # name, as planned, as computed


def batch_of(scenario: Scenario) -> Batch:
    return make_batch(scenario.data, scenario.rules)


def graded(loss: str = "cosent", convention: str = "", **parameters: float) -> Scenario:
    return with_parameters(explored("graded_english", loss, convention), **parameters)


def answered(loss: str) -> Scenario:
    """Eight questions with their answers, without further negatives."""
    return explored("hard_negatives", loss, shared=False)


def agrees(planned: str, found: float) -> bool:
    digits = len(planned.partition(".")[2])
    return abs(found - float(planned)) <= 0.5 * 10**-digits + 1e-9


# ---- What a lever of a lesson shows ------------------------------------------------------------

# Lesson and step, stop of the lever, number, as planned.
AT_STOPS = (
    *(("spotlight", 1.0, name, one) for name, one in (("wrong_share", "0.25"), ("active", "219"))),
    ("spotlight", 5.0, "wrong_share", "0.61"),
    ("spotlight", 20.0, "wrong_share", "0.87"),
    ("spotlight", 100.0, "wrong_share", "1.00"),
    ("spotlight", 20.0, "active", "3"),
    ("spotlight", 100.0, "active", "1"),
    ("spotlight", 20.0, "terms", "269"),
    ("spotlight", 20.0, "labels", "0.08"),
    ("spotlight", 20.0, "mse", "0.49"),
    ("spotlight", 100.0, "per_scale", "0.940"),
    ("temperature", 1.0, "negatives", "22.6"),
    ("temperature", 0.2, "negatives", "11.5"),
    ("temperature", 0.1, "negatives", "2.96"),
    ("temperature", 0.05, "negatives", "1.53"),
    ("temperature", 0.01, "negatives", "1.15"),
    ("temperature", 0.05, "all", "23"),
    ("temperature", 1.0, "loss", "2.69"),
    ("temperature", 0.1, "loss", "1.48"),
    ("temperature", 0.05, "loss", "2.36"),
    ("temperature", 0.01, "loss", "10.93"),
    ("collapse", 1.0, "info_nce", f"{math.log(8):.6f}"),
    ("collapse", 1.0, "triplet", "1.000000"),
    ("collapse", 1.0, "siglip", "5.545"),
    ("duplicate", 1.0, "loss", "0.0285"),
    ("duplicate", 2.0, "loss", "0.182"),
    ("duplicate", 2.0, "times", "6.4"),
    ("duplicate", 2.0, "duplicate_share", "0.81"),
    ("duplicate", 2.0, "floor", "0.154"),
    ("order", 0.0, "cosent", "19.12"),
    ("order", 0.2, "cosent", "19.12"),
    ("order", 0.0, "mse", "0.082"),
    ("order 2", 0.5, "same_scale", "10"),
    ("order 2", 0.5, "apart", "0.000000"),
    ("accumulation", 8.0, "loss", "0.0285"),
    ("accumulation", 1.0, "loss", "0.0000"),
    ("libraries", 0.0, "loss", "161.5"),
    ("libraries", 1.0, "loss", "6.73"),
    ("libraries", 2.0, "loss", "0.866"),
    ("libraries", 3.0, "loss", "0.600"),
    ("margin", 5.0, "floor", "3.0"),
    ("margin", 5.0, "loss", "4.877"),
    ("margin", 5.0, "violated", "12"),
    ("margin", 0.2, "violated", "8"),  # the default of pytorch-metric-learning 3, as planned
    ("margin", 0.05, "violated", "3"),  # that of its version 2
    ("filter", 1.0, "masked", "5"),
    ("filter", 1.0, "false", "0"),
    ("filter", 0.0, "loss", "2.36"),
    ("filter", 1.0, "loss", "0.252"),
    ("filter 2", 1.0, "masked", "4"),
    ("coverage", 0.0, "touched", "24"),
    ("coverage", 1.0, "touched", "192"),
    ("coverage", 1.0, "every", "496"),
    ("coverage", 1.0, "covered_share", "0.387"),
)


def at_stops() -> Iterator[Figure]:
    for lesson, stop, name, planned in AT_STOPS:
        title, _, number = lesson.partition(" ")
        step = int(number or 1) - 1
        place = BY_NAME[title].steps[step].lever.stops.index(stop)
        yield f"{lesson} at {stop}: {name}", planned, moments(title, step)[place].numbers[name]


# ---- What no lever reaches ---------------------------------------------------------------------


def collapse() -> Iterator[Figure]:
    """Multi-Similarity without mining, at λ = 1, on eight questions and their answers alone."""
    pairs = batch_of(answered("info_nce"))
    firsts, seconds = pairs.pairs.first, pairs.pairs.second
    rows = tuple((firsts[one], seconds[one], "1") for one in pairs.positives.tolist())
    parameters = (("mined", False), ("threshold", 1.0))
    every = Scenario(Data(source="table", rows=rows), Rules(), "multi_similarity", "", parameters)
    batch = batch_of(every)
    collapsed = moved_together(batch, 1.0)
    yield "Multi-Similarity", "0.583", explore(every, batch).loss
    yield "Multi-Similarity at collapse", "0.401", explore(every, collapsed).loss
    online = dataclasses.replace(every, loss="online_contrastive", parameters=())
    yield "OnlineContrastive at collapse", "0.0000", explore(online, collapsed).loss
    apart = torch.eye(16, dtype=torch.float64)
    yield "SigLIP of vectors at right angles", "10.0004", float(siglip(apart[:8], apart[8:]))


def coverage() -> Iterator[Figure]:
    touched = loss_term_measures.covered(explore(graded()))
    every = math.comb(len(touched), 2)
    yield "all pairs of sentences", "1128", every
    yield "compared by CoSENT", "24", int(touched.sum()) / 2
    yield "their share", "0.021", int(touched.sum()) / 2 / every
    for loss, planned in (("cosent", "24"), ("info_nce", "192")):
        e = explore(explored("hard_negatives", loss))
        yield f"compared by {loss}", planned, int(loss_term_measures.covered(e).sum()) / 2


def order() -> Iterator[Figure]:
    """Labels from 0 to 5 as they stand, and what half the spread of the cosines does."""
    batch = batch_of(graded())
    halved = explore(graded(), changed_batch(batch, Change("spread", 0, 0.5))).loss
    yield "half the spread, for half the scale", "0.0000", halved - explore(graded(scale=10)).loss
    raw, cosines = batch.plain_labels, batch.plain_scores
    yield "MSE with raw labels", "6.77", float(((cosines - raw) ** 2).mean())
    yield "its minimum", "5.47", float(((np.minimum(raw, 1) - raw) ** 2).mean())
    yield "unreachable targets", "0.79", float((raw > 1).mean())
    yield "pairs that are pulled", "21", int((raw > cosines).sum())


def accumulation() -> Iterator[Figure]:
    """Cuts of the batch are drawn in the plan: 300 of `random.Random(0).sample` give its digits."""
    yield "CoSENT in one piece", "19.12", explore(graded()).loss
    losses, comparisons = drawn_cuts(24, 4, ranked_part)
    yield "CoSENT in fours, drawn", "4.84", losses
    yield "comparisons in fours, drawn", "35", comparisons
    yield "comparisons in fours", "35", expected_of_parts(explore(graded()), 4).comparisons or 0
    for size, planned in ((4, "0.0127"), (2, "0.0042")):
        yield f"parts of {size}, drawn", planned, drawn_cuts(8, size, contrasted_part)[0]
    whole = explore(BY_NAME["accumulation"].steps[0].scenario)
    yield "cached", "0", 0.0 if mechanics(whole, "cached", 2).equal else math.inf
    copied = mechanics(whole, "copies", 4).loss - mechanics(whole, "copies", 2).loss
    yield "batch doubled by copies", "1.386", 2 * copied


def libraries() -> Iterator[Figure]:
    """Losses of one name: of ContrastiveLoss the four are sentence-transformers on labels of 0 and
    1, the textbook's, pytorch-metric-learning's, and OnlineContrastive."""
    batch = batch_of(graded())
    positive = batch.positive.numpy()
    apart = 1 - batch.plain_scores
    terms = np.where(positive, apart**2, np.maximum(0.5 - apart, 0) ** 2)
    of_library = "pytorch-metric-learning 2.9 ContrastiveLoss"
    largest = explore(graded("online_contrastive")).loss
    yield "sentence-transformers", "0.0466", float(terms.mean() / 2)
    yield "the textbook's", "0.828", explore(graded("contrastive")).loss
    yield "pytorch-metric-learning", "1.058", explore(graded("contrastive", of_library)).loss
    yield "OnlineContrastive", "2.239", largest
    yield "the largest for the smallest", "48", largest / float(terms.mean() / 2)
    yield "labelled pairs", "12", int(positive.sum())
    yield "active negatives", "4", int((~positive & (apart < 0.5)).sum())
    everywhere = explore(graded("contrastive")).trace.named("push").value
    yield "active negatives of the textbook's", "12", int((everywhere > 0).sum())


def spares() -> Iterator[Figure]:
    cosines, ordered, _labels = ranked()
    gaps = cosines[None, :] - cosines[:, None]
    for margin, planned in ((0, "64"), (0.1, "96"), (0.3, "139"), (0.5, "210")):
        yield f"hinge at {margin}", planned, int((ordered & (gaps + margin > 0)).sum())
    # Only the last is rounded as float16 has it: to 1, beyond which there is nothing to learn.
    for score, planned in ((5.0, "0.9933"), (8.0, "0.9997")):
        yield f"sigmoid of {score}", planned, float(torch.tensor(score).sigmoid())
    saturated = torch.tensor(12.0).sigmoid().half()
    yield "sigmoid of 12 in float16", "1.0000000", float(saturated)

    # All dimensions, and the prefixes of sentence-transformers' example; shares of the squares.
    plain, nested = (first_dimensions(dims) for dims in ([384], [384, 256, 128, 64, 32, 16]))
    yield "in 16 of 384 dimensions, %", "4.2", 100 * plain
    yield "in the first 16 of Matryoshka, %", "73.3", 100 * nested

    # A question's own three candidates at τ = 0.1; the answer stands among them twice more.
    rows = own_candidates() / 0.1
    own = rows[:, :1]
    yield "own candidates", "1.438", contrasted(rows)
    yield "answer thrice", "2.106", contrasted(np.concatenate([rows, own, own], 1))
    yield "its minimum", f"{math.log(3):.6f}", contrasted(np.tile(own, 3))
    yield "DCL is below 0", "1", float(explore(graded("decoupled")).loss < 0)


@pytest.mark.parametrize(
    "figures",
    [at_stops, collapse, coverage, order, accumulation, libraries, spares],
    ids=lambda f: f.__name__,
)
def test_figures_come_out_as_planned(figures) -> None:
    found = list(figures())
    assert len(found) > 3
    assert [one for one in found if not agrees(*one[1:])] == []


# Figures of the plan that do not come out, with ours. All cosines + 0.3 give its 0.181. Of parts
# ours is the mean over every way to cut the batch; a mean of drawn cuts scatters around it.
ABSENT = (
    ("MSE of all cosines + 0.2", "0.181", "0.128"),
    ("CoSENT in fours", "4.84", "4.89"),
    ("parts of 4", "0.0127", "0.0126"),
    ("parts of 2", "0.0042", "0.0043"),
)


def test_figures_that_do_not_come_out_have_ours_twice_computed() -> None:
    batch = batch_of(graded())
    labels = torch.tensor(batch.plain_labels / 5)
    shifted = changed_batch(batch, Change("shift", 0, 0.2))
    paired = explore(BY_NAME["accumulation"].steps[0].scenario)
    found = {
        "MSE of all cosines + 0.2": (
            explore(graded("cosine_mse"), shifted).loss,
            float(torch.nn.functional.mse_loss(torch.tensor(batch.plain_scores) + 0.2, labels)),
        ),
        "CoSENT in fours": (
            expected_of_parts(explore(graded()), 4).loss,
            mean_of_all(24, 4, ranked_part),
        ),
        **{
            f"parts of {size}": (
                moments("accumulation", 0)[place].numbers["loss"],
                mean_of_all(8, size, contrasted_part),
            )
            for place, size in ((1, 4), (2, 2))
        },
    }
    assert len(paired.batch.positives) == 8
    for name, planned, ours in ABSENT:
        defined, reference = found[name]
        assert defined == pytest.approx(reference, rel=1e-4)
        assert agrees(ours, defined)
        assert not agrees(planned, defined)
    lifted = torch.tensor(batch.plain_scores) + 0.3
    assert agrees("0.181", float(torch.nn.functional.mse_loss(lifted, labels)))


# ---- By hand -----------------------------------------------------------------------------------


def ranked() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Cosines, which pair [N, N] stands above which, and labels."""
    batch = batch_of(graded())
    labels = batch.plain_labels
    return batch.plain_scores, labels[:, None] > labels[None, :], labels


def ranked_part(places: tuple[int, ...]) -> tuple[float, int]:
    """CoSENT of these pairs, and how many comparisons they have."""
    cosines, above, _labels = RANKED
    chosen = list(places)
    gaps = 20 * (cosines[chosen][None, :] - cosines[chosen][:, None])
    present = gaps[above[np.ix_(chosen, chosen)]]
    return float(np.logaddexp.reduce([0.0, *present])), len(present)


def contrasted_part(places: tuple[int, ...]) -> tuple[float, int]:
    """InfoNCE of these questions and their answers, and how many negatives they have."""
    chosen = list(places)
    logits = SIMILAR[np.ix_(chosen, chosen)] / 0.05
    losses = np.logaddexp.reduce(logits, axis=1) - logits.diagonal()
    return float(losses.mean()), len(chosen) * (len(chosen) - 1)


def drawn_cuts(rows: int, size: int, part) -> tuple[float, float]:
    """The mean loss of a part, and of all comparisons, in 300 drawn cuts."""
    draw, losses, comparisons = random.Random(0), [], []
    for _ in range(300):
        order = draw.sample(range(rows), rows)
        found = [part(tuple(order[at : at + size])) for at in range(0, rows, size)]
        losses.append(np.mean([loss for loss, _ in found]))
        comparisons.append(sum(count for _, count in found))
    return float(np.mean(losses)), float(np.mean(comparisons))


def mean_of_all(rows: int, size: int, part) -> float:
    return float(np.mean([part(one)[0] for one in itertools.combinations(range(rows), size)]))


def own_candidates() -> np.ndarray:
    """The cosines of each question with its answer and its own two further negatives [8, 3]."""
    e = explore(explored("hard_negatives", "info_nce"))
    cosines = e.trace.named("similarities").value.numpy()
    firsts = e.batch.first.tolist()
    queries = [firsts[pair] for pair in e.batch.positives.tolist()]
    owners = [queries.index(firsts[pair]) for pair in e.batch.others.tolist()]
    return np.array(
        [
            [row[at], *(row[8 + one] for one, owner in enumerate(owners) if owner == at)]
            for at, row in enumerate(cosines)
        ]
    )


def contrasted(rows: np.ndarray) -> float:
    return float((np.logaddexp.reduce(rows, axis=1) - rows[:, 0]).mean())


def first_dimensions(dims: list[int]) -> float:
    """The share of the first 16 dimensions in the squared gradient of InfoNCE at τ = 0.05."""
    e: Exploration = explore(explored("hard_negatives", "info_nce"))
    batch = e.batch
    vectors = batch.needed_vectors.detach().clone().requires_grad_(True)
    queries = vectors[batch.first[batch.positives]]
    keys, further = vectors[batch.second[batch.positives]], vectors[batch.second[batch.others]]
    matryoshka(info_nce, dims)(queries, keys, negatives=further, temperature=0.05).backward()
    assert vectors.grad is not None
    squares = vectors.grad**2
    return float(squares[:, :16].sum() / squares.sum())


RANKED = ranked()
SIMILAR = explore(answered("info_nce")).trace.named("similarities").value.double().numpy()
