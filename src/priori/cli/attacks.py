"""``priori epsc``, ``priori adcf``, ``priori pad``: what systems do under attack."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import priori
from priori.base.cautions import of_systems
from priori.base.options import ResamplingOptions
from priori.base.texts import cell as percent
from priori.cli.commands import alpha_list, bands_around, make_command, output_group, resampling_options
from priori.cli.options import option, options
from priori.cli.output import Output, table_of, table_text
from priori.cli.systems import SETS, Systems
from priori.curves.epsc import adcf_weights
from priori.words.numbers import level_text

if TYPE_CHECKING:
    from priori.uncertainty.bands.bands import SurfaceBand

#: The columns of a curve under attack, besides the system, and their headings; the bounds come with a bootstrap.
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
    SETS,
    *options("omega beta"),
    *resampling_options(None),
    output_group(plot="Draw HTER_omega over omega, over beta, or as a surface"),
)
def epsc(
    systems: Systems, omega: str, beta: str, resampling: ResamplingOptions | None, threads: int | None, output: Output
) -> None:
    """Choose thresholds on development scores with impostors and attacks, and show the errors on test scores.

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
        results,
        table=lambda: "\n".join(_epsc_table(curve, _epsc_columns(curve, band)) for curve, band in both),
        csv=lambda: [_epsc_columns(curve, band) for curve, band in both],
        json=lambda: {"systems": [_epsc_content(curve, band) for curve, band in both]},
        figure=lambda plots: plots.plot_epsc(results),
    )


def _epsc_columns(curve: priori.EPSC, band: SurfaceBand | None) -> dict[str, Any]:
    columns = {"system": [curve.name], **{name: getattr(curve, name) for name in HEADINGS}}
    return columns if band is None else {**columns, "lower": band.lower, "upper": band.upper}


def _epsc_content(curve: priori.EPSC, band: SurfaceBand | None) -> dict[str, Any]:
    content = curve.to_dict()
    return content if band is None else {**content, "band": {**band.summary(), **band.columns()}}


def _epsc_table(curve: priori.EPSC, columns: dict[str, Any]) -> str:
    sizes = ", ".join(f"{number} {kind}" for kind, number in curve.sizes["test"].items())
    title = f"{curve.name} on the test scores ({sizes}); thresholds chosen on the development scores"
    return table_of(title, columns, {**HEADINGS, **{name: name for name in list(columns)[9:]}})


@make_command("adcf", SETS, *options("three_costs priors unnormalised"), *resampling_options(None), output_group())
def adcf(
    systems: Systems,
    three_costs: str,
    priors: str,
    unnormalised: bool,
    resampling: ResamplingOptions | None,
    threads: int | None,
    output: Output,
) -> None:
    """Print the a-DCF (Shim et al. 2024) at the threshold that minimises it on the development scores.

    It is the EPSC at the omega and the beta that costs and priors give, times the sum of the weights. The csv columns
    are system, omega, beta, threshold, actual, minimum: the minimum is that of the test scores themselves; with
    --bootstrap, lower and upper bound the actual cost.

    \b
    Examples:
      priori adcf --system A a-dev.csv a-test.csv
      priori adcf --system A a-dev.csv a-test.csv --costs 1,10,10 --priors 0.94,0.01,0.05 --bootstrap auto
    """
    weights = three_costs.split(","), priors.split(",")
    curves = systems.asked(partial(priori.adcf, costs=weights[0], priors=weights[1], normalised=not unnormalised))
    omega, beta, _ = adcf_weights(*weights)
    columns: dict[str, Any] = {
        "system": [curve.name for curve in curves],
        "omega": [float(omega)] * len(curves),
        "beta": [float(beta)] * len(curves),
        "threshold": [curve.threshold[0] for curve in curves],
        "actual": [curve.value[0] for curve in curves],
        "minimum": [curve.best[0] for curve in curves],
    }
    bands = bands_around(curves, resampling, threads)
    if bands:
        columns |= {end: [getattr(band, end)[0] for band in bands] for end in ("lower", "upper")}
    warned = [(curve.name, each.warnings) for curve, each in zip(curves, bands or curves, strict=True)]
    title = f"{curves[0].measure.title}; thresholds chosen on the development scores"
    output.finish(
        table=lambda: table_of(
            title, columns, {**{name: name for name in columns}, "system": ""}, rate=False, threshold="{:.4g}".format
        ),
        csv=lambda: columns,
        json=lambda: columns,
        warnings=of_systems(warned),
    )


@make_command(
    "pad",
    SETS,
    option("apcer"),
    option("criterion", default="eer", help="How the first threshold is chosen.", callback=None),
    option("alpha", written="--alpha X", help="The trade-off of that criterion, where it has one. Default: 0.5."),
    option("level"),
    output_group(),
)
def pad(systems: Systems, apcer: str, criterion: str, alpha: str | None, level: float, output: Output) -> None:
    """Print the rates of ISO/IEC 30107-3 on test scores at thresholds chosen on development scores, with intervals.

    Negatives are attacks, their types in a column (--attack-column). The csv columns are system, point, threshold,
    measure, attack, trials, errors, rate, lower, upper, best. Measures are apcer of each type, apcer-max the largest
    (simultaneous interval), bpcer, and acer, the mean of the last two; best is the BPCER for a threshold chosen on the
    test scores themselves.

    \b
    Examples:
      priori pad --system A a-dev.csv a-test.csv --attack-column attack
      priori pad --system A a-dev.csv a-test.csv --attack-column attack --apcer 0.01 --format csv
    """
    results = systems.asked(
        partial(priori.pad, apcer=alpha_list(apcer), criterion=criterion, alpha=alpha, confidence_level=level)
    )
    output.finish(results, table=lambda: "\n".join(map(_pad_table, results)))


def _pad_table(result: priori.PAD) -> str:
    rows = []
    for point, threshold, measure, attack, trials, errors, *rates in zip(*result.columns().values(), strict=True):
        counted = "" if trials != trials else f"{errors:.0f} of {trials:.0f}"
        numbers = ["" if rate != rate else percent(float(rate)) for rate in rates]
        name = measure.upper() if measure != "apcer-max" else "largest APCER"
        rows.append([f"{point}: {name}{f' ({attack})' if attack else ''}", f"{threshold:.6g}", counted, *numbers])
    header = ["", "threshold", "errors", "rate", "lower", "upper", "best"]
    title = f"{result.name}: test scores at thresholds of the development scores, {level_text(result.confidence_level)}"
    return table_text(f"{title} intervals", header, rows)
