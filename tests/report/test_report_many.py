"""The page of many systems: what appears from three and from nine on, and that it says what the library does."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import priori
import small_studies
from browser import Visit
from priori.report import render_html
from priori.report.page import pack, page_data, unpack
from priori.report.tables import moving_tables
from priori.studies.evaluation import Study
from report_pages import READY, Open, alpha, bring, drawn, until, write

BOARD = ("slopes", "ranks")


@pytest.fixture(scope="module")
def forty() -> Study:
    return small_studies.many(40)


@pytest.fixture(scope="module")
def twelve() -> Study:
    return small_studies.many(12)


@pytest.fixture(scope="module")
def ranking(twelve: Study) -> priori.uncertainty.ranking.ranking.Ranking:
    return priori.compare_all(twelve.curves, n_resamples=200, rng=0)


def figures(page: str) -> set[str]:
    return set(re.findall(r'id="figure-([a-z]+)', page))


def test_what_appears_when() -> None:
    usual = {"dots", "epc", "roc", "det", "scores"}
    assert figures(render_html(small_studies.study(2.5, 1.6))) == {*usual, "replicates"}
    three = render_html(small_studies.study(2.5, 1.6, 2.0))
    assert figures(three) == {*usual, *BOARD, "replicates"}
    assert 'id="table-comparisons"' in three
    assert 'id="find"' not in three
    nine = small_studies.many(9, n_resamples=50)
    for static in (False, True):
        page = render_html(nine, static=static)
        assert figures(page) == {*usual, *BOARD, "matrix", "standings"} | (set() if static else {"multiples"})
        assert 'id="table-comparisons"' not in page
        assert ('id="find"' in page) != static
    assert not figures(render_html(small_studies.many(9, bootstrap=None))) & {*BOARD, "matrix"}
    assert not figures(render_html(small_studies.many(9, n_resamples=50, unpaired=True, claim="deployed"))) & {"slopes"}


def test_the_numbers_are_those_of_compare_all_and_rank(
    twelve: Study, ranking: priori.uncertainty.ranking.ranking.Ranking
) -> None:
    page = unpack(pack(page_data(twelve)))
    data, texts = page["ranking"], page["live"]["dots"]
    names = [member.name for member in twelve.members]
    for index, where in enumerate(twelve.curves[0].alpha.tolist()):
        places = {place.name: place for place in ranking.places(where)}
        could = [name for name, letter in zip(names, data["possible"][index], strict=True) if letter == "1"]
        assert set(could) == set(ranking.could_be_best(where))
        for system, (text, between) in enumerate(texts[index]):
            ends = re.findall(r"(\d+)(?:st|nd|rd|th)", between)
            place = places[names[system]]
            assert [int(ends[0]), int(ends[-1])] == [place.rank_lower, place.rank_upper]
            assert text == f"{100 * place.value:.1f}\u00a0%"
        letters = data["beats"][index]
        for row, (a, b) in enumerate(combinations(range(12), 2)):
            differ = ranking.p_value[row, index] < 0.05
            lower = ranking.expected_values[a, index] < ranking.expected_values[b, index]
            assert letters[row] == ("." if not differ else "a" if lower else "b")
    board = priori.rank(twelve.curves, n_resamples=200, claim="method")
    shown = data["board"]
    assert [names[place] for place in shown["systems"]] == board.system.tolist()
    assert shown["before"] == board.post_rank.tolist()
    assert shown["after"] == board.rank.tolist()
    assert twelve.board is not None
    assert np.array(shown["probability"]) == pytest.approx(twelve.board.rank_probability, abs=6e-4)
    # The page takes them from what was drawn for all alphas; by itself an alpha has its own Monte Carlo noise.
    assert twelve.board.rank_probability == pytest.approx(board.rank_probability, abs=0.1)


def test_a_few_are_in_colour_and_none_repeats(forty: Study) -> None:
    order = np.argsort([curve.value[forty.at] for curve in forty.curves], kind="stable")
    assert forty.matter[:2] == tuple(order[:2])
    assert 2 <= len(forty.matter) <= 5
    assert forty.standings is not None
    assert all(forty.standings[2][place, forty.at] for place in forty.matter[2:])
    page = render_html(forty)
    table = page[page.index('id="table-outcomes"') :]
    swatches = re.findall(r'class="swatch (c[\w-]+)"', table[: table.index("</table>")])
    assert sorted(swatches) == [f"c{number}" for number in range(len(forty.matter))]
    first = forty.pairs_that_matter[0]
    assert {first.a, first.b} == set(forty.matter[:2])
    assert len(forty.pairs_that_matter) == len(forty.matter) * (len(forty.matter) - 1) // 2


def test_the_table_says_between_which_ranks(twelve: Study, ranking: priori.uncertainty.ranking.ranking.Ranking) -> None:
    table = moving_tables(twelve, twelve.at)[0]
    assert table.header == ("System", "Rank", "Between", "HTER", "95 %", "Against the first")
    last = ranking.places(0.5)[-1]
    row = next(row for row in table.rows if row[0] == last.name)
    assert re.findall(r"\d+", row[2]) == list(map(str, dict.fromkeys((last.rank_lower, last.rank_upper))))
    assert "95 % confidence for all systems together (max-T)" in table.note
    assert "the interval beside a value is for that system alone" in table.note


@pytest.mark.parametrize("claim", ["method", "deployed"])
@pytest.mark.parametrize("shifts", [(2.5, 2.0), (2.5, 1.6, 2.0)])
def test_what_holds_for_all_alphas_holds_at_each(claim: str, shifts: tuple[float, ...]) -> None:
    study = small_studies.study(*shifts, claim=claim)
    assert any(pair.throughout is not None and pair.throughout.any() for pair in study.pairs)
    for pair in study.pairs:
        assert pair.throughout is not None
        assert pair.significant is not None
        assert not (pair.throughout & ~pair.significant).any()
    page = re.sub(r"\s+", " ", render_html(study))
    assert page.count(f"(claim: {claim})") >= 2  # the verdict and the figures
    assert f"({claim})." in page  # the table


def test_pages_of_many_stay_small() -> None:
    made = (small_studies.many(count, n_resamples=20, claim="deployed") for count in (12, 24))
    few, more = (len(pack(page_data(study))) for study in made)
    assert more < 2.2 * few  # grows with systems, not with pairs


def test_find_a_system(visit: Open, forty: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, forty), ready=READY)
    page = opened.page
    assert page.locator(".plot svg > g").count() < 24  # drawn as they come near
    page.fill("#find", "TEM 17")
    found = page.locator("tr.found")
    assert set(found.evaluate_all("rows => rows.map((row) => row.dataset.system)")) == {"17"}
    assert found.count() == 5  # in every table
    assert page.text_content("#found").startswith("system 17: ")
    at = page.evaluate("scrollY")
    page.press("#find", "Enter")
    until(opened, f"scrollY !== {at}")
    bring(opened, "standings")
    order = np.argsort([curve.value[forty.at] for curve in forty.curves], kind="stable").tolist()
    assert [int(one) for one in drawn(opened, "standings", "row")] == order
    for name in ("slopes", "matrix", "epc"):
        bring(opened, name)
    assert "found" in drawn(opened, "slopes", "slope")
    assert "17" in drawn(opened, "epc", "line")
    assert drawn(opened, "matrix", "found") == ["17"]
    page.fill("#find", "nobody")
    assert page.text_content("#found") == "no system of that name"
    assert found.count() == 0
    page.press("#find", "Escape")
    assert page.text_content("#found") == ""
    assert opened.console == []
    assert opened.errors == []


def test_find_where_nothing_was_tested(visit: Open, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, small_studies.many(9, bootstrap=None)), ready=READY)
    opened.page.fill("#find", "system 08")
    opened.page.press("#find", "Enter")
    bring(opened, "epc")
    assert "8" in drawn(opened, "epc", "line")
    assert opened.page.locator("tr.found").count() == 5
    assert opened.console == opened.errors == []


def test_the_slider_moves_the_ranking(visit: Open, forty: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, forty), ready=READY)
    for index in (3, 1):
        alpha(opened, index)
        order = np.argsort([curve.value[index] for curve in forty.curves], kind="stable").tolist()
        for name, most in (("dots", 8), ("standings", 40), ("multiples", 24)):
            bring(opened, name)
            assert [int(one) for one in drawn(opened, name, "panel" if name == "multiples" else "row")] == order[:most]
    bring(opened, "matrix")
    assert [int(one) for one in drawn(opened, "matrix", "row")] == order
    cells = "document.querySelector('#plot-matrix [data-cells=\"var(--c0)/1\"]').getAttribute('d').match(/M/g).length"
    assert forty.ranking is not None
    assert opened.page.evaluate(cells) == int(forty.ranking.verdict.significant[:, 1].sum())
    bring(opened, "multiples")
    opened.page.check("#all-multiples")
    assert len(drawn(opened, "multiples", "panel")) == 40
    assert opened.console == []


@pytest.mark.parametrize("dark", [False, True])
def test_many_are_accessible_and_fit_a_phone(visit: Open, twelve: Study, tmp_path: Path, dark: bool) -> None:
    opened: Visit = visit(
        write(tmp_path, twelve, static=dark), dark=dark, phone=not dark, ready=None if dark else READY
    )
    assert opened.accessibility() == []
    assert opened.overflow() <= 0
