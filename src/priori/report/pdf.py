"""The report as PDF: printed by a Chromium of the system."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from priori.base.errors import OptionError
from priori.base.temporary import children, discard, temporary_folder
from priori.base.whole_files import whole_file
from priori.report.page import render_html
from priori.studies.evaluation import Study

#: What a Chromium may be called; ``PRIORI_CHROMIUM`` names another.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
SECONDS = 120
FLAGS = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--no-pdf-header-footer",
    "--virtual-time-budget=10000",  # until the figures are drawn
    "--disable-sync",
    "--disable-background-networking",
)


def find_chromium() -> str:
    """Return the path of a Chromium on this machine, or raise an error that says what to do without."""
    found = os.environ.get("PRIORI_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        raise OptionError(
            "a PDF is printed by Chromium or Chrome, and there is none: install one, name one in PRIORI_CHROMIUM, or "
            "open the page in a browser and print it"
        )
    return found


def write_pdf(study: Study, path: str | Path) -> None:
    """Write the report to a PDF file, atomically: the page, its first page a summary."""
    folder = temporary_folder()
    try:
        page, made = Path(folder, "page.html"), Path(folder, "page.pdf")
        page.write_text(render_html(study), encoding="utf-8")
        flags = [*FLAGS, f"--user-data-dir={folder}/profile", f"--print-to-pdf={made}"]
        if getattr(os, "geteuid", lambda: 1)() == 0:  # its sandbox does not start as root
            flags.append("--no-sandbox")
        chromium = find_chromium()
        if not _ran([chromium, *flags, page.as_uri()]) or not made.is_file():
            raise OptionError(f"{chromium} could not print the page; open it in a browser and print it there")
        with whole_file(path) as temporary:
            temporary.write_bytes(made.read_bytes())
    finally:
        discard(folder)


def _ran(command: list[str]) -> bool:
    """Run a program that ends when this one does; say whether it did what it was asked to, in time."""
    try:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    except OSError:
        return False
    children.add(process)
    try:
        return process.wait(SECONDS) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        process.kill()
        process.wait()
        children.discard(process)
