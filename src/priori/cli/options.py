"""Options that several commands share, and what they mean: how files are read, which systems there are."""

from __future__ import annotations

import functools
import glob
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import click

from priori.base.alphas import as_fractions, from_costs
from priori.base.errors import OptionError
from priori.cli.output import tell
from priori.cli.progress import Scans
from priori.curves.epc import PRESETS
from priori.decisions.criteria import CRITERIA
from priori.decisions.measures import MEASURES, TASKS
from priori.scores import ScoreSet
from priori.scores.systems import SourceFile, System
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.uncertainty.bootstrap.resampling import Resampling, option_fields

#: A file of fewer bytes than this is read into memory.
SMALL = 16 << 20

Command = TypeVar("Command", bound=Callable[..., Any])


def _stack(*decorators: Callable[[Any], Any]) -> Callable[[Command], Command]:
    def apply(command: Command) -> Command:
        for decorator in reversed(decorators):
            command = decorator(command)
        return command

    return apply


@dataclass(frozen=True)
class Reading:
    """How score files are to be read."""

    input_format: str | None
    column: Sequence[str]
    positive: str | None
    nan: str
    lower_is_better: bool
    engine: str = "auto"
    memory: str = "1GB"
    temp: str | None = None

    def read(self, path: str, *, trials: str | None = None) -> ScoreSet:
        """Read a file, or scan the files of a glob where they are, and say on stderr what was recognised."""
        how: dict[str, Any] = {
            "format": self.input_format,
            "columns": self._columns(),
            "pos_label": self.positive,
            "nan": self.nan,
            "lower_is_better": self.lower_is_better,
            "announce": tell,
        }
        if trials is not None or path == "-" or (self.engine == "auto" and _small(path)):
            if self.engine not in ("auto", "memory"):
                raise OptionError(f"--engine {self.engine} reads files on their own: no --trials, no standard input")
            from priori.readers import read

            return read(path, trials=trials, **how)
        from priori.engines import Table, scan

        scores = scan(path, engine=self.engine, memory=self.memory, temp=self.temp, **how)  # type: ignore[arg-type]
        if isinstance(scores, Table):
            scores.engine.progress = Scans(f"scanning {path}")
        return scores

    def _columns(self) -> dict[str, str]:
        names = {}
        for pair in self.column:
            ours, equals, theirs = pair.partition("=")
            if not (ours and equals and theirs):
                raise OptionError(f"--column {pair!r}: write it as ours=theirs, for example --column score=similarity")
            names[ours.strip()] = theirs.strip()
        return names


_READING = (
    click.option("--input-format", metavar="NAME", help="Force the file format instead of recognising it: csv, tsv, "
                 "table, parquet, two-column, bob4, bob5, kaldi, voxceleb."),
    click.option("--column", multiple=True, metavar="OURS=THEIRS", help="The name of a column in your files: "
                 "score, label, user, probe_user, trial or dataset. Repeatable."),
    click.option("--positive", metavar="VALUE", help="The label of the positive class, when it is not a pair we know."),
    click.option("--nan", type=click.Choice(["error", "reject", "drop"]), default="error", show_default=True,
                 help="What a NaN score means: an error, a trial that is always rejected, or one to leave out."),
    click.option("--lower-is-better", is_flag=True, help="The scores are distances: negate them."),
    click.option("--engine", type=click.Choice(["auto", "memory", "duckdb", "spark"]), default="auto",
                 show_default=True, help="Where files are counted; auto: in memory if they fit, else by duckdb, in "
                 "place. A glob between quotes, or a directory, stands for many Parquet files."),
    click.option("--memory", default="1GB", show_default=True, metavar="SIZE", help="How much memory to use."),
    click.option("--temp", metavar="DIR", help="Where temporary files go; they are removed at the end."),
)  # fmt: skip


def _small(path: str) -> bool:
    """Tell whether a file is so small that it is read without further ado; what is no file complains there."""
    return (
        not os.path.isdir(path)
        and not glob.has_magic(path)
        and (not os.path.isfile(path) or os.path.getsize(path) < SMALL)
    )


