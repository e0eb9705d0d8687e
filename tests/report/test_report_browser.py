"""The report page in a real browser, as its reader has it: from a file, with no server and no network."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import priori
import small_studies
from browser import Visit
from priori.base.alphas import from_costs
from priori.report.page import screen_at
from priori.scores import Scores
from priori.scores.systems import System
from priori.studies.evaluation import Settings, Study, make_study
from priori.studies.evaluation.study import ranks_of
from priori.words.cautions import cautions
from priori.words.headline import dots as words_of
from priori.words.headline import headline
from priori.words.sentences import verdict
from priori.words.vocabulary import GLOSSARY
from report_pages import READY, Open, alpha, bring, dots, drawing, drawn, settle, until, write

#: Long names that differ at their ends only.
ALIKE = tuple(f"the-same-long-beginning-of-a-detector-with-prompt-{letter}" for letter in "abc")


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
    assert drawn(opened, "dots", "dot") == ["0", "1"]
    assert opened.page.text_content("[data-answer=performance]").replace("\xa0", " ") == verdict(two).answers[0].answer


def test_the_first_screen_has_the_answer_and_the_picture(visit: Open, tmp_path: Path) -> None:
    three = small_studies.study(3.2, 3.0, 1.0)  # so good that few errors are seen: there is a caution to show
    opened = visit(write(tmp_path, three), ready=READY)
    page = opened.page
    page.set_viewport_size({"width": 1280, "height": 720})
    settle(opened)
    for part in ("#headline", "#mark", "#plot-dots", ".deploy", "#gravest", "#alpha"):
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 720, part
    for index in (three.at, 3):
        alpha(opened, index)
        screen = screen_at(three, index, cautions(three))
        assert page.text_content("#headline") == screen["headline"]
        assert page.text_content("#mark") == screen["mark"]
        assert page.text_content("#gravest [data-part='1']").replace("\xa0", " ") == screen["caution"][1].replace(
            "\xa0", " "
        )
        assert page.text_content(".threshold output") == screen["threshold"]
        lines = page.locator("[data-error]").all()
        for line, (who, number, fate, interval) in zip(lines, screen["lines"], strict=True):
            assert line.text_content() == f"Of 1,000 {who} {number} {fate} {interval}"
        order = three.order_at(index)
        assert [int(one) for one in drawn(opened, "dots", "row")] == order
        texts = page.locator("#plot-dots text:has(tspan)").all_text_contents()
        for place, kind, sign in ((order[0], "positives", "promised"), (order[-1], "negatives", "kept")):
            shown = [float(one) for one in drawn(opened, "dots", sign)]
            member = three.members[place]
            rates = member.promises if sign == "promised" else member.rates
            assert any(one == pytest.approx(rates[index][kind].rate, abs=1e-8) for one in shown)
        assert texts == ["".join(words_of(three, index)[place]) for place in three.order_at(index)]
    page.click("[data-copy-threshold]")
    page.wait_for_selector("#status:has-text('Copied')")


def test_a_link_keeps_what_was_chosen(visit: Open, three: Study, tmp_path: Path) -> None:
    path = write(tmp_path, three)
    opened = visit(path, ready=READY)
    bring(opened, "epc")
    alpha(opened, 4)
    opened.page.uncheck("[data-toggle='1']")
    opened.page.select_option("#pair", "1")
    link = opened.page.evaluate("location.href")
    again = visit(link, ready=READY)
    bring(again, "epc")
    assert again.page.text_content("output[for=alpha]") == "0.2"
    assert not again.page.is_checked("[data-toggle='1']")
    assert set(drawn(again, "epc", "line")) == {"0", "2"}
    assert drawn(again, "epc", "pair") == ["0-2"]
    odd = visit(f"{path.as_uri()}#alpha=x&hide=99.a&pair=7-8", ready=READY)
    assert odd.errors == []
    assert odd.page.text_content("output[for=alpha]") == "0.5"


def test_own_costs_are_an_alpha(visit: Open, two: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, two), ready=READY)
    page = opened.page
    page.set_viewport_size({"width": 720, "height": 720})
    page.click("text=my costs")
    for name, value in (("cost-fn", "3"), ("cost-fp", "100"), ("prevalence", "0.1")):
        page.fill(f"#{name}", value)
    box = page.locator("#costs").bounding_box()
    assert min(box["x"], box["y"]) >= 0
    assert max(box["x"] + box["width"], box["y"] + box["height"]) <= 720
    weight = from_costs(3, 100, "0.001")
    assert page.text_content("output[for=alpha]") == "0.99997"
    exact = [priori.epc(curve.dev, curve.test, alpha=[weight]) for curve in two.curves]
    rates = [(float(curve.v2[0]), float(curve.v1[0])) for curve in exact]
    costs = [3 * 0.001 * frr + 100 * 0.999 * far for frr, far in rates]
    best = int(np.argmin(costs))
    assert float(page.text_content("[data-text=threshold]")) == pytest.approx(float(exact[best].threshold[0]), rel=1e-5)
    errors = 1000 * (0.001 * rates[best][0] + 0.999 * rates[best][1])
    # One false acceptance among 240 would cost more than rejecting everybody: nothing is recommended.
    said = page.text_content("#headline")
    assert said.startswith("None of the 2 systems is clearly better than rejecting every trial, at your costs")
    assert said.endswith("where 0.1\u00a0% are positives")
    assert (page.text_content("#mark"), page.text_content("[data-text=advice]")) == ("not clear", "If you deploy")
    assert f" makes about {errors:.2g} (" in page.text_content("[data-text=why]")
    again = visit(page.url, ready=READY)
    assert again.page.text_content("#headline") == said
    assert again.page.text_content("#costs-say") == page.text_content("#costs-say")
    inside = page.locator("#costs").bounding_box()
    for part in page.locator("#costs input, #costs output").all():
        box = part.bounding_box()
        assert box["x"] + box["width"] < inside["x"] + inside["width"]
    assert page.evaluate("document.getElementById('costs').scrollWidth <= document.getElementById('costs').clientWidth")
    for name, value in (("cost-fn", "1"), ("cost-fp", "2"), ("prevalence", "40")):
        page.fill(f"#{name}", value)
    said = page.text_content("#headline")
    assert "costs least, with about " in said
    assert " errors in 1,000 where 40\u00a0% are positives" in said
    assert page.text_content("#mark") == "your costs"
    page.fill("#cost-fp", "-1")
    assert "above 0" in page.text_content("#costs-say")
    page.keyboard.press("Escape")
    assert not page.is_visible("#costs")
    page.click("button:has-text('accepting negatives')")
    assert page.text_content("#weighing") == "With FAR weighed 10 times FRR"
    assert page.text_content("output[for=alpha]") == "0.9091"
    page.click("button:has-text('equal costs')")
    assert page.text_content("#headline") == headline(two, two.at).text
    assert opened.errors == []


def test_a_day_at_own_costs_beside_deciding_nothing(visit: Open, tmp_path: Path) -> None:
    dev, test = (small_studies.scores(2.5, seed) for seed in (0, 1))
    moved = Scores.from_arrays(test.negatives + 1, test.positives + 1)  # so that more get in than were promised
    one = make_study([System("A", dev, moved)], Settings(n_resamples=200, points=21))
    opened = visit(write(tmp_path, one), ready=READY)
    page = opened.page
    page.click("text=my costs")
    for name, value in (("cost-fn", "2"), ("cost-fp", "6"), ("prevalence", "20"), ("visits", "5000")):
        page.fill(f"#{name}", value)
    exact = priori.epc(one.curves[0].dev, one.curves[0].test, alpha=[from_costs(2, 6, "0.2")])
    errors = [5000 * 0.2 * float(exact.v2[0]), 5000 * 0.8 * float(exact.v1[0])]
    said = page.text_content("#costs-say")
    money = float(f"{2 * errors[0] + 6 * errors[1]:.3g}")
    assert f": about {float(f'{sum(errors):.3g}'):,g} (" in said
    assert f" at a cost of about {money:,g} (" in said
    assert "Rejecting every trial costs 2,000 a day, accepting every trial 24,000." in said
    page.fill("#prevalence", "0.01")
    assert page.text_content("#headline").startswith("A is no better here than rejecting every trial")
    assert page.text_content("#mark") == "do not use"
    page.keyboard.press("Escape")
    # The share is one of them: a click on another changes the costs, and the picture says which share it shows.
    assert page.locator("[data-share][aria-pressed=true]").count() == 0
    page.click("[data-share='5']")
    assert page.get_attribute("[data-share='5']", "aria-pressed") == "true"
    assert page.input_value("#prevalence") == "5"
    assert "where 5\u00a0% are positives" in page.text_content("#headline")
    bring(opened, "epc")
    before = drawing(opened, "epc")
    page.check("#odds")
    assert drawing(opened, "epc") != before
    assert opened.errors == opened.console == []


def test_terms_are_explained(visit: Open, two: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, two), ready=READY)
    for reach in (opened.page.focus, opened.page.hover):
        reach("figcaption .term >> nth=0")
        assert opened.page.text_content("#tip") == GLOSSARY["HTER"]
        opened.page.keyboard.press("Escape")
        assert not opened.page.is_visible("#tip")


def test_the_slider_moves_everything(visit: Open, three: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, three), ready=READY)
    figures = ["dots", "epc", "roc", "det", "scores-0", "scores-1", "scores-2"]
    for name in figures:
        bring(opened, name)
    tables = ["leaderboard", "operating-points", "outcomes", "comparisons"]

    def seen() -> dict[str, str]:
        text = {name: opened.page.text_content(f"#table-{name}") for name in tables}
        answers = {
            key: opened.page.text_content(f"[data-answer={key}]") for key in ("performance", "threshold", "optimism")
        }
        pictures = {}
        for name in figures:
            bring(opened, name)
            pictures[name] = drawing(opened, name)
        return {**pictures, **text, **answers}

    before = seen()
    alpha(opened, 19)
    after = seen()
    assert [name for name in before if before[name] == after[name]] == []
    assert opened.page.text_content("output[for=alpha]") == "0.95"
    assert opened.page.text_content("#weighing") == "With FAR weighed 19 times FRR"
    assert "0.95" in opened.page.get_attribute("#alpha", "aria-valuetext")
    for answer in verdict(three, 19).answers:
        shown = opened.page.text_content(f"[data-answer={answer.key}]").replace("\xa0", " ")
        assert shown == answer.answer
    bring(opened, "epc")
    for place, one in dots(opened, "epc").items():
        assert one == {"alpha": 0.95, "value": three.curves[place].value[19]}
    bring(opened, "roc")
    spoken = opened.page.get_attribute("#plot-dots", "aria-label").replace("\xa0", " ")
    assert "at alpha = 0.95: " in spoken
    assert f"{three.members[0].name} {100 * three.curves[0].value[19]:.1f} %" in spoken
    point = dots(opened, "roc")[1]
    assert point["x"] == pytest.approx(100 * three.curves[1].v1[19], abs=1e-3)
    assert point["y"] == pytest.approx(100 - 100 * three.curves[1].v2[19], abs=1e-3)
    bring(opened, "scores-1")
    assert float(drawn(opened, "scores-1", "threshold")[0]) == pytest.approx(three.curves[1].threshold[19])
    alpha(opened, three.at)
    assert seen() == before


def test_the_best_can_be_hidden_and_one_always_stays(visit: Open, three: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, three), ready=READY)
    page, order = opened.page, three.order_at(three.at)
    page.uncheck(f"[data-toggle='{order[0]}']")
    best, said = three.members[order[1]], page.text_content("#headline")
    assert said.startswith(f"Of the 2 systems shown {best.name} comes first with HTER")
    assert page.text_content("#mark") == "2 of 3 shown"
    assert page.text_content("[data-text=system]") == best.name
    assert page.text_content("[data-text=threshold]") == best.deployable[three.at]
    page.uncheck(f"[data-toggle='{order[1]}']")
    assert page.is_disabled(f"[data-toggle='{order[2]}']")
    assert [int(one) for one in drawn(opened, "dots", "row")] == [order[2]]
    again = visit(f"{page.url.split('#')[0]}#alpha=0.5&hide=0.1.2", ready=READY)
    assert len(drawn(again, "dots", "row")) == 3
    assert opened.errors == again.errors == []


def test_links_lead_to_their_places_and_back_returns(visit: Open, three: Study, tmp_path: Path) -> None:
    path = write(tmp_path, three)
    opened = visit(path, ready=READY)
    page = opened.page
    page.emulate_media(reduced_motion="reduce")
    top = "(id) => document.getElementById(id).getBoundingClientRect().top"
    end = "scrollY + innerHeight >= document.documentElement.scrollHeight - 2"
    links = page.evaluate("[...new Set([...document.querySelectorAll('a[href^=\"#\"]')].map((a) => a.hash.slice(1)))]")
    assert {"limits", "term-hter"} <= set(links)
    for link in links:
        page.evaluate("scrollTo(0, 0)")
        page.evaluate("(id) => { location.hash = id; }", link)
        until(opened, f"({top})('{link}') > -2 && (({top})('{link}') <= 160 || {end})")
    again = visit(path, ready=READY)
    page = again.page
    page.emulate_media(reduced_motion="reduce")
    page.evaluate("document.querySelector('.small a[href=\"#limits\"]').click()")
    until(again, "scrollY > 500")
    page.go_back()
    until(again, "scrollY < 50")
    direct = visit(f"{path.as_uri()}#limits", ready=READY)
    until(direct, f"({top})('limits') > -2 && ({top})('limits') <= 160")


def test_a_thousand_and_another_threshold(visit: Open, tmp_path: Path) -> None:
    one = small_studies.study(2.5, sizes={"users": 30})
    member = one.members[0]
    opened = visit(write(tmp_path, one), ready=READY)
    page = opened.page
    page.set_viewport_size({"width": 1280, "height": 720})
    settle(opened)
    for part in ("#headline", "#plot-people", "#plot-scores-0", ".deploy", "#alpha"):
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= 720, part

    def counts(what: str) -> list[int]:
        return [int(number) for number in drawn(opened, "people", what)]

    def expected(share: float, rates: dict[str, float]) -> list[int]:
        sizes = {"positives": share, "negatives": 1 - share}
        return [n for kind, size in sizes.items() if (n := round(round(1000 * size) * rates[kind]))]

    for index in (one.at, 2):
        alpha(opened, index)
        assert counts("sure") == expected(0.5, {kind: rate.rate for kind, rate in member.rates[index].items()})
        assert sum(counts("sure") + counts("may") + counts("fine")) == 1000
    page.click("[data-share='5']")
    settle(opened)
    rates = {kind: rate.rate for kind, rate in member.rates[2].items()}
    assert counts("sure") == expected(0.05, rates)
    errors = 0.05 * rates["positives"] + 0.95 * rates["negatives"]
    assert float(drawn(opened, "people", "errors")[0]) == pytest.approx(errors, abs=1e-8)
    assert "share=5" in page.evaluate("location.hash")
    told = page.get_attribute("#plot-people", "aria-label")
    assert told.startswith("A thousand dots: 50 positives, 950 negatives; about ")
    assert f"{1000 * errors:.0f} errors in all" in told
    # The headline is about the HTER, which the picture no longer shows.
    assert page.text_content("[data-text=why]").endswith(
        "the headline is about equal numbers of positives and negatives"
    )
    page.click("[data-share='50']")
    assert "equal numbers" not in page.text_content("[data-text=why]")

    alpha(opened, one.at)
    assert drawn(opened, "scores-0", "ghost") != []
    for lower, upper in member.threshold_ranges.values():
        assert lower[one.at] <= member.curve.threshold[one.at] <= upper[one.at]
    assert drawn(opened, "scores-0", "range") == ["new", "best", "good"]
    page.focus("[data-cut='0']")
    page.keyboard.press("End")
    place = len(member.cuts) - 1
    assert float(page.text_content("[data-text=threshold]")) == member.cuts[place]
    far = member.rates_along[place]["negatives"]
    assert far.rate == float((member.curve.test.load().negatives > member.cuts[place]).mean())
    assert page.text_content("[data-error] >> nth=1").startswith(f"Of 1,000 negatives about {1000 * far.rate:.0f} ")
    assert "Another threshold" in page.text_content("#deploy-title")
    bring(opened, "roc")
    settle(opened)
    assert dots(opened, "roc")[0]["x"] == pytest.approx(100 * far.rate)
    page.click("#uncut")
    assert page.text_content("[data-text=threshold]") == member.deployable[one.at]
    box = page.locator("#plot-scores-0").bounding_box()
    page.mouse.move(box["x"] + 200, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 60, steps=3)
    page.mouse.up()
    dragged = float(page.text_content("[data-text=threshold]"))
    assert dragged in member.cuts
    assert opened.errors == opened.console == []


def test_a_narrow_page_has_room_for_its_words(visit: Open, tmp_path: Path) -> None:
    sets = [small_studies.scores(2.0, seed) for seed in (0, 1)]
    texts = make_study([System("A", *sets)], Settings(task="texts", n_resamples=200, points=5))
    opened = visit(write(tmp_path, texts), ready=READY)
    for width in (320, 375):
        opened.page.set_viewport_size({"width": width, "height": 800})
        settle(opened)
        settle(opened)
        wide = opened.page.evaluate(
            "[...document.querySelectorAll('#plot-people text, #plot-scores-0 text')]"
            ".filter((text) => text.getBoundingClientRect().right > innerWidth).map((text) => text.textContent)"
        )
        assert wide == []
    assert drawn(opened, "scores-0", "range") == ["new", "best", "good"]


def test_the_keyboard_is_enough(visit: Open, two: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, two), ready=READY)
    page = opened.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.locator(".skip").bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "answer"
    page.focus("#alpha")
    for key, shown in (("ArrowRight", "0.55"), ("Home", "0"), ("End", "1")):
        page.keyboard.press(key)
        assert page.text_content("output[for=alpha]") == shown
    while page.evaluate("document.activeElement.dataset.toggle") != "0":
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    bring(opened, "roc")
    assert "0" not in drawn(opened, "roc", "line")
    page.focus("[data-toggle='0']")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"


def test_systems_pairs_and_lines_can_be_chosen(visit: Open, three: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, three), ready=READY)
    bring(opened, "epc")
    assert set(drawn(opened, "epc", "line")) == {"0", "1", "2"}
    opened.page.uncheck("[data-toggle='1']")
    for name in ("epc", "roc", "det"):
        bring(opened, name)
        assert set(drawn(opened, name, "line")) == {"0", "2"}
    assert not opened.page.is_visible("#figure-scores-1")
    assert not opened.page.is_visible("#table-outcomes tr[data-system='1']")
    opened.page.check("[data-toggle='1']")
    bring(opened, "epc")
    assert set(drawn(opened, "epc", "line")) == {"0", "1", "2"}
    assert opened.page.is_visible("#figure-scores-1")

    best = three.pairs[three.first_pair]
    assert drawn(opened, "epc", "pair") == [f"{best.a}-{best.b}"]
    opened.page.select_option("#pair", "2")
    assert drawn(opened, "epc", "pair") == ["1-2"]
    pair = three.pairs[2]
    assert pair.throughout is not None
    winners = [pair.better(index) for index in np.flatnonzero(pair.throughout)]
    assert [int(one) for one in drawn(opened, "epc", "ribbon")] == winners
    assert winners
    bring(opened, "replicates")
    assert pair.spread is not None
    assert [int(one) for one in drawn(opened, "replicates", "bar")] == pair.spread.counts[three.at].tolist()
    bring(opened, "epc")

    opened.page.focus("#alpha")
    assert drawn(opened, "epc", "band") == [str(three.order_at(three.at)[0])]
    opened.page.focus("[data-toggle='2']")
    assert set(drawn(opened, "epc", "band")) == {str(three.order_at(three.at)[0]), "2"}
    opened.page.uncheck("#bands")
    assert drawn(opened, "epc", "band") == []
    for box, what in (("optimism", "optimism"), ("ztest", "ztest")):
        assert drawn(opened, "epc", what) == []
        opened.page.check(f"#{box}")
        assert drawn(opened, "epc", what) != []

    at = next(at for at in range(21) if ranks_of(three.curves, at) != ranks_of(three.curves, three.at))
    alpha(opened, at)
    names = opened.page.locator("#table-leaderboard tbody th").all_text_contents()
    order = sorted(range(3), key=lambda place: (ranks_of(three.curves, at)[place], place))
    assert [name.strip() for name in names] == ["ABC"[place] for place in order]


def taken(opened: Visit, button: str) -> tuple[str, bytes]:
    with opened.page.expect_download() as waiting:
        opened.page.evaluate("(button) => document.querySelector(button).click()", button)
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def saved(opened: Visit, button: str) -> tuple[str, str]:
    name, content = taken(opened, button)
    return name, content.decode()


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
    for figure, wide in (("dots", 88), ("epc", 180), ("roc", 88), ("det", 88), ("scores-0", 88)):
        name, text = saved(opened, f"[data-svg={figure}]")
        assert name == f"{figure}.svg"
        drawing = ElementTree.fromstring(text)
        assert drawing.get("width") == f"{wide}mm"
        assert "#ffffff" in text  # for a paper: on white, though the page is dark
        assert "#1d2126" in text
        assert "var(" not in text
        assert "HTER, alpha = 0.5" in text
    name, content = taken(opened, "[data-png=dots]")
    assert name == "dots.png"
    assert content.startswith(b"\x89PNG")
    assert int.from_bytes(content[16:20]) == round(88 / 25.4 * 300)
    opened.page.evaluate(
        "void (window.print = () => { window.printed = document.querySelector('#alone svg').outerHTML; })"
    )
    opened.page.evaluate("document.querySelector('[data-pdf=epc]').click()")
    assert "Expected Performance Curve" in opened.page.evaluate("window.printed")
    assert opened.page.pdf(prefer_css_page_size=True).count(b"/Type /Page\n") <= 1
    assert opened.console == []
    assert opened.errors == []


def test_hostile_names_are_text(visit: Open, tmp_path: Path) -> None:
    study = small_studies.study(2.5, 1.6, 2.0, names=small_studies.HOSTILE, title=small_studies.HOSTILE[0])
    opened = visit(write(tmp_path, study), ready=READY)
    page = opened.page
    alpha(opened, 3)
    page.select_option("#pair", "1")
    bring(opened, "epc")
    page.hover("#plot-epc", position={"x": 400, "y": 150})
    assert page.is_visible("#tip")
    for button in ("[data-svg=epc]", "[data-svg=roc]", "[data-csv=epc]"):
        assert "w" * 5 in saved(opened, button)[1]
    assert page.evaluate("window.stolen") is None
    assert page.locator("img").count() == 0
    assert page.locator("a[href^=javascript]").count() == 0
    assert opened.errors == []
    assert opened.console == []
    assert opened.overflow() <= 0
    assert "<img src=x" in page.text_content(".kicker")
    assert "img src" in page.text_content("#table-outcomes")
    assert page.locator(".files bdi").first.text_content() == small_studies.HOSTILE[0]


def test_names_that_begin_alike_never_look_the_same(visit: Open, tmp_path: Path) -> None:
    study = small_studies.study(2.5, 2.3, 1.0, names=ALIKE)
    assert "prompt-a" in headline(study, study.at).text
    opened = visit(write(tmp_path, study), ready=READY)
    rows = opened.page.locator("#plot-dots [data-row]").all_text_contents()
    assert len({*rows}) == 3
    opened.page.select_option("#pair", "1")
    bring(opened, "epc")
    better = [text for text in opened.page.locator("#plot-epc text").all_text_contents() if text.endswith("better")]
    assert len({*better}) == 2
    short_names = visit(write(tmp_path, small_studies.study(2.5, 1.6)), ready=READY)
    bring(short_names, "epc")
    texts = short_names.page.locator("#plot-epc text").all_text_contents()
    assert {"A better", "B better"} <= {*texts}


def test_the_picture_has_room_beside_long_names(visit: Open, tmp_path: Path) -> None:
    names = tuple(f"a-name-as-long-as-those-of-variants-are-{number}" for number in range(9))
    study = small_studies.study(*np.linspace(2, 2.2, 9).tolist(), names=names, task="texts", points=5)
    opened = visit(write(tmp_path, study), ready=READY)
    ends = opened.page.evaluate(
        "[...document.querySelectorAll('#plot-dots [data-interval]')].map((one) => one.getBoundingClientRect().width)"
    )
    assert min(ends) > 15  # the interval is to be seen beside its dot
    plot, texts = opened.page.locator("#plot-dots").bounding_box(), opened.page.locator("#plot-dots text:has(tspan)")
    for text in texts.all():
        box = text.bounding_box()
        assert box["x"] + box["width"] < plot["x"] + plot["width"]
    assert opened.overflow() <= 0


@pytest.mark.parametrize("dark", [False, True])
def test_accessible(visit: Open, three: Study, tmp_path: Path, dark: bool) -> None:
    opened = visit(write(tmp_path, three), dark=dark, ready=READY)
    assert opened.accessibility() == []
    for plot in opened.page.locator(".plot").all():
        assert plot.get_attribute("role") == "img"
        assert len(plot.get_attribute("aria-label")) > 40


def test_on_a_phone(visit: Open, three: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, three), phone=True, ready=READY)
    assert opened.overflow() <= 0
    assert opened.page.locator("#plot-epc").bounding_box()["width"] > 300
    long_names = visit(write(tmp_path, small_studies.study(2.5, 2.3, 1.0, names=ALIKE)), phone=True, ready=READY)
    long_names.page.click("text=my costs")
    assert long_names.overflow() <= 0


def test_prints_light_and_whole(visit: Open, two: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, two), dark=True, ready=READY)
    assert opened.page.pdf(format="A4").startswith(b"%PDF")
    opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert opened.page.evaluate("document.querySelector('#plot-epc svg').clientWidth") <= 700
    ink = "getComputedStyle(document.querySelector('#plot-dots [data-row]')).fill"
    assert opened.page.evaluate(ink) == "rgb(29, 33, 38)"
    opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert opened.page.evaluate(ink) == "rgb(233, 231, 226)"
    opened.page.emulate_media(media="print")
    assert not opened.page.is_visible("#alpha")
    assert opened.page.is_visible("#headline")
    assert opened.page.is_visible("#weighing")
    assert opened.console == []
