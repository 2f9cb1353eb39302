"""Robustness of a hosted page that is killed, or whose disk fills up or files are damaged: the
part `faults` of ``python -m benchmarks hosting``.

Each fault is done to an app of its own with a folder of its own; in the end the app, started again
where it had to be, trains a run to its end without help. Those that a test holds are named with it.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import psutil

from benchmarks.app_in_browser import ROOT
from benchmarks.hosting.visitor_client import WAIT_S, paths_of
from benchmarks.report import Row
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.web.middleware.visitor_key import HEADER

WHOLE = "what was finished is whole, the rest goes on or is reported; started again without help"
PATIENCE_S = 600.0
# A disk so small that nothing would be begun on it by the usual budget.
ROOM_MIB, SMALL = 48, {"LOSSPRISM_DISK_LEFT_MIB": "1"}
# Steps of a few milliseconds: so many that whoever does something to the run finds it under way.
MANY, FEW = 300, 5
FILE = b"sentence1,sentence2,score\na cat,a dog,1\na bird,a fish,0\n"
HELD = (
    ("kill −9 of a training", "tests/process/training/test_runs.py"),
    ("kill −9 of an encoding", "tests/process/test_encoding_killed.py"),
    (
        "clock set back",
        "tests/unit/lab/training/test_run_control.py, tests/unit/runtime/test_atomic_write.py",
    ),
)


class App:
    """A hosted app, and one visitor of it."""

    def __init__(self, port: int, key: str, *options: str, **environment: str) -> None:
        command = [sys.executable, "app.py", "--hosted", "--no-browser", "--port", str(port)]
        self.process = subprocess.Popen(
            [*command, *options],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.address = f"http://127.0.0.1:{port}"
        self.client = httpx.Client(
            base_url=self.address, headers={HEADER: key}, timeout=WAIT_S, trust_env=False
        )
        if "http" not in self.process.stdout.readline():
            raise RuntimeError(f"the app did not start: {self.process.stderr.read()}")
        self.paths = paths_of(self.address, "finetune")

    def ask(self, function: str, request: object) -> dict:
        """The answer of a function of the page, which may be a sentence that says why not."""
        answer = self.client.post(self.paths[function], json=request)
        answer.raise_for_status()
        content = answer.json()
        if content.get("error", {}).get("key") == "problem.internal":
            raise RuntimeError(f"{function} fell silent")
        return content

    def answers(self) -> None:
        """The page opens, draws its picture, and says how it is."""
        assert self.client.get("/").status_code == 200
        assert "error" not in self.ask("explore", {"scenario": {}})
        assert self.client.get("/healthz").json()["alive"]

    def start(self, steps: int) -> str:
        answer = self.ask("start", {"plans": [plan(steps)]})
        if "error" in answer:
            raise RuntimeError(json.dumps(answer["error"]))
        return answer["started"][0]

    def status(self, run: str) -> dict:
        return self.ask("watch", {"offsets": {run: 0}})["runs"][run]

    def until(self, run: str, holds: Callable[[dict], bool]) -> dict:
        """Return the status of the run as soon as `holds` is true of it."""
        end = time.monotonic() + PATIENCE_S
        while not holds(answer := self.status(run)):
            if time.monotonic() > end:
                raise RuntimeError(f"{run} stays {answer['state']}")
            time.sleep(0.1)
        return answer

    def trains(self) -> None:
        """A run goes from its beginning to its end."""
        answer = self.until(self.start(FEW), lambda answer: answer["state"] in ENDED)
        assert (answer["state"], answer["step"]) == ("finished", FEW), answer

    def hands_in(self) -> dict:
        content = base64.b64encode(FILE).decode()
        return self.ask("read_file", {"name": "a.csv", "content": content})

    def end(self, how: int) -> tuple[int, str]:
        """With this signal; the exit status and what it complained of."""
        self.client.close()
        self.process.send_signal(how)
        _, complaints = self.process.communicate(timeout=PATIENCE_S)
        return self.process.returncode, complaints


ENDED = ("finished", "failed", "stopped", "interrupted")


def plan(steps: int) -> dict:
    from lossprism.explorer.lab.training.plan import SCRATCH
    from lossprism.explorer.web.pages.finetune.state_entries import first_plan

    small = {"encoder": SCRATCH, "dimension": 8, "steps": steps, "batch_size": 16}
    return {**first_plan(), **small, "evaluations": 2}


@contextlib.contextmanager
def app(data: Path, port: int, key: str, *options: str, **environment: str) -> Iterator[App]:
    """Ended on leaving, whatever happens; it must not have printed a traceback. Without other
    options it writes below this folder only."""
    opened = App(port, key, *(options or ("--data", str(data))), **environment)
    try:
        yield opened
        if opened.process.poll() is None:
            _, complaints = opened.end(signal.SIGTERM)
            assert "Traceback" not in complaints, complaints
    finally:
        opened.process.kill()
        opened.process.wait()


def ended_while_training(how: int, data: Path, port: int) -> str:
    """The app leaves while a run trains, which is another process; the next app finds it."""
    key = new_key()
    with app(data, port, key) as first:
        done, run = first.start(FEW), first.start(MANY)
        first.until(done, lambda answer: answer["state"] == "finished")
        first.until(run, lambda answer: answer["step"] >= 1)
        status, complaints = first.end(how)
        assert "Traceback" not in complaints, complaints
        assert status == (0 if how == signal.SIGTERM else -how), status
    with app(data, port, key) as second:
        assert second.status(done)["state"] == "finished"
        answer = second.until(run, lambda answer: answer["state"] in ENDED)
        assert (answer["state"], answer["step"]) == ("finished", MANY), answer
        assert second.ask("take", {"run": run, "what": "model"})["path"]
        second.trains()
    return "the run went on to its end, and the next app reported it"


def all_killed(data: Path, port: int) -> str:
    """Kill the app and its processes, as a container is killed. The run reports it and goes on."""
    key = new_key()
    with app(data, port, key) as first:
        done, run = first.start(FEW), first.start(MANY)
        first.until(done, lambda answer: answer["state"] == "finished")
        first.until(run, lambda answer: answer["step"] >= MANY // 2)
        children = psutil.Process(first.process.pid).children(recursive=True)
        first.end(signal.SIGKILL)
        for child in children:
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
    with app(data, port, key) as second:
        assert second.status(done)["state"] == "finished"
        answer = second.status(run)
        assert answer["state"] == "interrupted", answer
        assert answer["problem"]["key"] == "problem.training_interrupted", answer
        assert second.ask("steer", {"run": run, "what": "resume"}).get("error") is None
        answer = second.until(run, lambda answer: answer["state"] in ENDED)
        assert (answer["state"], answer["step"]) == ("finished", MANY), answer
        resumed = [one["step"] for one in answer["records"] if one["kind"] == "resumed"]
    again = "its beginning" if resumed[0] < 0 else f"step {resumed[0]}"
    return f"the run of {MANY} steps was reported as interrupted, and went on from {again}"


def disk_full(data: Path, port: int) -> str:
    """A small disk of its own: what cannot be kept is refused by a sentence, all else answers."""
    with small_disk(data), app(data, port, new_key(), **SMALL) as opened:
        opened.trains()
        with (data / "filler").open("wb") as filler, contextlib.suppress(OSError):
            while True:
                filler.write(b"\0" * 65_536)
                filler.flush()
        opened.answers()
        problems = [opened.hands_in()["error"]["key"]]
        problems.append(opened.ask("start", {"plans": [plan(FEW)]})["error"]["key"])
        (data / "filler").unlink()
        assert "error" not in opened.hands_in()
        opened.trains()
    return f"refused by {' and '.join(problems)}; with room again it trains"


def read_only(data: Path, port: int) -> str:
    """A cache that may not be written, and then a whole data folder."""
    cache, runs = data / "cache", data / "runs"
    for place in (cache, runs):
        place.mkdir()
    with small_disk(cache, "ro"):
        kept = ("--runs", str(runs))
        known = {**SMALL, "LOSSPRISM_CACHE": str(cache)}
        with app(data, port, new_key(), *kept, **known) as opened:
            opened.answers()
            message = opened.hands_in()["error"]["key"]
            opened.trains()
        command = [sys.executable, "app.py", "--hosted", "--no-browser", "--data", str(cache)]
        refused = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert refused.stderr.startswith("LossPrism could not start: "), refused
        assert len(refused.stderr.splitlines()) == 1, refused
    with app(cache, port, new_key()) as opened:
        opened.trains()
    return f"an upload is refused by {message}, all else answers and trains; one line if all is so"


def spoilt_runs(data: Path, port: int) -> str:
    """Damage each file of a run, in one run each, beside one that stays whole."""
    from lossprism.explorer.web.pages.finetune.request_handlers import PACKED, TEXTS

    key = new_key()
    with app(data, port, key) as first:
        whole, model = first.start(FEW), first.start(FEW)
        for run in (whole, model):
            first.until(run, lambda answer: answer["state"] in ENDED)
        kept = first.ask("take", {"run": whole, "what": "json"})
    place = data / "runs" / model
    spoilt = {f"{model}-{n}": path for n, path in enumerate(place.iterdir()) if path.is_file()}
    for name, path in spoilt.items():
        shutil.copytree(place, place.with_name(name))
        (place.with_name(name) / path.name).write_bytes(os.urandom(200))
    with app(data, port, key) as second:
        listed = second.ask("watch", {"offsets": {}, "list": True})["listed"]
        assert {whole, model} <= {one["id"] for one in listed}, listed
        for name, path in spoilt.items():
            try:  # whatever is asked, a sentence or an answer
                second.status(name)
                second.ask("remark", {"run": name})
                second.ask("probe", {"run": name, "step": FEW, "scenario": {}})
                second.ask("compare", {"runs": [name, whole]})
                for what in (*TEXTS, *PACKED):
                    second.ask("take", {"run": name, "what": what})
                for what in ("resume", "stop", "delete"):
                    second.ask("steer", {"run": name, "what": what})
            except RuntimeError as error:
                raise RuntimeError(f"{path.name}: {error}") from error
        assert second.ask("take", {"run": whole, "what": "json"}) == kept
        second.answers()
        second.trains()
    return f"{len(spoilt)} runs, each with another file of garbage: the whole one is as it was"


def two_apps(data: Path, port: int) -> str:
    """Both train and keep what they are handed; the runs take turns."""
    with app(data, port, new_key()) as one, app(data, port + 1, new_key()) as two:
        runs = [(one, one.start(MANY)), (two, two.start(MANY))]
        together = 0
        while (states := [opened.status(run)["state"] for opened, run in runs]) and any(
            state not in ENDED for state in states
        ):
            together += states.count("training") > 1
            time.sleep(0.1)
        assert states == ["finished", "finished"], states
        assert not together
        for opened, other in ((one, runs[1][1]), (two, runs[0][1])):
            assert "error" not in opened.hands_in()
            assert "error" in opened.ask("steer", {"run": other, "what": "delete"})
    return "the runs of both took turns; neither reached what the other's visitors have"


@contextlib.contextmanager
def small_disk(folder: Path, how: str = "rw") -> Iterator[None]:
    """A disk of its own in place of this folder. Raises PermissionError where none can be had."""
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={ROOM_MIB}m,{how}", "tmpfs", str(folder)],
        capture_output=True,
        text=True,
    )
    if made.returncode:
        raise PermissionError(made.stderr.strip())
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


FAULTS: dict[str, Callable[[Path, int], str]] = {
    "kill −9 of the app while a run trains": lambda *place: ended_while_training(
        signal.SIGKILL, *place
    ),
    "SIGTERM while a run trains": lambda *place: ended_while_training(signal.SIGTERM, *place),
    "kill −9 of the app and of its runs": all_killed,
    "disk full": disk_full,
    "read-only cache, read-only data folder": read_only,
    "corrupted run folders": spoilt_runs,
    "two apps on one folder": two_apps,
}


def rows(port: int, only: str = "") -> list[Row]:
    found = []
    for name, fault in FAULTS.items():
        if only not in name:
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
            try:
                message = fault(Path(folder), port)
            except PermissionError as error:
                message = f"not tried: {error}"
            except (AssertionError, RuntimeError, OSError, httpx.HTTPError, KeyError) as error:
                message = f"LOST: {type(error).__name__} {error}"
        print(f"{name}: {message}", file=sys.stderr, flush=True)
        found.append((name, message, WHOLE))
    return found + [(name, f"held by {test}", WHOLE) for name, test in HELD]
