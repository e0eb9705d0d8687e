"""Security: who may ask and what every answer carries; how long a connection may keep us waiting."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from uvicorn.protocols.http.h11_impl import H11Protocol

from priori.app.limits import NO_KEY, Refusal

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "priori-visitor"
TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
SAFE_METHODS = ("GET", "HEAD")


def policy(nonce: str | None = None) -> str:
    """Return the content security policy: nothing but our own files, and what carries the nonce."""
    ours = "'self'" if nonce is None else f"'self' 'nonce-{nonce}'"
    return (
        f"default-src 'none'; script-src {ours}; style-src {ours}; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )


HEADERS = {
    "content-security-policy": policy(),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not no-referrer: browsers would then send forms with "Origin: null", which is refused below.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "cache-control": "no-store",
}


class Visitors:
    """Tells visitors apart by a cookie that this server has signed; knows the key that each one's forms carry."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def of(self, request: Request) -> str:
        """Return who asks: the visitor of the cookie, or a new one when this server did not make the cookie."""
        visitor, _, signature = request.cookies.get(cookie_name(request), "").partition(".")
        known = TOKEN.fullmatch(visitor) and _same(self._sign("cookie", visitor), signature)
        return visitor if known else secrets.token_urlsafe(32)

    def cookie(self, visitor: str) -> str:
        """Return the cookie of a visitor: nobody can make one for a name of their choice."""
        return f"{visitor}.{self._sign('cookie', visitor)}"

    def key(self, visitor: str) -> str:
        """Return the key of a visitor's forms: other pages cannot know it."""
        return self._sign("form", visitor)

    def check(self, visitor: str, key: str) -> None:
        """Refuse a form without its visitor's key."""
        if not _same(self.key(visitor), key):
            raise Refusal(403, NO_KEY)

    def _sign(self, purpose: str, visitor: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{visitor}".encode(), hashlib.sha256).hexdigest()


def cookie_name(request: Request) -> str:
    """Return the name of the cookie: browsers share cookies between ports, and each port may have its own server."""
    return COOKIE if request.url.port is None else f"{COOKIE}-{request.url.port}"


def _same(ours: str, theirs: str) -> bool:
    return hmac.compare_digest(ours.encode(), theirs.encode("utf-8", "replace"))


class Guard:
    """Refuses other hosts' names and other origins' requests; adds the headers of `HEADERS` to every answer."""

    def __init__(self, app: ASGIApp, host: str, names: Iterable[str] = ()) -> None:
        self.app = app
        self.names = {"localhost", *(name.lower().strip("[]") for name in names)}
        self.any_address = not is_loopback(host)
        if not _is_address(host):
            self.names.add(host.lower())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            else:  # a websocket: there are none here
                await send({"type": "websocket.close", "code": 1008})
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope["method"], Headers(scope=scope))
        app = self.app if refusal is None else PlainTextResponse(refusal.message + "\n", refusal.status)
        await app(scope, receive, send_guarded)

    def _refusal(self, method: str, headers: Headers) -> Refusal | None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.knows(hosts[0]):
            return Refusal(421, "this server does not answer to that name; use the address it printed when it started")
        foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
        if method in SAFE_METHODS:
            refused = foreign and headers.get("sec-fetch-mode") != "navigate"
        else:
            origin = headers.get("origin")
            refused = foreign or (origin is not None and origin.partition("://")[2] != hosts[0])
        return Refusal(403, "requests from other pages are refused") if refused else None

    def knows(self, host: str) -> bool:
        """Tell whether a Host header names this server.

        A page whose name a hostile name server points at us (DNS rebinding) is same-origin with itself, so its
        requests look honest; only the name gives it away. An address cannot be pointed elsewhere.
        """
        match = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:\[\]/@\s]+)(:\d{1,5})?", host.strip().lower())
        if match is None:
            return False
        name = match[1].strip("[]").rstrip(".")
        return name in self.names or is_loopback(name) or (self.any_address and _is_address(name))


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Tell whether an address or name means this very machine."""
    return host == "localhost" or (_is_address(host) and ipaddress.ip_address(host).is_loopback)


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
