"""Who may ask, and what every answer carries."""

from __future__ import annotations

import re

import pytest
from app_serving import BASE, Visitor
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from priori.app.security import Guard, is_loopback

HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/", 200),
        ("/static/app.js", 200),
        ("/static/app.css", 200),
        ("/nothing", 404),
        ("/jobs", 405),
        ("/static/../server.py", 404),
        ("/static/%2e%2e/server.py", 404),
        ("/jobs/x", 404),
        ("/jobs/x/status", 404),
        ("/jobs/x/page.html", 404),
    ],
)
def test_every_answer_carries_the_headers(serve, address, status):
    answer = serve().first.get(address)
    assert answer.status_code == status
    if address in ("/nothing", "/jobs"):
        said = "There is no such page." if status == 404 else "This cannot be done here."
        assert f"<strong>{status}</strong> {said}" in answer.text
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "base-uri 'none'" in policy
    script = re.search(r"script-src ([^;]*)", policy)[1]
    assert "unsafe" not in script
    assert "http" not in policy
    assert "server" not in answer.headers


def test_the_form_page_allows_no_inline_style_and_no_inline_script(serve):
    answer = serve().first.get("/")
    assert "unsafe-inline" not in answer.headers["content-security-policy"]
    assert not re.search(r"<script(?![^>]* src=)[^>]*>", answer.text)
    assert not re.search(r"\son\w+=", answer.text)
    assert " style=" not in answer.text


def test_the_nonce_is_new_each_time(serve):
    client = serve().first
    nonces = {re.search(r"nonce-([\w-]+)", client.get("/").headers["content-security-policy"])[1] for _ in range(3)}
    assert len(nonces) == 3


def test_an_unexpected_failure_still_carries_the_headers_and_tells_nothing(serve):
    served = serve()
    served.server.pages.form = lambda *_, **__: 1 / 0
    client = TestClient(served.app, base_url=BASE, raise_server_exceptions=False)
    client.portal = served.first.portal
    answer = client.get("/")
    assert answer.status_code == 500
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "ZeroDivisionError" not in answer.text


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8000", "localhost", "LOCALHOST:9", "[::1]:8000", "localhost."]
)
def test_its_own_names_are_answered(serve, host):
    assert serve().first.get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:8000",
        "192.168.1.5:8000",
        "",
        "127.0.0.1@evil",
        "a b",
        "[::1",
        "127.0.0.1:8000:1",
        "0x7f.1",
        "evil.example:80\t127.0.0.1",
    ],
)
def test_other_names_are_refused_so_that_no_name_can_be_bound_to_us(serve, host):
    answer = serve().first.get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "set-cookie" not in answer.headers
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_two_host_headers_are_refused(serve):
    client = serve().first
    headers = [("host", "127.0.0.1:8000"), ("host", "evil.example")]
    assert client.get("/", headers=headers).status_code == 421


def test_a_server_open_to_others_answers_to_addresses_and_to_names_it_was_given():
    guard = Guard(None, "0.0.0.0", ["scores.example.org"])  # type: ignore[arg-type]
    assert guard.knows("192.168.1.5:8000")
    assert guard.knows("Scores.Example.org")
    assert guard.knows("[fe80::1]:8000")
    assert not guard.knows("evil.example")


@given(st.text(max_size=40))
def test_no_host_header_makes_it_fail(host):
    guard = Guard(None, "127.0.0.1")  # type: ignore[arg-type]
    known = guard.knows(host)
    assert not known or is_loopback(host.strip().lower().rpartition(":")[0].strip("[]") or host) or "localhost" in host


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9000"},
        {"origin": "http://127.0.0.1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": BASE, "sec-fetch-site": "cross-site"},
    ],
)
def test_forms_from_other_origins_are_refused(serve, headers):
    served = serve()
    visitor = served.visitor()
    for address in ("/jobs", "/jobs/x", "/jobs/x/cancel", "/jobs/x/delete"):
        assert visitor.client.post(address, headers={**headers, "x-priori-key": visitor.key}).status_code == 403
    assert visitor.send(headers=headers).status_code == 403
    assert not served.server.jobs.jobs
    assert not served.files()


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS"])
def test_other_methods_do_nothing(serve, method):
    client = serve().first
    assert client.request(method, "/jobs").status_code == 405
    assert client.request(method, "/jobs", headers={"origin": "http://evil.example"}).status_code == 403


def test_other_pages_cannot_fetch_but_can_link(serve):
    client = serve().first
    assert client.get("/", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}).status_code == 403
    assert client.get("/", headers={"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}).status_code == 200
    assert "access-control-allow-origin" not in client.get("/", headers={"origin": "http://evil.example"}).headers


def test_the_cookie_cannot_be_read_by_scripts_or_sent_by_other_sites(serve):
    cookie = serve().first.get("/").headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert re.search("priori-visitor-8000=[^;.]{43}[.][0-9a-f]{64};", cookie)


def test_a_cookie_that_this_server_did_not_sign_is_replaced(serve):
    served = serve()
    visitor = served.visitor()
    name, cookie = next(iter(visitor.client.cookies.items()))
    token, _, signature = cookie.partition(".")
    assert "set-cookie" not in visitor.client.get("/").headers
    other = "A" * 43
    for forged in (
        token,
        f"{token}.",
        f"{other}.{signature}",
        f"{token}.{visitor.key}",
        f"{token}.{signature}0",
        other,
    ):
        client = TestClient(served.app, base_url=BASE, cookies={name: forged})
        client.portal = served.first.portal
        assert "set-cookie" in client.get("/").headers, forged


def test_two_servers_on_one_machine_do_not_take_each_others_cookie(serve):
    visitor = serve().visitor()
    elsewhere = TestClient(serve().app, base_url="http://127.0.0.1:9000", cookies=visitor.client.cookies)
    answer = elsewhere.get("/")
    assert "priori-visitor-9000=" in answer.headers["set-cookie"]


@pytest.mark.parametrize("key", ["", "0" * 64, "ü", None])
def test_a_form_without_its_key_is_refused_before_its_files_are_stored(serve, key):
    served = serve()
    visitor = served.visitor()
    visitor.key = key
    parts = [("name-0", (None, "A")), ("dev-0", ("dev.csv", b"x"))]
    headers = {} if key is None else {"x-priori-key": key.encode()}
    answer = visitor.client.post("/jobs", files=parts, headers=headers)
    assert answer.status_code == 403
    assert not served.server.jobs.jobs
    assert not served.files()


def test_the_key_of_another_visitor_is_refused(serve):
    served = serve()
    mine, theirs = served.visitor(), served.visitor()
    assert mine.key != theirs.key
    mine.key = theirs.key
    assert mine.send().status_code == 403


def test_without_a_script_the_key_in_the_form_is_enough(serve):
    served = serve()
    visitor = served.visitor()
    parts = [("csrf", (None, visitor.key)), ("example", (None, "nothing"))]
    answer = visitor.client.post("/jobs", files=parts, headers={"origin": BASE})
    assert answer.status_code == 422
    assert "unknown example" in answer.text


def test_a_cookie_of_another_shape_is_replaced(serve):
    served = serve()
    client = TestClient(served.app, base_url=BASE, cookies={"priori-visitor": "../../etc"})
    client.portal = served.first.portal
    assert "set-cookie" in client.get("/").headers
    assert isinstance(Visitor(client), Visitor)


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("10.0.0.1", False),
        ("example.org", False),
    ],
)
def test_what_is_this_machine(host, expected):
    assert is_loopback(host) is expected
