"""Types of the fields of answers: settings, JSON objects, arrays as they are sent."""

import dataclasses
from typing import Annotated, Any

Json = dict[str, Any]  # an object on its way to the browser or from it, before it is checked

# What a parameter of a loss can be: a number, a switch, a choice, a list of numbers, null for off.
Setting = float | bool | str | list[float] | None


@dataclasses.dataclass(frozen=True)
class Packed:
    """Little-endian numbers of this numpy type, as base64."""

    dtype: str


Floats = Annotated[str, Packed("<f4")]
Integers = Annotated[str, Packed("<i4")]
Bytes = Annotated[str, Packed("u1")]
