"""Serving: the web server that runs the app, and the connections that it does not wait for."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from operator import itemgetter
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

#: Connections at a time; over it, the one that has kept us waiting longest makes way.
CONNECTIONS = 100


class PatientProtocol(H11Protocol):
    """A connection that is closed when its visitor keeps us waiting.

    uvicorn waits without end for the rest of a request's header, for the rest of a body that nobody reads, and for a
    visitor who does not take the answer. A form's body has limits of its own (`priori.app.uploads`).
    """

    #: Seconds in which the header of a request must have come; in which some of an answer must have been taken.
    header_seconds = 10.0
    taking_seconds = 60.0

    _clock: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for a header, and make room for others."""
        super().connection_made(transport)
        self._start_clock()
        if len(self.connections) >= CONNECTIONS:
            others = [one for one in self.connections if isinstance(one, PatientProtocol) and one is not self]
            clocks = [(clock.when(), one) for one in others if (clock := one._clock or one.timeout_keep_alive_task)]
            if clocks:
                _, longest = min(clocks, key=itemgetter(0))
                self.connections.discard(longest)  # at once: several connections may come before it is lost
                longest.transport.abort()

    def data_received(self, data: bytes) -> None:
        """Take what came; the clock runs from the first byte to the last of a header."""
        if self._is_owed and self._clock is None:
            self._start_clock()
        super().data_received(data)
        if not self._is_owed:
            self._stop_clock()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the clocks."""
        self._stop_clock()
        self._stop_taking()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The visitor takes the answer more slowly than we give it."""
        super().pause_writing()
        self._watch_taking(self.transport.get_write_buffer_size())

    def on_response_complete(self) -> None:
        """The answer is given; the visitor may not have taken all of it."""
        if left := self.transport.get_write_buffer_size():
            self._watch_taking(left)
        super().on_response_complete()

    def resume_writing(self) -> None:
        """The visitor has taken most of it."""
        self._stop_taking()
        super().resume_writing()

    @property
    def _is_owed(self) -> bool:
        """Whether we wait for the visitor and not the visitor for us."""
        return self.cycle is None or self.cycle.response_complete

    def _start_clock(self) -> None:
        self._clock = self.loop.call_later(self.header_seconds, self.transport.abort)

    def _stop_clock(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None

    def _watch_taking(self, left: int) -> None:
        self._stop_taking()

        def look() -> None:
            still_left = self.transport.get_write_buffer_size()
            if still_left >= left:
                self.transport.abort()
            elif still_left:
                self._watch_taking(still_left)

        self._taking = self.loop.call_later(self.taking_seconds, look)

    def _stop_taking(self) -> None:
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None


class WebServer(uvicorn.Server):
    """The web server of one app; ``on_start`` is called once it listens."""

    def __init__(self, app: Any, *, on_start: Callable[[], None] = lambda: None) -> None:
        config = uvicorn.Config(
            app,
            http=PatientProtocol,
            log_level="error",
            access_log=False,
            server_header=False,
            date_header=True,
            proxy_headers=False,
            ws="none",
            lifespan="on",
            timeout_keep_alive=15,
            timeout_graceful_shutdown=3,
            limit_concurrency=CONNECTIONS,
            h11_max_incomplete_event_size=64_000,
        )
        super().__init__(config)
        self.on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and say so."""
        await super().startup(sockets=sockets)
        self.on_start()
