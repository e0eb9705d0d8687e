"""What is asked of tables that do not fit in memory: the same numbers as in memory, or within a stated bound."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import priori
from priori import InputError, OptionError, Scores, Table
from priori.engines.parquet_files import Files
from priori.report import Settings, System, make_study
from priori.report.page import render_html
from priori.report.sections import calibration
from priori.scores import BOUND, condense
from priori.studies.sizes import design_effect
from priori.uncertainty.comparing.ztests import ztests_along

TRIALS, PEOPLE = 6000, 24
#: Too little for the trials, enough for counts in bins by user.
MEMORY = 500_000
COLUMNS = {"group": "sex"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three systems on the same trials of people who claim to be each other, in files."""
    path = tmp_path_factory.mktemp("tables")
    for number, role in enumerate(("dev", "test")):
        rng = np.random.default_rng(number)
        claimed = rng.integers(0, PEOPLE, TRIALS)
        real = np.where(rng.random(TRIALS) < 0.3, claimed, rng.integers(0, PEOPLE, TRIALS))
        label = (claimed == real).astype(int)
        score = rng.normal(0, 1, TRIALS) + 1.5 * label + rng.normal(0, 0.3, PEOPLE)[claimed]
        table = pd.DataFrame(
            {
                "score": score,
                "label": label,
                "user": [f"u{c:02}" for c in claimed],
                "probe_user": [f"u{r:02}" for r in real],
                "trial": [f"t{t}" for t in range(TRIALS)],
                "sex": np.where(claimed % 2, "f", "m"),
                "dataset": np.where(claimed % 3, "x", "y"),
            }
        )
        table.to_parquet(path / f"a-{role}.parquet")
        for name, share in (("b", 0.7), ("c", 0.65)):
            table.assign(score=share * score + rng.normal(0, 0.8, TRIALS)).to_parquet(path / f"{name}-{role}.parquet")
    return path


def small(path: Path, memory: int) -> Table:
    """Open a file in less memory than people may give."""
    table = priori.scan(path, engine="duckdb", columns=COLUMNS)
    assert isinstance(table, Table)
    return Table(table.engine, memory=memory)


Reader = Callable[[str], Any]


@pytest.fixture
def read(folder: Path) -> Reader:
    return lambda name: priori.read(folder / f"{name}.parquet", columns=COLUMNS)


@pytest.fixture
def scan(folder: Path) -> Reader:
    def open_table(name: str) -> Table:
        table = small(folder / f"{name}.parquet", MEMORY)
        with pytest.raises(OptionError, match="needs all 6000 trials in memory"):
            table.load()
        return table

    return open_table


def test_rates_of_people_and_groups_are_those_of_memory(read: Reader, scan: Reader) -> None:
    for open_set in (read, scan):
        assert priori.rate_interval(open_set("a-test"), 1.0).dependence == "crossed"
    for ask in (
        lambda scores: priori.rate_interval(scores, 1.0, rate="frr"),
        lambda scores: priori.rate_interval(scores, 1.0, dependence="user"),
        lambda scores: priori.group_rates(scores, 1.0),
    ):
        found, expected = ask(scan("a-test")), ask(read("a-test"))
        assert found.warnings == expected.warnings
        for name, column in expected.columns().items():
            if column.dtype.kind == "f":
                np.testing.assert_allclose(found.columns()[name], column, rtol=1e-9)
            else:
                assert found.columns()[name].tolist() == column.tolist()
    found, expected = (design_effect(each("a-test"), 1.0) for each in (scan, read))
    assert found.negatives.design_effect == pytest.approx(expected.negatives.design_effect, rel=1e-9)


def test_users_are_told_apart_as_in_memory(read: Reader, scan: Reader) -> None:
    found, expected = (priori.user_rates(each("a-test"), 1.0) for each in (scan, read))
    for name in ("user", "role", "errors", "trials", "lower", "above", "roles", "warnings"):
        assert list(getattr(found, name)) == list(getattr(expected, name))


