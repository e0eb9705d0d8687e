"""How the documentation is built: ``make docs``. It needs no network, neither to build nor to read."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from commands import fill  # noqa: E402

import priori  # noqa: E402

project = "Priori"
author = "The Priori developers"
copyright = "The Priori developers"
version = release = priori.__version__

#: Where the site will be read from, for previews of links to it, which need whole addresses. Empty: from a disk.
ADDRESS = os.environ.get("PRIORI_DOCS_ADDRESS", "")

extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc", "matplotlib.sphinxext.plot_directive"]
exclude_patterns = ["_build", "gallery"]
default_role = "py:obj"
# Options such as --system would become dashes.
smartquotes = False

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# The examples are run at every build, and shown with their source.
plot_include_source = True
plot_html_show_formats = False
plot_html_show_source_link = False
plot_formats = [("svg", 100)]
plot_basedir = str(HERE)

html_theme = "furo"
html_title = f"Priori {version}"
html_static_path = ["_static", "images/report.png"]
html_css_files = ["priori.css"]
html_copy_source = False
# A page from a disk may not read the others, which summaries of what a search finds would have to.
html_show_search_summary = bool(ADDRESS)
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#00665c",
        "color-brand-content": "#00665c",
        "color-api-name": "#00665c",
        "color-api-pre-name": "#00665c",
    },
    "dark_css_variables": {
        "color-brand-primary": "#4fc3b3",
        "color-brand-content": "#4fc3b3",
        "color-api-name": "#4fc3b3",
        "color-api-pre-name": "#4fc3b3",
    },
}


#: The bundled scores that a live report is made of.
REPORTS = ("faces", "spam", "cancer")


def _repository_links(app: Any, docname: str, source: list[str]) -> None:
    """Fill in the commands; turn links to files outside the documentation, which the site does not hold, to text."""
    text = fill(source[0])
    source[0] = re.sub(r"\[([^\]]+)\]\((?:\.\./)+(?:CONTRIBUTING|CITATION)[^)]*\)", r"\1", text)


def _add_preview(app: Any, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """Describe a page to those who show a preview of a link to it: title, text, picture."""
    first = doctree.next_node(nodes.paragraph) if doctree is not None else None
    text = " ".join(first.astext().split())[:200] if first is not None else ""
    told = {"type": "website", "title": html.unescape(context.get("title", "")) or "Priori", "description": text}
    if ADDRESS:
        told |= {"url": f"{ADDRESS}/{page}.html", "image": f"{ADDRESS}/_static/report.png"}
    tags = [f'<meta property="og:{name}" content="{html.escape(value)}">' for name, value in told.items()]
    context["metatags"] = context.get("metatags", "") + "".join(f"\n    {tag}" for tag in tags)


def _finish(app: Any, error: Exception | None) -> None:
    """Copy the papers' gallery, and make the reports that gallery.md links to."""
    if error is not None or app.builder.format != "html":
        return
    shutil.copytree(HERE / "gallery", Path(app.outdir) / "gallery", dirs_exist_ok=True)
    reports = Path(app.outdir) / "reports"
    for name in REPORTS:
        command = ["demo", name, "--no-open", "--force", "--output", str(reports / name)]
        subprocess.run([sys.executable, "-m", "priori", *command], check=True, capture_output=True)


def setup(app: Any) -> None:
    """Connect what is ours."""
    app.connect("source-read", _repository_links)
    app.connect("html-page-context", _add_preview)
    app.connect("build-finished", _finish)
