"""Identification of a class of sentence-transformers with a loss of the registry and its
settings."""

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lossprism.losses import LOSSES, LossSpec
from lossprism.losses.loss_name_matching import LIBRARY, classes_of, names_of, plain
from lossprism.losses.spec import ParameterValue

# Under this name `PrismCallback` says which loss it was, among the callbacks of trainer_state.json.
CALLBACK_RECORD = "prism"
# What the library calls otherwise, and how it is read: the name here, and what to make of it.
_RENAMED = {
    "scale": ("temperature", lambda scale: 1 / scale),
    "triplet_margin": ("margin", lambda margin: margin),
    "partition_mode": ("partition", lambda mode: mode),
    "margin_strategy": ("margin_kind", lambda kind: kind),
    "directions": ("directions", lambda found: ",".join(found).replace("doc", "key")),
    "distance_metric": ("distance", lambda name: _distance(str(name))),
    "similarity_fct": ("similarity", lambda name: "dot" if "dot" in str(name) else "cosine"),
}


@dataclass(frozen=True)
class Recognised:
    """A loss of ours that a library's class computes, under the library's convention.

    `parameters` are those that the settings name; others are the convention's own. `similarity` is
    the kind of the pair scores, if the loss leaves that open.
    """

    spec: LossSpec
    convention: str
    parameters: Mapping[str, ParameterValue]
    similarity: str = "cosine"


def recognised(name: str, settings: Mapping[str, object]) -> Iterator[Recognised]:
    """Yield the losses that the library's class of this name may be with these settings, best
    first.

    `settings` are those of its `get_config_dict`, or of a model's card. Settings without a name
    here, such as a chunk size, are ignored; the caller checks whether the value is the same.
    """
    seen: list[Recognised] = []
    for spec, convention in _named(plain(name)):
        settled = _with_settings(spec, convention, settings)
        if settled not in seen:
            seen.append(settled)
            yield settled


@functools.cache
def _named(class_name: str) -> tuple[tuple[LossSpec, str], ...]:
    """Return each loss under a convention of the library's that has a class of this plain
    name."""
    found = []
    for spec in LOSSES.values():
        names = {plain(one) for one in (spec.name, spec.title, *spec.aliases)}
        for convention in spec.conventions:
            if not convention.name.startswith(LIBRARY):
                continue
            under = spec.under(convention.name)
            classes = {plain(word) for word in convention.name.split() if word.endswith("Loss")}
            crossed = any(name.startswith("cross_encoder.") for name in names_of(convention))
            named = class_name in classes | classes_of(under)
            if named or (class_name in names and not classes and not crossed):
                found.append((under, convention.name))
    return tuple(found)


def _with_settings(spec: LossSpec, convention: str, settings: Mapping[str, object]) -> Recognised:
    chosen: dict[str, ParameterValue] = {}
    similarity = "cosine"
    kinds = {one.name: one.kind for one in spec.parameters}
    for name, value in settings.items():
        if name in kinds and (setting := _of_kind(kinds[name], value)) is not None:
            chosen[name] = setting
            continue
        if name not in _RENAMED or value is None:
            continue
        other, read = _RENAMED[name]
        reading = read(value)
        if other in kinds:
            chosen[other] = reading
        elif other == "similarity":
            similarity = str(reading)
    if settings.get("hardness_mode"):
        chosen |= _hardness(str(settings["hardness_mode"]), settings.get("hardness_strength"))
    elif "hardness" in kinds and "hardness_mode" in settings:
        chosen["hardness"] = 0.0
    return Recognised(spec, convention, chosen, similarity)


def _of_kind(kind: str, value: object) -> ParameterValue | None:
    """Return the value if it is of the parameter's kind."""
    if kind == "number" and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if kind == "switch" and isinstance(value, bool):
        return value
    return value if kind == "choice" and isinstance(value, str) else None


def _hardness(mode: str, strength: object) -> dict[str, ParameterValue]:
    hardness = float(strength) if isinstance(strength, int | float) else 0.0
    return {"hardness_on": mode.removesuffix("_negatives"), "hardness": hardness}


def _distance(name: str) -> str:
    """Return the distance of "SiameseDistanceMetric.COSINE_DISTANCE",
    "TripletDistanceMetric.EUCLIDEAN" and so on."""
    return "cosine" if "cosine" in name.lower() else "euclidean"
