"""Who waits on a hosted page keeps nobody from being answered, and whoever has left waits for
nothing."""

from __future__ import annotations

import asyncio
import base64
import functools
import io
from collections.abc import Callable

import httpx
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from lossprism.explorer.runtime import fair_queue
from lossprism.explorer.runtime.hosted_budgets import budget
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.web.middleware.visitor_key import HEADER
from lossprism.explorer.web.page_requests import INTERACTIVE_THREADS, OTHER_THREADS
from lossprism.version import VERSION
from tests.loops import in_loop

SOON_S = 60  # on a machine that has other things to do


def scenario(pairs: int, seed: int = 0) -> dict:
    drawn = {"pairs": pairs, "dimension": 8, "seed": seed}
    return {"scenario": {"data": {"source": "random", "random": drawn}}}


def small_file_of_many_rows(rows: int = 200_000) -> dict:
    word = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), pa.array(["a"]))
    into = io.BytesIO()
    table = pa.table({"sentence1": word, "sentence2": word})
    pyarrow.parquet.write_table(table, into, compression="zstd")
    assert len(into.getvalue()) < 2**16
    return {"name": "a.parquet", "content": base64.b64encode(into.getvalue()).decode()}


class Crowd:
    """Requests under way, each on a connection of its own, until all leave at once."""

    def __init__(self, address: str) -> None:
        self.address = address

    async def ask(self, key: str, function: str, request: object) -> dict:
        path, headers = f"/requests/explore/{function}", {HEADER: key}
        async with httpx.AsyncClient(base_url=self.address, timeout=SOON_S) as client:
            return (await client.post(path, json=request, headers=headers)).json()

    async def beside(
        self, requested: list[tuple[str, str, object]], waits: Callable[[], bool]
    ) -> list:
        """What those were answered who were not kept waiting, once another visitor was answered
        beside all of them."""
        tasks = [asyncio.create_task(self.ask(*one)) for one in requested]
        try:
            await until(waits)
            answer = await self.ask(new_key(), "explore", scenario(8, seed=1))
            assert "picture" in answer, answer
            async with httpx.AsyncClient(base_url=self.address, timeout=SOON_S) as client:
                health = (await client.get("/healthz")).json()
                assert (health["alive"], health["version"]) == (True, VERSION)
                losses = await client.post("/gradio_api/run/list_losses", json={"data": []})
                assert "cosent" in losses.text
            return [task.result() for task in tasks if task.done()]
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(SOON_S):
        while not holds():
            await asyncio.sleep(0.02)


def many_wait(count: int) -> bool:
    return fair_queue.MIDDLING.counts == (1, count)


@pytest.mark.thorough
def test_who_waits_for_larger_batches_keeps_nobody_waiting(hosted):
    """More than the server has threads, of one key and of many; and nobody waits on who left. Who
    asks for more than may wait is refused at once."""
    crowd = Crowd(hosted[1])
    one = new_key()
    keys = [new_key() for _ in range(6)]
    for asking in ([one] * 60, [key for key in keys for _ in range(8)]):
        requests = [(key, "explore", scenario(512, seed)) for seed, key in enumerate(asking)]
        assert len(requests) > INTERACTIVE_THREADS
        of_one = int(budget("middling_of_one"))
        with fair_queue.MIDDLING.taken("another"):
            waits = functools.partial(many_wait, of_one * len(set(asking)))
            result = in_loop(crowd.beside(requests, waits))
            assert {answer["error"]["key"] for answer in result} <= {"problem.busy_middling_own"}
            in_loop(until(functools.partial(many_wait, 0)))


@pytest.mark.thorough
def test_a_small_file_that_unpacks_to_much_takes_its_turn(hosted, monkeypatch):
    monkeypatch.setenv("LOSSPRISM_HEAVY_AT_ONCE", "1")
    assert fair_queue.HEAVY.counts == (0, 0)
    crowd, key, file = Crowd(hosted[1]), new_key(), small_file_of_many_rows()
    with fair_queue.HEAVY.taken("another"):
        uploads = [(key, "read_file", file)] * 44
        others = [(new_key(), "read_file", file) for _ in range(OTHER_THREADS)]
        waits = lambda: fair_queue.HEAVY.counts == (1, 3 + len(others))  # noqa: E731
        result = in_loop(crowd.beside([*uploads, *others], waits))
        assert {answer["error"]["key"] for answer in result} <= {"problem.busy_own"}
        in_loop(until(lambda: fair_queue.HEAVY.counts == (1, 0)))
