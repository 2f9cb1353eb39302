"""A hosted page without a path, behind what takes TLS for it: its cookie is of this host alone."""

from __future__ import annotations

import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser

from lossprism.explorer.web.middleware.visitor_key import COOKIE, HOST_COOKIE
from tests.browser.serving import Server, free_port


@pytest.fixture
def encrypted(tmp_path: Path, own_server: Callable[..., Server]) -> Iterator[str]:
    """The address of a hosted app as readers know it; what they send is decrypted before it."""
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    made += ["-nodes", "-subj", "/CN=localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(made, check=True, capture_output=True)
    address = f"https://localhost:{(port := free_port())}"
    server = own_server("--hosted", "--address", address)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    listening = socket.create_server(("127.0.0.1", port))
    threading.Thread(target=decrypt, args=(listening, context, server.port), daemon=True).start()
    yield address
    listening.close()


def decrypt(listening: socket.socket, context: ssl.SSLContext, port: int) -> None:
    """Take TLS connections, and hand on what they carry to this port, and back."""
    while True:
        try:
            line, _ = listening.accept()
            inner = context.wrap_socket(line, server_side=True)
        except ssl.SSLError:
            continue
        except OSError:  # closed
            return
        plain = socket.create_connection(("127.0.0.1", port))
        for source, target in ((inner, plain), (plain, inner)):
            threading.Thread(target=pipe, args=(source, target), daemon=True).start()


def pipe(source: socket.socket, target: socket.socket) -> None:
    try:
        while part := source.recv(2**16):
            target.sendall(part)
        target.shutdown(socket.SHUT_WR)
    except OSError:  # either side has left
        return


def test_its_cookie_is_of_this_host_alone_and_an_earlier_one_counts(
    browser: Browser, encrypted: str
):
    with browser.new_context(ignore_https_errors=True) as context:
        page = context.new_page()
        page.goto(encrypted, wait_until="domcontentloaded")
        (cookie,) = context.cookies()
        assert (cookie["name"], cookie["path"], cookie["secure"]) == (HOST_COOKIE, "/", True)
        assert cookie["httpOnly"]
    earlier = {"cookie": f"{COOKIE}={cookie['value']}"}
    answer = httpx.get(encrypted, headers=earlier, verify=False)
    # The key that came is the one that the new name has from then on.
    assert answer.headers["set-cookie"].startswith(f"{HOST_COOKIE}={cookie['value']};")
