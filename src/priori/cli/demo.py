"""``priori demo``: a full evaluation of bundled real scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from priori.base.errors import OptionError
from priori.base.extras import require
from priori.base.texts import cell as percent
from priori.base.whole_files import write_whole
from priori.cli.commands import Asked, make_command
from priori.cli.options import option, options
from priori.cli.output import Progress, emit, has_screen, table_text, tell, warn
from priori.examples import NAMES
from priori.words.numbers import level_text

if TYPE_CHECKING:
    from priori.studies.evaluation import Study


@make_command(
    "demo",
    click.Argument(["name"], type=click.Choice(NAMES), default=NAMES[0], metavar=f"[{'|'.join(NAMES)}]"),
    *options("directory force"),
    option("open_", default=None, help="Open the page in a browser. Default: where there is a terminal and a screen."),
    option("bootstrap", default="auto", help="What is resampled; auto: people if they are known, else trials."),
    option(
        "resamples",
        written="--resamples",
        kind=click.IntRange(min=100),
        default=10_000,
        help="Number of bootstrap replicates.",
    ),
    *options("verbose"),
)
def demo(asked: Asked) -> None:
    """Evaluate real scores: which system would be chosen, which one should be, and is the difference significant?

    The development scores' equal error rate (or break-even point) chooses one system; the Expected Performance Curve
    judges all of them on test scores at thresholds fixed in advance, with bands; a paired test compares the two. The
    page, the figure and the score files are written to DIR; the other commands can read them.

    \b
    Examples:
      priori demo
      priori demo spam --output spam
      priori demo cancer
    """
    from priori import examples
    from priori.report import cautions, render_csv, render_html
    from priori.report.page import NEEDED
    from priori.scores.systems import SourceFile, System
    from priori.studies.evaluation import Settings, make_study

    require(*NEEDED, "matplotlib")
    name, folder = asked.name, Path(asked.directory)
    example = examples.load(name)
    page, table, figure = folder / "report.html", folder / "operating-points.csv", folder / "epc.svg"
    written = [folder / f"{label}-{part}.csv" for label in example.systems for part in ("dev", "test")]
    there = [str(path) for path in (*written, page, table, figure) if path.exists()]
    if there and not asked.force:
        raise OptionError(f"{', '.join(there)}: there already; name another directory (--output), or add --force")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"cannot make the directory {folder}: {error.strerror}; name another (--output)") from None
    files = {path.name: path for path in examples.write(name, folder)}
    systems = []
    for label, sets in example.systems.items():
        sources = [SourceFile.of(files[file], file) for file in (f"{label}-dev.csv", f"{label}-test.csv")]
        systems.append(System(label, sets.dev, sets.test, *sources))
    settings = Settings(task=example.task, title=example.title, bootstrap=asked.bootstrap, n_resamples=asked.resamples)
    again = f"priori demo {name} --bootstrap {asked.bootstrap} --resamples {asked.resamples}"
    with Progress() as progress:
        study = make_study(systems, settings, progress=progress.stage, command=again)
    from priori.plots import plot_epc, save

    write_whole(page, render_html(study))
    write_whole(table, render_csv(study))
    bands = [member.band for member in study.members if member.band is not None]
    save(plot_epc(study.curves, bands=bands or None), figure)
    warn(caution for caution in cautions(study) if caution.level == "warning")
    emit(_story(study))
    tell(f"{example.title}: {example.provenance}")
    emit(f"\nThe page: {page}")
    if asked.open_ or (asked.open_ is None and has_screen()):
        click.launch(str(page))


def _story(study: Study) -> str:
    """Return what the EER shows beside what happens at thresholds fixed in advance, and the verdict in words."""
    from priori.curves.roc import a_posteriori_break_even
    from priori.words.sentences import verdict

    measure, task = study.settings.shown, study.settings.domain
    kind = "break-even point" if task.v1.greater_is_better else "EER"
    rows, on_test, values = [], [], []
    for member in study.members:
        on_dev = a_posteriori_break_even(member.curve.dev, task=task)
        on_test.append(a_posteriori_break_even(member.curve.test, task=task))
        values.append(float(member.curve.value[study.at]))
        interval = ""
        if member.band is not None:
            low, high = (float(bound[study.at]) for bound in (member.band.lower, member.band.upper))
            interval = f"{percent(low, measure.rate)} to {percent(high, measure.rate)}"
        shown = percent(on_dev), percent(on_test[-1]), percent(values[-1], measure.rate)
        rows.append([member.name, *shown, interval])
    level = f"{level_text(study.settings.confidence_level)} interval"
    header = ["", f"{kind} on development", f"{kind} on test", f"{measure.title} on test, a priori", level]
    chosen = on_test.index((max if task.v1.greater_is_better else min)(on_test))
    best = values.index((max if measure.greater_is_better else min)(values))
    choice = _choice(study, chosen, best, kind, percent(values[chosen], measure.rate))
    return table_text("", header, rows) + f"\n{choice}\n\n{verdict(study).text}\n"


def _choice(study: Study, chosen: int, best: int, kind: str, value: str) -> str:
    """Return whether the system that the test set's own curve puts first is also the one to use."""
    names = [member.name for member in study.members]
    if chosen == best:
        return f"The {kind} read on the test set and thresholds fixed in advance both put {names[best]} first."
    pair = next(pair for pair in study.pairs if {pair.a, pair.b} == {chosen, best})
    significant = pair.significant is not None and bool(pair.significant[study.at])
    better = (
        "is significantly better"
        if significant
        else "is better on this test set, but the difference is not significant"
    )
    first = f"The {kind} read on the test set puts {names[chosen]} first."
    return f"{first} At its threshold fixed in advance it shows {value}: {names[best]} {better}."
