"""Report pages in a browser: writing, waiting, moving the slider, and what is drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from browser import Visit
from priori.report import render_html
from priori.studies.evaluation import Study

READY = "html[data-ready]"
Open = Callable[..., Visit]


def write(folder: Path, study: Study, **options: Any) -> Path:
    path = folder / "report.html"
    path.write_text(render_html(study, **options), encoding="utf-8")
    return path


def shapes(visit: Visit, name: str) -> str:
    return str(visit.page.evaluate(f"JSON.stringify(document.getElementById('plot-{name}').layout.shapes)"))


def traces(visit: Visit, name: str) -> list[Any]:
    found = visit.page.evaluate(f"document.getElementById('plot-{name}').data.map((one) => one.meta ?? null)")
    return list(found)


def alpha(visit: Visit, at: int) -> None:
    """Move the slider to a place, as a hand does, and wait for the figures to follow."""
    visit.page.evaluate(
        "(at) => { const s = document.getElementById('alpha'); s.value = at; s.dispatchEvent(new Event('input')); }", at
    )
    visit.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def until(visit: Visit, condition: str) -> None:
    """Wait until an expression of the page is true; the page's policy forbids playwright's own way."""
    for _ in range(200):
        if visit.page.evaluate(f"Boolean({condition})"):
            return
        visit.page.wait_for_timeout(25)
    raise AssertionError(f"never true: {condition}")


def bring(visit: Visit, name: str) -> None:
    """Scroll to a figure and wait until it is drawn."""
    visit.page.locator(f"#plot-{name}").scroll_into_view_if_needed()
    until(visit, f"document.getElementById('plot-{name}').data")
