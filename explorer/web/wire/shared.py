"""What the answers of several pages are made of."""

from __future__ import annotations

from typing import TypedDict

from explorer.core.diagnostics import Places as Places
from explorer.export.picture_data import Axis as Axis
from explorer.export.picture_data import BatchData as BatchData
from explorer.export.picture_data import Energy as Energy
from explorer.export.picture_data import Figures as Figures
from explorer.export.picture_data import Item as Item
from explorer.export.picture_data import Looked as Looked
from explorer.export.picture_data import Numbers as Numbers
from explorer.export.picture_data import Opposed as Opposed
from explorer.export.picture_data import PairArrays as PairArrays
from explorer.export.picture_data import Parts as Parts
from explorer.export.picture_data import PartSeen as PartSeen
from explorer.export.picture_data import Picture as Picture
from explorer.export.picture_data import Shown as Shown
from explorer.export.picture_data import Step as Step
from explorer.export.picture_data import StepOf as StepOf
from explorer.export.picture_data import Suspect as Suspect
from explorer.export.picture_data import Term as Term
from explorer.export.picture_data import Thumbnail as Thumbnail
from explorer.lab.large.drawing import LabelRules as LabelRules
from explorer.locale import Word as Word
from explorer.runtime.downloads import Parcel as Parcel
from explorer.runtime.downloads import Text as Text
from explorer.runtime.numbers import Real as Real
from explorer.runtime.problem import About as About
from explorer.runtime.problem import Problem as Problem
from explorer.runtime.wire import Bytes as Bytes
from explorer.runtime.wire import Floats as Floats
from explorer.runtime.wire import Integers as Integers
from explorer.runtime.wire import Packed as Packed
from explorer.runtime.wire import Setting as Setting
from explorer.sources.reading_notes import ReadingNote as ReadingNote
from explorer.sources.tables import SkippedRow as SkippedRow
from explorer.web.large_files import HandedIn as HandedIn
from explorer.web.large_files import LargeFile as LargeFile
from explorer.web.large_files import LargeFileUndecided as LargeFileUndecided
from explorer.web.large_files import Working as Working
from explorer.web.serving import Nothing as Nothing
from explorer.web.serving import Refused as Refused


class Encoded(TypedDict):
    """In which encoding a file was read ("" where that cannot be told), and those it could be read
    in, the likeliest first, each with how its first words would read."""

    encoding: str
    encodings: list[tuple[str, str]]
