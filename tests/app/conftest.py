"""The app, started for one test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from app_serving import Served

from priori.app.jobs import WORKER
from priori.app.limits import Limits
from priori.app.server import create_app


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Start an app with given limits and worker; it ends with the test."""
    with ExitStack() as stack:

        def start(worker: tuple[str, ...] = WORKER, **limits: Any) -> Served:
            return Served(create_app(Limits(**limits), parent=tmp_path, worker=worker), stack)

        yield start
