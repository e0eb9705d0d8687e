"""``priori roc``, ``priori det``: ROC and DET curves of test scores, a posteriori."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import click
import numpy as np

import priori
from priori.base.cautions import of_systems
from priori.base.errors import OptionError
from priori.base.texts import alpha_text
from priori.base.texts import cell as percent
from priori.base.texts import cells as percents
from priori.cli.commands import Asked, at_alpha, judging, make_command, output_group, resampling_options
from priori.cli.options import option, options
from priori.cli.output import Progress, table_of, table_text, verbose
from priori.cli.systems import SYSTEMS
from priori.curves.roc import Axis, measures_of
from priori.decisions.measure import of_both_classes
from priori.decisions.tasks import Task, get_task


def curve_command(name: Literal["roc", "det"]) -> click.Command:
    """Make the command for one kind of curve."""

    help = f"""Print the {name.upper()} curve of each set of scores, a posteriori.

    Its thresholds are chosen on the same scores, so it is for analysis only. To compare systems, or to estimate
    expected performance, use 'priori epc'. With --system the curve is that of the test scores, and the a priori points
    are printed and marked on it: thresholds chosen on the development scores. With --bootstrap the csv has the curve at
    101 false positive rates (none below one of all negatives), or recalls, with the bounds lower and upper.

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
        *resampling_options(None, leave_out=("resample", "shared_users")),
        output_group(plot="Draw the curves"),
        help=help,
    )
    def command(asked: Asked) -> None:
        systems, settings = asked.systems, asked.settings
        if not systems:
            raise OptionError("give at least one set of scores, --scores NAME FILE, or systems, --system NAME DEV TEST")
        by_cost = settings["costs"] is not None
        view = View(prior=None if by_cost else settings["prior"], **(asked.only("axes log") if name == "roc" else {}))
        points = asked.points
        which = "all" if view.precision and points == "thin" else int(points) if points.isdecimal() else points
        fixed = []
        if not systems.undivided:
            prior = settings["prior"] if by_cost else None
            fixed = systems.curves(at_alpha({**settings, "measure": "hter", "prior": prior}))
        sets = [(point.name, point.test) for point in fixed]
        sets = sets or [(system.name, system.test) for system in systems.read(whole=True)]
        curves = [getattr(priori, name)(read, points=which, name=label) for label, read in sets]
        bands = [_band(curve, name, asked, view) for curve in curves] if asked.resampling is not None else []
        bounds = [dict(band.columns()) if name == "roc" else band.det for band in bands]
        tables = bounds or [view.columns(curve) for curve in curves]
        asked.output.finish(
            curves,
            table=lambda: "\n".join([_summary(name, curves, get_task(settings["task"])), *_fixed_table(fixed, view)]),
            csv=lambda: [{"system": [each.name], **own} for each, own in zip(curves, tables, strict=True)],
            json=lambda: {"kind": f"{name}, a posteriori", "systems": _systems(curves, bounds, fixed, view)},
            figure=lambda plots: getattr(plots, f"plot_{name}")(
                curves, bands=bounds, operating_points=fixed, **view.drawn(name)
            ),
            warnings=of_systems([(each.name, each.warnings) for each in curves])
            + of_systems([(each.name, band.warnings) for each, band in zip(curves, bands, strict=False)]),
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
        return {"alpha": fixed.alpha, "threshold": fixed.columns()["threshold"], **rates}


def _band(curve: Any, name: str, asked: Asked, view: View) -> Any:
    """Return the band around one curve."""
    rates = None
    if name == "det":
        from scipy.special import ndtr, ndtri

        # Evenly spaced where the axes are: on the normal-deviate scale, from one false acceptance on.
        first = max(1 / curve.scores.n_negatives, 1e-6)
        rates = np.maximum(ndtr(np.linspace(ndtri(first), ndtri(0.99), 101)).round(9), first)
    with Progress(f"bootstrap of {curve.name}") as progress:
        names = ("bootstrap", "n_resamples", "confidence_level", "interval", "simultaneous", "rng")
        how = {name: getattr(asked.resampling, name) for name in names}
        how |= {"threads": asked.threads, "progress": progress}
        if view.precision:
            return priori.precision_band(curve.scores, prior=view.prior, **how)
        return curve.band(fpr=rates, **how)


def _systems(
    curves: list[Any], bands: list[dict[str, Any]], fixed: list[priori.EPC], view: View
) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = [curve.to_dict() for curve in curves]
    if view.axes not in (None, "far-tpr"):
        parts = [{**part, "rates": view.columns(curve)} for part, curve in zip(parts, curves, strict=True)]
    for name, known in (("band", bands), ("a_priori", [view.points(point) for point in fixed])):
        parts = [{**part, name: own} for part, own in zip(parts, known, strict=True)] if known else parts
    return parts


def _fixed_table(fixed: list[priori.EPC], view: View) -> Iterator[str]:
    """Yield the a priori points of systems as a table: thresholds fixed on development scores."""
    if fixed:
        tables = [view.points(point) for point in fixed]
        alpha, threshold, *rates = ((name, np.concatenate([table[name] for table in tables])) for name in tables[0])
        shown: dict[str, Iterable[str]] = {"": [point.name for point in fixed for _ in point.alpha]}
        shown[fixed[0].criterion.alpha_name] = map(alpha_text, alpha[1])
        shown["threshold"] = map("{:.6g}".format, threshold[1])
        title = f"A priori points: thresholds by {fixed[0].criterion.title} on the development scores"
        yield table_of(title, shown | {name: percents(values) for name, values in rates})


def _summary(name: str, curves: list[Any], task: Task) -> str:
    of_errors = of_both_classes(task.v1, task.v2)  # then V1 = V2 is the EER
    rows = []
    for curve in curves:
        scores = curve.scores
        equal = priori.a_posteriori_eer(scores) if of_errors else priori.a_posteriori_break_even(scores, task=task)
        shown = [f"{curve.auc:.5f}", percent(equal)]
        shown += [f"{priori.a_posteriori_min_dcf(scores):.5f}", str(curve.threshold.size)]
        if verbose():
            shown.append(percent(priori.a_posteriori_eer(scores, method="hull")))
            # The curve between two rates needs all scores in memory.
            partial = None if scores.scanned else priori.a_posteriori_partial_auc(scores, (0, "0.1"), standardised=True)
            shown.append("-" if partial is None else f"{partial:.5f}")
        rows.append([curve.name, *shown])
    header = [
        "",
        "AUC",
        "EER" if of_errors else "break-even",
        "min DCF",
        "points",
        *(["EER (hull)", "pAUC(FPR<0.1)"] if verbose() else []),
    ]
    note = "All of these are a posteriori: their thresholds were chosen on the scores shown."
    if verbose():
        note += "\nHull: on the convex hull of the curve. pAUC: the area up to an FPR of 0.1, 0.5 is chance."
    return table_text(f"{name.upper()} (a posteriori)", header, rows, note=note)


roc, det = curve_command("roc"), curve_command("det")