def gather(command: Command, name: str, kind: type, options: Sequence[Callable[[Any], Any]]) -> Command:
    """Add options that the command gets together, as one object called ``name``."""
    names = [field.name for field in fields(kind)]

    @functools.wraps(command)
    def gathered(*args: Any, **given: Any) -> Any:
        return command(*args, **{name: kind(**{field: given.pop(field) for field in names})}, **given)

    return _stack(*options)(gathered)  # type: ignore[return-value]


def reading_options(command: Command) -> Command:
    """Add the options that say how files are read; the command gets them as ``reading``."""
    return gather(command, "reading", Reading, _READING)


def system_option(command: Command) -> Command:
    """Add ``--system NAME DEV TEST`` (repeatable) and the Kaldi and VoxCeleb trial files that go with it."""
    return _stack(
        click.option("--system", "system", nargs=3, multiple=True, metavar="NAME DEV TEST",
                     help="A system's name, development scores and test scores. Repeat for more systems."),
        click.option("--trials", nargs=2, metavar="DEV TEST", default=None,
                     help="The trials files (Kaldi, VoxCeleb) that the development and test scores are joined with."),
    )(command)  # fmt: skip


def systems_of(
    system: Sequence[tuple[str, str, str]], reading: Reading, trials: tuple[str, str] | None = None
) -> list[System]:
    """Read every system; names must differ, and a system's two files must be of one format."""
    from priori.readers import pair_check

    if not system:
        raise OptionError("give at least one system: --system NAME DEV TEST")
    names = [name for name, _, _ in system]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise OptionError(f"two systems are called {twice!r}; give each its own name")
    found = []
    for name, dev, test in system:
        if dev == "-" and test == "-":
            raise OptionError(f"system {name!r}: only one of its two files can be standard input")
        dev_trials, test_trials = trials or (None, None)
        read = System(
            name,
            reading.read(dev, trials=dev_trials),
            reading.read(test, trials=test_trials),
            SourceFile(dev),
            SourceFile(test),
        )
        pair_check(read.dev, read.test, name=f"system {name!r}")
        found.append(read)
    return found


def scores_option(command: Command) -> Command:
    """Add ``--scores NAME FILE`` (repeatable)."""
    return click.option("--scores", nargs=2, multiple=True, metavar="NAME FILE",
                        help="A name and a file of scores. Repeat for more curves.")(command)  # fmt: skip


def named_scores(scores: Sequence[tuple[str, str]], reading: Reading) -> list[tuple[str, ScoreSet]]:
    """Read every ``--scores NAME FILE``."""
    if not scores:
        raise OptionError("give at least one set of scores: --scores NAME FILE")
    return [(name, reading.read(path)) for name, path in scores]


def criterion_options(command: Command) -> Command:
    """Add the task and the criterion."""
    return _stack(
        click.option("--task", type=click.Choice(list(TASKS)), default="authentication", show_default=True,
                     help="Gives V1, V2 and the default criterion and measure."),
        click.option("--criterion", metavar="NAME", default=None,
                     help=f"What the threshold minimises on development scores: {', '.join(CRITERIA)}. "
                     "Default: the task's."),
    )(command)  # fmt: skip


#: ``--threads``, which is no part of a resampling: the numbers do not depend on it.
threads_option = click.option(
    "--threads", type=click.IntRange(min=1), help="Threads to use; the numbers do not depend on it."
)