def test_a_crossed_band_is_the_one_of_memory(read: Reader, scan: Reader) -> None:
    bands = []
    for open_set in (scan, read):
        curve = priori.epc(open_set("a-dev"), open_set("a-test"), alpha=[0.2, 0.5])
        bands.append(curve.band(bootstrap="crossed", n_resamples=100))
    assert bands[0].lower.tolist() == bands[1].lower.tolist()
    assert bands[0].upper.tolist() == bands[1].upper.tolist()


def curves_of(each: Reader, names: str = "ab", alpha: Any = (0.2, 0.5)) -> list[priori.EPC]:
    return [priori.epc(each(f"{name}-dev"), each(f"{name}-test"), alpha=alpha, name=name) for name in names]


def test_a_crossed_comparison_is_the_one_of_memory(read: Reader, scan: Reader) -> None:
    compared = [
        priori.compare(*curves_of(each), claim="deployed", bootstrap="crossed", n_resamples=100)
        for each in (scan, read)
    ]
    np.testing.assert_array_equal(compared[0].replicates, compared[1].replicates)
    for name in ("lower", "upper", "p_value"):
        np.testing.assert_allclose(getattr(compared[0], name), getattr(compared[1], name), rtol=1e-9)


@pytest.mark.parametrize("bootstrap", ["sample", "crossed", "joint"])
def test_three_systems_are_joined_and_drawn_as_in_memory(read: Reader, scan: Reader, bootstrap: str) -> None:
    found, expected = (
        priori.compare_all(curves_of(each, "abc"), claim="deployed", bootstrap=bootstrap, n_resamples=100, keep=True)
        for each in (scan, read)
    )
    np.testing.assert_array_equal(found.replicates, expected.replicates)
    for name in ("lower", "upper", "p_value"):
        np.testing.assert_allclose(getattr(found.pointwise, name), getattr(expected.pointwise, name), rtol=1e-9)


def test_of_three_systems_the_one_with_other_trials_is_named(scan: Reader, folder: Path) -> None:
    pd.read_parquet(folder / "c-test.parquet").assign(trial=lambda table: "x" + table.trial).to_parquet(
        folder / "other-test.parquet"
    )
    curves = curves_of(scan, "ab")
    curves.append(priori.epc(scan("c-dev"), scan("other-test"), alpha=[0.2, 0.5], name="c"))
    with pytest.raises(InputError, match=r"other-test.parquet has 6000, and 0 ids are in both"):
        priori.compare_all(curves, claim="deployed", bootstrap="sample")


def test_paired_z_tests_are_those_of_memory(read: Reader, scan: Reader) -> None:
    found, expected = (ztests_along(*curves_of(each, alpha=[0.1, 0.5])) for each in (scan, read))
    for name, test in expected.items():
        np.testing.assert_array_equal(found[name].confidence, test.confidence)
    found, expected = (priori.ztest_scores(each("a-test"), 1.0, each("b-test"), 0.8) for each in (scan, read))
    assert found.sentence == expected.sentence
    assert found.comparison == expected.comparison


def test_too_many_combinations_of_systems_are_an_error_with_the_way_out(folder: Path) -> None:
    sets = {
        f"{name}-{role}": small(folder / f"{name}-{role}.parquet", 20_000) for name in "abc" for role in ("dev", "test")
    }
    curves = curves_of(lambda name: sets[name], "abc", np.linspace(0.1, 0.9, 31))
    with pytest.raises(OptionError, match=r"more than 312 combinations .* raise memory, or compare fewer systems"):
        priori.compare_all(curves, claim="deployed", bootstrap="sample")


def test_new_thresholds_by_both_identities_need_all_trials_in_memory(scan: Reader, folder: Path) -> None:
    sets = {f"a-{role}": small(folder / f"a-{role}.parquet", 60_000) for role in ("dev", "test")}
    (curve,) = curves_of(lambda name: sets[name], "a", [0.5])
    with pytest.raises(OptionError, match="read the trials into memory"):
        curve.band(resample="both", bootstrap="crossed")
    curves = curves_of(scan, alpha=[0.5])
    by_user = priori.compare(*curves, n_resamples=100)
    assert by_user.settings["bootstrap"] == "user"
    assert "probes-left-out" in {caution.code for caution in by_user.warnings}


