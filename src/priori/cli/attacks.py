"""``priori epsc``, ``priori adcf``, ``priori pad``: what systems do under attack."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import priori
from priori.base.errors import OptionError
from priori.cli.commands import Asked, alpha_list, bands_around, make_command, output_group, resampling_options
from priori.cli.options import option, options
from priori.cli.systems import SETS, pairs_of


@make_command(
    "epsc",
    SETS,
    *options("omega beta"),
    *resampling_options(None),
    output_group(plot="Draw HTER_omega over omega, over beta, or as a surface"),
)
def epsc(asked: Asked) -> None:
    """Choose thresholds on development scores with impostors and attacks, and show the errors on test scores.

    Labels are of three kinds (target, nontarget, spoof), or a column says which negatives are attacks
    (--column attack=NAME). The threshold minimises beta FAR_omega + (1 - beta) FRR on the development scores, with
    FAR_omega = omega IAPMR + (1 - omega) FAR. The csv columns are system, omega, beta, threshold, far, frr, iapmr,
    far_omega, value, best: rates on the test scores, value is HTER_omega = (FAR_omega + FRR)/2, best its value for
    thresholds chosen on the test scores themselves; with --bootstrap, lower and upper bound the value.

    \b
    Examples:
      priori epsc --system A a-dev.csv a-test.csv --omega 0,0.5,1
      priori epsc --system A a-dev.csv a-test.csv --beta 0.1,0.5,0.9 --format csv
      priori epsc --system A a-dev.csv a-test.csv --bootstrap auto --plot epsc.svg
    """
    _finish(asked, partial(priori.epsc, omega=asked.omega, beta=asked.beta))


def _finish(asked: Asked, ask: Any) -> None:
    """Compute the curves and their bands, and print both."""
    curves = asked.systems.asked(ask)
    bands = bands_around(curves, asked)
    asked.output.finish(curves, bands=bands, figure=lambda plots: plots.plot_epsc(bands or curves))


def _three(option: str, typed: str, names: Sequence[str]) -> list[str]:
    """Read what an option says of the three kinds of trials, by name."""
    shape = ",".join(f"{name}={letter}" for name, letter in zip(names, "ABC", strict=True))
    pairs = pairs_of(option, shape, typed.split(","))
    if sorted(pairs) != sorted(names):
        raise OptionError(f"{option} {typed!r}: write it as {shape}")
    return [pairs[name] for name in names]


@make_command("adcf", SETS, *options("three_costs priors unnormalised"), *resampling_options(None), output_group())
def adcf(asked: Asked) -> None:
    """Print the a-DCF (Shim et al. 2024) at the threshold that minimises it on the development scores.

    It is the EPSC at the omega and the beta that costs and priors give, times the sum of the weights. The csv columns
    are system, alpha (that beta), threshold, dev_v1, dev_v2, v1, v2 (FAR_omega and FRR), value (the actual a-DCF) and
    best, its minimum on the test scores themselves; with --bootstrap, lower and upper bound the actual cost.

    \b
    Examples:
      priori adcf --system A a-dev.csv a-test.csv
      priori adcf --system A a-dev.csv a-test.csv --costs fn=1,fp=10,attack=10
    """
    costs = _three("--costs", asked.three_costs, ("fn", "fp", "attack"))
    priors = _three("--priors", asked.priors, ("positive", "negative", "attack"))
    _finish(asked, partial(priori.adcf, costs=costs, priors=priors, normalised=not asked.unnormalised))


@make_command(
    "pad",
    SETS,
    option("apcer"),
    option("criterion", default="eer", help="How the first threshold is chosen."),
    option("alpha", written="--alpha X", help="The trade-off of that criterion, where it has one. Default: 0.5."),
    option("level"),
    output_group(),
)
def pad(asked: Asked) -> None:
    """Print the rates of ISO/IEC 30107-3 on test scores at thresholds chosen on development scores, with intervals.

    Negatives are attacks, their types in a column (--column attack=NAME). The csv columns are system, point, threshold,
    measure, attack, trials, errors, rate, lower, upper, best. Measures are apcer of each type, apcer-max the largest
    (simultaneous interval), bpcer, and acer, the mean of the last two; best is the BPCER for a threshold chosen on the
    test scores themselves.

    \b
    Examples:
      priori pad --system A a-dev.csv a-test.csv --column attack=attack
      priori pad --system A a-dev.csv a-test.csv --column attack=attack --apcer 0.01 --format csv
    """
    settings = {**asked.only("criterion alpha"), "confidence_level": asked.level}
    asked.output.finish(asked.systems.asked(partial(priori.pad, apcer=alpha_list(asked.apcer), **settings)))