def resampling_option(name: str, *, default: Any = ..., help: str | None = None) -> Callable[[Command], Command]:
    """Return the option for one field of a resampling, with its own default and help unless others are given."""
    field, seen = next((field, seen) for field, seen in option_fields() if field.name == name)
    value = field.default if default is ... else default
    flags = f"--{seen.name.replace('_', '-')}"
    kind: Any = type(value)
    flag = seen.opposite is not None or field.default is False
    if seen.opposite is not None:
        flags += f"/--{seen.opposite.replace('_', '-')}"
    if name == "bootstrap":
        kind = click.Choice(["auto", *BOOTSTRAPS])
    elif seen.choices:
        kind = click.Choice(seen.choices)
    elif seen.least is not None:
        kind = click.IntRange(min=seen.least)
    elif seen.parse is not None:
        kind, value = str, str(value)
    return click.option(
        flags, seen.name, help=help or seen.help, default=value, metavar=seen.metavar, is_flag=flag or None,
        type=None if flag else kind, show_default=value is not None and not flag,
    )  # fmt: skip


def resampling_options(default: str | None) -> Callable[[Command], Command]:
    """Add the options of a bootstrap, and ``--threads``.

    The command gets them as ``resampling``, None where no bootstrap was asked for, and ``threads``.
    """
    names = [field.name for field, _ in option_fields() if field.name != "bootstrap"]
    decorators = [resampling_option("bootstrap", default=default), *map(resampling_option, names), threads_option]

    def apply(command: Command) -> Command:
        @functools.wraps(command)
        def gathered(*args: Any, **given: Any) -> Any:
            typed = {field.name: given.pop(seen.name) for field, seen in option_fields()}
            return command(*args, resampling=_resampling(typed), **given)

        return _stack(*decorators)(gathered)  # type: ignore[return-value]

    return apply


def _resampling(typed: dict[str, Any]) -> Resampling | None:
    """Return what was asked for; without a bootstrap its other options are a mistake."""
    if typed["bootstrap"] is None:
        alone = typed["resample"] != "test" or typed["promise"] != "confidence" or typed["simultaneous"]
        if alone or typed["future_users"] or typed["future_trials"]:
            raise OptionError("these options belong to a bootstrap: add --bootstrap auto")
        return None
    read = {field.name: seen.parse(typed[field.name]) for field, seen in option_fields() if seen.parse is not None}
    return Resampling(**{**typed, **read, "bootstrap": None if typed["bootstrap"] == "auto" else typed["bootstrap"]})


MEASURE_HELP = (
    f"What is shown on the test scores: {', '.join(MEASURES)}; with parameters, wer:0.3, f2, "
    "dcf:cost_fn=10,cost_fp=1,prior=0.01. Default: the task's."
)


@dataclass(frozen=True)
class Curves:
    """Which curves to compute, as typed."""

    task: str
    criterion: str | None
    measure: str | None
    preset: str | None
    points: int
    bounds: tuple[str, str]
    alpha: str | None

    def settings(self) -> dict[str, Any]:
        """Return the options of `priori.epc`."""
        return {**vars(self), "alpha": alpha_list(self.alpha)}


def curve_options(command: Command) -> Command:
    """Add the task, criterion, measure and alphas of a curve; the command gets them as ``curves``."""
    options = (
        criterion_options,
        click.option("--measure", metavar="NAME", help=MEASURE_HELP),
        click.option("--preset", type=click.Choice(list(PRESETS)), help="The settings of an evaluation campaign."),
        click.option("--points", type=int, default=101, show_default=True, help="How many alphas."),
        click.option("--range", "bounds", nargs=2, metavar="A B", default=("0", "1"), help="The first and last alpha."),
        click.option("--alpha", metavar="LIST",
                     help="These alphas instead: 0.1,0.5,99/109 or costs:COST_FN,COST_FP,PRIOR."),
    )  # fmt: skip
    return gather(command, "curves", Curves, options)


def alpha_list(text: str | None) -> list[Any] | None:
    """Read a list of alphas: numbers or fractions between commas, or costs and a prior."""
    if text is None:
        return None
    if text.startswith("costs:"):
        parts = text.removeprefix("costs:").split(",")
        if len(parts) != 3:
            raise OptionError(f"--alpha {text!r}: write costs:COST_FN,COST_FP,PRIOR, for example costs:10,1,0.01")
        return [from_costs(*parts)]
    return list(as_fractions([part for part in text.split(",") if part.strip()]))
