"""The app in a real browser, as a person uses it."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest
from app_serving import DEV, TEST, listening
from click.testing import CliRunner
from playwright.sync_api import expect

from priori.app.limits import Limits
from priori.app.server import create_app
from priori.cli import cli

HOSTILE = "<img src=x onerror=\"document.title='stolen'\">'\"&😀</script><script>document.title='stolen'</script>"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    """The app on a free port."""
    app = create_app(Limits(upload=2_000_000), parent=tmp_path_factory.mktemp("app"))
    with listening(app) as port:
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def visitor(visit, address):
    """A new visitor, on the form; at the end nothing has complained and nothing has left the origin."""
    found = visit(address)
    yield found
    assert found.console == []
    assert found.errors == []
    assert [url for url in found.requests if not url.startswith((address, "data:", f"blob:{address}"))] == []


def file(name: str, content: bytes) -> dict:
    return {"name": name, "mimeType": "text/csv", "buffer": content}


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


def compute(page) -> None:
    page.click("#app-compute")
    page.wait_for_selector(".app-bar")


def download(page, link: str) -> str:
    with page.expect_download() as under_way:
        page.click(f".app-downloads >> text={link}")
    assert under_way.value.suggested_filename == f"priori-report.{link.lower()}"
    return Path(under_way.value.path()).read_text()


def test_drop_files_read_the_verdict_move_the_slider_change_a_setting_download(
    visitor, visit, address, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    page = visitor.page
    names = {"alpha-dev.csv": DEV, "alpha-test.csv": TEST, "beta_test.csv": TEST, "beta_dev.csv": DEV}
    drop(page, "#app-drop-all", names)
    assert [page.input_value(f"#in-name-{key}") for key in (0, 1)] == ["alpha", "beta"]
    page.fill("#in-resamples", "100")
    compute(page)
    assert "/jobs/" in page.url
    assert page.evaluate("window.scrollY") == 0
    verdict = page.inner_text("#verdict")
    assert "alpha" in verdict
    assert "HTER is " in verdict

    page.wait_for_selector("#plot-dots svg > g")
    before = page.inner_text("output[for=alpha]")
    page.focus("input#alpha")
    page.keyboard.press("Home")
    assert (before, page.inner_text("output[for=alpha]")) == ("0.5", "0")
    assert page.inner_text("#verdict") != verdict

    found = json.loads(download(page, "JSON"))
    assert [len(found["systems"]), found["settings"]["measure"]] == [2, "hter"]
    assert page.inner_text("#verdict h2") == "In full"
    assert visit(address).page.request.get(page.url).status == 404  # another visitor

    page.click("#app-change > summary")
    assert "alpha-dev.csv" in page.inner_text("#app-kept-dev-0")
    page.fill("#in-measure", "frr")
    page.click(".app-system[data-key='1'] .app-remove")
    with page.expect_navigation():
        page.click("#app-compute")
    again = json.loads(download(page, "JSON"))
    assert [len(again["systems"]), again["settings"]["measure"]] == [1, "frr"]
    assert "False rejection rate" in page.inner_text("#answer")
    assert "<!doctype html>" in download(page, "HTML")
    assert download(page, "CSV").startswith("system,alpha,threshold")

    same = remade(again["command"], names)
    assert same["systems"] == again["systems"]
    assert same["settings"] == again["settings"]

    page.click("text=Delete now")
    page.wait_for_url(f"{address}/")
    assert page.locator(".app-mine").count() == 0


def remade(command: str, files: dict[str, bytes]) -> dict:
    """Run the command that a report shows, on the visitor's own files."""
    for name, content in files.items():
        Path(name).write_bytes(content)
    words = shlex.split(command.replace("-o report.html", "--format json"))
    return json.loads(CliRunner().invoke(cli, words[1:], catch_exceptions=False).stdout)


def test_a_bad_file_is_told_next_to_its_field_and_only_it_is_sent_again(visitor):
    page = visitor.page
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


