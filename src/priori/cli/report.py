"""``priori report``: one self-contained page with verdict, curves and tables."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import click
from click.core import ParameterSource

from priori.base.errors import OptionError
from priori.base.results import json_text
from priori.base.whole_files import write_whole
from priori.cli.ending import Ending, ending_options
from priori.cli.options import (
    MEASURE_HELP,
    Reading,
    alpha_list,
    criterion_options,
    reading_options,
    resampling_options,
    system_option,
    systems_of,
)
from priori.cli.output import emit, warn
from priori.cli.progress import Stages
from priori.examples import ABOUT, NAMES, load
from priori.report import render_csv, render_html, render_latex, render_markdown
from priori.scores.systems import SourceFile, System
from priori.studies.evaluation import Settings, Study, make_study
from priori.uncertainty.bootstrap.resampling import Resampling

#: Where the page goes when nothing is said.
PAGE = "report.html"
TEXTS: dict[str, Callable[[Study], str]] = {
    "markdown": render_markdown,
    "latex": render_latex,
    "json": lambda study: json_text(study.to_dict()),
    "csv": render_csv,
}


@click.command(name="report", short_help="One page with everything: verdict, curves, tables.")
@system_option
@click.option("--example", type=click.Choice(NAMES), help="Bundled real scores, instead of files.")
@criterion_options
@click.option("--measure", metavar="NAME", help=MEASURE_HELP)
@click.option("--alpha", default="0.5", show_default=True, metavar="ALPHA",
              help="The trade-off the verdict is about: 0.5, 99/109 or costs:COST_FN,COST_FP,PRIOR.")  # fmt: skip
@click.option("--points", type=int, default=101, show_default=True, help="Number of alphas; the slider stops at each.")
@resampling_options("auto")
@click.option("--no-bootstrap", is_flag=True, help="No confidence intervals and no tests: faster.")
@click.option("--unpaired", is_flag=True, help="The systems were tested on different trials.")
@click.option("--title", default="", metavar="TEXT", help="The heading of the page. Default: the systems' names.")
@click.option("--static", is_flag=True, help="A small page without scripts: SVG figures, no slider.")
@ending_options(
    "html",
    *TEXTS,
    format_help="The page, tables for a paper, or all data.",
    output_help=f"Write to FILE (atomically). Default: {PAGE}; other formats, stdout.",
)
@reading_options
@click.pass_context
def command(
    context: click.Context,
    system: tuple[tuple[str, str, str], ...],
    trials: tuple[str, str] | None,
    example: str | None,
    task: str,
    criterion: str | None,
    measure: str | None,
    alpha: str,
    points: int,
    no_bootstrap: bool,
    unpaired: bool,
    title: str,
    static: bool,
    ending: Ending,
    reading: Reading,
    resampling: Resampling,
    threads: int | None,
) -> None:
    """Write one self-contained page about one or more systems, and print its verdict.

    The page opens in any browser, from a file, without a network: verdict, cautions, Expected Performance Curves
    with bands, differences, ROC and DET curves, scores, tables, and a slider for alpha that moves them all.

    \b
    Examples:
      priori report --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv
      priori report --system A a-dev.csv a-test.csv --static -o a.html
      priori report --system A a-dev.csv a-test.csv --format latex
      priori report --example faces
    """
    if static and ending.format != "html":
        raise OptionError(f"--static is about the page; leave it out with --format {ending.format}")
    target = PAGE if ending.output is None and ending.format == "html" else ending.output
    _check_target(target)
    if example is not None:
        title = title or ABOUT[example].title
        if context.get_parameter_source("task") is ParameterSource.DEFAULT:
            task = ABOUT[example].task
    described = {("seed" if name == "rng" else name): value for name, value in vars(resampling).items()}
    settings = Settings(
        task=task,
        criterion=criterion,
        measure=measure,
        points=points,
        alpha=_one(alpha),
        **{**described, "bootstrap": None if no_bootstrap else resampling.bootstrap or "auto"},
        threads=threads,
        unpaired=unpaired,
        title=title,
    )
    systems = _systems(system, example, reading, trials)
    with Stages() as stages:
        study = make_study(systems, settings, progress=stages, command=typed(context))
    warn(f"{caution.title}. {caution.text}" for caution in study.cautions if caution.level == "warning")
    if ending.format != "html":
        emit(TEXTS[ending.format](study), target)
    else:
        _finish_page(study, target, static)


def _finish_page(study: Study, target: str | None, static: bool) -> None:
    page = render_html(study, static=static)
    if target is None or target == "-":
        emit(page)
    else:
        write_whole(target, page)
        click.echo(f"{study.verdict.text}\n\nThe page: {target}")


def _check_target(target: str | None) -> None:
    """Refuse at once what could only fail after the work."""
    if target is None or target == "-":
        return
    path = Path(target)
    if path.is_dir():
        raise OptionError(f"cannot write {target}: it is a directory; give a file name, such as {path / PAGE}")
    if not path.parent.is_dir():
        raise OptionError(f"cannot write {target}: there is no directory {path.parent}; make it first")


def _one(text: str) -> object:
    alphas = alpha_list(text) or []
    if len(alphas) != 1:
        raise OptionError(f"--alpha {text!r}: the verdict is about one alpha; the page shows all of them")
    return alphas[0]


def _systems(
    system: tuple[tuple[str, str, str], ...], example: str | None, reading: Reading, trials: tuple[str, str] | None
) -> list[System]:
    if example is None:
        return [_hashed(one) for one in systems_of(system, reading, trials)]
    if system:
        raise OptionError("--example brings its own systems; leave out either --example or --system")
    return [System(name, sets.dev, sets.test) for name, sets in load(example).systems.items()]


def _hashed(system: System) -> System:
    files = [SourceFile.of(file.name) for file in (system.dev_file, system.test_file) if file is not None]
    return replace(system, dev_file=files[0], test_file=files[1])


def typed(context: click.Context) -> str:
    """Return the command as typed: the options given, in the order of --help."""
    words = ["priori", str(context.command.name)]
    for parameter in context.command.params:
        name = parameter.name or ""
        if context.get_parameter_source(name) in (ParameterSource.DEFAULT, None) or not parameter.opts:
            continue
        value, option = context.params[name], parameter.opts[-1]
        if isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(option if value else parameter.secondary_opts[-1])
            continue
        for one in value if parameter.multiple else [value]:
            words += [option, *(map(str, one) if isinstance(one, tuple) else [str(one)])]
    return shlex.join(words)
