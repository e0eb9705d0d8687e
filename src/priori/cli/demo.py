"""``priori demo``: a full evaluation of bundled real scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from priori.base.errors import OptionError
from priori.base.whole_files import write_whole
from priori.cli.commands import SILENCE, make_command, option
from priori.cli.output import emit, table_text, tell, warn
from priori.cli.progress import Progress
from priori.uncertainty.bootstrap.designs import BOOTSTRAPS
from priori.words.numbers import cell as percent
from priori.words.numbers import level_text

if TYPE_CHECKING:
    from priori.studies.evaluation import Study


@make_command(
    "demo", "A full evaluation of bundled real scores.",
    click.Argument(["name"], type=click.Choice(["faces", "spam", "cancer"]), default="faces"),
    option("--output", metavar="DIR", default="demo", help="The directory to write to."),
    option("--bootstrap", type=click.Choice(["auto", *BOOTSTRAPS]), default="auto",
           help="What is resampled; auto: identities or users where they are known, else trials."),
    option("--resamples", type=click.IntRange(min=100), default=10_000, help="Number of bootstrap replicates."),
    SILENCE,
)  # fmt: skip
def command(name: str, output: str, bootstrap: str, resamples: int) -> None:
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
    from priori.report import render_csv, render_html
    from priori.scores.systems import SourceFile, System
    from priori.studies.evaluation import Settings, make_study

    example = examples.load(name)
    folder = Path(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"cannot make the directory {output}: {error.strerror}") from None
    files = {path.name: path for path in examples.write(name, folder)}
    systems = []
    for label, sets in example.systems.items():
        sources = [SourceFile.of(files[file], file) for file in (f"{label}-dev.csv", f"{label}-test.csv")]
        systems.append(System(label, sets.dev, sets.test, *sources))
    settings = Settings(task=example.task, title=example.title, bootstrap=bootstrap, n_resamples=resamples)
    again = f"priori demo {name} --bootstrap {bootstrap} --resamples {resamples}"
    with Progress() as progress:
        study = make_study(systems, settings, progress=progress.stage, command=again)
    from priori.plots import plot_epc, save

    page = folder / "report.html"
    write_whole(page, render_html(study))
    write_whole(folder / "operating-points.csv", render_csv(study))
    bands = [member.band for member in study.members if member.band is not None]
    save(plot_epc(study.curves, bands=bands or None), folder / "epc.svg")
    warn(caution for caution in study.cautions if caution.level == "warning")
    emit(_story(study))
    tell(f"{example.title}: {example.provenance}")
    emit(f"\nThe page: {page}")


def _story(study: Study) -> str:
    """Return the table of which system would be chosen and which should be, and the verdict in words."""
    from priori.curves.roc import a_posteriori_break_even

    measure, better = study.settings.shown, study.settings.shown.greater_is_better
    task = study.settings.domain
    errors = task.v1.greater_is_better
    rows, on_dev, on_test = [], {}, {}
    for member in study.members:
        on_dev[member.name] = a_posteriori_break_even(member.curve.dev, task=task)
        on_test[member.name] = float(member.curve.value[study.at])
        interval = ""
        if member.band is not None:
            low, high = (float(bound[study.at]) for bound in (member.band.lower, member.band.upper))
            interval = f"{percent(low, measure.rate)} to {percent(high, measure.rate)}"
        values = percent(on_dev[member.name]), percent(on_test[member.name], measure.rate)
        rows.append([member.name, *values, interval])
    chosen = (max if errors else min)(on_dev, key=on_dev.__getitem__)
    best = (max if better else min)(on_test, key=on_test.__getitem__)
    kind = "break-even point" if errors else "EER"
    if chosen == best:
        choice = f"The development {kind} and the test at thresholds fixed in advance both choose {best}."
    else:
        choice = f"The development {kind} would choose {chosen}; at thresholds fixed in advance, {best} does best."
    level = f"{level_text(study.settings.confidence_level)} interval"
    header = ["", f"{kind} on development", f"{measure.title} on test, a priori", level]
    return table_text("", header, rows) + f"\n{choice}\n\n{study.verdict.text}\n"
