"""Connections that keep the server waiting, over real sockets."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack, suppress
from http.client import HTTPResponse

import pytest
from app_serving import PATIENCE, listening

from priori.app import security
from priori.app.security import PatientProtocol
from priori.app.server import create_app

HEADER = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.fixture
def connect(tmp_path, monkeypatch):
    """Open connections to a server with little patience."""
    monkeypatch.setattr(PatientProtocol, "header_seconds", 0.4)
    monkeypatch.setattr(PatientProtocol, "taking_seconds", 0.4)
    monkeypatch.setattr(security, "CONNECTIONS", 8)
    (tmp_path / "static").mkdir()
    (tmp_path / "static" / "large.js").write_bytes(b"x" * 5_000_000)  # more than the buffers of a connection hold
    monkeypatch.setattr("priori.app.server.STATIC", tmp_path / "static")
    with listening(create_app(parent=tmp_path)) as port, ExitStack() as stack:
        yield lambda: stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE))


def ask(connection: socket.socket, request: bytes = HEADER + b"\r\n") -> int:
    """Send a request, read its answer, and return the status."""
    connection.sendall(request)
    with HTTPResponse(connection) as answer:
        answer.begin()
        answer.read()
        return answer.status


def closed_after(connection: socket.socket) -> float:
    """Return after how many seconds the other side closes a connection."""
    begin = time.monotonic()
    try:
        while connection.recv(100_000):
            pass
    except ConnectionResetError:
        pass
    return time.monotonic() - begin


def dripping_ends_after(connection: socket.socket) -> float:
    """Send byte by byte, and return after how many seconds the other side has had enough."""
    begin = time.monotonic()
    with suppress(OSError):
        while time.monotonic() - begin < PATIENCE:
            connection.sendall(b"X")
            time.sleep(0.05)
    return time.monotonic() - begin


@pytest.mark.parametrize("sent", [b"", b"G", HEADER, HEADER + b"X: "])
def test_a_header_that_does_not_come_is_not_waited_for(connect, sent):
    connection = connect()
    connection.sendall(sent)
    assert 0.2 < closed_after(connection) < PATIENCE


def test_a_header_that_drips_is_not_waited_for_even_on_a_connection_that_has_asked_before(connect):
    connection = connect()
    assert ask(connection) == 200
    time.sleep(0.5)  # longer than a header may take, but a connection may rest between its requests
    assert ask(connection) == 200
    assert dripping_ends_after(connection) < PATIENCE


def test_a_body_that_nobody_reads_is_not_waited_for(connect):
    connection = connect()
    assert ask(connection, HEADER + b"Content-Length: 1000000\r\n\r\n") == 200
    assert dripping_ends_after(connection) < PATIENCE


def test_a_visitor_who_does_not_take_the_answer_is_not_waited_for(connect):
    connection = connect()
    asked = HEADER.replace(b"/ ", b"/static/large.js ") + b"\r\n"
    for _ in range(3):
        connection.sendall(asked)
    time.sleep(1.2)
    received = 0
    try:
        while piece := connection.recv(1 << 20):
            received += len(piece)
    except ConnectionResetError:
        pass
    assert received < 3 * 4_000_000


class Line:
    """A transport and a loop that only remember: what is left to take, whom to call later, whether it was cut."""

    def __init__(self) -> None:
        self.left, self.cut, self.later = 0, False, []

    def get_write_buffer_size(self) -> int:
        return self.left

    def abort(self) -> None:
        self.cut = True

    def call_later(self, seconds, call):
        self.later.append((seconds, call))
        return self

    def cancel(self) -> None:
        pass


def test_a_visitor_who_takes_some_of_the_answer_each_time_gets_all_of_it():
    line = Line()
    protocol = PatientProtocol.__new__(PatientProtocol)
    protocol.transport = protocol.loop = line  # type: ignore[assignment]
    line.left = 300
    protocol._watch_taking(line.left)
    for left in (200, 199, 0):
        line.left = left
        seconds, look = line.later.pop()
        assert seconds == PatientProtocol.taking_seconds
        look()
        assert not line.cut
    assert not line.later
    line.left = 100
    protocol._watch_taking(line.left)
    line.later.pop()[1]()
    assert line.cut


def test_half_open_connections_leave_no_one_out(connect, monkeypatch):
    monkeypatch.setattr(PatientProtocol, "header_seconds", 60.0)
    held = [connect() for _ in range(30)]
    for connection in held:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
    assert ask(connect()) == 200
    assert closed_after(held[0]) < 30
