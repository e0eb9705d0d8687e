"""Progress: a bar on standard error, only on a terminal and only for work over a second."""

from __future__ import annotations

import sys
import time
from typing import Any


class Progress:
    """Call it with ``(done, total)``; used as a context manager it clears the bar at the end."""

    def __init__(self, title: str, patience: float = 1.0) -> None:
        self.title = title
        self.patience = patience
        self.start = time.monotonic()
        self.bar: Any = None
        self.task: Any = None

    def __call__(self, done: int, total: int) -> None:
        if self.bar is None:
            if not sys.stderr.isatty() or time.monotonic() - self.start < self.patience:
                return
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as Bar

            columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:>3.0f} %"))
            self.bar = Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=total)
        self.bar.update(self.task, completed=done, total=total)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Clear the bar."""
        if self.bar is not None:
            self.bar.stop()


class Scans:
    """A progress bar for each scan of a table."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.bar: Progress | None = None

    def __call__(self, done: int, total: int) -> None:
        if self.bar is None:
            self.bar = Progress(self.title)
        self.bar(done, total)
        if done >= total:
            self.bar.close()
            self.bar = None


class Stages:
    """A progress bar for each stage of the work, one after another."""

    def __init__(self) -> None:
        self.stage = ""
        self.bar: Progress | None = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self.stage or self.bar is None:
            if self.bar is not None:
                self.bar.close()
            self.stage, self.bar = stage, Progress(stage)
        self.bar(done, total)

    def __enter__(self) -> Stages:
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.close()
