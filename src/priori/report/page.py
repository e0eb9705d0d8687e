"""The page: one HTML file from one study, with or without scripts."""

from __future__ import annotations

from priori.report.study import Study

__all__ = ["render_html"]


def render_html(study: Study, *, static: bool = False, nonce: str | None = None) -> str:
    """Return the whole page as text: self-contained, no request ever leaves it.

    ``static`` gives SVG figures and no script at all. ``nonce`` is put on every script and style element, for a
    strict content security policy.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("priori.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True,
    )  # fmt: skip
    return environment.get_template("report.html").render(study=study, static=static, nonce=nonce)