def test_a_plan_from_two_pilots_allows_for_both_identities(read: Reader, scan: Reader, folder: Path) -> None:
    def fitting(name: str) -> Any:
        return priori.scan(folder / f"{name}.parquet", engine="duckdb", columns=COLUMNS)

    plans = {}
    for how, each in (("memory", read), ("fits", fitting), ("scan", scan)):
        pilots = [priori.epc(each(f"{name}-dev"), each(f"{name}-test"), alpha=[0.5]) for name in "ab"]
        for claim in ("deployed", "method"):
            plans[how, claim] = priori.plan(difference=0.02, pilot=pilots[0], pilot_b=pilots[1], claim=claim)
    expected = plans["memory", "method"]
    assert plans["scan", "deployed"].users == plans["memory", "deployed"].users
    assert plans["scan", "deployed"].sd == pytest.approx(plans["memory", "deployed"].sd, rel=1e-9)
    assert plans["fits", "method"].users == expected.users
    said = {caution.code for caution in plans["scan", "method"].warnings}
    assert said - {caution.code for caution in expected.warnings} == {"resampled-in-bins", "probes-left-out"}
    assert plans["scan", "method"].users != expected.users


def test_areas_and_whole_curves_are_off_by_little(read: Reader, scan: Reader) -> None:
    one_trial = 1 / read("a-test").n_positives + 1e-12
    found, expected = (priori.areas(each("a-dev"), each("a-test")) for each in (scan, read))
    for name in ("e_v1", "e_v2", "g", "post_e_v1", "post_e_v2", "post_g"):
        assert abs(getattr(found, name) - getattr(expected, name)) <= one_trial
    found, expected = (priori.roc(each("a-test"), points="all") for each in (scan, read))
    assert np.diff(-found.fpr).max() <= one_trial
    assert np.diff(-found.tpr).max() <= one_trial
    points = set(zip(expected.fpr.tolist(), expected.tpr.tolist(), strict=True))
    assert points.issuperset(zip(found.fpr.tolist(), found.tpr.tolist(), strict=True))
    for ask in (priori.average_precision, lambda scores: priori.a_posteriori_partial_auc(scores, (0, 0.1))):
        assert ask(scan("a-test")) == pytest.approx(ask(read("a-test")), abs=one_trial)
    assert priori.a_posteriori_auc(scan("a-test")) == priori.a_posteriori_auc(read("a-test"))


def test_an_exact_curve_of_targets_has_its_area_within_a_trial(read: Reader, scan: Reader) -> None:
    found, expected = (
        priori.epc(each("a-dev"), each("a-test"), criterion="target-v1", exact=True) for each in (scan, read)
    )
    assert found.area == pytest.approx(expected.area, abs=1 / read("a-test").n_positives)


def test_log_likelihood_ratios_cost_what_they_do_in_memory(read: Reader, scan: Reader) -> None:
    assert priori.cllr(scan("a-test")) == pytest.approx(priori.cllr(read("a-test")), abs=1e-5)
    assert priori.a_posteriori_min_cllr(scan("a-test")) == priori.a_posteriori_min_cllr(read("a-test"))
    for rule, tolerance in (("bayes:isotonic", 0.0), ("bayes:logistic", 1e-5)):
        found, expected = (
            priori.epc(each("a-dev"), each("a-test"), criterion=rule, alpha=[0.1, 0.5]) for each in (scan, read)
        )
        np.testing.assert_allclose(found.threshold, expected.threshold, atol=tolerance)
    costs = []
    for each in (scan, read):
        systems = [
            priori.llr_costs(each(f"{name}-dev"), each(f"{name}-test"), calibrate="logistic", dependence="user")
            for name in "ab"
        ]
        costs.append((systems[0], priori.compare_llr_costs(*systems)))
    (found, test), (expected, expected_test) = costs
    np.testing.assert_allclose(found.value, expected.value, atol=0.01)
    np.testing.assert_allclose(found.sd[:2], expected.sd[:2], rtol=0.05)
    np.testing.assert_allclose(test.difference[0], expected_test.difference[0], atol=1e-3)
    np.testing.assert_allclose(test.sd[0], expected_test.sd[0], rtol=0.02)


