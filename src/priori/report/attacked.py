"""Attacks: what the systems do where a share of the negatives are attacks, and which types get through."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from priori.curves.epsc import EPSC, OverBoth, epsc
from priori.plots.surfaces import plot_epsc
from priori.report.figures import drawn
from priori.report.tables import TextTable
from priori.scores import Scores, ScoreSet
from priori.studies.evaluation import Settings, Study
from priori.uncertainty.pad import PAD, pad
from priori.uncertainty.surface_bands import SurfaceBand
from priori.words.numbers import cell, short

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The shares of attacks that the table shows, and how many systems the page has room for.
OMEGAS, MOST_SYSTEMS = ("0", "0.25", "0.5", "0.75", "1"), 8


def attacked(study: Study) -> dict[str, Any] | None:
    """Return the EPSC of the systems whose sets have impostors and attacks, and the rates of every type of attacks."""
    members = [
        (number, short(member.name), curve.dev.load(), curve.test.load())
        for number, (member, curve) in enumerate(zip(study.members, study.curves, strict=True))
        if _has_attacks(curve.dev) and _has_attacks(curve.test)
    ][:MOST_SYSTEMS]
    if not members:
        return None
    settings = study.settings
    both = [each for each in members if all(scores.n_attacks < scores.n_negatives for scores in each[2:])]
    curves = [
        (number, epsc(dev, test, omega=OMEGAS, beta=settings.alpha, name=name)) for number, name, dev, test in both
    ]
    results: list[tuple[int, OverBoth]] = [
        (number, curve if settings.bootstrap is None else _band(curve, settings)) for number, curve in curves
    ]
    rates = [
        (number, pad(dev, test, apcer="0.05", criterion="wer", alpha=settings.alpha, name=name,
                     confidence_level=settings.confidence_level))
        for number, name, dev, test in members
    ]  # fmt: skip
    figure = drawn("epsc", lambda made: _draw(made, [result for _, result in results]), (7.0, 3.6)) if results else ""
    return {
        "figure": figure,
        "shares": _shares(curves, results) if results else None,
        "types": _types(rates),
        "unseen": sorted({kind for _, result in rates for kind in result.unseen}),
    }


def _has_attacks(scores: ScoreSet) -> bool:
    return isinstance(scores, Scores) and scores.n_attacks > 0


def _band(curve: EPSC, settings: Settings) -> SurfaceBand:
    """Return the band around a curve, the thresholds as they are."""
    chosen = None if settings.bootstrap == "auto" else settings.bootstrap
    return curve.band(bootstrap=chosen, n_resamples=settings.n_resamples, rng=settings.seed,
                      confidence_level=settings.confidence_level, threads=settings.threads)  # fmt: skip


def _draw(figure: Figure, results: Sequence[OverBoth]) -> None:
    plot_epsc(results, ax=figure.add_subplot())


def _shares(curves: list[tuple[int, EPSC]], results: Sequence[tuple[int, OverBoth]]) -> TextTable:
    rows, systems = [], []
    for (number, curve), (_, result) in zip(curves, results, strict=True):
        columns = result.columns()
        for row, omega in enumerate(curve.omega):
            between = f"{cell(columns['lower'][row])} to {cell(columns['upper'][row])}" if "lower" in columns else "–"
            rates = (curve.far, curve.frr, curve.iapmr, curve.value)
            rows.append((f"{curve.name}, omega {omega:g}", f"{curve.threshold[row]:.4g}",
                         *(cell(rate[row]) for rate in rates), between))  # fmt: skip
            systems.append(number)
    header = ("System and share of attacks", "Threshold", "FAR", "FRR", "IAPMR", "HTER_omega", "Interval")
    return TextTable("epsc", "Error rates by the share of attacks", header, tuple(rows), systems=tuple(systems))


def _types(rates: list[tuple[int, PAD]]) -> TextTable:
    rows, systems = [], []
    names = {"apcer": "APCER", "apcer-max": "largest APCER", "bpcer": "BPCER", "acer": "ACER"}
    for number, result in rates:
        shown = result.point == result.point[0]
        for measure, attack, rate, lower, upper in zip(
            *(getattr(result, name)[shown] for name in ("measure", "attack", "rate", "lower", "upper")), strict=True
        ):
            rows.append((result.name, names[measure], short(attack), cell(rate), f"{cell(lower)} to {cell(upper)}"))
            systems.append(number)
    header = ("System", "Rate", "Type of attack", "Value", "Interval")
    return TextTable("attack-types", "Attacks accepted, by type", header, tuple(rows), words=(1, 2),
                     systems=tuple(systems))  # fmt: skip
