"""Parent classes of answers: with every field, or without those at their defaults."""

import dataclasses
from typing import TypeVar

from lossprism.explorer.runtime.number_format import json_number


class Whole:
    """Base of an answer with all fields required: Gradio reads `__total__`, and takes fields of
    other dataclasses for optional."""

    __total__ = True


class Sparse:
    """Base of a dataclass whose JSON leaves out each entry that equals its default.

    The entry is then no attribute of the instance, which orjson writes, and reads as the default of
    the class.
    """

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            if getattr(self, field.name) == field.default:
                del self.__dict__[field.name]


Answer = TypeVar("Answer")


def as_answer(kind: type[Answer], found: object, **others: object) -> Answer:
    """Return the dataclass `kind` with the attributes of `found` named like its fields, numbers in
    JSON form, and with `others`."""
    names = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
    read = {name: getattr(found, name) for name in names if name not in others}
    numbers = {name: json_number(one) for name, one in read.items() if isinstance(one, float)}
    return kind(**{**read, **numbers, **others})
