"""``priori watch``: is a limit broken, or has something changed, since the threshold was deployed?"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import click

import priori
from priori.base.errors import OptionError
from priori.base.texts import cell
from priori.cli.commands import Asked, Group, judging, make_command, output_group
from priori.cli.options import option, options
from priori.cli.output import table_text
from priori.cli.systems import IN_ORDER, Reading, limits_of
from priori.cli.threshold import as_score
from priori.scores.systems import SourceFile
from priori.studies.watching import Watch

#: What a state has settled.
SETTLED = "limits threshold threshold_from task criterion alpha costs prior change_every level"
#: About whom the alarms and bounds speak.
CLAIM = (
    "Bounds and alarms hold at all times together. They are about decisions made so far; for new people use priori epc."
)


@make_command(
    "watch",
    click.Argument(["files"], metavar="FILE...", nargs=-1, required=True),
    option("limits"),
    option(
        "threshold",
        written="--threshold T",
        kind=float,
        multiple=False,
        required=False,
        help="The threshold that is deployed; accept above it.",
    ),
    option("threshold_from"),
    judging("one threshold is deployed", measure=False),
    *options("state change_every share level"),
    Group("reading", Reading.typed, IN_ORDER),
    output_group(plot="Also draw the rates so far"),
)
def watch(asked: Asked) -> None:
    """Watch a deployed threshold: each FILE lists trials in order of time.

    Ends with exit code 1 if a limit is broken or something changed. You may look after every trial: at most 5 % of
    streams, of any length, give a false alarm that a limit is broken. Without labels (--share), the HTER may have a
    limit too.

    \b
    Examples:
      priori watch --threshold-from dev.csv --limit far=0.01 --state watch.json monday.csv
      priori watch --state watch.json tuesday.csv
      priori watch --threshold 0.35 --limit hter=0.1 --share 0.4:0.6 unlabelled.csv
    """
    state, share, reading = asked.state, asked.share, asked.reading
    if state is not None and os.path.exists(state):
        watch = _load(state, reading)
        reading = replace(reading, lower_is_better=watch.distances)
    else:
        limits = {name.lower(): limit for name, limit in limits_of("--limit", "RATE=VALUE", asked.limits).items()}
        watch = Watch(_threshold(asked), limits, asked.level, asked.change_every)
        watch.distances = reading.lower_is_better
    for path in asked.files:
        digest = SourceFile.of(path).sha256 or None
        watch.update(*reading.stream(path, labelled=share is None), batch=digest)
    floors = {} if share is None else watch.unlabelled(_share(share), watch.limits)
    told, deployed = watch.report(), as_score(watch.threshold, watch.distances)
    if asked.output.plot and not watch.labelled:
        raise OptionError("--plot draws the rates of labelled trials, and there are none")
    tables = [_floor_table(floors, share, watch)] if floors else []
    tables += [_table(told)] if watch.labelled or not floors else []
    # Only after all options are checked: trials that are remembered cannot be given again.
    if state is not None:
        watch.save(state)
    asked.output.finish(
        table=lambda: "\n".join(tables),
        csv=lambda: [{"rate": name, **row} for name, row in (floors or told).items()],
        json=lambda: {"threshold": deployed, "alarm": watch.alarm, "rates": told, "floors": floors},
        figure=lambda plots: watch.plot(),
        warnings=(),
    )
    if watch.alarm or any(floor["alarm"] for floor in floors.values()):
        raise click.exceptions.Exit(1)


def _load(state: str, reading: Reading) -> Watch:
    """Return the watch of a state; what the state has settled may not be said again."""
    context = click.get_current_context()
    typed = click.core.ParameterSource.COMMANDLINE
    again = [each for each in context.command.params if context.get_parameter_source(str(each.name)) is typed]
    if named := [each.opts[0] for each in again if each.name in SETTLED.split()]:
        raise OptionError(
            f"{state} holds the threshold and the limits; leave out {', '.join(named)}, or name another --state"
        )
    watch = Watch.load(state)
    if reading.lower_is_better and not watch.distances:
        raise OptionError(f"{state} is about scores, not distances: leave out --lower-is-better")
    return watch


def _threshold(asked: Asked) -> float:
    """Return the threshold that is deployed: as given, or as chosen on development scores."""
    given, path, distances = asked.threshold, asked.threshold_from, asked.reading.lower_is_better
    if (given is None) == (path is None):
        raise OptionError("give the threshold that is deployed: --threshold T, or --threshold-from DEV")
    if given is not None:
        return as_score(given, distances)
    return priori.choose_threshold(asked.reading.read(path), **asked.settings)


def _share(typed: str) -> tuple[float, float]:
    low, _, high = typed.partition(":")
    try:
        return float(low), float(high or low)
    except ValueError:
        raise OptionError(f"--share {typed!r}: write it as LOW:HIGH, for example --share 0.4:0.6") from None


def _table(told: dict[str, dict[str, Any]]) -> str:
    rows = [
        [
            name.upper(),
            cell(row["limit"]),
            *(str(row[count]) for count in ("trials", "errors")),
            *(cell(row[rate]) for rate in ("rate", "lower", "upper")),
            "; ".join(row["alarms"]) or "none",
        ]
        for name, row in told.items()
    ]
    return table_text("", ["rate", "limit", "trials", "errors", "so far", "lower", "upper", "alarm"], rows, note=CLAIM)


def _floor_table(floors: dict[str, dict[str, float]], share: str | None, watch: Watch) -> str:
    rows = [
        [name.upper(), cell(row["floor"]), cell(row["promised"]), "yes" if row["alarm"] else "no"]
        for name, row in floors.items()
    ]
    note = f"{watch.passed} of {watch.seen} unlabelled trials passed."
    for name, row in floors.items():
        if row["alarm"]:
            least = f"the {name.upper()} is at least {cell(row['floor'])}"
            note += f" Either the share of positives is outside {share}, or {least}."
    return table_text("", ["rate", "at least", "limit", "alarm"], rows, note=note)
