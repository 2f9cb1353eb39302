"""What the sentence of each preset says, measured in its film."""

from __future__ import annotations

import math

import pytest
import torch

from lossprism.explorer.core.batch import batch_of_vectors
from lossprism.explorer.lab.sphere.film import Steps, film
from lossprism.explorer.lab.sphere.presets import BY_NAME, PRESETS
from lossprism.explorer.lab.sphere.starting_points import placed
from lossprism.explorer.locale import LANGUAGES, say
from tests.unit.lab.sphere.films import cosines, films_of, resolved


def test_alignment_alone_draws_all_points_into_one() -> None:
    _, (found,) = films_of("collapse")
    assert float(found.loss[-1]) < 1e-3
    assert float((found.frames[-1] @ found.frames[-1].T).min()) > 0.999
    rank = found.measures.effective_rank
    assert float(rank[0]) > 2.5
    assert float(rank[-1]) == pytest.approx(1, abs=0.01)


def test_a_low_temperature_makes_all_gaps_equal_and_a_high_one_does_not() -> None:
    _, (high, low) = films_of("spread")
    for found in (high, low):
        assert float(found.measures.alignment[-1]) < 1e-4  # partners have met
    assert _unevenness(high.frames[-1]) > 0.3
    assert _unevenness(low.frames[-1]) < 0.05


def _unevenness(points: torch.Tensor) -> float:
    """How far the gaps between neighbouring pairs on the circle are from equal: deviation by
    mean."""
    angles = torch.atan2(points[::2, 1], points[::2, 0]).sort().values
    gaps = torch.diff(torch.cat([angles, angles[:1] + 2 * math.pi]))
    return float(gaps.std() / gaps.mean())


def test_the_hinge_stands_still_once_its_margin_is_kept() -> None:
    points, films = films_of("hinge")
    labels = points.batch.labels
    for side, found in zip(BY_NAME["hinge"].sides, films, strict=True):
        margin = dict(side.parameters)["margin"]
        still = (found.gradient == 0).nonzero().flatten()
        assert 10 < int(still[0]) < len(found.loss) - 10  # the film shows the way, and the stop
        assert torch.allclose(found.frames[still[0]], found.frames[-1], rtol=0, atol=1e-12)
        assert float(found.loss[-1]) == 0
        scores = cosines(points, found)
        gap = scores[:, labels == 1].amin(dim=1) - scores[:, labels == 0].amax(dim=1)
        assert float(gap[still[0] - 1]) < margin <= float(gap[-1])
        assert float(gap[-1]) < margin + 0.1  # no more than was asked for


def test_cosent_all_but_stops_once_the_order_is_right() -> None:
    points, (found,) = films_of("order")
    labels, scores = points.batch.labels, cosines(points, found)
    gap = scores[:, labels == 1].amin(dim=1) - scores[:, labels == 0].amax(dim=1)
    right = int((gap > 0).nonzero()[0])
    assert 5 < right < 50
    assert bool((gap[right:] > 0).all())
    assert float(found.gradient[-1]) < 0.01 * float(found.gradient[0])
    # Far from the values that a loss on values asks for, and about where they were in the middle.
    assert float(scores[-1].max()) < 0.9
    assert float((scores[-1] - scores[len(scores) // 2]).abs().max()) < 0.05


def test_with_cosine_mse_no_pair_sees_another() -> None:
    points, (found,) = films_of("values")
    batch, scores = points.batch, cosines(points, found)
    targets = batch.labels / batch.labels.max()
    assert float((scores[-1] - targets).abs().max()) < 0.05
    # Each pair turns about a middle that stays, so that no crowd of pairs is ever thinned out.
    middles = found.frames[:, batch.first] + found.frames[:, batch.second]
    middles = middles / middles.norm(dim=2, keepdim=True)
    assert float((middles - middles[0]).abs().max()) < 1e-6
    # A pair without the others makes the same way, at its own share of the learning rate.
    preset = BY_NAME["values"]
    both = [int(batch.first[3]), int(batch.second[3])]
    only = batch_of_vectors(batch.pairs.at([3]), batch.vectors[both].numpy(), batch.rules)
    steps = Steps("sgd", preset.steps.rate / len(batch))
    way = film(resolved("cosine_mse"), only, steps).frames
    assert torch.allclose(way[:, 0], found.frames[:, batch.first[3]], atol=1e-9)


def test_info_nce_tears_a_false_negative_away_and_supcon_does_not() -> None:
    points, (torn, held) = films_of("false_negative")
    batch = points.batch
    # The first and the last of three members: of one class, and no pair.
    ends = [(at, at + 2) for at in range(0, 12, 3)]
    assert all(bool(batch.classes[one] == batch.classes[other]) for one, other in ends)
    assert not {(int(a), int(b)) for a, b in zip(batch.first, batch.second, strict=True)} & {*ends}
    for one, other in ends:
        start, end = (float(torn.frames[k, one] @ torn.frames[k, other]) for k in (0, -1))
        assert start > 0.85
        assert end < 0.25
        assert float(held.frames[-1, one] @ held.frames[-1, other]) > 0.99


@pytest.mark.parametrize("name", [one.name for one in PRESETS])
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_preset_is_one_sentence(language: str, name: str) -> None:
    sentence = say(language, f"sphere.watch.{name}")
    assert sentence.count("。" if language == "zh" else ". ") == (1 if language == "zh" else 0)
    assert sentence.endswith((".", "。"))
    assert len(placed(BY_NAME[name].start).batch) > 1
