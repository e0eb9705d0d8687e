"""Sections: they appear where the data have them."""

from __future__ import annotations

import pytest

import priori
import small_studies
from priori.report import render_html
from priori.report.calibration import calibration
from priori.report.limits import limits, strictest
from priori.report.sections import SECTIONS, Section, sections_of
from priori.report.settling import settling


def test_how_many_would_settle_it_is_the_plan() -> None:
    study = small_studies.study(2.0, 2.1, sizes={"users": 12})
    found = settling(study)
    assert found is not None
    curves = [priori.epc(curve.dev, curve.test, alpha=[0.5]) for curve in study.curves]
    assert study.pairs[0].expected is not None
    planned = priori.plan(difference=float(study.pairs[0].expected[study.at]), pilot=curves[0], pilot_b=curves[1])
    assert found["table"].rows[0] == ("This study", "12", "240", "120")
    assert found["table"].rows[1][1:] == (f"{planned.users:,}", f"{planned.negatives:,}", f"{planned.positives:,}")
    for static in (False, True):
        assert f"<td>{planned.negatives:,}</td>" in render_html(study, static=static)


def test_nothing_to_settle() -> None:
    assert settling(small_studies.study(2.5, bootstrap=None)) is None
    assert settling(small_studies.study(2.5, 0.5)) is None  # clear
    assert settling(small_studies.study(2.0, 2.1, bootstrap=None)) is None
    assert settling(small_studies.study(2.0, 2.1, measure="mcc")) is None


def test_a_new_section_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    added = Section("settling", "Another", "sections/settling.html", lambda study: None)
    monkeypatch.setattr("priori.report.sections.SECTIONS", (*SECTIONS, added))
    keys = [section.key for section, _ in sections_of(small_studies.study(2.5, 0.5))]
    assert keys == ["limits"]


def test_the_limit_is_kept_on_the_development_set_and_told_on_the_test_set() -> None:
    study = small_studies.study(2.0, 1.0, bootstrap=None)
    found = limits(study)
    assert found is not None
    assert list(found["tables"]) == ["10.0 %", "1.0 %"]  # 240 negatives do not show a thousandth
    for limit, table in zip((0.1, 0.01), found["tables"].values(), strict=True):
        for member, row in zip(study.members, table.rows, strict=True):
            threshold = strictest(member, limit)
            dev, test = member.curve.dev.load(), member.curve.test.load()
            allowed = sum(score > threshold for score in dev.negatives)
            assert allowed <= limit * 240 < sum(score >= threshold for score in dev.negatives)
            assert row[0] == member.name
            assert sum(score > float(row[1]) for score in dev.negatives) == allowed
            assert row[2] == f"{100 * sum(score <= threshold for score in test.positives) / 120:.2f} %"
            assert row[4] == f"{100 * sum(score > threshold for score in test.negatives) / 240:.2f} %"
    few = small_studies.study(2.0, sizes={"negatives": 8, "positives": 8}, bootstrap=None, points=3)
    assert limits(few) is None


def test_calibration_where_thresholds_are_set_by_theory() -> None:
    assert calibration(small_studies.study(2.5, bootstrap=None)) is None
    study = small_studies.study(2.5, 1.0, bootstrap=None, criterion="bayes:logistic")
    found = calibration(study)
    assert found is not None
    costs = [priori.llr_costs(curve.dev, curve.test, calibrate="logistic") for curve in study.curves]
    first = min(costs, key=lambda each: float(each.value[0]))
    assert found["table"].rows[0][1:3] == (f"{first.value[0]:.3f}", f"{first.lower[0]:.3f} to {first.upper[0]:.3f}")
    for static in (False, True):
        page = render_html(study, static=static)
        assert f"<td>{first.value[0]:.3f}</td>" in page
        assert "on the development set (logistic)" in page