def test_intervals_of_the_auc_allow_for_users_of_a_table(read: Reader, scan: Reader) -> None:
    found, expected = (priori.a_posteriori_auc_interval(each("a-test"), dependence="user") for each in (scan, read))
    assert found.auc == expected.auc
    assert found.sd == pytest.approx(expected.sd, rel=0.02)
    found, expected = (
        priori.a_posteriori_auc_test(each("a-test"), each("b-test"), dependence="user") for each in (scan, read)
    )
    assert found.difference == expected.difference
    assert found.sd == pytest.approx(expected.sd, rel=0.02)
    with pytest.raises(OptionError, match="paired by their users only"):
        priori.a_posteriori_auc_test(scan("a-test"), scan("b-test"), dependence="none")


def pooled(curve: priori.AverageCurve) -> Any:
    """Return the height of a curve whose points are where its thresholds happen to be."""
    return np.interp([0.1, 0.3, 0.5], curve.fpr, curve.tpr)


def test_curves_by_group_averages_and_folds_come_from_counts_in_bins(read: Reader, scan: Reader) -> None:
    for ask in (
        lambda each: priori.epc_by(each("a-dev"), each("a-test"), by="group", alpha=[0.2, 0.5]).value,
        lambda each: priori.epc_by(each("a-dev"), each("a-test"), by="dataset", criterion="eer", alpha=[0.5]).value,
        lambda each: priori.average_epc(each("a-dev"), each("a-test"), alpha=[0.2, 0.5]).value,
        lambda each: priori.average([each("a-test"), each("b-test")], positions=11).tpr[2:],
        lambda each: pooled(priori.average([each("a-test"), each("b-test")], method="pooled")),
        lambda each: priori.cross_epc(each("a-test"), folds=3, alpha=[0.2, 0.5]).value,
        lambda each: priori.epc(each("a-dev"), each("a-test"), alpha=[0.5], weight="user").value,
    ):
        np.testing.assert_allclose(ask(scan), ask(read), atol=0.01)


def test_a_roc_band_is_drawn_from_bins(read: Reader, scan: Reader) -> None:
    found, expected = (
        priori.roc(each("a-test"), points=11).band(fpr=[0.1, 0.5], n_resamples=200) for each in (scan, read)
    )
    apart = 2 * max(BOUND, 1 / read("a-test").n_positives)  # of a small class a bin may hold one trial
    for name in ("tpr", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=apart)
    found, expected = (
        priori.precision_band(each("a-test"), recall=[0.5, 0.9], n_resamples=200) for each in (scan, read)
    )
    for name in ("precision", "lower", "upper"):
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), atol=apart)