def test_what_is_missing_or_wrong_is_told_next_to_its_field(visitor):
    page = visitor.page
    page.click("#app-compute")
    assert page.inner_text("#app-error-dev-0") == "choose a file with development scores"
    assert page.inner_text("#app-error-test-0") == "choose a file with test scores"
    page.set_input_files("#in-dev-0", file("dev.csv", b"x" * 3_000_000))
    page.set_input_files("#in-test-0", file("test.csv", TEST))
    page.click("#app-compute")
    assert "the limit is 2 MB" in page.inner_text("#app-error-form")
    assert visitor.console == []

    page.set_input_files("#in-dev-0", file("dev.csv", DEV))
    page.fill("#in-alpha", "7")
    page.click("#app-compute")
    page.wait_for_selector("#app-error-alpha:not([hidden])")
    assert "alpha must lie between 0 and 1" in page.inner_text("#app-error-alpha")
    assert len(visitor.console) == 1
    assert "422" in visitor.console.pop()  # the browser's own note of the answer


def test_hostile_names_are_shown_as_text(visitor, address):
    page = visitor.page
    page.fill("#in-name-0", HOSTILE)
    page.set_input_files("#in-dev-0", file(HOSTILE.replace("/", "_") + ".csv", DEV))
    page.set_input_files("#in-test-0", file("x" * 200 + ".csv", TEST))
    page.click("#app-add")
    page.fill("#in-name-1", "y" * 10_000)
    page.set_input_files("#in-dev-1", file("d", DEV))
    page.set_input_files("#in-test-1", file("t", TEST))
    page.select_option("#in-bootstrap", "none")
    compute(page)
    page.wait_for_selector("#plot-dots svg > g")
    assert not page.title().startswith("stolen")
    assert HOSTILE in page.inner_text("table.files")
    assert page.locator("img[onerror]").count() == 0
    assert visitor.overflow() <= 0
    page.click("#app-change > summary")
    assert page.input_value("#in-name-0") == HOSTILE
    assert visitor.overflow() <= 0
    page.goto(address)
    assert "<img src=x" in page.inner_text(".app-mine")
    assert visitor.overflow() <= 0


def test_progress_is_shown_and_cancelling_works(visitor):
    page = visitor.page
    page.select_option("#in-example", "spam")
    assert page.input_value("#in-task") == "spam"
    page.fill("#in-resamples", "100000")
    page.click("#app-compute")
    page.wait_for_selector("#app-cancel:not([hidden])")
    expect(page.locator("#app-progress-said")).not_to_be_empty()
    page.click("#app-cancel")
    page.wait_for_selector("#app-error-form:not([hidden])")
    assert page.inner_text("#app-error-form") == "cancelled"
    assert not page.is_visible("#app-progress")
    assert page.is_enabled("#app-compute")


def test_the_keyboard_is_enough(visitor):
    page = visitor.page
    page.focus("#app-add")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "in-name-1"
    page.focus(".app-system[data-key='1'] .app-remove")
    page.keyboard.press("Enter")
    assert page.locator(".app-system").count() == 1
    assert page.evaluate("document.activeElement.id") == "in-name-0"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "in-dev-0"


