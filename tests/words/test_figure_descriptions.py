"""Text alternatives: every figure of the page has one, and it names what the figure shows."""

from __future__ import annotations

import small_studies
from priori.report.figures import static_figures
from priori.words.figure_descriptions import describe_figures


def test_every_figure_is_described() -> None:
    study = small_studies.study(2.5, 1.6, points=5)
    described = describe_figures(study)
    assert set(described) == {*static_figures(study), "difference"}  # which is drawn below the curve
    assert f"A has an area of {study.members[0].auc:.3f}" in described["roc"]
    assert "HTER of A minus that of B" in described["difference"]
    assert "240 negatives around" in described["scores-1"]
    assert "with bands" in described["epc"]


def test_without_a_bootstrap_no_band_and_no_significance() -> None:
    described = describe_figures(small_studies.study(2.5, 1.6, points=5, bootstrap=None))
    assert "with bands" not in described["epc"]
    assert "significant" not in described["difference"]
    assert "difference" not in describe_figures(small_studies.study(2.5, points=5, bootstrap=None))
