"""The report: one study computed once, shown as a page, as tables, as JSON."""

from priori.report.page import render_html
from priori.report.settings import Settings
from priori.report.study import Study, make_study
from priori.report.tables import render_csv, render_latex, render_markdown
from priori.scores.systems import SourceFile, System

__all__ = [
    "Settings",
    "SourceFile",
    "Study",
    "System",
    "make_study",
    "render_csv",
    "render_html",
    "render_latex",
    "render_markdown",
]
