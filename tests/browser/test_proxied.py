"""Behind nginx, below a path and encrypted, as docs/hosting.md says."""

from __future__ import annotations

import json
import re
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from lossprism.explorer.locale import say
from tests import nginx_server
from tests.browser.compare import steering as compare
from tests.browser.conftest import watched
from tests.browser.doctor.test_data import PASTED
from tests.browser.doctor.test_number import opened
from tests.browser.finetune import steering as finetune
from tests.browser.large import steering as large
from tests.browser.reading import choose, sound, still, unfold, visit
from tests.browser.serving import ROOT, Server, free_port
from tests.sentences import wording

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

# docs/hosting.md: what stands in the file in place of these lines.
LISTENS, BELOW_ROOT = "listen 7860 backlog=2048;", "location / {"


def documented(folder: Path) -> dict[str, str]:
    """The changes of docs/nginx.conf for TLS and a path, with a certificate made for them."""
    text = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
    tls, path = re.findall(r"```nginx\n(.*?)```", text, re.DOTALL)
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    # A browser asks only a trusted certificate for its name.
    command_line = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
    ]
    command_line += ["-nodes", "-days", "2"]
    command_line += ["-subj", "/CN=localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(command_line, check=True, capture_output=True)
    for before, after in (
        ("listen 443 ", "listen 7860 "),
        ("server_name example.org;", "server_name localhost;"),
        ("/etc/ssl/certs/example.org.pem", str(certificate)),
        ("/etc/ssl/private/example.org.key", str(key)),
    ):
        tls = nginx_server.replace_once(tls, before, after)
    return {LISTENS: tls, BELOW_ROOT: path}


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address that readers use: nginx, run as documented but for its ports and certificate."""
    if not nginx_server.FOUND:
        pytest.skip(nginx_server.MISSING)
    port, behind, tmp_path = free_port(), free_port(), tmp_path_factory.mktemp("proxied")
    address = f"https://localhost:{port}/losses"
    data = str(tmp_path / "data")
    options = ("--hosted", "--address", address, "--data", data)
    with Server(tmp_path, *options, port=behind) as running:
        with nginx_server.running(tmp_path, port, behind, documented(tmp_path)):
            yield address
        assert "Traceback" not in running.complaints, running.complaints


@pytest.fixture(scope="module")
def reader(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that takes the certificate."""
    allowed = ["clipboard-read", "clipboard-write"]
    with browser.new_context(
        ignore_https_errors=True, permissions=allowed, locale="en-US"
    ) as context:
        context.new_page()  # stays open, and with it the process that the others are in
        yield context


class _Stays(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def fetched(address: str, body: bytes | None = None, **headers: str) -> tuple[int, Message, str]:
    """Status, headers and text of an answer, a redirection too."""
    known = ssl._create_unverified_context()  # the certificate is signed by itself
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=known), _Stays())
    fields = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        answer = opener.open(urllib.request.Request(address, body, fields))
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers, answer.read().decode("utf-8", "replace")


def test_programs_find_everything_below_the_path(public: str) -> None:
    whole = public.removesuffix("/losses")
    assert fetched(f"{whole}/losses")[1]["Location"].endswith("/losses/")
    assert fetched(f"{public}/large/")[1]["Location"] == "/losses/large"
    assert json.loads(fetched(f"{public}/healthz")[2])["alive"]
    # What a request says of proxies counts for nothing: nginx hands it on.
    claims = {"X_Forwarded_Host": "evil.example", "X_Forwarded_Proto": "http"}
    claims |= {"X_Gradio_Server": "http://evil.example"}
    _, headers, text = fetched(f"{public}/", **claims)
    assert "evil.example" not in text
    assert '<base href="/losses/">' in text
    cookie = headers["Set-Cookie"].split("; ")
    assert {"Path=/losses", "Secure", "HttpOnly", "SameSite=Lax"} <= set(cookie)
    status, _, text = fetched(f"{public}/nothing", Accept="text/html")
    assert status == 404
    assert 'href="/losses/finetune"' in text
    # Tools answer in a stream of events, which nginx does not hold back.
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call["params"] = {"name": "list_losses", "arguments": {}}
    values = {"Accept": "application/json, text/event-stream", "Content_Type": "application/json"}
    _, headers, text = fetched(f"{public}/gradio_api/mcp/", json.dumps(call).encode(), **values)
    assert headers["Content-Type"].startswith("text/event-stream")
    assert "cosent" in text
    assert fetched(f"{public}/upload", b"0" * (33 * 2**20))[0] == 413


