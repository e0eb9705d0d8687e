"""The page: one HTML file from one study, with or without scripts."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from priori.report.page_data import pack, page_data, unbroken
from priori.report.tables import fixed_tables, moving_tables
from priori.studies.evaluation import Study
from priori.words.figure_descriptions import describe_figures
from priori.words.numbers import alpha_text, clean, short, weighing
from priori.words.sentences import about_interval, describe_settings, heading

if TYPE_CHECKING:
    from jinja2 import BaseLoader, Environment


def environment(*loaders: BaseLoader) -> Environment:
    """Return the templates, autoescaping; ``loaders`` are looked into before our own."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

    loader = ChoiceLoader([*loaders, PackageLoader("priori.report")])
    templates = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    templates.filters.update(clean=clean, short=short, unbroken=unbroken, alpha_text=alpha_text)
    return templates


def asset(name: str) -> str:
    """Return the text of one of our own files: the style sheet or the script of the page."""
    return (files("priori.report") / "templates" / name).read_text(encoding="utf-8")


def plotly_script() -> str:
    """Return the plotting library, as plotly's Python package ships it."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


def render_html(study: Study, *, static: bool = False, nonce: str | None = None, plotly_url: str | None = None) -> str:
    """Return the whole page as text: self-contained, so that no request ever leaves it.

    Parameters
    ----------
    static : bool
        SVG figures and no script at all; small enough to mail anywhere.
    nonce : str, optional
        Put on every script and style element, for a page that a server sends with a content security policy.
        Without one the page carries its own policy, which lets its own scripts run and nothing be fetched.
    plotly_url : str, optional
        Where a server offers the plotting library, instead of having it inside every page.
    """
    context = page_context(study, static=static, nonce=nonce, plotly_url=plotly_url)
    return environment().get_template("report.html").render(**context)


def page_context(
    study: Study, *, static: bool = False, nonce: str | None = None, plotly_url: str | None = None
) -> dict[str, Any]:
    """Return what the template of the page needs, for a server that extends it."""
    from markupsafe import Markup

    scripts: list[Any] = []
    alternatives = describe_figures(study)
    band = study.members[0].band
    figures: dict[str, Any] = dict.fromkeys(alternatives, "")
    if static:
        from priori.report.figures import static_figures

        figures = {name: Markup(svg) for name, svg in static_figures(study).items()}
    else:
        # Our own files and the library: trusted text that must not be escaped, and holds no end of a script.
        library = [] if plotly_url else [plotly_script()]
        scripts = [Markup(f"\n{text.strip()}\n") for text in [*library, asset("report.js")]]
    return {
        "study": study,
        "title": heading(study),
        "about_interval": None if band is None else about_interval(band.settings),
        "described_settings": describe_settings(study),
        "static": static,
        "nonce": nonce,
        "plotly_url": plotly_url,
        "style": Markup(asset("report.css")),
        "scripts": scripts,
        "policy": None if nonce else _policy(scripts),
        "data": None if static else pack(page_data(study)),
        "figures": figures,
        "moving": moving_tables(study, study.at),
        "fixed": fixed_tables(study),
        "weighing": weighing(study.settings.rule, study.settings.domain, study.settings.alpha).meaning,
        "alternatives": alternatives,
        "at": alpha_text(study.settings.alpha),
    }


def _policy(scripts: list[Any]) -> str:
    """Return a policy under which only these scripts run and nothing is fetched."""
    hashes = [base64.b64encode(hashlib.sha256(str(text).encode()).digest()).decode() for text in scripts]
    allowed = " ".join(f"'sha256-{text}'" for text in hashes) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
