"""Malformed requests: the part `fuzz` of ``python -m benchmarks hosting``.

Every server function, endpoint and tool that a hosted app tells of is asked over HTTP for what it
expects with one entry after another odd (`tests.hostile`), and for what belongs to somebody else.
Of each call are noted what came, how long it took, and by how much the app's memory rose.
"""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psutil

from benchmarks.hosting.visitor_client import WAIT_S, served_paths
from benchmarks.report import Row
from lossprism.explorer.runtime.problem import Problem
from lossprism.explorer.runtime.visitor_key_signing import new_key
from lossprism.explorer.web.api.endpoint_functions import ENDPOINTS
from lossprism.explorer.web.middleware.visitor_key import HEADER
from tests.expected import FULL, SHARED, arguments_of, known_requests, requests_of
from tests.hostile import varied

SECONDS, MIB = 1.0, 200
# Of the odd values, every so many-th for an entry, and for one inside an entry.
TURNS = 3, 7
RUN, TOOL = "/gradio_api/run/", "/gradio_api/mcp/"
INSIDE = str(Problem("internal"))
WAITED = 0.1
# One who asks as fast as answers come; what they begin to train ends at once.
ENVIRONMENT = {
    "LOSSPRISM_REQUESTS_A_SECOND": "100000",
    "LOSSPRISM_REQUESTS_AT_ONCE": "100000",
}
CHANGES = {"rate=60r/s": "rate=100000r/s"}
ENDED = ("finished", "failed", "stopped", "interrupted")


@dataclass(frozen=True)
class FuzzedRequest:
    """A call: whose it is, what is odd about it ("" for one that is as it should be)."""

    name: str
    odd: str
    path: str
    body: object


@dataclass
class Found:
    """Results of all calls, with the names of the slowest and of the one with the largest
    memory."""

    calls: int = 0
    sentences: int = 0
    wrong: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")
    of_processor: tuple[float, str] = (0.0, "")
    most_mib: tuple[float, str] = (0.0, "")

    @property
    def too_much(self) -> list[str]:
        """Return the calls beyond the bounds: wrong, too slow or too large."""
        problems = [*self.wrong]
        if self.of_processor[0] > SECONDS:
            problems.append("{:.1f} s of the processor: {}".format(*self.of_processor))
        if self.most_mib[0] > MIB:
            problems.append("{:.0f} MiB: {}".format(*self.most_mib))
        return problems


