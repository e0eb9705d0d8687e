"""Report pages in a browser: writing, waiting, moving the slider, and what is drawn."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from browser import PATIENCE, Visit
from priori.report import render_html
from priori.studies.evaluation import Study

READY = "html[data-ready]"
Open = Callable[..., Visit]


def write(folder: Path, study: Study, **options: Any) -> Path:
    path = folder / "report.html"
    path.write_text(render_html(study, **options), encoding="utf-8")
    return path


def drawing(visit: Visit, name: str) -> str:
    """Return what a figure shows now."""
    return str(visit.page.evaluate(f"document.querySelector('#plot-{name} svg').innerHTML"))


def drawn(visit: Visit, name: str, what: str) -> list[str]:
    """Return the values of an attribute in a figure: ``line`` has the systems of its lines, ``dot`` those of dots."""
    found = visit.page.evaluate(
        "([id, name]) => [...document.querySelectorAll(`#plot-${id} [data-${name}]`)]"
        ".map((one) => one.getAttribute('data-' + name))",
        [name, what],
    )
    return list(found)


def dots(visit: Visit, name: str) -> dict[int, dict[str, float]]:
    """Return the dots of a figure, by their systems, with the numbers they stand for."""
    found = visit.page.evaluate(
        "(id) => [...document.querySelectorAll(`#plot-${id} [data-dot]`)].map((one) => ({...one.dataset}))", name
    )
    return {int(one.pop("dot")): {key: float(value) for key, value in one.items()} for one in found}


def alpha(visit: Visit, at: int) -> None:
    """Move the slider to a place, as a hand does, and wait for the figures to follow."""
    visit.page.evaluate(
        "(at) => { const s = document.getElementById('alpha'); s.value = at; s.dispatchEvent(new Event('input')); }", at
    )
    settle(visit)


def settle(visit: Visit) -> None:
    """Wait until the page is laid out and drawn as it now is."""
    visit.page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def until(visit: Visit, condition: str) -> None:
    """Wait until an expression of the page is true; the page's policy forbids playwright's own way."""
    end = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < end:
        if visit.page.evaluate(f"Boolean({condition})"):
            return
        visit.page.wait_for_timeout(25)
    raise AssertionError(f"never true: {condition}")


def bring(visit: Visit, name: str) -> None:
    """Scroll to a figure and wait until it is drawn."""
    visit.page.locator(f"#plot-{name}").scroll_into_view_if_needed()
    until(visit, f"!('stale' in document.getElementById('plot-{name}').dataset)")
