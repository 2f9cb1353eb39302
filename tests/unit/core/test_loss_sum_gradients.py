"""What the parts of a sum do is what each does alone, weighed."""

import dataclasses

import pytest
import torch

from lossprism.explorer.core.explore import explore
from lossprism.explorer.core.loss_lookup import losses_called
from lossprism.explorer.core.loss_sum_gradients import parts_of
from lossprism.explorer.core.scenario import Data, Scenario
from lossprism.explorer.export.drawing_data_of_exploration import picture
from lossprism.explorer.locale import LANGUAGES, parameter_word, part_word, spelled, title_word
from lossprism.explorer.runtime.json_encoding import plain
from lossprism.explorer.runtime.problem import Problem
from lossprism.losses import LOSSES

SUMS = ("info_nce+angle", "cosent+supcon+vicreg", "matryoshka(info_nce)+cosine_mse")


def seen(name, **parameters):
    return explore(Scenario(loss=name, parameters=tuple(parameters.items())))


def alone(part):
    return explore(Scenario(loss=part.spec.name))


@pytest.mark.parametrize("name", SUMS)
def test_every_step_of_a_part_is_that_of_the_loss_alone(name):
    whole = seen(name)
    for part in whole.spec.parts:
        if part.prefix is not None and part.prefix < 1:
            continue
        by_itself, steps = alone(part), 0
        for step in by_itself.trace.steps:
            mine = whole.trace.last(f"{part.label}_{step.name}")
            assert mine is not None, step.name
            torch.testing.assert_close(mine.value, step.value)
            assert mine.part == part.label
            weight = whole.parameters[part.weight]
            # What all parts read has the gradient of all.
            shared = any(torch.equal(mine.value, one.value) for one in whole.trace.inputs)
            if step.gradient is not None and not shared:
                torch.testing.assert_close(mine.gradient, weight * step.gradient)
                steps += 1
            # The line is found in the listing of all.
            listed = whole.trace.listing.splitlines()[mine.line - whole.trace.first_line]
            assert listed.strip() == (mine.source.splitlines() or [listed])[0].strip()
        assert steps


@pytest.mark.parametrize("name", SUMS)
def test_what_the_parts_do_adds_up_to_what_the_sum_does(name):
    whole = seen(name)
    parts = parts_of(whole)
    weights = [whole.parameters[one.part.weight] for one in parts.parts]
    values = [one.value for one in parts.parts]
    assert whole.loss == pytest.approx(sum(w * v for w, v in zip(weights, values, strict=True)))
    assert sum(one.share for one in parts.parts) == pytest.approx(1)
    norms = torch.tensor([one.norm for one in parts.parts], dtype=torch.float64)
    together = (parts.cosines * norms[:, None] * norms).sum().sqrt()
    assert float(together) == pytest.approx(whole.gradient_norm)
    for one in parts.opposed:
        assert sum(one.pulls) == pytest.approx(float(whole.pair_gradient[one.pair]))
        assert min(one.pulls) < 0 < max(one.pulls)
    pulls = torch.tensor([one.pulls for one in parts.opposed]).reshape(-1, len(parts.parts))
    undone = torch.minimum(pulls.clamp_min(0).sum(1), -pulls.clamp_max(0).sum(1)).tolist()
    assert undone == sorted(undone, reverse=True)


def test_the_values_and_norms_are_those_of_the_losses_alone():
    parts = parts_of(seen("info_nce+angle", weight_of_angle=0.5))
    for one, weight in zip(parts.parts, (1, 0.5), strict=True):
        by_itself = alone(one.part)
        assert one.value == pytest.approx(by_itself.loss)
        assert one.norm == pytest.approx(weight * by_itself.gradient_norm)
        assert one.collapse == pytest.approx(by_itself.collapse)
        assert one.weights.effective == pytest.approx(by_itself.weights.effective)


@pytest.mark.parametrize("name", SUMS)
def test_at_the_weight_for_an_equal_say_both_sides_are_as_long(name):
    for place, one in enumerate(parts_of(seen(name)).parts):
        again = parts_of(seen(name, **{one.part.weight: one.equal}))
        norms = [part.norm for part in again.parts]
        if len(norms) == 2:
            assert norms[0] == pytest.approx(norms[1])
        # Of the others together: their vectors are added, and not their lengths.
        square = sum(
            float(again.cosines[a, b]) * norms[a] * norms[b]
            for a in range(len(norms))
            for b in range(len(norms))
            if place not in (a, b)
        )
        assert norms[place] == pytest.approx(square**0.5)


def test_prefixes_draw_energy_into_the_first_dimensions():
    quarter, half, all_ = parts_of(seen("matryoshka(info_nce)")).energies
    assert (quarter.dimensions, half.dimensions, all_.dimensions) == (96, 192, 384)
    assert quarter.alone < half.alone < all_.alone == 1
    assert quarter.share > 2 * quarter.alone
    assert parts_of(seen("cosent+info_nce")).energies == []
    assert parts_of(seen("cosent")) is None


def test_a_sum_has_a_bound_and_no_band():
    found = seen("cosent+info_nce")
    assert found.floor_is_bound
    drawn = plain(picture(found))
    assert not drawn["figures"]["banded"]
    assert drawn["figures"]["terms"] is None
    assert drawn["steps"][drawn["chosen"]]["name"] == "cosent_terms"


def test_a_prefix_that_the_vectors_do_not_have_is_refused():
    data = Data(source="random")
    scenario = Scenario(data=data, loss="matryoshka(info_nce,4096)")
    with pytest.raises(Problem) as result:
        explore(scenario)
    assert result.value.key == "problem.prefix_too_long"
    assert result.value.values["longest"] == 4096
    small = dataclasses.replace(scenario, loss="matryoshka(info_nce)")
    assert explore(small).loss > 0


def test_what_is_masked_in_one_part_is_not_in_another():
    found = seen("cosent+weighted_cosent")
    for label in ("cosent", "weighted_cosent"):
        differences = found.trace.named(f"{label}_differences")
        assert differences.part == label
    ordered = found.trace.named("cosent_ordered").value
    assert torch.equal(found.trace.mask_of(found.trace.named("cosent_differences")), ordered)
    # The weighted loss marks what is absent by −inf, and has no mask of its own to lend or borrow.
    assert found.trace.mask_of(found.trace.named("weighted_cosent_differences")) is None


@pytest.mark.parametrize("language", LANGUAGES)
def test_everything_of_a_sum_has_words(language):
    spec = LOSSES["cosent+matryoshka(info_nce,64)+matryoshka(siglip)"]
    listed = [spelled(language, "", parameter_word(one.name)) for one in spec.parameters]
    listed += [spelled(language, "", part_word(one)) for one in spec.parts]
    listed.append(spelled(language, "", title_word(spec)))
    assert all("_" not in one and "{" not in one and "loss." not in one for one in listed), listed
    assert len(set(listed[: len(spec.parameters)])) == len(spec.parameters)


def test_a_sum_is_found_by_the_names_of_its_parts():
    assert [one.name for one in losses_called("MNRL + AnglELoss")] == ["info_nce+angle"]
    assert [one.name for one in losses_called("matryoshka(cosent)")] == ["matryoshka(cosent)"]
    with pytest.raises(Problem):
        losses_called("MNRL + MNRL")
