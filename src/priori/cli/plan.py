"""``priori plan``: the number of users and trials for a width or a power."""

from __future__ import annotations

from typing import Any, get_args

import click

import priori
from priori.base.errors import OptionError
from priori.base.options import Claim
from priori.cli.commands import make_command, option
from priori.cli.options import COSTS, CRITERION, LEVEL, curve_at, one_alpha, output_group
from priori.cli.output import Output, table_text
from priori.cli.systems import SYSTEMS, Systems
from priori.decisions.costs import price
from priori.decisions.tasks import get_task
from priori.studies.planning import Development, Plan, TestKind


@make_command(
    "plan",
    option("--width", type=float, metavar="W", help="The full width of the interval."),
    option("--difference", type=float, metavar="D", help="Or the difference between two systems to be detected."),
    option("--power", type=float, default=0.8, help="The probability of detecting it."),
    option(
        "--assurance", type=float, default=0.8, metavar="P", help="How often an interval will be no wider than --width."
    ),
    option("--far", type=float, metavar="RATE", help="The false acceptance rate expected, as a fraction."),
    option("--frr", type=float, metavar="RATE", help="The false rejection rate expected."),
    option("--far-b", type=float, metavar="RATE", help="The second system's. Default: the same."),
    option("--frr-b", type=float, metavar="RATE", help="The second system's. Default: the same."),
    option(
        "--intraclass",
        type=float,
        default=0.0,
        show_default=False,
        metavar="RHO",
        help="The correlation of the errors of one user, where there is no pilot.",
    ),
    SYSTEMS,
    *CRITERION,
    option(
        "--alpha",
        metavar="A",
        help="The trade-off at which the pilot's threshold is chosen. Default: 0.5, or that of --costs.",
    ),
    *COSTS,
    option("--negatives-per-positive", type=float, metavar="R", help="Default: the pilot's, or 1."),
    option(
        "--negatives-per-user",
        type=float,
        metavar="M",
        help="On average over all users, also those who have none. Default: the pilot's.",
    ),
    option(
        "--positives-per-user",
        type=float,
        metavar="M",
        help="The same: of people who are ill or not, the share that is.",
    ),
    option(
        "--test",
        type=click.Choice(get_args(TestKind)),
        help="Which test must detect the difference: compare (the default with two pilots), or one of ztest's; its "
        "verdict needs both.",
    ),
    option("--claim", type=click.Choice(get_args(Claim)), help="What compare will claim. Default: method."),
    option(
        "--development",
        type=click.Choice(get_args(Development)),
        default="grow",
        help="For the claim method: the development set grows with the test set, or stays as it is.",
    ),
    option(
        "--measure",
        metavar="NAME",
        table="priori.decisions.measures:MEASURES",
        help="hter, dcf:..., wer:0.3, ... Default: the task's.",
    ),
    LEVEL,
    option("--one-sided", is_flag=True, help="The test will be one-sided."),
    output_group("table", "json", "csv"),
)
def command(
    systems: Systems,
    task: str,
    criterion: str | None,
    alpha: str | None,
    costs: str | None,
    prior: str | None,
    measure: str | None,
    level: float,
    one_sided: bool,
    output: Output,
    options: dict[str, Any],
) -> None:
    """Print how many users and trials give an interval of a given width, or detect a difference with a given power.

    The rates expected are given, or measured on a pilot: the test scores of one or two systems, with thresholds
    chosen on their development scores. A pilot with users also gives the design effect: how many times more
    trials are needed because the errors of one user are correlated.

    \b
    Examples:
      priori plan --width 0.01 --far 0.02 --frr 0.03 --negatives-per-positive 10
      priori plan --difference 0.005 --power 0.9 --far 0.02 --frr 0.03
      priori plan --width 0.01 --system pilot dev.csv test.csv
    """
    asked = one_alpha(alpha, "a plan is for one alpha")
    shown, chosen = price(task, criterion, measure, asked, costs, prior)
    if systems:
        if len(systems) > 2:
            raise OptionError(f"one pilot or two, not {len(systems)}")
        for curve, suffix in zip(systems.curves(curve_at(task, criterion, chosen)), ("", "_b"), strict=False):
            options[f"pilot{suffix}"] = curve
    planned = priori.plan(
        **options,
        measure=shown or get_task(task).aggregate,
        confidence_level=level,
        alternative="greater" if one_sided else "two-sided",
    )

    def columns() -> dict[str, Any]:
        return {name: ["" if cell is None else cell for cell in column] for name, column in planned.columns().items()}

    output.finish(planned, table=lambda: _table(planned), csv=columns)


def _table(planned: Plan) -> str:
    names = {"users": "users", "dev_users": "development users"} | {n: n for n in ("negatives", "positives", "trials")}
    sizes = [(title, getattr(planned, name)) for name, title in names.items()]
    rows = [[title, f"{number:,}"] for title, number in sizes if number is not None]
    rows.append(["expected width", f"{planned.width:.5f}"])
    if planned.power is not None:
        rows.append(["expected power", f"{planned.power:.3f}"])
    return table_text("", ["needed", ""], rows, note=planned.sentence)
