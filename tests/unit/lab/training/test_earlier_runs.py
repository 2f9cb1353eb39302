"""Run folders of earlier versions, which lack entries of later ones."""

from __future__ import annotations

import json
from dataclasses import replace

from lossprism.explorer.lab.training.plan import SCRATCH, TrainingPlan

PLAN = {"encoder": SCRATCH, "dimension": 8, "batch_size": 8, "evaluations": 4}
# What the first version did not write.
LATER = {
    "config.json": {"rules", "labelled", "triplets", "version"},
    "plan": {"similarity", "sampler", "twins", "guide", "teacher_model", "query_prompt"},
    "data": {"encoding", "teacher", "triplets", "name", "held_out_name", "augment"},
    "summary.json": {"repeated", "examples"},
    "figures": {"pairs", "accuracy_at_1", "mrr_at_10", "lists"},
    "state.json": {"birth", "part", "began", "done", "total", "time_is_up"},
    "probe.json": {"label_range", "labelled", "teacher"},
}


def test_a_run_of_the_first_version_is_read_with_defaults_for_what_it_lacks(runs, trained):
    run = runs.folder(trained(TrainingPlan(**PLAN, steps=6)))
    whole = runs.status(run.name)

    def earlier(of, entries):
        return {name: value for name, value in entries.items() if name not in LATER[of]}

    files = {name: earlier(name, run.read(name)) for name in LATER if name.endswith(".json")}
    plan = earlier("plan", files["config.json"]["plan"])
    files["config.json"]["plan"] = {**plan, "data": earlier("data", plan["data"])}
    for when in ("before", "after"):
        files["summary.json"][when] = earlier("figures", files["summary.json"][when])
    for name, entries in files.items():
        run.write(name, entries)
    lines = [json.loads(line) for line in run.log.read_text(encoding="utf-8").splitlines()]
    lines = [json.dumps(earlier("figures", line)) for line in lines]
    run.log.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    found = runs.status(run.name)
    assert (found.state, found.step, found.plan) == ("finished", 6, whole.plan)
    assert found.summary.after == replace(
        whole.summary.after, pairs=None, accuracy_at_1=None, mrr_at_10=None, lists=None
    )
    assert found.summary.examples is None
    assert [one for one in found.records if one.kind == "step"] == [
        one for one in whole.records if one.kind == "step"
    ]
    assert runs.probe(run.name).labels
    assert runs.plan(run.name).loss == "cosent"
