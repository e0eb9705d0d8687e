"""The result's page: the report itself, with a bar on top and room for what only the server knows."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any


def _marks(mark: str) -> dict[str, str]:
    """Return the places to fill in; nobody who writes a file or a name can know them."""
    return {name: f"{name}-{mark}" for name in ("nonce", "head", "bar")}


def render_result(context: Mapping[str, Any], mark: str) -> str:
    """Render the page in the job's process, from what a report shows, with places left open."""
    from jinja2 import PackageLoader

    from priori.report.page import environment

    marks = _marks(mark)
    template = environment(PackageLoader("priori.app")).get_template("result.html")
    # The server sends a policy with every answer; the page has none of its own.
    return template.render(**{**context, "nonce": marks["nonce"], "policy": None, "marks": marks})


def fill_result(page: str, mark: str, *, nonce: str, head: str, bar: str) -> str:
    """Fill in the places, in the server: a nonce of this answer's own; links to our files and the bar, as HTML."""
    texts = {"nonce": escape(nonce), "head": head, "bar": bar}
    for name, place_mark in _marks(mark).items():
        page = page.replace(place_mark, texts[name])
    return page
