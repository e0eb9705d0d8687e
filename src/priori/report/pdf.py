"""The report as PDF: printed by the system's Chromium where there is one, drawn by matplotlib where not."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from priori.base.cautions import shown
from priori.base.signals import children
from priori.base.temporary import discard, temporary_folder
from priori.base.whole_files import whole_file
from priori.report.figures import drawings, figure_style
from priori.report.page import render_html
from priori.studies.evaluation import Study
from priori.words.cautions import cautions
from priori.words.headline import advice, deployment, headline
from priori.words.sentences import heading, verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: What a Chromium may be called; ``PRIORI_CHROMIUM`` names another, or none with an empty text.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
#: A page of A4, in inches.
PAPER = (8.27, 11.69)
SECONDS = 120


def find_chromium() -> str | None:
    """Return the path of a Chromium on this machine."""
    if (named := os.environ.get("PRIORI_CHROMIUM")) is not None:
        return named or None
    return next(filter(None, map(shutil.which, NAMES)), None)


def write_pdf(study: Study, path: str | Path) -> str:
    """Write the report to a PDF file, atomically, its first page a summary; return what made it."""
    chromium = find_chromium()
    with whole_file(path) as temporary:
        if chromium is not None and _printed(chromium, study, temporary):
            return "Chromium"
        _drawn(study, temporary)
        return "matplotlib"


def _printed(chromium: str, study: Study, path: Path) -> bool:
    """Print the page without scripts; say whether that worked."""
    folder = temporary_folder()
    try:
        page, made = Path(folder, "page.html"), Path(folder, "page.pdf")
        page.write_text(render_html(study, static=True), encoding="utf-8")
        flags = [
            "--headless",
            "--disable-gpu",
            "--no-first-run",
            "--no-pdf-header-footer",
            "--disable-sync",
            "--disable-background-networking",
            f"--user-data-dir={folder}/profile",
        ]
        if getattr(os, "geteuid", lambda: 1)() == 0:  # its sandbox does not start as root
            flags.append("--no-sandbox")
        command = [chromium, *flags, f"--print-to-pdf={made}", page.as_uri()]
        if not _ran(command) or not made.is_file() or not made.read_bytes().startswith(b"%PDF"):
            return False
        path.write_bytes(made.read_bytes())
        return True
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


def _drawn(study: Study, path: Path) -> None:
    """Draw a summary on the first page, and the figures on those after it."""
    from matplotlib.backends.backend_pdf import PdfPages
    from matplotlib.figure import Figure

    chosen = drawings(study)
    metadata: dict[str, Any] = {"Title": heading(study), "CreationDate": None}
    with figure_style("pdf"), PdfPages(path, metadata=metadata) as pages:
        summary = Figure(figsize=PAPER)
        _summary(study, summary)
        pages.savefig(summary)
        for draw, size in chosen.values():
            figure = Figure(figsize=size, layout="constrained")
            draw(study, figure)
            pages.savefig(figure)


def _summary(study: Study, figure: Figure) -> None:
    """Put the answer in words on one page: headline, mark, what to deploy, the verdict, the cautions."""
    answer, card = headline(study, study.at), deployment(study, study.at)
    deploy = f"{advice(answer)} {card.name}: {card.rule}. {' '.join(line.text for line in card.lines)}"
    parts: list[tuple[str, float, str]] = [
        (heading(study), 9, "normal"),
        (answer.text, 18, "bold"),
        (f"{answer.mark or ''}: {answer.why}".strip(": "), 11, "normal"),
        ("" if answer.broken else deploy, 11, "normal"),
        *((one.answer, 10, "normal") for one in verdict(study).answers),
        *((f"{caution.heading}. {caution.sentence}", 8.5, "normal") for caution in shown(cautions(study))),
    ]
    top = 0.95
    for text, size, weight in parts:
        if not text or top < 0.05:
            continue
        wrapped = fill(text.replace("$", r"\$"), int(980 / size))
        figure.text(0.08, top, wrapped, fontsize=size, fontweight=weight, va="top")
        top -= (wrapped.count("\n") + 1) * size * 1.35 / 72 / PAPER[1] + 0.014
