"""The report: a study shown as a page, as tables, as JSON."""

from priori.report.page import render_html
from priori.report.tables import render_csv, render_latex, render_markdown, study_dict
from priori.scores.systems import SourceFile, System
from priori.studies.evaluation import Settings, Study, make_study
from priori.words.cautions import cautions
from priori.words.sentences import verdict

__all__ = [
    "Settings",
    "SourceFile",
    "Study",
    "System",
    "cautions",
    "make_study",
    "render_csv",
    "render_html",
    "render_latex",
    "render_markdown",
    "study_dict",
    "verdict",
]
