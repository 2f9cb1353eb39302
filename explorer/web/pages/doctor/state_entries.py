"""The state of the Doctor page, entry by entry: all of it stands in the address, and only what is
known, so that a link is short enough for an issue."""

from typing import Any

from lossprism.explorer.lab.doctor import USUAL_HUB_ROWS
from lossprism.explorer.lab.doctor.dataset_reader import HUB_ROWS
from lossprism.explorer.lab.doctor.loss_and_batch_facts_given_by_user import COUNTS, SETTINGS
from lossprism.explorer.lab.doctor.pair_dataset_checks_by_encoder import (
    ENCODED_LIMITS,
    USUAL_ENCODED_PAIRS,
)
from lossprism.explorer.web.pages.doctor import data_source, dataset_requests, run_requests
from lossprism.explorer.web.pages.state_entry_type import Entry

# What a visitor can have checked; each has a sidebar and a report of its own.
CHECKS = ("number", "data", "run")

# Numbers that people are stuck with, each with what they know beside it.
EXAMPLES = [
    {"value": "5.545", "loss": "siglip"},  # solved where nothing is typed
    {"value": "0.693"},
    {"value": "1.3863", "loss": "FlagEmbedding", "negatives": "3"},
    {"value": "3.17", "loss": "MultipleNegativesRankingLoss", "scale": "1", "batch": "64"},
    {"value": "6.92", "loss": "SimCLR"},
    {"value": "5", "loss": "TripletLoss"},
]


def doctor_table() -> list[Entry]:
    """Another check, number or dataset is a step of the browser's history."""
    number: dict[str, Any] = {"when": ("check", "number")}
    return [
        Entry("check", CHECKS[0], "choice", choices=CHECKS, link="door", history=True),
        Entry("value", "", "text", link="value", history=True, **number),
        Entry("loss", "", "text", link="loss", history=True, **number),
        *(Entry(name, "", "text", link=name, **number) for name in (*COUNTS, *SETTINGS)),
        *_data_entries(),
        *_run_entries(),
    ]


def _run_entries() -> list[Entry]:
    """Return the entries of a run; known values beside its log have names of their own."""
    here: dict[str, Any] = {"when": ("check", "run")}
    of_file: dict[str, Any] = {"when": ("run.kind", "file")}
    known = ("loss", *COUNTS, *SETTINGS)
    return [
        Entry("run.kind", run_requests.RUN_SOURCES[0], "choice", link="by",
              choices=run_requests.RUN_SOURCES, history=True, **here),
        Entry("run.example", run_requests.LOGS[0], "choice", choices=run_requests.LOGS, link="log",
              history=True,
              when=("run.kind", "example")),
        Entry("run.file", "", "text", link="logfile", history=True, **of_file),
        Entry("run.name", "", "text", link="logname", **of_file),
        Entry("run.pasted", "", "text", history=True, when=("run.kind", "typed")),
        Entry("run.folder", "", "text", link="batches", history=True, when=("run.kind", "kept")),
        Entry("run.other", run_requests.OTHER_RUNS[0], "choice", choices=run_requests.OTHER_RUNS,
              link="beside", **here),
        Entry("run.other_file", "", "text", link="besidefile", when=("run.other", "file")),
        Entry("run.other_name", "", "text", link="besidename", when=("run.other", "file")),
        *(Entry(f"run.other_{name}", "", "text", link=f"beside_{name}", **here)
          for name in run_requests.KNOWN_OF_OTHER_RUN),
        Entry("run.step", "", "text", link="step", **of_file),
        Entry("run.curve", "", "text", link="curve", **here),
        Entry("run.held_out", "", "text", link="held", **here),
        *(Entry(f"run.{name}", "", "text", link=f"run_{name}", **here) for name in known),
    ]  # fmt: skip


def _data_entries() -> list[Entry]:
    """A pasted table stands in the address by what is in it (`data/check_state_and_requests`)."""
    here: dict[str, Any] = {"when": ("check", "data")}
    step: dict[str, Any] = {"history": True}
    of_example: dict[str, Any] = {"when": ("data.kind", "example")}
    of_file: dict[str, Any] = {"when": ("data.kind", "file")}
    of_hub: dict[str, Any] = {"when": ("data.kind", "hub")}
    kinds, losses = data_source.KINDS, dataset_requests.losses_offered()
    return [
        Entry("data.kind", kinds[0], "choice", choices=kinds, link="from", **step, **here),
        Entry("data.example", data_source.FIRST_SET, "choice", link="set", choices=data_source.SETS,
              **step, **of_example),
        Entry("data.file", "", "text", link="file", **step, **of_file),
        Entry("data.name", "", "text", link="name", **of_file),
        Entry("data.hub", "", "text", link="hub", **step, **of_hub),
        Entry("data.split", "train", "text", link="split", **of_hub),
        Entry("data.rows", USUAL_HUB_ROWS, "whole", *HUB_ROWS, link="rows", **of_hub),
        Entry("data.pasted", "", "text", history=True, when=("data.kind", "typed")),
        Entry("data.columns", {}, "map", link="c", **here),
        Entry("data.header", None, "switch", link="header", **here),
        Entry("data.encoding", "", "text", link="encoding", **here),
        Entry("data.loss", dataset_requests.FIRST_LOSS, "choice", choices=losses, link="for",
              **here),
        Entry("data.batch", dataset_requests.FIRST_BATCH, "whole", *dataset_requests.BATCHES,
              link="n", **here),
        Entry("data.margin", None, "number", link="for_margin", **here),
        Entry("data.tokens", dataset_requests.USUAL_TOKENS, "whole", *dataset_requests.TOKENS,
              link="tokens", **here),
        Entry("data.encoder", "", "text", link="encoder", **here),
        Entry("data.most", USUAL_ENCODED_PAIRS, "whole", *ENCODED_LIMITS, link="most", **here),
    ]  # fmt: skip
