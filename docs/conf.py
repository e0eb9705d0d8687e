"""How the documentation is built: ``make docs``. It needs no network, neither to build nor to read."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

from commands import fill  # noqa: E402

import priori  # noqa: E402

project = "Priori"
author = "The Priori developers"
copyright = "The Priori developers"
version = release = priori.__version__

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
html_title = "Priori"
html_static_path = ["_static"]
html_css_files = ["priori.css"]
html_copy_source = False
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


def _repository_links(app: Any, docname: str, source: list[str]) -> None:
    """Fill in the commands; turn links to files outside the documentation, which the site does not hold, to text."""
    text = fill(source[0])
    source[0] = re.sub(r"\[([^\]]+)\]\((?:\.\./)+(?:CONTRIBUTING|CITATION)[^)]*\)", r"\1", text)


def _copy_gallery(app: Any, error: Exception | None) -> None:
    if error is None and app.builder.format == "html":
        shutil.copytree(HERE / "gallery", Path(app.outdir) / "gallery", dirs_exist_ok=True)


def setup(app: Any) -> None:
    """Connect what is ours."""
    app.connect("source-read", _repository_links)
    app.connect("build-finished", _copy_gallery)
