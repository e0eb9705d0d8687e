"""How commands are made, and the groups of options that several of them share, each of which reaches them as one."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import click

from priori.base.alphas import as_fractions
from priori.base.errors import OptionError
from priori.base.options import TYPED
from priori.cli import COMMANDS
from priori.cli.files import WRITTEN, Written, check_files_apart
from priori.cli.help import DescribedCommand
from priori.cli.options import DRAWN, option, options
from priori.cli.output import Output, Progress

if TYPE_CHECKING:
    from priori.cli.systems import Systems
    from priori.uncertainty.bootstrap.resampling import Resampling


@dataclass(frozen=True)
class Group:
    """Options that a command gets together: as one argument called ``name``, made by ``make`` from their values.

    The options ``last`` belong to it too; --help lists them at the end.
    """

    name: str
    make: Callable[..., Any]
    options: tuple[click.Parameter, ...]
    last: tuple[click.Parameter, ...] = ()


class Asked(SimpleNamespace):
    """What was typed, as a command gets it: each option by its name, and what each group makes of its own."""

    systems: Systems
    #: Options of `priori.epc` (`judging`, `CURVES`).
    settings: dict[str, Any]
    #: None without ``--bootstrap``, where a command has that option and no default for it.
    resampling: Any
    output: Output

    def only(self, names: str) -> dict[str, Any]:
        """Return some options by their names, as the function that they are for takes them."""
        return {name: getattr(self, name) for name in names.split()}


def make_command(
    name: str, *parts: click.Parameter | Group, help: str | None = None
) -> Callable[[Callable[[Asked], None]], click.Command]:
    """Make a command of a function; its options are listed by --help in the order given here.

    A command that gives results has ``--verbose`` too.
    """
    groups = [part for part in parts if isinstance(part, Group)]
    params = [param for part in parts for param in (part.options if isinstance(part, Group) else (part,))]
    params += [param for group in groups for param in group.last]
    if any(group.name == "output" for group in groups):
        params += options("verbose")

    def decorate(function: Callable[[Asked], None]) -> click.Command:
        def gathered(**typed: Any) -> None:
            check_files_apart(click.get_current_context())
            for group in groups:
                names = [str(param.name) for param in (*group.options, *group.last)]
                typed[group.name] = group.make(**{name: typed.pop(name) for name in names})
            function(Asked(**typed))

        text = help or function.__doc__
        return click.command(name, DescribedCommand, short_help=COMMANDS[name], params=params, help=text)(gathered)

    return decorate


# -- how thresholds are chosen and judged ----------------------------------------------------------------------------


def alpha_list(text: str | None) -> list[Any] | None:
    """Read a list of alphas: numbers or fractions between commas, or costs and a prior."""
    return None if text is None else list(as_fractions(text))


def priced(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return how curves are made as costs and a prior ask for; alpha is None where nothing gives one."""
    from priori.decisions.recipe import price

    measure, alpha = price(**{"measure": None, **settings})
    return {"task": settings["task"], "criterion": settings["criterion"], "measure": measure, "alpha": alpha}


