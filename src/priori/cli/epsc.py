"""``priori epsc``: Expected Performance and Spoofability Curves."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from priori.base.cautions import of_systems
from priori.cli.commands import make_command, option
from priori.cli.options import bands_around, output_group, resampling_options
from priori.cli.output import Output, table_text
from priori.cli.systems import SYSTEMS, Systems
from priori.curves.epsc import EPSC, epsc
from priori.words.numbers import cells as percents

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from priori.uncertainty.bootstrap.resampling import Resampling
    from priori.uncertainty.surface_bands import SurfaceBand

#: What a row of numbers says, besides the system; the bounds come with a bootstrap.
COLUMNS = ("omega", "beta", "threshold", "far", "frr", "iapmr", "far_omega", "value")


@make_command(
    "epsc",
    SYSTEMS,
    option("--omega", metavar="LIST", default="0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1", show_default=False,
           help="Shares of attacks among the negatives. Default: 0, 0.1, ..., 1."),
    option("--beta", metavar="LIST", default="0.5", help="Weights of false acceptances against false rejections."),
    *resampling_options(None),
    output_group("table", "csv", "json",
                 plot="Draw HTER_omega over omega, over beta, or as a surface: FILE.svg, .png or .pdf."),
)  # fmt: skip
def command(
    systems: Systems, omega: str, beta: str, resampling: Resampling | None, threads: int | None, output: Output
) -> None:
    """Choose thresholds on development scores with impostors and attacks, and show what they do on test scores.

    Labels are of three kinds (target, nontarget, spoof), or a column says which negatives are attacks
    (--attack-column). The threshold minimises beta FAR_omega + (1 - beta) FRR on the development scores, with
    FAR_omega = omega IAPMR + (1 - omega) FAR. The csv columns are system, omega, beta, threshold, far, frr, iapmr,
    far_omega, value: rates on the test scores, value is HTER_omega = (FAR_omega + FRR)/2; with --bootstrap, lower and
    upper bound it.

    \b
    Examples:
      priori epsc --system A a-dev.csv a-test.csv --omega 0,0.5,1
      priori epsc --system A a-dev.csv a-test.csv --beta 0.1,0.5,0.9 --format csv
      priori epsc --system A a-dev.csv a-test.csv --bootstrap auto --plot epsc.svg
    """
    curves = systems.asked(partial(epsc, omega=omega, beta=beta))
    bands: list[SurfaceBand] = bands_around(curves, resampling, threads)
    results: list[EPSC] | list[SurfaceBand] = bands or curves
    both = [*zip(curves, bands or [None] * len(curves), strict=True)]
    output.finish(
        table=lambda: "\n".join(_table(curve, _columns(curve, band)) for curve, band in both),
        csv=lambda: [_columns(curve, band) for curve, band in both],
        json=lambda: {"systems": [_content(curve, band) for curve, band in both]},
        figure=lambda: _figure(results),
        warnings=of_systems([(result.name, result.warnings) for result in results]),
    )


def _figure(results: list[EPSC] | list[SurfaceBand]) -> Axes:
    from priori.plots.surfaces import plot_epsc

    return plot_epsc(results)


def _columns(curve: EPSC, band: SurfaceBand | None) -> dict[str, Any]:
    columns = {"system": [curve.name], **{name: getattr(curve, name) for name in COLUMNS}}
    return columns if band is None else {**columns, "lower": band.lower, "upper": band.upper}


def _content(curve: EPSC, band: SurfaceBand | None) -> dict[str, Any]:
    content = curve.to_dict()
    return content if band is None else {**content, "band": {**band.summary(), **band.columns()}}


def _table(curve: EPSC, columns: dict[str, Any]) -> str:
    header = ["omega", "beta", "threshold", "FAR", "FRR", "IAPMR", "FAR_omega", "HTER_omega", *list(columns)[9:]]
    rows = (
        [f"{omega:.4g}", f"{beta:.4g}", f"{threshold:.6g}", *percents(rates)]
        for omega, beta, threshold, *rates in zip(*list(columns.values())[1:], strict=True)
    )
    sizes = ", ".join(f"{number} {kind}" for kind, number in curve.sizes["test"].items())
    title = f"{curve.name} on the test scores ({sizes}); thresholds chosen on the development scores"
    return table_text(title, header, rows)
