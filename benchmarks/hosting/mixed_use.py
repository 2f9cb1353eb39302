"""Visitors who do a bit of everything, for long: the part `hour` of ``python -m benchmarks
hosting``. What is kept of them stays within its time, and the memory where it was."""

from __future__ import annotations

import asyncio
import base64
import random
import time
from pathlib import Path

from benchmarks.hosting.visitor_client import Answers, Visitor, memory_mib, paths_of, row
from benchmarks.report import Row
from lossprism.explorer.lab.training.run_folder import all_runs
from lossprism.explorer.runtime.limits import DOWNLOAD_S
from lossprism.explorer.web.hosted_server_setup_and_cleanup import TIDIED_S

VISITORS = 10
WARM_S = 600.0  # after which the memory should have what it needs
# Shorter than usual, so that what leaves in its time leaves while it is watched.
TIMES = {"LOSSPRISM_UPLOAD_HOURS": "0.05", "LOSSPRISM_RUN_HOURS": "0.05"}
KEPT_S = {"cache/files": 180.0, "cache/arriving": 180.0, "temporary": DOWNLOAD_S}
RUNS_S = 180.0
LOSSES = ("cosent", "info_nce", "triplet", "softmax", "siglip", "supcon", "circle")
WORDS = ("cat", "dog", "house", "river", "paper", "music", "winter", "table", "train", "garden")


def table(rows: int) -> list[list[str]]:
    def sentence() -> str:
        return " ".join(random.choices(WORDS, k=8))

    return [[sentence(), sentence(), str(random.randrange(6))] for _ in range(rows)]


def scenario(**data: object) -> dict:
    return {"loss": random.choice(LOSSES), "data": data}


async def slides(one: Visitor) -> list[dict]:
    drawn = {"pairs": random.choice((16, 64, 128)), "seed": random.randrange(2**31)}
    found = []
    for scale in range(5, 15):
        chosen = {**scenario(source="random", random=drawn), "loss": "cosent"}
        chosen["parameters"] = {"scale": scale}
        found.append(await one.ask("explore", {"scenario": chosen}))
    return found


async def types_a_table(one: Visitor) -> list[dict]:
    chosen = scenario(source="table", rows=table(random.randrange(8, 64)))
    return [await one.ask("explore", {"scenario": chosen})]


async def hands_in(one: Visitor) -> list[dict]:
    rows = ["sentence1,sentence2,score", *(",".join(row) for row in table(2000))]
    content = base64.b64encode("\n".join(rows).encode()).decode()
    drawn = {"sampler": "shuffled", "size": 16, "seed": random.randrange(99), "number": 0}
    return [await one.ask("read_file", {"name": "a.csv", "content": content, "draw": drawn})]


async def takes_away(one: Visitor) -> list[dict]:
    chosen = scenario(source="random", random={"pairs": 64, "seed": random.randrange(2**31)})
    kinds = ("matrix_svg", "matrix_html", "matrix_csv", "terms_csv", "scenario_json")
    return [await one.ask("take", {"scenario": chosen, "what": random.choice(kinds)})]


async def opens_a_large_batch(one: Visitor) -> list[dict]:
    drawn = {"pairs": random.choice((20_000, 200_000)), "seed": random.randrange(2**31)}
    source = {"kind": "random", "random": drawn}
    request = {"source": source, "loss": random.choice(("cosent", "pairwise_hinge"))}
    while "working" in (answer := await one.ask("blocks", request)):
        await asyncio.sleep(0.5)
    return [answer]


async def trains(one: Visitor) -> list[dict]:
    from lossprism.explorer.lab.training.plan import SCRATCH
    from lossprism.explorer.web.pages.finetune.state_entries import first_plan

    small = {"encoder": SCRATCH, "dimension": 32, "steps": 50, "batch_size": 16, "evaluations": 2}
    answer = await one.ask("start", {"plans": [{**first_plan(), **small}]})
    # With several trainings waiting there is no room for more: that is an answer too.
    return (
        [] if answer.get("error", {}).get("key", "").startswith("problem.training_sh") else [answer]
    )


async def opens_the_page(one: Visitor) -> list[dict]:
    for path in ("/", "/large", "/finetune"):
        await one.opens(path)
    return []


DOINGS = {
    **{slides: 6, types_a_table: 3, hands_in: 2, takes_away: 3, opens_a_large_batch: 1},
    **{trains: 0.2, opens_the_page: 1},
}


async def visits(one: Visitor, answers: Answers, until: float) -> None:
    while time.monotonic() < until:
        (doing,) = random.choices(list(DOINGS), list(DOINGS.values()))
        what = f"{doing.__name__}: "
        with answers.timed(what):
            for answer in await doing(one):
                answers.add(answer, what)
        await asyncio.sleep(random.uniform(0, 4))


def left_over(data: Path) -> list[Path]:
    """The files that are older than what they may be, and than it takes to see that."""
    slack, now, found = 2 * TIDIED_S, time.time(), []
    for below, most in KEPT_S.items():
        for path in (data / below).rglob("*"):
            if path.is_file() and now - path.stat().st_mtime > most + slack:
                found.append(path)
    for run in all_runs(data / "runs"):
        state = run.path / "state.json"
        if not run.is_live() and now - state.stat().st_mtime > RUNS_S + slack:
            found.append(state)  # one that waits for its turn has its time before it
    return found


async def mixed(address: str, minutes: float) -> tuple[Answers, list[float]]:
    """Return the answers to the visitors, and the memory of the app each minute."""
    paths, answers, held = paths_of(address), Answers(), []
    until = time.monotonic() + 60 * minutes
    everyone = [Visitor(address, paths) for _ in range(VISITORS)]

    async def watched() -> None:
        while time.monotonic() < until:
            await asyncio.sleep(min(60.0, max(until - time.monotonic(), 0)))
            held.append(await asyncio.to_thread(memory_mib, address))

    await asyncio.gather(watched(), *(visits(one, answers, until) for one in everyone))
    for one in everyone:
        one.line.close()
    return answers, held


def rows(address: str, data: Path, minutes: float) -> list[Row]:
    answers, held = asyncio.run(mixed(address, minutes))
    for error in sorted(set(answers.wrong))[:5]:
        print(error)
    print("MiB each minute:", *(f"{one:.0f}" for one in held))
    early = held[min(int(WARM_S // 60), len(held) // 2) - 1]
    after = f"after {min(WARM_S / 60, minutes / 2):g} minutes {early:.0f} MiB"
    left = left_over(data)
    for path in left:
        print(f"left: {path.relative_to(data)}")
    return [
        row(f"{VISITORS} visitors, mixed use for {minutes:g} minutes", answers, "no error"),
        (
            "its memory",
            f"{after}, at the end {held[-1]:.0f} MiB ({held[-1] / early - 1:+.0%})",
            "± 10 %",
        ),
        ("files left beyond their time", f"{len(left)}", "none"),
    ]
