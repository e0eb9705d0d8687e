"""Sections: they appear where the data have them."""

from __future__ import annotations

import numpy as np
import pytest

import priori
import small_studies
from priori.report import render_html
from priori.report.attacked import attacked
from priori.report.sections import SECTIONS, Section, sections_of
from priori.report.settling import settling
from priori.scores.systems import SourceFile, System
from priori.studies.evaluation import Settings, make_study


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
    assert keys == []


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
    for static in (False, True):
        page = render_html(study, static=static)
        assert "Under attack" in page
        assert "&lt;A&gt;, omega 0.5" in page
        assert "<A>, omega" not in page
    assert attacked(small_studies.study(2.5, bootstrap=None)) is None
