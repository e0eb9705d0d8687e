"""A real browser for the tests of pages: a Chromium of this machine, driven by playwright.

``chromium`` is the browser, one for a whole run. ``visit`` opens a page in it and keeps everything that a good page
must not do: messages in the console, errors, requests to anywhere but itself.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-sync",
    "--disable-background-networking",
    "--disable-component-update",
)
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 390, "height": 844}
#: How long a page may take for anything, in milliseconds: on a busy machine everything is late.
PATIENCE = 120_000


def find_chromium() -> str | None:
    """Return the path of a Chromium on this machine: the one that PRIORI_CHROMIUM names, or one on the path."""
    return os.environ.get("PRIORI_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A running Chromium."""
    playwright = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (pip install --group test)"
    )
    path = find_chromium()
    if path is None:
        pytest.skip("no Chromium on this machine: install Debian's 'chromium', or name one in PRIORI_CHROMIUM")
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


@dataclass
class Visit:
    """An open page, and what it did that it should not have."""

    page: Any
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def accessibility(self) -> list[str]:
        """Return axe-core's findings that are serious or critical."""
        import axe_playwright_python

        source = Path(axe_playwright_python.__file__).parent / "axe.min.js"
        self.page.evaluate(source.read_text(encoding="utf-8"))
        found = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
        return [
            f"{one['id']}: {one['help']}: {node['target']} {node['failureSummary']}"
            for one in found
            if one["impact"] in ("serious", "critical")
            for node in one["nodes"]
        ]

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        return int(self.page.evaluate("document.documentElement.scrollWidth - window.innerWidth"))


@pytest.fixture
def visit(chromium: Any) -> Iterator[Callable[..., Visit]]:
    """Open a page: an address or a file; ``dark``, ``phone`` and ``scripts`` say how."""
    contexts = []

    def open_page(
        where: str | Path, *, dark: bool = False, phone: bool = False, scripts: bool = True, ready: str | None = None
    ) -> Visit:
        context = chromium.new_context(
            viewport=PHONE if phone else DESKTOP,
            has_touch=phone,
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            accept_downloads=True,
        )
        context.set_default_timeout(PATIENCE)
        contexts.append(context)
        found = Visit(context.new_page())
        address = where.as_uri() if isinstance(where, Path) else where
        found.page.on("console", lambda message: found.console.append(f"{message.type}: {message.text}"))
        found.page.on("pageerror", lambda error: found.errors.append(str(error)))
        found.page.on("request", lambda request: found.requests.append(request.url))
        found.page.goto(address)
        if ready:
            found.page.wait_for_selector(ready, state="attached")
        return found

    yield open_page
    for context in contexts:
        context.close()
