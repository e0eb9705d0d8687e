"""``priori check``: a gate for continuous integration."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import click

from priori.base.cautions import of_systems
from priori.base.errors import OptionError
from priori.base.texts import cell as percent
from priori.base.whole_files import write_whole
from priori.cli.commands import Asked, at_alpha, judging, make_command, output_group, resampling_options
from priori.cli.options import option, options
from priori.cli.output import Progress, table_text, tell
from priori.cli.systems import SYSTEMS, limits_of
from priori.decisions.presets import get_preset
from priori.testing import Checked, check_limits, check_no_worse, junit_xml
from priori.words.paper_tables import markdown_table

#: How a limit is typed.
LIMIT = "MEASURE=LIMIT"
#: Where GitHub keeps the summary of a step.
SUMMARY = "GITHUB_STEP_SUMMARY"


@make_command(
    "check",
    SYSTEMS,
    *options("maxima minima preset at no_worse_than"),
    option("margin", help="Margin of --no-worse-than: 0.005 is half a percentage point."),
    option(
        "claim",
        default="deployed",
        help="Claim of --no-worse-than: about systems tuned on similar development sets (method), or about these "
        "thresholds (deployed).",
    ),
    judging("limits are held against at one alpha"),
    *resampling_options("auto", leave_out=("resample", "simultaneous")),
    *options("one_sided junit github"),
    output_group(),
)
def check(asked: Asked) -> None:
    """Check error rates, at thresholds fixed on development scores, against limits.

    Ends with exit code 0 where every limit is kept, 1 where one is broken, 2 on bad input, 3 on failure. With --at
    upper, the default, the whole confidence interval must keep the limit: a small test set cannot pass by luck. The csv
    columns are system, what, value, lower, upper, limit, at, kept.

    \b
    Examples:
      priori check --system A a-dev.csv a-test.csv --max hter=0.05 --max far=0.001
      priori check --system A a-dev.csv a-test.csv --preset fido
      priori check --system new n-dev.csv n-test.csv --system old o-dev.csv o-test.csv --no-worse-than old --margin 0.01
    """
    settings, resampling, no_worse_than, margin = asked.settings, asked.resampling, asked.no_worse_than, asked.margin
    costs, prior = settings["costs"], settings["prior"]
    money = f"cost:{costs},prior={prior}" if costs and prior else None
    limits, least = (
        # ``cost`` is that of --costs and --prior.
        {money if money and name == "cost" else name: limit for name, limit in typed.items()}
        for typed in (limits_of("--max", LIMIT, asked.maxima), limits_of("--min", LIMIT, asked.minima))
    )
    if asked.preset is not None:
        claimed = get_preset(asked.preset, limits=True)
        limits = {**claimed.maxima, **limits}
        context = click.get_current_context()
        if context.get_parameter_source("level") is click.core.ParameterSource.DEFAULT and claimed.level is not None:
            resampling = replace(resampling, confidence_level=claimed.level)
    if asked.one_sided:
        if resampling.confidence_level <= 0.5:
            raise OptionError(f"--one-sided needs a --level above 0.5, not {resampling.confidence_level:g}")
        resampling = replace(resampling, confidence_level=2 * resampling.confidence_level - 1)
    if (no_worse_than is None) != (margin is None):
        raise OptionError("--no-worse-than NAME and --margin SIZE go together")
    if not (limits or least or no_worse_than):
        raise OptionError("give a limit: --max hter=0.05, --min recall=0.9, or --no-worse-than with --margin")
    curves = {curve.name: curve for curve in asked.systems.curves(at_alpha(settings))}
    other = None if no_worse_than is None else curves.pop(no_worse_than, None)
    if no_worse_than is not None and (other is None or not curves):
        known = ", ".join(system.name for system in asked.systems.read())
        raise OptionError(f"--no-worse-than {no_worse_than}: name one of two systems or more; the systems are {known}")
    checked: list[Checked] = []
    how: dict[str, Any] = {"threads": asked.threads}
    for curve in curves.values():
        with Progress(f"limits of {curve.name}") as progress:
            how["progress"] = progress
            checked += check_limits(curve, limits, resampling, at=asked.at, minima=least, **how)
            if other is not None and margin is not None:
                checked.append(check_no_worse(curve, other, margin, resampling, claim=asked.claim, **how))
    if asked.junit is not None:
        write_whole(asked.junit, junit_xml(checked))
    if asked.github:
        _append_summary(checked)
    broken, number = sum(not each.kept for each in checked), f"{len(checked)} limit{'s' * (len(checked) > 1)}"
    note = f"{broken} of {number} broken." if broken else f"{number} kept."
    asked.output.finish(
        table=lambda: table_text("", HEADER, _rows(checked), note=note),
        csv=lambda: [each.to_dict() for each in checked],
        json=lambda: {"kept": not broken, "limits": [each.to_dict() for each in checked]},
        warnings=of_systems([(each.system, each.warnings) for each in checked]),
    )
    if broken:
        raise click.exceptions.Exit(1)


def _rows(checked: Sequence[Checked]) -> list[list[str]]:
    return [
        [
            each.system,
            each.what,
            *(percent(number, each.rate) for number in (each.value, each.lower, each.upper)),
            f"{percent(each.limit, each.rate)} ({each.at})",
            "kept" if each.kept else "BROKEN",
        ]
        for each in checked
    ]


HEADER = ["system", "what", "value", "lower", "upper", "limit (at)", ""]


def _append_summary(checked: Sequence[Checked]) -> None:
    """Append a Markdown table to the summary of a GitHub step."""
    path = os.environ.get(SUMMARY)
    if not path:
        tell(f"--github: {SUMMARY} is not set; nothing was appended")
        return
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"\n### priori check\n\n{markdown_table('', HEADER, _rows(checked))}\n")
    except OSError as error:
        raise OptionError(f"cannot append to {path}: {error.strerror}") from None
