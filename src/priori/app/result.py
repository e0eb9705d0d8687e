"""The result's page: the report itself, with a bar on top and room for what only the server knows."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from priori.studies.evaluation import Study


def _marks(mark: str) -> dict[str, str]:
    """Return the places to fill in; nobody who writes a file or a name can know them."""
    return {name: f"{name}-{mark}" for name in ("nonce", "head", "bar")}


def render_result(study: Study, mark: str) -> str:
    """Render the page in the job's process, with places left open."""
    from jinja2 import PackageLoader

    from priori.report.page import environment, page_context

    marks = _marks(mark)
    context = page_context(study, nonce=marks["nonce"], plotly_url="/static/plotly.js")
    template = environment(PackageLoader("priori.app")).get_template("result.html")
    return template.render(**context, marks=marks)


def fill_result(page: str, mark: str, *, nonce: str, head: str, bar: str) -> str:
    """Fill in the places, in the server: a nonce of this answer's own; links to our files and the bar, as HTML."""
    texts = {"nonce": escape(nonce), "head": head, "bar": bar}
    for name, place_mark in _marks(mark).items():
        page = page.replace(place_mark, texts[name])
    return page


@cache
def library_styles() -> tuple[str, ...]:
    """Return the ids of the style elements that the plotting library adds when it is loaded (for its maps).

    It does so only where there is none of that id. The page has empty ones, which carry the nonce, so that the
    library adds nothing that the content security policy would have to refuse.
    """
    from priori.report.page import plotly_script

    return tuple(
        re.findall(r'getElementById\("([0-9a-f]{64})"\)\)\{var \w+=document\.createElement\("style"', plotly_script())
    )
