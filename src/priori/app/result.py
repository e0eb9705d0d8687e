"""The result's page: the report itself, with a bar on top and room for what only the server knows."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from priori.report.study import Study

__all__ = ["fill_result", "render_result"]


def _marks(mark: str) -> dict[str, str]:
    """Return the places to fill in; nobody who writes a file or a name can know them."""
    return {name: f"{name}-{mark}" for name in ("nonce", "head", "bar")}


def render_result(study: Study, mark: str) -> str:
    """Render the page in the job's process, with places left open."""
    from priori.report.page import render_html

    marks = _marks(mark)
    page = render_html(study, nonce=marks["nonce"])
    head, body = "</head>", "<body>"
    before, found_head, rest = page.partition(head)
    inside, found_body, after = rest.partition(body)
    assert found_head
    assert found_body
    return f"{before}{marks['head']}{head}{inside}{body}{marks['bar']}{after}"


def fill_result(page: str, mark: str, *, nonce: str, head: str, bar: str) -> str:
    """Fill in the places, in the server: a nonce of this answer's own, links to our files, the bar with the form.

    ``head`` and ``bar`` are HTML.
    """
    marks = _marks(mark)
    for name, text in (("nonce", escape(nonce)), ("head", head), ("bar", bar)):
        page = page.replace(marks[name], text)
    return page
