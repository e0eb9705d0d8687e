"""Calibration: what scores cost as log-likelihood ratios, where thresholds are set by theory."""

from __future__ import annotations

from typing import Any

from priori.decisions.likelihood_ratios import Bayes
from priori.report.tables import TextTable
from priori.studies.evaluation import Study
from priori.uncertainty.likelihood_ratio_costs import CLLR, llr_costs
from priori.words.numbers import level_text, short


def calibration(study: Study) -> dict[str, Any] | None:
    """Return a table of Cllr, its minimum and the loss between; None unless the criterion sets thresholds by theory."""
    curves = study.curves
    rule = curves[0].criterion
    if not isinstance(rule, Bayes):
        return None
    level, rows = study.settings.confidence_level, []
    for curve in curves:
        costs = llr_costs(curve.dev, curve.test, calibrate=rule.calibrator, confidence_level=level)
        cells = []
        for row in range(len(CLLR)):
            cells += [f"{costs.value[row]:.3f}", f"{costs.lower[row]:.3f} to {costs.upper[row]:.3f}"]
        rows.append((float(costs.value[0]), (short(curve.name), *cells)))
    rows.sort(key=lambda row: row[0])
    interval = level_text(level)
    header = ("System", "Cllr", interval, "Minimum", interval, "Loss", interval)
    note = (
        "In bits: 0 is perfect, 1 is what knowing nothing costs. The minimum, of the best rising map of the same "
        "scores, is a posteriori; its interval and that of the loss allow for the fit to the test set."
    )
    table = TextTable("calibration", "Costs as log-likelihood ratios", header, tuple(cells for _, cells in rows), note)
    return {"table": table, "method": rule.calibrator.name}
