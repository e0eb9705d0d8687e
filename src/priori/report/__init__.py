"""The report: a study shown as a page, as tables, as JSON."""

from priori.report.page import render_html
from priori.report.tables import render_csv, render_latex, render_markdown
from priori.scores.systems import SourceFile, System
from priori.studies.evaluation import Settings, Study, make_study

__all__ = [
    "Settings", "SourceFile", "Study", "System", "make_study", "render_csv", "render_html", "render_latex",
    "render_markdown",
]  # fmt: skip
