"""The report on a data set under an encoder, as lines of text and as plain JSON."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from explorer.lab.doctor.data_report import row_lines
from explorer.lab.doctor.encoded import (
    RANKED,
    Band,
    Seen,
    Sharpness,
    examine_encoded,
    ranked,
    sharpness,
)
from explorer.lab.doctor.faults import EVIDENCE
from explorer.lab.doctor.profile import Profile
from explorer.lab.doctor.reading import Read
from explorer.locale import say
from explorer.runtime.numbers import display_number
from losses import LossSpec


def encoded_to_json(
    profile: Profile, seen: Seen, spec: LossSpec, batch: int, language: str = "en"
) -> dict[str, Any]:
    """Findings, the worst first, what was looked for, on which pairs label and encoder disagree,
    cosines by label, and how sharp temperatures are; pairs count from 1."""
    faults, checks = examine_encoded(profile, seen, spec, batch)
    sharp = sharpness(seen, batch) if spec.negatives_of_batch else ()
    return {
        "encoder": seen.encoder,
        "pairs": len(seen),
        "findings": [
            {
                **fault.to_json(language),
                "pairs": list(fault.rows),
                "cells": [dataclasses.asdict(cell) for cell in fault.cells],
            }
            for fault in faults
        ],
        "looked": [check.said(language) for check in checks if check.made],
        "not_looked": [check.said(language) for check in checks if not check.made],
        "ranked": [dataclasses.asdict(one) for one in ranked(seen)],
        "bands": [{**vars(band), "said": _band_said(band, language)} for band in seen.bands],
        "sharpness": [{**vars(one), "said": _sharp_said(one, batch, language)} for one in sharp],
    }


def encoded_lines(found: dict[str, Any], read: Read, batch: int, language: str) -> Iterator[str]:
    """What a person reads of it in the terminal."""
    count = found["pairs"]
    told = {"encoder": found["encoder"], "count": count, "total": len(read.profile)}
    yield f"\n{say(language, 'doctor.with_encoder', **told)}"
    for fault in found["findings"]:
        yield f"\n{say(language, 'doctor.severity.' + fault['severity'])} · {fault['name']}"
        yield f"   {fault['said']}"
        for cell in fault["cells"]:
            yield f"   {display_number(cell['cosine'], 3)}  {cell['first']}  ·  {cell['second']}"
        if not fault["cells"]:
            yield from (
                f"   {line}" for line in row_lines(read, fault["pairs"][:EVIDENCE], language)
            )
        yield from (f"   {one}" for one in fault["advice"])
    if not found["findings"]:
        yield say(language, "doctor.none_found_encoded")
    if found["ranked"]:
        yield f"\n{say(language, 'ui.suspects')} ({len(found['ranked'])})"
        yield say(language, "ui.suspects_note")
        first = [one["pair"] for one in found["ranked"][:RANKED]]
        yield from (f"   {line}" for line in row_lines(read, first, language))
    yield f"\n{say(language, 'doctor.bands')}"
    yield from (f"   {band['said']}" for band in found["bands"])
    if found["sharpness"]:
        yield f"\n{say(language, 'doctor.sharpnesses', others=batch - 1)}"
        yield from (f"   {one['said']}" for one in found["sharpness"])


def _band_said(band: Band, language: str) -> str:
    ends = [display_number(band.low, 3), display_number(band.high, 3)]
    return say(
        language,
        "doctor.band",
        label="–".join(dict.fromkeys(ends)),
        count=band.count,
        mean=display_number(band.mean, 2),
        tenth=display_number(band.tenth, 2),
        ninth=display_number(band.ninth, 2),
    )


def _sharp_said(one: Sharpness, batch: int, language: str) -> str:
    return say(
        language,
        "doctor.sharpness",
        negatives=display_number(one.negatives),
        others=batch - 1,
        temperature=display_number(one.temperature, 2),
        scale=display_number(1 / one.temperature, 2),
    )