def test_nothing_serious_stands_in_the_way_of_anyone_and_it_fits_a_phone(visitor):
    page = visitor.page
    page.click("#app-add")
    page.click("#app-compute")
    for more in page.locator("details").all():
        more.evaluate("one => one.open = true")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert visitor.accessibility() == []
    for width in (320, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert visitor.overflow() <= 0
    page.select_option("#in-example", "cancer")
    page.select_option("#in-bootstrap", "none")
    compute(page)
    page.wait_for_selector("#plot-dots svg > g")
    page.click("#app-change > summary")
    assert visitor.overflow() <= 0
    assert visitor.accessibility() == []


def test_a_form_left_open_over_a_restart_keeps_its_files(visit, tmp_path):
    with listening(create_app(parent=tmp_path)) as port:
        page = visit(f"http://127.0.0.1:{port}").page
        page.set_input_files("#in-dev-0", file("dev.csv", DEV))
        page.set_input_files("#in-test-0", file("test.csv", b"junk"))
        page.select_option("#in-bootstrap", "none")
        page.click("#app-compute")
        page.wait_for_selector("#app-error-test-0:not([hidden])")
    # The analysis is gone with the first server, which had both files; the page still has them.
    with listening(create_app(parent=tmp_path), port):
        page.set_input_files("#in-test-0", file("test.csv", TEST))
        compute(page)
        assert "dev.csv" in page.inner_text("table.files")
    # A page that was loaded again has no files in its fields: it asks for them.
    with listening(create_app(parent=tmp_path), port):
        page.click("#app-change > summary")
        page.click("#app-compute")
        page.wait_for_selector("#app-error-form:not([hidden])")
        assert "choose the files again" in page.inner_text("#app-error-form")
        assert page.inner_text("#app-error-dev-0") == "choose a file with development scores"
        assert not page.is_visible("#app-kept-dev-0")
        for field, content in (("dev-0", DEV), ("test-0", TEST)):
            page.set_input_files(f"#in-{field}", file(f"{field}.csv", content))
        page.click("#app-compute")
        page.wait_for_selector("table.files >> text=dev-0.csv")


def test_a_form_never_sent_keeps_its_files_over_a_restart(visit, tmp_path):
    with listening(create_app(parent=tmp_path)) as port:
        page = visit(f"http://127.0.0.1:{port}").page
        page.set_input_files("#in-dev-0", file("dev.csv", DEV))
        page.set_input_files("#in-test-0", file("test.csv", TEST))
        page.select_option("#in-bootstrap", "none")
    with listening(create_app(parent=tmp_path), port):
        compute(page)
        assert "test.csv" in page.inner_text("table.files")


def test_without_scripts_the_form_still_works(visit, address):
    page = visit(address, scripts=False).page
    page.set_input_files("#in-dev-0", file("dev.csv", DEV))
    page.set_input_files("#in-test-0", file("test.csv", b"junk"))
    page.select_option("#in-bootstrap", "none")
    page.click("#app-compute")
    page.wait_for_selector("#app-error-test-0:not([hidden])")
    assert page.inner_text("#app-error-test-0").startswith("test.csv")


def test_several_files_by_one_chooser_back_and_the_list_of_analyses(visitor, address):
    page = visitor.page
    page.set_input_files("#in-many", [file("one-test.csv", TEST), file("one-dev.csv", DEV)])
    assert page.input_value("#in-name-0") == "one"
    page.fill("#in-resamples", "100")
    page.fill("#in-alpha", "0.25")
    compute(page)
    page.go_back()
    page.wait_for_selector(".app-mine")
    assert page.url == f"{address}/"
    listed = page.text_content(".app-mine li")
    assert "one" in listed
    assert "authentication, alpha 0.25, 100 resamples" in listed
    page.go_forward()
    page.wait_for_selector(".app-bar")
    assert page.input_value("#in-alpha") == "0.25"  # what was typed is kept


def test_going_back_before_the_script_has_come_shows_that_page(visitor):
    page = visitor.page
    page.set_input_files("#in-dev-0", file("one-dev.csv", DEV))
    page.set_input_files("#in-test-0", file("one-test.csv", TEST))
    page.select_option("#in-bootstrap", "none")
    compute(page)
    waiting = []
    page.route("**/static/app.js", lambda route: route.continue_() if waiting else waiting.append(route))
    page.reload(wait_until="commit")
    page.wait_for_selector(".app-bar")
    page.evaluate("history.back()")
    page.wait_for_url(lambda url: url.endswith("/"), wait_until="commit")
    assert page.locator(".app-mine").count() == 0
    waiting[0].continue_()
    page.wait_for_selector(".app-mine")


def scored(content: bytes) -> list[list[str]]:
    """The labels and scores of a small file."""
    return [line.split(",") for line in content.decode().splitlines()[1:]]


def long_table() -> bytes:
    rows = ["system,set,score,label,user"]
    for name in ("good", "bad, quoted"):
        for part, content in (("dev", DEV), ("eval", TEST)):
            for line in content.decode().splitlines()[1:]:
                label, score = line.split(",")
                rows.append(f'"{name}",{part},{score},{label},u1')
    return "\n".join(rows).encode()


def test_a_long_table_is_split_after_a_look_at_it(visitor):
    page = visitor.page
    page.set_input_files("#in-many", [file("all.csv", long_table())])
    page.wait_for_selector("#app-table:not([hidden])")
    assert "all.csv: several systems in one table. Is this right?" in page.text_content("#app-table")
    chosen = page.eval_on_selector_all("#app-table select", "all => all.map((one) => one.selectedOptions[0].text)")
    assert chosen == ["system", "set", "dev", "eval"]
    assert "2 systems: good, bad, quoted" in page.text_content("#app-table")
    page.click("#app-table button:has-text('Yes, take 2 systems')")
    assert [page.input_value(f"#in-name-{key}") for key in (0, 1)] == ["good", "bad, quoted"]
    content = page.evaluate("document.getElementById('in-test-1').files[0].text()")
    assert content.splitlines()[0] == "score,label,user"
    assert len(content.splitlines()) == len(TEST.decode().splitlines())
    assert visitor.accessibility() == []


def test_a_wide_table_is_one_system_a_column(visitor):
    page = visitor.page
    lines = ["good,bad,label,set"]
    for part, content in (("dev", DEV), ("test", TEST)):
        lines += [f"{score},{-float(score):g},{label},{part}" for label, score in scored(content)]
    page.set_input_files("#in-many", [file("wide.csv", "\n".join(lines).encode())])
    page.wait_for_selector("#app-table:not([hidden])")
    chosen = page.eval_on_selector_all("#app-table select", "all => all.map((one) => one.selectedOptions[0].text)")
    assert chosen == ["the columns good, bad", "set", "dev", "test"]
    page.click("#app-table button:has-text('Yes, take 2 systems')")
    assert [page.input_value(f"#in-name-{key}") for key in (0, 1)] == ["good", "bad"]
    assert page.evaluate("document.getElementById('in-dev-1').files[0].text()").startswith("score,label\n-0.1,0\n")


def test_one_labelled_file_is_not_taken_for_development(visitor):
    page = visitor.page
    scores = [f"{label},{score},u{row // 2}" for row, (label, score) in enumerate(scored(DEV + TEST[12:]))]
    page.set_input_files("#in-many", [file("scores.csv", "\n".join(["label,score,user", *scores]).encode())])
    page.wait_for_selector("#app-table:not([hidden])")
    assert "both sets in one table. Is this right?" in page.text_content("#app-table")
    assert visitor.accessibility() == []
    page.click("#app-table button:has-text('Yes, take 1 system')")
    assert page.input_value("#in-name-0") == "scores"
    halves = [page.evaluate(f"document.getElementById('in-{part}-0').files[0].text()") for part in ("dev", "test")]
    users = [{line.split(",")[2] for line in half.splitlines()[1:]} for half in halves]
    assert [len(half) for half in users] == [4, 4]
    assert not users[0] & users[1]
    # One that cannot be looked into is asked about, and so is not put anywhere unasked.
    page.click("#app-add")
    page.set_input_files("#in-many", [file("more.bin", TEST)])
    page.click("#app-table button:has-text('It is the test set')")
    assert page.evaluate("document.getElementById('in-test-1').files[0].name") == "more.bin"
    assert page.evaluate("document.getElementById('in-dev-1').files.length") == 0
    # What is waiting for its other set gets it.
    page.set_input_files("#in-many", [file("rest.csv", DEV)])
    # Playwright asks for the value from outside: the page's policy forbids a script that evaluates texts.
    expect(page.locator("#in-dev-1")).to_have_js_property("files.length", 1)


def test_computing_again_gives_a_sign_at_once_and_an_error_opens_its_panel(visitor):
    page = visitor.page
    page.set_input_files("#in-dev-0", file("dev.csv", DEV))
    page.set_input_files("#in-test-0", file("test.csv", TEST))
    page.select_option("#in-bootstrap", "none")
    compute(page)
    page.click("#app-change > summary")
    page.click("summary:has-text('More')")
    page.fill("#in-seed", "no number")
    page.click("summary:has-text('More')")
    assert not page.is_visible("#in-seed")
    page.click("#app-compute")
    page.wait_for_selector("#app-error-seed:not([hidden])")
    assert page.is_visible("#in-seed")
    assert page.evaluate("document.activeElement.id") == "in-seed"
    visitor.console.clear()  # the browser's own note of the answer
    page.fill("#in-seed", "1")
    page.route("**/jobs/*", lambda route: None)  # the server does not answer yet
    page.press("#in-seed", "Enter")
    assert page.is_visible("#app-progress")
    assert page.inner_text("#app-progress-text") == "Starting …"
    assert page.is_disabled("#app-compute")
    expect(page.locator("#app-progress")).to_be_in_viewport(ratio=1)


def test_an_error_opens_the_panel_of_the_field_that_it_names(visitor):
    page = visitor.page
    for part in ("dev", "test"):
        page.set_input_files(f"#in-{part}-0", file(f"{part}.csv", b"similarity,label\n0.1,0\n0.9,1\n"))
    assert not page.is_visible("#in-columns")
    page.click("#app-compute")
    page.wait_for_selector("#app-error-dev-0:not([hidden])", timeout=15_000)
    assert "'Names of columns'" in page.inner_text("#app-error-dev-0")
    assert page.is_visible("#in-columns")
    page.reload()
    page.wait_for_selector("#in-columns", state="visible")


def test_a_table_of_too_many_columns_is_not_drawn_whole(visitor):
    page = visitor.page
    names = ",".join(f"s{number}" for number in range(2000))
    rows = "".join(f"{label},{','.join([score] * 2000)}\n" for label, score in ((0, "0.1"), (1, "0.9")) * 3)
    page.set_input_files("#in-many", file("wide.csv", f"label,{names}\n{rows}".encode()))
    page.wait_for_selector("#app-table:not([hidden])")
    assert page.locator("#app-table th").count() == 13
    assert page.locator("#app-table option").count() < 500
    page.click(".app-yes")
    page.wait_for_selector("#app-error-form:not([hidden])")
    assert "systems are taken at a time" in page.inner_text("#app-error-form")
    assert page.locator(".app-system").count() == 1
    assert visitor.errors == []


def test_exchanged_sets_and_reversed_scores_are_mended_by_a_button(visitor):
    page = visitor.page
    lines = [line.split(",") for line in DEV.decode().splitlines()]
    turned = [f"{label},{-float(score):g}" for label, score in lines[1:]]
    reverse = "\n".join([",".join(lines[0]), *3 * turned]).encode()
    page.set_input_files("#in-dev-0", file("a-test.csv", reverse))
    page.set_input_files("#in-test-0", file("a-dev.csv", reverse + b"\n" + turned[0].encode()))
    page.click(".app-swap button")
    assert page.evaluate("document.getElementById('in-dev-0').files[0].name") == "a-dev.csv"
    assert page.locator(".app-swap").count() == 0
    page.select_option("#in-bootstrap", "none")
    compute(page)
    with page.expect_navigation():
        page.click("[data-caution=reversed-scores] button")
    page.wait_for_selector(".app-bar")
    assert page.is_checked("#in-lower_is_better")
    assert page.locator("[data-caution=reversed-scores]").count() == 0