class Stranger:
    """A visitor with an upload and a run of their own, and what another visitor has."""

    def __init__(self, address: str, process: int) -> None:
        self.app = psutil.Process(process)
        self.client = httpx.Client(
            base_url=address, headers={HEADER: new_key()}, timeout=WAIT_S, trust_env=False
        )
        self.paths = served_paths(self.client)
        self.endpoints = sorted(
            name.strip("/")
            for name in self.client.get("/gradio_api/info").json()["named_endpoints"]
        )
        listed = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        self.tools = sorted(
            one["name"] for one in _of_tool(self._sent(TOOL, listed))["result"]["tools"]
        )
        own = self.client.headers[HEADER]
        self.client.headers[HEADER] = new_key()
        self.foreign = self._things()
        self.client.headers[HEADER] = own
        self.file, self.run = self._things()

    def _things(self) -> tuple[str, str]:
        """A file that was handed in, and a run that has ended."""
        content = b"sentence1,sentence2,score\nA cat.,A dog.,1\nA bird.,Some bird.,4\nSun.,,2\n"
        packed = base64.b64encode(content).decode()
        file = self._of_page("explore", "read_file", {"name": "a.csv", "content": packed})["file"]
        plan = next(iter(known_requests(file, "")["finetune", "check"]))["plan"]
        (run,) = self._of_page("finetune", "start", {"plans": [plan]})["started"]
        until = time.monotonic() + WAIT_S
        while self._watched(run)["state"] not in ENDED:
            if time.monotonic() > until:
                raise RuntimeError("the run does not end")
            time.sleep(WAITED)
        return file, run

    def _watched(self, run: str) -> dict:
        return self._of_page("finetune", "watch", {"offsets": {run: 0}})["runs"][run]

    def _of_page(self, page: str, name: str, data: object) -> dict:
        return self._sent(self.paths[page, name], data).json()

    def _sent(self, path: str, body: object) -> httpx.Response:
        kinds = {"accept": "application/json, text/event-stream"}
        kinds["content-type"] = "application/json"
        return self.client.post(path, content=json.dumps(body), headers=kinds)

    def calls(self) -> Iterator[FuzzedRequest]:
        """All of them; first of each function what it expects. What removes all that is this
        visitor's comes last."""
        known = known_requests(self.file, self.run)
        for page, name in sorted(self.paths, key=lambda one: (one[1] == "forget", one)):
            whole = () if name in FULL else SHARED
            for begin, request in enumerate(requests_of(page, name, known)):
                for odd, data in self._varied(request, whole, begin):
                    yield FuzzedRequest(f"{page}.{name}", odd, self.paths[page, name], data)
        by_name = {function.__name__: function for function in ENDPOINTS}
        for name in self.endpoints:
            expected = arguments_of(by_name[name], self.run)
            for odd, data in self._varied(expected):
                if isinstance(data, dict) and data.keys() == expected.keys():
                    data = [*data.values()]
                yield FuzzedRequest(f"endpoint {name}", odd, RUN + name, {"data": data})
        for name in self.tools:
            expected = arguments_of(by_name[name], self.run)
            for odd, data in self._varied(expected):
                call = {"name": name, "arguments": data}
                body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
                yield FuzzedRequest(f"tool {name}", odd, TOOL, body)

    def _varied(
        self, request: object, whole: tuple[str, ...] = (), begin: int = 0
    ) -> Iterator[tuple[str, object]]:
        yield "", request
        text = json.dumps(request)
        others = text.replace(self.file, self.foreign[0]).replace(self.run, self.foreign[1])
        if others != text:
            yield "another visitor's", json.loads(others)
        yield from varied(request, whole, TURNS, begin)

    def tries(self, requests: Iterable[FuzzedRequest]) -> Found:
        found = Found()
        for one in requests:
            self._try(one, found)
        return found

    def _try(self, one: FuzzedRequest, found: Found) -> None:
        what = f"{one.name}, {one.odd}"
        until = time.monotonic() + WAIT_S
        while True:
            before, spent, began = self._peak_begins(), self._spent(), time.monotonic()
            try:
                response = self._sent(one.path, one.body)
            except httpx.HTTPError as error:
                found.wrong.append(f"{what}: {error!r}")
                return
            took, spent, rose = time.monotonic() - began, self._spent() - spent, self._held("VmHWM")
            answer = _content_of(response)
            if one.odd:  # the first of its kind may load a model or a library
                found.slowest = max(found.slowest, (took, what))
                found.of_processor = max(found.of_processor, (spent, what))
                found.most_mib = max(found.most_mib, (rose - before, what))
            works = isinstance(answer, dict) and "working" in answer
            if not works or time.monotonic() > until:
                break
            time.sleep(WAITED)
        found.calls += 1
        if answer is None or INSIDE in str(answer) or "problem.internal" in str(answer):
            found.wrong.append(f"{what}: status {response.status_code}, {response.text[:200]!r}")
        elif isinstance(answer, dict):
            found.sentences += bool(answer.keys() & {"error", "detail"})
            begun = answer.get(
                "started", [answer["id"]] if "key" in answer and "id" in answer else []
            )
            for run in begun if isinstance(begun, list) else ():
                self._of_page("finetune", "steer", {"run": run, "what": "stop"})

    def _spent(self) -> float:
        return sum(self.app.cpu_times()[:2])

    def _held(self, what: str) -> float:
        """A figure of the app in MiB; 0 where the system tells none."""
        try:
            lines = Path(f"/proc/{self.app.pid}/status").read_text().splitlines()
        except OSError:
            return 0.0
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(what))

    def _peak_begins(self) -> float:
        """From here on VmHWM is the peak since now; how much there is now."""
        peak = Path(f"/proc/{self.app.pid}/clear_refs")
        if peak.exists():
            peak.write_text("5")
        return self._held("VmRSS")


def _of_tool(response: httpx.Response) -> dict:
    """Return the content of the stream of events, or of the plain response."""
    return json.loads(response.text.partition("data: ")[2] or response.text)


def _content_of(response: httpx.Response) -> object:
    """Return the content of an answer: of a refusal an object with `error` or `detail`; None
    without."""
    try:
        content = _of_tool(response)
    except ValueError:
        return None
    if not isinstance(content, dict):
        return content
    if response.status_code >= 500 and not isinstance(content.get("error"), str):
        return None
    if "data" in content and isinstance(content["data"], list):
        return content["data"][0] if content["data"] else {}
    if "result" in content:
        text = content["result"]["content"][0]["text"]
        return {"error": text} if content["result"].get("isError") else _read(text)
    return content


def _read(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return {"error": text}


def rows(address: str, process: int) -> list[Row]:
    stranger = Stranger(address, process)
    found = stranger.tries(stranger.calls())
    for fault in found.wrong[:20]:
        print(fault)
    count = len(stranger.paths), len(stranger.endpoints), len(stranger.tools)
    measured = "{} server functions, {} endpoints, {} tools with odd values".format(*count)
    sentences = f"{found.calls} calls, {found.sentences} sentences, {len(found.wrong)} neither"
    waited = "{:.2f} s waited ({})".format(*found.slowest)
    spent = "{:.2f} s of the processor ({}), ".format(*found.of_processor)
    return [
        (measured, sentences, "an answer or a sentence, no traceback"),
        ("the slowest", spent + waited, "≤ 1 s"),
        ("the most memory", "{:.0f} MiB ({})".format(*found.most_mib), "≤ 200 MiB"),
    ]
