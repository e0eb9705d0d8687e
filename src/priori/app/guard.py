"""The guard: who may ask, and what every answer carries. Stands before everything else in the app."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from priori.app.limits import Refusal

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "priori-visitor"
TOKEN = re.compile(r"[A-Za-z0-9_-]{43}")
SAFE_METHODS = ("GET", "HEAD")


def policy(nonce: str | None = None, *, figures: bool = False) -> str:
    """Return the content security policy: nothing but our own files, and what carries the nonce.

    A page with figures also needs styles on elements (``style-src-attr``), because plotly places its drawing with
    them, and images it has made itself. Neither can load anything: all other sources are closed.
    """
    ours = "'self'" if nonce is None else f"'self' 'nonce-{nonce}'"
    rules = [
        "default-src 'none'",
        f"script-src {ours}",
        f"style-src {ours}",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    ]
    if figures:
        rules[3:4] = ["img-src 'self' data: blob:"]
    return "; ".join(rules)


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
    """Tells visitors apart by a cookie that nobody can guess; knows the key that each one's forms carry."""

    def __init__(self) -> None:
        self._secret = secrets.token_bytes(32)

    def of(self, request: Request) -> tuple[str, bool]:
        """Return who asks, and whether they are new."""
        given = request.cookies.get(COOKIE, "")
        return (given, False) if TOKEN.fullmatch(given) else (secrets.token_urlsafe(32), True)

    def key(self, visitor: str) -> str:
        """Return the key of a visitor's forms: other pages cannot know it."""
        return hmac.new(self._secret, visitor.encode(), hashlib.sha256).hexdigest()

    def check(self, visitor: str, given: str) -> None:
        """Refuse a form without its visitor's key."""
        if not hmac.compare_digest(self.key(visitor).encode(), given.encode("utf-8", "replace")):
            raise Refusal(403, "the form came without its key; load the page again and send it from there")


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
                present = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *((k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in present),
                ]
            await send(message)

        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(scope, headers)
        if refusal is None:
            await self.app(scope, receive, send_guarded)
        else:
            await _answer(refusal, send_guarded)

    def _refusal(self, scope: Scope, headers: dict[str, str]) -> Refusal | None:
        if sum(name.lower() == b"host" for name, _ in scope["headers"]) != 1 or not self.knows(headers["host"]):
            return Refusal(421, "this server does not answer to that name; use the address it printed when it started")
        site, mode = headers.get("sec-fetch-site"), headers.get("sec-fetch-mode")
        foreign = site in ("cross-site", "same-site")
        if scope["method"] in SAFE_METHODS:
            if foreign and mode != "navigate":
                return Refusal(403, "requests from other pages are refused")
            return None
        origin = headers.get("origin")
        if foreign or (origin is not None and origin.partition("://")[2] != headers["host"]):
            return Refusal(403, "requests from other pages are refused")
        return None

    def knows(self, host: str) -> bool:
        """Tell whether a Host header names this server.

        A page whose name a hostile name server points at us (DNS rebinding) is same-origin with itself, so its
        requests look honest; only the name gives it away. An address cannot be pointed elsewhere.
        """
        found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^:\[\]/@\s]+)(:\d{1,5})?", host.strip().lower())
        if found is None:
            return False
        name = found[1].strip("[]").rstrip(".")
        return name in self.names or is_loopback(name) or (self.any_address and _is_address(name))


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_loopback(host: str) -> bool:
    """Tell whether an address or name means this very machine."""
    if host == "localhost":
        return True
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


async def _answer(refusal: Refusal, send: Any) -> None:
    body = (refusal.message + "\n").encode()
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
