"""Forms as they arrive: limits, names, and whatever a hostile client sends."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
from pathlib import Path

import pytest
from app_serving import DEV, STUCK, TEST, run
from hypothesis import given, settings
from hypothesis import strategies as st

from priori.app.limits import Limits, Refusal
from priori.app.uploads import clean_name, read_form

HTML = "<script>alert(1)</script>"


def test_an_upload_over_the_limit_is_refused_by_its_announced_size(serve):
    served = serve(upload=10_000)
    answer = served.visitor().send(files={"name-0": "A", "dev-0": ("d", b"x" * 20_000), "test-0": ("t", b"x")})
    assert answer.status_code == 413
    assert "larger than 10 kB" in answer.json()["errors"]["form"]
    assert not served.files()


def test_an_upload_of_unknown_size_is_read_no_further_than_the_limit(serve):
    served = serve(upload=100_000)
    visitor = served.visitor()
    taken = 0

    def body():
        nonlocal taken
        yield b'--b\r\nContent-Disposition: form-data; name="dev-0"; filename="d"\r\n\r\n'
        for _ in range(1000):
            taken += 10_000
            yield b"0.5\n" * 2_500

    async def stream():
        for piece in body():
            yield piece

    folder = served.server.jobs.storage.new_folder()
    with pytest.raises(Refusal) as refusal:
        run(_read(stream(), folder, Limits(upload=100_000)))
    assert refusal.value.status == 413
    assert taken <= 120_000
    headers = {"content-type": "multipart/form-data; boundary=b", "x-priori-key": visitor.key}
    assert visitor.client.post("/jobs", content=body(), headers=headers).status_code == 413
    served.server.jobs.storage.remove(folder)
    assert not served.files()


async def _read(stream, folder, limits, boundary="b", **options):
    given = {"room": limits.upload, "check_key": lambda key: None, "trusted": True, **options}
    return await read_form(stream, f"multipart/form-data; boundary={boundary}", folder, limits, **given)


def test_a_person_gets_a_page_and_a_script_gets_json(serve):
    visitor = serve(upload=1_000).visitor()
    parts = [("csrf", (None, visitor.key)), ("dev-0", ("d", b"x" * 2_000))]
    answer = visitor.client.post("/jobs", files=parts)
    assert answer.status_code == 413
    assert "<!doctype html>" in answer.text
    assert "larger than 1 kB" in answer.text


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([(f"dev-{i}", ("x", b"x")) for i in range(9)], "at most 6 files"),
        ([(f"field{i}", (None, "x")) for i in range(60)], "more than 42 fields"),
        ([("title", (None, "x" * 70_000))], "longer than 64 kB"),
        ([("name-0", (None, "A")), ("name-1", (None, "B")), ("name-2", (None, "C"))], "at most 2 systems"),
    ],
)
def test_too_many_files_fields_and_letters_are_refused(serve, parts, message):
    served = serve(systems=2)
    visitor = served.visitor()
    headers = {"accept": "application/json", "x-priori-key": visitor.key}
    answer = visitor.client.post("/jobs", files=parts, headers=headers)
    assert answer.status_code == 413
    assert message in answer.json()["errors"]["form"]
    assert not served.files()


@pytest.mark.parametrize(
    "parts",
    [
        [("surprise", ("x", b"x"))],
        [("dev-../../x", ("x", b"x"))],
        [("name-abc", (None, "A"))],
        [("title", (None, "a")), ("title", (None, "b"))],
        [("dev-0", ("a", b"x")), ("dev-0", ("b", b"x"))],
    ],
)
def test_forms_that_our_page_cannot_send_are_refused(serve, parts):
    served = serve()
    visitor = served.visitor()
    headers = {"accept": "application/json", "x-priori-key": visitor.key}
    assert visitor.client.post("/jobs", files=parts, headers=headers).status_code == 400
    assert not served.files()


@pytest.mark.parametrize(
    "kind", ["application/json", "text/plain", "multipart/form-data", "application/x-www-form-urlencoded"]
)
def test_other_kinds_of_bodies_are_refused(serve, kind):
    visitor = serve().visitor()
    headers = {"content-type": kind, "x-priori-key": visitor.key}
    assert visitor.client.post("/jobs", content=b"{}", headers=headers).status_code == 415


def test_too_many_analyses_at_once_have_to_wait_or_come_again(serve):
    served = serve(STUCK, jobs=1, queue=2, active_per_visitor=2)
    first, second = served.visitor(), served.visitor()
    jobs = [first.send().json()["job"], first.send().json()["job"]]
    first.wait(jobs[0], lambda status: status["state"] == "running")
    assert first.status(jobs[1])["position"] == 1
    refused = first.send()
    assert refused.status_code == 429
    assert "cancel one" in refused.json()["errors"]["form"]
    assert refused.headers["retry-after"]
    assert second.send().status_code == 202
    full = served.visitor().send()
    assert full.status_code == 503
    assert full.headers["retry-after"]


def test_the_room_for_files_is_shared_and_given_back(serve):
    served = serve(STUCK, stored=3_000, upload=2_500)
    first, second = served.visitor(), served.visitor()
    large = {"name-0": "A", "dev-0": ("d", DEV + b" " * 1_200), "test-0": ("t", TEST)}
    job = first.send(files=large).json()["job"]
    assert second.send(files={**large, "dev-0": ("d", DEV + b" " * 1_400)}).status_code == 503
    assert first.post(f"/jobs/{job}/delete").status_code == 200
    assert not served.files()
    assert second.send(files=large).status_code == 202


def test_uploads_at_the_same_time_are_counted(serve):
    served = serve(uploads=1)
    with served.server.jobs.upload(1_000, None):
        assert served.visitor().send().status_code == 503
    assert served.server.jobs.uploading == served.server.jobs.reserved == 0


def test_an_upload_that_stands_still_is_given_up(tmp_path):
    async def slow():
        yield b"--b\r\n"
        await asyncio.sleep(60)

    with pytest.raises(Refusal) as refusal:
        run(_read(slow(), tmp_path, Limits(idle_seconds=0.05)))
    assert refusal.value.status == 408


@pytest.mark.parametrize(
    "name",
    [
        "../../../etc/passwd",
        "/etc/passwd",
        "..\\..\\windows\\win.ini",
        "C:\\x",
        "a\x00b",
        ".",
        "..",
        "con",
        "x" * 10_000,
        HTML,
        "'\"><img src=x onerror=alert(1)>",
        "😀" * 2_000,
        "-rf",
        "$(id)",
        "a\r\nb",
        "\u202egnp.exe",
        "%2e%2e%2f",
    ],
)
def test_a_file_name_is_text_and_never_a_path(serve, name):
    served = serve(STUCK)
    answer = served.visitor().send(files={"name-0": "A", "dev-0": (name, DEV), "test-0": ("t.csv", TEST)})
    assert answer.status_code == 202
    written = served.files()
    assert sorted(
        hashlib.sha256(path.read_bytes()).digest() for path in written if path.parent.name != "tmp"
    ) == sorted(hashlib.sha256(content).digest() for content in (DEV, TEST))
    for path in written:
        assert served.root in path.resolve().parents
        if path.parent.name != "tmp":
            assert len(path.name) == 32
            assert set(path.name) <= set("0123456789abcdef")
            assert path.stat().st_mode & 0o777 == 0o600
    assert served.root.stat().st_mode & 0o777 == 0o700


def test_names_that_are_too_long_are_refused(serve):
    served = serve()
    answer = served.visitor().send(files={"name-0": "x" * 10_001, "dev-0": ("d", DEV), "test-0": ("t", TEST)})
    assert answer.status_code == 422
    assert "10,001 characters" in answer.json()["errors"]["form"]


def test_names_keep_to_their_line_and_direction():
    assert clean_name("a\tb\r\n c\x07", 20) == "a b c\ufffd"
    assert clean_name("\u202ecod.exe\u2066", 20) == "cod.exe"
    assert clean_name("שלום 😀 é", 20) == "שלום 😀 é"
    assert clean_name("\ud800", 20) == "\ufffd"


def test_missing_files_and_double_names_are_told_next_to_their_fields(serve):
    visitor = serve().visitor()
    answer = visitor.send(files={"name-0": "A", "name-7": "A", "dev-0": ("d", DEV), "test-0": ("t", TEST)})
    assert answer.status_code == 422
    assert answer.json()["errors"] == {
        "name-7": "another system has this name; give each its own",
        "dev-7": "choose a file with development scores",
        "test-7": "choose a file with test scores",
    }


def _multipart(parts):
    body = b""
    for name, file, content in parts:
        body += b'--b\r\nContent-Disposition: form-data; name="' + name.encode() + b'"'
        body += b'; filename="x"' if file else b""
        body += b"\r\n\r\n" + content + b"\r\n"
    return body + b"--b--\r\n"


async def _pieces(body, size):
    for start in range(0, len(body), size):
        yield body[start : start + size]


@settings(max_examples=50)
@given(
    contents=st.lists(st.binary(max_size=200).filter(lambda b: b"--b" not in b), max_size=4), size=st.integers(1, 300)
)
def test_files_arrive_whole_however_they_are_cut(contents, size):
    with tempfile.TemporaryDirectory() as folder:
        body = _multipart([(f"dev-{i}", True, content) for i, content in enumerate(contents)])
        form = run(_read(_pieces(body, size), Path(folder), Limits()))
        assert [file.path.read_bytes() for file in form.files.values()] == contents
        assert [file.sha256 for file in form.files.values()] == [hashlib.sha256(c).hexdigest() for c in contents]


@settings(max_examples=150)
@given(
    body=st.lists(
        st.sampled_from(
            [
                b"--b",
                b"--b--",
                b"\r\n",
                b"\r",
                b"\n",
                b"Content-Disposition: form-data; ",
                b'name="dev-0"',
                b'name="x"',
                b'; filename="y"',
                b"Content-Disposition: ",
                b": ",
                b"\x00",
                b"\xff\xfe",
                b"a" * 50,
                b"Content-Type: x",
            ]
        )
        | st.binary(max_size=8),
        max_size=30,
    ),
    size=st.integers(1, 64),
)
def test_no_body_makes_it_fail_in_another_way_than_a_refusal(body, size):
    with tempfile.TemporaryDirectory() as folder:
        try:
            form = run(_read(_pieces(b"".join(body), size), Path(folder), Limits(upload=2_000)))
        except Refusal as refusal:
            status = refusal.status
        else:
            status = 200
            assert len(form.files) <= 1
        assert status in (200, 400, 413)
