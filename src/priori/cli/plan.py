"""``priori plan``: the number of users and trials for a width or a power."""

from __future__ import annotations

from typing import Any

import priori
from priori.base.errors import OptionError
from priori.cli.commands import Asked, at_alpha, judging, make_command, output_group, priced
from priori.cli.options import option, options
from priori.cli.systems import SYSTEMS
from priori.decisions.tasks import get_task


@make_command(
    "plan",
    *options("width difference"),
    option("limits", multiple=False, help="Or a limit that the upper bound of a rate must keep: far=1e-4."),
    *options("expect power assurance far frr far_b frr_b intraclass"),
    SYSTEMS,
    judging("a plan is for one alpha"),
    *options("negatives_per_positive negatives_per_user positives_per_user"),
    option("claim", default=None, help="What compare will claim. Default: method."),
    option("level"),
    output_group("table", "json", "csv"),
)
def plan(asked: Asked) -> None:
    """Print the users and trials for a width, a power, or a limit to certify.

    Give the expected rates, or measure them on a pilot: the test scores of one or two systems, with thresholds
    chosen on their development scores. A pilot with users also gives the design effect: how many times more
    trials are needed because the errors of one user are correlated.

    \b
    Examples:
      priori plan --width 0.01 --far 0.02 --frr 0.03 --negatives-per-positive 10
      priori plan --width 0.01 --system pilot dev.csv test.csv
      priori plan --limit far=1e-4 --expect far=3e-5
    """
    systems = asked.systems
    measure = priced(asked.settings)["measure"] or get_task(asked.settings["task"]).aggregate
    pilots: dict[str, Any] = {}
    if systems:
        if len(systems) > 2:
            raise OptionError(f"one pilot or two, not {len(systems)}")
        curves = systems.curves({**at_alpha(asked.settings), "measure": None})
        pilots = dict(zip(("pilot", "pilot_b"), curves, strict=False))
    if asked.limits is not None:
        _certify(asked, pilots)
        return
    if asked.expect is not None:
        raise OptionError("--expect is the rate expected for a limit: add --limit")
    if asked.width is None and asked.difference is None:
        raise OptionError("say what to plan for: --width W, --difference D, or a limit to certify, --limit RATE=VALUE")
    settings = {"measure": measure, "confidence_level": asked.level}
    asked.output.finish(priori.plan(**asked.only(f"{SIZED} {WITH_LIMIT}"), **pilots, **settings))


#: What goes with a limit, and what goes with a width or a power.
WITH_LIMIT = "assurance intraclass negatives_per_user positives_per_user"
SIZED = "width difference power far frr far_b frr_b negatives_per_positive claim"


def _certify(asked: Asked, pilots: dict[str, Any]) -> None:
    """Print how many people and trials certify a limit."""
    defaults = {"power": 0.8}
    others = [name for name, value in asked.only(SIZED).items() if value != defaults.get(name)]
    if others or "pilot_b" in pilots:
        named = ", ".join(f"--{name.replace('_', '-')}" for name in others) or "two pilots"
        raise OptionError(f"--limit does not go with {named}; with a limit go --expect, --assurance and one pilot")
    genuine = asked.limits.partition("=")[0].strip() in ("frr", "fnmr", "fnr")
    planned = priori.plan_limit(
        asked.limits,
        **asked.only("expect assurance"),
        **pilots,
        intraclass=asked.intraclass or None,
        per_user=asked.positives_per_user if genuine else asked.negatives_per_user,
        confidence_level=asked.level,
    )
    asked.output.finish(planned)
