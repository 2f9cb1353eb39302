"""What the Compare page asks the server for."""

from __future__ import annotations

import dataclasses

from torch import Tensor

from explorer.core.batch import make_batch
from explorer.core.explore import Exploration, explore, seconds_for
from explorer.core.scenario import Scenario
from explorer.export.picture import describe_batch, one_step
from explorer.lab.compare import parity as parities
from explorer.lab.compare.difference import Number, ParameterPair, difference, number_of
from explorer.lab.compare.outcome import Between, Figures, Outcome, Sentence, Side
from explorer.lab.compare.parity_batches import CUBED, shown_of
from explorer.lab.compare.sides import LEAST, MOST, Comparison, Kept, compare
from explorer.runtime import jobs, resource_checks, validation
from explorer.runtime.cache import Cache, digest
from explorer.runtime.limits import KEPT_BATCHES, MIB
from explorer.runtime.numbers import json_number
from explorer.runtime.problem import Problem
from explorer.runtime.validation import misfit
from explorer.runtime.wire import Json, packed
from explorer.web.pages.explore.facts import SERVED_LOSS
from explorer.web.scenes import batch_key, held_rows, scene_in, scene_link, skipped_rows
from explorer.web.serving import JOBS, served
from explorer.web.wire import compare as wire
from explorer.web.wire import explore as wire_explore
from losses import LOSSES, Symbol


def _compare(request: Json) -> Json:
    """{scenario, sides, at: the step of each side, look: whether steps are drawn, held: names of
    the steps that the page has, known, rows?} → {sides, two, gradient, batch?, skipped?, rows?}, or
    {send_rows}."""
    scenario = scene_in(request)
    if scenario is None:
        return {"send_rows": True}
    sides, steps = sides_in(request), _steps_in(request)
    answer = held_rows(request, scenario)
    key = batch_key(scenario.data, scenario.rules)
    view = _View(request, f"{key} {scenario.view.order}", steps)
    try:
        found = compare(scenario, sides, see=view.see, kept=_kept_of(key))
        looked = [view.looked(place, one, found) for place, one in enumerate(found.sides)]
    except Problem as problem:
        return {**answer, "error": problem.to_json(), "skipped": skipped_rows(scenario)}
    bars = found.bars()
    answer["sides"] = [
        {**_side(one, gradient), **look}
        for one, gradient, look in zip(found.sides, bars.values, looked, strict=True)
    ]
    answer["two"] = [_two(one) for one in found.between]
    answer["gradient"] = bars.gradient
    if request.get("known") != key:
        answer["skipped"] = skipped_rows(scenario)
        answer["batch"] = {
            "key": key,
            "numbers": list(found.numbers),
            **describe_batch(found.batch),
        }
    return answer


# What was found of the last batches, so that the sides that did not move are not computed again.
_kept: Cache[Kept] = Cache(KEPT_BATCHES)


def _kept_of(key: str) -> Kept:
    return _kept.get(key) or _kept.put(key, Kept())


class _View:
    """The steps that are looked at; one that the page has goes by its name alone."""

    def __init__(self, request: Json, of: str, steps: list[int | None]) -> None:
        self.wanted = bool(request.get("look"))
        held = request.get("held", [])
        self.held = {one for one in held if isinstance(one, str)} if isinstance(held, list) else ()
        self.of, self.steps = of, steps
        self.made: dict[int, Json] = {}

    def step(self, place: int) -> int | None:
        return self.steps[place] if place < len(self.steps) else None

    def see(self, place: int, e: Exploration) -> None:
        if self.wanted:
            self.made[place] = one_step(e, self.step(place))

    def looked(self, place: int, one: Outcome, found: Comparison) -> Json:
        if not self.wanted or not one.stands:
            return {"name": "", "looked": None}
        name = digest([self.of, repr(one.side), str(self.step(place))])
        own = one.spec is not None and one.spec.group == "own"
        if name in self.held and not own:
            return {"name": name, "looked": None}
        if place not in self.made:
            scene = one.side.scene(found.scenario)
            self.made[place] = one_step(explore(scene, found.batch), self.step(place))
        return {"name": name, "looked": self.made[place]}


