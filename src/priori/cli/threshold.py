"""``priori threshold``: choose the threshold to deploy."""

from __future__ import annotations

from typing import Any

import numpy as np

from priori.base.alphas import as_fractions
from priori.cli.commands import make_command, option
from priori.cli.options import COSTS, CRITERION, alpha_list, output_group
from priori.cli.output import Output, table_of
from priori.cli.systems import OneSet, one_set
from priori.curves.checks import threshold_cautions
from priori.decisions.costs import price
from priori.decisions.criteria import get_criterion
from priori.decisions.tasks import get_task


@make_command(
    "threshold",
    one_set("dev"),
    option(
        "--alpha",
        metavar="LIST",
        help="The trade-off: 0.5 (the default), a list 0.1,0.5,0.9, or costs:COST_FN,COST_FP,PRIOR. Or the limit of "
        "at-most-far and the like, which has no default.",
    ),
    *COSTS,
    *CRITERION,
    output_group("table", "csv", "json"),
)
def command(
    read: OneSet,
    alpha: str | None,
    costs: str | None,
    prior: str | None,
    task: str,
    criterion: str | None,
    output: Output,
) -> None:
    """Print the threshold that minimises the criterion on DEV, and the rates it has there.

    A trial is accepted when its score is greater than the threshold.

    \b
    Examples:
      priori threshold dev.csv --alpha 0.5
      priori threshold dev.csv --criterion at-most-far --alpha 0.01
      priori threshold dev.csv --criterion at-most-far:0.95 --alpha 0.01
      priori threshold --system A a-dev.csv a-test.csv --criterion eer
      priori threshold dev.csv --costs fn=10,fp=1 --prior 0.01
    """
    domain = get_task(task)
    priced = price(domain, criterion, None, alpha_list(alpha), costs, prior)
    rule, v1, v2 = get_criterion(criterion, domain), domain.v1, domain.v2
    fractions = as_fractions(rule.alpha_or_half(priced.alpha))
    scores = read()
    choice, alphas = rule.choose(scores, fractions), np.array([float(fraction) for fraction in fractions])
    columns: dict[str, Any] = {
        "alpha": alphas.tolist(),
        "threshold": choice.threshold,
        "dev_v1": v1(choice.outcomes),
        "dev_v2": v2(choice.outcomes),
    }
    if costs is not None:
        columns["dev_cost"] = priced.measure(choice.outcomes)
    settings = {"task": domain.name, "criterion": rule.name, "v1_name": v1.name, "v2_name": v2.name}

    headings = {"alpha": "alpha", "threshold": "threshold", "dev_v1": f"dev {v1.name}", "dev_v2": f"dev {v2.name}"}
    headings |= {"dev_cost": "dev cost"} if costs else {}
    title = f"Threshold by {rule.name}; accept when the score is greater"
    output.finish(
        table=lambda: table_of(title, columns, headings, threshold="{:.10g}".format, dev_cost="{:.5g}".format),
        csv=lambda: columns,
        json=lambda: {**settings, "outcomes": choice.outcomes.to_dict(), **columns},
        warnings=threshold_cautions(rule, scores, alphas, choice),
    )
