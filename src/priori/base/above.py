"""What results can do that only a higher floor knows how: bands, figures, sentences; named here, found when asked."""

from __future__ import annotations

from importlib import import_module
from typing import Any, TypeVar

Answer = TypeVar("Answer")

#: The function behind a method of a class, and of its subclasses that name none of their own.
ABOVE: dict[str, str] = {
    "EPC.band": "priori.uncertainty.bands:band",
    "EPSC.band": "priori.uncertainty.surface_bands:surface_band",
    "AposterioriROC.band": "priori.uncertainty.roc_bands:roc_band",
    "EPC.plot": "priori.plots.curves:plot_epc",
    "Band.plot": "priori.plots.curves:plot_epc",
    "AposterioriROC.plot": "priori.plots.curves:plot_roc",
    "AposterioriDET.plot": "priori.plots.curves:plot_det",
    "OverBoth.plot": "priori.plots.surfaces:plot_epsc",
    "AverageCurve.plot": "priori.plots.average:plot_average",
    "AverageEPC.plot": "priori.plots.average:plot_average_epc",
    "Comparison.plot": "priori.plots.comparison:plot_comparison",
    "ZTestCurve.plot": "priori.plots.comparison:plot_confidence",
    "Leaderboard.plot": "priori.plots.leaderboard:plot_slopes",
    "GroupRates.plot": "priori.plots.people:plot_groups",
    "UserRates.plot": "priori.plots.people:plot_zoo",
    "Coverage.plot": "priori.plots.coverage:plot_coverage",
    "ZTest.sentence": "priori.words.sentences:ztest_verdict",
}


def above(result: object, method: str, *arguments: Any, **options: Any) -> Answer:  # type: ignore[type-var]
    """Call the function behind a method of a result; what it answers is what the method says."""
    names = (f"{kind.__name__}.{method}" for kind in type(result).__mro__)
    module, _, function = next(ABOVE[name] for name in names if name in ABOVE).partition(":")
    answer: Answer = getattr(import_module(module), function)(*arguments, **options)
    return answer
