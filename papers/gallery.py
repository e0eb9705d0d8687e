"""The gallery: figures as SVG, numbers as JSON, and one HTML page made from all that are there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from papers import REPRODUCTIONS
from papers.misprints import MISPRINTS
from papers.results import Reproduction, verdict
from priori.base.errors import OptionError
from priori.base.whole_files import write_whole
from priori.plots import save

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["write_gallery"]


def write_gallery(done: Reproduction, directory: str | Path) -> Path:
    """Write the figures and numbers of one reproduction, and make the page anew from all that are there."""
    folder = Path(directory)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"cannot write into {folder}: {error.strerror}") from None
    for figure in done.figures:
        save(figure.draw(), folder / f"{figure.name}.svg")
    content = json.dumps(done.to_dict(), indent=1, ensure_ascii=False)
    write_whole(folder / f"{done.name}.json", content + "\n")
    page = folder / "index.html"
    write_whole(page, render(_finished(folder)))
    return page


def render(reproductions: list[dict[str, Any]]) -> str:
    """Return the page; every text is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"subscripts": subscripts, "verdict": verdict}
    page = environment.get_template("gallery.html")
    return page.render(reproductions=reproductions, misprints=MISPRINTS)


def subscripts(text: str) -> Markup:
    """Return text for HTML, escaped, in which what follows a capital and an underscore is a subscript: V_A, E_V1."""
    from markupsafe import escape

    escaped = escape(text)
    return type(escaped)(re.sub(r"\b([A-Z])_([A-Z0-9]+)", r"\1<sub>\2</sub>", str(escaped)))


def _finished(folder: Path) -> list[dict[str, Any]]:
    found = []
    for name in REPRODUCTIONS:
        path = folder / f"{name}.json"
        if path.exists():
            found.append(json.loads(path.read_text(encoding="utf-8")))
    return found
