"""Text alternatives: every figure of the page has one, and it names what the figure shows."""

from __future__ import annotations

import re

import small_studies
from priori.report.page import render_html
from priori.words.figure_descriptions import describe_figures


def test_every_figure_is_described() -> None:
    study = small_studies.study(2.5, 1.6, points=5, sizes={"users": 12})
    described = describe_figures(study)
    assert set(described) == set(re.findall(r'id="plot-([\w-]+)"', render_html(study)))
    assert "users" in described
    assert f"A has an area of {study.members[0].roc.auc:.3f}" in described["roc"]
    assert "HTER of A minus that of B" in described["epc"]
    assert "240 negatives around" in described["scores-1"]
    assert "with bands" in described["epc"]


def test_without_a_bootstrap_no_band_and_no_significance() -> None:
    described = describe_figures(small_studies.study(2.5, 1.6, points=5, bootstrap=None))["epc"]
    assert "minus" in described
    assert "with bands" not in described
    assert "significant" not in described
    assert "minus" not in describe_figures(small_studies.study(2.5, points=5, bootstrap=None))["epc"]
