"""``priori adcf``: the architecture-agnostic detection cost, actual and minimum."""

from __future__ import annotations

from functools import partial
from typing import Any

import priori
from priori.base.cautions import of_systems
from priori.base.options import ResamplingOptions
from priori.cli.commands import make_command, option
from priori.cli.options import bands_around, output_group, resampling_options
from priori.cli.output import Output, table_of
from priori.cli.systems import SYSTEMS, Systems
from priori.curves.epsc import adcf_weights


@make_command(
    "adcf",
    SYSTEMS,
    option("--costs", metavar="MISS,NONTARGET,SPOOF", default="1,10,20", help="The costs of the three errors."),
    option("--priors", metavar="TARGET,NONTARGET,SPOOF", default="0.9,0.05,0.05", help="How often each kind comes."),
    option(
        "--unnormalised", is_flag=True, help="Do not divide by the cost of the better of accepting or rejecting all."
    ),
    *resampling_options(None),
    output_group("table", "csv", "json"),
)
def command(
    systems: Systems,
    costs: str,
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
    weights = costs.split(","), priors.split(",")
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
