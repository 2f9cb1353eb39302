"""Colours of pages, scripts and figures, as `palette.json` lists them.

Both ramps are safe for colour-blind readers: blue to orange through the page's background, and one
hue that only grows darker. The ramp for print is cividis (Nuñez, Anderton and Renslow, 2018): its
grey rises from one end to the other, so that a copy in grey keeps the order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lossprism.explorer.runtime.json_reading import read_json

SHADES: dict[str, dict[str, str | list[str]]] = read_json(
    Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
)


@dataclass(frozen=True)
class Palette:
    """The colours of one theme by their names in `palette.json`, and its ramps of colours."""

    shades: dict[str, str]
    diverging: tuple[str, ...]
    sequential: tuple[str, ...]
    mask: tuple[str, ...]

    def __getattr__(self, name: str) -> str:
        shades = self.__dict__.get("shades", {})  # of a copy that is being made there are none yet
        if name not in shades:
            raise AttributeError(name)
        return shades[name]


def _palette(*themes: str) -> Palette:
    """Return the colours of the first theme, updated by the next ones."""
    known = {name: value for theme in themes for name, value in SHADES[theme].items()}
    shades = {name: value for name, value in known.items() if isinstance(value, str)}
    ramps = {name: tuple(value) for name, value in known.items() if isinstance(value, list)}
    return Palette(shades, **ramps)


def properties(theme: str) -> str:
    """Return the colours of a theme as CSS properties: `--lp-ink` for ink; a ramp also stop by
    stop."""
    colours: dict[str, str] = {}
    for name, value in SHADES[theme].items():
        if isinstance(value, list):
            colours |= {f"{name}-{place}": stop for place, stop in enumerate(value, 1)}
        colours[name] = value if isinstance(value, str) else " ".join(value)
    return "; ".join(f"--lp-{name.replace('_', '-')}: {value}" for name, value in colours.items())


LIGHT, DARK, PRINT = _palette("light"), _palette("light", "dark"), _palette("light", "print")


def ink_on(rgb: Sequence[int]) -> str:
    """Return black or white, whichever is more legible on this colour."""
    red, green, blue = rgb
    is_light = 0.299 * red + 0.587 * green + 0.114 * blue > 140
    return LIGHT.ring if is_light else DARK.ring


def channels(colour: str) -> tuple[int, int, int]:
    """Return red, green and blue of "#rrggbb", from 0 to 255."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def ramp_table(stops: Sequence[str]) -> np.ndarray:
    """Return 256 colours between the stops, rounded as the page rounds them."""
    points = np.array([channels(stop) for stop in stops], dtype=float)
    place = np.linspace(0, len(stops) - 1, 256)
    left = np.minimum(place.astype(int), len(stops) - 2)
    part = (place - left)[:, None]
    return np.floor(points[left] + (points[left + 1] - points[left]) * part + 0.5).astype(int)