def test_a_page_below_the_path_works_and_hands_on_its_address(
    reader: BrowserContext, public: str
) -> None:
    faults: list[str] = []
    page = visit(watched(reader, public, faults), f"{public}/?lang=en")
    choose(page, "siglip")
    sound(page)
    still(page)
    assert page.url.startswith(f"{public}/?lang=en#")
    (cookie,) = reader.cookies()
    assert (cookie["path"], cookie["secure"], cookie["httpOnly"]) == ("/losses", True, True)
    page.locator("#main-header [data-say='ui.copy_link']").click()
    expect(page.locator("#main-header [data-say='ui.copy_link']")).to_have_text("Copied")
    link = page.evaluate("navigator.clipboard.readText()")
    assert link == page.url.replace("#", "&scene=")  # which a server that previews it receives
    described = reader.new_cdp_session(page).send("Page.getAppManifest")
    assert described["url"] == f"{public}/manifest.json"
    assert described["errors"] == []
    for icon in json.loads(described["data"])["icons"]:
        assert fetched(f"{public}/{icon['src']}")[0] == 200
    page.goto("about:blank")
    visit(page, link)
    assert page.locator("#lp-loss").input_value() == "siglip"

    page.goto(f"{public}/large?lang=en#loss=cosent&pairs=2000")
    page.wait_for_function(f"window.lossprism && {large.PAGE}.details")
    page.evaluate(f"{large.PAGE}.zoom([0, 100, 1000, 1200])")
    page.wait_for_function("location.hash.includes('window')")
    assert page.url.startswith(f"{public}/large?lang=en#")
    unfold(page, "ui.take_away")
    with page.expect_download() as waiting:  # written by the server, and fetched from it
        page.locator("[data-say='large.take_pairs']").click()
    lines = waiting.value.path().read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 2000
    page.close()
    assert not faults, faults


def test_the_other_pages_work_below_the_path_with_files_of_ones_own(
    reader: BrowserContext, public: str, tmp_path: Path
) -> None:
    faults: list[str] = []
    page = watched(reader, public, faults)
    page.goto(
        f"{public}/compare#1=cosent&2=info_nce&picture=numbers", wait_until="domcontentloaded"
    )
    page.wait_for_function(f"window.lossprism && {compare.PAGE} && {compare.STILL}")
    expect(page.locator(compare.TABLE)).to_have_count(2)

    opened(page, public)
    page.get_by_role("tab", name=wording("doctor.check.data")).click()
    page.select_option("#lp-doctor-from", "file")
    file = {"name": "own.tsv", "mimeType": "text/plain", "buffer": PASTED.encode()}
    page.set_input_files("#lp-doctor-file", file)
    expect(page.locator("[data-finding=conflicting_labels] tbody")).to_contain_text("8848 m")

    page.goto(f"{public}/finetune", wait_until="domcontentloaded")
    page.wait_for_function(f"window.lossprism && {finetune.PAGE}.checked")
    page.click("#lp-finetune-source-file")
    mine = finetune.pairs_file("id,sentence1,sentence2,score,other", 80)
    page.set_input_files("#lp-finetune-file", mine)
    expect(page.locator(".lp-finetune_controls")).to_contain_text(
        wording("ui.file_read", name="80.csv", used=80, total=80)
    )
    finetune.begin(page, steps=2, evaluations=1)
    finetune.wait_for(page, "finished")
    page.evaluate(finetune.UNFOLD)
    assert finetune.taken(page, tmp_path, say("en", "finetune.take.kit")).stat().st_size > 1000
    made = "lossprism.kit('browser_history').then(({ addressOf }) => addressOf('run'))"
    assert page.evaluate(made) == "/losses/finetune#run"
    page.close()
    assert not faults, faults
