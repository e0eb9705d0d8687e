"""``priori amounts``: the cheapest threshold where errors cost the amounts of their trials."""

from __future__ import annotations

from itertools import combinations

import priori
from priori.base.cautions import joined
from priori.cli.commands import Asked, make_command, output_group
from priori.cli.options import options
from priori.cli.output import table_text, tables_of
from priori.cli.systems import SETS
from priori.words.numbers import acceptance, money


@make_command("amounts", SETS, *options("fp_cost currency level"), output_group())
def amounts(asked: Asked) -> None:
    """Choose the threshold that costs least on DEV, and print what decisions cost on TEST.

    Every trial has an amount (--column amount=NAME). A false negative costs its own amount, as a missed fraud does; a
    false positive costs the same each time, or its own amount (--fp amount). The share of positives is that of the
    files. Several systems are also compared, on the same trials.

    \b
    Examples:
      priori amounts dev.csv test.csv --column amount=euros --fp 5 --currency EUR
      priori amounts dev.csv test.csv --column amount=euros --fp amount
    """
    how = {"fp": asked.fp_cost, "currency": asked.currency, "confidence_level": asked.level}
    costs = [priori.amounts(system.dev, system.test, name=system.name, **how) for system in asked.systems.read()]
    tests = [priori.compare_amounts(*two) for two in combinations(costs, 2)]
    asked.output.finish(
        costs,
        table=lambda: "\n".join([*map(_table, costs), *map(_compared, tests)]),
        json=lambda: {"systems": [each.to_dict() for each in costs], "comparisons": [test.to_dict() for test in tests]},
        warnings=joined(*(each.warnings for each in costs), *(test.warnings for test in tests)),
    )


def _compared(test: priori.CostsTest) -> str:
    title = f"{test.name_a} minus {test.name_b}: cost per decision on the same trials"
    return tables_of(test, title=title, without="sd", value_a="first", value_b="second")


def _table(costs: priori.AmountCosts) -> str:
    rows = [
        ["per decision", *map(money, (costs.value, costs.lower, costs.upper))],
        ["per 1,000", *map(money, (1000 * end for end in (costs.value, costs.lower, costs.upper)))],
        ["per 1,000, all accepted", money(1000 * costs.accept_all), "", ""],
        ["per 1,000, all rejected", money(1000 * costs.reject_all), "", ""],
    ]
    alike = {"none": "trials independent", "user": f"{costs.people} users", "crossed": f"{costs.people} people"}
    threshold = costs.columns()["threshold"][0]
    said = f"{costs.name}: {acceptance(costs.distances)} {threshold:.6g}, the cheapest on the development scores"
    note = (
        f"{costs.fn} false negatives cost {money(costs.fn_cost)}, {costs.fp} false positives {money(costs.fp_cost)}; "
        f"{100 * costs.confidence_level:g} % interval ({alike[costs.dependence]})"
    )
    return table_text(said, ["cost", costs.currency or "on TEST", "lower", "upper"], rows, note=note)
