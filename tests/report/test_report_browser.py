"""The report page in a real browser, as its reader has it: from a file, with no server and no network."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

import small_studies
from browser import Visit
from priori.studies.evaluation import Study
from priori.studies.evaluation.study import ranks_of
from priori.words.sentences import verdict
from report_pages import READY, Open, alpha, shapes, traces, write


@pytest.fixture(scope="module")
def two() -> Study:
    return small_studies.study(2.5, 1.6)


@pytest.fixture(scope="module")
def three() -> Study:
    return small_studies.study(2.5, 2.3, 1.0)


def test_opens_from_a_file_and_asks_for_nothing(visit: Open, two: Study, tmp_path: Path) -> None:
    path = write(tmp_path, two)
    opened = visit(path, ready=READY)
    assert opened.console == []
    assert opened.errors == []
    assert opened.requests == [path.as_uri()]
    assert opened.page.locator(".plot .main-svg").count() > 0
    assert opened.page.text_content("[data-answer=performance]").replace("\xa0", " ") == two.verdict.answers[0].answer


def test_the_slider_moves_everything(visit: Open, three: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, three), ready=READY)
    figures = ["epc", "difference", "roc", "det", "scores-0", "scores-1", "scores-2"]
    tables = ["leaderboard", "operating-points", "outcomes", "comparisons"]

    def seen() -> dict[str, str]:
        text = {name: opened.page.text_content(f"#table-{name}") for name in tables}
        answers = {
            key: opened.page.text_content(f"[data-answer={key}]") for key in ("performance", "threshold", "optimism")
        }
        return {**{name: shapes(opened, name) for name in figures}, **text, **answers}

    before = seen()
    alpha(opened, 19)
    after = seen()
    assert [name for name in before if before[name] == after[name]] == []
    assert opened.page.text_content("output").strip() == "0.95"
    assert opened.page.text_content("#weighing") == "With FAR weighed 19 times FRR"
    assert "0.95" in opened.page.get_attribute("#alpha", "aria-valuetext")
    for answer in verdict(three, 19).answers:
        shown = opened.page.text_content(f"[data-answer={answer.key}]").replace("\xa0", " ")
        assert shown == answer.answer
    circles = "document.getElementById('plot-%s').layout.shapes.filter((shape) => shape.type === 'circle')"
    drawn = opened.page.evaluate(circles % "epc")
    assert [one["xanchor"] for one in drawn] == [0.95] * 3
    assert [one["yanchor"] for one in drawn] == pytest.approx([100 * curve.value[19] for curve in three.curves])
    point = opened.page.evaluate(circles % "roc")[1]
    assert point["xanchor"] == pytest.approx(100 * three.curves[1].v1[19], abs=1e-3)
    assert point["yanchor"] == pytest.approx(100 - 100 * three.curves[1].v2[19], abs=1e-3)
    line = opened.page.evaluate("document.getElementById('plot-scores-1').layout.shapes[0].x0")
    assert line == pytest.approx(three.curves[1].threshold[19])
    alpha(opened, three.at)
    assert seen() == before


def test_the_keyboard_is_enough(visit: Open, two: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, two), ready=READY)
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "verdict"
    page.focus("#alpha")
    page.keyboard.press("ArrowRight")
    assert page.text_content("output").strip() == "0.55"
    page.keyboard.press("Home")
    assert page.text_content("output").strip() == "0"
    page.keyboard.press("End")
    assert page.text_content("output").strip() == "1"
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    assert 0 not in traces(opened, "roc")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_systems_pairs_and_lines_can_be_chosen(visit: Open, three: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, three), ready=READY)
    assert set(traces(opened, "epc")) == {0, 1, 2}
    opened.page.uncheck("[data-toggle='1']")
    for name in ("epc", "roc", "det"):
        assert set(traces(opened, name)) == {0, 2}
    assert not opened.page.is_visible("#figure-scores-1")
    assert not opened.page.is_visible("#table-outcomes tr[data-system='1']")
    opened.page.check("[data-toggle='1']")
    assert set(traces(opened, "epc")) == {0, 1, 2}
    assert opened.page.is_visible("#figure-scores-1")

    opened.page.select_option("#pair", "2")
    found = "document.getElementById('plot-difference').data.find((one) => one.name === 'difference').y"
    assert opened.page.evaluate(found) == pytest.approx((100 * three.pairs[2].difference).tolist())
    assert opened.page.text_content("[data-text=pair]") == "B minus C"

    assert len(traces(opened, "epc")) == 12
    opened.page.uncheck("#bands")
    assert len(traces(opened, "epc")) == 6
    opened.page.uncheck("#optimism")
    assert len(traces(opened, "epc")) == 3

    at = next(at for at in range(21) if ranks_of(three.curves, at) != ranks_of(three.curves, three.at))
    alpha(opened, at)
    names = opened.page.locator("#table-leaderboard tbody th").all_text_contents()
    order = sorted(range(3), key=lambda place: (ranks_of(three.curves, at)[place], place))
    assert [name.strip() for name in names] == ["ABC"[place] for place in order]


def saved(opened: Visit, button: str) -> tuple[str, str]:
    with opened.page.expect_download() as waiting:
        opened.page.click(button)
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_text(encoding="utf-8")


def test_numbers_can_be_taken_away(visit: Open, two: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, two), dark=True, ready=READY)
    name, text = saved(opened, "[data-csv=epc]")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert name == "epc.csv"
    assert [float(row["value"]) for row in rows if row["system"] == "B"] == two.curves[1].value.tolist()
    assert [float(row["threshold"]) for row in rows if row["system"] == "A"] == two.curves[0].threshold.tolist()
    assert [int(row["fp"]) for row in rows if row["system"] == "A"] == two.curves[0].outcomes.fp.tolist()
    name, text = saved(opened, "[data-csv=difference]")
    found = [float(row["p_value"]) for row in csv.DictReader(io.StringIO(text))]
    assert found == two.pairs[0].p_value.tolist()
    name, text = saved(opened, "[data-table=outcomes]")
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == [
        "System",
        *(f"{part} {kind}" for part in ("development", "test") for kind in ("TP", "FP", "TN", "FN")),
    ]
    assert rows[1][6] == f"{two.curves[0].outcomes.fp[two.at]}"
    for figure in ("difference", "roc", "det", "scores-0"):
        assert saved(opened, f"[data-csv={figure}]")[1].count("\n") > 10
    opened.page.click("[data-copy=outcomes]")
    opened.page.wait_for_selector("#status:has-text('Copied')")
    assert opened.console == []


def test_figures_can_be_taken_away(visit: Open, two: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, two), dark=True, ready=READY)
    for figure in ("epc", "difference", "roc", "det", "scores-0"):
        name, text = saved(opened, f"[data-svg={figure}]")
        assert name == f"{figure}.svg"
        assert text.startswith("<svg")
        assert "rgb(255, 255, 255)" in text  # for a paper: on white, though the page is dark
    assert opened.console == []
    assert opened.errors == []


@pytest.mark.parametrize("static", [False, True])
def test_hostile_names_are_text(visit: Open, tmp_path: Path, static: bool) -> None:
    study = small_studies.study(2.5, 1.6, 2.0, names=small_studies.HOSTILE, title=small_studies.HOSTILE[0])
    opened = visit(write(tmp_path, study, static=static), ready=None if static else READY)
    page = opened.page
    if not static:
        alpha(opened, 3)
        page.select_option("#pair", "1")
        page.hover("#plot-epc", position={"x": 400, "y": 150})
        for button in ("[data-svg=epc]", "[data-svg=roc]", "[data-csv=epc]"):
            assert "w" * 20 in saved(opened, button)[1]
    assert page.evaluate("window.stolen") is None
    assert page.locator("img").count() == 0
    assert page.locator("a[href^=javascript]").count() == 0
    assert opened.errors == []
    assert opened.console == []
    assert opened.overflow() <= 0
    assert "<img src=x" in page.text_content("h1")
    assert page.locator(".files bdi").first.text_content() == small_studies.HOSTILE[0]


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("static", [False, True])
def test_accessible(visit: Open, three: Study, tmp_path: Path, dark: bool, static: bool) -> None:
    opened = visit(write(tmp_path, three, static=static), dark=dark, ready=None if static else READY)
    assert opened.accessibility() == []
    for plot in opened.page.locator(".plot").all():
        assert plot.get_attribute("role") == "img"
        assert len(plot.get_attribute("aria-label")) > 40


@pytest.mark.parametrize("static", [False, True])
def test_on_a_phone(visit: Open, three: Study, tmp_path: Path, static: bool) -> None:
    opened = visit(write(tmp_path, three, static=static), phone=True, ready=None if static else READY)
    assert opened.overflow() <= 0
    assert opened.page.locator("#plot-epc").bounding_box()["width"] > 300


def test_static_needs_no_script(visit: Open, three: Study, tmp_path: Path) -> None:
    path = write(tmp_path, three, static=True)
    opened = visit(path, scripts=False)
    assert opened.requests == [path.as_uri()]
    assert opened.page.locator("script").count() == 0
    assert opened.page.locator(".plot svg").count() == 10
    assert opened.page.is_visible("#plot-epc svg")


def test_prints_light_and_whole(visit: Open, two: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, two), dark=True, ready=READY)
    assert opened.page.pdf(format="A4").startswith(b"%PDF")
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.page.evaluate("document.getElementById('plot-epc').layout.width") <= 700
    assert opened.page.evaluate("document.getElementById('plot-epc').layout.font.color") == "#1d2126"
    opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.page.evaluate("document.getElementById('plot-epc').layout.font.color") == "#e9e7e2"
    opened.page.emulate_media(media="print")
    assert not opened.page.is_visible("#alpha")
    assert opened.page.is_visible(".systems .swatch >> nth=0")
    assert opened.console == []
