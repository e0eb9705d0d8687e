"""``priori threshold``: choose the threshold to deploy."""

from __future__ import annotations

import click

from priori.cli.commands import make_command, option
from priori.cli.options import CRITERION, alpha_list, output_group
from priori.cli.output import Output, table_text
from priori.cli.systems import READING, TRIALS, Reading
from priori.curves.checks import set_cautions
from priori.decisions.criteria import get_criterion
from priori.decisions.measures import get_task
from priori.words.numbers import cell as percent


@make_command(
    "threshold", "Choose a threshold on development scores.",
    click.Argument(["dev"], metavar="DEV"),
    option("--alpha", metavar="LIST", default="0.5",
           help="The trade-off: 0.5, a list 0.1,0.5,0.9, or costs:COST_FN,COST_FP,PRIOR."),
    *CRITERION, TRIALS, output_group("table", "csv", "json"), READING,
)  # fmt: skip
def command(
    dev: str, alpha: str, task: str, criterion: str | None, trials: str | None, output: Output, reading: Reading
) -> None:
    """Print the threshold that minimises the criterion on DEV, and the rates it has there.

    A trial is accepted when its score is greater than the threshold.

    \b
    Examples:
      priori threshold dev.csv --alpha 0.5
      priori threshold dev.csv --criterion target-v1 --alpha 0.01
      priori threshold dev.csv --alpha costs:10,1,0.01
    """
    fractions = alpha_list(alpha) or []
    scores = reading.read(dev, trials=trials)
    domain = get_task(task)
    rule, v1, v2 = get_criterion(criterion, domain), domain.v1, domain.v2
    choice = rule.choose(scores, fractions)
    columns = {
        "alpha": [float(fraction) for fraction in fractions],
        "threshold": choice.threshold,
        "dev_v1": v1(choice.outcomes),
        "dev_v2": v2(choice.outcomes),
    }
    settings = {"task": domain.name, "criterion": rule.name, "v1_name": v1.name, "v2_name": v2.name}

    def table() -> str:
        rows = zip(*columns.values(), strict=True)
        return table_text(
            f"Threshold by {rule.name}; accept when the score is greater",
            ["alpha", "threshold", f"dev {v1.name}", f"dev {v2.name}"],
            ([f"{a:.4g}", f"{t:.10g}", percent(x), percent(y)] for a, t, x, y in rows),
        )

    output.finish(
        table=table,
        csv=lambda: columns,
        json=lambda: {**settings, "outcomes": choice.outcomes.to_dict(), **columns},
        warnings=set_cautions(scores),
    )
