"""Sections: they appear where the data have them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import priori
import small_studies
from priori.report import render_html
from priori.report.page import slider_words
from priori.report.sections import (
    SECTIONS,
    Section,
    calibration,
    card,
    errors,
    groups,
    limits,
    sections_of,
    settling,
    users,
)
from priori.report.sections import attacks as attacked
from priori.scores.systems import SourceFile, System
from priori.scores.trials import Names
from priori.studies.evaluation import Settings, make_study


def test_how_many_would_settle_it_is_the_plan() -> None:
    study = small_studies.study(2.0, 2.1, sizes={"users": 12})
    found = settling(study)
    assert found is not None
    curves = [priori.epc(curve.dev, curve.test, alpha=[0.5]) for curve in study.curves]
    assert study.pairs[0].expected is not None
    planned = priori.plan(difference=float(study.pairs[0].expected[study.at]), pilot=curves[0], pilot_b=curves[1])
    assert found["table"].rows[0] == ("This study", "12", "240", "120")
    # The study has its estimates from the draws for all alphas, so they differ in Monte Carlo noise.
    numbers = [int(text.replace(",", "")) for text in found["table"].rows[1][1:]]
    assert numbers == pytest.approx([planned.users, planned.negatives, planned.positives], rel=0.02)
    assert f"<td>{numbers[1]:,}</td>" in render_html(study)


def test_nothing_to_settle() -> None:
    assert settling(small_studies.study(2.5, bootstrap=None)) is None
    assert settling(small_studies.study(2.5, 0.5)) is None  # clear
    assert settling(small_studies.study(2.0, 2.1, bootstrap=None)) is None
    assert settling(small_studies.study(2.0, 2.1, measure="mcc")) is None


def test_a_new_section_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    added = Section("settling", "Another", lambda study: None)
    monkeypatch.setattr("priori.report.sections.SECTIONS", (*SECTIONS, added))
    keys = [section.key for section, _ in sections_of(small_studies.study(2.5, 0.5))]
    assert keys == ["limits", "errors"]


def test_who_makes_the_errors_is_user_rates_of_the_best_system() -> None:
    study = small_studies.study(2.0, 2.5, sizes={"users": 12})
    here = users(study)
    assert here is not None
    curve = study.curves[1]
    found = priori.user_rates(curve.test, float(curve.threshold[study.at]))
    worst = found.of_role("genuine", 10)
    table = here["tables"][0]
    assert (len(table.rows), table.rows[0][0]) == (10, str(worst["user"][0]))
    assert table.rows[0][2] == f"{100 * worst['shrunken'][0]:.2f} %"
    assert users(small_studies.study(2.0)) is None
    assert "Who makes the errors" in render_html(study)


def test_rates_by_group_appear_where_groups_are_known() -> None:
    (system,) = small_studies.systems(2.0, users=12)
    test = system.test.load()
    negative, positive = (
        replace(trials, group=(np.arange(len(trials)) % 2).astype(np.int32))
        for trials in (test.negative, test.positive)
    )
    grouped = replace(test, negative=negative, positive=positive, groups=Names(np.array(["f", "<m>"])))
    systems = [replace(system, test=grouped)]
    study = make_study(systems, Settings(n_resamples=200, points=21))
    here = groups(study)
    assert here is not None
    curve = study.curves[0]
    found = priori.group_rates(curve.test, float(curve.threshold[study.at]))
    assert here["table"].rows[0][:3] == ("f", "FAR", f"{100 * found.value[0]:.2f} %")
    report = card(study)
    assert report is not None
    rows = {row[0]: row for row in report["table"].rows}
    assert rows["negatives: f"][2] == f"{100 * found.value[0]:.2f} %"
    assert rows["negatives"][2] == f"{100 * curve.v1[study.at]:.2f} %"
    page = render_html(study)
    assert "Rates by group" in page
    assert "<m>" not in page
    assert "&lt;m&gt;" in page
    assert groups(small_studies.study(2.0)) is None


def test_the_limit_is_kept_on_the_development_set_and_told_on_the_test_set() -> None:
    study = small_studies.study(2.0, 1.0, bootstrap=None)
    found = limits(study)
    assert found is not None
    assert list(found["tables"]) == ["10.0 %", "1.0 %"]  # 240 negatives do not show a thousandth
    for limit, table in zip((0.1, 0.01), found["tables"].values(), strict=True):
        for member, row in zip(study.members, table.rows, strict=True):
            dev, test = member.curve.dev.load(), member.curve.test.load()
            threshold = priori.choose_threshold(dev, criterion="at-most-far", alpha=limit)
            allowed = sum(score > threshold for score in dev.negatives)
            tried = [*dev.negatives, *dev.positives]
            kept = [one for one in tried if sum(score > one for score in dev.negatives) <= limit * 240]
            missed = [sum(score <= one for score in dev.positives) for one in (threshold, min(kept))]
            assert allowed <= limit * 240
            assert missed[0] == missed[1]  # no other threshold that keeps the limit misses fewer
            assert row[0] == member.name
            assert sum(score > float(row[1]) for score in dev.negatives) == allowed
            assert row[2] == f"{100 * sum(score <= threshold for score in test.positives) / 120:.2f} %"
            assert row[4] == f"{100 * sum(score > threshold for score in test.negatives) / 240:.2f} %"
    few = small_studies.study(2.0, sizes={"negatives": 8, "positives": 8}, bootstrap=None, points=3)
    assert limits(few) is None


def test_attacks_are_shown_where_there_are_some() -> None:
    rng = np.random.default_rng(0)
    sets = [
        priori.Scores.from_arrays(rng.normal(0, 1, 200), rng.normal(3, 1, 100), attacks=rng.normal(1, 1, 60))
        for _ in "ab"
    ]
    files = [SourceFile(f"{part}.csv", "a" * 64) for part in ("dev", "test")]
    study = make_study([System("<A>", *sets, *files)], Settings(n_resamples=100, points=5), command="priori report")
    found = attacked(study)
    assert found is not None
    curve = priori.epsc(*sets, omega="0.5")
    row = next(row for row in found["shares"].rows if row[0] == "<A>, omega 0.5")
    assert row[2:6] == tuple(f"{100 * rate[0]:.2f} %" for rate in (curve.far, curve.frr, curve.iapmr, curve.value))
    curve_of_all, test = study.curves[0], sets[1]
    accepted = test.negative.score[test.attacks != ""] > curve_of_all.threshold[study.at]
    wrong = errors(study)
    assert wrong is not None
    titles = {table.title: len(table.rows) for table in wrong["tables"]}
    impostors = test.negative.score[test.attacks == ""] > curve_of_all.threshold[study.at]
    assert titles["Impostors that get in"] == min(impostors.sum(), 25)
    assert titles["Attacks that get in"] == min(accepted.sum(), 25)
    assert slider_words(study)["slider_ends"][1] == "avoid letting impostors and attacks in"
    report = card(study)
    assert report is not None
    assert report["table"].rows[-1][2] == f"{100 * accepted.mean():.2f} %"
    page = render_html(study)
    assert "Under attack" in page
    assert "&lt;A&gt;, omega 0.5" in page
    assert "<A>, omega" not in page
    assert attacked(small_studies.study(2.5, bootstrap=None)) is None


def test_calibration_where_thresholds_are_set_by_theory() -> None:
    assert calibration(small_studies.study(2.5, bootstrap=None)) is None
    study = small_studies.study(2.5, 1.0, bootstrap=None, criterion="bayes:logistic")
    found = calibration(study)
    assert found is not None
    costs = [priori.llr_costs(curve.dev, curve.test, calibrate="logistic") for curve in study.curves]
    first = min(costs, key=lambda each: float(each.value[0]))
    assert found["table"].rows[0][1:3] == (f"{first.value[0]:.3f}", f"{first.lower[0]:.3f} to {first.upper[0]:.3f}")
    page = render_html(study)
    assert f"<td>{first.value[0]:.3f}</td>" in page
    assert "on the development set (logistic)" in page


def test_the_trials_that_went_furthest_wrong_are_named() -> None:
    rng = np.random.default_rng(2)
    label = np.arange(200) % 2
    names = np.array([f"<trial {number}>" for number in range(200)])
    dev, test = (
        priori.Scores.from_predictions(label, rng.normal(1.5 * label), user=np.arange(200) % 9, trial=names)
        for _ in range(2)
    )
    study = make_study([System("A", dev, test)], Settings(bootstrap=None, points=5))
    here, threshold = errors(study), study.curves[0].threshold[study.at]
    assert here is not None
    missed, accepted = here["tables"]
    scores, ids = test.positive.score, test.positive.trial
    wrong = [ids[row] for row in np.argsort(scores) if scores[row] <= threshold][:25]
    assert [row[0] for row in missed.rows] == wrong
    assert missed.header == ("Trial", "User", "Score", "Wrong by")
    scores, ids = test.negative.score, test.negative.trial
    wrong = [ids[row] for row in np.argsort(-scores) if scores[row] > threshold][:25]
    assert [row[0] for row in accepted.rows] == wrong
    assert "<trial" not in render_html(study)
