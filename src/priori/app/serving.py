"""Serving: the web server around the app."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def run(app: Any, sockets: list[Any], *, on_start: Callable[[], None] | None = None) -> None:
    """Serve until interrupted."""
    import uvicorn

    config = uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=True,
        proxy_headers=False,
        ws="none",
        lifespan="on",
        timeout_keep_alive=15,
        timeout_graceful_shutdown=3,
        limit_concurrency=100,
        h11_max_incomplete_event_size=64_000,
    )

    class _Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            await super().startup(sockets=sockets)
            if on_start is not None:
                on_start()

    _Server(config).run(sockets=sockets)
