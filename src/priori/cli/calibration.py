"""``priori calibration``: what scores cost as log-likelihood ratios."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

import priori
from priori.base.errors import OptionError
from priori.base.texts import p_text
from priori.cli.commands import alpha_list, make_command, output_group
from priori.cli.options import option, options
from priori.cli.output import Output, table_text
from priori.cli.systems import SETS, Systems
from priori.decisions.likelihood_ratios import Meaning, ProbabilityMap, get_calibrator
from priori.scores.systems import System

#: The columns of a cost, and of a difference, that people see.
SHOWN = ("value", "lower", "upper")
COMPARED = ("value_a", "value_b", "difference", "lower", "upper")
TITLES = {
    "cllr": "Cllr",
    "min_cllr": "minimum Cllr",
    "cllr_loss": "loss by calibration",
    "dcf": "DCF",
    "min_dcf": "minimum DCF",
    "dcf_loss": "loss by calibration",
}


@make_command(
    "calibration",
    SETS,
    *options("given calibrations"),
    option(
        "alpha",
        help="Also the detection costs alpha FAR + (1 - alpha) FRR at these: 0.1,0.5,99/109 or "
        "costs:COST_FN,COST_FP,PRIOR.",
    ),
    option(
        "resample", help="Intervals for this calibration, or for one fitted on a similar development set (logistic)."
    ),
    option("level"),
    option(
        "measure",
        written="--measure",
        kind=("wer", "nwer"),
        default="wer",
        names="",
        help="What the figure shows: the error rates of an APE plot, or those of a normalised Bayes error plot.",
    ),
    option(
        "bounds",
        kind=float,
        default=(-7.0, 7.0),
        shown=True,
        help="The first and last log(alpha / (1 - alpha)) of the figure.",
    ),
    option("points", help="How many alphas the figure has."),
    output_group(plot="Draw the errors at thresholds set by theory, by development scores and by test scores"),
)
def calibration(
    systems: Systems,
    given: Meaning,
    calibrations: str,
    alpha: str | None,
    resample: Any,
    level: float,
    measure: str,
    bounds: tuple[float, float],
    points: int,
    output: Output,
) -> None:
    """Show what test scores cost as log-likelihood ratios, and how much better they could be calibrated.

    Cllr is the mean logarithmic loss in bits: 0 is perfect, 1 is the cost of a system without information. Its minimum
    is that of the best increasing map of the same scores, a posteriori, and the loss by calibration is the difference.
    Minima and losses, fitted to the test scores, have no interval. Several systems, or calibrations, are also compared
    on the same trials. The csv columns are system, calibrate, cost, alpha, value, sd, lower, upper.

    \b
    Examples:
      priori calibration --system A a-dev.csv a-test.csv --calibrate none,logistic
      priori calibration --system A a-dev.csv a-test.csv --from probabilities
      priori calibration --system A a-dev.csv a-test.csv --alpha costs:10,1,0.01 --format csv
      priori calibration --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv --plot ape.svg
    """
    calibrators = [get_calibrator(name) for name in calibrations.split(",")]
    if not bounds[0] < bounds[1] or points < 2:
        raise OptionError("the figure needs --range A B with A below B, and at least two --points")
    read = systems.read()
    costs = [
        priori.llr_costs(
            system.dev,
            system.test,
            given=given,
            calibrate=each,
            alpha=alpha_list(alpha) or (),
            resample=resample,
            confidence_level=level,
            name=system.name,
        )
        for each in calibrators
        for system in read
    ]
    tests = [(*pair, priori.compare_llr_costs(*pair)) for pair in combinations(costs, 2)]
    output.finish(
        costs,
        table=lambda: "\n".join([_costs(costs), *([_differences(tests)] if tests else [])]),
        csv=lambda: [{"system": [each.name], "calibrate": [each.calibrate], **each.columns()} for each in costs],
        json=lambda: {
            "systems": [each.to_dict() for each in costs],
            "comparisons": [
                {"calibrate_a": a.calibrate, "calibrate_b": b.calibrate, **test.to_dict()} for a, b, test in tests
            ],
        },
        figure=lambda plots: plots.plot_epc(
            _curves(_ratios(read, given), calibrations, measure, np.linspace(*bounds, points)),
            best=True,
            axis="log-odds",
        ),
    )


def _ratios(systems: Sequence[System], given: Meaning) -> Sequence[System]:
    """Return the systems with log-likelihood ratios for scores."""
    if given == "llr":
        return systems
    maps = [ProbabilityMap.of(system.dev) for system in systems]
    return [
        replace(system, dev=ratios.apply(system.dev.load()), test=ratios.apply(system.test.load()))
        for system, ratios in zip(systems, maps, strict=True)
    ]


def _curves(systems: Sequence[System], calibrate: str, measure: str, log_odds: Any) -> list[priori.EPC]:
    """Return the curves by theory's thresholds, and by those of the development scores; each has the best, too."""
    alpha = 1 / (1 + np.exp(-log_odds))
    names = {f"bayes:{name}": f"by theory ({name})" if name != "none" else "by theory" for name in calibrate.split(",")}
    names["wer"] = "by development scores"
    return [
        priori.epc(
            system.dev,
            system.test,
            criterion=criterion,
            measure=measure,
            alpha=alpha,
            name=f"{system.name}, thresholds {words}",
        )
        for system in systems
        for criterion, words in names.items()
    ]


def _title(costs: priori.LLRCosts | priori.LLRCostsTest, row: int) -> str:
    at = "" if np.isnan(costs.alpha[row]) else f" at alpha {costs.alpha[row]:.4g}"
    return TITLES[str(costs.cost[row])] + at


def _named(costs: priori.LLRCosts) -> str:
    return costs.name if costs.calibrate == "none" else f"{costs.name}, {costs.calibrate}"


def _number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.4f}"


def _costs(costs: Sequence[priori.LLRCosts]) -> str:
    rows = [
        [_named(each) if row == 0 else "", _title(each, row), *(_number(getattr(each, name)[row]) for name in SHOWN)]
        for each in costs
        for row in range(each.value.size)
    ]
    first = costs[0]
    alike = {"none": "trials independent", "user": f"{first.people} users", "crossed": f"{first.people} people"}
    title = f"Costs as log-likelihood ratios, {100 * first.confidence_level:g} % intervals ({alike[first.dependence]})"
    note = "A minimum is fitted to the test scores: it is too low and the loss too high, so neither has an interval."
    return table_text(title, ["", "cost", *SHOWN], rows, note=note)


def _differences(tests: Sequence[tuple[priori.LLRCosts, priori.LLRCosts, priori.LLRCostsTest]]) -> str:
    rows = [
        [
            f"{_named(a)} minus {_named(b)}" if row == 0 else "",
            _title(test, row),
            *(f"{getattr(test, name)[row]:.4f}" for name in COMPARED),
            p_text(float(test.p_value[row])),
        ]
        for a, b, test in tests
        for row in range(test.difference.size)
    ]
    header = ["", "cost", "first", "second", "difference", "lower", "upper", "p-value"]
    return table_text("Differences on the same trials", header, rows)