def sides_in(request: Json) -> list[Side]:
    """The losses in {sides: [{loss, convention, parameters}]}. Raises Problem for what is none."""
    listed = request.get("sides")
    if not isinstance(listed, list):
        raise misfit("sides", listed)
    if not LEAST <= len(listed) <= MOST:
        raise Problem("compare_sides", count=len(listed), least=LEAST, most=MOST)
    return [_side_in(one, f"sides[{place}]") for place, one in enumerate(listed)]


def _side_in(value: object, where: str) -> Side:
    if not isinstance(value, dict) or not isinstance(value.get("loss"), str):
        raise misfit(where, value)
    return validation.read(Side, value, where, _READERS, lambda place: misfit(place, value))


_READERS: validation.Readers = {
    (Side, "loss"): validation.of_type(str),
    (Side, "parameters"): validation.parameters,
}


def _steps_in(request: Json) -> list[int | None]:
    listed = request.get("at", [])
    if not isinstance(listed, list) or len(listed) > MOST:
        raise misfit("at", listed)
    steps = [validation.integer(one, f"at[{place}]") for place, one in enumerate(listed)]
    return [one if one >= 0 else None for one in steps]


def scenes_in(request: Json) -> tuple[Scenario, list[Scenario]] | None:
    """The scene of a request, and that of each of its sides; None where its rows are not held."""
    scenario = scene_in(request)
    return scenario and (scenario, [side.scene(scenario) for side in sides_in(request)])


# ---- What came of it


def _side(one: Outcome, gradient: Tensor | None) -> Json:
    figures = one.figures
    return {
        "named": {"key": "compare.named", "values": one.called},
        "parameters": {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in one.parameters.items()
        },
        "problem": one.problem and one.problem.to_json(),
        "figures": figures and _figures(figures),
        "gradient": None if gradient is None else packed(gradient),
        "projected": one.is_projected,
    }


def _figures(figures: Figures) -> Json:
    numbers = ("loss", "floor", "collapse", "gradient_norm", "effective")
    places = figures.places
    return {
        **dataclasses.asdict(figures),
        **{name: json_number(getattr(figures, name)) for name in numbers},
        "places": places
        and {**dataclasses.asdict(places), "reciprocal": json_number(places.reciprocal)},
    }


def _two(one: Between) -> Json:
    return {
        "first": one.first,
        "second": one.second,
        "reasons": [told(reason) for reason in one.reasons],
        "tau": json_number(one.tau),
        "cosine": json_number(one.cosine),
        "factor": json_number(one.factor),
        "apart": one.apart and {"pair": one.apart.pair, "told": [*map(told, one.apart.told)]},
    }


def told(sentence: Sentence) -> Json:
    return {"key": sentence.key, "values": dict(sentence.values)}


# ---- Two formulas in one


def _formula(request: Json) -> Json:
    """{scenario, sides, base, other, rows?} → the two definitions as one formula, step by step and
    line by line, or {send_rows}."""
    found = scenes_in(request)
    if found is None:
        return {"send_rows": True}
    scenario, scenes = found
    places = [validation.integer(request.get(name), name) for name in ("base", "other")]
    for name, place in zip(("base", "other"), places, strict=True):
        if not 0 <= place < len(scenes):
            raise misfit(name, place)
    batch = make_batch(scenario.data, scenario.rules)
    with jobs.in_order(2 * seconds_for(len(batch))):
        base, other = (explore(scenes[place], batch) for place in places)
        differs = difference(base, other)
    return {
        "formula": list(differs.formula),
        "steps": [dataclasses.asdict(one) for one in differs.steps],
        "parameters": [_parameter(one) for one in differs.parameters],
        "code": [
            {
                "kind": one.kind,
                "base_text": one.base_text,
                "other_text": one.other_text,
                "base_step": one.base_step,
                "other_step": one.other_step,
            }
            for one in differs.code
        ],
        "base": _numbers(base),
        "other": _numbers(other),
        "together": differs.together,
        "empty": differs.is_empty,
    }


