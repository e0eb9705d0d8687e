"""Options that several commands share, in groups that reach a command as one object: systems, curves, resampling."""

from __future__ import annotations

import functools
import glob
import inspect
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypedDict, Unpack, get_args

import click

from priori.base.alphas import as_fractions, from_costs
from priori.base.cautions import silenced
from priori.base.errors import OptionError
from priori.base.whole_files import check_writable
from priori.cli.files import check_files_apart
from priori.cli.output import Output, printable, tell
from priori.cli.progress import Progress
from priori.curves.epc import EPC, PRESETS, Weight, epc
from priori.decisions.criteria import CRITERIA
from priori.decisions.measures import MEASURES, TASKS
from priori.scores import ScoreSet
from priori.scores.systems import SourceFile, System
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.uncertainty.bootstrap.resampling import Resampling, option_fields
from priori.uncertainty.claims import Claim

#: A file of fewer bytes than this is read into memory.
SMALL = 16 << 20


@dataclass(frozen=True)
class Group:
    """Options that a command gets together: as one argument called ``name``, made by ``make`` from their values.

    The options ``last`` belong to it too; --help lists them at the end.
    """

    name: str
    make: Callable[..., Any]
    options: tuple[click.Option, ...]
    last: tuple[click.Option, ...] = ()


