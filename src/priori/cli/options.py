"""Options that several commands share: of curves, of resampling, of what is written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args

import click

from priori.base.alphas import as_fractions
from priori.base.errors import OptionError
from priori.base.limits import MOST_THREADS
from priori.base.options import Claim, ResamplingOptions, Weight, option_fields
from priori.cli.commands import Group, Named, option
from priori.cli.files import WRITTEN, Written
from priori.cli.output import Output, Progress

if TYPE_CHECKING:
    from priori.uncertainty.bootstrap.resampling import Resampling


def _note_calibration(context: click.Context, parameter: click.Parameter, typed: str | None) -> None:
    """Keep the calibration for the criterion, which is read after it."""
    if typed is not None:
        from priori.decisions.likelihood_ratios import get_calibrator

        context.meta["calibrate"] = get_calibrator(typed).name


def _with_calibration(context: click.Context, parameter: click.Parameter, typed: str | None) -> str | None:
    """Return the criterion with the calibration that was typed: it serves thresholds by theory only."""
    calibrate = context.meta.get("calibrate")
    if calibrate is None:
        return typed
    if typed not in (None, "bayes"):
        raise OptionError(
            f"--calibrate sets thresholds by theory (--criterion bayes); it changes none that {typed} chooses"
        )
    return f"bayes:{calibrate}"


#: The task and the criterion, calibration included: commands get ``bayes:logistic`` for ``--calibrate logistic``.
CRITERION = (
    option(
        "--task",
        type=Named("priori.decisions.tasks:TASKS"),
        default="authentication",
        help="The field: sets V1 and V2, the two rates traded, and the default criterion and measure.",
    ),
    option(
        "--criterion",
        metavar="NAME",
        table="priori.decisions.criteria:CRITERIA",
        help="What the threshold minimises on development scores: {}. wer is the weighted error "
        "rate alpha FAR + (1 - alpha) FRR. For any rate: target-far, at-most-far, at-most-far:0.95 (in the "
        "population, with that confidence), at-least-recall. For any measure: max:f1, min:dcf. "
        "Default: the task's.",
        callback=_with_calibration,
    ),
    option(
        "--calibrate",
        metavar="NAME",
        callback=_note_calibration,
        is_eager=True,
        expose_value=False,
        table="priori.decisions.likelihood_ratios:CALIBRATIONS",
        help="Make scores log-likelihood ratios on the development set and set thresholds by theory (criterion "
        "bayes): {}; with a prior, logistic:0.01.",
    ),
)
MEASURE = option(
    "--measure",
    metavar="NAME",
    table="priori.decisions.measures:MEASURES",
    help="What is shown on the test scores: {}; with parameters, wer:0.3, f2, "
    "dcf:cost_fn=10,cost_fp=1,prior=0.01, precision:prior=0.01. Default: the task's.",
)
#: What errors cost, and how many positives there will be.
COSTS = (
    option(
        "--costs",
        metavar="fn=A,fp=B",
        help="What a false negative and a false positive cost. Gives alpha where "
        "none is given, and shows the cost per decision where no measure is named; needs --prior.",
    ),
    option(
        "--prior",
        metavar="P",
        help="The share of positives where the system will be used. Without --costs: show "
        "precision, F1, NPV or accuracy as it will be there.",
    ),
)
#: The task, criterion, measure and number of alphas of a curve.
CURVE = (*CRITERION, MEASURE, option("--points", type=int, default=101, help="Number of alphas."))
ALPHAS = option(
    "--alpha", metavar="LIST", help="Trade-offs, instead of --points: 0.1,0.5,99/109 or costs:COST_FN,COST_FP,PRIOR."
)
LEVEL = option("--level", type=float, default=0.95, help="The confidence level.")
#: What a comparison is about.
CLAIM = option(
    "--claim",
    type=click.Choice(get_args(Claim)),
    default="method",
    help="What the test is about: systems tuned on other development sets like this one (method), or these "
    "thresholds as they are (deployed).",
)
#: No part of a resampling: the numbers do not depend on it.
THREADS = option(
    "--threads", type=click.IntRange(1, MOST_THREADS), help="Threads to use; the numbers do not depend on it."
)


def alpha_list(text: str | None) -> list[Any] | None:
    """Read a list of alphas: numbers or fractions between commas, or costs and a prior."""
    return None if text is None else list(as_fractions(text))


def one_alpha(text: str | None, why: str) -> Any:
    """Read the one alpha that a command is about; None where none is given."""
    alphas = alpha_list(text)
    if alphas is not None and len(alphas) != 1:
        raise OptionError(f"--alpha {text!r}: {why}")
    return None if alphas is None else alphas[0]


def curve_at(task: str, criterion: str | None, alpha: Any, **settings: Any) -> dict[str, Any]:
    """Return the options of `priori.epc` for the curve at an alpha, or at 0.5 where none is given."""
    from priori.decisions.criteria import get_criterion

    chosen = get_criterion(criterion, task).alpha_or_half(alpha)
    return {"task": task, "criterion": criterion, "alpha": chosen, **settings}


def _curve_settings(alpha: str | None, **typed: Any) -> dict[str, Any]:
    return {**typed, "alpha": alpha_list(alpha)}


#: Which curves to compute; the command gets them as ``settings``, the options of `priori.epc`.
CURVES = Group(
    "settings",
    _curve_settings,
    (
        *CRITERION,
        MEASURE,
        option("--preset", type=Named("priori.curves.epc:PRESETS"), help="The settings of an evaluation campaign."),
        option("--points", type=int, default=101, help="How many alphas."),
        option(
            "--range",
            "bounds",
            nargs=2,
            metavar="A B",
            default=("0", "1"),
            show_default=False,
            help="The first and last alpha.",
        ),
        ALPHAS,
        *COSTS,
        option(
            "--weight",
            type=click.Choice(get_args(Weight)),
            default="trial",
            help="What counts equally on the test scores: each trial, or each user (the mean of the users' own rates).",
        ),
    ),
)


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
        kind = Named("priori.uncertainty.bootstrap.designs:BOOTSTRAPS", "auto")
    elif described.choices:
        kind = click.Choice(described.choices)
    elif described.least is not None:
        kind = click.IntRange(min=described.least)
    elif described.parse is not None:
        kind, value = str, str(value)
    return option(
        flags,
        described.name,
        help=help or described.help,
        default=value,
        metavar=described.metavar,
        is_flag=flag or None,
        type=None if flag else kind,
        show_default=value is not None and not flag,
    )


def resampling_options(default: str | None, *, leave_out: Sequence[str] = ()) -> tuple[Group, click.Option]:
    """Return the options of a bootstrap; the command gets ``resampling``, None without ``--bootstrap``; ``threads``."""
    names = [field.name for field, _ in option_fields() if field.name not in ("bootstrap", *leave_out)]
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
    from priori.uncertainty.bootstrap.resampling import Resampling

    return Resampling(**{**values, "bootstrap": None if values["bootstrap"] == "auto" else values["bootstrap"]})


def bands_around(curves: Iterable[Any], resampling: ResamplingOptions | None, threads: int | None) -> list[Any]:
    """Return the band around each curve, and show how far its bootstrap is; none without a bootstrap."""
    bands = []
    for curve in curves if resampling is not None else ():
        with Progress(f"bootstrap of {curve.name}") as progress:
            bands.append(curve.band(**vars(resampling), threads=threads, progress=progress))
    return bands


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
    format_help: str = "How the numbers are printed. Default: as the file's name ends, or {}.",
    output_help: str = "Write the numbers to FILE (atomically): {}.",
    default_file: str | None = None,
) -> Group:
    """Return ``--format`` (the first is the default), ``--json``, ``-o``, and ``--plot`` where there is help for it.

    The command gets them as ``output``. The first format goes into ``default_file`` where no file is named.
    """

    def implied(typed: Mapping[str, Any]) -> str | None:
        return default_file if typed["format_"] == formats[0] and not typed["json_"] else None

    if "table" in formats:
        formats = (*formats, "markdown", "latex")
    endings = ", ".join(SUFFIXES[format_][0] for format_ in formats)
    options = [
        option(
            "--format",
            "format_",
            type=click.Choice(formats),
            default=formats[0],
            show_default=False,
            help=format_help.format(formats[0]),
        ),
        option("--json", "json_", is_flag=True, help="Short for --format json."),
        option("-o", "--output", metavar="FILE", type=Written(implied), help=output_help.format(endings)),
        option(
            "--raw-text",
            is_flag=True,
            help="In CSV, leave names that a spreadsheet takes for formulas (= + - @) "
            "as they are, without an apostrophe before them.",
        ),
    ]
    if plot:
        options.append(option("--plot", metavar="FILE", type=WRITTEN, callback=_drawable, help=plot))
    return Group("output", _output, tuple(options))


def _output(format_: str, json_: bool, output: str | None, raw_text: bool, plot: str | None = None) -> Output:
    """Return where the numbers go, in the format asked for or that the file's name says."""
    context = click.get_current_context()
    typed = context.get_parameter_source("format_") is not click.core.ParameterSource.DEFAULT
    if json_ and typed and format_ != "json":
        raise OptionError(f"--json is short for --format json; leave out --format {format_}")
    format_, typed = ("json", True) if json_ else (format_, typed)
    types = {param.name: param.type for param in context.command.params}
    choices, written = types["format_"], types["output"]
    assert isinstance(choices, click.Choice)
    assert isinstance(written, Written)
    if output is not None and output != "-":
        format_ = _named_format(output, format_, typed, choices.choices)
    path = output or written.implied(context.params)
    return Output(format_, path if path in (None, "-") else written.convert(path, None, None), plot, raw_text)


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
