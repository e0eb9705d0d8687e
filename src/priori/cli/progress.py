"""Progress: a bar on standard error, only on a terminal and only for work over a second."""

from __future__ import annotations

import sys
import time
from typing import Any


class Progress:
    """Call it with ``(done, total)``; the bar is cleared when all is done, or at the end of a ``with`` block."""

    def __init__(self, title: str = "", patience: float = 1.0) -> None:
        self.title, self.patience = title, patience
        self.bar: Any = None
        self.start = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        if self.bar is None:
            if sys.stderr is None or not sys.stderr.isatty() or time.monotonic() - self.start < self.patience:
                return
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
            self.bar = Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
            self.bar.start()
            self.bar.add_task(self.title, total=total)
        self.bar.update(self.bar.task_ids[0], completed=done, total=total)
        if 0 < total <= done:
            self.close()

    def stage(self, title: str, done: int, total: int) -> None:
        """Show how far a stage of the work is; each stage has a bar of its own, one after another."""
        if title != self.title:
            self.close()
            self.title = title
        self(done, total)

    def close(self) -> None:
        """Clear the bar; work after this is timed from here."""
        if self.bar is not None:
            self.bar.stop()
        self.bar, self.start = None, time.monotonic()

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
