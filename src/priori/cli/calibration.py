"""``priori calibration``: what scores cost as log-likelihood ratios."""

from __future__ import annotations

from itertools import combinations
from types import ModuleType
from typing import Any

import numpy as np

import priori
from priori.base.errors import OptionError
from priori.cli.commands import Asked, make_command, output_group
from priori.cli.options import option, options
from priori.cli.output import tables_of
from priori.cli.systems import SETS
from priori.decisions.likelihood_ratios import ProbabilityMap, get_calibrator

#: The grids of the figures, by the names of the functions that compute them.
GRIDS = {"tippett": "llr", "ece": "log_odds"}
NOTE = "A minimum is fitted to the test scores: it is too low and the loss too high, so neither has an interval."


@make_command(
    "calibration",
    SETS,
    *options("given calibrations"),
    option("level"),
    option("figure"),
    option(
        "measure",
        written="--measure",
        kind=("wer", "nwer"),
        default="wer",
        names="",
        help="What the APE plot shows: error rates, or those of a normalised Bayes error plot.",
    ),
    option(
        "bounds",
        kind=float,
        default=(-7.0, 7.0),
        shown=True,
        help="The first and last log(alpha / (1 - alpha)) of the figure, or log-likelihood ratio of a Tippett plot.",
    ),
    option("points", help="How many alphas, or log-likelihood ratios, the figure has."),
    output_group(plot="Draw the --figure: errors at thresholds set by theory, by development and by test scores"),
)
def calibration(asked: Asked) -> None:
    """Show what test scores cost as log-likelihood ratios, and how much better they could be calibrated.

    Cllr is the mean logarithmic loss in bits: 0 is perfect, 1 is the cost of a system without information. Its minimum
    is that of the best increasing map of the same scores, a posteriori, and the loss by calibration is the difference.
    Minima and losses, fitted to the test scores, have no interval. Several systems, or calibrations, are also compared
    on the same trials. The csv columns are system, calibrate, cost, value, sd, lower, upper.

    \b
    Examples:
      priori calibration --system A a-dev.csv a-test.csv --calibrate none,logistic
      priori calibration --system A a-dev.csv a-test.csv --from probabilities
      priori calibration --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv --plot ape.svg
      priori calibration --system A a-dev.csv a-test.csv --figure reliability --plot reliability.svg
    """
    calibrators = [get_calibrator(name) for name in asked.calibrations.split(",")]
    bounds, points = asked.bounds, asked.points
    if not bounds[0] < bounds[1] or points < 2:
        raise OptionError("the figure needs --range A B with A below B, and at least two --points")
    if asked.figure != "ape" and not asked.output.plot:
        raise OptionError(f"--figure {asked.figure} is drawn into a file: add --plot FILE")
    systems = asked.systems.read()
    how = {"given": asked.given, "confidence_level": asked.level}
    costs = [
        priori.llr_costs(system.dev, system.test, calibrate=each, name=system.name, **how)
        for each in calibrators
        for system in systems
    ]
    tests = [(*pair, priori.compare_llr_costs(*pair)) for pair in combinations(costs, 2)]
    asked.output.finish(
        costs,
        table=lambda: "\n".join([*map(_table, costs), *(_compared(*test) for test in tests), NOTE]),
        csv=lambda: [{"system": [each.name], "calibrate": [each.calibrate], **each.columns()} for each in costs],
        json=lambda: {
            "systems": [each.to_dict() for each in costs],
            "comparisons": [
                {"calibrate_a": a.calibrate, "calibrate_b": b.calibrate, **test.to_dict()} for a, b, test in tests
            ],
        },
        figure=lambda plots: _drawn(plots, asked),
    )


def _drawn(plots: ModuleType, asked: Asked) -> Any:
    """Draw the figure that was asked for, of every system and calibration."""
    figure = asked.figure
    if figure == "ape":
        return plots.plot_epc(_curves(asked), best=True, axis="log-odds")
    make, draw = getattr(priori, figure), getattr(plots, f"plot_{figure}")
    how = {"given": asked.given, "confidence_level": asked.level}
    if figure in GRIDS:
        how[GRIDS[figure]] = np.linspace(asked.bounds[0], asked.bounds[1], asked.points)
    found = []
    for name in asked.calibrations.split(","):
        for system in asked.systems.read():
            found.append(make(system.dev, system.test, calibrate=name, name=_title(system.name, name), **how))
    return draw(found)


def _title(system: str, calibration: str) -> str:
    return system if calibration == "none" else f"{system}, {calibration}"


def _table(costs: priori.LLRCosts) -> str:
    alike = {"none": "trials independent", "user": f"{costs.people} users", "crossed": f"{costs.people} people"}
    title = f"Costs as log-likelihood ratios, {100 * costs.confidence_level:g} % intervals"
    return tables_of(
        costs, title=f"{_title(costs.name, costs.calibrate)}: {title} ({alike[costs.dependence]})", without="sd"
    )


def _compared(a: priori.LLRCosts, b: priori.LLRCosts, test: priori.CostsTest) -> str:
    first, second = (_title(each.name, each.calibrate) for each in (a, b))
    title = f"{first} minus {second}, on the same trials"
    return tables_of(test, title=title, without="sd", value_a="first", value_b="second")


def _curves(asked: Asked) -> list[priori.EPC]:
    """Return the curves by theory's thresholds, and by those of the development scores; each has the best, too."""
    alpha = 1 / (1 + np.exp(-np.linspace(asked.bounds[0], asked.bounds[1], asked.points)))
    calibrated = {
        name: f"by theory ({name})" if name != "none" else "by theory" for name in asked.calibrations.split(",")
    }
    names = {**{f"bayes:{name}": words for name, words in calibrated.items()}, "wer": "by development scores"}
    curves = []
    for system in asked.systems.read():
        dev, test = system.dev, system.test
        if asked.given != "llr":
            ratios = ProbabilityMap.of(dev)
            dev, test = ratios.apply(dev.load()), ratios.apply(test.load())
        for criterion, words in names.items():
            name = f"{system.name}, thresholds {words}"
            curves.append(priori.epc(dev, test, criterion=criterion, measure=asked.measure, alpha=alpha, name=name))
    return curves
