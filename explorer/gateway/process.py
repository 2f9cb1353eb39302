"""The process that accepts connections: started by the app, and ended with it."""

from __future__ import annotations

import contextlib
import gc
import multiprocessing
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import uvicorn

from explorer.gateway.proxy import HERE, Proxy
from explorer.gateway.public_address import KnowsAddress
from explorer.gateway.request_limits import Bounded
from explorer.gateway.timeouts import BoundedConnection
from explorer.runtime.processes import begin, memory_of
from explorer.runtime.redaction import log_without_words

PORTS = 100  # that are looked at for a free one, from the first
BACKLOG = 2048  # connections that wait to be taken
CONNECTIONS = 16_384
AGAIN_S = 0.5  # before a process that ended follows one that did


class Front:
    """Listens at this host and port, and once open forwards accepted requests to the app on
    `app_port`; earlier ones wait.

    A process that ends is replaced by another: the listening socket belongs to this one.

    Raises OSError if the port is taken, or, without one, if all from 7860 (GRADIO_SERVER_PORT) on
    are.
    """

    def __init__(self, host: str, port: int | None, address: str) -> None:
        self._listening = listening(host, port)
        self._host, self._known = host, address
        self.app_port = free_port()
        self._opened, self._ended = False, threading.Event()
        self._beginning = threading.Lock()  # nothing that ends is begun again
        FRONTS.add(self)
        self._process: BaseProcess | None = None
        self._line: Connection | None = None
        self._begin()
        self._keeping = threading.Thread(target=self._keep, daemon=True)
        self._keeping.start()

    @property
    def address(self) -> str:
        """The address that it listens at."""
        host = "localhost" if self._host == "0.0.0.0" else self._host
        return f"http://{host}:{self._listening.getsockname()[1]}"

    @property
    def memory(self) -> int:
        """Return the bytes that the process holds."""
        return memory_of(self._process)

    def open(self) -> None:
        """Begin to forward requests: the app is ready."""
        self._opened = True
        self._let_in()

    def end(self) -> None:
        """Close the socket and all connections."""
        with self._beginning:
            self._ended.set()
            FRONTS.discard(self)
            self._listening.close()
            if self._line is not None:
                self._line.close()
        # Only one thread can wait for a process and be told that it has ended.
        self._keeping.join()

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        theirs, self._line = context.Pipe(duplex=False)
        asked = (self._listening, self.app_port, self._known, theirs)
        self._process = context.Process(target=_serve, args=asked, daemon=True)
        begin(self._process)
        theirs.close()
        if self._opened:
            self._let_in()

    def _let_in(self) -> None:
        assert self._line is not None
        with contextlib.suppress(OSError):  # it has died, and another follows
            self._line.send_bytes(b"open")

    def _keep(self) -> None:
        while self._process is not None:
            self._process.join()
            self._ended.wait(AGAIN_S)
            with self._beginning:
                if self._ended.is_set():
                    return
                print("nobody took connections; another process does", file=sys.stderr, flush=True)
                self._begin()


FRONTS: set[Front] = set()  # that are listening


def listening(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens there; without a port at the first free one."""
    plain = host.strip("[]")
    family = socket.AF_INET6 if ":" in plain else socket.AF_INET
    first = int(os.environ.get("GRADIO_SERVER_PORT") or 7860) if port is None else port
    last = first + PORTS - 1 if port is None else port
    why: OSError | None = None
    for one in range(first, last + 1):
        try:
            return socket.create_server((plain, one), family=family, backlog=BACKLOG)
        except OSError as error:
            why = error
    where = f"port {port}" if port is not None else f"any port from {first} to {last}"
    raise OSError(f"{host} cannot be listened at on {where}: {why and why.strerror}") from why


def free_port() -> int:
    """Return a free port of this computer."""
    with socket.socket() as taken:
        taken.bind((HERE, 0))
        return taken.getsockname()[1]


def allow_connections(most: int = CONNECTIONS) -> None:
    """Raise this process's limit of connections as far as permitted: a shell allows a
    thousand."""
    try:
        import resource
    except ImportError:  # the system sets no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class _Server(uvicorn.Server):
    """A server that only the app ends: Ctrl-C in a terminal reaches both."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _serve(taken: socket.socket, app_port: int, address: str, line: Connection) -> None:
    """Serve, from the opening on, until the starting process ends, even by a kill."""
    allow_connections()
    log_without_words()
    config = uvicorn.Config(
        KnowsAddress(Bounded(Proxy(app_port)), address),
        http=BoundedConnection,
        ws="none",
        lifespan="off",
        log_level="error",  # what is refused has a line of ours
        proxy_headers=False,
        server_header=False,
        date_header=False,
    )
    server = _Server(config)
    gc.freeze()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        line.recv_bytes()
    except (EOFError, OSError):
        return
    threading.Thread(target=_end_with, args=(line,), daemon=True).start()
    server.run(sockets=[taken])


def _end_with(line: Connection) -> None:
    with contextlib.suppress(EOFError, OSError):
        line.recv_bytes()
    os._exit(0)