def test_the_page_of_a_table_takes_fewer_than_30_scans(
    read: Reader, scan: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans = Counter[str]()

    def counting(asked: Any) -> Any:
        def counted(self: Files, text: str, **options: Any) -> Any:
            if " trials" in text and "LIMIT" not in text:  # else it asks a small table, or looks at a few rows
                scans[self.watch.shown] += 1
            return asked(self, text, **options)

        return counted

    monkeypatch.setattr(Files, "query", counting(Files.query))
    settings = Settings(points=3, n_resamples=100, bootstrap="user")
    tables = scan("a-dev"), scan("a-test")
    study = make_study([System("A", *tables)], settings)
    page = render_html(study)
    assert 10 < sum(scans.values()) < 30, scans
    expected = make_study([System("A", read("a-dev"), read("a-test"))], settings)
    (found,), (member,) = study.members, expected.members
    assert found.curve.value.tolist() == member.curve.value.tolist()
    assert found.area == pytest.approx(member.area, abs=1e-4)
    assert found.roc.auc == pytest.approx(member.roc.auc, abs=1e-4)
    assert found.histogram.positives.sum() == member.histogram.positives.sum()
    whole = render_html(expected)
    for title in ("With a limit on one rate", "Rates by group", "Who makes the errors", "Histogram of the test scores"):
        assert title in page
        assert title in whole
    for table in ("limit-0-01", "groups", "users-genuine", "users-impostor"):
        assert _rows(page, table) == _rows(whole, table)


def test_the_page_of_three_tables_ranks_them(read: Reader, scan: Reader) -> None:
    boards = {}
    for bootstrap in ("user", "joint"):
        settings = Settings(points=3, n_resamples=100, bootstrap=bootstrap, claim="deployed")
        for each in (scan, read):
            systems = [System(name, each(f"{name}-dev"), each(f"{name}-test")) for name in "abc"]
            boards[bootstrap, each] = make_study(systems, settings).board
    found, expected = boards["user", scan], boards["user", read]
    assert boards["joint", scan] is None  # counts by user do not tell single trials
    assert found is not None
    assert expected is not None
    for name in ("system", "rank", "post_rank", "post_value"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()


def _rows(page: str, table: str) -> list[str]:
    """Return the cells of a table of the page."""
    (found,) = re.findall(rf'<table[^>]*id="table-{table}".*?</table>', page, re.DOTALL)
    return [re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[dh].*?</t[dh]>", found, re.DOTALL)]


def test_the_page_of_a_table_has_its_calibration(read: Reader, scan: Reader) -> None:
    settings = Settings(points=3, bootstrap=None, criterion="bayes:logistic")
    rows = []
    for each in (scan, read):
        shown = calibration(make_study([System("A", each("a-dev"), each("a-test"))], settings))
        assert shown is not None
        rows.append(shown["table"].rows[0])
    assert [float(cell) for cell in rows[0][1::2]] == pytest.approx([float(cell) for cell in rows[1][1::2]], abs=0.01)


def test_counts_of_several_trials_are_candidates_and_pairs_as_trials_are() -> None:
    rng = np.random.default_rng(3)
    score = np.append(rng.integers(0, 9, 200), [-np.inf, np.inf, -np.inf])
    label = np.append(rng.integers(0, 2, 200), [0, 1, 1])
    trials = Scores.from_predictions(label, score)
    classes = []
    for own in (trials.negative, trials.positive):
        values, number = np.unique(own.score, return_counts=True)
        classes.append(priori.scores.Trials(values, number=number))
    counted = Scores(classes[0], classes[1])
    assert counted.pairs_in_order() == trials.pairs_in_order()
    for found, expected in zip(counted.candidates().every(), trials.candidates().every(), strict=True):
        assert found.tolist() == expected.tolist()
    ranks = np.arange(trials.n_positives)
    assert counted.positive.at_rank(ranks).tolist() == trials.positive.at_rank(ranks).tolist()


def test_too_many_combinations_are_an_error_with_the_way_out(folder: Path) -> None:
    table = small(folder / "a-test.parquet", 1000)
    with pytest.raises(OptionError, match=r"more than 15 combinations of names .* raise memory"):
        condense(table, ("user", "group"), cuts=[1.0])
    found, (caution,) = condense(small(folder / "a-test.parquet", 20_000), ("user", "probe_user"), cuts=[1.0])
    assert caution.code == "probes-left-out"
    assert not found.has_identities
    assert found.n_users == PEOPLE


def test_entries_of_one_score_have_exactly_that_score(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    score = rng.choice([0.1, 0.3, 0.7, 1.1, np.inf], 20_000)  # sums of these are rounded
    table = pd.DataFrame(
        {"score": score, "label": rng.integers(0, 2, 20_000), "user": rng.integers(0, 7, 20_000), "sex": "f"}
    )
    (tmp_path / "many").mkdir()
    for part in range(3):  # read side by side
        table[part::3].to_parquet(tmp_path / "many" / f"{part}.parquet")
    found, _ = condense(small(tmp_path / "many", MEMORY), ("user",), cuts=[0.3, 0.5], narrow=BOUND)
    for trials, label in ((found.negative, 0), (found.positive, 1)):
        assert np.unique(trials.score).tolist() == [0.1, 0.3, 0.7, 1.1, np.inf]
        own = table[table.label == label]
        for value in (0.1, 0.3, 0.7, 1.1):
            counted = np.bincount(trials.user[trials.score == value], trials.number[trials.score == value])  # type: ignore[index]
            assert counted.tolist() == own.user[own.score == value].value_counts().sort_index().tolist()
