"""``priori check``: a gate for continuous integration."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, get_args

import click

import priori
from priori.base.cautions import of_systems
from priori.base.errors import OptionError
from priori.base.options import Claim
from priori.base.texts import cell as percent
from priori.base.whole_files import write_whole
from priori.cli.commands import make_command, option
from priori.cli.files import WRITTEN
from priori.cli.options import COSTS, CRITERION, MEASURE, curve_at, one_alpha, output_group, resampling_options
from priori.cli.output import Output, Progress, printable, table_text, tell
from priori.cli.systems import SYSTEMS, Systems
from priori.decisions.costs import price
from priori.studies.gates import At, Checked, check_limits, check_no_worse, junit_xml
from priori.uncertainty.bootstrap.resampling import Resampling

#: Where GitHub keeps the summary of a step.
SUMMARY = "GITHUB_STEP_SUMMARY"


@make_command(
    "check",
    SYSTEMS,
    option(
        "--max",
        "maxima",
        multiple=True,
        metavar="MEASURE=LIMIT",
        help="A measure must not exceed this: hter=0.05, far=0.001. Repeatable.",
    ),
    option(
        "--min",
        "minima",
        multiple=True,
        metavar="MEASURE=LIMIT",
        help="A measure must reach this: recall=0.9. Repeatable.",
    ),
    option(
        "--at",
        type=click.Choice(get_args(At)),
        default="upper",
        help="What must keep the limit: the end of the confidence interval on the bad side, or the value itself.",
    ),
    option(
        "--no-worse-than",
        nargs=3,
        metavar="NAME DEV TEST",
        help="A system that the others must not be worse than by more than --margin. With --folds: NAME FILE FILE.",
    ),
    option("--margin", type=float, metavar="SIZE", help="By how much, such as 0.005 for half a point."),
    option(
        "--claim",
        type=click.Choice(get_args(Claim)),
        default="deployed",
        help="What --no-worse-than is about: systems tuned on other development sets (method), or these thresholds "
        "as they are (deployed).",
    ),
    *CRITERION,
    MEASURE,
    *COSTS,
    option("--alpha", metavar="NUMBER", help="Where thresholds are chosen. Default: 0.5, or the alpha of --costs."),
    *resampling_options("auto", leave_out=("resample", "simultaneous", "promise", "future_users", "future_trials")),
    option("--junit", metavar="FILE", type=WRITTEN, help="Also write a JUnit XML report to FILE."),
    option("--github", is_flag=True, help=f"Also append a table to the file that {SUMMARY} names."),
    output_group("table", "csv", "json"),
)
def command(
    systems: Systems,
    maxima: Sequence[str],
    minima: Sequence[str],
    at: At,
    no_worse_than: tuple[str, str, str] | None,
    margin: float | None,
    claim: Claim,
    task: str,
    criterion: str | None,
    measure: str | None,
    costs: str | None,
    prior: str | None,
    alpha: str | None,
    resampling: Resampling,
    threads: int | None,
    junit: str | None,
    github: bool,
    output: Output,
) -> None:
    """Hold error rates on test scores, at thresholds chosen on development scores, against limits.

    Ends with exit code 0 where every limit is kept, 1 where one is broken, 2 on bad input, 3 on failure. With --at
    upper, the default, the whole confidence interval must keep the limit: few trials cannot pass by luck. The csv
    columns are system, what, value, lower, upper, limit, at, kept.

    \b
    Examples:
      priori check --system A a-dev.csv a-test.csv --max hter=0.05 --max far=0.001
      priori check --system A a-dev.csv a-test.csv --costs fn=100,fp=1 --prior 0.01 --max cost=0.2
      priori check --system new n-dev.csv n-test.csv --no-worse-than old o-dev.csv o-test.csv --margin 0.005
    """
    money = f"cost:{costs},prior={prior}" if costs is not None and prior is not None else None
    limits, least = _limits("--max", maxima, money), _limits("--min", minima, money)
    if (no_worse_than is None) != (margin is None):
        raise OptionError("--no-worse-than NAME DEV TEST and --margin SIZE go together")
    if not (limits or least or no_worse_than):
        raise OptionError("give a limit: --max hter=0.05, --min recall=0.9, or --no-worse-than with --margin")
    chosen = one_alpha(alpha, "limits are held against at one alpha")
    shown, chosen = price(task, criterion, measure, chosen, costs, prior)
    settings = curve_at(task, criterion, chosen, measure=shown)
    systems.others = [] if no_worse_than is None else [printable(no_worse_than[0])]
    checked: list[Checked] = []
    for curve in systems.curves(dict(settings)):
        with Progress(f"limits of {curve.name}") as progress:
            checked += check_limits(curve, limits, resampling, at=at, minima=least, threads=threads, progress=progress)
            if no_worse_than is not None and margin is not None:
                other = _other(systems, no_worse_than, settings)
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


def _other(systems: Systems, typed: tuple[str, str, str], settings: dict[str, Any]) -> priori.EPC:
    name, *paths = typed
    reading = systems.reading.of(printable(name))
    if systems.folds is not None:
        if paths[0] != paths[1]:
            raise OptionError(
                "with --folds, --no-worse-than takes one file, given twice: --no-worse-than NAME FILE FILE"
            )
        return systems.crossed(reading.read(paths[0]), name, settings)
    dev, test = (reading.read(path) for path in paths)
    return priori.epc(dev, test, name=name, **settings)


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
