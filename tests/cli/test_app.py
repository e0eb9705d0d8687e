"""``priori app`` as a person starts and stops it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from app_serving import PATIENCE, gone
from click.testing import CliRunner

from priori.cli import cli


class Process:
    """The command, running in a process of its own with its own directory for temporary files."""

    def __init__(self, folder: Path, *options: str) -> None:
        self.folder = folder
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(folder)}
        command = [sys.executable, "-m", "priori", "app", "--port", "0", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, text=True)
        self.said = ""
        while "the page is at" not in self.said:
            line = self.process.stderr.readline()
            assert line, self.said
            self.said += line
        self.address = re.search(r"http://\S+", self.said)[0]

    def get(self, path: str, cookie: str = "") -> tuple[str, str]:
        request = urllib.request.Request(self.address + path, headers={"cookie": cookie})
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.read().decode(), answer.headers.get("set-cookie", "").partition(";")[0] or cookie

    def begin(self) -> list[int]:
        """Begin an analysis that lasts, and return the numbers of its processes."""
        page, cookie = self.get("/")
        key = re.search(r'name="csrf" value="(\w+)"', page)[1]
        body = b""
        for name, text in {"csrf": key, "example": "spam", "task": "retrieval", "resamples": "100000"}.items():
            body += f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'.encode()
        headers = {"cookie": cookie, "content-type": "multipart/form-data; boundary=b", "accept": "application/json"}
        request = urllib.request.Request(self.address + "/jobs", body + b"--b--\r\n", headers)
        urllib.request.urlopen(request, timeout=PATIENCE).read()
        end = time.monotonic() + PATIENCE
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        while not children.read_text().split() and time.monotonic() < end:
            time.sleep(0.02)
        return [int(number) for number in children.read_text().split()]

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()


@pytest.fixture
def start(tmp_path):
    started = []

    def run(*options: str) -> Process:
        started.append(Process(tmp_path, *options))
        return started[-1]

    yield run
    for process in started:
        process.end()


def _left(folder: Path) -> list[Path]:
    return list(folder.glob("priori-app-*"))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_stopping_it_ends_its_jobs_and_removes_its_files(start, tmp_path, how):
    running = start()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+", running.address)
    assert "warning" not in running.said
    assert _left(tmp_path)
    jobs = running.begin()
    assert jobs
    running.process.send_signal(how)
    running.process.wait(timeout=PATIENCE)
    assert gone(*jobs)
    assert not _left(tmp_path)


def test_killing_it_ends_its_jobs_and_the_next_one_sweeps_its_files(start, tmp_path):
    running = start()
    jobs = running.begin()
    assert jobs
    running.process.kill()
    running.process.wait()
    assert gone(*jobs)
    (left,) = _left(tmp_path)
    second = start()
    assert left not in _left(tmp_path)
    assert len(_left(tmp_path)) == 1
    second.process.send_signal(signal.SIGTERM)
    second.process.wait(timeout=PATIENCE)


def test_letting_others_in_comes_with_a_warning(start):
    running = start("--host", "0.0.0.0")
    assert "warning: listening on 0.0.0.0" in running.said


def test_a_port_in_use_is_told_in_one_line():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        command = [sys.executable, "-m", "priori", "app", "--port", port]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        ended = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=PATIENCE)
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "choose another with --port" in ended.stderr


@pytest.mark.parametrize(
    "options", [["--port", "99999"], ["--max-upload", "0"], ["--max-memory", "1"], ["--max-jobs", "0"]]
)
def test_limits_that_make_no_sense_are_refused(options):
    assert CliRunner().invoke(cli, ["app", *options]).exit_code == 2


def test_the_help_names_every_limit():
    text = CliRunner().invoke(cli, ["app", "--help"]).output
    for option in ("--host", "--port", "--max-upload", "--max-jobs", "--max-memory", "--open"):
        assert option in text
