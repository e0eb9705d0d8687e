"""The page of many systems: what appears from three and from nine on, and that it says what the library does."""

from __future__ import annotations

import re
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
from priori.words.headline import headline
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
    return priori.compare_all(twelve.curves, family="best", n_resamples=200, rng=0)


def figures(page: str) -> set[str]:
    return set(re.findall(r'id="figure-([a-z]+)', page))


def test_what_appears_when() -> None:
    usual = {"people", "dots", "epc", "roc", "det", "scores"}
    assert figures(render_html(small_studies.study(2.5))) == usual - {"dots"}
    assert figures(render_html(small_studies.study(2.5, 1.6))) == {*usual, "replicates"}
    three = render_html(small_studies.study(2.5, 1.6, 2.0))
    assert figures(three) == {*usual, *BOARD, "replicates"}
    assert 'id="table-comparisons"' in three
    assert 'id="find"' not in three
    nine = small_studies.many(9, n_resamples=50)
    page = render_html(nine)
    assert figures(page) == usual
    assert 'id="table-comparisons"' not in page
    assert 'id="find"' in page
    assert not figures(render_html(small_studies.study(2.5, 1.6, 2.0, bootstrap=None))) & {*BOARD}


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
        for system, (text, said) in enumerate(texts[index]):
            assert said == ("could be the best" if names[system] in could else "")
            assert text == f"{100 * places[names[system]].value:.1f}\u00a0%"


def test_a_few_are_ranked_as_rank_does() -> None:
    four = small_studies.study(2.5, 2.3, 2.0, 1.6)
    board, shown = priori.rank(four.curves, n_resamples=200, claim="method"), page_data(four)["ranking"]["board"]
    names = [member.name for member in four.members]
    assert [names[place] for place in shown["systems"]] == board.system.tolist()
    assert shown["before"].tolist() == board.post_rank.tolist()
    assert shown["after"].tolist() == board.rank.tolist()
    assert four.board is not None
    assert np.array(shown["probability"]) == pytest.approx(four.board.rank_probability, abs=6e-4)
    # The page takes them from what was drawn for all alphas; by itself an alpha has its own Monte Carlo noise.
    assert four.board.rank_probability == pytest.approx(board.rank_probability, abs=0.1)


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
    assert len(forty.pairs_that_matter) == len(forty.matter) - 1


def test_many_are_compared_with_the_best(twelve: Study, ranking: priori.uncertainty.ranking.ranking.Ranking) -> None:
    table = moving_tables(twelve, twelve.at)[0]
    assert table.header == ("System", "Rank", "HTER", "95 %", "p", "EER")
    chances = dict(zip(ranking.names, ranking.best_p_value[:, twelve.at], strict=True))
    for row in table.rows:
        assert row[4] == ("<0.0001" if chances[row[0]] < 0.0001 else f"{chances[row[0]]:.4f}")
    assert "p: that the system is the best" in table.note
    assert "all pairs" not in headline(twelve, twelve.at).why
    few = moving_tables(small_studies.study(2.5, 2.3, 1.6), 10)[0]
    assert few.header == ("System", "Rank", "Between", "HTER", "95 %", "Group", "Against the first")
    assert "95 % confidence for all systems together (max-T)" in few.note


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
    page.fill("#find", "TEM 17")
    found = page.locator("tr.found")
    assert set(found.evaluate_all("rows => rows.map((row) => row.dataset.system)")) == {"17"}
    assert found.count() == 5  # in every table
    assert page.text_content("#found").startswith("system 17: ")
    at = page.evaluate("scrollY")
    page.press("#find", "Enter")
    until(opened, f"scrollY !== {at}")
    bring(opened, "epc")
    assert "17" in drawn(opened, "epc", "line")
    visible = "rows => rows.filter((row) => !row.hidden).map((row) => row.dataset.system)"
    assert page.locator("#table-leaderboard tbody tr").evaluate_all(visible) == ["17"]
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


def test_the_leaderboard_moves_sorts_and_pins(visit: Open, forty: Study, tmp_path: Path) -> None:
    opened = visit(write(tmp_path, forty), ready=READY)
    page, rows = opened.page, opened.page.locator("#table-leaderboard tbody tr")
    systems = "rows => rows.map((row) => Number(row.dataset.system))"
    for index in (3, 1):
        alpha(opened, index)
        order = np.argsort([curve.value[index] for curve in forty.curves], kind="stable").tolist()
        bring(opened, "dots")
        assert [int(one) for one in drawn(opened, "dots", "row")] == order[:8]
        assert rows.evaluate_all(systems) == order
        could = rows.evaluate_all("rows => rows.filter((row) => row.className.includes('could')).length")
        assert forty.standings is not None
        assert could == forty.standings[2][:, index].sum()
    page.click("#table-leaderboard thead th:has-text('EER') button")
    eers = [member.roc.eer for member in forty.members]
    shown = [eers[place] for place in rows.evaluate_all(systems)]
    assert np.diff(np.round(shown, 4)).min() >= 0
    page.click("#table-leaderboard thead th:has-text('EER') button")
    alpha(opened, 2)  # sorted it stays
    shown = [eers[place] for place in rows.evaluate_all(systems)]
    assert np.diff(np.round(shown, 4)).max() <= 0
    last = order[-1]
    page.check(f"#table-leaderboard tr[data-system='{last}'] input")
    bring(opened, "epc")
    assert str(last) in drawn(opened, "epc", "line")
    assert page.locator("#table-leaderboard svg[data-curve] path").count() == 80
    assert opened.console == opened.errors == []


@pytest.mark.parametrize("dark", [False, True])
def test_many_are_accessible_and_fit_a_phone(visit: Open, twelve: Study, tmp_path: Path, dark: bool) -> None:
    opened: Visit = visit(write(tmp_path, twelve), dark=dark, phone=not dark, ready=READY)
    assert opened.accessibility() == []
    assert opened.overflow() <= 0
