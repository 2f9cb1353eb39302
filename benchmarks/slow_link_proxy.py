"""A slow link to a local server: a proxy that hands on all data half a round trip later."""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Iterator


@contextlib.contextmanager
def slow_link(port: int, round_trip: float) -> Iterator[str]:
    """Serve the local port over a link of so many seconds' round trip; the address to open."""
    known: queue.Queue[tuple[asyncio.AbstractEventLoop, asyncio.Event, str]] = queue.Queue()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        back, onward = await asyncio.open_connection("127.0.0.1", port)
        one_way = round_trip / 2
        with contextlib.suppress(asyncio.CancelledError):  # the proxy ends
            await asyncio.gather(_delayed(reader, onward, one_way), _delayed(back, writer, one_way))

    async def serve() -> None:
        server, ended = await asyncio.start_server(connected, "127.0.0.1", 0), asyncio.Event()
        port = server.sockets[0].getsockname()[1]
        known.put((asyncio.get_running_loop(), ended, f"http://127.0.0.1:{port}"))
        await ended.wait()
        server.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    loop, ended, address = known.get()
    try:
        yield address
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()


async def _delayed(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, by: float) -> None:
    """Hand on what is read, each piece `by` seconds later, in its order."""
    loop = asyncio.get_running_loop()
    while piece := await reader.read(2**16):
        loop.call_later(by, writer.write, piece)
    loop.call_later(by, writer.close)
