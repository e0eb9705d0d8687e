"""What ``priori average`` and ``priori average-epc`` share: data sets from files and columns, and their options."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import click

import priori
from priori.base.errors import InputError, OneClassError, OptionError
from priori.base.texts import cell as percent
from priori.cli.commands import Group, option
from priori.cli.options import LEVEL, output_group
from priori.cli.output import tell, warn
from priori.cli.systems import Reading
from priori.curves.averaging.intervals import INTERVALS
from priori.scores import pool

Averaged: TypeAlias = "priori.AverageCurve | priori.AverageEPC"

#: The data sets as other commands name systems, instead of files.
AS_SYSTEMS = option(
    "--system",
    "systems",
    nargs=3,
    multiple=True,
    metavar="NAME DEV TEST",
    help="A data set's name, development scores and test scores, instead of files; repeatable.",
)


@dataclass(frozen=True)
class Averaging:
    """How data sets are found, weighed, and what interval their average gets."""

    by: str | None
    trials: str | None
    weights: str
    interval: str
    level: float
    resamples: int
    seed: int
    skip_incomplete: bool

    def options(self) -> dict[str, Any]:
        """Return the options that `priori.average` and `priori.average_epc` share."""
        return {
            "weights": "size" if self.weights == "size" else None,
            "interval": self.interval,
            "confidence_level": self.level,
            "n_resamples": self.resamples,
            "rng": self.seed,
            "skip_incomplete": self.skip_incomplete,
        }

    def read(self, files: Sequence[str], reading: Reading) -> dict[str, priori.Scores]:
        """Read files and return their data sets by name.

        Without ``--by`` several files are a data set each, and one file is taken apart by its dataset column. With
        ``--by`` all files are taken apart, and trials of one name are one data set, whichever file they came from.
        """
        if not files:
            raise OptionError("give the files with the scores to average: priori average --by dataset FILE...")
        if self.by is None and len(files) > 1:
            return _one_each([(path, self._read(path, reading)) for path in files])
        column = "user" if self.by == "user" else "dataset"
        if self.by not in (None, "user", "dataset"):
            reading = replace(reading, column=(*reading.column, f"dataset={self.by}"))
        datasets: dict[str, list[priori.Scores]] = {}
        for path in files:
            scores = self._read(path, reading)
            for name, part in _take_apart(scores, column, self.by).items() if scores is not None else ():
                datasets.setdefault(name, []).append(part)
        return {name: parts[0] if len(parts) == 1 else pool(parts) for name, parts in datasets.items()}

    def _read(self, path: str, reading: Reading) -> priori.Scores | None:
        try:
            return reading.read(path, trials=self.trials).load()
        except OneClassError as error:
            if not self.skip_incomplete:
                raise InputError(f"{error} (--skip-incomplete leaves such a data set out)") from None
            tell(f"left out {path}: it has one class only")
            return None


def _take_apart(scores: priori.Scores, column: Any, by: str | None) -> dict[str, priori.Scores]:
    try:
        return scores.by(column)
    except InputError:
        hint = "name the column with --by COLUMN, or give one file per data set" if by is None else "check --by"
        raise InputError(
            f"{scores.source}: no column {by or column!r} says which data set a trial is of; {hint}"
        ) from None


def _one_each(read: Sequence[tuple[str, priori.Scores | None]]) -> dict[str, priori.Scores]:
    stems = [Path(path).stem for path, _ in read]
    short = len(set(stems)) == len(stems)
    names = stems if short else [path for path, _ in read]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OptionError(f"the file {twice} is given twice; each data set counts once")
    return {name: scores for name, (_, scores) in zip(names, read, strict=True) if scores is not None}


def announce(kind: str, names: Sequence[str], skipped: Sequence[str], curve: Averaged) -> None:
    """Say on standard error which average of which data sets this is, and what it means."""
    if skipped:
        tell(f"left out, one class only: {', '.join(skipped)}")
    tell(f"{kind} of {len(names)} data sets: {curve.meaning}")
    warn(curve.warnings)


def limit_cell(limit: float, show: Callable[[float], str] = percent) -> str:
    """Return an end of an interval for a table; there is none where it is NaN."""
    return "-" if math.isnan(limit) else show(limit)


#: The options about data sets and intervals; the command gets them as ``averaging``.
AVERAGING = Group(
    "averaging",
    Averaging,
    (
        option(
            "--by",
            metavar="COLUMN",
            help="The column that names the data set of a trial: dataset, user, or any "
            "other. Default: dataset for one file; several files are a data set each.",
        ),
        option(
            "--trials",
            metavar="FILE",
            help="The trials file (Kaldi, VoxCeleb) that the scores of every file are joined with.",
        ),
        option(
            "--weights",
            type=click.Choice(["equal", "size"]),
            default="equal",
            help="Data sets count equally, or by their number of trials.",
        ),
        option(
            "--interval",
            type=click.Choice(INTERVALS),
            default="t",
            help="Student's t, normal as in the paper, or a bootstrap over data sets.",
        ),
        LEVEL,
        option("--resamples", type=int, default=1000, help="Number of bootstrap replicates."),
        option("--seed", type=click.IntRange(min=0), default=0, help="Seed of the random numbers."),
        option("--skip-incomplete", is_flag=True, help="Leave out data sets that have one class only."),
    ),
)

PLOTTED = output_group("table", "csv", "json", plot="Draw the average over the single curves: FILE.svg, .png or .pdf.")
