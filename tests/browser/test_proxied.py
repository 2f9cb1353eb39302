"""Behind nginx, below a path and encrypted, as docs/nginx.conf says."""

from __future__ import annotations

import json
import shutil
import socket
import ssl
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from email.message import Message
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from explorer.locale import say
from tests.browser.compare import steering as compare
from tests.browser.conftest import watched
from tests.browser.doctor.test_data import PASTED
from tests.browser.doctor.test_number import opened
from tests.browser.finetune import steering as finetune
from tests.browser.large import steering as large
from tests.browser.reading import choose, sound, still, unfold, visit
from tests.browser.serving import ROOT, Server, free_port

pytestmark = pytest.mark.browser

DOCUMENTED = ROOT / "docs" / "nginx.conf"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
# Around a server's own file, what Debian's nginx.conf has around it.
AROUND = """
daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log; worker_processes 1;
events {{}}
http {{
    include /etc/nginx/mime.types; access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    include {folder}/lossprism.conf;
}}
"""


def put(text: str, before: str, after: str) -> str:
    """With this put in place of what is documented."""
    assert text.count(before) == 1, before
    return text.replace(before, after)


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address that readers use: nginx, run as documented but for its ports and certificate."""
    if not NGINX:
        pytest.skip("nginx is not installed (`apt install nginx-light`): nothing is proxied")
    port, behind, tmp_path = free_port(), free_port(), tmp_path_factory.mktemp("proxied")
    # TLS needs a certificate; a browser asks only a trusted one for its name.
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    asked = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    asked += ["-nodes", "-days", "2"]
    asked += ["-subj", "/CN=localhost", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(asked, check=True, capture_output=True)
    config = DOCUMENTED.read_text(encoding="utf-8")
    config = put(config, "listen 443 ", f"listen 127.0.0.1:{port} ")
    config = put(config, "server_name example.org;", "server_name localhost;")
    config = put(config, "/etc/ssl/certs/example.org.pem", str(certificate))
    config = put(config, "/etc/ssl/private/example.org.key", str(key))
    config = put(
        config, "proxy_pass http://127.0.0.1:7860/;", f"proxy_pass http://127.0.0.1:{behind}/;"
    )
    (tmp_path / "lossprism.conf").write_text(config)
    (tmp_path / "nginx.conf").write_text(AROUND.format(folder=tmp_path))
    address = f"https://localhost:{port}/losses"
    nginx = subprocess.Popen(
        [NGINX, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")],
        stderr=subprocess.PIPE,
        text=True,
    )
    data = str(tmp_path / "data")
    try:
        with Server(
            tmp_path, "--hosted", "--address", address, "--data", data, port=behind
        ) as running:
            while not listens(port):
                assert nginx.poll() is None, nginx.stderr.read()
                time.sleep(0.05)
            yield address
        assert "Traceback" not in running.complaints, running.complaints
    finally:
        nginx.terminate()
        nginx.communicate()


@pytest.fixture(scope="module")
def reader(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that takes the certificate."""
    allowed = ["clipboard-read", "clipboard-write"]
    with browser.new_context(
        ignore_https_errors=True, permissions=allowed, locale="en-US"
    ) as context:
        context.new_page()  # stays open, and with it the process that the others are in
        yield context


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except ConnectionRefusedError:
        return False
    return True


class _Stays(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        return None


def asked(address: str, body: bytes | None = None, **headers: str) -> tuple[int, Message, str]:
    """Status, headers and text of an answer, a redirection too."""
    known = ssl._create_unverified_context()  # the certificate is signed by itself
    opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=known), _Stays())
    said = {name.replace("_", "-"): value for name, value in headers.items()}
    try:
        answer = opener.open(urllib.request.Request(address, body, said))
    except urllib.error.HTTPError as error:
        answer = error
    with answer:
        return answer.status, answer.headers, answer.read().decode("utf-8", "replace")


def test_programs_find_everything_below_the_path(public: str) -> None:
    whole = public.removesuffix("/losses")
    assert asked(f"{whole}/losses")[1]["Location"].endswith("/losses/")
    assert asked(f"{public}/large/")[1]["Location"] == "/losses/large"
    assert json.loads(asked(f"{public}/healthz")[2])["alive"]
    # What a request says of proxies counts for nothing: nginx hands it on.
    claims = {"X_Forwarded_Host": "evil.example", "X_Forwarded_Proto": "http"}
    claims |= {"X_Gradio_Server": "http://evil.example"}
    _, headers, text = asked(f"{public}/", **claims)
    assert "evil.example" not in text
    assert '<base href="/losses/">' in text
    cookie = headers["Set-Cookie"].split("; ")
    assert {"Path=/losses", "Secure", "HttpOnly", "SameSite=Lax"} <= set(cookie)
    status, _, text = asked(f"{public}/nothing", Accept="text/html")
    assert status == 404
    assert 'href="/losses/finetune"' in text
    # Tools answer in a stream of events, which nginx does not hold back.
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
    call["params"] = {"name": "list_losses", "arguments": {}}
    said = {"Accept": "application/json, text/event-stream", "Content_Type": "application/json"}
    _, headers, text = asked(f"{public}/gradio_api/mcp/", json.dumps(call).encode(), **said)
    assert headers["Content-Type"].startswith("text/event-stream")
    assert "cosent" in text
    assert asked(f"{public}/upload", b"0" * (33 * 2**20))[0] == 413


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
        assert asked(f"{public}/{icon['src']}")[0] == 200
    page.goto("about:blank")
    visit(page, link)
    assert page.locator("#lp-loss").input_value() == "siglip"

    page.goto(f"{public}/large?lang=en#loss=cosent&pairs=2000")
    page.wait_for_function(f"window.lossprism && {large.CHANNEL}.details")
    page.evaluate(f"{large.CHANNEL}.zoom([0, 100, 1000, 1200])")
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
    page.wait_for_function(f"window.lossprism && {compare.CHANNEL} && {compare.STILL}")
    expect(page.locator(compare.TABLE)).to_have_count(2)

    opened(page, public)
    page.get_by_role("tab", name="Check a dataset").click()
    page.select_option("#lp-doctor-from", "file")
    file = {"name": "own.tsv", "mimeType": "text/plain", "buffer": PASTED.encode()}
    page.set_input_files("#lp-doctor-file", file)
    expect(page.locator("[data-finding=conflicting_labels] tbody")).to_contain_text("8848 m")

    page.goto(f"{public}/finetune", wait_until="domcontentloaded")
    page.wait_for_function(f"window.lossprism && {finetune.CHANNEL}.checked")
    page.click("#lp-finetune-source-file")
    mine = finetune.pairs_file("id,sentence1,sentence2,score,other", 80)
    page.set_input_files("#lp-finetune-file", mine)
    expect(page.locator(".lp-finetune_controls")).to_contain_text("80.csv: 80 pairs from 80 rows")
    finetune.begin(page, steps=2, evaluations=1)
    finetune.wait_for(page, "finished")
    page.evaluate(finetune.UNFOLD)
    assert finetune.taken(page, tmp_path, say("en", "finetune.take.kit")).stat().st_size > 1000
    made = "lossprism.kit('history').then(({ addressOf }) => addressOf('run'))"
    assert page.evaluate(made) == "/losses/finetune#run"
    page.close()
    assert not faults, faults
