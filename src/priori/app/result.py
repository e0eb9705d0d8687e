"""The result's page: the report itself, with a bar on top and room for what only the server knows."""

from __future__ import annotations

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
    context = page_context(study, nonce=marks["nonce"])
    template = environment(PackageLoader("priori.app")).get_template("result.html")
    return template.render(**context, marks=marks)


def fill_result(page: str, mark: str, *, nonce: str, head: str, bar: str) -> str:
    """Fill in the places, in the server: a nonce of this answer's own; links to our files and the bar, as HTML."""
    texts = {"nonce": escape(nonce), "head": head, "bar": bar}
    for name, place_mark in _marks(mark).items():
        page = page.replace(place_mark, texts[name])
    return page
