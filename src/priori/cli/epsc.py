"""``priori epsc``: Expected Performance and Spoofability Curves."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import priori
from priori.base.cautions import of_systems
from priori.base.options import ResamplingOptions
from priori.cli.commands import make_command, option
from priori.cli.options import bands_around, output_group, resampling_options
from priori.cli.output import Output, table_of
from priori.cli.systems import SYSTEMS, Systems

if TYPE_CHECKING:
    from priori.uncertainty.bands.bands import SurfaceBand

#: The columns, besides the system, and their headings; the bounds come with a bootstrap.
HEADINGS = {
    "omega": "omega",
    "beta": "beta",
    "threshold": "threshold",
    "far": "FAR",
    "frr": "FRR",
    "iapmr": "IAPMR",
    "far_omega": "FAR_omega",
    "value": "HTER_omega",
}


@make_command(
    "epsc",
    SYSTEMS,
    option(
        "--omega",
        metavar="LIST",
        default="0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1",
        show_default=False,
        help="Shares of attacks among the negatives. Default: 0, 0.1, ..., 1.",
    ),
    option("--beta", metavar="LIST", default="0.5", help="Weights of false acceptances against false rejections."),
    *resampling_options(None),
    output_group(
        "table", "csv", "json", plot="Draw HTER_omega over omega, over beta, or as a surface: FILE.svg, .png or .pdf."
    ),
)
def command(
    systems: Systems, omega: str, beta: str, resampling: ResamplingOptions | None, threads: int | None, output: Output
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
    curves = systems.asked(partial(priori.epsc, omega=omega, beta=beta))
    bands: list[SurfaceBand] = bands_around(curves, resampling, threads)
    results: list[priori.EPSC] | list[SurfaceBand] = bands or curves
    around: Sequence[SurfaceBand | None] = bands or [None] * len(curves)
    both = [*zip(curves, around, strict=True)]
    output.finish(
        table=lambda: "\n".join(_table(curve, _columns(curve, band)) for curve, band in both),
        csv=lambda: [_columns(curve, band) for curve, band in both],
        json=lambda: {"systems": [_content(curve, band) for curve, band in both]},
        figure=lambda plots: plots.plot_epsc(results),
        warnings=of_systems([(result.name, result.warnings) for result in results]),
    )


def _columns(curve: priori.EPSC, band: SurfaceBand | None) -> dict[str, Any]:
    columns = {"system": [curve.name], **{name: getattr(curve, name) for name in HEADINGS}}
    return columns if band is None else {**columns, "lower": band.lower, "upper": band.upper}


def _content(curve: priori.EPSC, band: SurfaceBand | None) -> dict[str, Any]:
    content = curve.to_dict()
    return content if band is None else {**content, "band": {**band.summary(), **band.columns()}}


def _table(curve: priori.EPSC, columns: dict[str, Any]) -> str:
    sizes = ", ".join(f"{number} {kind}" for kind, number in curve.sizes["test"].items())
    title = f"{curve.name} on the test scores ({sizes}); thresholds chosen on the development scores"
    return table_of(title, columns, {**HEADINGS, **{name: name for name in list(columns)[9:]}})
