"""The app in a real browser, as a person uses it."""

from __future__ import annotations

import json
import socket
import threading
import time
from pathlib import Path

import pytest
import uvicorn
from app_serving import DEV, TEST

from priori.app.limits import Limits
from priori.app.server import create_app

playwright = pytest.importorskip("playwright.sync_api")
FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CHROMIUM = next((path for path in ("/usr/bin/chromium", "/usr/bin/chromium-browser") if Path(path).exists()), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")

HOSTILE = "<img src=x onerror=\"document.title='stolen'\">'\"&😀</script><script>document.title='stolen'</script>"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The app, served as it is by the command, on a free port."""
    app = create_app(Limits(upload=2_000_000), parent=tmp_path_factory.mktemp("app"))
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.02)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join()
    listening.close()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser, address):
    """A new visitor, on the form; at the end nothing has complained and nothing has left the origin."""
    context = browser.new_context(base_url=address, viewport={"width": 1200, "height": 900})
    page = context.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: said.append(f"left the page: {request.url}")
            if not request.url.startswith((address, "data:", "blob:")) else None)  # fmt: skip
    page.said = said
    page.goto("/")
    yield page
    context.close()
    assert not said


def file(name: str, content: bytes) -> dict:
    return {"name": name, "mimeType": "text/csv", "buffer": content}


def compute(page) -> None:
    page.click("#app-compute")
    page.wait_for_selector(".app-bar", timeout=40_000)


def drop(page, target: str, files: dict[str, bytes]) -> None:
    """Drop files on an element, as dragging them from a folder does."""
    transfer = page.evaluate_handle(
        """files => { const transfer = new DataTransfer();
        for (const [name, text] of Object.entries(files)) transfer.items.add(new File([text], name));
        return transfer; }""",
        {name: content.decode() for name, content in files.items()},
    )
    for kind in ("dragenter", "dragover", "drop"):
        page.dispatch_event(target, kind, {"dataTransfer": transfer})


def test_drop_files_wait_change_a_setting_download(page):
    names = {"alpha-dev.csv": DEV, "alpha-test.csv": TEST, "beta_test.csv": TEST, "beta_dev.csv": DEV}
    drop(page, "#app-drop-all", names)
    assert page.locator(".app-system").count() == 2
    assert [page.input_value(f"#in-name-{key}") for key in (0, 1)] == ["alpha", "beta"]
    page.select_option("#in-bootstrap", "none")
    compute(page)
    assert "/jobs/" in page.url
    assert "alpha" in page.inner_text("main")
    with page.expect_download() as download:
        page.click("text=JSON")
    before = json.loads(Path(download.value.path()).read_text())
    assert download.value.suggested_filename == "priori-report.json"

    page.click("#app-change summary")
    assert "alpha-dev.csv" in page.inner_text("#app-kept-dev-0")
    page.fill("#in-measure", "frr")
    page.click(".app-system[data-key='1'] .app-remove")
    with page.expect_navigation():
        page.click("#app-compute")
    with page.expect_download() as download:
        page.click("text=JSON")
    after = json.loads(Path(download.value.path()).read_text())
    assert (before["settings"]["measure"], after["settings"]["measure"]) == ("hter", "frr")
    assert (len(before["systems"]), len(after["systems"])) == (2, 1)
    for form in ("HTML", "CSV"):
        with page.expect_download() as download:
            page.click(f".app-downloads >> text={form}")
        assert Path(download.value.path()).stat().st_size > 100

    page.click("text=Delete now")
    page.wait_for_url("**/")
    assert page.locator(".app-mine").count() == 0


def test_a_bad_file_is_told_next_to_its_field_and_only_it_is_sent_again(page):
    page.set_input_files("#in-dev-0", file("dev.csv", b"label,score\n0,1\n1,oops\n"))
    page.set_input_files("#in-test-0", file("test.csv", TEST))
    page.select_option("#in-bootstrap", "none")
    page.click("#app-compute")
    page.wait_for_selector("#app-error-dev-0:not([hidden])")
    assert page.inner_text("#app-error-dev-0") == "dev.csv:3: the score 'oops' is not a number"
    assert page.evaluate("document.activeElement.id") == "in-dev-0"
    assert page.get_attribute("#in-dev-0", "aria-invalid") == "true"
    assert "4 positive and 4 negative trials" in page.inner_text("#app-note-test-0")
    assert not page.is_visible("#app-error-test-0")
    page.set_input_files("#in-dev-0", file("dev.csv", DEV))
    assert not page.is_visible("#app-error-dev-0")
    page.evaluate(
        """() => { const send = XMLHttpRequest.prototype.send;
        XMLHttpRequest.prototype.send = function (data) {
          const files = [...data.entries()].filter((entry) => entry[1] instanceof File);
          sessionStorage.sent = JSON.stringify(files.map((entry) => entry[0]));
          return send.call(this, data); }; }"""
    )
    compute(page)
    assert json.loads(page.evaluate("sessionStorage.sent")) == ["dev-0"]


def test_what_is_missing_is_told_without_asking_the_server(page):
    page.click("#app-compute")
    assert page.inner_text("#app-error-dev-0") == "choose a file with development scores"
    assert page.inner_text("#app-error-test-0") == "choose a file with test scores"
    page.set_input_files("#in-dev-0", file("dev.csv", b"x" * 3_000_000))
    page.set_input_files("#in-test-0", file("test.csv", TEST))
    page.click("#app-compute")
    assert "the limit is 2 MB" in page.inner_text("#app-error-form")


def test_a_bad_setting_is_told_next_to_its_field(page):
    page.set_input_files("#in-dev-0", file("dev.csv", DEV))
    page.set_input_files("#in-test-0", file("test.csv", TEST))
    page.fill("#in-alpha", "7")
    page.click("#app-compute")
    page.wait_for_selector("#app-error-alpha:not([hidden])")
    assert "alpha must lie between 0 and 1" in page.inner_text("#app-error-alpha")
    assert [text for text in page.said if "422" not in text] == []
    page.said.clear()


def test_hostile_names_are_shown_as_text(page):
    page.fill("#in-name-0", HOSTILE)
    page.set_input_files("#in-dev-0", file(HOSTILE.replace("/", "_") + ".csv", DEV))
    page.set_input_files("#in-test-0", file("x" * 200 + ".csv", TEST))
    page.click("#app-add")
    page.fill("#in-name-1", "y" * 10_000)
    page.set_input_files("#in-dev-1", file("d", DEV))
    page.set_input_files("#in-test-1", file("t", TEST))
    page.select_option("#in-bootstrap", "none")
    compute(page)
    assert "stolen" not in page.title()
    assert HOSTILE in page.inner_text("main")
    assert page.locator("main img[onerror]").count() == 0
    page.click("#app-change summary")
    assert page.input_value("#in-name-0") == HOSTILE
    page.goto("/")
    assert "<img src=x" in page.inner_text(".app-mine")
    # Nothing, however long, makes the page wider than the window.
    assert page.evaluate("document.documentElement.scrollWidth") <= 1200


def test_progress_is_shown_and_cancelling_works(page):
    page.select_option("#in-example", "spam")
    assert page.input_value("#in-task") == "retrieval"
    page.fill("#in-resamples", "100000")
    page.click("#app-compute")
    page.wait_for_selector("#app-cancel:not([hidden])")
    page.wait_for_function("document.getElementById('app-progress-said').textContent.length > 0")
    page.click("#app-cancel")
    page.wait_for_selector("#app-error-form:not([hidden])")
    assert page.inner_text("#app-error-form") == "cancelled"
    assert not page.is_visible("#app-progress")
    assert page.is_enabled("#app-compute")


def test_one_visitor_does_not_see_anothers_analysis(page, browser, address):
    page.select_option("#in-example", "cancer")
    page.select_option("#in-bootstrap", "none")
    compute(page)
    other = browser.new_context(base_url=address)
    try:
        assert other.request.get(page.url).status == 404
        assert other.new_page().goto(page.url).status == 404
    finally:
        other.close()


def test_the_keyboard_is_enough(page):
    page.focus("#app-add")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "in-name-1"
    page.focus(".app-system[data-key='1'] .app-remove")
    page.keyboard.press("Enter")
    assert page.locator(".app-system").count() == 1
    assert page.evaluate("document.activeElement.id") == "in-name-0"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "in-dev-0"


def axe(page) -> list[str]:
    import axe_playwright_python

    source = (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()
    page.evaluate(source)
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [f"{one['id']}: {one['nodes'][0]['target']}" for one in found["violations"]
            if one["impact"] in ("serious", "critical")]  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_serious_stands_in_the_way_of_anyone(page, scheme):
    page.emulate_media(color_scheme=scheme)
    page.click("#app-add")
    page.click("#app-compute")
    for more in page.locator("details").all():
        more.evaluate("one => one.open = true")
    assert axe(page) == []
    page.select_option("#in-example", "cancer")
    page.select_option("#in-bootstrap", "none")
    compute(page)
    page.click("#app-change summary")
    assert axe(page) == []


@pytest.mark.parametrize("width", [320, 390])
def test_it_fits_a_phone(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    page.click("#app-add")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