def at_alpha(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same at the alphas given, or at 0.5 where none is."""
    from priori.decisions.criteria import get_criterion

    found = priced(settings)
    return {**found, "alpha": get_criterion(found["criterion"], found["task"]).alpha_or_half(found["alpha"])}


def judging(why_one: str = "", measure: bool = True) -> Group:
    """Return the options about thresholds; with a reason why, at one alpha.

    The command gets them as ``settings``, options of `priori.epc`; `at_alpha` settles them.
    """

    def make(alpha: str | None, **typed: Any) -> dict[str, Any]:
        alphas: Any = alpha_list(alpha)
        if why_one and alphas is not None:
            if len(alphas) != 1:
                raise OptionError(f"--alpha {alpha!r}: {why_one}")
            (alphas,) = alphas
        return {**typed, "alpha": alphas}

    alpha = option("alpha")
    if why_one:
        text = (
            "The trade-off between the two errors: 0.5, 99/109 or costs:COST_FN,COST_FP,PRIOR; for at-most-far and the "
            "like, the limit."
        )
        alpha = option("alpha", written="--alpha NUMBER", help=f"{text} Default: 0.5, or that of --costs.")
    shown = "task criterion measure" if measure else "task criterion"
    return Group("settings", make, (*options(shown), alpha, *options("costs prior")))


#: Which curves to compute.
CURVES = Group(
    "settings",
    lambda alpha, **typed: {**typed, "alpha": alpha_list(alpha)},
    (
        *options("task criterion measure preset points bounds"),
        option("alpha", help="Trade-offs, instead of --points: 0.1,0.5,99/109 or costs:COST_FN,COST_FP,PRIOR."),
        *options("costs prior weight"),
    ),
)


# -- resampling ------------------------------------------------------------------------------------------------------


def resampling_options(default: str | None, *, leave_out: Sequence[str] = ()) -> tuple[Group, click.Option]:
    """Return the options of a bootstrap; the command gets ``resampling``, None without ``--bootstrap``; ``threads``."""
    names = [name for name in TYPED.values() if name not in ("bootstrap", *leave_out)]
    listed = (option("bootstrap", default=default), *map(option, names))
    return Group("resampling", _resampling, listed), option("threads")


def _resampling(bootstrap: str | None, resamples: str, **typed: Any) -> Resampling | None:
    """Return what was asked for; without a bootstrap its other options are a mistake."""
    if bootstrap is None:
        if typed.get("resample", "test") != "test" or typed.get("simultaneous"):
            raise OptionError("--resample and --simultaneous belong to a bootstrap: add --bootstrap auto")
        return None
    from priori.uncertainty.bootstrap.resampling import Resampling

    values = {field: typed[name] for field, name in TYPED.items() if name in typed}
    return Resampling(None if bootstrap == "auto" else bootstrap, n_resamples=replicates(resamples), **values)


def replicates(text: str) -> int | tuple[int, int]:
    """Read a number of replicates as typed: 10000, or 100x100."""
    parts = text.lower().replace("×", "x").split("x")
    if len(parts) > 2 or not all(part.strip().isdigit() and int(part) > 0 for part in parts):
        raise OptionError(f"--resamples {text!r}: write a whole number such as 10000, or USERSxSAMPLES such as 100x100")
    numbers = [int(part) for part in parts]
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


def bands_around(curves: Iterable[Any], asked: Asked) -> list[Any]:
    """Return the band around each curve, and show how far its bootstrap is; none without a bootstrap."""
    bands = []
    for curve in curves if asked.resampling is not None else ():
        with Progress(f"bootstrap of {curve.name}") as progress:
            bands.append(curve.band(**vars(asked.resampling), threads=asked.threads, progress=progress))
    return bands


# -- what is written -------------------------------------------------------------------------------------------------

#: How the names of files end that hold each format.
SUFFIXES = {
    "table": (".txt",),
    "csv": (".csv",),
    "json": (".json",),
    "html": (".html", ".htm"),
    "markdown": (".md", ".markdown"),
    "latex": (".tex",),
}


def output_group(
    *formats: str,
    plot: str = "",
    format_help: str = "Output format. Default: by the ending of FILE, or {}.",
    output_help: str = "Write the numbers to FILE (atomically): {}.",
    default_file: str | None = None,
) -> Group:
    """Return ``--format`` (the first is the default), ``--json``, ``-o``, and ``--plot`` where there is help for it.

    The command gets them as ``output``. The first format goes into ``default_file`` where no file is named.
    """
    formats = formats or ("table", "csv", "json")

    def implied(typed: Mapping[str, Any]) -> str | None:
        return default_file if typed["format_"] == formats[0] and not typed["json_"] else None

    choices = (*formats, "markdown", "latex") if "table" in formats else formats

    def make(format_: str, json_: bool, output: str | None, plot: str | None = None) -> Output:
        context = click.get_current_context()
        typed = context.get_parameter_source("format_") is not click.core.ParameterSource.DEFAULT
        if json_ and typed and format_ != "json":
            raise OptionError(f"--json is short for --format json; leave out --format {format_}")
        format_, typed = ("json", True) if json_ else (format_, typed)
        if output is not None and output != "-":
            format_ = _named_format(output, format_, typed, choices)
        if output is None and (output := implied(context.params)) is not None:
            output = WRITTEN.convert(output, None, None)
        return Output(format_, output, plot)

    endings = ", ".join(SUFFIXES[format_][0] for format_ in choices)
    listed = [
        option("format_", kind=choices, default=formats[0], shown=False, help=format_help.format(formats[0])),
        option("json_"),
        option("output", kind=Written(implied), help=output_help.format(endings)),
        *([option("plot", help=f"{plot}: {DRAWN}")] if plot else ()),
    ]
    return Group("output", make, tuple(listed))


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
