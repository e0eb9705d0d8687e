"""``priori plan``: the number of users and trials for a width or a power."""

from __future__ import annotations

from typing import Any

import priori
from priori.base.errors import OptionError
from priori.cli.commands import Judging, judging, make_command, output_group
from priori.cli.options import option, options
from priori.cli.output import Output, table_text
from priori.cli.systems import SYSTEMS, Systems
from priori.decisions.tasks import get_task
from priori.studies.planning import Plan


@make_command(
    "plan",
    *options("width difference power assurance far frr far_b frr_b intraclass"),
    SYSTEMS,
    judging("a plan is for one alpha"),
    *options("negatives_per_positive negatives_per_user positives_per_user test"),
    option("claim", default=None, help="What compare will claim. Default: method."),
    *options("development level one_sided"),
    output_group("table", "json", "csv"),
)
def plan(
    systems: Systems, judging: Judging, level: float, one_sided: bool, output: Output, options: dict[str, Any]
) -> None:
    """Print how many users and trials give an interval of a given width, or detect a difference with a given power.

    Give the expected rates, or measure them on a pilot: the test scores of one or two systems, with thresholds
    chosen on their development scores. A pilot with users also gives the design effect: how many times more
    trials are needed because the errors of one user are correlated.

    \b
    Examples:
      priori plan --width 0.01 --far 0.02 --frr 0.03 --negatives-per-positive 10
      priori plan --difference 0.005 --power 0.9 --far 0.02 --frr 0.03
      priori plan --width 0.01 --system pilot dev.csv test.csv
    """
    measure = judging.settings()["measure"]
    if systems:
        if len(systems) > 2:
            raise OptionError(f"one pilot or two, not {len(systems)}")
        settings = {**judging.at_alpha(), "measure": None}
        for curve, suffix in zip(systems.curves(settings), ("", "_b"), strict=False):
            options[f"pilot{suffix}"] = curve
    planned = priori.plan(
        **options,
        measure=measure or get_task(judging.task).aggregate,
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