def make_command(
    name: str, short_help: str, *parts: click.Parameter | Group, help: str | None = None
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function; its options are listed by --help in the order given here.

    What the function does not name, it gets together, as the dictionary ``options``. A command that gives results has
    ``--silence`` too.
    """
    groups = [part for part in parts if isinstance(part, Group)]
    params = [param for part in parts for param in (part.options if isinstance(part, Group) else (part,))]
    params += [param for group in groups for param in group.last]
    if any(group.name == "output" for group in groups):
        params.append(SILENCE)

    def decorate(function: Callable[..., None]) -> click.Command:
        named = inspect.signature(function).parameters

        @functools.wraps(function)
        def _gathered(**typed: Any) -> None:
            codes = _codes(typed.pop("silence", None))
            check_files_apart(click.get_current_context())
            for group in groups:
                values = {str(param.name): typed.pop(str(param.name)) for param in (*group.options, *group.last)}
                typed[group.name] = group.make(**values)
            if "options" in named:
                typed["options"] = {name: typed.pop(name) for name in [*typed] if name not in named}
            with silenced(*codes):
                function(**typed)

        return click.command(name, short_help=short_help, params=params, help=help or function.__doc__)(_gathered)

    return decorate


class OptionSettings(TypedDict, total=False):
    """What can be said of an option: the settings of `click.Option` that are used here."""

    help: str
    type: Any
    default: Any
    metavar: str | None
    multiple: bool
    required: bool
    nargs: int
    is_flag: bool | None
    callback: Callable[[click.Context, click.Parameter, Any], Any]
    show_default: bool


def option(*names: str, **settings: Unpack[OptionSettings]) -> click.Option:
    """Return an option; its default is shown by --help unless it says otherwise."""
    settings.setdefault("show_default", settings.get("default") is not None)
    return click.Option(names, **settings)


def _codes(typed: str | None) -> list[str]:
    """Return the codes between commas."""
    return [code.strip() for code in (typed or "").split(",") if code.strip()]


def _check_codes(context: click.Context, parameter: click.Parameter, typed: str | None) -> str | None:
    """Refuse at once what is no code."""
    with silenced(*_codes(typed)):
        return typed


SILENCE = option("--silence", metavar="CODE,...", callback=_check_codes,
                 help="Do not show warnings of these codes: few-users,few-errors. See docs/cautions.md.")  # fmt: skip


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
        settings = self.settings
        if trials is not None or path == "-" or (self.engine == "auto" and _small(path)):
            if self.engine not in ("auto", "memory"):
                raise OptionError(f"--engine {self.engine} reads files on their own: no --trials, no standard input")
            from priori.readers import read

            return read(path, trials=trials, **settings)
        from priori.engines import Table, scan

        scores = scan(path, engine=self.engine, memory=self.memory, temp=self.temp, **settings)  # type: ignore[arg-type]
        if isinstance(scores, Table):
            scores.engine.progress = Progress(f"scanning {path}")
        return scores

    @property
    def settings(self) -> dict[str, Any]:
        """How files are read, as `priori.read` and `priori.read_table` take it."""
        pairs = [_pair("--column", "ours=theirs, for example --column score=similarity", pair) for pair in self.column]
        return {
            "format": self.input_format, "columns": dict(pairs), "pos_label": self.positive, "nan": self.nan,
            "lower_is_better": self.lower_is_better, "announce": tell,
        }  # fmt: skip


def _pair(option: str, shape: str, typed: str) -> tuple[str, str]:
    """Split what was typed as NAME=VALUE."""
    name, equals, value = (part.strip() for part in typed.partition("="))
    if not (name and equals and value):
        raise OptionError(f"{option} {typed!r}: write it as {shape}")
    return name, value


def _small(path: str) -> bool:
    """Tell whether a file is so small that it is read without further ado; what is no file complains there."""
    if os.path.isdir(path) or glob.has_magic(path):
        return False
    return not os.path.isfile(path) or os.path.getsize(path) < SMALL


#: How files are read; the command gets it as ``reading``.
READING = Group("reading", Reading, (
    option("--input-format", metavar="NAME", help="Force the file format instead of recognising it: csv, tsv, "
           "table, parquet, two-column, bob4, bob5, kaldi, voxceleb."),
    option("--column", multiple=True, metavar="OURS=THEIRS", help="The name of a column in your files: "
           "score, label, user, probe_user, trial or dataset. Repeatable."),
    option("--positive", metavar="VALUE", help="The label of the positive class, when it is not a pair we know."),
    option("--nan", type=click.Choice(["error", "reject", "drop"]), default="error",
           help="What a NaN score means: an error, a trial that is always rejected, or one to leave out."),
    option("--lower-is-better", is_flag=True, help="The scores are distances: negate them."),
    option("--engine", type=click.Choice(["auto", "memory", "duckdb", "spark"]), default="auto",
           help="Where files are counted; auto: in memory if they fit, else by duckdb, in place. A glob between "
           "quotes, or a directory, stands for many Parquet files."),
    option("--memory", default="1GB", metavar="SIZE", help="How much memory to use."),
    option("--temp", metavar="DIR", help="Where temporary files go; they are removed at the end. Of standard input "
           "and other pipes at most 16 GiB are kept, where TMPDIR says."),
))  # fmt: skip

#: The trials file of a command that reads one file.
TRIALS = option("--trials", metavar="FILE",
                help="The trials file (Kaldi, VoxCeleb) that the scores are joined with.")  # fmt: skip


@dataclass(frozen=True)
class TableOfSystems:
    """One table of many systems, as typed."""

    table: str | None
    systems_in: str | None
    systems_columns: str | None
    split: str | None
    where: Sequence[str]

    def read(self, reading: Reading, source_file: Callable[[str], SourceFile]) -> list[System]:
        """Read the table and split it."""
        from priori.readers import read_table

        if self.table is None:
            raise OptionError(
                "--systems-in, --systems-columns, --split and --where belong to a table: add --table FILE"
            )
        if self.split is None or (self.systems_in is None) == (self.systems_columns is None):
            raise OptionError(
                "--table needs --systems-in COLUMN (or --systems-columns A,B,...) and --split COLUMN=DEV:TEST"
            )
        shape = "COLUMN=DEV:TEST, for example --split set=dev:test"
        column, parts = _pair("--split", shape, self.split)
        dev, colon, test = parts.partition(":")
        if not (dev and colon and test):
            raise OptionError(f"--split {self.split!r}: write it as {shape}")
        filters = [_pair("--where", "COLUMN=VALUE,VALUE", typed) for typed in self.where]
        read = read_table(
            self.table, systems=self.systems_in or _listed(self.systems_columns),
            split=(column, _listed(dev), _listed(test)), where={name: _listed(values) for name, values in filters},
            **reading.settings,
        )  # fmt: skip
        file = source_file(self.table)
        return [System(name, *sets, file, file) for name, sets in read.items()]


def _listed(typed: str | None) -> list[str]:
    return [part.strip() for part in (typed or "").split(",") if part.strip()]


class Systems:
    """The systems of a command, as typed: read when asked for."""

    def __init__(
        self, system: Sequence[tuple[str, str, str]], trials: tuple[str, str] | None, table: str | None,
        systems_in: str | None, systems_columns: str | None, split: str | None, where: Sequence[str], **reading: Any,
    ) -> None:  # fmt: skip
        self.typed = [(printable(name), *paths) for name, *paths in system]
        self.trials, self.reading = trials or (None, None), Reading(**reading)
        self.table = TableOfSystems(table, systems_in, systems_columns, split, where)
        self._read: list[System] | None = None

    def __bool__(self) -> bool:
        return bool(self.typed or self.table.table)

    def __len__(self) -> int:
        return len(self.typed) if self.table.table is None else len(self.read())

    def read(self, source_file: Callable[[str], SourceFile] = SourceFile) -> list[System]:
        """Read every system, once; names must differ, and a system's two files must be of one format."""
        if self._read is None:
            in_table = any(vars(self.table).values())
            if in_table and self.typed:
                raise OptionError("give systems as files (--system) or as one table (--table), not both")
            self._read = self.table.read(self.reading, source_file) if in_table else self._files(source_file)
        return self._read

    def _files(self, source_file: Callable[[str], SourceFile]) -> list[System]:
        from priori.readers import pair_check

        if not self.typed:
            raise OptionError("give at least one system: --system NAME DEV TEST, or --table FILE")
        names = [name for name, _, _ in self.typed]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise OptionError(f"two systems are called {twice!r}; give each its own name")
        systems = []
        for name, *paths in self.typed:
            if paths == ["-", "-"]:
                raise OptionError(f"system {name!r}: only one of its two files can be standard input")
            dev, test = (self.reading.read(path, trials=file) for path, file in zip(paths, self.trials, strict=True))
            pair_check(dev, test, name=f"system {name!r}")
            systems.append(System(name, dev, test, *map(source_file, paths)))
        return systems

    def curves(self, settings: dict[str, Any]) -> list[EPC]:
        """Read every system and return its curve; the settings are those of `priori.epc`."""
        return [epc(system.dev, system.test, name=system.name, **settings) for system in self.read()]


#: ``--system NAME DEV TEST``, the trials files that go with it, and how files are read; the command gets ``systems``.
SYSTEMS = Group("systems", Systems, (
    option("--system", "system", nargs=3, multiple=True, metavar="NAME DEV TEST",
           help="A system's name, development scores and test scores. Repeat for more systems."),
    option("--table", metavar="FILE", help="One table with all systems instead: CSV, TSV or Parquet with a header."),
    option("--systems-in", metavar="COLUMN", help="The column of the table that names the system of each row."),
    option("--systems-columns", metavar="A,B,...", help="Or the columns with the scores of one system each."),
    option("--split", metavar="COLUMN=DEV:TEST", help="Which rows are development trials, which are test trials."),
    option("--where", multiple=True, metavar="COLUMN=VALUE,...",
           help="Keep the rows with these values, in every set that has all of them. Repeatable."),
    option("--trials", nargs=2, metavar="DEV TEST",
           help="The trials files (Kaldi, VoxCeleb) that the development and test scores are joined with."),
), last=READING.options)  # fmt: skip

#: The task and the criterion.
CRITERION = (
    option("--task", type=click.Choice(list(TASKS)), default="authentication",
           help="Gives V1, V2 and the default criterion and measure."),
    option("--criterion", metavar="NAME",
           help=f"What the threshold minimises on development scores: {', '.join(CRITERIA)}. Default: the task's."),
)  # fmt: skip
MEASURE = option("--measure", metavar="NAME",
                 help=f"What is shown on the test scores: {', '.join(MEASURES)}; with parameters, wer:0.3, f2, "
                 "dcf:cost_fn=10,cost_fp=1,prior=0.01. Default: the task's.")  # fmt: skip
#: The task, criterion, measure and number of alphas of a curve.
CURVE = (*CRITERION, MEASURE, option("--points", type=int, default=101, help="Number of alphas."))
ALPHAS = option("--alpha", metavar="LIST", help="These alphas instead: 0.1,0.5,99/109 or costs:COST_FN,COST_FP,PRIOR.")
LEVEL = option("--level", type=float, default=0.95, help="The confidence level.")
#: What a comparison is about.
CLAIM = option("--claim", type=click.Choice(get_args(Claim)), default="method",
               help="What the test is about: systems tuned on other development sets like this one, or these "
               "thresholds as they are.")  # fmt: skip
#: No part of a resampling: the numbers do not depend on it.
THREADS = option("--threads", type=click.IntRange(min=1), help="Threads to use; the numbers do not depend on it.")


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


def _curve_settings(alpha: str | None, **typed: Any) -> dict[str, Any]:
    return {**typed, "alpha": alpha_list(alpha)}


#: Which curves to compute; the command gets them as ``settings``, the options of `priori.epc`.
CURVES = Group("settings", _curve_settings, (
    *CRITERION,
    MEASURE,
    option("--preset", type=click.Choice(list(PRESETS)), help="The settings of an evaluation campaign."),
    option("--points", type=int, default=101, help="How many alphas."),
    option("--range", "bounds", nargs=2, metavar="A B", default=("0", "1"), show_default=False,
           help="The first and last alpha."),
    ALPHAS,
    option("--weight", type=click.Choice(get_args(Weight)), default="trial",
           help="What weighs alike on the test scores: user shows the mean over users of each user's own rates."),
))  # fmt: skip


def resampling_option(name: str, *, default: Any = ..., help: str | None = None) -> click.Option:
    """Return the option for one field of a resampling, with its own default and help unless others are given."""
    field, described = next((field, described) for field, described in option_fields() if field.name == name)
    value = field.default if default is ... else default
    flags = f"--{described.name.replace('_', '-')}"
    kind: Any = type(value)
    flag = described.opposite is not None or field.default is False
    if described.opposite is not None:
        flags += f"/--{described.opposite.replace('_', '-')}"
    if name == "bootstrap":
        kind = click.Choice(["auto", *BOOTSTRAPS])
    elif described.choices:
        kind = click.Choice(described.choices)
    elif described.least is not None:
        kind = click.IntRange(min=described.least)
    elif described.parse is not None:
        kind, value = str, str(value)
    return option(
        flags, described.name, help=help or described.help, default=value, metavar=described.metavar,
        is_flag=flag or None, type=None if flag else kind, show_default=value is not None and not flag,
    )  # fmt: skip


def resampling_options(default: str | None, *, leave_out: Sequence[str] = ()) -> tuple[Group, click.Option]:
    """Return the options of a bootstrap; the command gets ``resampling``, None without ``--bootstrap``; ``threads``."""
    names = [field.name for field in fields(Resampling) if field.name not in ("bootstrap", *leave_out)]
    options = (resampling_option("bootstrap", default=default), *map(resampling_option, names))
    return Group("resampling", _resampling, options), THREADS


def _resampling(**typed: Any) -> Resampling | None:
    """Return what was asked for; without a bootstrap its other options are a mistake."""
    values = {field.name: typed.get(described.name, field.default) for field, described in option_fields()}
    if values["bootstrap"] is None:
        alone = values["resample"] != "test" or values["promise"] != "confidence" or values["simultaneous"]
        if alone or values["future_users"] or values["future_trials"]:
            raise OptionError("these options belong to a bootstrap: add --bootstrap auto")
        return None
    for field, described in option_fields():
        if described.parse is not None and described.name in typed:
            values[field.name] = described.parse(values[field.name])
    return Resampling(**{**values, "bootstrap": None if values["bootstrap"] == "auto" else values["bootstrap"]})


#: How the names of files end that hold each format.
SUFFIXES = {"table": (".txt",), "csv": (".csv",), "json": (".json",), "html": (".html", ".htm"),
            "markdown": (".md", ".markdown"), "latex": (".tex",)}  # fmt: skip


def output_group(
    *formats: str,
    plot: str = "",
    format_help: str = "How the numbers are printed. Default: as the file's name ends, or {}.",
    output_help: str = "Write the numbers to FILE (atomically): {}.",
) -> Group:
    """Return ``--format`` (the first is the default), ``--json``, ``-o``, and ``--plot`` where there is help for it.

    The command gets them as ``output``.
    """
    endings = ", ".join(SUFFIXES[format_][0] for format_ in formats)
    options = [
        option("--format", "format_", type=click.Choice(formats), default=formats[0], show_default=False,
               help=format_help.format(formats[0])),
        option("--json", "json_", is_flag=True, help="Short for --format json."),
        option("-o", "--output", metavar="FILE", help=output_help.format(endings)),
        option("--raw-text", is_flag=True, help="In CSV, leave names that a spreadsheet takes for formulas (= + - @) "
               "as they are, without an apostrophe before them."),
    ]  # fmt: skip
    if plot:
        options.append(option("--plot", metavar="FILE", callback=_drawable, help=plot))
    return Group("output", _output, tuple(options))


def _output(format_: str, json_: bool, output: str | None, raw_text: bool, plot: str | None = None) -> Output:
    """Return where the numbers go, in the format asked for or that the file's name says."""
    context = click.get_current_context()
    typed = context.get_parameter_source("format_") is not click.core.ParameterSource.DEFAULT
    if json_ and typed and format_ != "json":
        raise OptionError(f"--json is short for --format json; leave out --format {format_}")
    format_, typed = ("json", True) if json_ else (format_, typed)
    for path in (output, plot):
        if path is not None and path != "-":
            check_writable(path)
    if output is not None and output != "-":
        choices = next(param.type for param in context.command.params if param.name == "format_")
        assert isinstance(choices, click.Choice)
        format_ = _named_format(output, format_, typed, choices.choices)
    return Output(format_, output, plot, raw_text)


def _named_format(path: str, format_: str, typed: bool, formats: Sequence[str]) -> str:
    """Return the format that the name of a file says, which must not be another than the one typed."""
    suffix = os.path.splitext(path)[1].lower()
    said = next((name for name, suffixes in SUFFIXES.items() if suffix in suffixes), None)
    if not suffix or said == format_ or (typed and said in (None, "table")):
        return format_
    if said is not None and said in formats and not typed:
        return said
    if typed:
        raise OptionError(f"--format {format_} and {path} say two things; name the file {SUFFIXES[format_][0]}")
    endings = ", ".join(f"{SUFFIXES[name][0]} ({name})" for name in formats)
    raise OptionError(f"cannot tell the format of {path}; name it {endings}, or give --format")


def _drawable(context: click.Context, parameter: click.Parameter, plot: str | None) -> str | None:
    """Refuse at once the name of a figure that could only fail after the work."""
    if plot:
        from priori.plots.style import check_format

        check_format(plot)
    return plot
