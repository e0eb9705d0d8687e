"""``priori plan``: the number of users and trials for a width or a power."""

from __future__ import annotations

from typing import Any

import click

from priori.base.errors import OptionError
from priori.cli.ending import Ending, ending_options
from priori.cli.options import (
    Reading,
    alpha_list,
    criterion_options,
    reading_options,
    system_option,
    systems_of,
)
from priori.cli.output import table_text
from priori.curves.epc import epc
from priori.decisions.measures import get_task
from priori.studies.planning import Plan, plan


@click.command(name="plan", short_help="How many users and trials do I need?")
@click.option("--width", type=float, metavar="W", help="The full width of the interval; or:")
@click.option("--difference", type=float, metavar="D", help="the difference between two systems to be detected.")
@click.option("--power", type=float, default=0.8, show_default=True, help="The probability of detecting it.")
@click.option("--far", type=float, metavar="RATE", help="The false acceptance rate expected, as a fraction.")
@click.option("--frr", type=float, metavar="RATE", help="The false rejection rate expected.")
@click.option("--far-b", type=float, metavar="RATE", help="The second system's. Default: the same.")
@click.option("--frr-b", type=float, metavar="RATE", help="The second system's. Default: the same.")
@click.option("--intraclass", type=float, default=0.0, metavar="RHO",
              help="The correlation of the errors of one user, where there is no pilot.")  # fmt: skip
@system_option
@criterion_options
@click.option("--alpha", metavar="A", default="0.5", show_default=True,
              help="The trade-off at which the pilot's threshold is chosen.")  # fmt: skip
@click.option("--negatives-per-positive", type=float, metavar="R", help="Default: the pilot's, or 1.")
@click.option("--negatives-per-user", type=float, metavar="M", help="Default: the pilot's.")
@click.option("--positives-per-user", type=float, metavar="M", help="Default: the pilot's.")
@click.option("--test", type=click.Choice(["verdict", "dependent", "independent"]), default="verdict",
              show_default=True, help="Which test must detect the difference; the verdict needs both.")  # fmt: skip
@click.option("--measure", metavar="NAME", help="hter, dcf:..., wer:0.3, ... Default: the task's.")
@click.option("--level", type=float, default=0.95, show_default=True, help="The confidence level.")
@click.option("--one-sided", is_flag=True, help="The test will be one-sided.")
@ending_options("table", "json", "csv")
@reading_options
def command(
    system: tuple[tuple[str, str, str], ...],
    trials: tuple[str, str] | None,
    task: str,
    criterion: str | None,
    alpha: str,
    measure: str | None,
    level: float,
    one_sided: bool,
    ending: Ending,
    reading: Reading,
    **wanted: Any,
) -> None:
    """Print how many users and trials give an interval of a given width, or detect a difference with a given power.

    The rates expected are given, or measured on a pilot: the test scores of one or two systems, with thresholds
    chosen on their development scores. A pilot with users also gives the design effect: how much more trials
    are needed because the errors of one user are correlated.

    \b
    Examples:
      priori plan --width 0.01 --far 0.02 --frr 0.03 --negatives-per-positive 10
      priori plan --difference 0.005 --power 0.9 --far 0.02 --frr 0.03
      priori plan --width 0.01 --system pilot dev.csv test.csv
    """
    if system:
        if len(system) > 2:
            raise OptionError(f"one pilot or two, not {len(system)}")
        alphas = alpha_list(alpha) or []
        if len(alphas) != 1:
            raise OptionError("a plan is for one alpha")
        curves = [
            epc(pilot.dev, pilot.test, task=task, criterion=criterion, alpha=alphas)
            for pilot in systems_of(system, reading, trials)
        ]
        for curve, of in zip(curves, ("", "_b"), strict=False):
            wanted[f"pilot{of}"], wanted[f"threshold{of}"] = curve.test, float(curve.threshold[0])
    planned = plan(
        **wanted,
        measure=measure or get_task(task).aggregate,
        confidence_level=level,
        alternative="greater" if one_sided else "two-sided",
    )
    ending.finish(
        table=lambda: _table(planned),
        csv=lambda: {
            name: ["" if cell is None else cell for cell in column] for name, column in planned.columns().items()
        },
        json=planned.to_dict,
        warnings=planned.warnings,
    )


def _table(planned: Plan) -> str:
    sizes = {"users": planned.users, "negatives": planned.negatives, "positives": planned.positives,
             "trials": planned.trials}  # fmt: skip
    rows = [[name, f"{number:,}"] for name, number in sizes.items() if number is not None]
    rows.append(["expected width", f"{planned.width:.5f}"])
    if planned.power is not None:
        rows.append(["expected power", f"{planned.power:.3f}"])
    return table_text("", ["needed", ""], rows, note=planned.sentence)
