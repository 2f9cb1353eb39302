"""What a site that hosts the repository reads of it: workflows, issue forms, citation. Nobody runs
them here; they are YAML, name what is there, and run what CI runs."""

from __future__ import annotations

import re

import pytest
import yaml

from lossprism.version import VERSION
from tests.code_blocks import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
FORMS = [
    path
    for path in sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    if path.stem != "config"
]


def read(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def steps_of(name):
    jobs = read(ROOT / ".github" / "workflows" / name)["jobs"].values()
    return [step for job in jobs for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_what_a_runner_asks_for(path):
    found = read(path)
    assert {"push", "pull_request"} <= set(found[True])  # YAML's `on`
    assert found["permissions"] == {"contents": "read"}
    for job in found["jobs"].values():
        assert job["runs-on"] == "ubuntu-latest"
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert re.fullmatch(r"actions/[\w-]+@v\d+", step.get("uses", "actions/x@v1"))
    needed = {job["needs"] for job in found["jobs"].values() if "needs" in job}
    assert needed <= set(found["jobs"])


def test_ci_runs_what_ci_runs_here():
    assert [step["run"] for step in steps_of("ci.yml") if "run" in step] == [".ci/run"]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100
    (matrix,) = (
        job["strategy"]["matrix"]["python"]
        for job in read(ROOT / ".github/workflows/ci.yml")["jobs"].values()
    )
    assert all(isinstance(one, str) for one in matrix)  # 3.10 is no 3.1
    assert "3.11" in matrix


def test_the_documentation_is_built_as_the_tests_build_it():
    lines = [step["run"] for step in steps_of("docs.yml") if "run" in step]
    assert "python -m mkdocs build --strict" in lines
    uploaded = next(step for step in steps_of("docs.yml") if "upload" in step.get("uses", ""))
    assert uploaded["with"]["path"] == read_site_dir()


def read_site_dir():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    return re.search(r"^site_dir: (.+)$", text, re.MULTILINE)[1]


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.name)
def test_an_issue_form_asks_for_what_an_answer_needs(path):
    form = read(path)
    assert form["name"]
    assert form["description"]
    fields = [part for part in form["body"] if part["type"] in ("input", "textarea")]
    assert len({field["id"] for field in fields}) == len(fields) == len(form["body"])
    assert all(field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


def test_there_are_workflows_and_forms():
    assert [path.stem for path in WORKFLOWS] == ["ci", "docs"]
    assert len(FORMS) == 3


def test_the_citation_has_the_version():
    found = read(ROOT / "CITATION.cff")
    assert {"cff-version", "message", "title", "authors"} <= set(found)  # what the format requires
    assert found["version"] == VERSION
    assert found["license"] == "MIT"


def test_the_card_of_the_space_names_a_picture_and_the_tools_for_agents():
    matter = yaml.safe_load((ROOT / "README.md").read_text(encoding="utf-8").split("---")[1])
    assert (ROOT / matter["thumbnail"]).is_file()
    assert "mcp-server" in matter["tags"]


def test_files_keep_their_bytes_on_every_system():
    attributes = (ROOT / ".gitattributes").read_text(encoding="utf-8").splitlines()
    assert "* text=auto eol=lf" in attributes
    # Large-file rules are the hub's alone: a clone elsewhere would need another program for them.
    assert not any("filter=" in line for line in attributes)
