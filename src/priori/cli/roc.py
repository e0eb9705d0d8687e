"""``priori roc``, ``priori det``: ROC and DET curves of test scores, a posteriori."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import click
import numpy as np

import priori
from priori.base.cautions import said_of
from priori.base.errors import OptionError
from priori.base.texts import cell as percent
from priori.cli.commands import Judging, judging, make_command, output_group, resampling_options
from priori.cli.options import option, options
from priori.cli.output import Output, Progress, table_of, table_text, warn
from priori.cli.systems import SYSTEMS, Systems
from priori.curves.roc import Axis, measures_of

if TYPE_CHECKING:
    from priori.uncertainty.bootstrap.resampling import Resampling


def curve_command(name: Literal["roc", "det"]) -> click.Command:
    """Make the command for one kind of curve."""

    help = f"""Print the {name.upper()} curve of each set of scores, a posteriori.

    Its thresholds are chosen on the same scores, so it is for analysis only. To compare systems, or to estimate
    expected performance, use 'priori epc'. With --system the curve is that of the test scores, and the a priori points
    are printed and marked on it: thresholds chosen on the development scores. With --bootstrap the csv has the curve at
    101 false positive rates (none below one of all negatives), with the bounds lower and upper.

    \b
    Examples:
      priori {name} --scores A a-test.csv --scores B b-test.csv --plot {name}.svg
      priori {name} --scores A a-test.csv --format csv
      priori {name} --system A a-dev.csv a-test.csv --criterion at-most-far --alpha 0.01 --plot {name}.svg
      priori {name} --scores A a-test.csv --bootstrap auto --plot {name}.svg
    """

    @make_command(
        name,
        SYSTEMS,
        judging(measure=False),
        *options("axes log" if name == "roc" else ""),
        option(
            "points",
            written="--points thin|all|hull|N",
            default="thin",
            help="Enough points for a drawing, all points, the convex hull, or those nearest to N false positive "
            "rates; the last two do not need all scores in memory.",
        ),
        *resampling_options(None),
        output_group(plot="Draw the curves"),
        help=help,
    )
    def command(
        systems: Systems,
        judging: Judging,
        points: str,
        resampling: Resampling | None,
        threads: int | None,
        output: Output,
        options: dict[str, Any],
    ) -> None:
        if not systems:
            raise OptionError("give at least one set of scores, --scores NAME FILE, or systems, --system NAME DEV TEST")
        by_cost = judging.costs is not None
        view = View(**options, prior=None if by_cost else judging.prior)
        which = "all" if view.precision and points == "thin" else int(points) if points.isdecimal() else points
        fixed = []
        if not systems.undivided:
            fixed = systems.curves(
                replace(judging, measure="hter", prior=judging.prior if by_cost else None).at_alpha()
            )
        sets = [(point.name, point.test) for point in fixed]
        sets = sets or [(system.name, system.test) for system in systems.read(whole=True)]
        curves = [getattr(priori, name)(read, points=which, name=label) for label, read in sets]
        bands = [_band(curve, name, resampling, threads) for curve in curves] if resampling is not None else []
        if bands and view.precision:
            raise OptionError("recall and precision have no band; leave out --bootstrap")
        output.finish(
            curves,
            table=lambda: _summary(name, curves) + _fixed_table(fixed, view),
            csv=lambda: _columns(curves, bands, view),
            json=lambda: {"kind": f"{name}, a posteriori", "systems": _systems(curves, bands, fixed, view)},
            figure=lambda plots: getattr(plots, f"plot_{name}")(
                curves, bands=bands, operating_points=fixed, **view.drawn(name)
            ),
        )

    return command


@dataclass(frozen=True)
class View:
    """What a curve is shown in: which rates, on which scale."""

    axes: Axis | None = None
    log: bool = False
    prior: str | None = None

    def __post_init__(self) -> None:
        if self.prior is not None and not self.precision:
            raise OptionError("--prior is for --costs, or for --axes recall-precision")
        if self.log and self.precision:
            raise OptionError("recall and precision have no logarithmic axes; leave out --log")

    @property
    def precision(self) -> bool:
        """Whether the curve is one of recall and precision."""
        return self.axes == "recall-precision"

    def drawn(self, name: str) -> dict[str, Any]:
        """Return what the figure is told."""
        return {"axes": self.axes, "log": self.log, "prior": self.prior} if name == "roc" else {}

    def columns(self, curve: Any) -> dict[str, Any]:
        """Return the columns of a curve."""
        if self.axes in (None, "far-tpr"):
            return dict(curve.columns())
        return dict(curve.rates(self.axes, prior=self.prior))

    def points(self, fixed: priori.EPC) -> dict[str, Any]:
        """Return the a priori points of a system."""
        x, y = measures_of(self.axes or "far-frr", self.prior)
        rates = {x.name: x(fixed.outcomes), y.name.partition(":")[0]: y(fixed.outcomes)}
        return {"alpha": fixed.alpha, "threshold": fixed.threshold, **rates}


def _band(curve: Any, name: str, resampling: Resampling, threads: int | None) -> dict[str, Any]:
    """Return the columns of the band around one curve."""
    from priori.uncertainty.bands.roc_bands import roc_band

    if resampling.resample != "test" or resampling.promise != "confidence":
        raise OptionError(
            "a posteriori curves have no development set and no prediction: leave out --resample, --promise"
        )
    rates = None
    if name == "det":
        from scipy.special import ndtr, ndtri

        # Evenly spaced where the axes are: on the normal-deviate scale, from one false acceptance on.
        first = max(1 / curve.scores.n_negatives, 1e-6)
        rates = np.maximum(ndtr(np.linspace(ndtri(first), ndtri(0.99), 101)).round(9), first)
    with Progress(f"bootstrap of {curve.name}") as progress:
        names = ("bootstrap", "n_resamples", "confidence_level", "interval", "simultaneous", "rng")
        asked = {name: getattr(resampling, name) for name in names}
        band = roc_band(curve.scores, fpr=rates, threads=threads, progress=progress, **asked)
    warn(said_of(curve.name, warning) for warning in band.warnings)
    return band.columns() if name == "roc" else band.det


def _columns(curves: list[Any], bands: list[dict[str, Any]], view: View) -> list[dict[str, Any]]:
    tables = bands or [view.columns(curve) for curve in curves]
    return [{"system": [curve.name], **table} for curve, table in zip(curves, tables, strict=True)]


def _systems(
    curves: list[Any], bands: list[dict[str, Any]], fixed: list[priori.EPC], view: View
) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [{"band": band} for band in bands] or [{} for _ in curves]
    for part, point in zip(parts, fixed, strict=False):
        part["a_priori"] = view.points(point)
    shown = view.axes in (None, "far-tpr")
    return [
        {**curve.to_dict(), **({} if shown else {"rates": view.columns(curve)}), **part}
        for curve, part in zip(curves, parts, strict=True)
    ]


def _fixed_table(fixed: list[priori.EPC], view: View) -> str:
    """Return the a priori points of systems as a table: thresholds fixed on development scores."""
    if not fixed:
        return ""
    tables = [{"name": [point.name] * point.alpha.size, **view.points(point)} for point in fixed]
    columns = {name: [entry for table in tables for entry in table[name]] for name in tables[0]}
    title = f"A priori points: thresholds by {fixed[0].criterion.name} on the development scores"
    return "\n" + table_of(title, columns, {**{name: name for name in columns}, "name": ""})


def _summary(name: str, curves: list[Any]) -> str:
    rows = []
    for curve in curves:
        scores, partial_auc = curve.scores, "-"
        if not scores.scanned:  # the curve between two rates needs all scores in memory
            partial_auc = f"{priori.a_posteriori_partial_auc(scores, (0, '0.1'), standardised=True):.5f}"
        rates = [percent(priori.a_posteriori_eer(scores)), percent(priori.a_posteriori_eer(scores, method="hull"))]
        costs = [f"{priori.a_posteriori_min_dcf(scores):.5f}", str(curve.threshold.size)]
        rows.append([curve.name, f"{curve.auc:.5f}", partial_auc, *rates, *costs])
    header = ["", "AUC", "pAUC(FPR<0.1)", "EER", "EER (hull)", "min DCF", "points"]
    note = "All of these are a posteriori: their thresholds were chosen on the scores shown."
    return table_text(f"{name.upper()} (a posteriori)", header, rows, note=note)


roc, det = curve_command("roc"), curve_command("det")