def _parameter(one: ParameterPair) -> Json:
    values = {"base_value": one.base_value, "other_value": one.other_value}
    return {
        **dataclasses.asdict(one),
        **{name: list(v) if isinstance(v, tuple) else v for name, v in values.items()},
    }


def _numbers(e: Exploration) -> list[Json]:
    return [
        {
            "name": step.name,
            "latex": e.spec.symbols.get(step.name, Symbol("")).written,
            "number": _number(number_of(step.value)),
        }
        for step in e.trace.tensors
    ]


def _number(number: Number | None) -> Json | None:
    if number is None:
        return None
    sizes = ("least", "mean", "largest")
    return {
        "count": number.count,
        "present": number.present,
        **{name: json_number(getattr(number, name)) for name in sizes},
    }


# ---- Beside the libraries


def _parity(request: Json) -> Json:
    """{scenario, sides, rows?} → the losses of the sides, in ours and in each library's
    computation, on this batch, on its `first` pairs where it is large (0 for all), or, where it has
    no vectors, on the seeded one."""
    found = scenes_in(request)
    if found is None:
        return {"send_rows": True}
    scenario, scenes = found
    named = {scene.loss: LOSSES[scene.loss] for scene in scenes if scene.loss in LOSSES}
    batch = make_batch(scenario.data, scenario.rules)
    seeded = batch.vectors is None or batch.given is not None
    asked = None if seeded else shown_of(batch)
    rows: list[parities.Row] = []
    with jobs.in_turn():
        resource_checks.check_memory(beside_mib=CUBED * len(asked or ()) ** 3 // MIB)
        for done, (name, spec) in enumerate(named.items()):
            jobs.step("parity", done, len(named), name=name)
            rows += parities.parity(asked, {name: spec})
    told = [_parity_row(row) for row in rows]
    return {"rows": told, "seeded": seeded, "first": 0 if asked is batch else len(asked or ())}


def _parity_row(row: parities.Row) -> Json:
    return {
        "loss": row.loss,
        "convention": row.convention,
        "library": row.library,
        "called": row.called,
        "fed": row.fed,
        "version": row.version,
        "status": row.status,
        "value": json_number(row.value),
        "ours": [_gap(row.kernel[one]) for one in parities.PRECISIONS],
        "theirs": [_gap(row.peer[one]) for one in parities.PRECISIONS],
        "because": [told(sentence) for sentence in row.because],
        "left_out": row.left_out and told(row.left_out),
        "odd": [_odd_row(one) for one in row.odd],
    }


def _odd_row(odd: parities.Odd) -> Json:
    because = [told(sentence) for sentence in odd.because]
    return {"name": odd.name, "status": odd.status, "because": because, "fed": odd.fed}


def _gap(found: parities.Agreement | None) -> Json | None:
    return found and {
        "value": json_number(found.by_value.relative),
        "gradient": json_number(found.by_gradient.relative),
    }


# ---- The address


def _link(request: Json) -> Json:
    """The scene → data and rules as the text of a link; "" where they are the usual ones."""
    scenario = Scenario.from_json(request).shown()
    plain = Scenario(data=scenario.data, rules=scenario.rules)
    return {"link": "" if plain == Scenario() else plain.to_link()}


def _open_link(text: str) -> Json:
    return {"scenario": Scenario.from_link(text).to_json()}


SERVED = [
    served("compare", _compare, wire.Beside | wire.Unmet | wire_explore.SendRows),
    served("formula", _formula, wire.Differing | wire_explore.SendRows),
    served("parity", _parity, wire.Parity | wire_explore.SendRows),
    served("link", _link, wire_explore.Link),
    served("scene_link", scene_link, wire_explore.Link),
    served("open_link", _open_link, wire_explore.OpenedScene, takes=str),
    SERVED_LOSS,
    *JOBS,
]
