"""``priori check``: a gate for continuous integration."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from priori.base.cautions import of_systems
from priori.base.errors import OptionError
from priori.base.options import Claim
from priori.base.texts import cell as percent
from priori.base.whole_files import write_whole
from priori.cli.commands import Judging, judging, make_command, output_group, resampling_options
from priori.cli.options import option, options
from priori.cli.output import Output, Progress, table_text, tell
from priori.cli.systems import SYSTEMS, Systems
from priori.studies.gates import At, Checked, check_limits, check_no_worse, junit_xml
from priori.uncertainty.bootstrap.resampling import Resampling

#: Where GitHub keeps the summary of a step.
SUMMARY = "GITHUB_STEP_SUMMARY"


@make_command(
    "check",
    SYSTEMS,
    *options("maxima minima at no_worse_than"),
    option("margin", help="Margin of --no-worse-than: 0.005 is half a percentage point."),
    option(
        "claim",
        default="deployed",
        help="Claim of --no-worse-than: about systems tuned on similar development sets (method), or about these "
        "thresholds (deployed).",
    ),
    judging("limits are held against at one alpha"),
    *resampling_options("auto", leave_out=("resample", "simultaneous", "promise", "future_users", "future_trials")),
    *options("junit github"),
    output_group(),
)
def check(
    systems: Systems,
    maxima: Sequence[str],
    minima: Sequence[str],
    at: At,
    no_worse_than: str | None,
    margin: float | None,
    claim: Claim,
    judging: Judging,
    resampling: Resampling,
    threads: int | None,
    junit: str | None,
    github: bool,
    output: Output,
) -> None:
    """Compare error rates on test scores with limits; thresholds come from development scores.

    Ends with exit code 0 where every limit is kept, 1 where one is broken, 2 on bad input, 3 on failure. With --at
    upper, the default, the whole confidence interval must keep the limit: a small test set cannot pass by luck. The csv
    columns are system, what, value, lower, upper, limit, at, kept.

    \b
    Examples:
      priori check --system A a-dev.csv a-test.csv --max hter=0.05 --max far=0.001
      priori check --system A a-dev.csv a-test.csv --costs fn=100,fp=1 --prior 0.01 --max cost=0.2
      priori check --system new n-dev.csv n-test.csv --system old o-dev.csv o-test.csv --no-worse-than old --margin 0.01
    """
    money = f"cost:{judging.costs},prior={judging.prior}" if judging.costs and judging.prior else None
    limits, least = _limits("--max", maxima, money), _limits("--min", minima, money)
    if (no_worse_than is None) != (margin is None):
        raise OptionError("--no-worse-than NAME and --margin SIZE go together")
    if not (limits or least or no_worse_than):
        raise OptionError("give a limit: --max hter=0.05, --min recall=0.9, or --no-worse-than with --margin")
    curves = {curve.name: curve for curve in systems.curves(judging.at_alpha())}
    other = None if no_worse_than is None else curves.pop(no_worse_than, None)
    if no_worse_than is not None and (other is None or not curves):
        known = ", ".join(system.name for system in systems.read())
        raise OptionError(f"--no-worse-than {no_worse_than}: name one of two systems or more; the systems are {known}")
    checked: list[Checked] = []
    for curve in curves.values():
        with Progress(f"limits of {curve.name}") as progress:
            checked += check_limits(curve, limits, resampling, at=at, minima=least, threads=threads, progress=progress)
            if other is not None and margin is not None:
                checked.append(check_no_worse(curve, other, margin, resampling, claim=claim, threads=threads))
    if junit is not None:
        write_whole(junit, junit_xml(checked))
    if github:
        _append_summary(checked)
    output.finish(
        table=lambda: _table(checked),
        csv=lambda: [each.to_dict() for each in checked],
        json=lambda: {"kept": all(each.kept for each in checked), "limits": [each.to_dict() for each in checked]},
        warnings=of_systems([(each.system, each.warnings) for each in checked]),
    )
    if not all(each.kept for each in checked):
        raise click.exceptions.Exit(1)


def _limits(name: str, typed: Sequence[str], money: str | None) -> dict[str, float]:
    """Return the limits by measure; ``cost`` is that of --costs and --prior."""
    limits: dict[str, float] = {}
    for each in typed:
        measure, equals, limit = each.rpartition("=")
        if money is not None and measure.strip() == "cost":
            measure = money
        if measure.strip() in limits:
            raise OptionError(f"{name} {each!r}: this measure has a limit already; give one limit for each")
        try:
            limits[measure.strip()] = float(limit)
        except ValueError:
            equals = ""
        if not (measure.strip() and equals):
            raise OptionError(f"{name} {each!r}: write it as MEASURE=LIMIT, for example {name} hter=0.05")
    return limits


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


def _table(checked: Sequence[Checked]) -> str:
    broken = sum(not each.kept for each in checked)
    number = f"{len(checked)} limit{'s' * (len(checked) > 1)}"
    note = f"{broken} of {number} broken." if broken else f"{number} kept."
    return table_text("", HEADER, _rows(checked), note=note)


def _append_summary(checked: Sequence[Checked]) -> None:
    """Append a Markdown table to the summary of a GitHub step."""
    path = os.environ.get(SUMMARY)
    if not path:
        tell(f"--github: {SUMMARY} is not set; nothing was appended")
        return
    lines = [HEADER, ["---"] * len(HEADER), *_rows(checked)]
    text = "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(f"\n### priori check\n\n{text}\n")
    except OSError as error:
        raise OptionError(f"cannot append to {path}: {error.strerror}") from None
