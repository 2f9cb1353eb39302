"""Work that waits until nobody waits for anything else."""

from __future__ import annotations

from lossprism.explorer.web import site


def waited(monkeypatch, used: list[float], most: float) -> float:
    """Seconds until `wait_until_idle` ends, where the process uses so many in each of its waits."""
    now, spent = [0.0], [0.0]
    shares = iter(used)

    def sleep(seconds: float) -> None:
        now[0] += seconds
        spent[0] += next(shares)

    monkeypatch.setattr(site.time, "sleep", sleep)
    monkeypatch.setattr(site.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(site.time, "process_time", lambda: spent[0])
    site.wait_until_idle(most)
    return now[0]


def test_it_waits_until_next_to_nothing_is_computed(monkeypatch):
    assert waited(monkeypatch, [1.5, 0.3, 0.1, 1.0], most=60) == 6
    assert waited(monkeypatch, [0.0], most=60) == 2


def test_waiting_for_a_busy_process_ends_at_the_limit(monkeypatch):
    assert waited(monkeypatch, [1.0] * 9, most=10) == 10
