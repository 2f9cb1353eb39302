"""Loads the libraries when it is first asked, and forks itself for everyone who asks.

python answering.py DESCRIPTOR PYTHON
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import random
import runpy
import select
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import NoReturn

LIBRARIES = (
    *("torch", "scipy.stats", "sklearn.metrics", "pandas", "transformers", "datasets", "peft"),
    *("sentence_transformers", "sentence_transformers.cross_encoder", "gradio"),
)
# They read the hub's address and folders from the environment as they are loaded.
OF_THE_HUB = ("huggingface_hub.constants", "datasets.config")


def of_the_hub(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith("HF_")}


def load() -> None:
    """Import what takes long; no thread may be running when it is forked."""
    for name in LIBRARIES:
        importlib.import_module(name)
    import jinja2
    import sentence_transformers

    # Every model that is written has a card, made from the same template.
    jinja2.Environment.from_string = functools.lru_cache(jinja2.Environment.from_string)
    for card in Path(sentence_transformers.__file__).parent.rglob("model_card_template.md"):
        jinja2.Template(card.read_text(encoding="utf-8"))
    gc.collect()
    gc.freeze()
    assert threading.active_count() == 1, threading.enumerate()


def serve(listening: socket.socket, python: str) -> None:
    """Fork for everyone who asks, until the tests are over."""
    loaded = False
    while listening in select.select([listening, sys.stdin], [], [])[0]:
        line, _ = listening.accept()
        if not loaded:
            load()
            loaded = True
        if not os.fork():
            listening.close()
            answer(line, python)
        line.close()
        reap()
    reap()


def reap() -> None:
    """Forget those that have ended: only so is their time added to that of the tests."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def answer(line: socket.socket, python: str) -> NoReturn:
    """Fork once more: one does the work, the other tells how it ended and passes signals on."""
    length, streams, _, _ = socket.recv_fds(line, 4, 3)
    text = b""
    while len(text) < int.from_bytes(length, "big"):
        text += line.recv(1 << 16)
    worker = os.fork()
    if not worker:
        line.close()
        for place, stream in enumerate(streams):
            os.dup2(stream, place)
            os.close(stream)
        leave(work(python=python, **json.loads(text)))
    for place in range(3):
        os.close(place)
    for stream in streams:
        os.close(stream)
    threading.Thread(target=pass_on, args=(line, worker), daemon=True).start()
    _, status = os.waitpid(worker, 0)
    # Where the one who asked has been killed nobody hears it. An error here would end this process
    # by taking all modules apart.
    with contextlib.suppress(ConnectionError):
        line.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, "big", signed=True))
    os._exit(0)


def leave(status: int) -> NoReturn:
    """End as Python does, but for taking all modules apart, which takes half a second."""
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def pass_on(line: socket.socket, worker: int) -> None:
    """Signals, as they come; where the one who asked has been killed, so is the worker."""
    while numbers := line.recv(16):
        for number in numbers:
            os.kill(worker, number)
    os.kill(worker, signal.SIGKILL)


def work(arguments: list[str], cwd: str, environment: dict[str, str], pid: int, python: str) -> int:
    """Run what Python was asked to run, as the main module."""
    os.setsid()
    os.chdir(cwd)
    hub = of_the_hub(os.environ)
    os.environ.clear()
    os.environ.update(environment)
    if of_the_hub(environment) != hub:
        for name in OF_THE_HUB:
            importlib.reload(sys.modules[name])
    random.seed()
    os.getpid = lambda: pid  # that by which the others know this process
    sys.executable = python
    paths = [path for path in environment.get("PYTHONPATH", "").split(os.pathsep) if path]
    if unbuffered := arguments[0] == "-u":
        arguments = arguments[1:]
    if arguments[0] == "-B":
        sys.dont_write_bytecode, arguments = True, arguments[1:]
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(write_through=unbuffered)
    kind, *rest = arguments
    try:
        if kind == "-c":
            sys.argv, sys.path[:1] = ["-c", *rest[1:]], ["", *paths]
            main = sys.modules["__main__"] = ModuleType("__main__")
            exec(compile(rest[0], "<string>", "exec"), vars(main))
        elif kind == "-m":
            sys.argv, sys.path[:1] = rest, [os.getcwd(), *paths]
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.path[:1] = arguments, [str(Path(kind).resolve().parent), *paths]
            runpy.run_path(kind, run_name="__main__")
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            return ended.code or 0
        print(ended.code, file=sys.stderr)
        return 1
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    given, interpreter = sys.argv[1:]
    serve(socket.socket(fileno=int(given)), interpreter)
