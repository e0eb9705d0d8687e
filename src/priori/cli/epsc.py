"""``priori epsc``: Expected Performance and Spoofability Curves."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from priori.base.cautions import of_systems
from priori.cli.commands import make_command, option
from priori.cli.options import output_group, resampling_options
from priori.cli.output import Output, table_text
from priori.cli.progress import Progress
from priori.cli.systems import SYSTEMS, Systems
from priori.curves.epsc import EPSC, epsc
from priori.plots.surfaces import plot_epsc
from priori.uncertainty.bootstrap.resampling import Resampling
from priori.uncertainty.surface_bands import SurfaceBand, make_surface_band
from priori.words.numbers import cell as percent

#: What a row of numbers says, besides the system; the bounds come with a bootstrap.
COLUMNS = ("omega", "beta", "threshold", "far", "frr", "iapmr", "far_omega", "value")


@make_command(
    "epsc", "Under attack: the Expected Performance and Spoofability Curve.",
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
    bands = None
    if resampling is not None:
        bands = []
        for curve in curves:
            with Progress(f"bootstrap of {curve.name}") as progress:
                bands.append(make_surface_band(curve, resampling, threads=threads, progress=progress))
    results: list[EPSC] | list[SurfaceBand] = curves if bands is None else bands
    output.finish(
        table=lambda: _tables(curves, bands),
        csv=lambda: [_columns(curve, band) for curve, band in _pairs(curves, bands)],
        json=lambda: {"systems": [_content(curve, band) for curve, band in _pairs(curves, bands)]},
        figure=lambda: plot_epsc(results),
        warnings=of_systems([(result.name, result.warnings) for result in results]),
    )


def _pairs(curves: list[EPSC], bands: list[SurfaceBand] | None) -> list[tuple[EPSC, SurfaceBand | None]]:
    around: list[SurfaceBand | None] = [None] * len(curves) if bands is None else [*bands]
    return list(zip(curves, around, strict=True))


def _columns(curve: EPSC, band: SurfaceBand | None) -> dict[str, Any]:
    columns = {"system": [curve.name], **{name: getattr(curve, name) for name in COLUMNS}}
    return columns if band is None else {**columns, "lower": band.lower, "upper": band.upper}


def _content(curve: EPSC, band: SurfaceBand | None) -> dict[str, Any]:
    content = curve.to_dict()
    return content if band is None else {**content, "band": {**band.summary(), **band.columns()}}


def _tables(curves: list[EPSC], bands: list[SurfaceBand] | None) -> str:
    header = ["omega", "beta", "threshold", "FAR", "FRR", "IAPMR", "FAR_omega", "HTER_omega"]
    parts = []
    for curve, band in _pairs(curves, bands):
        columns = _columns(curve, band)
        rows = [
            [f"{curve.omega[row]:.4g}", f"{curve.beta[row]:.4g}", f"{curve.threshold[row]:.6g}",
             *(percent(float(np.asarray(columns[name])[row])) for name in list(columns)[4:])]
            for row in range(curve.value.size)
        ]  # fmt: skip
        sizes = ", ".join(f"{number} {kind}" for kind, number in curve.sizes["test"].items())
        title = f"{curve.name} on the test scores ({sizes}); thresholds chosen on the development scores"
        parts.append(table_text(title, [*header, *list(columns)[9:]], rows))
    return "\n".join(parts)
