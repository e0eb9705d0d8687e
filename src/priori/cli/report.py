"""``priori report``: one self-contained page with verdict, curves and tables."""

from __future__ import annotations

from collections.abc import Callable

import click

from priori.base.extras import require
from priori.base.texts import json_text
from priori.base.whole_files import write_whole
from priori.cli.commands import Asked, judging, make_command, output_group, resampling_options
from priori.cli.options import option, options
from priori.cli.output import Progress, emit, warn
from priori.cli.systems import SETS
from priori.report import cautions, render_csv, render_html, render_latex, render_markdown, study_dict, verdict
from priori.report.page import NEEDED, page_data
from priori.report.pdf import find_chromium, write_pdf
from priori.scores.systems import SourceFile
from priori.studies.evaluation import Settings, Study, make_study

#: Where the page goes when nothing is said.
PAGE = "report.html"
TEXTS: dict[str, Callable[[Study], str]] = {
    "markdown": render_markdown,
    "latex": render_latex,
    "json": lambda study: json_text({**study_dict(study), "page": page_data(study)}),
    "csv": render_csv,
}


@make_command(
    "report",
    SETS,
    judging("the verdict is about one alpha; the page shows all of them"),
    option("points", help="Number of alphas; the slider stops at each."),
    *resampling_options("auto"),
    *options("no_bootstrap claim unpaired title pdf currency"),
    option(
        "fp_cost", required=False, help="What a false positive costs where trials have amounts: a number or amount."
    ),
    output_group(
        "html",
        *TEXTS,
        format_help="The page, tables for a paper, or all data. Default: by the ending of FILE, or {}.",
        output_help=f"Write to FILE (atomically): {{}}. Default: {PAGE}; other formats, stdout.",
        default_file=PAGE,
    ),
)
def report(asked: Asked) -> None:
    """Write one self-contained page about systems, and print its verdict.

    The page opens in any browser, from a file, without a network: verdict, cautions, Expected Performance Curves
    with bands, differences, ROC and DET curves, scores, tables, and a slider for alpha.

    \b
    Examples:
      priori report --system A a-dev.csv a-test.csv --system B b-dev.csv b-test.csv
      priori report --system A a-dev.csv a-test.csv --pdf a.pdf
      priori report --system A a-dev.csv a-test.csv --format latex
    """
    output = asked.output
    if output.format == "html" or asked.pdf is not None:
        require(*NEEDED)
    if asked.pdf is not None:
        find_chromium()
    resampled = {("seed" if name == "rng" else name): value for name, value in vars(asked.resampling).items()}
    resampled["bootstrap"] = None if asked.no_bootstrap else asked.resampling.bootstrap or "auto"
    how = asked.only("title points threads claim unpaired currency")
    settings = Settings(**asked.settings, fp=asked.fp_cost, **resampled, **how)
    evaluated = asked.systems.read(SourceFile.of)
    if not (asked.unpaired or asked.no_bootstrap):
        evaluated = asked.systems.with_the_same_trials(evaluated, with_dev=asked.claim == "method")
    with Progress() as progress:
        study = make_study(evaluated, settings, progress=progress.stage, command=click.get_current_context().obj)
    warn(caution for caution in cautions(study) if caution.level == "warning")
    if asked.pdf is not None:
        write_pdf(study, asked.pdf)
    if output.format != "html":
        emit(TEXTS[output.format](study), output.path)
        return
    page = render_html(study)
    if output.path is None or output.path == "-":
        emit(page)
    else:
        write_whole(output.path, page)
        emit(f"{verdict(study).text}\n\nThe page: {output.path}" + (f"\nThe PDF: {asked.pdf}" if asked.pdf else ""))
