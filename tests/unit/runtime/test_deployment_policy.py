"""The deployment policy: defined in one place, with every part documented."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from lossprism.explorer.runtime.deployment_policy import (
    HOSTED,
    OWNER_POLICY,
    SPACE,
    DeploymentPolicy,
    deployment_policy,
    use_hosted_policy,
    use_owner_policy,
)

ROOT = Path(__file__).resolve().parents[3]
PARTS = [one for one in fields(DeploymentPolicy) if one.metadata]


@pytest.fixture(autouse=True)
def at_home(monkeypatch):
    for name in (HOSTED, SPACE):
        monkeypatch.setenv(name, "")


def test_at_home_all_of_the_machine_is_there():
    assert deployment_policy() is OWNER_POLICY
    assert deployment_policy().reads_local_paths
    assert not deployment_policy().has_budgets
    assert not deployment_policy().separates_visitors


def test_strangers_are_promised_the_opposite_in_each_part():
    use_hosted_policy()
    for part in PARTS:
        assert getattr(deployment_policy(), part.name) is not getattr(OWNER_POLICY, part.name), (
            part.name
        )
    use_owner_policy()
    assert deployment_policy() is OWNER_POLICY


def test_a_space_promises_the_same_and_its_own_proxy_is_believed(monkeypatch):
    use_hosted_policy()
    anywhere = deployment_policy()
    monkeypatch.setenv(SPACE, "someone/lossprism")
    there = deployment_policy()
    apart = {one.name for one in fields(DeploymentPolicy)} - {"trusts_proxies", "space"}
    assert all(getattr(there, name) == getattr(anywhere, name) for name in apart)
    assert (there.trusts_proxies, anywhere.trusts_proxies) == (True, False)
    assert (there.space, anywhere.space) == ("someone/lossprism", "")


def test_nobody_else_asks_whose_page_it_is():
    """By its variables, that is: each module asks for the part that concerns it."""
    asking = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "explorer").rglob("*.py")
        if any(f'"{name}"' in path.read_text(encoding="utf-8") for name in (HOSTED, SPACE))
    ]
    assert asking == ["explorer/runtime/deployment_policy.py"]


@pytest.mark.parametrize("part", PARTS, ids=lambda part: part.name)
def test_each_part_is_requested_and_reported(part):
    requests = [
        path
        for path in (ROOT / "explorer").rglob("*.py")
        if f"deployment_policy().{part.name}" in path.read_text(encoding="utf-8")
    ]
    assert requests
    text = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
    yes, no = ("yes", "no") if part.default else ("no", "yes")
    if part.name == "trusts_proxies":
        no = "in a Space"
    assert f"| {part.metadata['about']} | {yes} | {no} |" in text
